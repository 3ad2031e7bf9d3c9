"""Adjacent elements, apart but for what they share: features of one and of the other that have no vertex in common.

Along an axis, at the start and at the end of the motion: what is apart there is so in between. Where meshes are
smooth most of the pairs that other axes leave are adjacent, triangles around a vertex: on cloth-ball at rest 8 in
10, of which this takes 6.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, dot, scale, sub
from pliant.filters.axes.separation import across, surely_above
from pliant.runtime.jit import helper, in_line

# How far the two axes of a common side are turned towards it, in parts of its length: so much may be lost of how far
# the third corners are beyond it, and so far it may turn during the motion.
TILT = 0.25
MORE_THAN_GAP = 1.02  # of squares
# Of the axis between elements with one corner in common, at rest. Of 30,272 such pairs of cloth in folds, within a
# quarter of an edge, 6,264 are left without corrections, 1,655 with two, 1,040 with four.
_CORRECTIONS = 4
SEPARATE, VERTEX, SIDE, NEITHER = 0, 1, 2, 3  # what two elements have in common


def _shared_of(common: int) -> int:
    """Of bits from ``common_corners``: SEPARATE; VERTEX or SIDE, with 4 times a corner of i and 16 times one of j, the
    common ones, or those that are not on the common side; or NEITHER.

    What has corners twice, loose edges and points, may count as having others in common than it has: then an axis for
    which the same corner would have to be on both sides of itself proves nothing.
    """
    of_i, of_j, one = common & 7, common >> 3, {1: 0, 2: 1, 4: 2}
    if of_i in one and of_j in one:
        return VERTEX + 4 * one[of_i] + 16 * one[of_j]
    if 7 - of_i in one and 7 - of_j in one:
        return SIDE + 4 * one[7 - of_i] + 16 * one[7 - of_j]
    return NEITHER if common else SEPARATE


SHARED = np.array([_shared_of(common) for common in range(64)], np.int64)


@helper
def common_corners(corners, i, j):
    """Bits 1, 2, 4 for the corners of element i that j has as well, and 8, 16, 32 for those of j; 0 where they are not
    adjacent."""
    a, b, c = corners[j, 0], corners[j, 1], corners[j, 2]
    u, v, w = corners[i, 0], corners[i, 1], corners[i, 2]
    of_u, of_v, of_w = (u == a) | (u == b) | (u == c), (v == a) | (v == b) | (v == c), (w == a) | (w == b) | (w == c)
    if not (of_u | of_v | of_w):  # one branch instead of nine
        return 0
    of_a, of_b, of_c = (u == a) | (v == a) | (w == a), (u == b) | (v == b) | (w == b), (u == c) | (v == c) | (w == c)
    return 1 * of_u + 2 * of_v + 4 * of_w + 8 * of_a + 16 * of_b + 32 * of_c


@helper
def apart_but_for_common(corners, points, pair, common, largest, gap):
    """Features of adjacent elements at rest that do not share a vertex are apart, by more than the gap.

    points: (n, 3) of the vertices; common: from ``common_corners``. ``adjacent_lanes`` has the same for elements that
    move.
    """
    in_line()
    shared = SHARED[common]
    kind, of_i, of_j = shared & 3, (shared >> 2) & 3, shared >> 4
    a, d = _from(corners, points, pair[0], of_i), _from(corners, points, pair[1], of_j)
    if kind == VERTEX:
        return _apart_but_for_vertex(a[0], (a[1], a[2]), (d[1], d[2]), largest, gap)
    return kind == SIDE and _apart_but_for_side(a[1], a[2], a[0], d[0], largest, gap)


@helper
def _from(corners, points, i, first):
    """The corners of element i, the named one first."""
    in_line()
    second, third = first + 1 if first < 2 else 0, first - 1 if first > 0 else 2
    return (
        _point(points, np.uint32(corners[i, first])),  # unsigned: without a look at the sign
        _point(points, np.uint32(corners[i, second])),
        _point(points, np.uint32(corners[i, third])),
    )


@helper
def _apart_but_for_vertex(common, of_i, of_j, largest, gap):
    """Elements with one corner in common, and the two other ones of either.

    Proved where all corners of one but the common one are beyond it along an axis, and those of the other on the other
    side of it: of two features that do not share it one does not have it, and so is beyond it, and the other one is
    not. The axis, a mean of the four ways from and to the common corner, is moved towards the one that goes least along
    it, on the way to the shortest of all their means (Gilbert): along that they go furthest, by its length.
    """
    in_line()
    axis = scale(sub(add(of_i[0], of_i[1]), add(of_j[0], of_j[1])), 0.25)
    for correction in range(_CORRECTIONS + 1):
        middle = dot(common, axis)
        a, b = dot(of_i[0], axis) - middle, dot(of_i[1], axis) - middle
        c, d = middle - dot(of_j[0], axis), middle - dot(of_j[1], axis)
        least = min(min(a, b), min(c, d))
        if surely_above(least, gap, axis, largest):
            return True
        if correction == _CORRECTIONS or not dot(axis, axis) > gap * gap:
            return False
        if min(a, b) <= min(c, d):
            worst = sub(of_i[0] if a <= b else of_i[1], common)
        else:
            worst = sub(common, of_j[0] if c <= d else of_j[1])
        back = sub(axis, worst)
        length_squared = dot(back, back)
        if not length_squared > 0.0:
            return False
        axis = sub(axis, scale(back, min(1.0, dot(axis, back) / length_squared)))
    return False


@helper
def _apart_but_for_side(a, b, c, d, largest, gap):
    """Elements a b c and a b d.

    Proved where d, a, b, c follow each other along one axis, and d, b, a, c along another one: along the first, c is
    beyond a, b and d, these are beyond d, and b c is beyond a d; along the second, a c is beyond b d. There are no more
    pairs without a common vertex. Both axes are the way from d to c across the side, turned towards b or a: a little,
    or so far that a and b are apart by the gap, too.
    """
    in_line()
    side = sub(b, a)
    way = across(sub(c, d), side)
    tilt = scale(side, TILT if gap == 0.0 else max(TILT, _least_tilt(way, side, gap)))
    first, second = add(way, tilt), sub(way, tilt)
    return surely_above(_in_a_row(d, a, b, c, first), gap, first, largest) and surely_above(
        _in_a_row(d, b, a, c, second), gap, second, largest
    )


@helper
def _least_tilt(way, side, gap):
    """t for which way + t side, across each other, has the ends of the side apart by a little more than the gap."""
    in_line()
    length_squared, least = dot(side, side), MORE_THAN_GAP * gap * gap
    if not length_squared > least:
        return 0.0  # they are nearer than that along any axis
    return np.sqrt(least * dot(way, way) / length_squared / (length_squared - least))


@helper
def _in_a_row(p, q, r, s, axis):
    """How far each is beyond the one before along the axis, at least."""
    in_line()
    along_q, along_r = dot(q, axis), dot(r, axis)
    return min(along_q - dot(p, axis), min(along_r - along_q, dot(s, axis) - along_r))


@helper
def _point(points, v):
    return points[v, 0], points[v, 1], points[v, 2]
