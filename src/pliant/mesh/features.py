"""Elements and the features they own: what the hierarchy is built over and what makes each feature pair come once.

An element is a face, a loose edge or a loose point. Static assignment (representative triangles; Algorithm 4 of paper
004): each vertex and each edge belongs to the first element that contains it, and a pair of features is looked at
where the pair of its owners is. That needs *every* pair of owners to be visited, adjacent ones too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._jit import helper, kernel
from pliant.mesh.triangles import TriMesh

VERTEX_FACE, EDGE_EDGE = 0, 1


class Elements(NamedTuple):
    corners: np.ndarray  # (k, 3) int32 vertices; an edge names its second twice, a point its vertex three times
    face: np.ndarray  # (k,) int32 face id, -1 for loose edges and points
    sides: np.ndarray  # (k, 3) int32 ids of its edges, -1 where there is none
    owned_vertices: np.ndarray  # (k, 3) int32, filled from the left, then -1
    owned_edges: np.ndarray  # (k, 3) int32, filled from the left, then -1


def elements_of(mesh: TriMesh) -> Elements:
    """Faces first, then the edges that no face has, then the points that nothing else names."""
    loose_edges = np.flatnonzero(mesh.edge_face_count == 0).astype(np.int32)
    named = np.zeros(mesh.vertex_limit, bool)
    named[mesh.faces.ravel()] = True
    named[mesh.loose_edges.ravel()] = True
    # A loose edge from a vertex to itself is no edge, but its vertex takes part, as a point.
    covered = np.zeros(mesh.vertex_limit, bool)
    covered[mesh.faces.ravel()] = True
    covered[mesh.edges[loose_edges].ravel()] = True
    named[mesh.loose_points] = True
    points = np.flatnonzero(named & ~covered).astype(np.int32)
    face_count, edge_count, point_count = len(mesh.faces), len(loose_edges), len(points)
    count = face_count + edge_count + point_count
    corners, sides = np.empty((count, 3), np.int32), np.full((count, 3), -1, np.int32)
    corners[:face_count], sides[:face_count] = mesh.faces, mesh.face_edges
    ends = mesh.edges[loose_edges]
    corners[face_count : face_count + edge_count] = ends[:, (0, 1, 1)]
    sides[face_count : face_count + edge_count, 0] = loose_edges
    corners[face_count + edge_count :] = points[:, None]
    face = np.full(count, -1, np.int32)
    face[:face_count] = np.arange(face_count)
    owned = _first_owners(corners, sides, mesh.vertex_limit, len(mesh.edges))
    return Elements(corners, face, sides, *owned)


@kernel
def _first_owners(corners, sides, vertex_count, edge_count):
    """Owned vertices and edges of every element: greedy, the first element takes a feature."""
    vertex_taken, edge_taken = np.zeros(vertex_count, np.bool_), np.zeros(edge_count, np.bool_)
    owned_vertices = np.full(corners.shape, np.int32(-1))
    owned_edges = np.full(corners.shape, np.int32(-1))
    for i in range(len(corners)):
        vertices = edges = 0
        for k in range(3):
            v, e = corners[i, k], sides[i, k]
            if not vertex_taken[v]:
                vertex_taken[v] = True
                owned_vertices[i, vertices] = v
                vertices += 1
            if e >= 0 and not edge_taken[e]:
                edge_taken[e] = True
                owned_edges[i, edges] = e
                edges += 1
    return owned_vertices, owned_edges


@helper
def quad(kind, table, a, b):
    """The four vertices of the pair (vertex a, face b) or (edge a, edge b); table: the mesh's faces or its edges."""
    if kind == VERTEX_FACE:
        return a, table[b, 0], table[b, 1], table[b, 2]
    return table[a, 0], table[a, 1], table[b, 0], table[b, 1]
