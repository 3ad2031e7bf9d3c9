"""Scenes of cloth: over a ball and twisted, in travelling folds, crumpled."""

import math

import numpy as np

from pliant.scenes.folds import pleats
from pliant.scenes.scene import Scene, join
from pliant.scenes.shapes import grid, grid_cells, icosphere, smooth_noise, smoothstep, weave


def crumpled_sheet(triangles: int = 2_000, frames: int = 10, seed: int = 0) -> Scene:
    """A bumpy sheet that crumples: every step adds a smooth and a rough random motion, mostly sideways.

    Frame 0 is a height field over a regular grid, so it touches itself nowhere. A vertex moves
    one or two edges a step, at most six.
    """
    rng = np.random.default_rng(seed)
    nu, nv = grid_cells(triangles)
    faces, uv = grid(nu, nv)
    h = 1 / nu
    x = np.zeros((frames, len(uv), 3))
    x[0, :, :2] = (uv - (nu / 2, nv / 2)) * h
    x[0, :, 2] = h * (1.5 * smooth_noise(rng, uv, 10) + 0.3 * rng.normal(size=len(uv)))
    for k in range(1, frames):
        smooth = np.stack([smooth_noise(rng, uv, 8) for _ in range(3)], axis=1)
        rough = rng.normal(size=smooth.shape)
        x[k] = x[k - 1] + h * (smooth * (1.3, 1.3, 0.6) + rough * (0.3, 0.3, 0.15))
    return join("crumpled_sheet", [(faces, x)])


# Neighbouring folds of a sine-generated curve touch where its direction swings this far, in radians: found numerically.
TOUCHING_SWING = 2.112


def flowing_cloth(triangles: int = 20_000, frames: int = 10, seed: int = 0) -> Scene:
    """A cloth with travelling folds: held at one end, and so deep that neighbouring folds touch.

    Every row is a sine-generated curve (the shape of river meanders): its direction, not its height, is
    a sine of arc length. So it keeps its length however deep it folds. Frame 0 is free of contact
    from 200 triangles on.
    """
    rng = np.random.default_rng(seed)
    nu, nv = grid_cells(triangles, aspect=3.0)
    faces, uv = grid(nu, nv)
    h = 3 / nu
    folds = max(3, min(8, nu // 16))
    # An edge in radians of the sine: the unit of all motion, so that steps are edges long at any size.
    edge = 2 * math.pi * folds / nu
    cell = (np.arange(nu)[:, None] + 0.5) / nu
    row = np.arange(nv + 1)[None] / nv
    phase = rng.uniform(0, 2 * math.pi, 3)
    wander = 0.6 * np.sin(2 * math.pi * row + phase[0])

    x = np.zeros((frames, nu + 1, nv + 1, 3))
    along, across = uv.reshape(nu + 1, nv + 1, 2).transpose(2, 0, 1)
    # A plane row would meet itself in coplanar edges only, which no real cloth does.
    x[..., 1] = h * across + 0.05 * np.sin(9 * along / nu + 2 * across / nv + phase[2])
    for k in range(frames):
        # A radian more of swing brings folds 3 radians closer. So frame 0 leaves a third of an edge between
        # them, and from then on patches of the cloth close and open their folds in turn.
        patch = np.sin(4 * math.pi * cell + 3 * math.pi * row + phase[1] - 0.6 * k)
        swing = TOUCHING_SWING + edge * (0.3 * min(1, k) * patch - 0.1)
        depth = smoothstep(cell, 0, 1 / folds) * swing
        direction = depth * np.sin(2 * math.pi * folds * cell + wander - 1.5 * edge * k)
        x[k, 1:, :, 0] = h * np.cumsum(np.cos(direction), axis=0)
        x[k, 1:, :, 2] = h * np.cumsum(np.sin(direction), axis=0)
    return join("flowing_cloth", [(faces, x.reshape(frames, -1, 3))])


_AT_ONCE = 1 << 20  # vertices that are draped at once: what that computes on the way is several times their positions
# The ball has radius 1. The cloth leaves it at angle WRAP from the top, narrows to a waist, and flares to slope FLARE.
CLOTH_WIDTH, WRAP, FLARE = 7.5, 2.35, 1.15


def twisted_cloth(triangles: int = 20_000, frames: int = 10, seed: int = 0) -> Scene:
    """A cloth over a ball, twisted into a rope below it, while the ball (object 1) wobbles inside.

    The rings into which the cloth is gathered are shorter than its circles were, and the surplus lies in deep folds.
    The twist drags them round, patches of them press into each other, and the ball presses into the cloth above.
    Frame 0 is free of contact from 5,000 triangles on; coarser grids cannot follow the folds.
    """
    rng = np.random.default_rng(seed)
    ball_faces, ball = icosphere(max(1, round(math.sqrt(triangles / 5 / 20))))
    nu, nv = grid_cells(max(2, triangles - len(ball_faces)))
    faces, uv = grid(nu, nv)
    h = CLOTH_WIDTH / nu
    uv -= nu / 2, nv / 2
    cloth, wobble = _twist(uv, h, rng.uniform(0, 2 * math.pi, 4), frames)
    return join("twisted_cloth", [(faces, cloth), (ball_faces, ball + wobble[:, None])])


def twisting(triangles: int = 64_000, frames: int = 10, seed: int = 0) -> Scene:
    """A cloth twisted by a ball that turns: that of `twisted_cloth`, as an irregular mesh, whose hem rests.

    The ball (object 1) and the cloth on it turn by two edges a step, the rope below less and less. Frame 0 is free of
    contact from 5,000 triangles on.
    """
    rng = np.random.default_rng(seed)
    ball_faces, ball = icosphere(max(1, round(math.sqrt(triangles / 5 / 20))))
    nu, nv = grid_cells(max(2, triangles - len(ball_faces)))
    faces, uv = weave(nu, nv)
    h = CLOTH_WIDTH / nu
    cloth, wobble = _twist(uv - (nu / 2, nv / 2), h, rng.uniform(0, 2 * math.pi, 4), frames)
    # The twist grows by 2 h a step: turned back by that, it is the hem that rests.
    angle = -2 * h * np.arange(frames)
    cos, sin, zero, one = np.cos(angle), np.sin(angle), np.zeros(frames), np.ones(frames)
    turn = np.stack([cos, sin, zero, -sin, cos, zero, zero, zero, one], axis=1).reshape(-1, 3, 3)
    return join("twisting", [(faces, cloth @ turn), (ball_faces, (ball + wobble[:, None]) @ turn)])


def _twist(cells: np.ndarray, h: float, phases: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (frames, n, 3) of a cloth whose vertices are at `cells` (n, 2) when spread out, in edges of length h
    from its middle; and of the center (frames, 3) of the ball below it.
    """
    cloth = np.empty((frames, len(cells), 3))
    for k in range(frames):
        for first in range(0, len(cells), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            cloth[k, some] = _drape(h * cells[some], h, phases, k)
    # Around a small circle, so that in every step some side of the ball comes closer to the cloth.
    angle = 0.6 * np.arange(frames) + [[phases[0]], [phases[0] - math.pi / 2], [-math.pi / 2]]
    wobble = 0.4 * h * np.cos(angle.T)
    wobble -= wobble[0].copy()
    return cloth, wobble


def _drape(flat: np.ndarray, h: float, phases: np.ndarray, k: int) -> np.ndarray:
    """Positions (n, 3) in frame k of the cloth that is `flat` (n, 2) when spread out with edges of length h."""
    s = np.hypot(flat[:, 0], flat[:, 1])
    around = np.arctan2(flat[:, 1], flat[:, 0])
    # A chord of length c dips c^2 / 8 below the ball's surface, and folds stretch some edges to twice h.
    r, z, slope = _profile(s, lift=0.1 * h + 0.6 * h * h)

    # At least 12 edges a fold where the folds are tight, or the grid could not follow them.
    folds = max(6, min(12, int(2 * math.pi * 2.5 / (12 * h))))
    theta, pitch = pleats(around, folds, phases[1:3])
    gathered = smoothstep(s, 0.6, 2.0)
    reach = 1.1 * gathered * np.minimum(s, 2.5) / folds
    outward = reach * (1 + np.cos(theta))

    # A fold at angle pitch (theta + a sin 2 theta) overhangs for a > 1/2; at a = 3 pi / 4 it touches the next one.
    # Frame 0 leaves half an edge between them; then patches of folds close and open in turn.
    patch = np.sin(3 * around + 2 * s + phases[3] - 0.6 * k)
    edge = h / (pitch * np.maximum(r + reach, 0.3))
    touching = 1 + edge * (0.25 * min(1, k) * patch - 0.1)
    sideways = 0.75 * math.pi * gathered**2 * touching * pitch * np.sin(2 * theta)

    twist = (2.2 + 2 * h * k) * smoothstep(s, 0.8, 4.5)
    angle = around + sideways + twist
    rim = r + outward * np.sin(slope)
    return np.stack([rim * np.cos(angle), rim * np.sin(angle), z + outward * np.cos(slope)], axis=1)


def _profile(s: np.ndarray, lift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Radius, height and slope, each (n,), of the draped cloth without folds, `lift` above the ball.

    s : (n,) float64, distances from the top, measured along the cloth
    """
    t = np.linspace(0, CLOTH_WIDTH, 2001)
    bend = smoothstep(t, WRAP, WRAP + 1.6)
    slope = np.minimum(t, WRAP) * (1 - bend) + FLARE * bend
    between = (slope[1:] + slope[:-1]) / 2
    r = t[1] * np.concatenate([[0], np.cumsum(np.cos(between))])
    z = 1 - t[1] * np.concatenate([[0], np.cumsum(np.sin(between))])
    r, z = r + lift * np.sin(slope), z + lift * np.cos(slope)
    return np.interp(s, t, r), np.interp(s, t, z), np.interp(s, t, slope)
