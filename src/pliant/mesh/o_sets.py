"""The O-sets of a mesh: pairs of features that no two separate cells contain.

Dynamic assignment (paper 004, section 5) skips adjacent cells, those that share a vertex. A pair (vertex, face) or
(edge, edge) without a common vertex is an orphan exactly if *every* pair of a cell of the one and a cell of the other
is adjacent or equal: Algorithm 3 of the paper leaves the whole search at the first pair that is none, never looks
inside one cell, and asks only part of the pairs of cells (errata 18, 19). The lists are topology alone.

With near(a), the cells that are adjacent to every cell of feature a, the orphans of a are the features b all of whose
cells are in near(a). One pass over the surroundings of a single cell of a finds near(a), since it must be near to that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.mesh.cell_features import Cells, cells_adjacent
from pliant.runtime.arrays import MeshError
from pliant.runtime.jit import helper, in_line, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

MOST_ORPHANS = 2**25  # of each kind: 256 MB
_USUAL_ORPHANS = 2**18
MASKED = 62  # cells that have a bit in a mask
_ALL = -1  # mask of the vertices of the feature itself: whatever has one of them is adjacent to all cells of it


class TooManyOrphans(MeshError):
    """A fan of n cells around one vertex has about n^2 orphans; static assignment needs no list of them."""


class Marks(NamedTuple):
    mask: np.ndarray  # (vertices,) int64: bit k of a vertex says that the k-th cell of the feature has it
    seen: np.ndarray  # (c,) int32: r where a cell is near to the r-th feature, -r - 2 where it is known not to be
    near: np.ndarray  # (c,) int32, the near cells


def o_sets(cells: Cells, pool: ThreadPool = SERIAL, *, most: int = MOST_ORPHANS) -> tuple[np.ndarray, np.ndarray]:
    """Orphans (vertex, face) and (edge, edge), (k, 2) int32 each, sorted, the smaller edge first.

    Raises TooManyOrphans if there are more than ``most`` of one kind.
    """
    # In the order of owners: the surroundings of one cell serve all features that it owns while they are in the cache.
    vertices, edges = cells.owned_vertices.items, cells.owned_edges.items
    searches = (_faces_of_vertices, vertices, cells.owned_faces), (_edges_of_edges, edges, cells.owned_edges)
    found: dict[tuple[int, int], np.ndarray] = {}  # keys of each kind and part

    def work(_worker: int, chunk: tuple[int, int]) -> None:
        (search, ids, sought), k = searches[chunk[0]], chunk[1]
        part = ids[len(ids) * k // pool.threads : len(ids) * (k + 1) // pool.threads]
        found[chunk] = find_orphans(search, cells, part, sought, most)

    chunks = [(kind, k) for kind in (1, 0) for k in range(pool.threads)]
    pool.run(work, chunks)
    counts = len(cells.vertex_cells.start) - 1, len(cells.ends)
    out: dict[int, np.ndarray] = {}

    def order(_worker: int, kind: int) -> None:
        keys = np.concatenate([found.pop((kind, k)) for k in range(pool.threads)])
        if len(keys) > most:
            raise _too_many(most)
        out[kind] = _as_pairs(keys, counts[kind])

    pool.run(order, (1, 0))
    return out[0], out[1]


def find_orphans(search, cells: Any, ids: np.ndarray, sought: Any, most: int) -> np.ndarray:
    """Keys of the orphans that a search finds at the features ids, in any order: first feature << 32 | second.

    cells : what the search needs to know of them, such as Cells
    """
    keys = np.empty(min(_USUAL_ORPHANS, most), np.int64)
    done = count = 0
    while True:
        done, count = search(cells, ids, sought, done, keys, count)
        if done == len(ids):
            return keys[:count]
        if len(keys) == most:
            raise _too_many(most)
        grown = np.empty(min(2 * len(keys), most), np.int64)
        grown[:count] = keys[:count]
        keys = grown


def _too_many(most: int) -> TooManyOrphans:
    return TooManyOrphans(
        f"more than {most} orphan pairs: some vertex of this mesh has too many cells; use assignment='static'"
    )


# Orphans of one feature that are sorted by insertion. Hexahedra have some 10, up to 120 on the boundary.
_FEW = 256


def _as_pairs(keys: np.ndarray, count: int) -> np.ndarray:
    """(k, 2) int32 from (k,) keys, sorted; count : of the features that come first.

    By a count of the orphans of each: a third of the time of a sort of millions of keys.
    """
    start, out = np.zeros(count + 1, np.int64), np.empty((len(keys), 2), np.int32)
    if _count_orphans(keys, start) > _FEW:
        keys.sort()
    _put_in_order(keys, start, out)
    return out


@kernel
def _count_orphans(keys, start):
    """Where the orphans of each feature start; returns how many one has at most."""
    for key in keys:
        start[(key >> 32) + 1] += 1
    most = np.int64(0)
    for a in range(len(start) - 1):
        most = max(most, start[a + 1])
        start[a + 1] += start[a]
    return most


@kernel
def _put_in_order(keys, start, out):
    """start : is overwritten, with where they end."""
    for key in keys:
        a = key >> 32
        out[start[a], 1] = key & 0xFFFFFFFF
        start[a] += 1
    begin = np.int64(0)
    for a in range(len(start) - 1):
        for s in range(begin, start[a]):
            b, t = out[s, 1], s
            while t > begin and out[t - 1, 1] > b:
                out[t, 1] = out[t - 1, 1]
                t -= 1
            out[s, 0], out[t, 1] = a, b
        begin = start[a]


@kernel
def _faces_of_vertices(cells, ids, sought, done, keys, count):
    """Orphans of the vertices ids[done:], into keys from count on, as far as there is space.

    Returns how many of the vertices are done, and how many keys there are of these.
    """
    start, items, triangles = sought.start, sought.items, cells.triangles
    marks, at_vertices = _new_marks(cells), cells.vertex_cells
    for r in range(done, len(ids)):
        v, before = ids[r], count
        seeker = (v, v, v), r, v
        for n in range(_find_near(cells, marks, at_vertices, seeker, 0)):
            j = marks.near[n]
            for s in range(start[j], start[j + 1]):
                f = items[s]
                if triangles[f, 0] == v or triangles[f, 1] == v or triangles[f, 2] == v:
                    continue
                if _all_near(marks, cells.face_cells, r, f):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
        clear_masks(cells, marks.mask, at_vertices, v)
    return len(ids), count


@kernel
def _edges_of_edges(cells, ids, sought, done, keys, count):
    """As above for the edges ids."""
    start, items, ends, at_edges = sought.start, sought.items, cells.ends, cells.edge_cells
    marks = _new_marks(cells)
    for r in range(done, len(ids)):
        a, before = ids[r], count
        p, q, first = ends[a, 0], ends[a, 1], at_edges.items[at_edges.start[a]]
        seeker = (p, q, q), r, a
        for n in range(_find_near(cells, marks, at_edges, seeker, first)):
            j = marks.near[n]
            for s in range(start[j], start[j + 1]):
                b = items[s]
                v, w = ends[b, 0], ends[b, 1]
                if (j == first and b <= a) or v == p or v == q or w == p or w == q:
                    continue
                if _all_near(marks, at_edges, r, b):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(min(a, b)) << 32 | np.int64(max(a, b))
                    count += 1
        clear_masks(cells, marks.mask, at_edges, a)
    return len(ids), count


@helper
def _new_marks(cells):
    count, vertex_count = len(cells.corners), len(cells.vertex_cells.start) - 1
    return Marks(np.zeros(vertex_count, np.int64), np.full(count, np.int32(-1)), np.empty(count, np.int32))


@helper
def _all_near(marks, at_b, r, b):
    """Every cell of feature b is near to the r-th feature, after _find_near; at_b : cells of features like b."""
    in_line()
    for s in range(at_b.start[b], at_b.start[b + 1]):
        if marks.seen[at_b.items[s]] != r:
            return False
    return True


@helper
def _find_near(cells, marks, rows, seeker, lowest):
    """near(a) from cell lowest on, into marks; returns their number. The masks are left.

    seeker : vertices of a, its number among all that are searched for, and a itself, with cells in rows

    A cell is adjacent to the first 62 cells of a where the masks of its corners together have all
    bits: one look at each corner, instead of one at each pair of corners for every cell of a.
    """
    in_line()
    own, r, a = seeker
    corners, corner_count, mask, seen = cells.corners, cells.corner_count, marks.mask, marks.seen
    vertex_start, vertex_items = cells.vertex_cells.start, cells.vertex_cells.items
    _set_masks(cells, mask, rows, a)
    i, count = _least_surrounded(cells, rows, a), 0
    for v in own:
        mask[v] = _ALL
    for k in range(corner_count[i]):
        w = corners[i, k]
        for t in range(vertex_start[w], vertex_start[w + 1]):
            j = vertex_items[t]
            if j < lowest or seen[j] == r or seen[j] == -r - 2:
                continue
            bits = np.int64(0)
            for m in range(corner_count[j]):
                bits |= mask[corners[j, m]]
            if bits == _ALL or is_full(cells, rows, a, bits, j):
                seen[j] = r
                marks.near[count] = j
                count += 1
            else:
                seen[j] = -r - 2
    return count


@helper
def _set_masks(cells, mask, rows, a):
    in_line()
    begin = rows.start[a]
    for s in range(min(rows.start[a + 1] - begin, MASKED)):
        i = rows.items[begin + s]
        for k in range(cells.corner_count[i]):
            mask[cells.corners[i, k]] |= np.int64(1) << np.int64(s)


@helper
def clear_masks(cells, mask, rows, a):
    in_line()
    begin = rows.start[a]
    for s in range(begin, min(rows.start[a + 1], begin + MASKED)):
        i = rows.items[s]
        for k in range(cells.corner_count[i]):
            mask[cells.corners[i, k]] = 0


@helper
def is_full(cells, rows, a, bits, j):
    """Cell j, with these bits in the masks of its corners, is adjacent to all cells of feature a."""
    in_line()
    begin, end = rows.start[a], rows.start[a + 1]
    if bits != (np.int64(1) << np.int64(min(end - begin, MASKED))) - np.int64(1):
        return False
    for s in range(begin + MASKED, end):
        if not cells_adjacent(cells.corners, cells.corner_count, rows.items[s], j):
            return False
    return True


@helper
def _least_surrounded(cells, rows, a):
    """The cell of feature a, one of the first 62, with the fewest cells at its corners: not the one in a fan, if
    possible."""
    in_line()
    start, begin = cells.vertex_cells.start, rows.start[a]
    best, fewest = rows.items[begin], np.int64(-1)
    for s in range(begin, min(rows.start[a + 1], begin + MASKED)):
        i, count = rows.items[s], np.int64(0)
        for k in range(cells.corner_count[i]):
            v = cells.corners[i, k]
            count += start[v + 1] - start[v]
        if fewest < 0 or count < fewest:
            best, fewest = i, count
    return best
