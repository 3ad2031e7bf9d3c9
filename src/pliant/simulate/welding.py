"""Seams that have closed become one mesh."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import MeshError


class Welded(NamedTuple):
    """A cloth whose seams are closed for good.

    mesh : TriMesh
    positions : (m, 3) float64, of vertices that were sewn their mean
    vertices : (n,) int64, which vertex of it each one of the cloth has become
    """

    mesh: TriMesh
    positions: np.ndarray
    vertices: np.ndarray


def weld(mesh: TriMesh, x: np.ndarray, pairs: np.ndarray, within: float) -> Welded:
    """pairs : (k, 2) vertices that become one; MeshError where two of them are further apart than this."""
    apart = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    if (apart > within).any():
        k = int(np.argmax(apart))
        raise MeshError(
            f"{int(np.count_nonzero(apart > within))} stitches are open: vertices {pairs[k, 0]} and {pairs[k, 1]} are "
            f"{apart[k]:.3g} apart, and {within:.3g} is closed; simulate further, or with a stiffer seam"
        )
    label = sewn_together(pairs, len(x))
    kept, vertices = np.unique(label, return_inverse=True)
    vertices = vertices.reshape(-1)
    count = np.bincount(vertices, minlength=len(kept))
    positions = np.column_stack([np.bincount(vertices, x[:, c], minlength=len(kept)) / count for c in range(3)])
    faces = vertices[mesh.faces]
    proper = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    if not proper.all():
        raise MeshError(f"face {int(np.argmin(proper))} is sewn to itself: it would have no area once it is welded")
    return Welded(TriMesh(faces), positions, vertices)


def sewn_together(pairs: np.ndarray, vertex_count: int) -> np.ndarray:
    """(n,) int64, of each vertex the lowest of those that it is sewn to, directly or through others."""
    label = np.arange(vertex_count)
    while True:
        lower = np.minimum(label[pairs[:, 0]], label[pairs[:, 1]])
        before = label.copy()
        np.minimum.at(label, pairs[:, 0], lower)
        np.minimum.at(label, pairs[:, 1], lower)
        label = label[label]
        if np.array_equal(label, before):
            return label
