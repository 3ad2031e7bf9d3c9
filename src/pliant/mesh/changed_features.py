"""Faces and edges of a changed volume mesh: which are found again, which are gone, and all their new numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._jit import helper, kernel
from pliant.mesh.cells import MOST_CORNERS

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


class Kind(NamedTuple):
    """Features of one kind in the new mesh."""

    old_of_new: np.ndarray  # (m,) int32, -1 for those that the old mesh does not have
    state: np.ndarray  # (m,) int8: LOST if a cell of it was removed, GAINED if one was added, both if both were
    of_added: np.ndarray  # int32, those of the added cells, one after the other
    touched: np.ndarray  # int32, those that lost or gained cells, ascending


class EdgeTable(NamedTuple):
    edges: np.ndarray  # (e', 2) int32, of the new mesh
    new_of_old: np.ndarray  # (e,) int32, -1 for those that are gone
    old_of_new: np.ndarray  # (e',) int32, -1 for new ones
    state: np.ndarray  # (e',) int8, as in Kind


class Known(NamedTuple):
    """Of the mesh before."""

    corners: np.ndarray
    vertex_start: np.ndarray
    vertex_items: np.ndarray
    cell_start: np.ndarray  # faces of each cell
    cell_items: np.ndarray
    edges: np.ndarray
    face_edges: np.ndarray


@kernel
def find_faces(triangles, vertex_cells, cell_faces, faces):
    """(t,) int32: the face that has the vertices of each triangle, -1 where there is none."""
    start, items = vertex_cells.start, vertex_cells.items
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
            f = _face_among(cell_faces, items[s], faces, (a, b, c))
            if f >= 0:
                out[t] = f
                break
    return out


@helper
def _face_among(cell_faces, i, faces, triangle):
    """The face of cell i with these vertices; vertices of a face differ, so three that are found are all of them."""
    a, b, c = triangle
    for s in range(cell_faces.start[i], cell_faces.start[i + 1]):
        f = cell_faces.items[s]
        p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
        if (a == p or a == q or a == r) and (b == p or b == q or b == r) and (c == p or c == q or c == r):
            return f
    return np.int32(-1)


@kernel
def number_faces(start, old_of_new, cell_faces, of_added, state):
    """(name, old_of_new, moved): faces in the order of first cells, which is how they are numbered.

    Untouched ones keep their order, and a touched one comes before those that are first met after it: few have to be
    looked at in their cells. To meet every face of every cell, and number it, took three times as long.

    of_added : faces of the added cells in their order; numbers of old faces, or larger ones for new faces
    state : by these numbers, as name; moved : (k, 3) int32, the touched ones: face, its first cell, the place in that
    """
    moved, before = _meet_touched(start, old_of_new, cell_faces, of_added, state)
    name, sources = np.full(len(state), np.int32(-1)), np.empty(len(state), np.int32)
    count = x = 0
    for f in range(len(state) + 1):
        while x < len(moved) and before[x] <= f:
            sources[count], name[moved[x, 0]], moved[x, 0] = moved[x, 0], count, count
            count, x = count + 1, x + 1
        if f < len(state) and state[f] == UNTOUCHED:
            sources[count], name[f] = f, count
            count += 1
    return name, sources[:count].copy(), moved


@helper
def _meet_touched(start, old_of_new, cell_faces, of_added, state):
    """(moved, before): touched faces in the order of first cells, and how many untouched ones are met by then."""
    most = np.count_nonzero(state)
    moved, before, is_met = np.empty((most, 3), np.int32), np.empty(most, np.int32), np.zeros(len(state), np.bool_)
    moves = extra = 0
    top = np.int32(0)
    for i in range(len(old_of_new)):
        o = old_of_new[i]
        for k in range(start[i + 1] - start[i]):
            if o >= 0:
                f = cell_faces.items[cell_faces.start[o] + k]
            else:
                f = of_added[extra]
                extra += 1
            if state[f] == UNTOUCHED:
                top = max(top, np.int32(f + 1))
            elif not is_met[f]:
                is_met[f], before[moves] = True, top
                moved[moves, 0], moved[moves, 1], moved[moves, 2] = f, i, k
                moves += 1
    return moved[:moves].copy(), before[:moves].copy()


@kernel
def triangle_sides(faces, ids):
    """(3 k,) int64: both ends of each side of these faces, smaller << 32 | larger."""
    keys = np.empty(3 * len(ids), np.int64)
    for r in range(len(ids)):
        for k in range(3):
            v, w = faces[ids[r], k], faces[ids[r], (k + 1) % 3]
            keys[3 * r + k] = np.int64(min(v, w)) << 32 | np.int64(max(v, w))
    return keys


@kernel
def mark_edges(known, new_of_old, removed, is_held):
    """(e,) int8: LOST where a removed cell has the edge, GONE where no cell that stays has it too.

    is_held : (m,) bool, faces that a cell that stays surely has: their edges need not be looked for
    """
    state = np.zeros(len(known.edges), np.int8)
    for r in range(len(removed)):
        for s in range(known.cell_start[removed[r]], known.cell_start[removed[r] + 1]):
            f = known.cell_items[s]
            for k in range(3):
                e = known.face_edges[f, k]
                if is_held[f]:
                    state[e] = LOST
                elif state[e] == UNTOUCHED:
                    state[e] = LOST if _has_kept_cell(known, new_of_old, e) else GONE
    return state


@helper
def _has_kept_cell(known, new_of_old, e):
    """A cell that stays has edge e: being at both ends is not enough, most diagonals of a hexahedron are no edges."""
    v, w = known.edges[e, 0], known.edges[e, 1]
    for t in range(known.vertex_start[v], known.vertex_start[v + 1]):
        i = known.vertex_items[t]
        if new_of_old[i] < 0:
            continue
        at_both = False
        for k in range(MOST_CORNERS):
            at_both |= known.corners[i, k] == w
        if not at_both:
            continue
        for s in range(known.cell_start[i], known.cell_start[i + 1]):
            f = known.cell_items[s]
            if known.face_edges[f, 0] == e or known.face_edges[f, 1] == e or known.face_edges[f, 2] == e:
                return True
    return False


@kernel
def merge_edges(edges, state, sides):
    """(edges, new_of_old, old_of_new, state): without those that are gone, with the sides of added cells, which are
    sorted keys, each once; a side that was an edge already is one again."""
    most = len(edges) + len(sides)
    out, new_of_old = np.empty((most, 2), np.int32), np.full(len(edges), np.int32(-1))
    old_of_new, new_state = np.empty(most, np.int32), np.empty(most, np.int8)
    count = x = 0
    for e in range(len(edges) + 1):
        last = e == len(edges)
        key = np.int64(0) if last else np.int64(edges[e, 0]) << 32 | np.int64(edges[e, 1])
        while x < len(sides) and (last or sides[x] < key):
            out[count, 0], out[count, 1] = sides[x] >> 32, sides[x] & 0xFFFFFFFF
            old_of_new[count], new_state[count] = -1, GAINED
            count, x = count + 1, x + 1
        if last:
            break
        again = x < len(sides) and sides[x] == key
        if again:
            x += 1
        if again or state[e] != GONE:
            out[count, 0], out[count, 1] = edges[e, 0], edges[e, 1]
            old_of_new[count] = e
            new_state[count] = (LOST if state[e] != UNTOUCHED else 0) | (GAINED if again else 0)
            new_of_old[e] = count
            count += 1
    return out[:count].copy(), new_of_old, old_of_new[:count].copy(), new_state[:count].copy()


@kernel
def find_sides(faces, ids, old_of_new, edges, face_edges):
    """Writes the edges of the faces ids into face_edges, where those that the old mesh has have them in any order."""
    for r in range(len(ids)):
        f = ids[r]
        a, b, c = face_edges[f, 0], face_edges[f, 1], face_edges[f, 2]
        for k in range(3):
            v, w = min(faces[f, k], faces[f, (k + 1) % 3]), max(faces[f, k], faces[f, (k + 1) % 3])
            if old_of_new[f] < 0:
                face_edges[f, k] = _edge_between(edges, v, w)
            elif edges[a, 0] == v and edges[a, 1] == w:
                face_edges[f, k] = a
            else:
                face_edges[f, k] = b if edges[b, 0] == v and edges[b, 1] == w else c


@helper
def _edge_between(edges, v, w):
    low, high = 0, len(edges) - 1
    while low < high:
        middle = (low + high) // 2
        if edges[middle, 0] < v or (edges[middle, 0] == v and edges[middle, 1] < w):
            low = middle + 1
        else:
            high = middle
    return low
