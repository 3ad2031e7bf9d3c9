"""How far points are from a closed surface, and on which side: for pushing out of it."""

from __future__ import annotations

import numpy as np

from pliant.elementary.certified import HIT
from pliant.queries.enclosures import closest_points, columns_of, wind
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


class Skin:
    """A closed surface at rest.

    Parameters
    ----------
    faces : (m, 3) int32, closed; x : (n, 3)
    """

    def __init__(self, faces: np.ndarray, x: np.ndarray, threads: int) -> None:
        self._pool = ThreadPool(threads)
        self._columns, self._ids = columns_of(np.ascontiguousarray(faces), np.ascontiguousarray(x), self._pool)

    def heights(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k,) signed distances, negative inside, and (k, 3) unit vectors that lead outwards from the closest point."""
        winding, status = np.zeros(len(points), np.int32), np.zeros(len(points), np.int8)
        wind(self._columns, points, winding, status, self._pool, Tally())
        height, out = np.full(len(points), np.inf), np.zeros((len(points), 3))
        if len(points):
            closest_points(self._columns, self._ids, points, (height, out), self._pool)
        # The direction leads to the surface: outwards from the inside; on the surface it is its normal.
        inside = (winding != 0) | (status == HIT)
        height[inside] *= -1.0
        out[~inside] *= -1.0
        bad = ~np.isfinite(height)
        height[bad], out[bad] = np.inf, 0.0
        return height, out
