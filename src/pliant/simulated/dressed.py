"""Scenes of clothes: on a dancer, on a man who falls, a skirt with ruffles. Metres, z is up."""

from __future__ import annotations

import math

import numpy as np

from pliant.scenes.figure import DEPTH, torso_radius
from pliant.scenes.garments import tube
from pliant.scenes.shapes import grid_cells, weave
from pliant.simulate.driven import Pin
from pliant.simulate.joints import Seam
from pliant.simulated.plan import Setup
from pliant.simulated.sheets import RATE, SETTINGS
from pliant.simulated.wearers import Dance, Wearer, dancing_doll, following, rumba

_SECONDS = 2.4
_FROM_RUMBA = 30_000  # triangles, from which on the body of the shared data, of 19,192, leaves enough for the clothes
Piece = tuple[str, np.ndarray, np.ndarray, np.ndarray]  # name, faces, x, vertices that are held


def bishop(triangles: int = 124_000, seed: int = 0) -> Setup:
    """A dancer in three pieces of cloth, a skirt, a top and a cape.

    The body is the dancing one of the shared data, from 30,000 triangles on and where it is there; else a jointed doll.
    """
    phases = np.random.default_rng(seed).uniform(0, 2 * math.pi, 4)
    wearer, frames = (rumba() if triangles >= _FROM_RUMBA else None), 400  # which dances for four seconds
    if wearer is None:
        frames = 200
        wearer = dancing_doll(triangles // 8, _SECONDS, phases, Dance(spin=0.8))
        shape = _Shape(1.07, 1.12, 1.35, 1.45, torso_radius, DEPTH)
    else:
        shape = _Shape.of(wearer)
    rest = triangles - wearer.triangles
    pieces = [
        _cone("skirt", round(0.5 * rest), shape.girdle(shape.waist, 0.015), 0.42, 0.45, 7.0),
        _around("top", round(0.17 * rest), shape, 3.0),
        _cape("cape", round(0.33 * rest), shape),
    ]
    # The top is tight: it is narrower at rest.
    rest_shapes = [x * (0.92, 0.92, 1.0) if name == "top" else x for name, _, x, _ in pieces]
    options = {"material": ["silk", "jersey", "satin"], "rest": np.concatenate(rest_shapes)}
    return _worn("bishop", wearer, pieces, options, frames)


def falling(triangles: int = 172_000, seed: int = 0) -> Setup:
    """A man in a wide robe who falls and tumbles; the air blows the robe up."""
    phases = np.random.default_rng(seed).uniform(0, 2 * math.pi, 4)
    dance = Dance(arms=(0.1, 0.3, 1.0), legs=(0.0, 0.3, 0.2), sway=0.0, tilt=1.6, fall=0.3)
    wearer = dancing_doll(triangles // 8, _SECONDS, phases, dance)
    rest = triangles - wearer.triangles
    faces, at = tube(rest, 3.0)
    around, v = at[:, 0], at[:, 1]
    # Over the neck, flat over the shoulders, and from there on like a roof over the arms.
    r = np.interp(v, [0.0, 0.25, 1.0], [0.075, 0.29, 1.0])
    z = np.interp(v, [0.0, 0.25, 1.0], [1.475, 1.445, 1.0])
    x = np.stack([r * np.cos(around), r * np.sin(around), z], axis=1)
    robe: Piece = "robe", faces, x, np.flatnonzero(v == 0.0)
    return _worn("falling", wearer, [robe], {"material": "cotton"}, 160)


def flamenco(triangles: int = 49_000, seed: int = 0) -> Setup:
    """A dancer who whirls in a long skirt with four ruffles that are sewn on."""
    phases = np.random.default_rng(seed).uniform(0, 2 * math.pi, 4)
    dance = Dance(arms=(0.3, 0.3, 1.2), legs=(0.0, 0.1, 0.05), beat=4.0, spin=2.5)
    wearer = dancing_doll(triangles // 8, _SECONDS, phases, dance)
    tiers, rest = (4 if triangles >= 4000 else 2), triangles - wearer.triangles
    skirt_faces, at = tube(round(0.36 * rest), 2.6)
    around, v = at[:, 0], at[:, 1]
    r, z = _skirt_profile(v)
    skirt = np.stack([r * np.cos(around), r * np.sin(around), z], axis=1)
    pieces: list[Piece] = [("skirt", skirt_faces, skirt, np.flatnonzero(v == 0.0))]
    shapes, seams, begin = [skirt], [], len(skirt)
    for tier in range(tiers):
        faces, x, flat, sewn = _ruffle(round(0.64 * rest / tiers), _tier(tier, tiers), phases[0] + tier)
        nearest = [int(np.argmin(((skirt - x[one]) ** 2).sum(axis=1))) for one in sewn]
        seams.append(np.column_stack((begin + sewn, nearest)))
        pieces.append((f"ruffle {tier + 1}", faces, x, np.empty(0, np.int64)))
        shapes.append(flat)
        begin += len(x)
    options = {"material": "satin", "joints": Seam(np.concatenate(seams)), "rest": np.concatenate(shapes)}
    return _worn("flamenco", wearer, pieces, options, 200)


def _skirt_profile(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Radius and height of the long skirt, 0 at the waist to 1 at the hem."""
    knots = [0.0, 0.15, 0.35, 1.0]
    return np.interp(v, knots, [0.135, 0.175, 0.22, 0.5]), np.interp(v, knots, [1.07, 0.94, 0.8, 0.16])


_FULLNESS = 1.8


def _tier(tier: int, tiers: int) -> tuple[float, float]:
    """Where a ruffle begins and ends on the skirt; each ends above the next one."""
    return (tier + 1) / (tiers + 1), (tier + 1.85) / (tiers + 1)


def _ruffle(
    triangles: int, on: tuple[float, float], phase: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Faces, positions in folds around the skirt, positions without folds, and which vertices are sewn.

    At rest it is a ring that is 1.8 times as long as the skirt is wide there; in folds as deep as makes up for that.
    """
    faces, at = tube(triangles, 12.0)
    around, v = at[:, 0], at[:, 1]
    columns = int((v == 0.0).sum())
    folds = max(3, min(24, columns // 8))
    skirt_r, z = _skirt_profile(on[0] + (on[1] - on[0]) * v)
    r0, radius = skirt_r + 0.012, float(skirt_r.min())
    depth = _depth_of(folds, radius)
    r = r0 + depth * (1.0 + np.cos(folds * around + phase)) * (0.25 + 0.75 * np.minimum(1.0, 4.0 * v))
    x = np.stack([r * np.cos(around), r * np.sin(around), z], axis=1)
    flat = np.stack([_FULLNESS * r0 * np.cos(around), _FULLNESS * r0 * np.sin(around), z], axis=1)
    return faces, x, flat, np.flatnonzero(v == 0.0)


def _depth_of(folds: int, radius: float) -> float:
    """Of waves around a ring that make it as much longer as it is full: by bisection."""
    angle = np.linspace(0.0, 2 * math.pi, 4001)
    low, high = 0.0, radius
    for _ in range(40):
        depth = 0.5 * (low + high)
        r = radius + depth * (1.0 + np.cos(folds * angle))
        length = np.hypot(np.diff(r * np.cos(angle)), np.diff(r * np.sin(angle))).sum()
        low, high = (depth, high) if length < _FULLNESS * 2 * math.pi * radius else (low, depth)
    return low


class _Shape:
    """A torso that clothes are put around: heights of waist, ribs, chest and shoulders, and how wide it is."""

    def __init__(self, waist: float, ribs: float, chest: float, shoulders: float, wide, depth: float) -> None:
        self.waist, self.ribs, self.chest, self.shoulders = waist, ribs, chest, shoulders
        self._wide, self._depth = wide, depth

    @staticmethod
    def of(wearer: Wearer) -> _Shape:
        """Measured: the widest of what is near a height, but for the arms."""
        x = wearer.trunk
        top = x[:, 2].max()
        is_trunk, band = abs(x[:, 0]) < 0.16, 0.02 * top
        heights = np.linspace(0.3, 1.0, 71) * top
        bands = [abs(x[is_trunk & (abs(x[:, 2] - z) < band)]) for z in heights]
        wide, deep = np.array([near.max(axis=0, initial=0.03)[:2] for near in bands]).T
        depth = float((deep / np.maximum(wide, 0.08)).max())
        return _Shape(
            0.62 * top, 0.64 * top, 0.75 * top, 0.86 * top, lambda z: np.interp(z, heights, wide), min(1.0, depth)
        )

    def girdle(self, z: np.ndarray | float, gap: float):
        """(half width, half depth, height) of a ring around the torso."""
        wide = self._wide(np.asarray(z)) + gap
        return wide, self._depth * (wide - gap) + gap, z


def _cone(name: str, triangles: int, ring: tuple, length: float, slope: float, aspect: float) -> Piece:
    """A skirt that stands out from a ring, at rest: so wide that it falls into folds."""
    faces, at = tube(triangles, aspect)
    around, v = at[:, 0], at[:, 1]
    out = length * v * math.cos(slope)
    x = np.stack(
        [(ring[0] + out) * np.cos(around), (ring[1] + out) * np.sin(around), ring[2] - length * v * math.sin(slope)],
        axis=1,
    )
    return name, faces, x, np.flatnonzero(v == 0.0)


def _around(name: str, triangles: int, shape: _Shape, aspect: float) -> Piece:
    """A top: close to the torso from the chest down to the ribs; held at the back only, out of reach of the arms."""
    faces, at = tube(triangles, aspect)
    around, v = at[:, 0], at[:, 1]
    a, b, z = shape.girdle(shape.chest + (shape.ribs - shape.chest) * v, 0.02)
    held = np.flatnonzero((v == 0.0) & (np.sin(around) < -0.86))
    return name, faces, np.stack([a * np.cos(around), b * np.sin(around), z], axis=1), held


def _cape(name: str, triangles: int, shape: _Shape) -> Piece:
    """A cape that hangs from the shoulders, behind."""
    nu, nv = grid_cells(max(2, triangles), 1.3)
    faces, uv = weave(nu, nv)
    around, v = math.pi + 0.7 + (math.pi - 1.4) * uv[:, 0] / nu, uv[:, 1] / nv
    r, z = 0.21 + 0.5 * v, shape.shoulders - 0.38 * v
    x = np.stack([r * np.cos(around), r * np.sin(around), z], axis=1)
    return name, faces, x, np.flatnonzero(v == 0.0)


def _worn(name: str, wearer: Wearer, pieces: list[Piece], options: dict, frames: int) -> Setup:
    begin = np.cumsum([0, *(len(x) for _, _, x, _ in pieces)])
    faces = np.concatenate([one + first for (_, one, _, _), first in zip(pieces, begin)])
    x = np.concatenate([one for _, _, one, _ in pieces])
    pins = [Pin(held + first, following(wearer, one[held]))
            for (_, _, one, held), first in zip(pieces, begin) if len(held)]  # fmt: skip
    options = options | {"obstacles": wearer.obstacles, "pins": pins, "settings": SETTINGS, "friction": 0.3}
    cloths = tuple((name, len(one)) for name, one, _, _ in pieces)
    return Setup(name, faces, x, options, frames, RATE, cloths, wearer.names)
