"""Adjacent elements, apart but for what they share: features of one and of the other that have no vertex in common.

Along an axis, at the start and at the end of the motion: what is apart there is so in between. Where meshes are
smooth most of the pairs that other axes leave are adjacent, triangles around a vertex: on cloth-ball at rest 8 in
10, of which this takes 6.
"""

from __future__ import annotations

from pliant.arithmetic.vec3 import add, dot, scale, sub
from pliant.filters.axes.separation import surely_above
from pliant.runtime.jit import helper, in_line


# How far the two axes of a common side are turned towards it, in parts of its length: so much may be lost of how far the
# third corners are beyond it, and so far it may turn during the motion.
_TILT = 0.25


@helper
def common_corners(corners, i, j):
    """Bits 1, 2, 4 for the corners of element i that j has as well, and 8, 16, 32 for those of j; 0 where they are not
    adjacent."""
    a, b, c = corners[j, 0], corners[j, 1], corners[j, 2]
    u, v, w = corners[i, 0], corners[i, 1], corners[i, 2]
    of_i = ((u == a) | (u == b) | (u == c)) + 2 * ((v == a) | (v == b) | (v == c)) + 4 * ((w == a) | (w == b) | (w == c))
    if of_i == 0:  # one branch instead of nine
        return 0
    return of_i + 8 * ((u == a) | (v == a) | (w == a)) + 16 * ((u == b) | (v == b) | (w == b)) + (
        32 * ((u == c) | (v == c) | (w == c))
    )


@helper
def apart_but_for_common(points, pair, common, largest, gap):
    """Features of adjacent elements that do not share a vertex are apart, by more than the gap.

    points: (k, 18), or (k, 9) where nothing moves; common: from ``common_corners``. What has corners twice, loose edges
    and points, may count as having others in common than it has: then nothing is proved.
    """
    in_line()
    of_i, of_j = common & 7, common >> 3
    if (of_i == 1 or of_i == 2 or of_i == 4) and (of_j == 1 or of_j == 2 or of_j == 4):
        return _apart_but_for_vertex(points, pair, of_i >> 1, of_j >> 1, largest, gap)
    of_i, of_j = 7 - of_i, 7 - of_j
    if (of_i == 1 or of_i == 2 or of_i == 4) and (of_j == 1 or of_j == 2 or of_j == 4):
        return _apart_but_for_side(points, pair, of_i >> 1, of_j >> 1, largest, gap)
    return False


@helper
def _apart_but_for_vertex(points, pair, of_i, of_j, largest, gap):
    """The same for elements with one corner in common, the given one of either.

    Proved where all corners of one but the common one are beyond it along an axis, and those of the other on the other
    side of it: of two features that do not share it one does not have it, and so is beyond it, and the other one is
    not.
    """
    in_line()
    of_i, of_j = 3 * of_i, 3 * of_j
    at = of_i, (of_i + 3) % 9, (of_i + 6) % 9, (of_j + 3) % 9, (of_j + 6) % 9
    axis = _fan_axis(points, pair, at, 0)
    if points.shape[1] > 9:
        axis = add(axis, _fan_axis(points, pair, at, 9))
    least = _fan_gap(points, pair, at, axis, 0)
    if points.shape[1] > 9 and least > 0.0:
        least = min(least, _fan_gap(points, pair, at, axis, 9))
    return surely_above(least, gap, axis, largest)


@helper
def _apart_but_for_side(points, pair, of_i, of_j, largest, gap):
    """The same for elements a b c and a b d, of which the given corners are c and d.

    Proved where d, a, b, c follow each other along one axis, and d, b, a, c along another one: along the first, c is
    beyond a, b and d, these are beyond d, and b c is beyond a d; along the second, a c is beyond b d. More pairs without
    a common vertex there are not. Both axes are the way from d to c across the side, turned a little towards b or a.
    """
    in_line()
    of_i, of_j = 3 * of_i, 3 * of_j
    at = (of_i + 3) % 9, (of_i + 6) % 9, of_i, of_j
    way, side = _hinge(points, pair, at, 0)
    if points.shape[1] > 9:
        more = _hinge(points, pair, at, 9)
        way, side = add(way, more[0]), add(side, more[1])
    length_squared = dot(side, side)
    if not length_squared > 0.0:
        return False
    way = sub(way, scale(side, dot(way, side) / length_squared))
    tilt = scale(side, _TILT)
    first, second = add(way, tilt), sub(way, tilt)
    least, other = _in_a_row(points, pair, at, first, 0), _in_a_row(points, pair, (at[1], at[0], at[2], at[3]), second, 0)
    if points.shape[1] > 9 and least > 0.0 and other > 0.0:
        least = min(least, _in_a_row(points, pair, at, first, 9))
        other = min(other, _in_a_row(points, pair, (at[1], at[0], at[2], at[3]), second, 9))
    return surely_above(least, gap, first, largest) and surely_above(other, gap, second, largest)


@helper
def _hinge(points, pair, at, end):
    """From d to c, and from a to b."""
    in_line()
    a, b = _point(points, pair[0], at[0] + end), _point(points, pair[0], at[1] + end)
    return sub(_point(points, pair[0], at[2] + end), _point(points, pair[1], at[3] + end)), sub(b, a)


@helper
def _in_a_row(points, pair, at, axis, end):
    """The least of how far a is beyond d, b beyond a, and c beyond b along the axis."""
    in_line()
    a, b = _along(points, pair[0], at[0] + end, axis), _along(points, pair[0], at[1] + end, axis)
    c, d = _along(points, pair[0], at[2] + end, axis), _along(points, pair[1], at[3] + end, axis)
    return min(a - d, min(b - a, c - b))


@helper
def _fan_axis(points, pair, at, end):
    """From the other corners of j to the other corners of i."""
    in_line()
    first = add(_point(points, pair[0], at[1] + end), _point(points, pair[0], at[2] + end))
    return sub(first, add(_point(points, pair[1], at[3] + end), _point(points, pair[1], at[4] + end)))


@helper
def _fan_gap(points, pair, at, axis, end):
    """How far the other corners are from the common one along the axis, at least; those of j the other way."""
    in_line()
    middle = dot(_point(points, pair[0], at[0] + end), axis)
    beyond = min(_along(points, pair[0], at[1] + end, axis), _along(points, pair[0], at[2] + end, axis))
    before = max(_along(points, pair[1], at[3] + end, axis), _along(points, pair[1], at[4] + end, axis))
    return min(beyond - middle, middle - before)


@helper
def _along(points, i, k, axis):
    return dot(_point(points, i, k), axis)


@helper
def _point(points, i, k):
    return points[i, k], points[i, k + 1], points[i, k + 2]
