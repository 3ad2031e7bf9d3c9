"""Pairs of features that are past each other: their closest points, and depths towards where they came from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_OUTSIDE = 0.05  # of a feature, by which the closest point may be beside it
_PARALLEL = 1e-6  # sine of the angle of two edges below which their normal says nothing


class Pairs(NamedTuple):
    """Columns as of ``Contacts``.

    kind : (k,) int8, 0 vertex-face, 1 edge-edge; vertices : (k, 4) int32; weights : (k, 4), of them
    normal : (k, 3), towards the side of the second feature where the first one was before they met
    """

    kind: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    normal: np.ndarray


def no_pairs() -> Pairs:
    return Pairs(np.empty(0, np.int8), np.empty((0, 4), np.int32), np.empty((0, 4)), np.empty((0, 3)))


def first_pairs(found: Any, known: Pairs, inverse_mass: np.ndarray, siblings: np.ndarray | None) -> Pairs:
    """Of a Contacts table, what is not known, can move, and is not on its way back: that of known pairs, or of their
    neighbours."""
    fresh = (inverse_mass[found.vertices] > 0.0).any(axis=1) & ~_among(_keys(found), _keys(known))
    if siblings is not None:
        of = siblings[found.vertices]
        split = np.where(found.kind == 0, 1, 2)  # where the second feature begins
        for i in range(3):
            for j in range(i + 1, 4):
                fresh &= ~((i < split) & (split <= j) & (of[:, i] == of[:, j]))
    rows = np.flatnonzero(fresh)
    out = Pairs(found.kind[rows], found.vertices[rows], found.weights[rows], found.normal[rows])
    leaving = _leaves(out, known)
    return Pairs(*(column[~leaving] for column in out)) if leaving.any() else out


def _leaves(pairs: Pairs, known: Pairs) -> np.ndarray:
    """Which of the pairs have a vertex on either side in common with known ones, from whose other side they come: what
    went in through one face may come out through the next one."""
    out = np.zeros(len(pairs.kind), bool)
    if not len(known.kind):
        return out
    owner, ends = _across(known)
    # Both ways round: which side of a pair of edges comes first is a matter of their numbers.
    both = np.concatenate((ends, ends[:, ::-1]))
    normals = np.concatenate((known.normal[owner], -known.normal[owner]))
    keys, place = np.unique(both[:, 0] << 32 | both[:, 1], return_inverse=True)
    total = np.zeros((len(keys), 3))
    np.add.at(total, place.reshape(-1), normals)
    owner, ends = _across(pairs)
    wanted = ends[:, 0] << 32 | ends[:, 1]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_behind = np.einsum("kj,kj->k", pairs.normal[owner], total[at]) < 0.0
    out[owner[(keys[at] == wanted) & is_behind]] = True
    return out


def _across(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """A vertex of the first feature and one of the second, (k, 2) int64, in all ways; of which pair they are, (k,)."""
    owner, ends = [], []
    for kind, split in ((0, 1), (1, 2)):
        rows = np.flatnonzero(pairs.kind == kind)
        for i in range(split):
            for j in range(split, 4):
                owner.append(rows)
                ends.append(pairs.vertices[rows][:, [i, j]])
    return np.concatenate(owner), np.concatenate(ends).astype(np.int64)


def joined_pairs(known: Pairs, fresh: Pairs, kept: np.ndarray) -> Pairs:
    """kept : which of the fresh ones"""
    return Pairs(*(np.concatenate((one, two[kept])) for one, two in zip(known, fresh)))


def measured(pairs: Pairs, x: np.ndarray) -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Those that are still past each other at x, (N, 3): with their weights and normals there; the weights, and (k,)
    depths."""
    corners = x[pairs.vertices]
    of_faces, of_edges = _vertex_face(corners), _edge_edge(corners)
    face = (pairs.kind == 0)[:, None]
    weights, normal = np.where(face, of_faces[0], of_edges[0]), np.where(face, of_faces[1], of_edges[1])
    clear = np.where(face[:, 0], of_faces[2], of_edges[2])
    normal = np.where(clear[:, None], normal, pairs.normal)
    weights = np.where(clear[:, None], weights, pairs.weights)
    normal *= np.where(np.einsum("kj,kj->k", normal, pairs.normal) < 0.0, -1.0, 1.0)[:, None]
    depth = -np.einsum("ki,kij,kj->k", weights, corners, normal)
    kept = (depth > 0.0) & _inside(pairs.kind, weights)
    now = Pairs(pairs.kind[kept], pairs.vertices[kept], weights[kept], normal[kept])
    return now, weights[kept], depth[kept]


def present(pairs: Pairs, faces: np.ndarray, edges: np.ndarray) -> Pairs:
    """Those whose features are among faces, (m, 3), and edges, (e, 2)."""
    v, face = pairs.vertices, pairs.kind == 0
    there = np.where(
        face, _among(_sorted_keys(v[:, 1:]), _sorted_keys(faces)),
        _among(_sorted_keys(v[:, :2]), _sorted_keys(edges)) & _among(_sorted_keys(v[:, 2:]), _sorted_keys(edges)),
    )  # fmt: skip
    there &= np.isin(v[:, 0], edges)
    return Pairs(*(array[there] for array in pairs))


def _vertex_face(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of vertex and corners of the face, unit normals, and where there are any."""
    one, two, up = x[:, 2] - x[:, 1], x[:, 3] - x[:, 1], x[:, 0] - x[:, 1]
    normal = np.cross(one, two)
    squared = np.einsum("kj,kj->k", normal, normal)
    clear = squared > 1e-300
    safe = np.where(clear, squared, 1.0)
    b = np.einsum("kj,kj->k", np.cross(up, two), normal) / safe
    c = np.einsum("kj,kj->k", np.cross(one, up), normal) / safe
    return np.stack((np.ones(len(x)), b + c - 1.0, -b, -c), axis=1), normal / np.sqrt(safe)[:, None], clear


def _edge_edge(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of two edges: closest points of their lines."""
    one, two, between = x[:, 1] - x[:, 0], x[:, 3] - x[:, 2], x[:, 2] - x[:, 0]
    normal = np.cross(one, two)
    squared = np.einsum("kj,kj->k", normal, normal)
    size = np.einsum("kj,kj->k", one, one) * np.einsum("kj,kj->k", two, two)
    clear = squared > _PARALLEL**2 * size
    safe = np.where(clear, squared, 1.0)
    s = np.einsum("kj,kj->k", np.cross(between, two), normal) / safe
    t = np.einsum("kj,kj->k", np.cross(between, one), normal) / safe
    return np.stack((1.0 - s, s, t - 1.0, -t), axis=1), normal / np.sqrt(safe)[:, None], clear


def _inside(kind: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether no closest point is beside its feature by more than a little."""
    second = weights[:, 1] * np.where(kind == 0, -1.0, 1.0)
    own = np.stack((weights[:, 0], second, -weights[:, 2], -weights[:, 3]), axis=1)
    return np.asarray((own >= -_OUTSIDE).all(axis=1))


def _keys(pairs: Any) -> np.ndarray:
    rows = np.concatenate((pairs.kind[:, None].astype(np.int32), pairs.vertices.astype(np.int32)), axis=1)
    return _as_one(rows)


def _sorted_keys(rows: np.ndarray) -> np.ndarray:
    return _as_one(np.sort(rows, axis=1).astype(np.int32))


def _as_one(rows: np.ndarray) -> np.ndarray:
    """Each row as one thing to compare."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


def _among(keys: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.isin(keys, others) if len(others) else np.zeros(len(keys), bool)
