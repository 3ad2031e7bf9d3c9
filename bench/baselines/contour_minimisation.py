"""Untangling by contour minimisation alone (Volino and Magnenat-Thalmann, Resolving surface collisions through
intersection contour minimization, SIGGRAPH 2006): every edge that crosses a face moves so that contours get shorter.

Let an edge of direction e cross a face of normal n at P. Moved by D, it crosses at P + D - (D.n / e.n) e. From P, the
contour goes on along unit vectors r, one in each face at the edge. So its length changes by -D.g with
g = R - (e.R / e.n) n and R the sum of all r: moving the edge by g against the face shortens it fastest.
"""

from __future__ import annotations

import time

import numpy as np

import pliant

STEP = 0.3  # edges: the longest motion of a vertex in an iteration
PATIENCE = 100  # iterations without a new smallest number of pairs
_STEEPEST = 4.0  # g where an edge is nearly in the plane of the face


def shorten(
    faces: np.ndarray, x: np.ndarray, fixed: np.ndarray | None = None, *, threads: int = 1, seconds: float = 60.0
) -> np.ndarray:
    """(n, 3) positions: those with the fewest intersecting pairs that were found.

    fixed : (n,) bool, vertices that stay
    """
    mesh, y = pliant.TriMesh(faces), np.array(x, np.float64)
    free = np.ones(len(x), bool) if fixed is None else ~fixed
    sides = y[mesh.edges]
    step = STEP * float(np.linalg.norm(sides[:, 1] - sides[:, 0], axis=1).mean())
    best, fewest, since, end = y.copy(), np.inf, 0, time.perf_counter() + seconds
    while since < PATIENCE and time.perf_counter() < end:
        hits = pliant.check(mesh, y, threads=threads)
        hits = hits[free[faces[hits.faces]].any(axis=(1, 2))]
        if len(hits) < fewest:
            best, fewest, since = y.copy(), len(hits), 0
        if not len(hits):
            break
        y = y + step * _direction(faces, y, free, hits)
        since += 1
    return best


def _direction(faces: np.ndarray, y: np.ndarray, free: np.ndarray, hits: pliant.Intersections) -> np.ndarray:
    """(n, 3) how vertices move, none by more than 1."""
    crossings = [_crossings(faces, y, hits, one, side) for one in (0, 1) for side in range(3)]
    edge, face, weights, along = (np.concatenate(column) for column in zip(*crossings))
    # What goes on from one crossing in both faces at the edge is added up.
    key = np.column_stack((np.sort(edge, axis=1), face))
    _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
    total = np.zeros((len(first), 3))
    np.add.at(total, group.ravel(), along)
    edge, face, weights = edge[first], face[first], weights[first]
    a, b, c = (y[faces[face, i]] for i in range(3))
    n, e = _unit(np.cross(b - a, c - a)), _unit(y[edge[:, 1]] - y[edge[:, 0]])
    slope = _dot(e, n)
    slope = np.where(np.abs(slope) < 1e-3, np.copysign(1e-3, slope), slope)
    g = total - (_dot(e, total) / slope)[:, None] * n
    g *= np.minimum(1.0, _STEEPEST / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-300))
    move = np.zeros_like(y)
    for corner in range(2):
        np.add.at(move, edge[:, corner], weights[:, corner, None] * g)
    for corner in range(3):
        np.add.at(move, faces[face, corner], -weights[:, 2 + corner, None] * g)
    move[~free] = 0.0
    return move / np.maximum(1.0, np.linalg.norm(move, axis=1, keepdims=True))


def _crossings(
    faces: np.ndarray, y: np.ndarray, hits: pliant.Intersections, one: int, side: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where a side of the one face of each pair crosses the other face.

    Returns edges (k, 2), faces (k,), weights (k, 5) of the ends and the corners, and unit vectors (k, 3) along which
    the contour goes on from there.
    """
    edge = faces[hits.faces[:, one]][:, [side, (side + 1) % 3]]
    face = hits.faces[:, 1 - one]
    p, q = y[edge[:, 0]], y[edge[:, 1]]
    a, b, c = (y[faces[face, i]] for i in range(3))
    n = np.cross(b - a, c - a)
    above, below = _dot(p - a, n), _dot(q - a, n)
    crosses = (above > 0) != (below > 0)
    t = np.where(crosses, above / np.where(crosses, above - below, 1.0), 0.0)
    at = p + t[:, None] * (q - p)
    area = np.maximum(_dot(n, n), 1e-300)
    u, v = _dot(np.cross(c - b, at - b), n) / area, _dot(np.cross(a - c, at - c), n) / area
    w = 1.0 - u - v
    crosses &= (u >= 0) & (v >= 0) & (w >= 0)
    ends = hits.segments - at[:, None]
    far = np.argmax((ends**2).sum(axis=2), axis=1)
    along = _unit(ends[np.arange(len(ends)), far])
    weights = np.column_stack((1.0 - t, t, u, v, w))
    return edge[crosses], face[crosses], weights[crosses], along[crosses]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)
