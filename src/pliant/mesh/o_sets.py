"""The O-sets of a volume mesh: pairs of features that no two separate cells contain.

Dynamic assignment (paper 004, section 5) skips adjacent cells, those that share a vertex. A pair (vertex, face) or
(edge, edge) without a common vertex is an orphan exactly if *every* pair of a cell of the one and a cell of the other
is adjacent or equal: Algorithm 3 of the paper leaves the whole search at the first pair that is none, never looks
inside one cell, and asks only part of the pairs of cells (errata 18, 19). The lists are topology alone.

With near(a), the cells that are adjacent to every cell of feature a, the orphans of a are the features b all of whose
cells are in near(a). One pass over the surroundings of a single cell of a finds near(a), since it must be near to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import helper, kernel
from pliant.mesh.cells import CORNER_COUNT
from pliant.mesh.orphans import MOST_ORPHANS, TooManyOrphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh

_USUAL_ORPHANS = 2**18
_MASKED = 62  # cells that have a bit in a mask
_ALL = -1  # mask of the vertices of the feature itself: whatever has one of them is adjacent to all cells of it


class Cells(NamedTuple):
    """Cells, and their features of one kind (edges or faces)."""

    types: np.ndarray  # (c,) int8
    corners: np.ndarray  # (c, 8) int32
    vertex_start: np.ndarray  # cells at each vertex
    vertex_items: np.ndarray
    table: np.ndarray  # (m, 2 or 3) int32 vertices of each feature
    start: np.ndarray  # cells at each feature
    items: np.ndarray
    owned_start: np.ndarray  # (c + 1,) int64: features whose first cell is i are owned[owned_start[i]:...[i + 1]]
    owned: np.ndarray  # (m, 3 or 4) int32, id and vertices: side by side where they are looked at together


class Marks(NamedTuple):
    mask: np.ndarray  # (vertex_limit,) int64: bit k of a vertex says that the k-th cell of the feature has it
    seen: np.ndarray  # (c,) int32: r where a cell is near to the r-th feature, -r - 2 where it is known not to be
    near: np.ndarray  # (c,) int32, the near cells


def o_sets(mesh: VolumeMesh, *, most: int = MOST_ORPHANS) -> tuple[np.ndarray, np.ndarray]:
    """Orphans (vertex, face) and (edge, edge), (k, 2) int32 each, sorted, the smaller edge first.

    Raises TooManyOrphans if there are more than ``most`` of one kind.
    """
    everywhere = np.ones(len(mesh.types), bool)
    cells = cells_of(mesh, "face", everywhere)
    vertex_face = find_orphans(faces_of_vertices, cells, mesh.vertices, np.empty(0, bool), most)
    every_edge, all_marked = np.arange(len(mesh.edges), dtype=np.int32), np.ones(len(mesh.edges), bool)
    edge_edge = find_orphans(edges_of_edges, cells_of(mesh, "edge", everywhere), every_edge, all_marked, most)
    return as_pairs(np.sort(vertex_face)), as_pairs(np.sort(edge_edge))


def cells_of(mesh: VolumeMesh, kind: str, around: np.ndarray) -> Cells:
    """The cells of a mesh with their features of a kind, "edge" or "face"; around : (c,) bool, cells that matter."""
    table, rows = (mesh.edges, mesh.edge_cells) if kind == "edge" else (mesh.faces, mesh.face_cells)
    owned = _list_owned(table, *rows, around)
    return Cells(mesh.types, mesh.corners, *mesh.vertex_cells, table, *rows, *owned)


def find_orphans(search, cells: Cells, ids: np.ndarray, marked: np.ndarray, most: int) -> np.ndarray:
    """Keys of the orphans that a search finds at the features ids, in any order: first feature << 32 | second."""
    keys = np.empty(min(_USUAL_ORPHANS, most), np.int64)
    done = count = 0
    while True:
        done, count = search(cells, ids, marked, done, keys, count)
        if done == len(ids):
            return keys[:count]
        if len(keys) == most:
            raise TooManyOrphans(
                f"more than {most} orphan pairs: some vertex of this mesh has too many cells; use assignment='static'"
            )
        grown = np.empty(min(2 * len(keys), most), np.int64)
        grown[:count] = keys[:count]
        keys = grown


def as_pairs(keys: np.ndarray) -> np.ndarray:
    """(k, 2) int32 from (k,) keys."""
    return np.stack((keys >> 32, keys & 0xFFFFFFFF), axis=1).astype(np.int32)


@kernel
def _list_owned(table, start, items, around):
    """(start, features) by first cell, of the cells in (c,) bool around.

    Looking for them among all features of a cell took three times as long.
    """
    owned_start = np.zeros(len(around) + 1, np.int64)
    for f in range(len(table)):
        if around[items[start[f]]]:
            owned_start[items[start[f]] + 1] += 1
    for i in range(len(around)):
        owned_start[i + 1] += owned_start[i]
    fill, owned = owned_start.copy(), np.empty((owned_start[len(around)], 1 + table.shape[1]), np.int32)
    for f in range(len(table)):
        i = items[start[f]]
        if around[i]:
            owned[fill[i], 0] = f
            for k in range(table.shape[1]):
                owned[fill[i], k + 1] = table[f, k]
            fill[i] += 1
    return owned_start, owned


@kernel
def faces_of_vertices(cells, ids, _marked, done, keys, count):
    """Orphans of the vertices ids[done:], into keys from count on, as far as there is room.

    Returns how many of the vertices are done, and how many keys there are of these.
    """
    owned_start, owned, start, items = cells.owned_start, cells.owned, cells.start, cells.items
    marks = new_marks(cells)
    for r in range(done, len(ids)):
        v, before = ids[r], count
        for n in range(find_near(cells, marks, (v, v, v), cells.vertex_start, cells.vertex_items, (v, r, 0))):
            j = marks.near[n]
            for s in range(owned_start[j], owned_start[j + 1]):
                f = owned[s, 0]
                if owned[s, 1] == v or owned[s, 2] == v or owned[s, 3] == v:
                    continue
                if all_near(marks.seen, items, start[f], start[f + 1], r):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
    return len(ids), count


@kernel
def edges_of_edges(cells, ids, marked, done, keys, count):
    """As above for the edges ids; marked : (e,) bool, the edges among ids.

    Pairs of those come from the one with the smaller first cell. Where all are marked, no cell below that matters.
    """
    owned_start, owned, start, items = cells.owned_start, cells.owned, cells.start, cells.items
    marks = new_marks(cells)
    for r in range(done, len(ids)):
        a, before = ids[r], count
        p, q, first = cells.table[a, 0], cells.table[a, 1], items[start[a]]
        lowest = first if len(ids) == len(start) - 1 else 0
        for n in range(find_near(cells, marks, (p, q, q), start, items, (a, r, lowest))):
            j = marks.near[n]
            for s in range(owned_start[j], owned_start[j + 1]):
                b, v, w = owned[s, 0], owned[s, 1], owned[s, 2]
                if (marked[b] and (j < first or (j == first and b <= a))) or v == p or v == q or w == p or w == q:
                    continue
                if all_near(marks.seen, items, start[b], start[b + 1], r):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(min(a, b)) << 32 | np.int64(max(a, b))
                    count += 1
    return len(ids), count


@helper
def new_marks(cells):
    count = len(cells.types)
    mask, seen = np.zeros(len(cells.vertex_start) - 1, np.int64), np.full(count, np.int32(-1))
    return Marks(mask, seen, np.empty(count, np.int32))


@helper
def all_near(seen, items, begin, end, r):
    for s in range(begin, end):
        if seen[items[s]] != r:
            return False
    return True


@helper
def find_near(cells, marks, own, start, items, feature):
    """near(a) from cell lowest on, into marks, for feature = (a, r, lowest): the r-th, with vertices own and cells
    items[start[a]:start[a + 1]]. Returns their number.

    A cell is adjacent to the first 62 cells of a where the masks of its corners together have all
    bits: one look at each corner, instead of one at each pair of corners for every cell of a.
    """
    a, r, lowest = feature
    types, corners, mask, seen = cells.types, cells.corners, marks.mask, marks.seen
    vertex_start, vertex_items = cells.vertex_start, cells.vertex_items
    begin, end = start[a], start[a + 1]
    masked = min(end, begin + _MASKED)
    _set_masks(types, corners, mask, items[begin:masked])
    for v in own:
        mask[v] = _ALL
    full = (np.int64(1) << np.int64(masked - begin)) - np.int64(1)
    i, count = _least_surrounded(cells, items, begin, masked), 0
    for k in range(CORNER_COUNT[types[i]]):
        for t in range(vertex_start[corners[i, k]], vertex_start[corners[i, k] + 1]):
            j = vertex_items[t]
            if j < lowest or seen[j] == r or seen[j] == -r - 2:
                continue
            bits = np.int64(0)
            for m in range(CORNER_COUNT[types[j]]):
                bits |= mask[corners[j, m]]
            if bits == _ALL or (bits == full and _all_adjacent(cells, items, masked, end, j)):
                seen[j] = r
                marks.near[count] = j
                count += 1
            else:
                seen[j] = -r - 2
    for s in range(begin, masked):
        for k in range(CORNER_COUNT[types[items[s]]]):
            mask[corners[items[s], k]] = 0
    return count


@helper
def _set_masks(types, corners, mask, some):
    for s in range(len(some)):
        for k in range(CORNER_COUNT[types[some[s]]]):
            mask[corners[some[s], k]] |= np.int64(1) << np.int64(s)


@helper
def _least_surrounded(cells, items, begin, end):
    """The one of the cells items[begin:end] with the fewest cells at its corners: not the one in a fan, if possible."""
    best, fewest = items[begin], np.int64(-1)
    for s in range(begin, end):
        i, count = items[s], np.int64(0)
        for k in range(CORNER_COUNT[cells.types[i]]):
            v = cells.corners[i, k]
            count += cells.vertex_start[v + 1] - cells.vertex_start[v]
        if fewest < 0 or count < fewest:
            best, fewest = i, count
    return best


@helper
def _all_adjacent(cells, items, begin, end, j):
    """Every cell of items[begin:end] shares a vertex with cell j."""
    for s in range(begin, end):
        i, adjacent = items[s], False
        for k in range(CORNER_COUNT[cells.types[i]]):
            v = cells.corners[i, k]
            for m in range(CORNER_COUNT[cells.types[j]]):
                adjacent |= v == cells.corners[j, m]
        if not adjacent:
            return False
    return True
