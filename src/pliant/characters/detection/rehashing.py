"""All vertices and all cells through the spatial hash, in every frame: what the paper compares with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.characters.detection.parts import Parts
from pliant.hierarchy.spatial_hash import SpatialHash, list_noted, place_size
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

_BLOCK = 8192  # pairs
_CELLS = 4096  # for a thread, at least

Keep = Callable[[np.ndarray], None]  # takes pairs (k, 2) int32 of vertex and cell that need the exact test


class Rehashing:
    def __init__(self, parts: Parts, pool: ThreadPool) -> None:
        self._hash = SpatialHash(len(parts.vertices))
        self._corners, self._pool = parts.corners, pool
        self._corner_count = np.full(len(parts.cells), 4, np.int8)
        self._vertices = np.arange(len(parts.vertices), dtype=np.int32)

    def look(self, x: np.ndarray, transforms: np.ndarray | None, keep: Keep, tally: Tally) -> None:
        """x : (n, 3) by the numbers of the parts. transforms are not needed."""
        self.look_at(x, self._vertices, None, keep)

    def look_at(self, x: np.ndarray, vertices: np.ndarray, cells: np.ndarray | None, keep: Keep) -> None:
        """Of some vertices, (k,) int32, and some cells, (c,) int32 or None for all of them."""
        corners = self._corners if cells is None else self._corners[cells]
        table = self._hash.note(x, vertices, place_size(x, self._corners, self._corner_count))

        def look(first: int, last: int) -> None:
            pairs = np.empty((_BLOCK, 2), np.int32)
            while first < last:
                count, after = list_noted(x, table, (corners, self._corner_count), first, last, pairs)
                if after == first:  # one cell has more vertices than fit
                    pairs = np.empty((2 * len(pairs), 2), np.int32)
                    continue
                if cells is not None:
                    pairs[:count, 1] = cells[pairs[:count, 1]]
                first = after
                keep(pairs[:count])

        self._pool.run_range(look, len(corners), _CELLS)
