"""Nearest tetrahedra and barycentric coordinates, in Fractions, cell by cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.reference.distances import VERTEX_FACE, distance_squared, exactly

FACES = ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))


def _volume(a, b, c, d):
    u, v, w = b - a, c - a, d - a
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])


def weights(corners, p) -> list[Fraction] | None:
    """Of the corners (4, 3), exact; None for a flat cell."""
    corners, p = exactly(corners), exactly(p)
    total = _volume(*corners)
    if total == 0:
        return None
    return [_volume(*corners[:i], p, *corners[i + 1 :]) / total for i in range(4)]


def distance_squared_of(corners, p) -> Fraction | None:
    """Exact, of a cell (4, 3) and a point; 0 inside; None for a flat cell."""
    w = weights(corners, p)
    if w is None or min(w) >= 0:
        return None if w is None else Fraction(0)
    corners, p = exactly(corners), exactly(p)
    return min(distance_squared(VERTEX_FACE, np.stack([p, *corners[list(face)]])) for face in FACES)


def nearest(cells, rest, p) -> tuple[int, Fraction]:
    """The first of the nearest cells, and its squared distance."""
    found = [(distance_squared_of(rest[cell], p), i) for i, cell in enumerate(cells)]
    best = min((d, i) for d, i in found if d is not None)
    return best[1], best[0]
