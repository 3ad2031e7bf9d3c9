"""Whether a state is as good as it has to be: sides, distances moved, areas; and how far it is from what was given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.edges import unite


class Limits(NamedTuple):
    """max_move, max_distortion : as in ``pliant.untangle``"""

    max_move: float
    max_distortion: float


def areas(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(m,)"""
    u = x[faces[:, 0]]
    return 0.5 * np.linalg.norm(np.cross(x[faces[:, 1]] - u, x[faces[:, 2]] - u), axis=1)


def beyond(faces: np.ndarray, edges: np.ndarray, before: np.ndarray, after: np.ndarray, limits: Limits) -> np.ndarray:
    """(n,) bool: the vertices of connected regions that have moved too far, or whose area has changed too much."""
    moved = (after != before).any(axis=1)
    if not moved.any():
        return moved
    region = np.arange(len(before))
    unite(edges[moved[edges].all(axis=1)], region)
    bad = np.zeros(len(before), bool)
    bad[region[moved & (np.linalg.norm(after - before, axis=1) > limits.max_move)]] = True
    total = np.zeros((len(before), 2))
    for column, x in enumerate((before, after)):
        area = areas(faces, x)
        for corner in range(3):
            vertices = faces[:, corner]
            own = moved[vertices]
            np.add.at(total[:, column], region[vertices[own]], area[own])
    bad |= np.abs(total[:, 1] - total[:, 0]) > limits.max_distortion * total[:, 0]
    return bad[region] & moved
