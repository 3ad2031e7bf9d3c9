"""Edges of a changed volume mesh: which are gone, which are new, and all their new numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.changed.features import GAINED, GONE, LOST, UNTOUCHED, is_at
from pliant.runtime.jit import helper, kernel


class EdgeTable(NamedTuple):
    edges: np.ndarray  # (e', 2) int32, of the new mesh
    new_of_old: np.ndarray  # (e,) int32, -1 for those that are gone
    old_of_new: np.ndarray  # (e',) int32, -1 for new ones
    state: np.ndarray  # (e',) int8, as in Kind
    pieces: np.ndarray  # as in Kind
    sides: np.ndarray  # int64, keys of the sides of new faces, sorted, each once
    side_ids: np.ndarray  # int32, their edges


def triangle_sides(faces: np.ndarray) -> np.ndarray:
    """(3 k,) int64: both ends of each side of these faces, smaller << 32 | larger."""
    ends = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1).astype(np.int64)
    return ends[:, 0] << 32 | ends[:, 1]


@helper
def _side(faces, f, k):
    v, w = faces[f, k], faces[f, (k + 1) % 3]
    return np.int64(min(v, w)) << 32 | np.int64(max(v, w))


@helper
def _key(edges, e):
    return np.int64(edges[e, 0]) << 32 | np.int64(edges[e, 1])


@kernel
def mark_edges(known, edges, face_edges, change, is_held, gained, state):
    """state : (e,) int8, 0 at first; LOST where a removed cell has the edge, GONE where no cell that stays has it too;
    GAINED where one of the faces gained has it, which are old ones of added cells.

    is_held : (m,) bool, faces that a cell that stays surely has: their edges need not be searched for
    """
    for r in range(len(change.removed)):
        i = change.removed[r]
        for s in range(known.cell_faces.start[i], known.cell_faces.start[i + 1]):
            f = known.cell_faces.items[s]
            for k in range(3):
                e = face_edges[f, k]
                if is_held[f]:
                    state[e] = LOST
                elif state[e] == UNTOUCHED:
                    state[e] = LOST if _has_kept_cell(known, edges, face_edges, change.new_of_old, e) else GONE
    for f in gained:
        for k in range(3):
            state[face_edges[f, k]] |= GAINED


@helper
def _has_kept_cell(known, edges, face_edges, new_of_old, e):
    """A cell that stays has edge e: being at both ends is not enough, most diagonals of a hexahedron are no edges."""
    v, w, rows = edges[e, 0], edges[e, 1], known.cell_faces
    for t in range(known.vertex_cells.start[v], known.vertex_cells.start[v + 1]):
        i = known.vertex_cells.items[t]
        if new_of_old[i] < 0 or not is_at(known.corners, i, w):
            continue
        for s in range(rows.start[i], rows.start[i + 1]):
            f = rows.items[s]
            if face_edges[f, 0] == e or face_edges[f, 1] == e or face_edges[f, 2] == e:
                return True
    return False


def merge_edges(edges: np.ndarray, state: np.ndarray, sides: np.ndarray) -> EdgeTable:
    """Without those that are gone, with the sides of new faces, which are sorted keys, some repeatedly; a side that was
    an edge already is one again."""
    most, touched = len(edges) + len(sides), int(np.count_nonzero(state))
    out = EdgeTable(
        np.empty((most, 2), np.int32), np.full(len(edges), -1, np.int32), np.empty(most, np.int32),
        np.zeros(most, np.int8), np.empty((touched + len(sides) + 1, 3), np.int64),
        np.empty(len(sides), np.int64), np.empty(len(sides), np.int32),
    )  # fmt: skip
    count, pieces, found = _merge_edges(edges, state, sides, out)
    return EdgeTable(
        out.edges[:count].copy(), out.new_of_old, out.old_of_new[:count].copy(), out.state[:count].copy(),
        out.pieces[:pieces].copy(), out.sides[:found].copy(), out.side_ids[:found].copy(),
    )  # fmt: skip


@kernel
def _merge_edges(edges, state, sides, table):
    """Returns how many edges, pieces and sides there are."""
    out, new_of_old, old_of_new, new_state = table.edges, table.new_of_old, table.old_of_new, table.state
    pieces, keys, ids = table.pieces, table.sides, table.side_ids
    count = e = found = p = 0
    for x in range(len(sides) + 1):
        if 0 < x < len(sides) and sides[x] == sides[x - 1]:
            continue
        end = _edge_from(edges, sides[x], e) if x < len(sides) else len(edges)
        while e < end:
            first = e
            while e < end and state[e] == UNTOUCHED:
                e += 1
            for k in range(e - first):
                out[count + k, 0], out[count + k, 1] = edges[first + k, 0], edges[first + k, 1]
                old_of_new[count + k], new_of_old[first + k] = first + k, count + k
            if first < e:
                pieces[p, 0], pieces[p, 1], pieces[p, 2] = count, first, e - first
                p, count = p + 1, count + e - first
            if e < end:
                if state[e] != GONE:
                    out[count, 0], out[count, 1] = edges[e, 0], edges[e, 1]
                    old_of_new[count], new_of_old[e] = e, count
                    new_state[count] = _new_state(state[e])
                    count += 1
                e += 1
        if x < len(sides):
            v, w = np.int32(sides[x] >> 32), np.int32(sides[x] & 0xFFFFFFFF)
            out[count, 0], out[count, 1], old_of_new[count], new_state[count] = v, w, -1, GAINED
            if e < len(edges) and edges[e, 0] == v and edges[e, 1] == w:
                old_of_new[count], new_of_old[e] = e, count
                new_state[count] |= _new_state(state[e])
                e += 1
            keys[found], ids[found] = sides[x], count
            found, count = found + 1, count + 1
    return count, p, found


@helper
def _new_state(state):
    """Of an edge that is gone from all cells that stay, but is in an added one: it lost cells."""
    return (state & (LOST | GAINED)) | (LOST if state & GONE else 0)


@helper
def _edge_from(edges, key, low):
    """The first edge from low on that is not before the key."""
    high, step = low, 1
    while high < len(edges) and _key(edges, high) < key:
        low, high, step = high + 1, high + step, 2 * step
    high = min(high, len(edges))
    while low < high:
        middle = (low + high) // 2
        if _key(edges, middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find_sides(faces, kind, table, old_face_edges, face_edges):
    """Writes the edges of touched faces into face_edges: for those that the old mesh has, it has them in any order."""
    edges = table.edges
    for f in kind.touched:
        o = kind.old_of_new[f]
        for k in range(3):
            key = _side(faces, f, k)
            if o < 0:
                face_edges[f, k] = table.side_ids[np.searchsorted(table.sides, key)]
                continue
            for m in range(3):
                e = table.new_of_old[old_face_edges[o, m]]
                if _key(edges, e) == key:
                    face_edges[f, k] = e
