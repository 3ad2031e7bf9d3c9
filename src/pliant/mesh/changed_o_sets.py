"""O-sets of a changed volume mesh from those before: pairs of touched features are found anew, the others renamed.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. A feature is
touched if one of its cells was removed or added. Where neither feature is touched, both have the cells that they had,
and the pair is an orphan exactly if it was one: only pairs with a touched feature can come or go.

Names ascend: untouched edges keep their lexicographic order, and an untouched face keeps its first cell and its place
in that. So what stays is still sorted, and the pairs found anew are merged into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._jit import kernel
from pliant.mesh.cells import CORNER_COUNT
from pliant.mesh.changed_features import Kind
from pliant.mesh.o_sets import all_near, cells_of, edges_of_edges, faces_of_vertices, find_near, find_orphans, new_marks
from pliant.mesh.orphans import MOST_ORPHANS, TooManyOrphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


def change_o_sets(
    old: VolumeMesh, new: VolumeMesh, vertices: Kind, faces: Kind, edges: Kind
) -> tuple[np.ndarray, np.ndarray]:
    """O-sets of the new mesh, which has all else already, from those of the old one."""
    around = _surroundings(vertices.touched, new.vertex_cells, new.types, new.corners)
    taking_part = np.diff(new.vertex_cells.start) > 0
    cells = cells_of(new, "face", around)
    found = np.concatenate(
        (
            find_orphans(
                faces_of_vertices, cells, _ids(vertices.touched & taking_part), vertices.touched, MOST_ORPHANS
            ),
            find_orphans(_vertices_of_faces, cells, _ids(faces.touched), vertices.touched, MOST_ORPHANS),
        )
    )
    vertex_name = _name_untouched(vertices.old_of_new, vertices.touched, old.vertex_limit)
    face_name = _name_untouched(faces.old_of_new, faces.touched, len(old.faces))
    vertex_face = _merge_pairs(old.o_sets[0], vertex_name, face_name, np.sort(found))
    cells = cells_of(new, "edge", around)
    found = find_orphans(edges_of_edges, cells, _ids(edges.touched), edges.touched, MOST_ORPHANS)
    edge_name = _name_untouched(edges.old_of_new, edges.touched, len(old.edges))
    edge_edge = _merge_pairs(old.o_sets[1], edge_name, edge_name, np.sort(found))
    if max(len(vertex_face), len(edge_edge)) > MOST_ORPHANS:
        raise TooManyOrphans(f"more than {MOST_ORPHANS} orphan pairs")
    return vertex_face, edge_edge


def _ids(mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(mask).astype(np.int32)


@kernel
def _surroundings(touched, vertex_cells, types, corners):
    """(c,) bool: all cells that are adjacent to a cell at a touched vertex, so all that near(a) of o_sets can have for
    a touched feature a."""
    start, items = vertex_cells.start, vertex_cells.items
    reached, around = np.zeros(len(touched), np.bool_), np.zeros(len(types), np.bool_)
    for v in range(len(touched)):
        if touched[v]:
            for s in range(start[v], start[v + 1]):
                for k in range(CORNER_COUNT[types[items[s]]]):
                    reached[corners[items[s], k]] = True
    for v in range(len(touched)):
        if reached[v]:
            for s in range(start[v], start[v + 1]):
                around[items[s]] = True
    return around


@kernel
def _name_untouched(old_of_new, touched, count):
    """(count,) int32: new ids of the untouched features, -1 for the others."""
    name = np.full(count, np.int32(-1))
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not touched[f]:
            name[old_of_new[f]] = f
    return name


@kernel
def _vertices_of_faces(cells, ids, marked, done, keys, count):
    """Orphans of the faces ids[done:] with vertices that are not marked, as the searches in o_sets."""
    vertex_start, vertex_items, corners = cells.vertex_start, cells.vertex_items, cells.corners
    marks = new_marks(cells)
    for r in range(done, len(ids)):
        f, before = ids[r], count
        own = cells.table[f, 0], cells.table[f, 1], cells.table[f, 2]
        for n in range(find_near(cells, marks, own, cells.start, cells.items, (f, r, 0))):
            j = marks.near[n]
            for k in range(CORNER_COUNT[cells.types[j]]):
                v = corners[j, k]
                if marked[v] or vertex_items[vertex_start[v]] != j or v == own[0] or v == own[1] or v == own[2]:
                    continue
                if all_near(marks.seen, vertex_items, vertex_start[v], vertex_start[v + 1], r):
                    if count == len(keys):
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
    return len(ids), count


@kernel
def _merge_pairs(pairs, first_name, second_name, keys):
    """(k, 2) int32, sorted: the pairs that have names, under these, and those of sorted keys."""
    out = np.empty((len(pairs) + len(keys), 2), np.int32)
    count = x = 0
    for p in range(len(pairs)):
        a, b = first_name[pairs[p, 0]], second_name[pairs[p, 1]]
        if a < 0 or b < 0:
            continue
        key = np.int64(a) << 32 | np.int64(b)
        while x < len(keys) and keys[x] < key:
            out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
            count, x = count + 1, x + 1
        out[count, 0], out[count, 1] = a, b
        count += 1
    while x < len(keys):
        out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
        count, x = count + 1, x + 1
    return out[:count]  # a few too many were allocated: less than one more copy
