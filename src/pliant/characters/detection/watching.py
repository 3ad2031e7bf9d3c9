"""Only what may have changed, with a proof (``clearances``), and never less than what is there."""

from __future__ import annotations

import numpy as np

from pliant.characters.detection.clearances import look_again
from pliant.characters.detection.parts import Parts
from pliant.characters.detection.rehashing import Keep, Rehashing
from pliant.characters.detection.surroundings import (
    AROUND,
    COMPARED,
    CROWDED,
    FOUND,
    MADE,
    NEAR,
    PART,
    UPDATED,
    Pool,
    Watch,
    bound_parts,
    boxes_for,
    buffers_for,
    compact,
    lists_for,
)
from pliant.hierarchy.spatial_hash import place_size
from pliant.runtime.tally import Tally

_SEARCH_RADIUS = 0.2  # of a list, in edges
_MOST = 256  # comparisons for each cell: rehashing everything costs about as much


class Watching:
    def __init__(self, parts: Parts, rehashing: Rehashing) -> None:
        self._parts, self._rehashing = parts, rehashing
        self._boxes, self._lists, self._buffers = boxes_for(parts), lists_for(parts), buffers_for(parts)
        self._corner_count = np.full(len(parts.cells), 4, np.int8)
        self._search_radius, self._ends = 0.0, (0, 0)
        self._pool = _pool_of(16 * len(parts.vertices), 16 * len(parts.cells) + 4096)
        self._out = np.empty((16 * len(parts.cells) + 4096, 2), np.int32)

    def look(self, x: np.ndarray, transforms: np.ndarray | None, keep: Keep, tally: Tally) -> None:
        """x : (n, 3) by the numbers of the parts. transforms are not needed: positions tell."""
        # Positive: what is less than search_radius away has to include what is not away at all.
        self._search_radius = max(
            _SEARCH_RADIUS * place_size(x, self._parts.corners, self._corner_count), np.finfo(float).tiny
        )
        bound_parts(x, self._parts, self._boxes)
        progress = np.zeros(6, np.int64)
        progress[AROUND], progress[NEAR] = self._ends
        status = self._look_again(x, progress)
        self._ends = int(progress[AROUND]), int(progress[NEAR])
        tally.add("lists", len(self._lists.owed), progress[MADE], 0.0)
        tally.add("boxes", progress[COMPARED], progress[FOUND], 0.0)
        if status == CROWDED:
            self._rehashing.look(x, None, keep, tally)
        elif progress[FOUND]:
            keep(self._out[: progress[FOUND]])

    def _look_again(self, x: np.ndarray, progress: np.ndarray) -> int:
        most = float(_MOST * len(self._parts.cells))
        while True:
            watch = Watch(self._parts, self._boxes, self._lists, self._pool, self._buffers, self._search_radius, most)
            status = look_again(x, watch, progress, self._out)
            if status == UPDATED or status == CROWDED:
                return status
            self._grow(int(progress[PART]), progress)

    def _grow(self, part: int, progress: np.ndarray) -> None:
        """For a part with whatever surroundings and strays, and as much again as there is in use."""
        vertices = len(self._parts.vertices)
        most = 2 * vertices * int(self._parts.cell_start[part + 1] - self._parts.cell_start[part]) + 2
        around = int(np.diff(self._lists.around).sum()) + vertices
        near = int((self._lists.near[:, -1] - self._lists.near[:, 0]).sum()) + most
        before = self._pool
        self._pool = _pool_of(max(len(before.around), 2 * around), max(len(before.near), 2 * near))
        compact(self._lists, before, self._pool, progress)
        if progress[FOUND] + most >= len(self._out):
            buffers = np.empty((2 * len(self._out) + most, 2), np.int32)
            buffers[: progress[FOUND]] = self._out[: progress[FOUND]]
            self._out = buffers


def _pool_of(around: int, near: int) -> Pool:
    return Pool(np.empty(around, np.int32), np.empty((3, around)), np.empty((near, 2), np.int32))
