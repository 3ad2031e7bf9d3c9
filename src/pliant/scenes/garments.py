"""Scenes of clothed figures that dance and fall."""

import math

import numpy as np

from pliant.scenes.figure import ARM, ARM_R, DEPTH, SHOULDER, doll, swing, torso_radius
from pliant.scenes.folds import Rings, bellows, gathered
from pliant.scenes.scene import Scene, join
from pliant.scenes.shapes import grid_cells, smooth_noise, unit, weave

Part = tuple[np.ndarray, np.ndarray]


def bishop(triangles: int = 124_000, frames: int = 10, seed: int = 0) -> Scene:
    """A swing dancer in three pieces of cloth, a skirt, a top and a cape, over a jointed body that sways and kicks.

    The skirt and the cape hang in folds that touch, the top is wrinkled at the waist; all lag behind the body, which
    presses into them. Objects 0, 1 and 2 are the clothes, the rest is the body: a torso only in small scenes.
    """
    phases = np.random.default_rng(seed).uniform(0, 2 * math.pi, (4, 4))
    top_faces, top_at = tube(triangles // 10, aspect=1.4)
    cape_faces, cape_at = _sheet(triangles // 3, aspect=3.5)
    h = 6.0 / math.sqrt(0.45 * triangles / 2 * 9.0)
    time = min(0.3, 4 * h) * np.arange(frames)
    legs = [swing(0.1 + 0.35 * side * np.sin(time + phases[3, 0]), 0.1, side) for side in (1, -1)]
    arms = [swing(0.5 - 0.6 * side * np.sin(time + phases[3, 0]), 0.6, side) for side in (1, -1)]
    # Around a small circle, so that in every step some side of the body comes closer to the clothes.
    angle = 0.6 * np.arange(frames) + phases[3, 1]
    shake = 0.6 * h * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)[:, None]
    body = [(faces, x + shake) for faces, x in doll(triangles // 10, np.array(arms), np.array(legs))]
    skirt_faces, skirt_at = tube(triangles - len(top_faces) - len(cape_faces) - _count(body), aspect=9.0)

    skirt, top, cape = [], [], []
    for k in range(frames):
        skirt.append(_skirt(skirt_at, h, phases[0], k, time[k]))
        top.append(_top(top_at, h, phases[1], k))
        cape.append(_cape(cape_at, h, phases[2], k, time[k]))
    cloth = [(skirt_faces, np.stack(skirt)), (top_faces, np.stack(top)), (cape_faces, np.stack(cape))]
    return join("bishop", [(faces, danced(x, time, phases[3])) for faces, x in [*cloth, *body]])


def _skirt(at: np.ndarray, h: float, phases: np.ndarray, k: int, time: float) -> np.ndarray:
    """Positions (n, 3): from the waist over the hips into a bell of folds, that swings."""
    around, v = at[:, 0], _closer_above(at[:, 1])
    swirl = 0.4 * v**2 * math.sin(time + phases[2])
    rings = Rings.along(v, [0.13, 0.17, 0.23, 0.31, 0.38], [1.05, 0.94, 0.82, 0.68, 0.5], [2.6, 3.2, 3.6, 3.6, 3.4])
    x = gathered(around + swirl, rings, _folds(at, 14), phases, h, k)
    return x + 0.08 * (v**2)[:, None] * (math.cos(time + phases[3]), math.sin(time + phases[3]), 0)


def _top(at: np.ndarray, h: float, phases: np.ndarray, k: int) -> np.ndarray:
    """Positions (n, 3): close to the torso, and wrinkled across above the waist."""
    around, v = at.T
    patch = np.sin(2 * around + 5 * v + phases[0] - 0.6 * k)
    wander = 0.7 * np.sin(2 * around + phases[1]) + 0.5 * np.sin(5 * around + phases[2])
    along, out = bellows(v, 6, wander, np.clip(1.3 - v, 0, 1) ** 2 * (1 + 0.08 * min(1, k) * patch))
    z = 1.06 + 0.34 * along
    r = torso_radius(z) + 0.4 * h + 0.05 * out
    return np.stack([r * np.cos(around), DEPTH * r * np.sin(around), z], axis=1)


def _cape(at: np.ndarray, h: float, phases: np.ndarray, k: int, time: float) -> np.ndarray:
    """Positions (n, 3): from the shoulders down the back (towards -y), in folds that get wider below."""
    around, v = at[:, 0], _closer_above(at[:, 1])
    rings = Rings.along(v, [0.22, 0.32, 0.44, 0.56, 0.66], [1.42, 1.3, 1.1, 0.9, 0.68], [2.0, 2.6, 3.4, 3.6, 3.4])
    x = gathered(math.pi + around, rings, 2 * _folds(at, 7), phases, h, k)
    wave = 0.04 * v * np.sin(5 * v + phases[1] - time)
    return x + np.stack([0 * wave, -wave, wave], axis=1)


def flamenco(triangles: int = 49_000, frames: int = 10, seed: int = 0) -> Scene:
    """A dancer in a long skirt (object 0) with four ruffles (objects 1 to 4) that whirl around in large steps.

    Ruffles are dense with folds that touch, brush over the ruffle below, and are brushed by that above: much contact in
    every step. Steps are keyframes: up to several edges long. The rest is the body; small scenes have a single ruffle.
    """
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 2 * math.pi, (6, 4))
    tiers = 4 if triangles >= 1000 else 1
    ruffle_faces, ruffle_at = tube(round(0.64 * triangles / tiers), aspect=24.0)
    h = 4.7 / math.sqrt(0.16 * triangles / 2 * 24)
    time = min(0.7, 7 * h) * np.arange(frames)
    spin = min(0.5, 4 * h) * np.arange(frames)
    legs = [swing(0.2 * side * np.sin(time + phases[5, 0]), 0.1, side) for side in (1, -1)]
    arms = [swing(2.4 - 0.3 * side * np.sin(time + phases[5, 0]), 0.9, side) for side in (1, -1)]
    body = doll(triangles // 8, np.array(arms), np.array(legs))
    skirt_faces, skirt_at = tube(triangles - tiers * len(ruffle_faces) - _count(body), aspect=3.0)

    parts = [(skirt_faces, np.stack([_long_skirt(skirt_at, h, phases[4], k) for k in range(frames)]))]
    for tier in range(tiers):
        x = np.stack([_ruffle(ruffle_at, tier, h, phases[tier], k) for k in range(frames)])
        parts.append((ruffle_faces, x))
    parts = [(faces, whirled(x, time, phases[4])) for faces, x in parts]
    return join("flamenco", [(faces, danced(x, time, phases[5], spin=spin)) for faces, x in [*parts, *body]])


def _long_skirt(at: np.ndarray, h: float, phases: np.ndarray, k: int) -> np.ndarray:
    """Positions (n, 3) of a skirt to the ground that gets wider below."""
    rings = Rings.along(at[:, 1], *FLAMENCO, [1.0, 1.05, 1.15])
    return gathered(at[:, 0], rings, _folds(at, 9), phases, h, k)


# Radii and heights of the long skirt, from the waist down.
FLAMENCO = [0.13, 0.17, 0.2, 0.25, 0.33, 0.44], [1.06, 0.92, 0.72, 0.52, 0.34, 0.18]


def _ruffle(at: np.ndarray, tier: int, h: float, phases: np.ndarray, k: int) -> np.ndarray:
    """Positions (n, 3) of a gathered strip around the skirt, sewn on above and standing off below."""
    around, v = at.T
    on = np.clip(0.36 + 0.16 * tier + 0.22 * v, 0, 1)
    skirt = Rings.along(on, *FLAMENCO, [1.0])
    # Tier by tier and step by step, ruffles stand off more and less, and strike each other.
    off = 0.03 + v * (0.05 + 0.6 * h * math.sin(phases[3] + 1.3 * k))
    rings = Rings(skirt.r + off, skirt.z, skirt.slope, (skirt.r + off) * (3.0 + 0.6 * v))
    return gathered(around, rings, _folds(at, 18 + 2 * tier), phases, h, 2 * k)


def falling(triangles: int = 172_000, frames: int = 10, seed: int = 0) -> Scene:
    """A man in a robe who falls fast and tumbles: the robe is object 0, its sleeves are 1 and 2.

    Every step takes him down by several edges. The air blows the robe up: folds and wrinkles run through it
    and touch each other, the sleeves are pushed up the arms. The rest is his body; small scenes have no sleeves.
    """
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 2 * math.pi, (4, 4))
    h = 4.5 / math.sqrt(0.7 * triangles / 2 * 3.5)
    time = min(0.3, 6 * h) * np.arange(frames)
    legs = [swing(0.25 * side * np.sin(time + phases[3, 0]), 0.25, side) for side in (1, -1)]
    arms = [swing(1.6 + 0.3 * side * np.sin(time + phases[3, 0]), 1.0, side) for side in (1, -1)]
    parts = doll(triangles // 10, np.array(arms), np.array(legs))
    if triangles >= 1000:
        faces, at = tube(triangles // 12, aspect=0.8)
        sleeves = [
            (faces, np.stack([_sleeve(at, side, arm[k], h, phases[2], k) for k in range(frames)]))
            for side, arm in zip((1, -1), arms)
        ]
        parts = [*sleeves, *parts]
    robe_faces, robe_at = tube(triangles - _count(parts), aspect=3.5)
    wrinkles = np.stack([smooth_noise(rng, robe_at * (1.2 / h, 1.35 / h), 9) for _ in range(2)])
    robe = np.stack([_robe(robe_at, wrinkles, h, phases[0], k, time[k]) for k in range(frames)])
    parts = [(robe_faces, robe), *parts]
    steps = np.arange(frames)[:, None, None]
    drop = h * (2.2 * steps + 0.05 * steps**2) * (0, 0, 1)
    return join("falling", [(faces, danced(x, time, phases[3], tilt=0.9) - drop) for faces, x in parts])


def _robe(at: np.ndarray, wrinkles: np.ndarray, h: float, phases: np.ndarray, k: int, time: float) -> np.ndarray:
    """Positions (n, 3): from the shoulders to the feet, blown wide; two fields of wrinkles (2, n) come and go."""
    around, v = at[:, 0], _closer_above(at[:, 1])
    blown = 0.06 * math.sin(time + phases[2])
    rings = Rings.along(
        v,
        [0.15, 0.2, 0.24, 0.33 + blown / 2, 0.45 + blown, 0.5 - blown],
        [1.44, 1.25, 1.02, 0.8, 0.62, 0.4 + blown],
        [1.6, 2.2, 3.2, 3.7, 3.7, 3.6],
    )
    wrinkle = min(1.2 * h, 0.015) * (math.cos(0.5 * k) * wrinkles[0] + math.sin(0.5 * k) * wrinkles[1])
    rings = rings._replace(r=rings.r + np.minimum(4 * v, 1) * wrinkle)
    x = gathered(around, rings, _folds(at, 13), phases, h, k)
    return x + (0.1 * v**2)[:, None] * (math.cos(time + phases[3]), math.sin(time + phases[3]), 0)


def _sleeve(at: np.ndarray, side: int, arm: np.ndarray, h: float, phases: np.ndarray, k: int) -> np.ndarray:
    """Positions (n, 3) of a sleeve in rings of folds around an arm that points in direction arm (3,)."""
    around, v = at.T
    patch = np.sin(2 * around + 7 * v + side + phases[0] - 0.6 * k)
    wander = 1.2 * np.sin(around + phases[1]) + 0.8 * np.sin(3 * around + phases[2])
    along, out = bellows(v, 9, wander, 0.97 + 0.06 * min(1, k) * patch)
    way = ARM * (0.12 + 0.7 * along)
    r = ARM_R[0] + 0.4 * h + 0.02 * v + 0.035 * out
    one = unit(np.cross(arm, (0.3, 1.0, 0.1)))
    two = np.cross(arm, one)
    joint = np.array(SHOULDER) * (side, 1, 1)
    return joint + way[:, None] * arm + (r * np.cos(around))[:, None] * one + (r * np.sin(around))[:, None] * two


def tube(triangles: int, aspect: float) -> Part:
    """Faces (m, 3) of a tube, and for every vertex (n, 2) an angle and the way down from 0 to 1."""
    triangles = max(6, triangles)
    nu = max(3, min(grid_cells(triangles, aspect)[0], triangles // 2))
    nv = max(1, round(triangles / 2 / nu))
    faces, uv = weave(nu, nv, around=True)
    return faces, uv * (2 * math.pi / nu, 1 / nv)


def _sheet(triangles: int, aspect: float) -> Part:
    """The same of a sheet that reaches from angle 0 to pi."""
    nu, nv = grid_cells(max(2, triangles), aspect)
    faces, uv = weave(nu, nv)
    return faces, uv * (math.pi / nu, 1 / nv)


def _count(parts: list[Part]) -> int:
    return sum(len(faces) for faces, _ in parts)


def _folds(at: np.ndarray, most: int) -> int:
    """How many folds the columns of a tube or sheet can follow: none of less than ten edges."""
    return max(2, min(most, np.count_nonzero(at[:, 1] == 0) // 10))


def _closer_above(v: np.ndarray) -> np.ndarray:
    """Rows closer to each other above, where columns are, so that cells of cloth that widens below stay square."""
    return v * (0.4 + 0.6 * v)


def whirled(x: np.ndarray, time: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """Positions (f, n, 3) turned around the z axis, the more the lower, as what lags behind a turn is."""
    angle = 0.5 * np.sin(time + phases[1])[:, None] * (1.1 - x[:, :, 2]) ** 2
    cos, sin = np.cos(angle), np.sin(angle)
    a, b, c = np.moveaxis(x, 2, 0)
    return np.stack([cos * a - sin * b, sin * a + cos * b, c], axis=2)


def danced(
    x: np.ndarray, time: np.ndarray, phases: np.ndarray, tilt: float = 0.0, spin: float | np.ndarray = 0.0
) -> np.ndarray:
    """Positions (f, n, 3) moved as one: turned around the z axis, leaning and swaying."""
    turn, lean = spin + 0.8 * np.sin(time + phases[1]), tilt + 0.15 * np.sin(time + phases[2])
    cos, sin = np.cos(turn)[:, None], np.sin(turn)[:, None]
    a, b, c = np.moveaxis(x, 2, 0)
    a, b = cos * a - sin * b, sin * a + cos * b
    cos, sin = np.cos(lean)[:, None], np.sin(lean)[:, None]
    a, c = cos * a + sin * c, cos * c - sin * a
    return np.stack([a, b + 0.1 * np.sin(time + phases[3])[:, None], c], axis=2)
