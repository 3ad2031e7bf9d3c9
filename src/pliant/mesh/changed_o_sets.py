"""O-sets of a changed volume mesh from those before: most pairs keep what they were, and few can have become orphans.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. For a pair of
features that both meshes have:

- An orphan stays one exactly if the added cells of either feature are adjacent to all cells of the other.
- A pair a, b becomes one only if of any two separate cells i of a and j of b at least one was removed. Say i: if some
  cell of b is now near to a and has no vertex of i, then the pair is found from a and i, in the few near cells
  that avoid the vertices of i. If j stays, it is such a cell. If j was removed, too, then b and j may find it likewise,
  or else every cell of a has a vertex of j, which has none of a: j is one of the removed cells at a corner of the first
  cell of a. A feature that lost several cells avoids what they had in common, once, instead of each by itself.

Pairs of a new feature are found from it, in all near cells.

Names ascend: edges keep their lexicographic order, and a face that is not touched keeps its first cell and its place in
that. So what stays is still sorted, but for pairs of touched faces, and what is found is merged into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import helper, in_line, kernel
from pliant.mesh.cell_features import Cells, cells_adjacent
from pliant.mesh.cells import CORNER_COUNT, EDGE_COUNT, FACE_COUNT, MOST_CORNERS, Rows, list_corners, transpose
from pliant.mesh.changed_features import GAINED, LOST, UNTOUCHED, Change, Kind
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
from pliant.mesh.orphans import MOST_ORPHANS, TooManyOrphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


class Kept(NamedTuple):
    """Features of one kind that both meshes have."""

    name: np.ndarray  # (m,) int32, new ids of the old ones, -1 where there is none
    state: np.ndarray  # of the new ones
    cells: Rows  # of the new ones
    vertices: np.ndarray  # (m', n) int32, of the new ones


class Gone(NamedTuple):
    """Removed cells, and which of their features are still there: new ids, -1 for the others."""

    corners: np.ndarray  # (k, 8) int32
    at_vertices: Rows  # which of them were at each vertex
    vertices: Rows
    edges: Rows
    faces: Rows


class Lost(NamedTuple):
    """Of pairs of features that both lost cells."""

    gone: Gone
    one: Kept
    other: Kept
    others: Rows  # features of the other kind of the removed cells


def change_o_sets(
    old: VolumeMesh, new: VolumeMesh, kinds: tuple[Kind, Kind, Kind], change: Change
) -> tuple[np.ndarray, np.ndarray]:
    """O-sets of the new mesh, which has all else already; kinds : its vertices, edges and faces."""
    table, is_added = new.cell_table, change.old_of_new < 0
    counts = old.vertex_limit, len(old.edges), len(old.faces)
    cells = table.vertex_cells, table.edge_cells, table.face_cells
    own = np.arange(new.vertex_limit, dtype=np.int32)[:, None], table.ends, table.triangles
    kept = [Kept(_names(kind, n, 0), kind.state, *rows) for kind, n, *rows in zip(kinds, counts, cells, own)]
    gone = _list_gone(old, change.removed, [kind.name for kind in kept])
    vertices, edges, faces = kept
    settled = faces._replace(name=_names(kinds[2], len(old.faces), LOST | GAINED))
    keys = *_find_vertex_face(table, kinds, gone, Lost(gone, vertices, faces, gone.faces)), _keys_of_touched(old.o_sets[0], vertices, faces, table.corners, is_added)
    vertex_face = _merge_pairs(old.o_sets[0], vertices, settled, np.sort(np.concatenate(keys)), table.corners, is_added)
    keys = _find_edge_edge(table, kinds[1], gone, Lost(gone, edges, edges, gone.edges))
    edge_edge = _merge_pairs(old.o_sets[1], edges, edges, np.sort(np.concatenate(keys)), table.corners, is_added)
    if max(len(vertex_face), len(edge_edge)) > MOST_ORPHANS:
        raise TooManyOrphans(f"more than {MOST_ORPHANS} orphan pairs")
    return vertex_face, edge_edge


def _list_gone(old: VolumeMesh, removed: np.ndarray, names: list[np.ndarray]) -> Gone:
    """names : new ids of old vertices, edges, faces."""
    corners, types = old.corners[removed], old.types[removed]
    start, vertices = list_corners(corners, CORNER_COUNT[types])
    rows = [Rows(start, names[0][vertices])]
    for lists, count, name in ((old.cell_edges, EDGE_COUNT, names[1]), (old.cell_faces, FACE_COUNT, names[2])):
        rows.append(Rows(starts_of(types, count), name[pick_lists(*lists, removed)]))
    return Gone(corners, Rows(*transpose(start, vertices, old.vertex_limit)), *rows)


def _find_vertex_face(cells: Cells, kinds: tuple[Kind, Kind, Kind], gone: Gone, lost: Lost) -> tuple[np.ndarray, ...]:
    """Keys of the pairs that may have become orphans, and are some."""
    vertices, faces, part_of = kinds[0], kinds[2], np.diff(cells.vertex_cells.start) > 0
    lost_vertices, beside_vertices = _list_losses(gone.vertices, gone.corners, len(vertices.state))
    lost_faces, beside_faces = _list_losses(gone.faces, gone.corners, len(faces.state))
    owned, every = cells.owned_faces, cells.faces
    return (
        find_orphans(faces_of_vertices, cells, _new(vertices, part_of), Sought(owned, NONE, False), MOST_ORPHANS),
        find_orphans(faces_of_vertices, cells, lost_vertices, Sought(every, beside_vertices, False), MOST_ORPHANS),
        find_orphans(_vertices_of_faces, cells, _new(faces, True), Sought(every, NONE, False), MOST_ORPHANS),
        find_orphans(_vertices_of_faces, cells, lost_faces, Sought(every, beside_faces, False), MOST_ORPHANS),
        find_orphans(_lost_of_lost, cells, lost_vertices, lost, MOST_ORPHANS),
    )


def _find_edge_edge(cells: Cells, edges: Kind, gone: Gone, lost: Lost) -> tuple[np.ndarray, ...]:
    """As above."""
    lost_edges, beside = _list_losses(gone.edges, gone.corners, len(edges.state))
    both = find_orphans(_lost_of_lost, cells, lost_edges, lost, MOST_ORPHANS)
    return (
        find_orphans(edges_of_edges, cells, _new(edges, True), Sought(cells.owned_edges, NONE, False), MOST_ORPHANS),
        find_orphans(edges_of_edges, cells, lost_edges, Sought(cells.edges, beside, False), MOST_ORPHANS),
        both[both >> 32 < both & 0xFFFFFFFF],  # from either of the two
    )


def _new(kind: Kind, part_of: np.ndarray | bool) -> np.ndarray:
    return np.flatnonzero((kind.old_of_new < 0) & part_of).astype(np.int32)


def _names(kind: Kind, count: int, but: int) -> np.ndarray:
    return _new_of_old(kind.old_of_new, kind.state, count, but)


@kernel
def _new_of_old(old_of_new, state, count, but):
    """(count,) int32: new ids of the old features, -1 for those that are gone or have one of the states but."""
    name = np.full(count, np.int32(-1))
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not state[f] & but:
            name[old_of_new[f]] = f
    return name


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
                if v != own[2] and not met_before(marks, v, r) and all_near(cells, marks, (at_faces, at_vertices), seeker, v, sought):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
        clear_masks(cells, marks, at_faces, f, sought, r)
    return len(ids), count


@kernel
def _lost_of_lost(cells, ids, lost, done, keys, count):
    """Orphans of the features ids[done:] among those of removed cells j that have a corner of their first cell, and none
    of their own vertices, as the searches in o_sets."""
    at_vertices, others, at = lost.gone.at_vertices, lost.others, lost.one.cells
    for r in range(done, len(ids)):
        a, before = ids[r], count
        first = at.items[at.start[a]]
        for k in range(cells.corner_count[first]):
            w = cells.corners[first, k]
            if w >= len(at_vertices.start) - 1:
                continue
            for s in range(at_vertices.start[w], at_vertices.start[w + 1]):
                j = at_vertices.items[s]
                if _have_common(lost.gone.corners, j, lost.one.vertices, a):
                    continue
                for t in range(others.start[j], others.start[j + 1]):
                    b = others.items[t]
                    if b < 0 or not _all_adjacent(cells, at, a, lost.other.cells, b):
                        continue
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


@kernel
def _keys_of_touched(pairs, vertices, faces, corners, is_added):
    """The pairs that stay orphans, and whose face is touched."""
    keys, count = np.empty(len(pairs), np.int64), 0
    for p in range(len(pairs)):
        v, f = vertices.name[pairs[p, 0]], faces.name[pairs[p, 1]]
        if v < 0 or f < 0 or faces.state[f] == UNTOUCHED:
            continue
        if not (vertices.state[v] | faces.state[f]) & GAINED or _stay(corners, is_added, vertices, v, faces, f):
            keys[count] = np.int64(v) << 32 | np.int64(f)
            count += 1
    return keys[:count].copy()


@kernel
def _merge_pairs(pairs, one, other, keys, corners, is_added):
    """(k, 2) int32, sorted, each once: the pairs that have names and stay orphans, under these, and those of sorted keys.
    """
    out = np.empty((len(pairs) + len(keys), 2), np.int32)
    count = x = 0
    for p in range(len(pairs)):
        a, b = one.name[pairs[p, 0]], other.name[pairs[p, 1]]
        if a < 0 or b < 0:
            continue
        if (one.state[a] | other.state[b]) & GAINED and not _stay(corners, is_added, one, a, other, b):
            continue
        key = np.int64(a) << 32 | np.int64(b)
        while x < len(keys) and keys[x] <= key:
            if keys[x] < key and (x == 0 or keys[x] != keys[x - 1]):
                out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
                count += 1
            x += 1
        out[count, 0], out[count, 1] = a, b
        count += 1
    while x < len(keys):
        if x == 0 or keys[x] != keys[x - 1]:
            out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
            count += 1
        x += 1
    return out[:count]  # a few too many were allocated: less than one more copy


@helper
def _stay(corners, is_added, one, a, other, b):
    """Orphans a, b stay so: added cells of either feature are adjacent to all cells of the other."""
    in_line()
    return _gains_are_near(corners, is_added, one, a, other, b) and _gains_are_near(corners, is_added, other, b, one, a)


@helper
def _gains_are_near(corners, is_added, one, a, other, b):
    """Added cells of feature a are adjacent to all cells of b, which they are if they have a vertex of it."""
    in_line()
    for s in range(one.cells.start[a], one.cells.start[a + 1]):
        i = one.cells.items[s]
        if not is_added[i] or _have_common(corners, i, other.vertices, b):
            continue
        for t in range(other.cells.start[b], other.cells.start[b + 1]):
            if not _have_common(corners, i, corners, other.cells.items[t]):
                return False
    return True
