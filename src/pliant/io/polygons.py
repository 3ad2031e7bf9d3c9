"""Faces with any number of corners as triangles, and the surface of all that a file holds."""

from __future__ import annotations

import numpy as np

from pliant.io.mesh import FileMesh

_SHELLS = ("triangle", "quad")


def fan(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(m, 3) triangles around the first corner of each polygon, in the order of the polygons.

    counts : (k,) int64, corners of each polygon, at least 3
    corners : (sum of counts,) int64, one polygon after the other
    """
    triangles = counts - 2
    first = np.repeat(np.cumsum(counts) - counts, triangles)
    step = np.arange(len(first)) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)


def surface_of(mesh: FileMesh) -> np.ndarray:
    """(m, 3) int32 triangles of a mesh that was read: shells in the order of the file, with quadrilaterals cut in two
    after the triangles; where there are solids, their boundary, and each shell that is not part of it."""
    if solids_of(mesh):
        from pliant.mesh.volumes import VolumeMesh

        return VolumeMesh(mesh.cells).surface().faces
    quads = mesh.cells.get("quad", np.empty((0, 4), np.int32))
    cut = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    return np.concatenate([mesh.cells.get("triangle", np.empty((0, 3), np.int32)), cut])


def solids_of(mesh: FileMesh) -> dict[str, np.ndarray] | None:
    """All cells, if any of them is a solid: what a volume mesh is made of."""
    return mesh.cells if any(kind not in _SHELLS for kind in mesh.cells) else None
