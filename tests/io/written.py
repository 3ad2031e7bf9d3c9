"""Meshes and sequences that tests write, in every format."""

from __future__ import annotations

import numpy as np

import pliant

FACES = np.array([[0, 1, 2], [0, 2, 3], [4, 6, 5], [3, 2, 6], [7, 5, 1]])
SOLIDS = {
    "tetra": np.array([[0, 1, 3, 4], [8, 9, 10, 11]]),
    "hexahedron": np.arange(8)[None],
    "wedge": np.array([[0, 1, 3, 4, 5, 7]]),
    "pyramid": np.array([[0, 1, 2, 3, 9]]),
    "triangle": np.array([[0, 1, 9], [2, 9, 10]]),
    "quad": np.array([[4, 5, 6, 7]]),
}
CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)


def points(count=12, seed=0):
    """Coordinates that float32 cannot hold, in the first eight near a unit cube."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3))
    x[:8] = CUBE + rng.uniform(-0.1, 0.1, (8, 3))
    return x


def sequence(frames=5, cells=None):
    times = np.array([0.0, 0.25, 0.5, 1.5, 2.0])[:frames]
    faces = None if cells else FACES
    return pliant.Sequence(faces, np.stack([points(12, seed) for seed in range(frames)]), cells=cells, times=times)
