"""Untangling by fairing alone: what intersects is smoothed, over a neighbourhood that grows until nothing does."""

from __future__ import annotations

import time

import numpy as np

import pliant

SWEEPS = 10  # of each round
ROUNDS_A_RING = 2  # after so many rounds, the neighbourhood of what is still there grows by a ring
MOST_RINGS = 40
ROUNDS = 120


def fair(
    faces: np.ndarray, x: np.ndarray, fixed: np.ndarray | None = None, *, threads: int = 1, seconds: float = 60.0
) -> np.ndarray:
    """(n, 3) positions: Laplacian smoothing with equal weights around all that intersects, until nothing does, or
    rounds or time are over.

    fixed : (n,) bool, vertices that stay
    """
    mesh, y = pliant.TriMesh(faces), np.array(x, np.float64)
    free = np.ones(len(x), bool) if fixed is None else ~fixed
    edges = mesh.edges
    ends = np.concatenate((edges, edges[:, ::-1]))
    count = np.maximum(np.bincount(ends[:, 0], minlength=len(x)), 1)[:, None]
    end = time.perf_counter() + seconds
    for number in range(ROUNDS):
        found = pliant.check(mesh, y, threads=threads).faces
        found = found[free[faces[found]].any(axis=(1, 2))]
        if not len(found) or time.perf_counter() > end:
            break
        region = np.zeros(len(x), bool)
        region[faces[found].ravel()] = True
        for _ in range(min(1 + number // ROUNDS_A_RING, MOST_RINGS)):
            region[ends[region[ends[:, 0]], 1]] = True
        region &= free
        for _ in range(SWEEPS):
            mean = _neighbour_sums(ends, y) / count
            y[region] = 0.5 * (y[region] + mean[region])
    return y


def _neighbour_sums(ends: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.stack([np.bincount(ends[:, 0], y[ends[:, 1], i], minlength=len(y)) for i in range(3)], axis=1)
