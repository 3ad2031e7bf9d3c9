"""Where edges pass through faces: the corners of the lines along which triangles intersect, in doubles.

That two triangles intersect is decided exactly before (``triangles``); here is computed where. A crossing that rounding
decides, through an edge or a vertex of the other triangle, may be found twice or not at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, lerp, row, sub
from pliant.runtime.jit import helper, kernel

_MARGIN = -1e-12  # least weight of a corner: rounding must not lose what passes through an edge


class Crossings(NamedTuple):
    """Edges that pass through faces, each pair once, sorted by edge, then by face.

    edges, faces : (k,) int32
    parameter : (k,) float64, along the edge, 0 at its smaller vertex
    weights : (k, 3) float64, of the corners of the face
    pairs : (l, 2) int32, rows of the two crossings that a pair of triangles joins; of l pairs that have two
    """

    edges: np.ndarray
    faces: np.ndarray
    parameter: np.ndarray
    weights: np.ndarray
    pairs: np.ndarray


def crossings_of(
    x: np.ndarray, faces: np.ndarray, edges: np.ndarray, face_edges: np.ndarray, pairs: np.ndarray
) -> Crossings:
    """Of pairs (k, 2) of faces that intersect."""
    ids, numbers = np.empty((6 * len(pairs), 3), np.int32), np.empty((6 * len(pairs), 4))
    count = cross_edges(x, faces, edges, face_edges, np.ascontiguousarray(pairs, np.int32), ids, numbers)
    keys = ids[:count, 1].astype(np.int64) * max(len(faces), 1) + ids[:count, 2]
    _, first, row_of = np.unique(keys, return_index=True, return_inverse=True)
    # Rows are in the order of pairs: those next to each other with the same pair are the ends of its segment.
    same = np.flatnonzero(ids[1:count, 0] == ids[: max(count - 1, 0), 0])
    joined = np.stack((row_of[same], row_of[same + 1]), axis=1).astype(np.int32)
    joined = joined[joined[:, 0] != joined[:, 1]]
    found, at = ids[first], numbers[first]
    return Crossings(found[:, 1].copy(), found[:, 2].copy(), at[:, 0].copy(), at[:, 1:].copy(), joined)


@kernel
def cross_edges(x, faces, edges, face_edges, pairs, ids, numbers):
    """ids : (6 k, 3) pair, edge, face; numbers : (6 k, 4) parameter, weights. Returns how many there are."""
    count = 0
    for p in range(len(pairs)):
        for side in range(2):
            f, g = pairs[p, side], pairs[p, 1 - side]
            corners = faces[g, 0], faces[g, 1], faces[g, 2]
            u, v, w = row(x, corners[0]), row(x, corners[1]), row(x, corners[2])
            n = cross(sub(v, u), sub(w, u))
            square = dot(n, n)
            for s in range(3):
                e = face_edges[f, s]
                if e < 0 or not square > 0.0:
                    continue
                a, b = edges[e, 0], edges[e, 1]
                if a in corners or b in corners:
                    continue
                t, weights = _passes(row(x, a), row(x, b), u, v, w, n, square)
                if t >= 0.0:
                    ids[count, 0], ids[count, 1], ids[count, 2] = p, e, g
                    numbers[count, 0] = t
                    for k in range(3):
                        numbers[count, 1 + k] = weights[k]
                    count += 1
    return count


@helper
def _passes(a, b, u, v, w, n, square):
    """Parameter of the edge a b and weights of u, v, w where it passes the face with normal n; -1 where not."""
    none = -1.0, (0.0, 0.0, 0.0)
    da, db = dot(sub(a, u), n), dot(sub(b, u), n)
    if (da > 0.0 and db > 0.0) or (da < 0.0 and db < 0.0) or da == db:
        return none
    t = da / (da - db)
    d = sub(lerp(a, b, t), u)
    wv = dot(cross(d, sub(w, u)), n) / square
    ww = dot(cross(sub(v, u), d), n) / square
    wu = 1.0 - wv - ww
    if not (wu >= _MARGIN and wv >= _MARGIN and ww >= _MARGIN):
        return none
    return t, (wu, wv, ww)
