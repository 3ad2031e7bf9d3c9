"""Which elements contain a feature, and the orphans: pairs of features that no two separate elements contain.

Dynamic assignment (paper 004, section 5) skips adjacent elements, those that share a vertex. A pair of features is an
orphan exactly if *every* pair of elements that contain them is adjacent or equal; Algorithm 3 of the paper leaves the
whole search at the first feature pair that is none, never looks inside one element, and asks only part of the element
pairs (errata 18, 19). The list is topology alone: it holds for every motion of a mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.features import Elements, Owned, assign_features
from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import MeshError
from pliant.runtime.jit import helper, kernel

MOST_ORPHANS = 2**25  # of each kind: 256 MB
_USUAL_ORPHANS = 2**16
# Of the separate pairs with overlapping boxes on cloth-ball (armadillo-rollers), 11 % (8 %) are near. With 4 words of
# 64 bits, 18 % (15 %) are taken for near, with 8 words 14 % (11 %), and a row of 8 is a line of the cache.
REACH_WORDS = 8


class Incidence(NamedTuple):
    """Elements by their place in the Elements given, vertices and edges by their rank in the Owned that belongs to it.

    Features are owned by the first element that has them, so the owner is the first in every list.
    """

    corners: np.ndarray  # (k, 3) int32 ranks of the vertices of each element
    sides: np.ndarray  # (k, 3) int32 ranks of its edges, -1 where there is none
    vertex_start: np.ndarray  # int32: elements at vertex v are vertex_places[vertex_start[v] : vertex_start[v + 1]]
    vertex_places: np.ndarray  # int32, ascending for each vertex, each once
    edge_start: np.ndarray  # int32, the same for edges
    edge_places: np.ndarray
    reach: np.ndarray  # (k, 8) int64: hashed set of the vertices of an element and of the owners of its features
    vertex_rank: np.ndarray  # (n,) int32: rank of each vertex, -1 for those that take no part
    edge_rank: np.ndarray  # (e,) int32
    face_place: np.ndarray  # (m,) int32: the element that is the face


class TooManyOrphans(MeshError):
    """A fan of n faces around one vertex has about n^2 orphans; static assignment needs no list of them."""


def incidence_of(mesh: TriMesh, elements: Elements, owned: Owned) -> Incidence:
    """Which elements have which features; for the expansion, elements in the order of places and what they own."""
    vertex_rank, edge_rank = _ranks(owned.vertex, mesh.vertex_limit), _ranks(owned.edge, len(mesh.edges))
    corners, sides = np.take(vertex_rank, elements.corners), np.empty_like(elements.sides)
    _rename(elements.sides, edge_rank, sides)
    vertex_start, vertex_places = _places(corners, len(owned.vertex))
    edge_start, edge_places = _places(sides, len(owned.edge))
    reach = np.zeros((len(corners), REACH_WORDS), np.int64)
    _find_reach(corners, sides, vertex_start, vertex_places, edge_start, edge_places, reach)
    face_place = _ranks(elements.face, len(mesh.faces))
    return Incidence(
        corners, sides, vertex_start, vertex_places, edge_start, edge_places, reach, vertex_rank, edge_rank, face_place
    )


def orphan_pairs(mesh: TriMesh, elements: Elements, *, most: int = MOST_ORPHANS) -> tuple[np.ndarray, np.ndarray]:
    """Orphans (vertex, face) and (edge, edge), (k, 2) int32 each, sorted, the smaller edge first.

    Elements in any order: the result is the same. Raises TooManyOrphans if there are more than ``most`` of one kind.
    """
    owned = assign_features(elements, mesh.edges, mesh.vertex_limit)
    incidence = incidence_of(mesh, elements, owned)
    vertex_face = _collected(_vertex_face_orphans, (incidence, elements.face), most)
    vertex_face[:, 0] = owned.vertex[vertex_face[:, 0]]
    edge_edge = _collected(_edge_edge_orphans, (incidence, owned.edge_start, owned.ends), most)
    return _sorted(vertex_face), _sorted(np.sort(owned.edge[edge_edge], axis=1))


def _collected(search, arguments: tuple, most: int) -> np.ndarray:
    """What a search finds; it is repeated, with room for everything, only where there are unusually many."""
    pairs = np.empty((_USUAL_ORPHANS, 2), np.int32)
    count = search(*arguments, pairs, most)
    if count > most:
        raise TooManyOrphans(
            f"more than {most} orphan pairs: some vertex of this mesh has too many faces; use assignment='static'"
        )
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        search(*arguments, pairs, most)
    return pairs[:count]


def _sorted(pairs: np.ndarray) -> np.ndarray:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _ranks(ids: np.ndarray, count: int) -> np.ndarray:
    """The inverse: rank[ids[r]] = r; -1 for what is not among the ids, and negative ids are no ids."""
    rank = np.full(count, -1, np.int32)
    _rank(ids, rank)
    return rank


@kernel
def _rank(ids, rank):
    for r in range(len(ids)):
        if ids[r] >= 0:
            rank[ids[r]] = r


@kernel
def _rename(features, rank, out):
    for i in range(len(features)):
        for k in range(3):
            out[i, k] = rank[features[i, k]] if features[i, k] >= 0 else -1


def _places(features: np.ndarray, feature_count: int) -> tuple[np.ndarray, np.ndarray]:
    """(start, places): the elements that have each feature; features : (k, 3) ranks or -1."""
    start, places = np.zeros(feature_count + 1, np.int32), np.empty(features.size, np.int32)
    return start, places[: _list_places(features, start, places)].copy()


@kernel
def _list_places(features, start, places):
    """Returns how many there are; a degenerate face is listed once as well."""
    feature_count = len(start) - 1
    for i in range(len(features)):
        for k in range(3):
            if names_first(features, i, k):
                start[features[i, k] + 1] += 1
    for f in range(feature_count):
        start[f + 1] += start[f]
    fill = start.copy()
    for i in range(len(features)):
        for k in range(3):
            if names_first(features, i, k):
                places[fill[features[i, k]]] = i
                fill[features[i, k]] += 1
    return start[feature_count]


@helper
def names_first(features, i, k):
    """Slot k of element i names a feature that no slot before it names."""
    f = features[i, k]
    return f >= 0 and (k < 1 or f != features[i, 0]) and (k < 2 or f != features[i, 1])


@kernel
def _find_reach(corners, sides, vertex_start, vertex_places, edge_start, edge_places, out):
    for i in range(len(corners)):
        for k in range(3):  # the owners of its vertices have its own corners among theirs
            _add_corners(out, i, corners, vertex_places[vertex_start[corners[i, k]]])
            if sides[i, k] >= 0:
                _add_corners(out, i, corners, edge_places[edge_start[sides[i, k]]])


@helper
def _add_corners(out, i, corners, j):
    """The set of element i gets the vertices of element j, hashed to their last bits.

    Ranks follow the places, so vertices that lie together differ in those, and no other hash was better.
    """
    for k in range(3):
        v = np.int64(corners[j, k])
        out[i, (v >> 6) & (REACH_WORDS - 1)] |= np.int64(1) << (v & 63)


@helper
def are_far(reach, i, j):
    """Proves that no owner of a feature of element i shares a vertex with one of j, nor i with j."""
    common = np.int64(0)
    for word in range(REACH_WORDS):
        common |= reach[i, word] & reach[j, word]
    return common == 0


@helper
def are_adjacent(corners, i, j):
    """Elements i and j share a vertex; an element is adjacent to itself."""
    a, b, c = corners[j, 0], corners[j, 1], corners[j, 2]
    for k in range(3):
        v = corners[i, k]
        if v == a or v == b or v == c:
            return True
    return False


@helper
def _has(corners, i, v):
    return v == corners[i, 0] or v == corners[i, 1] or v == corners[i, 2]


@kernel
def _vertex_face_orphans(incidence, face, out, most):
    """Pairs (vertex rank, face id): writes what fits into out, returns how many there are, at least most + 1 if more.

    Every element of v has to be adjacent to the face, its owner i too: candidates are the faces at the corners of i.
    """
    corners, start, places = incidence.corners, incidence.vertex_start, incidence.vertex_places
    count = 0
    for v in range(len(start) - 1):
        i = places[start[v]]
        for k in range(3):
            c = corners[i, k]
            if c == v:
                continue
            for s in range(start[c], start[c + 1]):
                j = places[s]
                if face[j] < 0 or _has(corners, j, v) or _met_before(corners, i, k, j):
                    continue
                if _all_adjacent(corners, places, start[v] + 1, start[v + 1], j):
                    if count < len(out):
                        out[count, 0], out[count, 1] = v, face[j]
                    count += 1
        if count > most:
            break
    return count


@kernel
def _edge_edge_orphans(incidence, owned_start, ends, out, most):
    """Pairs of edge ranks, as above; candidates are the edges whose owner j touches the owner i of edge a."""
    corners, start, places = incidence.corners, incidence.vertex_start, incidence.vertex_places
    edge_start, edge_places = incidence.edge_start, incidence.edge_places
    count = 0
    for a in range(len(ends)):
        i, a0, a1 = edge_places[edge_start[a]], ends[a, 0], ends[a, 1]
        for k in range(3):
            c = corners[i, k]
            for s in range(start[c], start[c + 1]):
                j = places[s]
                # Ranks ascend with the owner's place: pairs come from their smaller rank, equal owners share a vertex.
                if j <= i or owned_start[j] == owned_start[j + 1] or _met_before(corners, i, k, j):
                    continue
                if not _all_adjacent(corners, edge_places, edge_start[a] + 1, edge_start[a + 1], j):
                    continue
                for b in range(owned_start[j], owned_start[j + 1]):
                    b0, b1 = ends[b, 0], ends[b, 1]
                    orphan = a0 != b0 and a0 != b1 and a1 != b0 and a1 != b1
                    t = edge_start[b] + 1
                    while orphan and t < edge_start[b + 1]:
                        orphan = _all_adjacent(corners, edge_places, edge_start[a], edge_start[a + 1], edge_places[t])
                        t += 1
                    if orphan:
                        if count < len(out):
                            out[count, 0], out[count, 1] = a, b
                        count += 1
        if count > most:
            break
    return count


@helper
def _met_before(corners, i, k, j):
    """Element j was already found at a corner of i before its k-th."""
    return (k > 0 and _has(corners, j, corners[i, 0])) or (k > 1 and _has(corners, j, corners[i, 1]))


@helper
def _all_adjacent(corners, places, begin, end, j):
    """Every element of places[begin:end] shares a vertex with element j."""
    for s in range(begin, end):
        if not are_adjacent(corners, places[s], j):
            return False
    return True
