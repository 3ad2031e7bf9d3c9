"""Dynamic assignment (paper 004, Algorithm 5): a feature pair is examined by the first two separate cells with it.

Cells are those of a volume mesh, or the elements of a surface: a face is a cell with three corners. Separate means that
they share no vertex. Adjacent cells are skipped, and feature pairs that no two separate cells contain are the O-sets, a
list of their own (``mesh/o_sets.py``): all others come up once, where their first pair is visited.

That is safe together with culling (errata 22): at the time of contact the common point of two features lies inside
*every* cell that contains the one and *every* cell that contains the other. So no conservative test, of boxes or of
anything else, can discard the pair of cells that the feature pair was assigned to, whichever that is.
"""

from __future__ import annotations

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.mesh.cell_features import MOST_EDGE_EDGE, MOST_VERTEX_FACE, are_far, cells_adjacent
from pliant.runtime.jit import bare_kernel, helper, in_line


@bare_kernel
def keep_separate(leaves, labels, wanted, pairs, count):
    """Keep the pairs of elements that share no vertex, in place and in order, before tests that cost more.

    leaves: Elements in the order of places; labels: of their objects, by place; wanted: which of ``pairs=``; pairs: of
    places. Returns how many are kept.
    """
    corners, corner_count, kept = leaves.corners, leaves.corner_count, 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        if not cells_adjacent(corners, corner_count, i, j):
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@bare_kernel
def expand_dynamic(cells, bounds, pairs, count, first, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of pairs of separate cells (ids), without those of the O-sets, from the
    first one on, while there is space.

    bounds: of vertices, edges, faces and cells, by id. Returns counts of VF, EE, pairs compared, and where to go on.

    Most cells are far from each other: all owners of their features are separate, and owners come first, so what a cell
    does not own is not assigned to it; no two of their features share a vertex. They need no walk through lists.
    """
    neighbourhood = cells.neighbourhood
    vf = ee = compared = 0
    for p in range(first, count):
        if vf + MOST_VERTEX_FACE > len(vertex_face) or ee + MOST_EDGE_EDGE > len(edge_edge):
            return vf, ee, compared, p
        i, j = pairs[p, 0], pairs[p, 1]
        if are_far(neighbourhood, i, j):
            vf, c0 = _owned_vertices_and_faces(cells, bounds, i, j, vertex_face, vf)
            vf, c1 = _owned_vertices_and_faces(cells, bounds, j, i, vertex_face, vf)
            ee, c2 = _owned_edges(cells, bounds, i, j, edge_edge, ee)
        else:
            vf, c0 = _vertices_near_faces(cells, bounds, i, j, vertex_face, vf)
            vf, c1 = _vertices_near_faces(cells, bounds, j, i, vertex_face, vf)
            ee, c2 = _edges_near_edges(cells, bounds, i, j, edge_edge, ee)
        compared += c0 + c1 + c2
    return vf, ee, compared, count


@helper
def _owned_vertices_and_faces(cells, bounds, i, j, out, count):
    """Vertices that cell i owns against faces that cell j owns; returns how many there are now, how many compared."""
    in_line()
    vertices, faces = cells.owned_vertices, cells.owned_faces
    vertex_bounds, face_bounds, cell_bounds = bounds[0], bounds[2], bounds[3]
    begin, end, compared = faces.start[j], faces.start[j + 1], 0
    if begin == end:
        return count, compared
    for s in range(vertices.start[i], vertices.start[i + 1]):
        v = vertices.items[s]
        box_v = box(vertex_bounds, v)
        compared += 1
        # A cell of a surface has the bounds of its one face.
        if end - begin == 1 or overlap(box_v, vertex_bounds, v, cell_bounds, j):
            for t in range(begin, end):
                f = faces.items[t]
                compared += 1
                if overlap(box_v, vertex_bounds, v, face_bounds, f):
                    out[count, 0], out[count, 1] = v, f
                    count += 1
    return count, compared


@helper
def _owned_edges(cells, bounds, i, j, out, count):
    """Edges that cell i owns against those of cell j."""
    in_line()
    edges, edge_bounds, cell_bounds = cells.owned_edges, bounds[1], bounds[3]
    begin, end, compared = edges.start[j], edges.start[j + 1], 0
    if begin == end:
        return count, compared
    for s in range(edges.start[i], edges.start[i + 1]):
        a = edges.items[s]
        box_a = box(edge_bounds, a)
        compared += 1
        if overlap(box_a, edge_bounds, a, cell_bounds, j):
            for t in range(begin, end):
                b = edges.items[t]
                compared += 1
                if overlap(box_a, edge_bounds, a, edge_bounds, b):
                    out[count, 0], out[count, 1] = min(a, b), max(a, b)
                    count += 1
    return count, compared


@helper
def _vertices_near_faces(cells, bounds, i, j, out, count):
    """All vertices of cell i against all faces of cell j, where these are the first separate cells that have them."""
    in_line()
    corners, corner_count, faces = cells.corners, cells.corner_count, cells.faces
    vertex_bounds, face_bounds, cell_bounds = bounds[0], bounds[2], bounds[3]
    begin, end, compared = faces.start[j], faces.start[j + 1], 0
    for k in range(corner_count[i] if begin < end else 0):
        v = corners[i, k]
        box_v = box(vertex_bounds, v)
        compared += 1
        if end - begin == 1 or overlap(box_v, vertex_bounds, v, cell_bounds, j):
            for t in range(begin, end):
                f = faces.items[t]
                compared += 1
                if overlap(box_v, vertex_bounds, v, face_bounds, f) and _are_first(
                    corners, corner_count, cells.vertex_cells, v, cells.face_cells, f, i, j
                ):
                    out[count, 0], out[count, 1] = v, f
                    count += 1
    return count, compared


@helper
def _edges_near_edges(cells, bounds, i, j, out, count):
    """All edges of cell i against all of cell j, where these are the first separate cells that have them."""
    in_line()
    edges, edge_bounds, cell_bounds, compared = cells.edges, bounds[1], bounds[3], 0
    for s in range(edges.start[i], edges.start[i + 1]):
        a = edges.items[s]
        box_a = box(edge_bounds, a)
        compared += 1
        if overlap(box_a, edge_bounds, a, cell_bounds, j):
            for t in range(edges.start[j], edges.start[j + 1]):
                b = edges.items[t]
                compared += 1
                if overlap(box_a, edge_bounds, a, edge_bounds, b):
                    lower, upper, c, d = (a, b, i, j) if a < b else (b, a, j, i)
                    if _are_first(
                        cells.corners, cells.corner_count, cells.edge_cells, lower, cells.edge_cells, upper, c, d
                    ):
                        out[count, 0], out[count, 1] = lower, upper
                        count += 1
    return count, compared


@helper
def _are_first(corners, corner_count, cells_a, a, cells_b, b, i, j):
    """Cells i with feature a and j with b are the first separate ones that have them, those of a leading."""
    in_line()
    for s in range(cells_a.start[a], cells_a.start[a + 1]):
        for t in range(cells_b.start[b], cells_b.start[b + 1]):
            c, d = cells_a.items[s], cells_b.items[t]
            if c == i and d == j:
                return True
            if not cells_adjacent(corners, corner_count, c, d):
                return False
    return False


@bare_kernel
def expand_listed(bounds, listed_vertex_face, listed_edge_edge, vertex_face, edge_edge):
    """Listed pairs of features with overlapping bounds, (k, 2) of each kind, no more than the output holds; counts of
    VF, EE, and pairs compared."""
    vertex_bounds, edge_bounds, face_bounds = bounds[0], bounds[1], bounds[2]
    vf = ee = 0
    for p in range(len(listed_vertex_face)):
        v, f = listed_vertex_face[p, 0], listed_vertex_face[p, 1]
        if overlap(box(vertex_bounds, v), vertex_bounds, v, face_bounds, f):
            vertex_face[vf, 0], vertex_face[vf, 1] = v, f
            vf += 1
    for p in range(len(listed_edge_edge)):
        a, b = listed_edge_edge[p, 0], listed_edge_edge[p, 1]
        if overlap(box(edge_bounds, a), edge_bounds, a, edge_bounds, b):
            edge_edge[ee, 0], edge_edge[ee, 1] = a, b
            ee += 1
    return vf, ee, len(listed_vertex_face) + len(listed_edge_edge)
