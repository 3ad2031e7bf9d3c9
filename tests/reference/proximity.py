"""Every pair of features that are near each other, by trying all of them; for meshes of some thousand triangles."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from tests.reference import triangles
from tests.reference.distances import EDGE_EDGE, VERTEX_FACE, distance

_BLOCK = 256
# Relative to the size of the mesh: what rounding can do to a distance, and more.
_BORDER = 1e-12


class Near(NamedTuple):
    """Pairs of features, sorted by kind, then by the two elements, up to the distance asked for and a little more.

    kind : (k,) 0 = vertex-face, 1 = edge-edge; elements : (k, 2); vertices : (k, 4); distance : (k,)
    borderline : (k,) bool, so close to the distance asked for that rounding decides
    """

    kind: np.ndarray
    elements: np.ndarray
    vertices: np.ndarray
    distance: np.ndarray
    borderline: np.ndarray

    def rows(self, mask) -> Near:
        return Near(*(column[mask] for column in self))


def edges_of(faces, loose=None) -> np.ndarray:
    """(e, 2): the sides of all faces and the loose edges, sorted, once each, without those from a vertex to itself."""
    sides = [side for face in np.asarray(faces).reshape(-1, 3).tolist() for side in combinations(face, 2)]
    sides += [] if loose is None else np.asarray(loose).reshape(-1, 2).tolist()
    unique = sorted({(min(side), max(side)) for side in sides if side[0] != side[1]})
    return np.array(unique, dtype=np.int64).reshape(-1, 2)


class Candidates(NamedTuple):
    """Pairs of features of one kind, without a common vertex, in order. elements : (k, 2); vertices : (k, 4)."""

    elements: np.ndarray
    vertices: np.ndarray


def candidates(faces, x0, x1, within, edges=None, points=None) -> tuple[Candidates, Candidates]:
    """Vertex-face and edge-edge pairs whose boxes, around both ends of the motion, are not farther apart; inf: all.

    faces : (m, 3), edges : (k, 2), points : (j,) vertex ids, x0, x1 : (n, 3)
    """
    faces, x = np.asarray(faces, dtype=np.int64).reshape(-1, 3), np.stack([x0, x1], axis=1)
    segments = edges_of(faces, edges)
    loose = np.zeros(0, dtype=np.int64) if points is None else np.asarray(points, dtype=np.int64)
    vertices = np.unique(np.concatenate([faces.ravel(), segments.ravel(), loose]))

    def pairs(a, b):
        i, j = _box_pairs(*(x[rows].reshape(len(rows), 2 * rows.shape[1], 3) for rows in (a, b)), within)
        if a is b:
            i, j = i[i < j], j[i < j]
        shared = (a[i][:, :, None] == b[j][:, None, :]).any(axis=(1, 2))
        return i[~shared], j[~shared]

    v, f = pairs(vertices[:, None], faces)
    a, b = pairs(segments, segments)
    return (
        Candidates(np.column_stack([vertices[v], f]), np.column_stack([vertices[v], faces[f]])),
        Candidates(np.column_stack([a, b]), np.column_stack([segments[a], segments[b]])),
    )


def near(faces, x, within, edges=None, points=None) -> Near:
    """Pairs without a common vertex. faces : (m, 3), edges : (k, 2), points : (j,) vertex ids, x : (n, 3) float64."""
    x = np.asarray(x, dtype=np.float64)
    tolerance = _BORDER * np.ptp(x, axis=0).max() if len(x) else 0.0
    tables = []
    both = candidates(faces, x, x, within + tolerance, edges, points)
    for kind, features, pairs in zip((0, 1), (VERTEX_FACE, EDGE_EDGE), both):
        apart = np.concatenate([np.zeros(0), *(distance(features, x[rows]) for rows in _blocks(pairs.vertices))])
        border = np.abs(apart - within) <= tolerance
        table = np.full(len(apart), kind), pairs.elements, pairs.vertices, apart, border
        tables.append([column[apart <= within + tolerance] for column in table])
    return Near(*(np.concatenate(columns) for columns in zip(*tables)))


def distance_between(faces_a, x_a, faces_b, x_b) -> float:
    """Of two surfaces; 0 exactly where they intersect, decided in integers."""
    faces_a, faces_b = np.asarray(faces_a), np.asarray(faces_b)
    x_a, x_b = np.asarray(x_a, dtype=np.float64), np.asarray(x_b, dtype=np.float64)
    for i, j in zip(*_box_pairs(x_a[faces_a], x_b[faces_b], 0.0)):
        if triangles.intersect(x_a[faces_a[i]], x_b[faces_b[j]]):
            return 0.0
    corners_a, corners_b = x_a[np.unique(faces_a)], x_b[np.unique(faces_b)]
    enough = min(np.linalg.norm(corners_b - corner, axis=1).min() for corner in corners_a)
    found = near(np.concatenate([faces_a, faces_b + len(x_a)]), np.concatenate([x_a, x_b]), enough)
    first = found.vertices < len(x_a)
    return float(found.distance[first.any(axis=1) & ~first.all(axis=1)].min())


def _box_pairs(a, b, within):
    """Rows of two arrays (., j, 3) of corners, in order, whose boxes are not farther apart along any axis."""
    lower_b, upper_b = b.min(axis=1), b.max(axis=1)
    found = [np.zeros((0, 2), dtype=np.int64)]
    for start in range(0, len(a), _BLOCK):
        part = a[start : start + _BLOCK]
        lower, upper = part.min(axis=1)[:, None], part.max(axis=1)[:, None]
        # In the same direction as the distance is rounded, and with a tolerance that is far more than that.
        close = np.ones((len(part), len(b)), dtype=bool)
        for axis in range(3):
            close &= lower[:, :, axis] - upper_b[:, axis] <= within
            close &= lower_b[:, axis] - upper[:, :, axis] <= within
        found.append(np.argwhere(close) + (start, 0))
    return np.concatenate(found).T


def _blocks(rows):
    return (rows[start : start + 20_000] for start in range(0, len(rows), 20_000))
