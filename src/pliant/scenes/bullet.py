"""A scene of hexahedra: a bullet goes through a thin steel plate, which breaks."""

import math
from typing import NamedTuple

import numpy as np

from pliant.scenes.lattices import cubes, rounded
from pliant.scenes.volume_scene import Part, VolumeScene, VolumeStep, joined, no_ids

SPEED = 0.45  # cells of the plate in a step
THIN = 0.5  # height of a cell of the plate, whose other edges are 1
RADIUS = 0.08  # of the bullet, in widths of the plate
CRACKS = 5


class _Build(NamedTuple):
    """Cubes of the plate, and of the bullet across and along."""

    plate: tuple[int, int, int]
    across: int
    along: int

    @property
    def radius(self) -> float:
        return RADIUS * self.plate[0]

    @property
    def nose(self) -> float:
        """Length of the round end of the bullet."""
        return 0.6 * self.radius

    @staticmethod
    def of(cells: int) -> "_Build":
        scale = (cells / 12_000) ** (1 / 3)
        across, along, layers = max(3, round(10 * scale)), max(4, round(18 * scale)), max(2, round(4 * scale))
        left = max(36 * layers, cells - across**2 * along)
        wide = max(6, round(math.sqrt(left / layers)))
        return _Build((wide, max(6, round(left / layers / wide)), layers), across, along)


def bullet(cells: int = 12_000, frames: int = 12, seed: int = 0) -> VolumeScene:
    """A bullet that goes into a plate: of copper, from the moment when it touches it.

    The plate is dented, waves run outwards, and cells fail: those that the nose has reached, and those on cracks that
    run outwards from the hole. Failed cells are deleted, as crash codes do. The bullet goes half a cell deeper in each
    step, and gets thicker in front; in larger scenes it needs more steps to get through.
    """
    rng = np.random.default_rng(seed)
    build = _Build.of(cells)
    plate_cells, plate = _plate(build)
    bullet_cells, shape = _bullet(build)
    angles = (np.arange(CRACKS) + rng.uniform(-0.3, 0.3, CRACKS)) * 2 * math.pi / CRACKS
    depth = SPEED * np.arange(frames) + 0.2
    parts = [
        Part({"hexahedron": plate_cells}, np.stack([_dented(plate, build, d) for d in depth])),
        Part({"hexahedron": bullet_cells}, np.stack([_flying(shape, build, d) for d in depth])),
    ]
    all_cells, x, objects = joined(parts)
    # Depth of the bullet at which each cell fails; those of the bullet never do.
    fails = np.full(len(all_cells["hexahedron"]), np.inf)
    fails[: len(plate_cells)] = _failure(plate[plate_cells].mean(axis=1), build, angles)

    steps = []
    stay = np.arange(len(fails))
    for k in range(frames - 1):
        gone = np.flatnonzero(fails[stay] < depth[k]) if k else no_ids()
        stay = np.delete(stay, gone)
        steps.append(VolumeStep({"hexahedron": all_cells["hexahedron"][stay]}, x[k], x[k + 1], objects, gone))
    return VolumeScene("bullet", tuple(steps))


def _plate(build: _Build) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra and points of the plate, with its upper side at z = 0 and its middle at x = y = 0."""
    cells, points = cubes(np.ones(build.plate, bool))
    nx, ny, nz = build.plate
    return cells, (points - (nx / 2, ny / 2, nz)) * (1, 1, THIN)


def _bullet(build: _Build) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra and points of the bullet, with its tip at z = 0 and the rest above."""
    m, r = build.across, build.radius
    cells, points = cubes(np.ones((m, m, build.along), bool))
    z = points[:, 2] * (2 * r / m)
    # A tip of a point would have flat cells: it is a sixth of the bullet wide.
    width = np.where(z < build.nose, np.sqrt(np.maximum(1 - (1 - z / build.nose) ** 2, 0.03)), 1.0)
    disc = rounded(points[:, :2] * (2 / m) - 1, 0.85) * (r * width)[:, None]
    return cells, np.column_stack([disc, z])


def _profile(r: np.ndarray, build: _Build) -> np.ndarray:
    """How far above its tip the surface of the nose is at a distance r (n,) from the axis."""
    return build.nose * (1 - np.sqrt(np.maximum(1 - (r / build.radius) ** 2, 0)))


def _dented(plate: np.ndarray, build: _Build, depth: float) -> np.ndarray:
    """The plate (n, 3) when the tip of the bullet is `depth` below where its upper side was."""
    r = np.hypot(plate[:, 0], plate[:, 1])
    inner = np.minimum(r / build.radius, 1)
    # The plate follows less and less: in the end the bullet is through.
    dent = 5 * (1 - math.exp(-depth / 8)) * np.exp(-((r / (1.9 * build.radius)) ** 2))
    wave = 0.35 * np.sin(2.5 * r / build.radius - 0.35 * depth) * np.exp(-r / (3 * build.radius)) * min(1.0, depth)
    # What is not torn away is pushed aside, less than the bullet would need: they go into each other.
    aside = 1 + 0.06 * min(1.0, depth / 4) * inner * np.exp(-((r / (1.5 * build.radius)) ** 2))
    return np.column_stack([plate[:, :2] * aside[:, None], plate[:, 2] - dent - wave * inner**2])


def _flying(shape: np.ndarray, build: _Build, depth: float) -> np.ndarray:
    z = shape[:, 2] / build.radius
    thicker = 1 + 0.03 * depth * np.exp(-z)
    shorter = build.radius * 0.02 * depth * np.exp(-z)
    return np.column_stack([shape[:, :2] * thicker[:, None], shape[:, 2] - depth + shorter])


def _failure(centre: np.ndarray, build: _Build, angles: np.ndarray) -> np.ndarray:
    """(k,) the depth of the bullet at which cells with these centres (k, 3) fail, or infinity."""
    r = np.hypot(centre[:, 0], centre[:, 1])
    below = -centre[:, 2]
    in_hole = r < 0.9 * build.radius
    fails = np.where(in_hole, 0.6 + 0.9 * below + 0.8 * _profile(r, build), np.inf)
    for angle in angles:
        along = centre[:, 0] * math.cos(angle) + centre[:, 1] * math.sin(angle)
        beside = np.abs(-centre[:, 0] * math.sin(angle) + centre[:, 1] * math.cos(angle))
        on_crack = (beside < 0.5) & (along > 0) & ~in_hole
        opens = 2.0 + 0.4 * below + 0.8 * (r - build.radius)
        fails = np.where(on_crack & (r < 2.2 * build.radius), np.minimum(fails, opens), fails)
    return fails
