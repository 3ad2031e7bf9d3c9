"""Static assignment (representative triangles): a feature pair is looked at where its owners meet.

Every pair of overlapping elements is visited, adjacent ones too, so no orphans are left over: two features that collide
lie inside the bounds of their owners. (Errata 19: with adjacent pairs skipped, as for dynamic assignment, the orphan pairs of
dynamic assignment are not enough.)
"""

from __future__ import annotations

from pliant._jit import helper, kernel
from pliant.bounds.kdops import overlap
from pliant.hierarchy.traverse import ALL, SELF


@kernel
def expand_static(leaves, edges, bounds, labels, wanted, pairs, count, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of element pairs (places); returns counts of VF, EE, pairs compared.

    leaves: Elements in the order of places; bounds: of vertices, edges, and elements by place; labels: objects by place.
    """
    vertex_bounds, edge_bounds, place_bounds = bounds
    vf = ee = compared = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        if leaves.face[j] >= 0:
            vf, tested = _vertices_against_face(leaves, vertex_bounds, place_bounds, i, j, vertex_face, vf)
            compared += tested
        if leaves.face[i] >= 0:
            vf, tested = _vertices_against_face(leaves, vertex_bounds, place_bounds, j, i, vertex_face, vf)
            compared += tested
        for k in range(3):
            a = leaves.owned_edges[i, k]
            if a < 0:
                break
            if not overlap(edge_bounds, a, place_bounds, j):
                continue
            a0, a1 = edges[a, 0], edges[a, 1]
            for l in range(3):
                b = leaves.owned_edges[j, l]
                if b < 0:
                    break
                compared += 1
                if overlap(edge_bounds, a, edge_bounds, b):
                    b0, b1 = edges[b, 0], edges[b, 1]
                    if a0 != b0 and a0 != b1 and a1 != b0 and a1 != b1:
                        edge_edge[ee, 0], edge_edge[ee, 1] = min(a, b), max(a, b)
                        ee += 1
    return vf, ee, compared


@helper
def _vertices_against_face(leaves, vertex_bounds, place_bounds, i, j, out, count):
    """Owned vertices of element i against the face of element j."""
    tested = 0
    for k in range(3):
        v = leaves.owned_vertices[i, k]
        if v < 0:
            break
        tested += 1
        if (
            overlap(vertex_bounds, v, place_bounds, j)
            and v != leaves.corners[j, 0]
            and v != leaves.corners[j, 1]
            and v != leaves.corners[j, 2]
        ):
            out[count, 0], out[count, 1] = v, leaves.face[j]
            count += 1
    return count, tested
