"""Spatial hashing (Teschner et al. 2003; paper 003, section 4.1): vertices in a grid, and cells that look them up.

A grid of about the average edge. Each vertex is noted at its place in the grid, under the hash of that place; each cell
looks at all places that its box touches. Objects, and a body with itself, are one pass. What is noted carries the
stamp of its frame: a table serves the next frame as it is, what has an older stamp is not there.

**Nothing is lost.** ``place_of`` never decreases with the coordinate, rounded as it is: a vertex in the box of a cell
is at a place between those of the two ends of the box. **Nothing comes twice.** Two places of one cell can share a hash
(errata 16), so a vertex counts at its own place only. Truncation in place of floor would make the places around 0 eight
times as large, and a remainder with the sign of the product would not be a row of the table (both in the tests).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import max_norm, row, sub
from pliant.hierarchy.cell_boxes import box_holds, box_of_cell
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

PRIMES = 73_856_093, 19_349_663, 83_492_791  # of the papers
_WIDTH = 1.25  # of a place, in average edges: "slightly higher" in the paper
_SLOTS = 4  # of the table, for each vertex
_SAMPLE = 256  # cells that the average is taken of
_MOST_PLACES = 2.0**30  # on either side of 0, so that no product with a prime overflows
_STEEPEST = 1e300  # places per unit: finite, also where edges are shorter than any normal number
_ANYWHERE = -1  # in place of the number of a place
_STAMP_BITS, _VERTEX = 32, 0xFFFFFFFF  # of a slot: the stamp is above the vertex


class Table(NamedTuple):
    """Vertices by the hash of their places."""

    slots: np.ndarray  # (hashes,) int64: stamp, and below it the vertex that was noted last
    after: np.ndarray  # (n,) int32 the vertex that was noted there before it, or -1
    vertices: np.ndarray  # int32, those that were noted with this stamp
    stamp: int
    inverse: float  # of the size of a place


class SpatialHash:
    """A table for up to so many vertices, which serves frame after frame."""

    def __init__(self, vertex_count: int) -> None:
        self._slots = np.zeros(prime_above(_SLOTS * vertex_count), np.int64)
        self._after = np.empty(vertex_count, np.int32)
        self._stamp = 0

    def note(self, x: np.ndarray, vertices: np.ndarray, size: float) -> Table:
        """Note vertices, (k,) int32, in a grid of about such a size; what was noted before is no longer there."""
        self._stamp += 1
        return Table(self._slots, self._after, vertices, self._stamp, _note(x, vertices, size, *self._buffers()))

    def _buffers(self) -> tuple[np.ndarray, np.ndarray, int]:
        return self._slots, self._after, self._stamp


class HashedPoints:
    """Spatial hashing as a broad phase of points against cells."""

    def __init__(self, x: np.ndarray, volume: VolumeMesh, pool: ThreadPool) -> None:
        self._x = x
        size = place_size(x, volume._corners[: volume.solid_count], volume.corner_count)
        self._table = SpatialHash(len(x)).note(x, volume._vertices, size)

    def fill(
        self, corners: np.ndarray, corner_count: np.ndarray, first: int, last: int, out: np.ndarray
    ) -> tuple[int, int]:
        """As in ``PointTree``, without the corners of the cells themselves."""
        return list_noted(self._x, self._table, (corners, corner_count), first, last, out)


def prime_above(count: int) -> int:
    prime = max(3, count | 1)
    while any(prime % d == 0 for d in range(3, math.isqrt(prime) + 1, 2)):
        prime += 2
    return prime


@kernel
def place_size(x, corners, corner_count):
    """Of the grid: somewhat more than the average edge of the cells, of which a sample is taken.

    The longest coordinate stands for the length: that is what boxes consist of, and its square cannot overflow.
    """
    total, count = 0.0, 0
    for cell in range(0, len(corners), max(1, len(corners) // _SAMPLE)):
        for k in range(corner_count[cell]):
            a, b = corners[cell, k], corners[cell, (k + 1) % corner_count[cell]]
            total += max_norm(sub(row(x, a), row(x, b)))
            count += 1
    return _WIDTH * total / count if total > 0.0 else 1.0


@helper
def place_of(value, inverse):
    """Never decreases with the value, rounded as it is: two boxes that overlap have a place in common."""
    return np.int64(math.floor(value * inverse))


@helper
def hash_of(x, y, z, hashes):
    """0 .. hashes - 1: the remainder has the sign of the divisor, for negative products too (errata 16)."""
    return ((x * PRIMES[0]) ^ (y * PRIMES[1]) ^ (z * PRIMES[2])) % hashes


@kernel
def _note(x, vertices, size, slots, after, stamp):
    """Returns the inverse of the size that the places have: coarser where places would be too many to number."""
    largest = 0.0
    for v in vertices:
        largest = max(largest, max(abs(x[v, 0]), max(abs(x[v, 1]), abs(x[v, 2]))))
    inverse = min(1.0 / max(size, largest / _MOST_PLACES), _STEEPEST)
    for v in vertices:
        i, j, k = place_of(x[v, 0], inverse), place_of(x[v, 1], inverse), place_of(x[v, 2], inverse)
        h = hash_of(i, j, k, len(slots))
        after[v] = slots[h] & _VERTEX if slots[h] >> _STAMP_BITS == stamp else -1
        slots[h] = stamp << _STAMP_BITS | np.int64(v)
    return inverse


@kernel
def list_noted(x, table, cells, first, last, out):
    """Pairs of a noted vertex and a cell first .. last - 1 that has it in its box and not as a corner, as many as fit.

    Returns how many pairs there are, and the cell to go on with; one row of out stays free.
    """
    corners, corner_count = cells
    inverse, count = table.inverse, 0
    for cell in range(first, last):
        b, before, number = box_of_cell(x, corners, cell, corner_count[cell]), count, 0
        i0, i1 = place_of(b[0], inverse), place_of(b[1], inverse)
        j0, j1 = place_of(b[2], inverse), place_of(b[3], inverse)
        k0, k1 = place_of(b[4], inverse), place_of(b[5], inverse)
        # One cell that was torn apart can touch more places than there are vertices.
        if float(i1 - i0 + 1) * float(j1 - j0 + 1) * float(k1 - k0 + 1) > len(table.vertices):
            for v in table.vertices:
                count = _write(x, b, v, _ANYWHERE, out, count)
            i1 = i0 - 1
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                for k in range(k0, k1 + 1):
                    slot = table.slots[hash_of(i, j, k, len(table.slots))]
                    v = slot & _VERTEX if slot >> _STAMP_BITS == table.stamp else -1
                    while v >= 0:
                        count = _write(x, b, v, number, out, count)
                        v = np.int64(table.after[v])
                    number += 1
        if count == len(out) - 1:
            return before, cell
        count = _keep_foreign(x, cells, cell, (i0, j0, k0, j1 - j0 + 1, k1 - k0 + 1, inverse), out, before, count)
    return count, last


@helper
def _write(x, b, v, number, out, count):
    """Write the vertex and the number of the place, and count it where the box holds it, up to the last row.

    Without a branch: most of the vertices at a place are not in the box, and those that are cannot be predicted.
    """
    out[count, 0], out[count, 1] = v, number
    return count + (box_holds(b, x, v) & (count < len(out) - 1))


@helper
def _keep_foreign(x, cells, cell, places, out, before, count):
    """Keep rows from before on of vertices that are no corners, where they were found at their own place."""
    corners, corner_count = cells
    i0, j0, k0, width, depth, inverse = places
    kept = before
    for p in range(before, count):
        v, number = out[p, 0], out[p, 1]
        own = False
        for c in range(corner_count[cell]):
            own = own | (corners[cell, c] == v)
        if own:
            continue
        i, j, k = place_of(x[v, 0], inverse) - i0, place_of(x[v, 1], inverse) - j0, place_of(x[v, 2], inverse) - k0
        if number == _ANYWHERE or number == (i * width + j) * depth + k:
            out[kept, 0], out[kept, 1] = v, cell
            kept += 1
    return kept
