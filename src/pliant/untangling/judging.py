"""Whether a state is as good as it has to be: how far vertices have moved, and how much areas of faces have changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Limits(NamedTuple):
    """max_move, max_distortion : as in ``pliant.untangle``"""

    max_move: float
    max_distortion: float


class FaceAreas(NamedTuple):
    """Areas as they were given, and what their changes are measured by.

    area : (m,)
    scale : (m,) of each face the mean area of the faces at its corners, or its own, if that is larger: what was nearly
        nothing is not measured by that
    """

    area: np.ndarray
    scale: np.ndarray

    @staticmethod
    def of(faces: np.ndarray, x: np.ndarray) -> FaceAreas:
        area = areas(faces, x)
        corners = faces.ravel()
        total = np.bincount(corners, np.repeat(area, 3), minlength=len(x))
        mean = total / np.maximum(np.bincount(corners, minlength=len(x)), 1)
        return FaceAreas(area, np.maximum(area, mean[faces].mean(axis=1) if len(faces) else area))

    def changes(self, faces: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(m,) relative changes at x, not negative."""
        change = np.abs(areas(faces, x) - self.area)
        unknown = np.where(change > 0.0, np.inf, 0.0)
        return np.divide(change, self.scale, out=unknown, where=self.scale > 0.0)


def exponent_of(x: np.ndarray) -> int:
    """Of the power of two by which positions become those of ordinary size: areas and volumes of others overflow."""
    largest = float(np.abs(x).max(initial=0.0))
    return 0 if largest == 0.0 or 2.0**-40 < largest < 2.0**40 else -int(np.frexp(largest)[1])


def longest(ways: np.ndarray) -> float:
    """The largest length of vectors (n, 3) whose squares may overflow."""
    exponent = exponent_of(ways)
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.linalg.norm(np.ldexp(ways, exponent), axis=1).max(initial=0.0), -exponent))


def areas(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(m,)"""
    u, v, w = (x[faces[:, k]].T for k in range(3))
    (a, b, c), (d, e, f) = v - u, w - u
    n = b * f - c * e, c * d - a * f, a * e - b * d  # by columns: np.cross takes three times as long
    return np.asarray(0.5 * np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]))


def within_limits(faces: np.ndarray, before: np.ndarray, after: np.ndarray, limits: Limits) -> np.ndarray:
    """(n, 3) after, with vertices put back to where they were before until none has moved too far, and no face's area
    has changed too much."""
    too_far = np.linalg.norm(after - before, axis=1) > limits.max_move
    x = np.where(too_far[:, None], before, after)
    changed = (after != before).any(axis=1)[faces].any(axis=1)
    some, given = faces[changed], FaceAreas(*(column[changed] for column in FaceAreas.of(faces, before)))
    while True:
        rows = np.unique(some[given.changes(some, x) > limits.max_distortion])
        rows = rows[(x[rows] != before[rows]).any(axis=1)]
        if not len(rows):  # a face whose corners are all back has its own area
            return x
        x[rows] = before[rows]


def is_within_limits(faces: np.ndarray, before: np.ndarray, after: np.ndarray, limits: Limits) -> bool:
    return np.array_equal(within_limits(faces, before, after, limits), after)
