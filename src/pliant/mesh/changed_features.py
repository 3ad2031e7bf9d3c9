"""Faces and edges of a changed volume mesh: which are found again, which are gone, and all their new numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._jit import helper, kernel, prefetch
from pliant.mesh.cells import MOST_CORNERS, Rows
from pliant.mesh.triangles import TriMesh

KINDS = "vertices", "edges", "faces"
VERTICES, EDGES, FACES = range(3)  # in all tuples of kinds

# What became of the cells of a feature; the first three are bits.
UNTOUCHED, LOST, GAINED, GONE = 0, 1, 2, 4


class Change(NamedTuple):
    """Cells of two meshes; ids ascend."""

    new_of_old: np.ndarray  # (c,) int32, -1 for removed cells
    old_of_new: np.ndarray  # (c',) int32, -1 for added cells
    removed: np.ndarray  # int32, in the old mesh
    added: np.ndarray  # int32, in the new one
    pieces: np.ndarray  # (k, 3) int64: first new one, first old one and number of those that follow each other in both


class Kind(NamedTuple):
    """Features of one kind in the new mesh."""

    old_of_new: np.ndarray  # (m,) int32, -1 for those that the old mesh does not have
    state: np.ndarray  # (m,) int8: LOST if a cell of it was removed, GAINED if one was added, both if both were
    of_added: np.ndarray  # int32, those of the added cells, one after the other
    touched: np.ndarray  # int32, those that lost or gained cells, ascending
    pieces: np.ndarray  # (k, 3) int64, of others, all that the old mesh has: first new one, first old one and number


class Known(NamedTuple):
    """Of the mesh before."""

    corners: np.ndarray
    vertex_cells: Rows
    cell_faces: Rows
    face_cells: Rows
    first_owned: np.ndarray  # (c + 1,) int64: the first face that each cell owns; those of the next ones follow
    faces: np.ndarray


class FaceNumbers(NamedTuple):
    """Faces of both meshes have *numbers* here: those of the old one their ids, new ones larger numbers."""

    new_of_old: np.ndarray  # int32: ids in the new mesh by these numbers, -1 for those that are gone
    old_of_new: np.ndarray  # (m',) int32: the numbers
    moved: np.ndarray  # (k, 3) int32, those that are touched: face, its first cell, the place in that
    is_held: np.ndarray  # (m,) bool: touched, and of some cell that stays
    pieces: np.ndarray  # as in Kind


class FaceTable(NamedTuple):
    features: TriMesh  # of the new mesh
    kind: Kind
    names: np.ndarray  # int32, FaceNumbers.new_of_old
    start: np.ndarray  # (c' + 1,) int64: where the faces of each cell start
    is_held: np.ndarray  # as in FaceNumbers


class EdgeTable(NamedTuple):
    edges: np.ndarray  # (e', 2) int32, of the new mesh
    new_of_old: np.ndarray  # (e,) int32, -1 for those that are gone
    old_of_new: np.ndarray  # (e',) int32, -1 for new ones
    state: np.ndarray  # (e',) int8, as in Kind
    pieces: np.ndarray  # as in Kind
    sides: np.ndarray  # int64, keys of the sides of new faces, sorted, each once
    side_ids: np.ndarray  # int32, their edges


@kernel
def find_faces(triangles, known):
    """(t,) int32: the face that has the vertices of each triangle, -1 where there is none."""
    start, items, corners = known.vertex_cells.start, known.vertex_cells.items, known.corners
    out = np.full(len(triangles), np.int32(-1))
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if max(a, max(b, c)) >= len(start) - 1:
            continue
        if start[b + 1] - start[b] < start[a + 1] - start[a]:
            a, b = b, a
        if start[c + 1] - start[c] < start[a + 1] - start[a]:
            a, c = c, a
        for s in range(start[a], start[a + 1]):
            prefetch(corners, items[s])
        for s in range(start[a], start[a + 1]):
            if _is_at(corners, items[s], b) & _is_at(corners, items[s], c):
                out[t] = _face_among(known, items[s], (a, b, c))
                if out[t] >= 0:
                    break
    return out


@helper
def _is_at(corners, i, v):
    """Cell i is at vertex v."""
    found = False
    for k in range(MOST_CORNERS):
        found |= corners[i, k] == v
    return found


@helper
def _face_among(known, i, triangle):
    """The face of cell i with these vertices; vertices of a face differ, so three that are found are all of them."""
    a, b, c = triangle
    for s in range(known.cell_faces.start[i], known.cell_faces.start[i + 1]):
        f = known.cell_faces.items[s]
        p, q, r = known.faces[f, 0], known.faces[f, 1], known.faces[f, 2]
        if (a == p or a == q or a == r) and (b == p or b == q or b == r) and (c == p or c == q or c == r):
            return f
    return np.int32(-1)


def number_faces(
    known: Known, change: Change, start: np.ndarray, of_added: np.ndarray, state: np.ndarray
) -> FaceNumbers:
    """Faces in the order of first cells, which is how they are numbered.

    Untouched ones keep their order, and a touched one comes before those that are first met after it: only touched
    ones have to be looked for in their cells. To meet every face of every cell, and number it, took five times as long.

    start : where the faces of each cell of the new mesh start
    of_added : numbers of the faces of added cells, in their order
    state : by numbers
    """
    touched = np.flatnonzero(state)
    slots, before, moved, is_held = _meet_touched(known, change, start, of_added, touched, len(state))
    order = np.argsort(slots)[: np.count_nonzero(slots < _NOWHERE)]
    moved = moved[order]
    new_of_old, old_of_new, pieces = _number_in_turn(touched, moved[:, 0].copy(), before[order], len(state))
    moved[:, 0] = new_of_old[moved[:, 0]]
    return FaceNumbers(new_of_old, old_of_new, moved, is_held, pieces)


_NOWHERE = np.iinfo(np.int64).max


@kernel
def _meet_touched(known, change, start, of_added, touched, count):
    """(slots, before, moved, is_held): for each touched face the first place among those of all cells where it is, or
    _NOWHERE, and the first old face that is first met at this place or later; the others as in FaceNumbers."""
    slots, before = np.full(len(touched), np.int64(_NOWHERE)), np.empty(len(touched), np.int64)
    moved, is_held = np.empty((len(touched), 3), np.int32), np.zeros(len(known.faces), np.bool_)
    index, lists, rows = np.empty(count, np.int32), known.face_cells, known.cell_faces
    for t in range(len(touched)):
        f = touched[t]
        index[f] = t
        _prefetch_touched(known, touched, t)
        for s in range(lists.start[f], lists.start[f + 1]) if f < len(known.faces) else range(0):
            i, o = change.new_of_old[lists.items[s]], lists.items[s]
            if i >= 0:
                k = 0
                while rows.items[rows.start[o] + k] != f:
                    k += 1
                is_first = s == lists.start[f]
                slots[t], before[t], is_held[f] = start[i] + k, f if is_first else _first_met(known, o, k), True
                moved[t, 0], moved[t, 1], moved[t, 2] = f, i, k
                break
    extra, next_old = len(of_added), len(known.corners)
    for x in range(len(change.added) - 1, -1, -1):
        i = change.added[x]
        if i + 1 < len(change.old_of_new) and change.old_of_new[i + 1] >= 0:
            next_old = change.old_of_new[i + 1]
        first = _first_met(known, next_old, 0)
        for k in range(start[i + 1] - start[i] - 1, -1, -1):
            extra -= 1
            t = index[of_added[extra]]
            if start[i] + k < slots[t]:
                slots[t], before[t] = start[i] + k, first
                moved[t, 0], moved[t, 1], moved[t, 2] = of_added[extra], i, k
    return slots, before, moved, is_held


@helper
def _prefetch_touched(known, touched, t):
    """Of the faces after the t-th one, step by step: their lists of cells, and what of these is looked at."""
    lists, rows = known.face_cells, known.cell_faces
    if t + 12 < len(touched) and touched[t + 12] < len(known.faces):
        prefetch(lists.start, touched[t + 12])
        prefetch(lists.items, lists.start[touched[t + 8]])
        first, last = lists.start[touched[t + 4]], lists.start[touched[t + 4] + 1] - 1
        prefetch(rows.start, lists.items[first])
        prefetch(rows.start, lists.items[last])
        prefetch(rows.items, rows.start[lists.items[lists.start[touched[t + 2]]]])
        prefetch(rows.items, rows.start[lists.items[lists.start[touched[t + 2] + 1] - 1]])


@helper
def _first_met(known, o, k):
    """The first face, in the order of first cells, that is first met at place k of cell o or later."""
    first = known.first_owned[o]
    out = first
    if k > 0:
        start = known.cell_faces.start[o]
        for s in range(start, start + k):
            out += known.cell_faces.items[s] >= first  # others that the cell has are of cells before
    return out


@kernel
def _number_in_turn(touched, moved, before, count):
    """(new_of_old, old_of_new, pieces) by count numbers: untouched faces in order, moved[x] before face before[x]."""
    name, sources = np.full(count, np.int32(-1)), np.empty(count, np.int32)
    pieces = np.empty((len(touched) + len(moved) + 1, 3), np.int64)
    new = f = t = x = p = 0
    while True:
        end = touched[t] if t < len(touched) else count
        if x < len(moved):
            end = min(end, max(f, before[x]))
        for k in range(end - f):
            sources[new + k], name[f + k] = f + k, new + k
        if f < end:
            pieces[p, 0], pieces[p, 1], pieces[p, 2] = new, f, end - f
            p += 1
        new, f = new + end - f, end
        if x < len(moved) and before[x] <= f:
            sources[new], name[moved[x]] = moved[x], new
            new, x = new + 1, x + 1
        elif f < count:
            f, t = f + 1, t + 1
        else:
            return name, sources[:new].copy(), pieces[:p].copy()


@kernel
def triangle_sides(faces, ids):
    """(3 k,) int64: both ends of each side of these faces, smaller << 32 | larger."""
    keys = np.empty(3 * len(ids), np.int64)
    for r in range(len(ids)):
        for k in range(3):
            keys[3 * r + k] = _side(faces, ids[r], k)
    return keys


@helper
def _side(faces, f, k):
    v, w = faces[f, k], faces[f, (k + 1) % 3]
    return np.int64(min(v, w)) << 32 | np.int64(max(v, w))


@kernel
def mark_edges(known, edges, face_edges, change, is_held, gained):
    """(e,) int8: LOST where a removed cell has the edge, GONE where no cell that stays has it too; GAINED where one of
    the faces gained has it, which are old ones of added cells.

    is_held : (m,) bool, faces that a cell that stays surely has: their edges need not be looked for
    """
    state = np.zeros(len(edges), np.int8)
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
    return state


@helper
def _has_kept_cell(known, edges, face_edges, new_of_old, e):
    """A cell that stays has edge e: being at both ends is not enough, most diagonals of a hexahedron are no edges."""
    v, w, rows = edges[e, 0], edges[e, 1], known.cell_faces
    for t in range(known.vertex_cells.start[v], known.vertex_cells.start[v + 1]):
        i = known.vertex_cells.items[t]
        if new_of_old[i] < 0 or not _is_at(known.corners, i, w):
            continue
        for s in range(rows.start[i], rows.start[i + 1]):
            f = rows.items[s]
            if face_edges[f, 0] == e or face_edges[f, 1] == e or face_edges[f, 2] == e:
                return True
    return False


@kernel
def merge_edges(edges, state, sides):
    """The fields of EdgeTable: without those that are gone, with the sides of new faces, which are sorted keys, some
    repeatedly; a side that was an edge already is one again."""
    most, touched = len(edges) + len(sides), np.count_nonzero(state)
    out, new_of_old = np.empty((most, 2), np.int32), np.full(len(edges), np.int32(-1))
    old_of_new, new_state = np.empty(most, np.int32), np.zeros(most, np.int8)
    keys, ids = np.empty(len(sides), np.int64), np.empty(len(sides), np.int32)
    pieces = np.empty((touched + len(sides) + 1, 3), np.int64)
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
    return (
        out[:count].copy(), new_of_old, old_of_new[:count].copy(), new_state[:count].copy(), pieces[:p].copy(),
        keys[:found].copy(), ids[:found].copy(),
    )  # fmt: skip


@helper
def _new_state(state):
    """Of an edge that is gone from all cells that stay, but is in an added one: it lost cells."""
    return (state & (LOST | GAINED)) | (LOST if state & GONE else 0)


@helper
def _edge_from(edges, key, low):
    """The first edge from low on that is not before the key."""
    high, step = low, 1
    while high < len(edges) and (np.int64(edges[high, 0]) << 32 | np.int64(edges[high, 1])) < key:
        low, high, step = high + 1, high + step, 2 * step
    high = min(high, len(edges))
    while low < high:
        middle = (low + high) // 2
        if (np.int64(edges[middle, 0]) << 32 | np.int64(edges[middle, 1])) < key:
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
                if np.int64(edges[e, 0]) << 32 | np.int64(edges[e, 1]) == key:
                    face_edges[f, k] = e
