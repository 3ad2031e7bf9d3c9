"""Rigid obstacles: meshes of tetrahedra that move as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError, as_floats, as_positions


class ObstacleError(MeshError):
    """An obstacle is not what it has to be, or is not where it can be."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A rigid body of tetrahedra."""

    volume: VolumeMesh  # of "tetra" only
    rest: np.ndarray  # (o, 3) positions that its transform moves


def join(volume: VolumeMesh, vertex_count: int, obstacles: Sequence[Obstacle]) -> VolumeMesh:
    """The body and all obstacles as one mesh: vertices and cells of the body first, then of each obstacle in turn."""
    cells, first = [volume.cells["tetra"]], vertex_count
    for i, obstacle in enumerate(obstacles):
        if len(obstacle.volume.cells["tetra"]) != len(obstacle.volume.types):
            raise ObstacleError(f"obstacle {i} has cells that are not tetrahedra: {obstacle.volume!r}")
        obstacle.volume.require_in_range(len(obstacle.rest))
        cells.append(obstacle.volume.cells["tetra"] + np.int32(first))
        first += len(obstacle.rest)
    return VolumeMesh({"tetra": np.concatenate(cells)}) if obstacles else volume


def place(obstacles: Sequence[Obstacle], transforms: Any) -> list[np.ndarray]:
    """Positions of all obstacles, moved by (o, 4, 4) matrices; None leaves them at rest."""
    if transforms is None:
        return [obstacle.rest for obstacle in obstacles]
    matrices = as_floats(transforms, "obstacle_transforms")
    if matrices.shape != (len(obstacles), 4, 4):
        raise ObstacleError(
            f"obstacle_transforms must have shape ({len(obstacles)}, 4, 4), one for each obstacle, "
            f"but have {matrices.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        placed = [o.rest @ m[:3, :3].T + m[:3, 3] for o, m in zip(obstacles, matrices)]
    return [as_positions(x, f"obstacle {i}, moved,") for i, x in enumerate(placed)]
