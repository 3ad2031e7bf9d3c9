"""Adjacent elements, apart but for what they share: features of one and of the other that have no vertex in common.

Along an axis, at the start and at the end of the motion: what is apart there is so in between. Where meshes are
smooth most of the pairs that other axes leave are adjacent, triangles around a vertex: on cloth-ball at rest 8 in
10, of which this takes 6.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, dot, sub
from pliant.filters.axes.separation import surely_above
from pliant.runtime.jit import helper, in_line


@helper
def common_corner(corners, i, j):
    """3 k + l where corner k of element i is corner l of element j, the first such; -1 where they are not adjacent."""
    a, b, c = corners[j, 0], corners[j, 1], corners[j, 2]
    u, v, w = corners[i, 0], corners[i, 1], corners[i, 2]
    of_u, of_v, of_w = (u == a) | (u == b) | (u == c), (v == a) | (v == b) | (v == c), (w == a) | (w == b) | (w == c)
    if not (of_u | of_v | of_w):  # one branch instead of nine
        return -1
    k, v = (0, u) if of_u else (1, v) if of_v else (2, w)
    return 3 * k + (0 if v == a else 1 if v == b else 2)


@helper
def apart_but_for_common(corners, points, pair, common, largest, gap):
    """Features of adjacent elements that do not share a vertex are apart, by more than the gap.

    Proved where all corners of one but the common one are beyond it along an axis, and those of the other on the other
    side of it: of two features that do not share it one does not have it, and so is beyond it, and the other one is
    not. Elements with two corners in common never are, as the second would have to be on both sides.

    points: (n, 6) start and end of the vertices, or (n, 3) where nothing moves; common: from ``common_corner``.
    """
    in_line()
    i, j, k, m = pair[0], pair[1], common // 3, common % 3
    middle, beyond = np.uint32(corners[i, k]), _others(corners, i, k)
    before = _others(corners, j, m)
    axis = _fan_axis(points, beyond, before, 0)
    if points.shape[1] > 3:
        axis = add(axis, _fan_axis(points, beyond, before, 3))
    least = _fan_gap(points, middle, beyond, before, axis, 0)
    if points.shape[1] > 3 and least > 0.0:
        least = min(least, _fan_gap(points, middle, beyond, before, axis, 3))
    return surely_above(least, gap, axis, largest)


@helper
def _others(corners, i, k):
    """The corners of element i after its k-th; unsigned, which needs no look at their signs."""
    in_line()
    return np.uint32(corners[i, k + 1 if k < 2 else 0]), np.uint32(corners[i, k - 1 if k > 0 else 2])


@helper
def _fan_axis(points, beyond, before, end):
    """From the other corners of j to the other corners of i."""
    in_line()
    first = add(_point(points, beyond[0], end), _point(points, beyond[1], end))
    return sub(first, add(_point(points, before[0], end), _point(points, before[1], end)))


@helper
def _fan_gap(points, middle, beyond, before, axis, end):
    """How far the other corners are from the common one along the axis, at least; those of j the other way."""
    in_line()
    at = _along(points, middle, end, axis)
    least = min(_along(points, beyond[0], end, axis), _along(points, beyond[1], end, axis))
    most = max(_along(points, before[0], end, axis), _along(points, before[1], end, axis))
    return min(least - at, at - most)


@helper
def _along(points, v, k, axis):
    return dot(_point(points, v, k), axis)


@helper
def _point(points, v, k):
    return points[v, k], points[v, k + 1], points[v, k + 2]
