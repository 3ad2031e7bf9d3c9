"""Dynamic assignment (paper 004, Algorithm 5): a feature pair is looked at by the first two separate elements that have it.

Separate means that they share no vertex. Adjacent elements are skipped, and feature pairs that no two separate elements
contain are orphans, a list of their own (mesh/orphans.py): all others come up once, where their first pair is visited.

That is safe together with culling (errata 22): at the time of contact the common point of two features lies inside
*every* element that contains the one and *every* element that contains the other. So no conservative test, of boxes or
of anything else, can discard the pair of elements that the feature pair was assigned to, whichever that is. It would not
be safe with a test that discards elements for another reason than being apart, nor with elements left out of the tree.
"""

from __future__ import annotations

from pliant._jit import helper, kernel
from pliant.bounds.kdops import overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.mesh.orphans import are_adjacent, are_far, names_first


@kernel
def expand_dynamic(leaves, incidence, bounds, labels, wanted, pairs, count, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of element pairs (places), without orphans; returns as expand_static.

    leaves, bounds, labels: by place, as for expand_static; incidence: incidence_of(mesh, leaves), so by place as well.
    """
    vf = ee = compared = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        if are_far(incidence.reach, i, j):
            # The owners of the features are separate, and they are the first pair of all: only what is owned counts.
            vf, ee, tested = _expand_far(leaves, bounds, i, j, vertex_face, edge_edge, vf, ee)
        elif are_adjacent(leaves.corners, i, j):
            tested = 0
        else:
            vf, ee, tested = _expand_near(leaves, incidence, bounds, i, j, vertex_face, edge_edge, vf, ee)
        compared += tested
    return vf, ee, compared


@kernel
def expand_orphans(incidence, bounds, orphans, vertex_face, edge_edge):
    """Orphans (vertex-face and edge-edge pairs, at most as many as fit) with overlapping bounds; returns as above."""
    vertex_bounds, edge_bounds, place_bounds = bounds
    vf = ee = 0
    for p in range(len(orphans[0])):
        v, f = orphans[0][p, 0], orphans[0][p, 1]
        if overlap(vertex_bounds, v, place_bounds, incidence.face_element[f]):
            vertex_face[vf, 0], vertex_face[vf, 1] = v, f
            vf += 1
    for p in range(len(orphans[1])):
        a, b = orphans[1][p, 0], orphans[1][p, 1]
        if overlap(edge_bounds, a, edge_bounds, b):
            edge_edge[ee, 0], edge_edge[ee, 1] = a, b
            ee += 1
    return vf, ee, len(orphans[0]) + len(orphans[1])


@helper
def _expand_far(leaves, bounds, i, j, vertex_face, edge_edge, vf, ee):
    """Owned features of two elements that are far from each other, so that none of them share a vertex."""
    _, edge_bounds, place_bounds = bounds
    vf, tested = _owned_vertices_in_face(leaves, bounds, i, j, vertex_face, vf)
    vf, more = _owned_vertices_in_face(leaves, bounds, j, i, vertex_face, vf)
    tested += more
    for k in range(3):
        a = leaves.owned_edges[i, k]
        if a < 0:
            break
        if not overlap(edge_bounds, a, place_bounds, j):
            continue
        for l in range(3):
            b = leaves.owned_edges[j, l]
            if b < 0:
                break
            tested += 1
            if overlap(edge_bounds, a, edge_bounds, b):
                edge_edge[ee, 0], edge_edge[ee, 1] = min(a, b), max(a, b)
                ee += 1
    return vf, ee, tested


@helper
def _owned_vertices_in_face(leaves, bounds, i, j, out, count):
    vertex_bounds, _, place_bounds = bounds
    tested = 0
    if leaves.face[j] >= 0:
        for k in range(3):
            v = leaves.owned_vertices[i, k]
            if v < 0:
                break
            tested += 1
            if overlap(vertex_bounds, v, place_bounds, j):
                out[count, 0], out[count, 1] = v, leaves.face[j]
                count += 1
    return count, tested


@helper
def _expand_near(leaves, incidence, bounds, i, j, vertex_face, edge_edge, vf, ee):
    """All features of two separate elements, where these are the first separate ones that contain them."""
    _, edge_bounds, place_bounds = bounds
    vf, tested = _first_vertices_in_face(leaves, incidence, bounds, i, j, vertex_face, vf)
    vf, more = _first_vertices_in_face(leaves, incidence, bounds, j, i, vertex_face, vf)
    tested += more
    for k in range(3):
        a = leaves.sides[i, k]
        if not names_first(leaves.sides, i, k) or not overlap(edge_bounds, a, place_bounds, j):
            continue
        for l in range(3):
            if names_first(leaves.sides, j, l):
                b = leaves.sides[j, l]
                tested += 1
                if overlap(edge_bounds, a, edge_bounds, b) and _are_first(leaves.corners, incidence, a, b, i, j):
                    edge_edge[ee, 0], edge_edge[ee, 1] = min(a, b), max(a, b)
                    ee += 1
    return vf, ee, tested


@helper
def _first_vertices_in_face(leaves, incidence, bounds, i, j, out, count):
    vertex_bounds, _, place_bounds = bounds
    tested = 0
    if leaves.face[j] >= 0:
        for k in range(3):
            if names_first(leaves.corners, i, k):
                v = leaves.corners[i, k]
                tested += 1
                if overlap(vertex_bounds, v, place_bounds, j) and _is_first(leaves.corners, incidence, v, i, j):
                    out[count, 0], out[count, 1] = v, leaves.face[j]
                    count += 1
    return count, tested


@helper
def _is_first(corners, incidence, v, i, j):
    """Element i is the first with vertex v that is separate from the face j; i and j are separate."""
    for s in range(incidence.vertex_start[v], incidence.vertex_start[v + 1]):
        k = incidence.vertex_elements[s]
        if k == i:
            return True
        if not are_adjacent(corners, k, j):
            return False
    return False


@helper
def _are_first(corners, incidence, a, b, i, j):
    """Elements i of edge a and j of edge b, which are separate, are the first separate ones; the smaller edge leads."""
    if a > b:
        a, b, i, j = b, a, j, i
    start, listed = incidence.edge_start, incidence.edge_elements
    for s in range(start[a], start[a + 1]):
        k = listed[s]
        for t in range(start[b], start[b + 1]):
            l = listed[t]
            if k == i and l == j:
                return True
            if not are_adjacent(corners, k, l):
                return False
    return False
