"""Static assignment (representative triangles): a feature pair is looked at where its owners meet.

Every pair of overlapping elements is visited, adjacent ones too, so no orphans are left over: two features that collide
lie inside the bounds of their owners. (Errata 19: with adjacent pairs skipped, as for dynamic assignment, the orphan
pairs of dynamic assignment are not enough.)
"""

from __future__ import annotations

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.runtime.jit import helper, kernel


@kernel
def expand_static(leaves, owned, bounds, labels, wanted, pairs, count, vertex_face, edge_edge):
    """Feature pairs with overlapping bounds of element pairs (places); returns counts of VF, EE, pairs compared.

    leaves: Elements in the order of places; owned: their features; bounds: of owned vertices, of owned edges, and of
    elements; labels: objects by place.
    """
    place_bounds = bounds[2]
    vf = ee = compared = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        if wanted != ALL and (labels[i] == labels[j]) != (wanted == SELF):
            continue
        compared += _count(owned.vertex_start, i) + _count(owned.vertex_start, j)
        vf = _vertices_against_face(leaves, owned, bounds[0], place_bounds, i, j, vertex_face, vf)
        vf = _vertices_against_face(leaves, owned, bounds[0], place_bounds, j, i, vertex_face, vf)
        b_begin, b_end = owned.edge_start[j], owned.edge_start[j + 1]
        if b_begin == b_end:
            continue
        for a in range(owned.edge_start[i], owned.edge_start[i + 1]):
            box_a = box(bounds[1], a)
            if not overlap(box_a, bounds[1], a, place_bounds, j):
                continue
            a0, a1 = owned.ends[a, 0], owned.ends[a, 1]
            compared += b_end - b_begin
            for b in range(b_begin, b_end):
                b0, b1 = owned.ends[b, 0], owned.ends[b, 1]
                apart = a0 != b0 and a0 != b1 and a1 != b0 and a1 != b1
                if apart and overlap(box_a, bounds[1], a, bounds[1], b):
                    first, second = owned.edge[a], owned.edge[b]
                    edge_edge[ee, 0], edge_edge[ee, 1] = min(first, second), max(first, second)
                    ee += 1
    return vf, ee, compared


@helper
def _count(start, i):
    return start[i + 1] - start[i]


@helper
def _vertices_against_face(leaves, owned, vertex_bounds, place_bounds, i, j, out, count):
    """Owned vertices of element i against the face of element j."""
    for k in range(owned.vertex_start[i], owned.vertex_start[i + 1]):
        v = owned.vertex[k]
        if (
            overlap(box(vertex_bounds, k), vertex_bounds, k, place_bounds, j)
            and v != leaves.corners[j, 0]
            and v != leaves.corners[j, 1]
            and v != leaves.corners[j, 2]
            and leaves.face[j] >= 0
        ):
            out[count, 0], out[count, 1] = v, leaves.face[j]
            count += 1
    return count
