"""Faces of a changed volume mesh: which are found again, which are gone, and all their new numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.changed.features import UNTOUCHED, Change, Kind, Known, is_at
from pliant.mesh.triangles import TriMesh
from pliant.runtime.jit import helper, kernel, prefetch


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
    known: Known


@kernel
def find_faces(triangles, known, out):
    """out : (t,) int32, -1 at first; the face that has the vertices of each triangle, where there is one."""
    start, items, corners = known.vertex_cells.start, known.vertex_cells.items, known.corners
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
            if is_at(corners, items[s], b) & is_at(corners, items[s], c):
                out[t] = _face_among(known, items[s], (a, b, c))
                if out[t] >= 0:
                    break


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
    ones have to be searched for in their cells.

    start : where the faces of each cell of the new mesh start
    of_added : numbers of the faces of added cells, in their order
    state : by numbers
    """
    touched = np.flatnonzero(state != UNTOUCHED)  # of numbers that are no bool, ten times as slow
    slots, before = np.full(len(touched), _NOWHERE), np.empty(len(touched), np.int64)
    moved, is_held = np.empty((len(touched), 3), np.int32), np.zeros(len(known.faces), np.bool_)
    index = np.empty(len(state), np.int32)
    _meet_touched(known, change, start, of_added, touched, index, (slots, before, moved, is_held))
    order = np.argsort(slots)[: np.count_nonzero(slots < _NOWHERE)]
    moved = moved[order]
    new_of_old, old_of_new = np.full(len(state), -1, np.int32), np.empty(len(state), np.int32)
    pieces = np.empty((len(touched) + len(moved) + 1, 3), np.int64)
    numbers = new_of_old, old_of_new, pieces
    count, found = _number_in_turn(touched, moved[:, 0].copy(), before[order], numbers)
    moved[:, 0] = new_of_old[moved[:, 0]]
    return FaceNumbers(new_of_old, old_of_new[:count].copy(), moved, is_held, pieces[:found].copy())


_NOWHERE = np.iinfo(np.int64).max


@kernel
def _meet_touched(known, change, start, of_added, touched, index, out):
    """out : slots, before, moved, is_held; for each touched face the first place among those of all cells where it is,
    or _NOWHERE, and the first old face that is first met at this place or later; the others as in FaceNumbers.

    index : buffer for as many numbers as faces have
    """
    slots, before, moved, is_held = out
    lists, rows = known.face_cells, known.cell_faces
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


@helper
def _prefetch_touched(known, touched, t):
    """Of the faces after the t-th one, step by step: their lists of cells, and what of these is examined."""
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
def _number_in_turn(touched, moved, before, out):
    """out : new_of_old, -1 at first, old_of_new and pieces by the numbers: untouched faces in order, moved[x] before
    face before[x]. Returns how many faces and pieces there are."""
    name, sources, pieces = out
    count = len(name)
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
            return new, p
