"""What a changed triangle mesh takes over from the one before, so that it equals a fresh build at a part of its cost.

Its cells are its elements. A face is its own cell, so faces need not be searched for; but loose edges and points are
elements only while no face has them, so that elements come and go with the faces beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cells import MOST_CORNERS, Rows, keep_distinct, list_distinct, starts_from
from pliant.mesh.changed.cells import change_lists, change_vertices, is_small, run_changes
from pliant.mesh.changed.edges import EdgeTable, merge_edges, triangle_sides
from pliant.mesh.changed.features import GAINED, GONE, LOST, UNTOUCHED, Change, Kind
from pliant.mesh.changed.lists import carry_rows, pick_renamed, pick_rows
from pliant.mesh.features import Elements
from pliant.runtime.arrays import read_only
from pliant.runtime.threads import Task, ThreadPool

if TYPE_CHECKING:
    from pliant.mesh.triangles import TriMesh


class Faces(NamedTuple):
    """Faces of two meshes."""

    old_of_new: np.ndarray  # (m',) int32, -1 for added faces
    removed: np.ndarray  # ids in the old mesh
    added: np.ndarray  # (k, 3) int32, vertices of the new ones, which come last
    pieces: np.ndarray  # as in Change


def change_surface(old: TriMesh, new: TriMesh, kept: np.ndarray, pool: ThreadPool) -> Change:
    """Gives the new mesh, which has its faces and loose edges and points, what the old one has computed so far.

    kept : (m,) bool, faces of the old mesh that come first in the new one. Returns which elements are which.
    """
    stay, total = np.flatnonzero(kept).astype(np.int32), len(new._faces)
    numbers = np.concatenate((stay, np.full(total - len(stay), -1, np.int32)))
    faces = Faces(numbers, np.flatnonzero(~kept), new._faces[len(stay) :], pieces_of(numbers))
    has_loose, kind, table = len(old._loose_edges) + len(old._loose_points) > 0, type(old), None
    if has_loose:
        _ = old._elements  # edges say which of them are loose: elements are known by these
    pays = len(faces.removed) + len(faces.added) <= len(kept)  # else to merge edges takes longer than to sort them
    if pays and kind._edge_table.is_known(old):
        table = _change_edge_table(old, new, faces)
    change = change_of(_old_elements(old, new, faces) if has_loose else numbers, len(old._elements.face))
    if table is not None and is_small(change):
        _carry_over(old, new, (faces, change, table), pool)
    return change


def pieces_of(old_of_new: np.ndarray) -> np.ndarray:
    """(k, 3) int64: first new one, first old one and number of those that follow each other in both."""
    ids = np.flatnonzero(old_of_new >= 0)
    olds = old_of_new[ids].astype(np.int64)
    first = np.ones(len(ids), bool)
    first[1:] = (np.diff(ids) != 1) | (np.diff(olds) != 1)
    begin = np.flatnonzero(first)
    return np.stack((ids[begin], olds[begin], np.diff(np.append(begin, len(ids)))), axis=1).astype(np.int64)


def change_of(old_of_new: np.ndarray, count: int) -> Change:
    """Elements of two meshes, of which the old one has so many."""
    new_of_old, is_old = np.full(count, -1, np.int32), old_of_new >= 0
    new_of_old[old_of_new[is_old]] = np.flatnonzero(is_old)
    removed, added = np.flatnonzero(new_of_old < 0), np.flatnonzero(~is_old)
    return Change(new_of_old, old_of_new, removed.astype(np.int32), added.astype(np.int32), pieces_of(old_of_new))


def _old_elements(old: TriMesh, new: TriMesh, faces: Faces) -> np.ndarray:
    """(k,) int32: which elements of the old mesh those of the new one are; edges and points are known by vertices."""
    before, now = (_keys_of_loose(mesh._elements) for mesh in (old, new))
    order = np.argsort(before)  # edges, then points, and each of them ascending; but other keys
    at = np.minimum(np.searchsorted(before, now, sorter=order), max(len(before) - 1, 0))
    found = order[at] if len(before) else np.zeros(len(now), np.int64)
    same = before[found] == now if len(before) else np.zeros(len(now), bool)
    return np.concatenate((faces.old_of_new, np.where(same, len(old._faces) + found, -1).astype(np.int32)))


def _keys_of_loose(elements: Elements) -> np.ndarray:
    """(k,) int64: both ends of a loose edge, or twice the vertex of a point, which no edge has."""
    ends = elements.corners[elements.face < 0].astype(np.int64)
    return ends[:, 0] << 32 | ends[:, 1]


def _change_edge_table(old: TriMesh, new: TriMesh, faces: Faces) -> EdgeTable:
    """Edges, the sides of the faces, and the number of faces at each edge."""
    old_sides = old._face_edges[faces.removed]
    counts = old.edge_face_count - np.bincount(old_sides[old_sides >= 0], minlength=len(old._edges))
    state = np.zeros(len(old._edges), np.int8)
    lost = old_sides[old_sides >= 0]
    state[lost] = np.where(counts[lost] > 0, LOST, GONE)
    loose = _loose_ids(old)
    state[loose] = np.where(state[loose] == GONE, LOST, state[loose])
    sides = triangle_sides(faces.added)
    is_side = sides >> 32 != sides & 0xFFFFFFFF
    table = merge_edges(old._edges, state, np.sort(sides[is_side]))
    face_edges = pick_renamed(old._face_edges, faces.pieces, table.new_of_old, len(new._faces))
    added = np.full(len(sides), -1, np.int32)
    added[is_side] = table.side_ids[np.searchsorted(table.sides, sides[is_side])]
    face_edges[len(new._faces) - len(faces.added) :] = added.reshape(-1, 3)
    kind = type(new)
    kind._edge_table.keep(new, (table.edges, face_edges))
    at_edges = np.zeros(len(table.edges), counts.dtype)
    stays = table.old_of_new >= 0
    at_edges[stays] = counts[table.old_of_new[stays]]
    at_edges += np.bincount(added[is_side], minlength=len(at_edges))
    kind.edge_face_count.keep(new, read_only(at_edges))
    _keep_components(old, new, table)
    return table


def _loose_ids(mesh: TriMesh) -> np.ndarray:
    """Edges that the loose ones name."""
    ends = np.sort(mesh._loose_edges.astype(np.int64), axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    edges = mesh._edges.astype(np.int64)
    return np.searchsorted(edges[:, 0] << 32 | edges[:, 1], ends[:, 0] << 32 | ends[:, 1]) if len(ends) else ends[:, 0]


def _keep_components(old: TriMesh, new: TriMesh, table: EdgeTable) -> None:
    """Where no edge is gone, and new ones join what was connected before, labels are what they were."""
    kind = type(old)
    if not kind.components.is_known(old) or (table.new_of_old < 0).any() or old.vertex_limit != new.vertex_limit:
        return
    labels = old.components[table.edges[table.old_of_new < 0]]
    if (labels[:, 0] == labels[:, 1]).all() and (labels >= 0).all() and np.array_equal(old._vertices, new._vertices):
        type(new).components.keep(new, old.components)


def _carry_over(old: TriMesh, new: TriMesh, found: tuple[Faces, Change, EdgeTable], pool: ThreadPool) -> None:
    """What is known of the elements as cells."""
    (faces, change, table), kind, tasks = found, type(old), dict[str, Task]()
    if kind._vertex_cells.is_known(old):
        _ = new.vertex_limit, new._elements
        tasks["corners"] = Task(lambda: _change_corners(old, new, change))
        tasks["vertices"] = Task(lambda corners: change_vertices(old, new, change, corners), "corners")
    if kind._cell_edges.is_known(old):
        _ = new._elements
        tasks["edges"] = Task(lambda: _change_edges(old, new, change, table))
        tasks["cell_edges"] = Task(lambda edges: _change_cell_edges(old, new, change, (table, edges)), "edges")
    if kind._edge_cells.is_known(old):
        tasks["edge_cells"] = Task(
            lambda edges, rows: _change_edge_cells(old, new, change, edges), "edges", "cell_edges"
        )
    if kind.cell_table.is_known(old):
        tasks["faces"] = Task(lambda: _change_faces(faces))
        tasks["face_cells"] = Task(lambda: new._face_cells)
    if tasks:
        run_changes(old, new, change, tasks, pool)


def _change_corners(old: TriMesh, new: TriMesh, change: Change) -> np.ndarray:
    total, raw = len(change.old_of_new), new._elements.corners[change.added]
    corners = pick_rows(old._corners, change.pieces, total)
    counts = pick_rows(old._corner_count[:, None], change.pieces, total)[:, 0]
    more, more_counts = np.empty((len(raw), MOST_CORNERS), np.int32), np.empty(len(raw), np.int8)
    keep_distinct(raw, more, more_counts)
    corners[change.added], counts[change.added] = more, more_counts
    type(new)._distinct_corners.keep(new, (corners, counts))
    return corners


def _change_faces(faces: Faces) -> Kind:
    added = np.flatnonzero(faces.old_of_new < 0).astype(np.int32)
    state = np.zeros(len(faces.old_of_new), np.int8)
    state[added] = GAINED
    return Kind(faces.old_of_new, state, added, added, faces.pieces)


def _change_edges(old: TriMesh, new: TriMesh, change: Change, table: EdgeTable) -> Kind:
    of_added = list_distinct(new._elements.sides[change.added]).items
    state, of_removed = table.state, list_distinct(old._elements.sides[change.removed]).items
    still = table.new_of_old[of_removed]
    state[still[still >= 0]] |= LOST
    state[of_added] |= GAINED
    touched = np.flatnonzero(state != UNTOUCHED).astype(np.int32)
    return Kind(table.old_of_new, state, of_added, touched, table.pieces)


def _change_cell_edges(old: TriMesh, new: TriMesh, change: Change, found: tuple[EdgeTable, Kind]) -> Rows:
    table, edges = found
    lengths = np.empty(len(change.old_of_new), np.int64)
    stays = change.old_of_new >= 0
    lengths[stays] = np.diff(old._cell_edges.start)[change.old_of_new[stays]]
    lengths[change.added] = np.diff(list_distinct(new._elements.sides[change.added]).start)
    start = starts_from(lengths)
    items = carry_rows(start, change, old._cell_edges, table.new_of_old, edges.of_added)
    return type(new)._cell_edges.keep(new, Rows(start, items))


def _change_edge_cells(old: TriMesh, new: TriMesh, change: Change, edges: Kind) -> Rows:
    rows = change_lists(old._edge_cells, edges, change, np.diff(new._cell_edges.start))
    return type(new)._edge_cells.keep(new, rows)
