"""Whether a state is as good as it has to be: sides, distances moved, areas; and how far it is from what was given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.rings import Rings, grow

AROUND = 2  # rings: a face is distorted where the area around it has changed


class Limits(NamedTuple):
    """max_move, max_distortion : as in ``pliant.untangle``"""

    max_move: float
    max_distortion: float


def areas(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(m,)"""
    u = x[faces[:, 0]]
    return 0.5 * np.linalg.norm(np.cross(x[faces[:, 1]] - u, x[faces[:, 2]] - u), axis=1)


def distortion(faces: np.ndarray, rings: Rings, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(n,) relative change of the area around each vertex: of the faces of all vertices within two rings."""
    total = np.zeros((len(before), 2))
    for column, x in enumerate((before, after)):
        area = areas(faces, x)
        for corner in range(3):
            np.add.at(total[:, column], faces[:, corner], area)
    for _ in range(AROUND):
        total = total + _neighbour_sums(rings, total)
    return np.abs(total[:, 1] - total[:, 0]) / np.maximum(total[:, 0], 1e-300)


def _neighbour_sums(rings: Rings, values: np.ndarray) -> np.ndarray:
    summed = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(values[rings.neighbours], axis=0)))
    return summed[rings.start[1:]] - summed[rings.start[:-1]]


def beyond(
    faces: np.ndarray, rings: Rings, before: np.ndarray, after: np.ndarray, limits: Limits
) -> np.ndarray:
    """(n,) bool: vertices that have moved too far, or whose surroundings are distorted; and all that has moved and is
    connected with them."""
    moved = (after != before).any(axis=1)
    bad = np.linalg.norm(after - before, axis=1) > limits.max_move
    # Sums of areas round: what has not moved is not distorted.
    bad |= (distortion(faces, rings, before, after) > limits.max_distortion) & grow(rings, moved, AROUND + 1)
    if not bad.any():
        return bad
    bad = grow(rings, bad, AROUND + 1) & moved
    while True:
        more = grow(rings, bad, 1) & moved
        if (more == bad).all():
            return bad
        bad = more
