"""Types of cells: their corners and faces, and what is listed, numbered and inverted from them.

Corners are numbered as in meshio: the base is counter-clockwise as seen from what stands on it, so that a tetrahedron
is upright where det(x1 - x0, x2 - x0, x3 - x0) > 0. That is VTK's order too, but for the wedge, where it is gmsh's:
VTK draws the base of a wedge the other way round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel

TYPES = ("tetra", "hexahedron", "wedge", "pyramid", "triangle", "quad")
SOLID_TYPES = 4  # the first ones; the others are shells
MOST_CORNERS = 8
CORNER_COUNT = np.array((4, 8, 6, 5, 3, 4), np.int8)

# Counter-clockwise as seen from outside. A face of a cell is a polygon here; its triangles are the faces of the mesh.
POLYGONS = (
    ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    ((0, 1, 2),),
    ((0, 1, 2, 3),),
)
_POLYGON_COUNT = np.array([len(polygons) for polygons in POLYGONS], np.int64)
FACE_COUNT = np.array([sum(len(polygon) - 2 for polygon in polygons) for polygons in POLYGONS], np.int64)
# Sides of these triangles, so with diagonals: in a solid each belongs to two of them.
EDGE_COUNT = np.array((6, 18, 12, 9, 3, 5), np.int64)
_NO_CORNER = -1  # in place of the fourth corner of a triangle
_CORNERS = np.array(
    [[(*p, _NO_CORNER)[:4] for p in (*polygons, *((_NO_CORNER,) * 4,) * 6)[:6]] for polygons in POLYGONS], np.int64
)
_MOST_EDGES = 18


class Rows(NamedTuple):
    """Lists of ids in one array: list i is items[start[i]:start[i + 1]]."""

    start: np.ndarray  # (n + 1,) int64
    items: np.ndarray  # int32


@kernel
def first_repetition(cells):
    """The first row of an (m, k) array that names a vertex twice, and that vertex; -1, -1 where there is none."""
    for i in range(len(cells)):
        for k in range(1, cells.shape[1]):
            for j in range(k):
                if cells[i, j] == cells[i, k]:
                    return i, np.int64(cells[i, k])
    return -1, np.int64(-1)


def starts_of(types: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(c + 1,) int64: where rows start that have counts[t] items for a cell of type t."""
    start = np.zeros(len(types) + 1, np.int64)
    _write_starts(types, counts, start)
    return start


@kernel
def _write_starts(types, counts, start):
    for i in range(len(types)):
        start[i + 1] = start[i] + counts[types[i]]


NO_RANKS = np.empty(0, np.int32)


def list_triangles(types: np.ndarray, corners: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(start, triangles): those of cell i are triangles[start[i]:start[i + 1]], (k, 3) int32, outward.

    A quadrilateral is split along the diagonal at its smallest vertex, whichever cell looks at it and from which of its
    corners on: it is not planar once it deforms, and its cells must not see different surfaces (errata 21).

    ranks : (n,) int32 of the vertices, by which they are compared before their ids; or NO_RANKS
    """
    start = starts_of(types, FACE_COUNT)
    out = np.empty((start[-1], 3), np.int32)
    _write_triangles(types, corners, ranks, start, out)
    return start, out


@kernel
def _write_triangles(types, corners, ranks, start, out):
    for i in range(len(types)):
        t, at = types[i], start[i]
        for p in range(_POLYGON_COUNT[t]):
            a, b, c = corners[i, _CORNERS[t, p, 0]], corners[i, _CORNERS[t, p, 1]], corners[i, _CORNERS[t, p, 2]]
            if _CORNERS[t, p, 3] == _NO_CORNER:
                out[at, 0], out[at, 1], out[at, 2] = a, b, c
                at += 1
            else:
                _split(out, at, ranks, (a, b, c, corners[i, _CORNERS[t, p, 3]]))
                at += 2


@helper
def _split(out, at, ranks, quadrilateral):
    """The two triangles of quadrilateral a b c d, turned until its smallest vertex comes first."""
    a, b, c, d = quadrilateral
    smallest = _smaller(ranks, _smaller(ranks, a, b), _smaller(ranks, c, d))
    if smallest == b:
        a, b, c, d = b, c, d, a
    elif smallest == c:
        a, b, c, d = c, d, a, b
    elif smallest == d:
        a, b, c, d = d, a, b, c
    out[at, 0], out[at, 1], out[at, 2] = a, b, c
    out[at + 1, 0], out[at + 1, 1], out[at + 1, 2] = a, c, d


@helper
def _smaller(ranks, a, b):
    if len(ranks) and ranks[a] != ranks[b]:
        return a if ranks[a] < ranks[b] else b
    return min(a, b)


def number_triangles(triangles: np.ndarray, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    """(faces, ids): those with the same vertices are one face, the first of them; ids in the order of first ones."""
    faces, ids = np.empty(triangles.shape, np.int32), np.empty(len(triangles), np.int32)
    return faces[: _number_triangles(triangles, vertex_count, faces, ids)].copy(), ids


@kernel
def _number_triangles(triangles, vertex_count, faces, ids):
    """Returns how many faces there are.

    Three stable counting sorts bring equal ones together, the first one first, in linear time for every mesh.
    """
    count = len(triangles)
    low, middle, high = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32)
    for s in range(count):
        a, b, c = triangles[s, 0], triangles[s, 1], triangles[s, 2]
        low[s], high[s] = min(a, min(b, c)), max(a, max(b, c))
        middle[s] = max(min(a, b), min(max(a, b), c))
    order = _sorted_by(high, np.arange(count), vertex_count)
    order = _sorted_by(middle, order, vertex_count)
    order = _sorted_by(low, order, vertex_count)
    first = np.empty(count, np.int32)
    r = -1
    for i in range(count):
        s = order[i]
        if r < 0 or low[s] != low[r] or middle[s] != middle[r] or high[s] != high[r]:
            r = s
        first[s] = r
    found = 0
    for s in range(count):
        ids[s] = found if first[s] == s else ids[first[s]]
        if first[s] == s:
            faces[found, 0], faces[found, 1], faces[found, 2] = triangles[s, 0], triangles[s, 1], triangles[s, 2]
            found += 1
    return found


@helper
def _sorted_by(key, order, limit):
    """The order, stably sorted by key[order], which is below limit."""
    fill = np.zeros(limit + 1, np.int64)
    for i in range(len(key)):
        fill[key[i] + 1] += 1
    for k in range(limit):
        fill[k + 1] += fill[k]
    out = np.empty(len(order), np.int64)
    for i in range(len(order)):
        k = key[order[i]]
        out[fill[k]] = order[i]
        fill[k] += 1
    return out


def list_edges(types: np.ndarray, cell_faces: Rows, face_edges: np.ndarray) -> Rows:
    """Edges of each cell, ascending: the sides of its faces, each once.

    Corners of a cell differ, so two sides are one edge only where two of its faces meet: the numbers are those above.
    """
    start = starts_of(types, EDGE_COUNT)
    out = np.empty(start[-1], np.int32)
    _write_edges(*cell_faces, face_edges, start, out)
    return Rows(start, out)


@kernel
def _write_edges(face_start, cell_faces, face_edges, start, out):
    found = np.empty(_MOST_EDGES + 1, np.int32)
    for i in range(len(start) - 1):
        count = 0
        for s in range(face_start[i], face_start[i + 1]):
            for k in range(3):
                count = _insert(found, count, face_edges[cell_faces[s], k])
        for k in range(count):
            out[start[i] + k] = found[k]


@helper
def _insert(found, count, e):
    """Into ascending found[:count], unless it is there; returns the new count."""
    k = count
    while k > 0 and found[k - 1] > e:
        k -= 1
    if k > 0 and found[k - 1] == e:
        return count
    for j in range(count, k, -1):
        found[j] = found[j - 1]
    found[k] = e
    return count + 1


def list_corners(corner_count: np.ndarray, corners: np.ndarray) -> Rows:
    """Vertices of each cell; corner_count : (c,) int8, corners : (c, 8) int32."""
    return Rows(starts_from(corner_count), corners[np.arange(MOST_CORNERS) < corner_count[:, None]])


def starts_from(lengths: np.ndarray) -> np.ndarray:
    """(c + 1,) int64: where rows of these lengths start."""
    start = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def list_distinct(ids: np.ndarray) -> Rows:
    """What each row of an (m, k) array names, each id once, ascending; negative ones are none."""
    start, items = np.zeros(len(ids) + 1, np.int64), np.empty(ids.size, np.int32)
    return Rows(start, items[: _list_distinct(ids, start, items)])


@kernel
def _list_distinct(ids, start, items):
    """Returns how many there are."""
    found, total = np.empty(ids.shape[1] + 1, np.int32), 0
    for i in range(len(ids)):
        count = 0
        for k in range(ids.shape[1]):
            if ids[i, k] >= 0:
                count = _insert(found, count, ids[i, k])
        for k in range(count):
            items[total + k] = found[k]
        total += count
        start[i + 1] = total
    return total


@kernel
def keep_distinct(corners, out, count):
    """out : (m, n), the different corners of each row, in their order, the last one repeated to fill up; count : (m,)
    int8, how many they are."""
    for i in range(len(corners)):
        n = 0
        for k in range(corners.shape[1]):
            v, is_new = corners[i, k], True
            for m in range(n):
                is_new = is_new and out[i, m] != v
            if is_new:
                out[i, n] = v
                n += 1
        for k in range(n, out.shape[1]):
            out[i, k] = out[i, n - 1]
        count[i] = n


def transpose(lists: Rows, count: int) -> Rows:
    """Lists that belong to each of count items: the rows that have it, ascending."""
    start, rows = np.zeros(count + 1, np.int64), np.empty(len(lists.items), np.int32)
    _write_transposed(*lists, start, rows)
    return Rows(start, rows)


@kernel
def _write_transposed(start, items, begin, rows):
    for s in range(len(items)):
        begin[items[s] + 1] += 1
    for k in range(len(begin) - 1):
        begin[k + 1] += begin[k]
    fill = begin.copy()
    for i in range(len(start) - 1):
        for s in range(start[i], start[i + 1]):
            rows[fill[items[s]]] = i
            fill[items[s]] += 1


def count_solids(lists: Rows, types: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(m,) int8: how many solids have each face, 2 if more; a solid that is listed twice is one."""
    out = np.zeros(len(lists.start) - 1, np.int8)
    _count_solids(*lists, types, corners, out)
    return out


@kernel
def _count_solids(start, items, types, corners, out):
    for f in range(len(out)):
        first = items[start[f]]
        if types[first] < SOLID_TYPES:  # they come before the shells
            out[f] = 1
            for s in range(start[f] + 1, start[f + 1]):
                other = items[s]
                if types[other] < SOLID_TYPES and not _have_same_corners(types, corners, first, other):
                    out[f] = 2
                    break


@helper
def _have_same_corners(types, corners, i, j):
    if types[i] != types[j]:
        return False
    for a in range(MOST_CORNERS):
        found = False
        for b in range(MOST_CORNERS):
            found = found or corners[i, a] == corners[j, b]
        if not found:
            return False
    return True
