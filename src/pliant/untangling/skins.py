"""How far points are from a told object, and on which side: for pushing out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.elementary.certified import HIT
from pliant.queries.enclosures import Columns, closest_points, columns_of, wind
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

if TYPE_CHECKING:
    from pliant.untangling.sides import Enclosure

_CLEARLY = 2.0  # times as near as what closes it an open object has to be: beyond its rims there is no side


class Skin:
    """A told object at rest, everything being at x."""

    def __init__(self, one: Enclosure, x: np.ndarray, threads: int) -> None:
        self._pool, self._at = ThreadPool(threads), np.ascontiguousarray(one.at(x))
        self._whole = self._columns(one.faces)
        self._parts = (self._columns(one.faces[: one.own]), self._columns(one.faces[one.own :])) if one.is_open else ()

    def heights(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k,) signed distances, negative inside, and (k, 3) unit vectors that lead outwards from the closest point; of
        an open object infinite where it is not clearly nearer than what closes it."""
        winding, status = np.zeros(len(points), np.int32), np.zeros(len(points), np.int8)
        wind(self._whole[0], points, winding, status, self._pool, Tally())
        own, *caps = self._parts or (self._whole,)
        height, out = self._closest(own, points)
        far = self._closest(caps[0], points)[0] <= _CLEARLY * height if caps else np.zeros(len(points), bool)
        # The direction leads to the surface: outwards from the inside; on the surface it is its normal.
        inside = (winding != 0) | (status == HIT)
        height[inside] *= -1.0
        out[~inside] *= -1.0
        bad = far | ~np.isfinite(height)
        height[bad], out[bad] = np.inf, 0.0
        return height, out

    def _columns(self, faces: np.ndarray) -> tuple[Columns, np.ndarray]:
        return columns_of(np.ascontiguousarray(faces), self._at, self._pool)

    def _closest(self, surface: tuple[Columns, np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        height, out = np.full(len(points), np.inf), np.zeros((len(points), 3))
        if len(points):
            closest_points(*surface, points, (height, out), self._pool)
        return height, out
