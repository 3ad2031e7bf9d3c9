"""Pairs of features that coincide because a vertex was just split: no part of a proof until they are apart.

The two sides of a crack are in contact where and when it opens. So exactly these pairs are listed, by their vertices,
and left out (docs/response.md); of two triangles nothing is proven as long as a pair of their features is listed.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, KINDS, VERTEX_FACE
from pliant.mesh.triangles import TriMesh
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity

# Corners of two triangles, 0 1 2 and 3 4 5: the rows of their 6 pairs of a vertex and a face, and 9 of edges.
_SIDES = ((0, 1), (1, 2), (2, 0))
TRIANGLE_ROWS = {
    VERTEX_FACE: np.array([(v, 3, 4, 5) for v in range(3)] + [(v, 0, 1, 2) for v in range(3, 6)]),
    EDGE_EDGE: np.array([(a, b, c + 3, d + 3) for a, b in _SIDES for c, d in _SIDES]),
}


class FreshPairs:
    """Pairs of features, each once.

    rows : for VERTEX_FACE (k, 4) int32, a vertex and the three of a face, ascending; for EDGE_EDGE (k, 4) int32, the
        ends of the smaller edge, ascending, and of the other one
    """

    def __init__(self, vertex_face: np.ndarray, edge_edge: np.ndarray) -> None:
        self.rows: dict[int, np.ndarray] = {
            kind: np.unique(in_order(kind, rows), axis=0)
            for kind, rows in ((VERTEX_FACE, vertex_face), (EDGE_EDGE, edge_edge))
        }
        self._index = {kind: _Index(rows) for kind, rows in self.rows.items()}

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def have(self, kind: int, rows: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of features are among them; rows : (k, 4) ids of their vertices, in any order"""
        return self._index[kind].have(in_order(kind, rows))

    def among(self, table: Contacts | Proximity) -> np.ndarray:
        """(k,) bool: which rows of the table are of such a pair."""
        return self.among_rows(table.kind, table.vertices)

    def among_rows(self, kinds: np.ndarray, vertices: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of features of these kinds, (k,), are among them; vertices : (k, 4) ids"""
        out = np.zeros(len(kinds), bool)
        if len(self):
            for kind in KINDS:
                rows = np.flatnonzero(kinds == kind)
                out[rows] = self.have(kind, vertices[rows])
        return out

    def between(self, corners: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of triangles have features that are such a pair; corners : (k, 2, 3) ids"""
        out = np.zeros(len(corners), bool)
        if len(self) and len(corners):
            for kind, rows in TRIANGLE_ROWS.items():
                found = self.have(kind, corners.reshape(-1, 6)[:, rows].reshape(-1, 4))
                out |= found.reshape(len(corners), -1).any(axis=1)
        return out

    def among_intersections(self, found: Intersections, faces: np.ndarray) -> np.ndarray:
        """(k,) bool: which rows of the table are of two triangles about which nothing is proven; faces : (m, 3), of
        which they are"""
        return self.between(faces[found.faces])


class FreshFeatures:
    """The same pairs by the ids that features have in queries; features : of which they are"""

    def __init__(self, pairs: FreshPairs, features: TriMesh) -> None:
        self.pairs, self._edges, self._faces = pairs, features.edges, features.faces

    def have_features(self, kind: int, pairs: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of features, (k, 2) ids, are among them."""
        first = pairs[:, :1] if kind == VERTEX_FACE else self._edges[pairs[:, 0]]
        last = (self._faces if kind == VERTEX_FACE else self._edges)[pairs[:, 1]]
        return self.pairs.have(kind, np.concatenate((first, last), axis=1))


def no_fresh_pairs() -> FreshPairs:
    empty = np.empty((0, 4), np.int32)
    return FreshPairs(empty, empty)


def in_order(kind: int, rows: np.ndarray) -> np.ndarray:
    """(k, 4) int32, as ``FreshPairs.rows`` have them."""
    rows = np.asarray(rows, np.int32).reshape(-1, 4).copy()
    if kind == VERTEX_FACE:
        rows[:, 1:].sort(axis=1)
        return rows
    pairs = rows.reshape(-1, 2, 2)
    pairs.sort(axis=2)
    swapped = (pairs[:, 0, 0] > pairs[:, 1, 0]) | (
        (pairs[:, 0, 0] == pairs[:, 1, 0]) & (pairs[:, 0, 1] > pairs[:, 1, 1])
    )
    pairs[swapped] = pairs[swapped, ::-1]
    return pairs.reshape(-1, 4)


class _Index:
    """Searches for rows of four ids: halves of them are numbered, and pairs of numbers sorted."""

    def __init__(self, rows: np.ndarray) -> None:
        halves = _halves(rows)
        self._halves = [np.unique(half) for half in halves]
        first, last = (np.searchsorted(known, half) for known, half in zip(self._halves, halves))
        self._keys = np.sort(first * len(self._halves[1]) + last)

    def have(self, rows: np.ndarray) -> np.ndarray:
        if not len(self._keys):
            return np.zeros(len(rows), bool)
        places, known = [], np.ones(len(rows), bool)
        for ids, half in zip(self._halves, _halves(rows)):
            place = np.minimum(np.searchsorted(ids, half), len(ids) - 1)
            known &= ids[place] == half
            places.append(place)
        keys = places[0] * len(self._halves[1]) + places[1]
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return known & (self._keys[at] == keys)


def _halves(rows: np.ndarray) -> list[np.ndarray]:
    wide = rows.astype(np.int64)
    return [wide[:, 0] << 32 | wide[:, 1], wide[:, 2] << 32 | wide[:, 3]]
