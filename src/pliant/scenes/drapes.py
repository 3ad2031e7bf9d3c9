"""Scenes of one large cloth: pulled into a funnel, and hanging by two corners."""

import math

import numpy as np

from pliant.scenes.folds import Rings, gathered
from pliant.scenes.scene import Scene, join
from pliant.scenes.shapes import grid_cells, smoothstep, weave

# The neck of the funnel has radius NECK; its wall stands at slopes CONE above the neck and MOUTH from MOUTH_AT on.
NECK, CONE, MOUTH, MOUTH_AT = 0.42, 1.33, 0.4, 1.5
FUNNEL_WIDTH = 6.0


def funnel(triangles: int = 64_000, frames: int = 10, seed: int = 0) -> Scene:
    """A square cloth that slides into a funnel (object 1), its middle first, and folds to fit.

    The deeper a ring of the cloth gets, the less room there is for it: it lies in deep folds along the wall, which
    drift past each other, and patches of neighbouring folds press into each other. The funnel shakes. Frame 0 is
    free of contact from 5,000 triangles on.
    """
    rng = np.random.default_rng(seed)
    wide, high = grid_cells(max(6, triangles // 10), aspect=2.0)
    wide, high = max(3, wide), max(1, high)
    wall_faces, wall_uv = weave(wide, high, around=True)
    nu, nv = grid_cells(max(2, triangles - len(wall_faces)))
    faces, uv = weave(nu, nv)
    h = FUNNEL_WIDTH / nu
    phases = rng.uniform(0, 2 * math.pi, 4)
    # Both meshes cut the corners of round things: by an eighth of the square of their edges, over the radius.
    lift = 0.1 * h + 0.3 * h * h + 4 / wide**2
    flat = h * (uv - (nu / 2, nv / 2))
    cloth = np.stack([_slide(flat, h, phases, lift, k) for k in range(frames)])

    angle = 2 * math.pi / wide * wall_uv[:, 0]
    r, z, _ = funnel_wall(4.0 * wall_uv[:, 1] / high - 1.4)
    wall = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    turn = 0.6 * np.arange(frames)
    shake = 0.3 * h * np.stack([np.cos(turn) - 1, np.sin(turn), 0.5 * np.sin(turn)], axis=1)
    return join("funnel", [(faces, cloth), (wall_faces, wall + shake[:, None])])


def _slide(flat: np.ndarray, h: float, phases: np.ndarray, lift: float, k: int) -> np.ndarray:
    """Positions (n, 3) in frame k of the cloth that is `flat` (n, 2) when spread out, `lift` above the wall."""
    s = np.hypot(flat[:, 0], flat[:, 1])
    around = np.arctan2(flat[:, 1], flat[:, 0])
    # The cloth ends in half a sphere that closes the neck; from there on it lies on the wall.
    end = NECK * math.pi / 2
    depth = end + 0.5 + 1.2 * h * k
    r, z, slope = funnel_wall(s - depth)
    ball = s < end
    slope[ball] = s[ball] / NECK
    r[ball] = NECK * np.sin(slope[ball])
    z[ball] = end - depth - NECK * np.cos(slope[ball])

    folds = max(5, min(12, int(2 * math.pi * 1.5 / (10 * h))))
    # On the way down from the middle, which here leads up, what is outside is inside the funnel.
    surface = Rings(r - lift * np.sin(slope), z + lift * np.cos(slope), -slope, s)
    return gathered(around, surface, folds, phases, h, k)


def funnel_wall(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Radius, height and slope, each (n,), of the funnel at distances t (n,) along its wall from its neck on."""
    table = np.linspace(-3, 6, 2001)
    slope = math.pi / 2 - (math.pi / 2 - CONE) * smoothstep(table, 0, 0.5)
    slope -= (CONE - MOUTH) * smoothstep(table, MOUTH_AT, MOUTH_AT + 0.8)
    between = (slope[1:] + slope[:-1]) / 2
    step = table[1] - table[0]
    r = NECK + step * np.concatenate([[0], np.cumsum(np.cos(between))])
    z = table[0] + step * np.concatenate([[0], np.cumsum(np.sin(between))])
    return np.interp(t, table, r), np.interp(t, table, z), np.interp(t, table, slope)


# How much of the width of the hanging cloth goes into its folds, how much of its corners flaps, and around what radius.
FOLDS_WIDTH, FLAP, FLAP_RADIUS = 0.3, 0.22, 0.03
# The tip of a flap comes back to the plane it was bent from at this bend, in radians: found numerically.
STRIKING_BEND = 3.6753


def hanging_cloth(triangles: int = 50_000, frames: int = 10, seed: int = 0) -> Scene:
    """A cloth that hangs by its two upper corners, with smooth waves flowing through it.

    Most of it is smooth and touches nothing. Where it sags, two folds hang down from the upper edge that touch
    themselves and each other here and there; and the lower corners are turned up, one to the front and one to the
    back, and swing until their tips strike the cloth.
    """
    rng = np.random.default_rng(seed)
    nu, nv = grid_cells(triangles)
    faces, uv = weave(nu, nv)
    h = 1 / nu
    phases = rng.uniform(0, 2 * math.pi, 4)
    x = np.empty((frames, len(uv), 3))
    for k in range(frames):
        u, v, out = _folded(uv[:, 0] / nu, uv[:, 1] / nv, h, phases, k)
        # Place and normal of the waving cloth at (u, v): what is folded sticks out along it.
        time = min(0.5, 12 * h) * k
        place, right, below = (_waving(a, b, phases, time) for a, b in ((u, v), (u + 1e-5, v), (u, v + 1e-5)))
        normal = np.cross(right - place, below - place)
        x[k] = place + normal * (out / np.linalg.norm(normal, axis=1))[:, None]
    return join("hanging_cloth", [(faces, x)])


def _folded(
    u: np.ndarray, v: np.ndarray, h: float, phases: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the points (u, v), (n,) each, of the flat cloth are after folding: u, v and how far they stick out."""
    out = np.zeros(len(u))
    for side in (1, -1):
        # Beyond a line across the corner the cloth goes round part of a cylinder, and on straight to the tip.
        beyond = (side * (u - 0.5) + v - 1.5) / math.sqrt(2) + FLAP
        swing = h * (2.6 * min(1, k) * math.sin(phases[3] + side + 1.1 * k) - 0.6)
        bend = STRIKING_BEND + swing / (FLAP - math.pi * FLAP_RADIUS)
        on = np.minimum(beyond / FLAP_RADIUS, bend)
        rest = np.maximum(beyond - bend * FLAP_RADIUS, 0)
        back = np.where(beyond > 0, FLAP_RADIUS * np.sin(on) + rest * math.cos(bend) - beyond, 0)
        out += np.where(beyond > 0, side * (FLAP_RADIUS * (1 - np.cos(on)) + rest * math.sin(bend)), 0)
        u, v = u + side * back / math.sqrt(2), v + back / math.sqrt(2)

    # Across the folds, theta goes from -2 pi to 2 pi: u = p (theta + a sin 2 theta), out = r (1 - cos theta).
    # At a = 3 pi / 4 folds touch. A smaller p makes up for a: beside the folds, the cloth is not stretched.
    flat = FOLDS_WIDTH / (4 * math.pi)
    theta = np.clip((u - 0.5) / flat, -2 * math.pi, 2 * math.pi)
    deep = smoothstep(v, 0.02, 0.4)
    p = flat / (1 + 1.5 * math.pi * deep)
    patch = np.sin(9 * v + phases[0] - 0.6 * k)
    a = 0.75 * math.pi * deep * (1 + h / (2.4 * p) * (0.5 * min(1, k) * patch - 0.1))
    out += 0.1 * FOLDS_WIDTH * deep * (1 - np.cos(theta))
    return u - flat * theta + p * (theta + a * np.sin(2 * theta)), v, out


def _waving(u: np.ndarray, v: np.ndarray, phases: np.ndarray, time: float) -> np.ndarray:
    """Positions (n, 3) of the cloth without folds."""
    held = 1 - np.exp(-8 * (u**2 + v**2)) - np.exp(-8 * ((1 - u) ** 2 + v**2))
    y = 0.09 * np.sin(5 * u + 3 * v + phases[1] - time) + 0.06 * np.sin(7 * v - 3 * u + phases[2] - 1.3 * time)
    x = u + 0.05 * v * np.sin(2 * v + phases[3] - time)
    z = -v - 0.25 * np.sin(math.pi * np.clip(u, 0, 1)) * np.exp(-2 * v)
    return np.stack([x, held * y, z], axis=1)
