"""Of pairs that are near, those that are nearest among their neighbours."""

from __future__ import annotations

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.results.proximity import Proximity
from pliant.runtime.jit import bare_kernel, helper

ON_BOUNDARY = 1e-9  # weights of corners that a closest point does not depend on


def are_closest(near: Proximity, is_loose: np.ndarray) -> np.ndarray:
    """(k,) bool: which pairs touch at points where the distance of the two surfaces is smallest, seen from there.

    Where the closest point of a face is on its boundary, a neighbour of it is as near or nearer, and edges whose
    closest point is an end are no nearer than that end is to a face. Such pairs push sideways: cloth that slides over
    the side between two triangles of a table was held up by it, and lost a fifth of its speed.

    is_loose : (n,) bool, vertices of edges without faces
    """
    out = np.empty(len(near), np.bool_)
    _closest(near.kind, near.vertices, near.weights, near.distance, is_loose, out)
    return out


@bare_kernel
def drop_driven(vertices, is_free, kept):
    """Of the rows of vertices, (k, 4), that are kept, (k,) bool, those that have a free one stay so."""
    for k in range(len(vertices)):
        v = vertices[k]
        kept[k] = kept[k] and (is_free[v[0]] or is_free[v[1]] or is_free[v[2]] or is_free[v[3]])


def loose_vertices(mesh: TriMesh, count: int) -> np.ndarray:
    """(count,) bool, vertices of edges and points without faces."""
    loose = np.zeros(count, bool)
    loose[mesh.loose_edges.reshape(-1)] = True
    loose[mesh.loose_points] = True
    return loose


@bare_kernel
def _closest(kind, vertices, weights, distance, is_loose, out):
    """Pairs are sorted by kind (vertices and faces first), then by the vertex."""
    first = 0
    for k in range(len(kind)):
        if kind[k] == 1:
            inside = True
            for i in range(4):
                inside = inside and abs(weights[k, i]) > ON_BOUNDARY
            loose = is_loose[vertices[k, 0]] or is_loose[vertices[k, 2]]
            out[k] = inside or loose
            continue
        if vertices[k, 0] != vertices[first, 0]:
            first = k
        out[k] = True
        for other in range(first, len(kind)):
            if kind[other] == 1 or vertices[other, 0] != vertices[k, 0]:
                break
            nearer = distance[other] < distance[k] or (distance[other] == distance[k] and other < k)
            if nearer and _contains(vertices, weights, other, k):
                out[k] = False
                break


@helper
def _contains(vertices, weights, other, k):
    """Whether the other face has all corners that the closest point of this one is between, and not all three."""
    count = 0
    for i in range(1, 4):
        if abs(weights[k, i]) > ON_BOUNDARY:
            count += 1
            v = vertices[k, i]
            if v != vertices[other, 1] and v != vertices[other, 2] and v != vertices[other, 3]:
                return False
    return count < 3
