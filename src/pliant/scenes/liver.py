"""A scene of tetrahedra that are cut: a liver, and a blade that goes into it."""

import math
from typing import NamedTuple

import numpy as np

from pliant.scenes.cutting import Cut, cut_in_steps
from pliant.scenes.lattices import cubes, rounded, tetrahedra
from pliant.scenes.volume_scene import VolumeScene, VolumeStep, no_ids

GROWTH = 4338 / 3874  # cells after the cut over cells before it (paper 004)
NORMAL = np.array([1.0, 0.22, 0.13]) / math.sqrt(1 + 0.22**2 + 0.13**2)
THROUGH = np.array([0.1, 0.0, 0.0])  # a point of the plane of the cut


def liver(cells: int = 3_874, frames: int = 12, seed: int = 0) -> VolumeScene:
    """A liver that breathes and is cut: along a plane from one side on, until there are 12% more cells (or, from 30,000
    cells on, until it is cut through).

    In every step the blade advances: tetrahedra that it passes are divided along the plane, and vertices behind it are
    doubled. The lips of the cut open above, and below they are pressed into each other.
    """
    rng = np.random.default_rng(seed)
    nx, ny, nz = _lattice(cells / 6)
    hexahedra, rest = _body(nx, ny, nz)
    edge = 3.2 / nx
    rest = _snapped(rest, 0.2 * edge)
    cuts = cut_in_steps(tetrahedra(hexahedra), rest, _plane(rest), rest[:, 1].copy(), (frames - 2, GROWTH))
    phase = float(rng.uniform(0, 2 * math.pi))

    steps = []
    front = -math.inf
    for k, cut in enumerate(cuts):
        x0 = _posed(cut, _Pose(phase, edge, k, front))
        x1 = _posed(cut, _Pose(phase, edge, k + 1, cut.front))
        if steps:
            # Vertices that are lips from now on were not open before, whatever the formula says.
            x0[: len(steps[-1].x1)] = steps[-1].x1
        front = cut.front
        remove, add = (cut.remove, {"tetra": cut.add}) if len(cut.add) else (no_ids(), {})
        labels = np.zeros(len(cut.rest), np.int64)
        steps.append(VolumeStep({"tetra": cut.cells}, x0, x1, labels, remove, add))
    return VolumeScene("liver", tuple(steps))


def liver_body(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Cubes (k, 8) and points (n, 3) of a liver of about so many tetrahedra, 3.2 units long."""
    return _body(*_lattice(cells / 6))


def _body(nx: int, ny: int, nz: int) -> tuple[np.ndarray, np.ndarray]:
    hexahedra, at = cubes(np.ones((nx, ny, nz), bool))
    return hexahedra, _shape(at / (nx / 2, ny / 2, nz / 2) - 1)


def _lattice(count: float) -> tuple[int, int, int]:
    """Sides of a box of about `count` cubes, which are about as 4 to 3 to 2."""
    size = (count / 24) ** (1 / 3)
    sides = [[max(2, round(s * size) + d) for d in (-1, 0, 1)] for s in (4, 3, 2)]
    boxes = [(nx, ny, nz) for nx in sides[0] for ny in sides[1] for nz in sides[2]]
    # The first that is close enough, or else the closest.
    return min(boxes, key=lambda box: (max(0.01, abs(math.prod(box) / count - 1)), abs(box[0] - 4 * size)))


def _shape(p: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the cube from -1 to 1 as a liver: a thick lobe, a thin one, and a bend between them."""
    x, y, z = (rounded(p, 0.75) * (1.6, 1.1, 0.75)).T
    thin = 1 - 0.28 * x
    return np.stack([x, y * (1 - 0.12 * x) + 0.12 * x * x, z * thin - 0.1 * x * x + 0.05 * x * y], axis=1)


def _plane(points: np.ndarray) -> np.ndarray:
    """(n,) distance from the plane of the cut; exactly 0 for what lies on it but for rounding."""
    d = (points - THROUGH) @ NORMAL
    return np.where(np.abs(d) < 1e-9, 0.0, d)


def _snapped(points: np.ndarray, reach: float) -> np.ndarray:
    """Points within `reach` of the plane are moved onto it: cutting close by a vertex would leave slivers."""
    d = (points - THROUGH) @ NORMAL
    return points - np.where(np.abs(d) < reach, d, 0)[:, None] * NORMAL


class _Pose(NamedTuple):
    phase: float
    edge: float
    time: float
    front: float


def _posed(cut: Cut, pose: _Pose) -> np.ndarray:
    """Positions (n, 3) at a time, with lips as far open as the front of the cut at that step allows."""
    x = cut.rest.copy()
    t = pose.phase + 0.25 * pose.time
    x[:, 2] += 0.5 * pose.edge * np.sin(1.3 * cut.rest[:, 0] + t)
    x[:, 1] += 0.35 * pose.edge * np.sin(1.7 * cut.rest[:, 2] + 0.8 * cut.rest[:, 0] - t)
    behind = np.maximum(pose.front - cut.rest[:, 1], 0)
    lip = 0.22 * behind * np.exp(-np.abs(cut.distance) / 0.5)
    # Bent open: wide above, and below 0 at the lower rim, where the lips go into each other.
    lip *= 0.55 + 1.1 * cut.rest[:, 2] + 0.1 * math.sin(0.5 * t)
    return x + (cut.side * lip)[:, None] * NORMAL
