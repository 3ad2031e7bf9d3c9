"""Distances of pairs of features at an instant, for arrays of them."""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel
from pliant.elementary.distance import shortest, spread_of
from pliant.filters.bernstein import unit_factor
from pliant.mesh.features import VERTEX_FACE, quad
from pliant.vec3 import dot, max_norm, row, scale, sub

_NO_RADII = (0.0, 0.0, 0.0, 0.0)


@kernel
def closest_points(kind, points, radii):
    """distance (k,), weights (k, 4) and normal (k, 3) where the gap is least; points (k, 4, 3), radii (k, 4).

    The normal is 0 where the features touch.
    """
    count = len(points)
    distance, weights, normal = np.empty(count), np.empty((count, 4)), np.zeros((count, 3))
    for p in range(count):
        q = row(points[p], 0), row(points[p], 1), row(points[p], 2), row(points[p], 3)
        s, t, r, length, factor = _measured(kind, q, (radii[p, 0], radii[p, 1], radii[p, 2], radii[p, 3]))
        distance[p] = length / factor
        if length > 0.0:
            normal[p, 0], normal[p, 1], normal[p, 2] = r[0] / length, r[1] / length, r[2] / length
        if kind == VERTEX_FACE:
            weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = 1.0, min(0.0, s + t - 1.0), 0.0 - s, 0.0 - t
        else:
            weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = 1.0 - s, s, t - 1.0, 0.0 - t
    return distance, weights, normal


@kernel
def measure_in_doubles(kind, x, table, pairs, count, within):
    """Keep the pairs (rows 0 .. count - 1) that are within a distance, in place and in order; returns how many."""
    kept = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        _, _, _, length, factor = _measured(kind, (row(x, q[0]), row(x, q[1]), row(x, q[2]), row(x, q[3])), _NO_RADII)
        if length / factor <= within:
            pairs[kept, 0], pairs[kept, 1] = pairs[p, 0], pairs[p, 1]
            kept += 1
    return kept


@helper
def _measured(kind, p, radii):
    """(s, t, r, |r|, factor): what is closest, in units of 1 / factor: a power of two, by the size of the pair."""
    p = scale(p[0], 0.25), scale(p[1], 0.25), scale(p[2], 0.25), scale(p[3], 0.25)  # differences cannot overflow
    m = max(max_norm(sub(p[1], p[0])), max(max_norm(sub(p[2], p[0])), max_norm(sub(p[3], p[0]))))
    unit = unit_factor((m, m, m))
    p = scale(p[0], unit), scale(p[1], unit), scale(p[2], unit), scale(p[3], unit)
    factor = 0.25 * unit
    radii = radii[0] * factor, radii[1] * factor, radii[2] * factor, radii[3] * factor
    s, t, _, r, _ = shortest(kind, spread_of(kind, p, radii))
    return s, t, r, np.sqrt(dot(r, r)), factor
