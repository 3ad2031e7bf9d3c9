"""Which elements contain a feature, and the orphans: pairs of features that no two separate elements contain.

Dynamic assignment (paper 004, section 5) skips adjacent elements, those that share a vertex. A pair of features is an
orphan exactly if *every* pair of elements that contain them is adjacent or equal; Algorithm 3 of the paper leaves the
whole search at the first feature pair that is none, never looks inside one element, and asks only part of the element
pairs (errata 18, 19). The list is topology alone: it holds for every motion of a mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._jit import helper, kernel
from pliant.mesh.features import Elements
from pliant.mesh.triangles import TriMesh

REACH_WORDS = 4  # of 64 bits; measured on cloth-ball: 1 word takes 3% of the far pairs for near ones, 4 words 0.5%
MOST_ORPHANS = 2**25  # of each kind: 256 MB


class Incidence(NamedTuple):
    """Elements by their number in the Elements that it was made of, so by place where those were in order of places.

    The owner of a feature comes first in its list; a degenerate face that names a feature twice is listed once.
    """

    vertex_start: np.ndarray  # (n + 1,) int64: elements at v are vertex_elements[vertex_start[v] : vertex_start[v + 1]]
    vertex_elements: np.ndarray  # int32
    edge_start: np.ndarray  # (e + 1,) int64, the same for edges
    edge_elements: np.ndarray  # int32
    face_element: np.ndarray  # (m,) int32: the element that is the face
    reach: np.ndarray  # (k, REACH_WORDS) int64: hashed set of the vertices of an element and of its features' owners


class TooManyOrphans(ValueError):
    """A fan of n faces around one vertex has about n^2 orphans: static assignment needs no list of them."""


def incidence_of(mesh: TriMesh, elements: Elements) -> Incidence:
    """Which elements contain each vertex and each edge; elements in any order, that of places for the expansion."""
    vertex_start, vertex_elements = _list_elements(elements.corners, elements.owned_vertices, mesh.vertex_limit)
    edge_start, edge_elements = _list_elements(elements.sides, elements.owned_edges, len(mesh.edges))
    face_element = np.empty(len(mesh.faces), np.int32)
    is_face = elements.face >= 0
    face_element[elements.face[is_face]] = np.flatnonzero(is_face)
    reach = _reach(elements.corners, elements.sides, vertex_start, vertex_elements, edge_start, edge_elements)
    return Incidence(vertex_start, vertex_elements, edge_start, edge_elements, face_element, reach)


def orphan_pairs(mesh: TriMesh, elements: Elements, *, most: int = MOST_ORPHANS) -> tuple[np.ndarray, np.ndarray]:
    """Orphans (vertex, face) and (edge, edge), each (k, 2) int32, sorted, the smaller edge first.

    Raises TooManyOrphans if there are more than ``most`` of one kind.
    """
    incidence = incidence_of(mesh, elements)
    return (
        _collected(_vertex_face_orphans, (elements, incidence), most),
        _collected(_edge_edge_orphans, (elements, mesh.edges, incidence), most),
    )


def _collected(search, arguments: tuple, most: int) -> np.ndarray:
    """Count, allocate, fill: two cheap searches instead of arrays that grow."""
    count = search(*arguments, np.empty((0, 2), np.int32), most)
    if count > most:
        raise TooManyOrphans(f"more than {most} orphan pairs: a vertex of this mesh has too many faces")
    pairs = np.empty((count, 2), np.int32)
    search(*arguments, pairs, most)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


@kernel
def _list_elements(features, owned, feature_count):
    """CSR lists of the elements that name a feature, (k, 3) ids or -1, each element once, the owner first."""
    start = np.zeros(feature_count + 1, np.int64)
    for i in range(len(features)):
        for k in range(3):
            if names_first(features, i, k):
                start[features[i, k] + 1] += 1
    for f in range(feature_count):
        start[f + 1] += start[f]
    elements, fill = np.empty(start[feature_count], np.int32), start.copy()
    for i in range(len(owned)):
        for k in range(3):
            f = owned[i, k]
            if f < 0:
                break
            elements[fill[f]] = i
            fill[f] += 1
    for i in range(len(features)):
        for k in range(3):
            if names_first(features, i, k):
                f = features[i, k]
                if elements[start[f]] != i:
                    elements[fill[f]] = i
                    fill[f] += 1
    return start, elements


@helper
def names_first(features, i, k):
    """Slot k of element i names a feature that no slot before it names."""
    f = features[i, k]
    return f >= 0 and (k < 1 or f != features[i, 0]) and (k < 2 or f != features[i, 1])


@kernel
def _reach(corners, sides, vertex_start, vertex_elements, edge_start, edge_elements):
    """Bit sets of the vertices of each element and of the owners of its features."""
    out = np.zeros((len(corners), REACH_WORDS), np.int64)
    for i in range(len(corners)):
        for k in range(3):
            owner = vertex_elements[vertex_start[corners[i, k]]]
            _add_corners(out, i, corners, owner)
            e = sides[i, k]
            if e >= 0:
                owner = edge_elements[edge_start[e]]
                _add_corners(out, i, corners, owner)
        _add_corners(out, i, corners, i)
    return out


@helper
def _add_corners(out, i, corners, j):
    for k in range(3):
        # Fibonacci hashing: the top bits of the product mod 2^32 scatter neighbouring ids.
        bit = ((np.int64(corners[j, k]) * 2654435769) & 0xFFFFFFFF) >> 20
        out[i, (bit >> 6) % REACH_WORDS] |= np.int64(1) << (bit & 63)


@helper
def are_far(reach, i, j):
    """Proves that no owner of a feature of element i shares a vertex with one of j; so i and j are not adjacent either."""
    common = np.int64(0)
    for word in range(REACH_WORDS):
        common |= reach[i, word] & reach[j, word]
    return common == 0


@helper
def are_adjacent(corners, i, j):
    """Elements i and j share a vertex; an element is adjacent to itself."""
    a, b, c = corners[i, 0], corners[i, 1], corners[i, 2]
    return has_corner(corners, j, a) or has_corner(corners, j, b) or has_corner(corners, j, c)


@helper
def has_corner(corners, i, v):
    return v == corners[i, 0] or v == corners[i, 1] or v == corners[i, 2]


@kernel
def _vertex_face_orphans(elements, incidence, out, most):
    """Writes what fits into out and returns how many there are, or more than most.

    Every element of v has to be adjacent to the face, its owner i too: candidates are the faces at the corners of i.
    """
    corners, start, listed = elements.corners, incidence.vertex_start, incidence.vertex_elements
    count = 0
    for v in range(len(start) - 1):
        if start[v] == start[v + 1]:
            continue
        i = listed[start[v]]
        for k in range(3):
            c = corners[i, k]
            if c == v:
                continue
            for s in range(start[c], start[c + 1]):
                j = listed[s]
                if elements.face[j] < 0 or has_corner(corners, j, v) or _met_before(corners, i, k, j):
                    continue
                if _all_adjacent_to(corners, listed, start[v] + 1, start[v + 1], j):
                    if count < len(out):
                        out[count, 0], out[count, 1] = v, elements.face[j]
                    count += 1
        if count > most:
            break
    return count


@kernel
def _edge_edge_orphans(elements, edges, incidence, out, most):
    """As above; candidates are the edges whose owner touches the owner of a."""
    corners, start, listed = elements.corners, incidence.vertex_start, incidence.vertex_elements
    edge_start, edge_listed = incidence.edge_start, incidence.edge_elements
    count = 0
    for a in range(len(edges)):
        i, a0, a1 = edge_listed[edge_start[a]], edges[a, 0], edges[a, 1]
        for k in range(3):
            c = corners[i, k]
            for s in range(start[c], start[c + 1]):
                j = listed[s]
                if _met_before(corners, i, k, j):
                    continue
                for l in range(3):
                    b = elements.owned_edges[j, l]
                    if b < 0:
                        break
                    b0, b1 = edges[b, 0], edges[b, 1]
                    if b <= a or a0 == b0 or a0 == b1 or a1 == b0 or a1 == b1:
                        continue
                    if _all_adjacent(corners, edge_start, edge_listed, a, b):
                        if count < len(out):
                            out[count, 0], out[count, 1] = a, b
                        count += 1
        if count > most:
            break
    return count


@helper
def _met_before(corners, i, k, j):
    """Element j was already found at a corner of i before its k-th."""
    return (k > 0 and has_corner(corners, j, corners[i, 0])) or (k > 1 and has_corner(corners, j, corners[i, 1]))


@helper
def _all_adjacent_to(corners, listed, begin, end, j):
    for s in range(begin, end):
        if not are_adjacent(corners, listed[s], j):
            return False
    return True


@helper
def _all_adjacent(corners, edge_start, edge_listed, a, b):
    for s in range(edge_start[b], edge_start[b + 1]):
        if not _all_adjacent_to(corners, edge_listed, edge_start[a], edge_start[a + 1], edge_listed[s]):
            return False
    return True
