"""Pairs of features of a changed volume mesh that may have become orphans, and are some.

A pair a, b of features that both meshes have becomes an orphan only if of any two separate cells i of a and j of b at
least one was removed. Say i: if some cell of b is now near to a and has no vertex of i, then the pair is found from a
and i, in the few near cells that avoid the vertices of i. If j stays, it is such a cell. If j was removed, too, then b
and j may find it likewise, or else every cell of a has a vertex of j, which has none of a: j is one of the removed
cells at a corner of the first cell of a. A feature that lost several cells avoids what they had in common, once,
instead of the vertices of each by themselves: it looks at more cells than it must, not at fewer.

Pairs of a new feature are found from it, in all near cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import helper, in_line, kernel
from pliant.mesh.cell_features import Cells, cells_adjacent
from pliant.mesh.cells import CORNER_COUNT, EDGE_COUNT, FACE_COUNT, MOST_CORNERS, Rows, list_corners, transpose
from pliant.mesh.changed_features import Kind
from pliant.mesh.changed_lists import pick_lists, starts_of
from pliant.mesh.o_sets import (
    NONE,
    Sought,
    all_near,
    clear_masks,
    edges_of_edges,
    faces_of_vertices,
    find_near,
    find_orphans,
    met_before,
    new_marks,
)

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


class Gone(NamedTuple):
    """Removed cells, and which of their features are still there: new ids, -1 for the others."""

    corners: np.ndarray  # (k, 8) int32
    at_vertices: Rows  # which of them were at each vertex
    vertices: Rows
    edges: Rows
    faces: Rows


class Lost(NamedTuple):
    """For pairs of features a, b that both lost cells."""

    corners: np.ndarray  # of the removed cells, as above
    at_vertices: Rows
    features: Rows  # like b, of the removed cells
    vertices: np.ndarray  # (m, n) int32, of the features like a
    cells: tuple[Rows, Rows]  # of those like a, and of those like b


def list_gone(old: VolumeMesh, removed: np.ndarray, names: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Gone:
    """names : new ids of old vertices, edges and faces, or -1."""
    corners, types = old.corners[removed], old.types[removed]
    start, vertices = list_corners(corners, CORNER_COUNT[types])
    edges = Rows(starts_of(types, EDGE_COUNT), names[1][pick_lists(*old.cell_edges, removed)])
    faces = Rows(starts_of(types, FACE_COUNT), names[2][pick_lists(*old.cell_faces, removed)])
    at_vertices = Rows(*transpose(start, vertices, old.vertex_limit))
    return Gone(corners, at_vertices, Rows(start, names[0][vertices]), edges, faces)


def find_vertex_face(cells: Cells, gone: Gone, vertices: Kind, faces: Kind, most: int) -> np.ndarray:
    """Keys, some repeatedly; raises TooManyOrphans where one search finds more than ``most``."""
    at_vertices, at_faces, every = cells.vertex_cells, cells.face_cells, cells.faces
    new_vertices = _ids_of_new(vertices)
    new_vertices = new_vertices[at_vertices.start[new_vertices] < at_vertices.start[new_vertices + 1]]
    lost_vertices, beside_vertices = _list_losses(gone.vertices, gone.corners, len(vertices.state))
    lost_faces, beside_faces = _list_losses(gone.faces, gone.corners, len(faces.state))
    own = np.arange(len(vertices.state), dtype=np.int32)[:, None]
    both = Lost(gone.corners, gone.at_vertices, gone.faces, own, (at_vertices, at_faces))
    found = (
        find_orphans(faces_of_vertices, cells, new_vertices, Sought(cells.owned_faces, NONE, False), most),
        find_orphans(faces_of_vertices, cells, lost_vertices, Sought(every, beside_vertices, False), most),
        find_orphans(_vertices_of_faces, cells, _ids_of_new(faces), Sought(every, NONE, False), most),
        find_orphans(_vertices_of_faces, cells, lost_faces, Sought(every, beside_faces, False), most),
        find_orphans(_lost_of_lost, cells, lost_vertices, both, most),
    )
    return np.concatenate(found)


def find_edge_edge(cells: Cells, gone: Gone, edges: Kind, most: int) -> np.ndarray:
    """As above."""
    at_edges = cells.edge_cells
    lost_edges, beside = _list_losses(gone.edges, gone.corners, len(edges.state))
    both = Lost(gone.corners, gone.at_vertices, gone.edges, cells.ends, (at_edges, at_edges))
    from_both = find_orphans(_lost_of_lost, cells, lost_edges, both, most)
    found = (
        find_orphans(edges_of_edges, cells, _ids_of_new(edges), Sought(cells.owned_edges, NONE, False), most),
        find_orphans(edges_of_edges, cells, lost_edges, Sought(cells.edges, beside, False), most),
        from_both[from_both >> 32 < from_both & 0xFFFFFFFF],
    )
    return np.concatenate(found)


def _ids_of_new(kind: Kind) -> np.ndarray:
    return np.flatnonzero(kind.old_of_new < 0).astype(np.int32)


@kernel
def _list_losses(rows, corners, count):
    """(ids, avoided): those of count features that removed cells had, each once, in the order of these; and (k, 8) the
    vertices that all removed cells of a feature had, some repeatedly.

    rows : features of the removed cells, -1 for those that are gone
    """
    slot, ids = np.full(count, np.int32(-1)), np.empty(len(rows.items), np.int32)
    avoided = np.empty((len(rows.items), MOST_CORNERS), np.int32)
    found = 0
    for i in range(len(corners)):
        for s in range(rows.start[i], rows.start[i + 1]):
            f = rows.items[s]
            if f >= 0 and slot[f] < 0:
                slot[f], ids[found] = found, f
                for k in range(MOST_CORNERS):
                    avoided[found, k] = corners[i, k]
                found += 1
            elif f >= 0:
                _intersect(avoided, slot[f], corners, i)
    return ids[:found].copy(), avoided[:found].copy()


@helper
def _intersect(rows, r, others, i):
    """Vertices of row r that are not in the other are replaced by one that is: there is one, of the feature itself."""
    common = rows[r, 0]
    for k in range(MOST_CORNERS):
        if _has(others, i, rows[r, k]):
            common = rows[r, k]
    for k in range(MOST_CORNERS):
        if not _has(others, i, rows[r, k]):
            rows[r, k] = common


@helper
def _has(rows, i, v):
    for k in range(MOST_CORNERS):
        if rows[i, k] == v:
            return True
    return False


@kernel
def _vertices_of_faces(cells, ids, sought, done, keys, count):
    """Orphans of the faces ids[done:], as the searches in o_sets."""
    triangles, corners, at_vertices, at_faces = cells.triangles, cells.corners, cells.vertex_cells, cells.face_cells
    vertex_count = len(at_vertices.start) - 1
    marks, everywhere = new_marks(cells, sought, vertex_count), len(sought.avoided) == 0
    for r in range(done, len(ids)):
        f, before = ids[r], count
        own = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        seeker = own, r, f
        for n in range(find_near(cells, marks, at_faces, seeker, sought, 0)):
            j = marks.near[n]
            for k in range(cells.corner_count[j]):
                v = corners[j, k]
                if (everywhere and at_vertices.items[at_vertices.start[v]] != j) or v == own[0] or v == own[1]:
                    continue
                if (
                    v != own[2]
                    and not met_before(marks, v, r)
                    and all_near(cells, marks, (at_faces, at_vertices), seeker, v, sought)
                ):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
        clear_masks(cells, marks, at_faces, f, sought, r)
    return len(ids), count


@kernel
def _lost_of_lost(cells, ids, lost, done, keys, count):
    """Orphans of the features ids[done:] among those of removed cells that have a corner of their first cell, and none
    of their own vertices, as the searches in o_sets."""
    (at_one, at_other), at_vertices, features = lost.cells, lost.at_vertices, lost.features
    met = np.full(len(at_other.start) - 1, np.int32(-1))
    for r in range(done, len(ids)):
        a, before = ids[r], count
        first = at_one.items[at_one.start[a]]
        for k in range(cells.corner_count[first]):
            w = cells.corners[first, k]
            if w >= len(at_vertices.start) - 1:
                continue
            for s in range(at_vertices.start[w], at_vertices.start[w + 1]):
                j = at_vertices.items[s]
                if _have_common(lost.corners, j, lost.vertices, a):
                    continue
                for t in range(features.start[j], features.start[j + 1]):
                    b = features.items[t]
                    if b < 0 or met[b] == r:
                        continue
                    met[b] = r
                    if _all_adjacent(cells, at_one, a, at_other, b):
                        if count == len(keys):
                            return r, before
                        keys[count] = np.int64(a) << 32 | np.int64(b)
                        count += 1
    return len(ids), count


@helper
def _have_common(one, i, other, k):
    """Rows i of the one table and k of the other have a vertex in common."""
    in_line()
    for s in range(one.shape[1]):
        for t in range(other.shape[1]):
            if one[i, s] == other[k, t]:
                return True
    return False


@helper
def _all_adjacent(cells, rows, a, other_rows, b):
    """Every cell of feature a is adjacent to every cell of feature b."""
    in_line()
    for s in range(rows.start[a], rows.start[a + 1]):
        for t in range(other_rows.start[b], other_rows.start[b + 1]):
            if not cells_adjacent(cells.corners, cells.corner_count, rows.items[s], other_rows.items[t]):
                return False
    return True
