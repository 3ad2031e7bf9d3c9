"""HashCCD (paper 004, section 6.1): spatial hashing (Teschner et al. 2003) of swept boxes in place of the hierarchy.

A grid of about the average length of an edge; each cell is noted at all places of the grid that its swept box touches,
by their hash. Cells meet where they are noted at one place. Two differences from what is described, both in favour of
the method: places that share a hash are told apart, and a pair of cells that meets at several places is taken at one of
them only, that of the lower corner of what their boxes have in common. Described is to take it again at each.
All that follows is as in ``naive_cells``.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from bench.baselines.all_features import EveryTest, Moving, all_of, each_alone
from pliant.bounds.kdops import bound_union, bound_vertices, box, overlap
from pliant.engine.sinks import Found
from pliant.hierarchy.spatial_hash import hash_of, place_of, place_size, prime_above
from pliant.runtime.jit import kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

_MOST_PLACES = 256  # of a cell, on average: a coarser grid where edges are far shorter than what they move by
_CHUNK = 1 << 16  # notes


class Table(NamedTuple):
    start: np.ndarray  # (hashes + 1,) int64
    cells: np.ndarray  # (notes,) int32, by hash
    places: np.ndarray  # (notes, 3) int64 in the grid
    boxes: np.ndarray  # (c, 6)
    inverse: float  # of the size of a place


def find(moving: Moving, bounds: str, pool: ThreadPool, tally: Tally) -> list[Found]:
    """bounds is not used: a grid knows boxes."""
    (mesh, _, travel), clock = moving, time.perf_counter()
    boxes = bound_union(bound_vertices(travel.x0, travel.x1), mesh._corners)
    table = hashed(boxes, place_size(travel.x0, mesh._corners, mesh.corner_count))
    tally.lap("hashing", clock)
    count, sinks = len(table.cells), [EveryTest(moving) for _ in range(pool.threads)]
    chunks = [(first, min(first + _CHUNK, count)) for first in range(0, count, _CHUNK)]
    each_alone(sinks, len(mesh.corners), ThreadPool(pool.threads))
    pool.run(lambda worker, chunk: _test_notes(sinks[worker], table, *chunk), chunks)
    tally.merge(sink.tally for sink in sinks)
    return all_of(sinks, tally)


def _test_notes(sink: EveryTest, table: Table, first: int, end: int) -> None:
    """Pairs of cells that are noted in one place, of notes from first up to end."""
    second = first + 1
    while first < end:
        clock = time.perf_counter()
        first, second, count, compared = meeting(table, first, second, end, sink.block)
        sink.tally.add("traversal", compared, count, time.perf_counter() - clock)
        sink.test_cells(sink.block, count)


def hashed(boxes: np.ndarray, size: float) -> Table:
    """Boxes, (c, 6) as from bound_union, noted in a grid of some size."""
    hashes = prime_above(2 * len(boxes))
    while _count_places(boxes, 1.0 / size) > _MOST_PLACES * len(boxes):
        size *= 2.0
    counts = np.zeros(hashes, np.int64)
    notes = _note(boxes, 1.0 / size, counts, np.empty(0, np.int32), np.empty((0, 3), np.int64))
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    cells, places = np.empty(notes, np.int32), np.empty((notes, 3), np.int64)
    _note(boxes, 1.0 / size, start[:-1].copy(), cells, places)
    return Table(start, cells, places, boxes, 1.0 / size)


@kernel
def _count_places(boxes, inverse):
    """In all; a float, which cannot overflow."""
    total = 0.0
    for i in range(len(boxes)):
        count = 1.0
        for k in range(0, 6, 2):
            count *= math.floor(boxes[i, k + 1] * inverse) - math.floor(boxes[i, k] * inverse) + 1.0
        total += count
    return total


@kernel
def _note(boxes, inverse, fill, cells, places):
    """Count the notes of each hash, in fill; where fit cells, note them from fill on. Returns how
    many."""
    hashes, total = len(fill), 0
    for i in range(len(boxes)):
        for x in range(place_of(boxes[i, 0], inverse), place_of(boxes[i, 1], inverse) + 1):
            for y in range(place_of(boxes[i, 2], inverse), place_of(boxes[i, 3], inverse) + 1):
                for z in range(place_of(boxes[i, 4], inverse), place_of(boxes[i, 5], inverse) + 1):
                    h = hash_of(x, y, z, hashes)
                    if len(cells) > 0:
                        at = fill[h]
                        cells[at] = i
                        places[at, 0], places[at, 1], places[at, 2] = x, y, z
                    fill[h] += 1
                    total += 1
    return total


@kernel
def meeting(table, first, second, end, out):
    """Pairs of cells with overlapping boxes from notes (first, second) on, first below end, as many as fit, each once.

    Returns where to go on, how many there are, and how many notes were compared.
    """
    start, cells, places, boxes, inverse = table
    hashes, count, compared = len(start) - 1, 0, 0
    while first < end:
        x, y, z, i = places[first, 0], places[first, 1], places[first, 2], cells[first]
        box_i = box(boxes, i)
        last = start[hash_of(x, y, z, hashes) + 1]
        while second < last:
            if count == len(out):
                return first, second, count, compared
            j = cells[second]
            compared += 1
            if (
                places[second, 0] == x
                and places[second, 1] == y
                and places[second, 2] == z
                and overlap(box_i, boxes, i, boxes, j)
                and place_of(max(box_i[0], boxes[j, 0]), inverse) == x
                and place_of(max(box_i[2], boxes[j, 2]), inverse) == y
                and place_of(max(box_i[4], boxes[j, 4]), inverse) == z
            ):
                out[count, 0], out[count, 1] = i, j
                count += 1
            second += 1
        first += 1
        second = first + 1
    return first, second, count, compared
