"""How far two triangles are apart at rest: the least of the 15 distances of their features, or 0 where they intersect.

Triangles that do not intersect are closest at a vertex and a face or at two edges; whether they intersect is decided
exactly (``triangles``).
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import cross, dot, max_norm, scale, sub
from pliant.elementary.certified import MISS
from pliant.elementary.distance import shortest, spread_of
from pliant.elementary.triangle_advance import QUADS
from pliant.elementary.triangles import decide_triangles
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally


def triangle_distances(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """distance (k,), weights (k, 6): positive of the first, negative of the second; normal (k, 3); x : (k, 6, 3)."""
    count = len(x)
    corners = np.arange(6 * count, dtype=np.int32).reshape(-1, 3)
    pairs = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
    status, segments = np.empty(count, np.int8), np.empty((count, 2, 3))
    decide_triangles(x.reshape(-1, 3), corners, pairs, status, segments, Tally())
    distance, weights, normal = np.empty(count), np.zeros((count, 6)), np.empty((count, 3))
    _measure(x, QUADS, status != MISS, segments, distance, weights, normal)
    return distance, weights, normal


@kernel
def _measure(x, quads, crossing, segments, distance, weights, normal):
    for p in range(len(x)):
        points, factor = _unit_points(x, p)
        if crossing[p]:
            distance[p] = 0.0
            _weigh_common_point(points, segments, factor, p, weights)
            n = _some_normal(points)
        else:
            distance[p], n = _weigh_closest(points, quads, p, weights)
            distance[p] /= factor
        normal[p, 0], normal[p, 1], normal[p, 2] = n


@helper
def _unit_points(x, p):
    """The six points times a power of two that brings the largest coordinate near 1, and that factor."""
    largest = 0.0
    for c in range(6):
        for k in range(3):
            largest = max(largest, 0.25 * abs(x[p, c, k]))
    factor = 0.25 * unit_factor((largest, largest, largest))
    points = np.empty((6, 3))
    for c in range(6):
        for k in range(3):
            points[c, k] = x[p, c, k] * factor
    return points, factor


@helper
def _corner(points, c):
    return points[c, 0], points[c, 1], points[c, 2]


@helper
def closest_features(corners, quads):
    """(number, s, t, r, length) of the closest pair of features of two triangles, given by their six corners."""
    nothing, first, best_s, best_t, n, best = (0.0, 0.0, 0.0, 0.0), 0, 0.0, 0.0, (0.0, 0.0, 0.0), np.inf
    for f in range(15):
        kind = VERTEX_FACE if f < 6 else EDGE_EDGE
        at = corners[quads[f, 0]], corners[quads[f, 1]], corners[quads[f, 2]], corners[quads[f, 3]]
        s, t, _, r, length = shortest(kind, spread_of(kind, at, nothing))
        if length < best:
            first, best_s, best_t, n, best = f, s, t, r, length
    return first, best_s, best_t, n, best


@helper
def _weigh_closest(points, quads, p, weights):
    """(distance, normal) and weights where two features are closest."""
    corners = (
        _corner(points, 0), _corner(points, 1), _corner(points, 2),
        _corner(points, 3), _corner(points, 4), _corner(points, 5),
    )  # fmt: skip
    best_f, best_s, best_t, n, best = closest_features(corners, quads)
    turned = -1.0 if 3 <= best_f < 6 else 1.0  # a vertex of the second triangle comes first in its pair
    if best_f < 6:
        of = turned, -turned * (1.0 - best_s - best_t), -turned * best_s, -turned * best_t
    else:
        of = 1.0 - best_s, best_s, best_t - 1.0, -best_t
    for k in range(4):
        weights[p, quads[best_f, k]] = of[k]
    if best > 0.0:
        return best, scale(n, turned / best)
    return 0.0, _some_normal(points)  # what does not intersect and has no distance in doubles


@helper
def _weigh_common_point(points, segments, factor, p, weights):
    """The middle of what the triangles share, from the corners of either."""
    middle = (
        0.5 * (segments[p, 0, 0] * factor) + 0.5 * (segments[p, 1, 0] * factor),
        0.5 * (segments[p, 0, 1] * factor) + 0.5 * (segments[p, 1, 1] * factor),
        0.5 * (segments[p, 0, 2] * factor) + 0.5 * (segments[p, 1, 2] * factor),
    )
    for first in range(0, 6, 3):
        at = middle, _corner(points, first), _corner(points, first + 1), _corner(points, first + 2)
        s, t, _, _, _ = shortest(VERTEX_FACE, spread_of(VERTEX_FACE, at, (0.0, 0.0, 0.0, 0.0)))
        sign = 1.0 if first == 0 else -1.0
        weights[p, first], weights[p, first + 1], weights[p, first + 2] = sign * (1.0 - s - t), sign * s, sign * t


@helper
def _some_normal(points):
    """The normal of the second triangle; of the first where it has none; else any unit vector."""
    for first in (3, 0):
        corner = _corner(points, first)
        n = cross(sub(_corner(points, first + 1), corner), sub(_corner(points, first + 2), corner))
        size = max_norm(n)
        if size > 1e-280:
            n = scale(n, 1.0 / size)
            return scale(n, 1.0 / np.sqrt(dot(n, n)))
    return 0.0, 0.0, 1.0
