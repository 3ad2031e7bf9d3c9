"""A scene of shells: a car of many thin parts that crumples against a rigid wall."""

import math
from typing import NamedTuple

import numpy as np

from pliant.scenes.car_parts import FRONT, REAR, Shape, parts_of, size_for
from pliant.scenes.lattices import integral
from pliant.scenes.shapes import smoothstep
from pliant.scenes.volume_scene import Part, VolumeScene, moving

SWING = 2.25  # of the direction of a folded sheet, in radians: from 2.112 on, neighbouring folds touch
FOLDED = 0.4  # metres of sheet that are folded up at the start
CUSHION = 0.07  # metres of folded sheet between the wall and rigid parts
FOLD = 0.16  # metres of sheet from fold to fold; more where cells are too large to bend so sharply


def car_crash(cells: int = 60_000, frames: int = 12, seed: int = 0) -> VolumeScene:
    """A car that folds up at a rigid wall: some 50 parts of quads and triangles, from its front on.

    Sheets and box beams keep their length: where they are crushed, their direction swings to and fro until
    folds touch. Each part has folds of its own, so that sheets that lie against each other, and the walls of a beam, go
    into each other. Block, gearbox, battery and wheels are rigid, and are pushed into what is folded before them.
    """
    rng = np.random.default_rng(seed)
    edge = size_for(cells)
    fold = max(FOLD, 11 * edge)
    parts = []
    for shape in parts_of(edge):
        # Rigid parts follow the same folds, all of them: they do not come nearer to each other.
        free = shape.kind in ("sheet", "beam")
        way = _Folding(fold * rng.uniform(0.85, 1.15), rng.uniform(0, 2 * math.pi)) if free else _Folding(fold, 0.0)
        x = np.empty((frames, len(shape.points), 3))
        for k in range(frames):
            x[k] = shape.points if shape.kind == "wall" else _crushed(shape, way, 0.45 * edge * k)
        parts.append(Part(shape.cells, x))
    return moving("car_crash", parts)


class _Folding(NamedTuple):
    wavelength: float
    phase: float

    def table(self, progress: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places from rear to front (k,), where they are after crushing (k,), and how far aside (k,)."""
        at = np.linspace(REAR, FRONT, 6001)
        behind = FRONT - at
        end = FOLDED + progress
        swing = SWING * (1 - smoothstep(behind, end, end + self.wavelength))
        # Ahead of the folds sheets bend already, less and less.
        swing += 0.12 * (SWING - swing) * np.exp(-np.maximum(behind - end, 0) / 0.5)
        direction = swing * np.sin(2 * math.pi * behind / self.wavelength + self.phase)
        step = at[1] - at[0]
        forward = integral(np.cos(direction), step)
        return at, FRONT - forward[-1] + forward, integral(np.sin(direction), step)

    def pushed(self, x: float, progress: float) -> float:
        """How far forward a place x is pushed."""
        at, forward, _ = self.table(progress)
        return float(np.interp(x, at, forward)) - x


def _crushed(shape: Shape, way: _Folding, progress: float) -> np.ndarray:
    """Points (n, 3) of a part when `progress` metres more of sheet are folded up."""
    x = shape.points.copy()
    if shape.kind == "rigid":
        # Against the wall, or rather against what is folded up before it, they stop.
        x[:, 0] += min(way.pushed(x[:, 0].mean(), progress), FRONT - CUSHION - x[:, 0].max())
        return x
    at, forward, aside = way.table(progress)
    x[:, 0] = np.interp(shape.points[:, 0], at, forward)
    amount = np.interp(shape.points[:, 0], at, aside)[:, None]
    return x + amount * shape.aside
