"""Dynamic assignment (paper 004, Algorithm 5): a feature pair is looked at by the first two separate elements with it.

Separate means that they share no vertex. Adjacent elements are skipped, and feature pairs that no two separate elements
contain are orphans, a list of their own (mesh/orphans.py): all others come up once, where their first pair is visited.

That is safe together with culling (errata 22): at the time of contact the common point of two features lies inside
*every* element that contains the one and *every* element that contains the other. So no conservative test, of boxes or
of anything else, can discard the pair of elements that the feature pair was assigned to, whichever that is.
"""

from __future__ import annotations

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.mesh.orphans import are_adjacent, are_far, names_first
from pliant.runtime.jit import helper, kernel


@kernel
def expand_dynamic(leaves, owned, incidence, bounds, labels, wanted, pairs, count, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of element pairs (places), without orphans; returns as expand_static.

    incidence: incidence_of(mesh, leaves, owned); all else as for expand_static, but pairs are overwritten. Most
    elements are far from each other and need no walk through lists: they go through a loop like that of expand_static.
    """
    selection, out = (labels, wanted, pairs, count), (vertex_face, edge_edge)
    vf, ee, compared, near = _expand_far(leaves, owned, incidence, bounds, selection, out)
    return _expand_near(leaves, owned, incidence, bounds, pairs[:near], out, (vf, ee, compared))


@kernel
def drop_adjacent(corners, pairs, count):
    """Keep the pairs of separate elements, in place and in order, before tests that cost more; returns how many."""
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if not are_adjacent(corners, i, j):
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@kernel
def expand_orphans(incidence, bounds, orphan_vertex_face, orphan_edge_edge, vertex_face, edge_edge):
    """Orphans with overlapping bounds, (k, 2) of each kind, no more than the output holds; returns as above.

    The elements of an orphan are connected: where pairs of different objects are wanted, there are none.
    """
    vertex_bounds, edge_bounds, place_bounds = bounds
    vf = ee = 0
    for p in range(len(orphan_vertex_face)):
        v, f = orphan_vertex_face[p, 0], orphan_vertex_face[p, 1]
        k = incidence.vertex_rank[v]
        if overlap(box(vertex_bounds, k), vertex_bounds, k, place_bounds, incidence.face_place[f]):
            vertex_face[vf, 0], vertex_face[vf, 1] = v, f
            vf += 1
    for p in range(len(orphan_edge_edge)):
        a, b = orphan_edge_edge[p, 0], orphan_edge_edge[p, 1]
        k = incidence.edge_rank[a]
        if overlap(box(edge_bounds, k), edge_bounds, k, edge_bounds, incidence.edge_rank[b]):
            edge_edge[ee, 0], edge_edge[ee, 1] = a, b
            ee += 1
    return vf, ee, len(orphan_vertex_face) + len(orphan_edge_edge)


@helper
def _expand_far(leaves, owned, incidence, bounds, selection, out):
    """What elements own that are far from each other; moves pairs that are neither far nor adjacent to the front.

    All owners of the features of far elements are separate, and owners come first: what a far element does not own is
    not assigned to it. No two of their features share a vertex.
    """
    # Arrays are taken out of their tuples once: numba counts a reference each time.
    vertex_bounds, edge_bounds, place_bounds = bounds
    labels, wanted, pairs, count = selection
    vertex_face, edge_edge = out
    reach, corners, face = incidence.reach, incidence.corners, leaves.face
    vertex_start, vertex, edge_start, edge = owned.vertex_start, owned.vertex, owned.edge_start, owned.edge
    vf = ee = compared = near = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        if not are_far(reach, i, j):
            if not are_adjacent(corners, i, j):
                pairs[near, 0], pairs[near, 1] = i, j
                near += 1
            continue
        for _ in range(2):
            if face[j] >= 0:
                compared += vertex_start[i + 1] - vertex_start[i]
                for v in range(vertex_start[i], vertex_start[i + 1]):
                    if overlap(box(vertex_bounds, v), vertex_bounds, v, place_bounds, j):
                        vertex_face[vf, 0], vertex_face[vf, 1] = vertex[v], face[j]
                        vf += 1
            i, j = j, i
        b_begin, b_end = edge_start[j], edge_start[j + 1]
        if b_begin == b_end:
            continue
        for a in range(edge_start[i], edge_start[i + 1]):
            box_a = box(edge_bounds, a)
            if overlap(box_a, edge_bounds, a, place_bounds, j):
                compared += b_end - b_begin
                for b in range(b_begin, b_end):
                    if overlap(box_a, edge_bounds, a, edge_bounds, b):
                        edge_edge[ee, 0], edge_edge[ee, 1] = min(edge[a], edge[b]), max(edge[a], edge[b])
                        ee += 1
    return vf, ee, compared, near


@helper
def _expand_near(leaves, owned, incidence, bounds, pairs, out, counts):
    """All features of elements that are separate but not far, where these are the first separate ones with them."""
    vertex_bounds, edge_bounds, place_bounds = bounds
    face, vertex, edge = leaves.face, owned.vertex, owned.edge
    corners, sides = incidence.corners, incidence.sides
    vertex_start, vertex_places = incidence.vertex_start, incidence.vertex_places
    edge_start, edge_places = incidence.edge_start, incidence.edge_places
    vertex_face, edge_edge = out
    vf, ee, compared = counts
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        for _ in range(2):
            for k in range(3 if face[j] >= 0 else 0):
                if names_first(corners, i, k):
                    v = corners[i, k]
                    compared += 1
                    if _is_first(corners, vertex_start, vertex_places, v, i, j) and overlap(
                        box(vertex_bounds, v), vertex_bounds, v, place_bounds, j
                    ):
                        vertex_face[vf, 0], vertex_face[vf, 1] = vertex[v], face[j]
                        vf += 1
            i, j = j, i
        for k in range(3):
            if not names_first(sides, i, k):
                continue
            a = sides[i, k]
            box_a = box(edge_bounds, a)
            if overlap(box_a, edge_bounds, a, place_bounds, j):
                for m in range(3):
                    if names_first(sides, j, m):
                        b = sides[j, m]
                        compared += 1
                        if _are_first(corners, edge_start, edge_places, a, b, i, j) and overlap(
                            box_a, edge_bounds, a, edge_bounds, b
                        ):
                            edge_edge[ee, 0], edge_edge[ee, 1] = min(edge[a], edge[b]), max(edge[a], edge[b])
                            ee += 1
    return vf, ee, compared


@helper
def _is_first(corners, start, places, v, i, j):
    """Element i is the first with vertex v that is separate from the face j; i and j are separate."""
    for s in range(start[v], start[v + 1]):
        k = places[s]
        if k == i:
            return True
        if not are_adjacent(corners, k, j):
            return False
    return False


@helper
def _are_first(corners, start, places, a, b, i, j):
    """Elements i with edge a and j with b are the first separate ones, those of the smaller rank leading."""
    if a > b:
        a, b, i, j = b, a, j, i
    for s in range(start[a], start[a + 1]):
        for t in range(start[b], start[b + 1]):
            if places[s] == i and places[t] == j:
                return True
            if not are_adjacent(corners, places[s], places[t]):
                return False
    return False
