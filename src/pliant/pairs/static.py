"""Static assignment (representative triangles; paper 004, Algorithm 4): feature pairs are examined where owners meet.

Every pair of overlapping elements is visited, adjacent ones too, and where elements have several faces each of them
with itself: so no orphans are left over, two features that collide lie inside the bounds of their owners. (Errata 19:
with adjacent pairs skipped, as for dynamic assignment, the orphan pairs of dynamic assignment are not enough: these are
only the pairs of which *all* elements are adjacent.)
"""

from __future__ import annotations

import numpy as np

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.mesh.cell_features import MOST_EDGE_EDGE, MOST_EDGES, MOST_VERTEX_FACE
from pliant.runtime.jit import bare_kernel, helper, in_line


@bare_kernel
def expand_static(owned, bounds, selection, first, boxes, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of element pairs (places), from the first one on, while there is space.

    owned: features of the elements, by place; bounds: of vertices by id, owned edges or none, owned faces, and elements
    by place; selection: labels by place, which of ``pairs=`` are wanted, pairs of elements, and how many; boxes: buffer
    for the bounds of the edges of one element and of one more edge. An element may be paired with itself. Returns
    counts of VF, EE, pairs compared, and where to go on.

    Where there are no bounds of edges they are united here from those of their ends: few elements of a surface come so
    far, and a table of all its edges was a sixth of the memory of a query.
    """
    vertex_bounds, place_bounds, is_given = bounds.vertices, bounds.elements, len(bounds.edges) > 0
    edge_bounds = bounds.edges if is_given else boxes
    labels, wanted, pairs, count = selection
    vf = ee = compared = 0
    for p in range(first, count):
        if vf + MOST_VERTEX_FACE > len(vertex_face) or ee + MOST_EDGE_EDGE > len(edge_edge):
            return vf, ee, compared, p
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        for _ in range(1 if i == j else 2):
            vf, more = _vertices_against_faces(owned, bounds, i, j, vertex_face, vf)
            compared += more
            i, j = j, i
        b_begin, b_end, united = owned.edge_start[j], owned.edge_start[j + 1], is_given
        if b_begin == b_end:
            continue
        for a in range(owned.edge_start[i], owned.edge_start[i + 1]):
            a0, a1 = np.uint32(owned.ends[a, 0]), np.uint32(owned.ends[a, 1])  # unsigned: without a look at the sign
            if not is_given:
                _unite(vertex_bounds, a0, a1, boxes, MOST_EDGES)
            row = a if is_given else MOST_EDGES
            box_a = box(edge_bounds, row)
            if not overlap(box_a, edge_bounds, row, place_bounds, j):
                continue
            for b in range(b_begin, b_begin if united else b_end):
                b0, b1 = np.uint32(owned.ends[b, 0]), np.uint32(owned.ends[b, 1])
                _unite(vertex_bounds, b0, b1, boxes, b - b_begin)
            united = True
            compared += b_end - b_begin
            for b in range(a + 1 if i == j else b_begin, b_end):
                b0, b1 = np.uint32(owned.ends[b, 0]), np.uint32(owned.ends[b, 1])
                apart = a0 != b0 and a0 != b1 and a1 != b0 and a1 != b1
                if apart and overlap(box_a, edge_bounds, row, edge_bounds, b if is_given else b - b_begin):
                    one, other = owned.edge[a], owned.edge[b]
                    edge_edge[ee, 0], edge_edge[ee, 1] = min(one, other), max(one, other)
                    ee += 1
    return vf, ee, compared, count


@helper
def _unite(bounds, v, w, out, row):
    """Bounds of both v and w, into a row."""
    in_line()
    for c in range(0, bounds.shape[1], 2):
        out[row, c] = min(bounds[v, c], bounds[w, c])
        out[row, c + 1] = max(bounds[v, c + 1], bounds[w, c + 1])


@helper
def _vertices_against_faces(owned, bounds, i, j, out, count):
    """Vertices of element i against faces of element j; returns how many pairs there are now, and how many compared."""
    in_line()
    vertex_bounds, face_bounds, place_bounds = bounds.vertices, bounds.faces, bounds.elements
    begin, end, compared = owned.face_start[j], owned.face_start[j + 1], 0
    if begin == end:
        return count, compared
    for k in range(owned.vertex_start[i], owned.vertex_start[i + 1]):
        v = np.uint32(owned.vertex[k])
        box_v = box(vertex_bounds, v)
        compared += end - begin
        # Of an element with one face, its bounds are those of the face.
        if end - begin > 1 and not overlap(box_v, vertex_bounds, v, place_bounds, j):
            continue
        for f in range(begin, end):
            if (
                overlap(box_v, vertex_bounds, v, face_bounds, f)
                and v != np.uint32(owned.triangles[f, 0])
                and v != np.uint32(owned.triangles[f, 1])
                and v != np.uint32(owned.triangles[f, 2])
            ):
                out[count, 0], out[count, 1] = v, owned.face[f]
                count += 1
    return count, compared
