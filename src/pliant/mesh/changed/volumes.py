"""What a changed volume mesh takes over from the one before, so that it equals a fresh build at a part of its cost.

Faces whose first cell stays and remains the first keep their order, like the cells and edges that stay
(``changed/cells.py``): only touched ones have to be searched for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.mesh.cell_features import owners_of_faces
from pliant.mesh.cells import (
    EDGE_COUNT,
    FACE_COUNT,
    TYPES,
    Rows,
    list_edges,
    list_triangles,
    number_triangles,
    starts_of,
)
from pliant.mesh.changed.cells import change_lists, change_vertices, is_small, run_changes
from pliant.mesh.changed.edges import EdgeTable, find_sides, mark_edges, merge_edges, triangle_sides
from pliant.mesh.changed.faces import FaceTable, find_faces, number_faces
from pliant.mesh.changed.features import GAINED, LOST, UNTOUCHED, Change, Kind, Known
from pliant.mesh.changed.lists import carry_rows, pick_lists, pick_renamed, pick_rows
from pliant.mesh.triangles import TriMesh
from pliant.runtime.jit import kernel
from pliant.runtime.threads import Task, ThreadPool

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


def change_cells(old: VolumeMesh, kept: np.ndarray, added: dict[str, np.ndarray]) -> tuple[dict, Change]:
    """The cells of the new mesh, by type; kept : (c,) bool."""
    counts = np.array([[len(old._cells[name]), len(added[name])] for name in TYPES])
    change = number_cells(kept, counts)
    cells, first, begin = {}, 0, 0
    for name, (before, more) in zip(TYPES, counts.tolist()):
        stay = int(np.count_nonzero(kept[begin : begin + before]))
        pieces = change.pieces[(change.pieces[:, 1] >= begin) & (change.pieces[:, 1] < begin + before)]
        cells[name] = pick_rows(old._cells[name], pieces - (first, begin, 0), stay + more)
        cells[name][stay:] = added[name]
        first, begin = first + stay + more, begin + before
    return cells, change


def carry_over(old: VolumeMesh, new: VolumeMesh, change: Change, pool: ThreadPool) -> None:
    """Gives the new mesh what the old one has computed so far; the rest stays to be computed when it is asked for.

    Where the old one has faces, but not yet which cells are at a vertex or a face, it computes that now: features are
    found by it.
    """
    kind = type(old)
    has_faces = kind._face_table.is_known(old)
    if not (has_faces or kind._vertex_cells.is_known(old)) or not is_small(change):
        return
    _ = old._vertex_cells, new._types, new.vertex_limit  # which all that follows looks at
    tasks = {"corners": Task(lambda: _change_corners(old, new, change))}
    # Edges first: theirs is the longest way.
    if has_faces:
        tasks["face_table"] = Task(lambda corners: _change_face_table(old, new, change, corners), "corners")
        if TriMesh._edge_table.is_known(old.features()):
            tasks["edge_table"] = Task(lambda faces: _change_edge_table(old, change, faces), "face_table")
            tasks["edges"] = Task(lambda *tables: _change_edges(old, new, change, *tables), "face_table", "edge_table")
    if kind._edge_cells.is_known(old):
        tasks["edge_cells"] = Task(lambda edges: _change_edge_cells(old, new, change, edges), "edges")
    if kind._cell_edges.is_known(old):
        tasks["cell_edges"] = Task(lambda *found: _change_cell_edges(old, new, change, *found), "edge_table", "edges")
    tasks["vertices"] = Task(lambda corners: change_vertices(old, new, change, corners), "corners")
    if has_faces:
        tasks["faces"] = Task(lambda table: _change_faces(old, new, change, table), "face_table")
    if kind._face_cells.is_known(old):
        tasks["face_cells"] = Task(lambda faces: _change_face_cells(old, new, change, faces), "faces")
    run_changes(old, new, change, tasks, pool)


def _change_corners(old: VolumeMesh, new: VolumeMesh, change: Change) -> np.ndarray:
    corners = pick_rows(old._corners, change.pieces, len(change.old_of_new))
    first = 0
    for array in new._cells.values():
        ids = change.added[(change.added >= first) & (change.added < first + len(array))]
        corners[ids, : array.shape[1]] = array[ids - first]
        corners[ids, array.shape[1] :] = array[ids - first, -1:]
        first += len(array)
    return type(new)._corners.keep(new, corners)


def _change_face_table(old: VolumeMesh, new: VolumeMesh, change: Change, corners: np.ndarray) -> FaceTable:
    known = _known(old)
    _, triangles = list_triangles(new._types[change.added], corners[change.added], new._ranks)
    found = np.full(len(triangles), -1, np.int32)
    find_faces(triangles, known, found)
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        found[unknown] = len(old._faces) + number_triangles(triangles[unknown], new.vertex_limit)[1]
    state = np.zeros(max(len(old._faces), int(found.max(initial=-1)) + 1), np.int8)
    state[pick_lists(old._cell_faces, change.removed)] = LOST
    state[found] |= GAINED
    start = starts_of(new._types, FACE_COUNT)
    names, numbers, moved, is_held, pieces = number_faces(known, change, start, found, state)
    touched, new_state = moved[:, 0].copy(), np.zeros(len(numbers), np.int8)
    new_state[touched] = state[numbers[touched]]
    numbers[touched[numbers[touched] >= len(old._faces)]] = -1
    faces = pick_rows(old._faces, pieces, len(numbers))
    begin, seen = list_triangles(new._types[moved[:, 1]], corners[moved[:, 1]], new._ranks)
    faces[touched] = seen[begin[:-1] + moved[:, 2]]  # as the cell sees it that is now the first
    features = TriMesh()
    features._faces = faces
    return FaceTable(features, Kind(numbers, new_state, names[found], touched, pieces), names, start, is_held, known)


def _known(old: VolumeMesh) -> Known:
    owned = (
        old.cell_table.owned_faces
        if type(old).cell_table.is_known(old)
        else owners_of_faces(old._face_cells, len(old._types)).owned
    )
    return Known(old._corners, old._vertex_cells, old._cell_faces, old._face_cells, owned.start, old._faces)


def _change_faces(old: VolumeMesh, new: VolumeMesh, change: Change, table: FaceTable) -> Kind:
    items = carry_rows(table.start, change, old._cell_faces, table.names, table.kind.of_added)
    type(new)._face_table.keep(new, (table.features, Rows(table.start, items)))
    return table.kind


def _change_face_cells(old: VolumeMesh, new: VolumeMesh, change: Change, faces: Kind) -> Rows:
    rows = change_lists(old._face_cells, faces, change, FACE_COUNT[new._types])
    return type(new)._face_cells.keep(new, rows)


def _change_edge_table(old: VolumeMesh, change: Change, faces: FaceTable) -> EdgeTable:
    of_added, touched = (faces.kind.old_of_new[ids] for ids in (faces.kind.of_added, faces.kind.touched))
    gained = of_added[of_added >= 0]
    state = np.zeros(len(old._edges), np.int8)
    mark_edges(faces.known, old._edges, old._face_edges, change, faces.is_held, gained, state)
    sides = np.sort(triangle_sides(faces.features._faces[faces.kind.touched[touched < 0]]))
    return merge_edges(old._edges, state, sides)


def _change_edges(old: VolumeMesh, new: VolumeMesh, change: Change, faces: FaceTable, table: EdgeTable) -> Kind:
    face_edges = pick_renamed(old._face_edges, faces.kind.pieces, table.new_of_old, len(faces.kind.state))
    find_sides(faces.features._faces, faces.kind, table, old._face_edges, face_edges)
    TriMesh._edge_table.keep(faces.features, (table.edges, face_edges))
    types = new._types[change.added]
    of_added = list_edges(types, Rows(starts_of(types, FACE_COUNT), faces.kind.of_added), face_edges).items
    touched = np.flatnonzero(table.state != UNTOUCHED).astype(np.int32)
    return Kind(table.old_of_new, table.state, of_added, touched, table.pieces)


def _change_cell_edges(old: VolumeMesh, new: VolumeMesh, change: Change, table: EdgeTable, edges: Kind) -> None:
    start = starts_of(new._types, EDGE_COUNT)
    items = carry_rows(start, change, old._cell_edges, table.new_of_old, edges.of_added)
    type(new)._cell_edges.keep(new, Rows(start, items))


def _change_edge_cells(old: VolumeMesh, new: VolumeMesh, change: Change, edges: Kind) -> Rows:
    rows = change_lists(old._edge_cells, edges, change, EDGE_COUNT[new._types])
    return type(new)._edge_cells.keep(new, rows)


def number_cells(kept: np.ndarray, counts: np.ndarray) -> Change:
    """counts : (types, 2), cells before and cells added of each type."""
    stay = int(np.count_nonzero(kept))
    added, gone = int(counts[:, 1].sum()), len(kept) - stay
    change = Change(
        np.full(len(kept), -1, np.int32), np.full(stay + added, -1, np.int32), np.empty(gone, np.int32),
        np.empty(added, np.int32), np.empty((gone + len(counts), 3), np.int64),
    )  # fmt: skip
    return change._replace(pieces=change.pieces[: _number_cells(kept, counts, change)].copy())


@kernel
def _number_cells(kept, counts, change):
    """Returns how many pieces there are."""
    new_of_old, old_of_new, removed, added, pieces = change
    i = gone = new = extra = p = 0
    for t in range(len(counts)):
        end = i + counts[t, 0]
        while i < end:
            first = i
            while i < end and kept[i]:
                i += 1
            for k in range(i - first):
                new_of_old[first + k], old_of_new[new + k] = new + k, first + k
            if first < i:
                pieces[p, 0], pieces[p, 1], pieces[p, 2] = new, first, i - first
                p, new = p + 1, new + i - first
            if i < end:
                removed[gone] = i
                gone, i = gone + 1, i + 1
        for _ in range(counts[t, 1]):
            added[extra] = new
            extra, new = extra + 1, new + 1
    return p
