"""Pairs of features of a changed volume mesh that may have become orphans, and are some.

Those of a new feature are found from it, in all near cells; those of features that lost cells in ``changed_losses.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._jit import bare_kernel, prefetch
from pliant._threads import Crew
from pliant.mesh.cell_features import Cells
from pliant.mesh.cells import CORNER_COUNT, EDGE_COUNT, FACE_COUNT, Rows, list_corners, transpose
from pliant.mesh.changed_features import Kind
from pliant.mesh.changed_lists import pick_lists, starts_of
from pliant.mesh.changed_losses import Gone, find_from_losses
from pliant.mesh.o_sets import (
    Sought,
    all_near,
    clear_masks,
    edges_of_edges,
    faces_of_vertices,
    find_near,
    find_orphans,
    new_marks,
)

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


def list_gone(old: VolumeMesh, removed: np.ndarray, names: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Gone:
    """names : twice the new ids of old vertices, edges and faces, or one more; or -1."""
    corners, types = old.corners[removed], old.types[removed]
    start, vertices = list_corners(corners, CORNER_COUNT[types])
    edges = Rows(starts_of(types, EDGE_COUNT), names[1][pick_lists(*old.cell_edges, removed)] >> 1)
    faces = Rows(starts_of(types, FACE_COUNT), names[2][pick_lists(*old.cell_faces, removed)] >> 1)
    at_vertices = Rows(*transpose(start, vertices, old.vertex_limit))
    return Gone(corners, at_vertices, Rows(start, names[0][vertices] >> 1), edges, faces)


def find_changed(
    cells: Cells, gone: Gone, kinds: tuple[Kind, Kind, Kind], added: np.ndarray, most: int, crew: Crew
) -> tuple[np.ndarray, np.ndarray]:
    """Keys (vertex, face) and (edge, edge), some repeatedly; kinds : vertices, edges and faces; added : cells.

    Raises TooManyOrphans where one search finds more than ``most``.
    """
    vertices, edges, faces = (np.unique(kind.of_added[kind.old_of_new[kind.of_added] < 0]) for kind in kinds)
    to_faces, to_edges = Sought(cells.owned_faces, False), Sought(cells.owned_edges, False)
    first, second = find_from_losses(cells, gone, most, crew)
    _prefetch_surroundings(cells, added)
    of_edges, of_vertices, of_faces = crew.gather(
        [
            lambda: find_orphans(edges_of_edges, cells, edges, to_edges, most),
            lambda: find_orphans(faces_of_vertices, cells, vertices, to_faces, most),
            lambda: find_orphans(_vertices_of_faces, cells, faces, new_marks(cells), most),
        ]
    )
    return np.concatenate((first, of_vertices, of_faces)), np.concatenate((second, of_edges))


@bare_kernel
def _prefetch_surroundings(cells, ids):
    """Of the cells ids: what the searches look at next, none of which would else be in the cache."""
    corners, start, items = cells.corners, cells.vertex_cells.start, cells.vertex_cells.items
    for i in ids:
        for k in range(cells.corner_count[i]):
            prefetch(items, start[corners[i, k]])
    for i in ids:
        for k in range(cells.corner_count[i]):
            for t in range(start[corners[i, k]], start[corners[i, k] + 1]):
                prefetch(corners, items[t])


@bare_kernel
def _vertices_of_faces(cells, ids, marks, done, keys, count):
    """Orphans of the faces ids[done:], as the searches in o_sets."""
    triangles, corners, at_vertices, at_faces = cells.triangles, cells.corners, cells.vertex_cells, cells.face_cells
    for r in range(done, len(ids)):
        f, before = ids[r], count
        own = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        for n in range(find_near(cells, marks, at_faces, (own, r, f), 0)):
            j = marks.near[n]
            for k in range(cells.corner_count[j]):
                v = corners[j, k]
                if v == own[0] or v == own[1] or v == own[2] or at_vertices.items[at_vertices.start[v]] != j:
                    continue
                if all_near(marks, at_vertices, r, v):
                    if count == len(keys):
                        clear_masks(cells, marks.mask, at_faces, f)
                        for i in range(len(marks.seen)):  # the next call starts with this face
                            marks.seen[i] = -1
                        return r, before
                    keys[count] = np.int64(v) << 32 | np.int64(f)
                    count += 1
        clear_masks(cells, marks.mask, at_faces, f)
    return len(ids), count
