"""Elements and the features they own: what the hierarchy is built over and what makes each feature pair come once.

An element is a face, a loose edge or a loose point. Static assignment (representative triangles; Algorithm 4 of paper
004): each vertex and each edge belongs to one element that contains it, and a pair of features is looked at where the
pair of its owners is. That needs *every* pair of owners to be visited, adjacent ones too.

Which one owns a feature is free. The first is what dynamic assignment builds on. Static assignment is faster the fewer
there are that own anything: two elements without a vertex to test or edges on both sides need not be looked at. Of the
pairs with overlapping boxes of armadillo-rollers at rest that is 9 % with first owners, and 46 % with few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.runtime.jit import helper, kernel


class Elements(NamedTuple):
    corners: np.ndarray  # (k, 3) int32 vertices; an edge names its second twice, a point its vertex three times
    face: np.ndarray  # (k,) int32 face id, -1 for loose edges and points
    sides: np.ndarray  # (k, 3) int32 ids of its edges, -1 where there is none


class Owned(NamedTuple):
    """Features by owner: element i owns vertex[vertex_start[i]:vertex_start[i + 1]], and edges likewise.

    In the order of the owners, so that what is looked at together lies together in memory.
    """

    vertex_start: np.ndarray  # (k + 1,) int32
    vertex: np.ndarray  # int32 vertex ids
    edge_start: np.ndarray  # (k + 1,) int32
    edge: np.ndarray  # int32 edge ids
    ends: np.ndarray  # (e, 2) int32 the vertices of those edges


def elements_of(mesh: TriMesh) -> Elements:
    """Faces first, then the edges that no face has, then the points that nothing else names."""
    if not len(mesh.loose_edges) and not len(mesh.loose_points):
        return Elements(mesh._faces, np.arange(len(mesh.faces), dtype=np.int32), mesh._face_edges)
    loose_edges = np.flatnonzero(mesh.edge_face_count == 0).astype(np.int32)
    covered = np.zeros(mesh.vertex_limit, bool)
    covered[mesh.faces.ravel()] = True
    covered[mesh.edges[loose_edges].ravel()] = True
    # A loose edge from a vertex to itself is no edge, but its vertex takes part, as a point.
    points = mesh.vertices[~covered[mesh.vertices]]
    ends = mesh.edges[loose_edges]
    corners = np.concatenate((mesh.faces, ends[:, (0, 1, 1)], np.repeat(points[:, None], 3, axis=1)))
    face, sides = np.full(len(corners), -1, np.int32), np.full(corners.shape, -1, np.int32)
    face[: len(mesh.faces)] = np.arange(len(mesh.faces))
    sides[: len(mesh.faces)] = mesh.face_edges
    sides[len(mesh.faces) : len(mesh.faces) + len(ends), 0] = loose_edges
    return Elements(corners, face, sides)


def faces_of(mesh: TriMesh) -> Elements:
    """The faces alone, with no sides: for what happens between faces only."""
    return Elements(mesh._faces, np.arange(len(mesh.faces), dtype=np.int32), np.full(mesh.faces.shape, -1, np.int32))


def no_features(count: int) -> Owned:
    """So many elements that own nothing."""
    none, starts = np.empty(0, np.int32), np.zeros(count + 1, np.int32)
    return Owned(starts, none, starts, none, np.empty((0, 2), np.int32))


def assign_features(elements: Elements, edges: np.ndarray, vertex_count: int) -> Owned:
    """The first element in the given order that has a feature owns it."""
    starts = np.zeros((2, len(elements.corners) + 1), np.int32)
    vertex, edge = np.empty(vertex_count, np.int32), np.empty(len(edges), np.int32)
    count = _give_to_first(elements.corners, elements.sides, starts, vertex, edge)
    return Owned(starts[0], vertex[:count].copy(), starts[1], edge, np.take(edges, edge, axis=0))


def gather_features(elements: Elements, edges: np.ndarray, vertex_count: int) -> Owned:
    """Few elements own all features, greedily in the given order."""
    vertex_owner, edge_owner = np.full(vertex_count, -1, np.int32), np.full(len(edges), -1, np.int32)
    _give_to_few(elements.corners, elements.sides, vertex_owner, edge_owner)
    vertex_start, vertex = _owned(elements.corners, vertex_owner)
    edge_start, edge = _owned(elements.sides, edge_owner)
    return Owned(vertex_start, vertex, edge_start, edge, np.take(edges, edge, axis=0))


@kernel
def _give_to_first(corners, sides, starts, vertex, edge):
    """Writes the lists of Owned, starts : (2, k + 1) of vertices and of edges; returns how many vertices there are.
    Every edge has an element."""
    vertex_taken, edge_taken = np.zeros(len(vertex), np.bool_), np.zeros(len(edge), np.bool_)
    vertices = edge_count = 0
    for i in range(len(corners)):
        for k in range(3):
            v, e = corners[i, k], sides[i, k]
            if not vertex_taken[v]:
                vertex_taken[v] = True
                vertex[vertices] = v
                vertices += 1
            if e >= 0 and not edge_taken[e]:
                edge_taken[e] = True
                edge[edge_count] = e
                edge_count += 1
        starts[0, i + 1], starts[1, i + 1] = vertices, edge_count
    return vertices


@kernel
def _give_to_few(corners, sides, vertex_owner, edge_owner):
    """Owners of vertices and of edges, -1 at first: elements with all sides free take them, with corners if these are
    free as well; then what is left of their corners; then what is left, first where two sides are free."""
    for least in (3, 2, 1):
        for i in range(len(corners)):
            taken = 0
            for k in range(3):
                e = sides[i, k]
                taken += e >= 0 and edge_owner[e] != -1
            if taken > 3 - least:
                if least < 3 and taken == 3:
                    owns = False
                    for k in range(3):
                        owns = owns or edge_owner[sides[i, k]] == i
                    if owns or least == 1:
                        _take_free(corners, vertex_owner, i)
                continue
            _take_free(sides, edge_owner, i)
            if least < 3 or _all_free(corners, vertex_owner, i):
                _take_free(corners, vertex_owner, i)


@helper
def _all_free(ids, owner, i):
    return owner[ids[i, 0]] == -1 and owner[ids[i, 1]] == -1 and owner[ids[i, 2]] == -1


@helper
def _take_free(ids, owner, i):
    for k in range(3):
        if ids[i, k] >= 0 and owner[ids[i, k]] == -1:
            owner[ids[i, k]] = i


def _owned(ids: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """start (k + 1,) and the ids that each element owns, in the order of the elements."""
    start, out = np.zeros(len(ids) + 1, np.int32), np.empty(len(owner), np.int32)
    return start, out[: _list_owned(ids, owner, start, out)].copy()


@kernel
def _list_owned(ids, owner, start, out):
    """Returns how many there are."""
    count = 0
    for i in range(len(ids)):
        for k in range(3):
            f = ids[i, k]
            if f >= 0 and owner[f] == i:
                owner[f] = -2  # an edge as an element names a vertex twice
                out[count] = f
                count += 1
        start[i + 1] = count
    return count
