"""Continuous separating axis test (CSAT; paper 004, Theorem 1 and its corollaries; Corollary 4.3 and Lemma 5.1 of 002).

If all points of one thing are on the same side of all points of the other along some axis L, at t = 0 and at t = 1, the
two never meet: every difference is linear in t, so it keeps its sign in between. Any L will do for the proof; which one
decides how much is culled. The paper takes the normal at the start. Here are the tests of two features; those of whole
elements are in ``csat_elements`` and ``csat_cells``.

A rounded L is still an axis, but differences that vanish for an exact normal do not vanish for it: every one of them is
evaluated (errata 14).
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.rounding import MARGIN, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, scale, sub
from pliant.runtime.jit import helper, in_line

# A difference of two points along L is a sum of up to three dot products of vectors, with coordinates up to m1, m2 and
# mw: 3 products each, and roundings 1 of the vector, 1 of the product, 2 of the dot product, 2 of the sum. Times
# m1 + m2 + mw and the largest coordinate of L. Where the motion is cut off, the part ``loose`` of each vector has the
# rest.
_ERROR = MARGIN * 3 * 6 * UNIT_ROUNDOFF
_OF_LOOSE = 3.0 * 3  # 3 coordinates of each vector; margin 3
_OF_FUZZ = 3 * 2 * 7 / 6  # 3 coordinates of two points; margin 7 / 6
# With magnitudes above 1e-70 (in_range) such products are far from the denormals, where errors are not relative.
_SHORTEST_AXIS = 1e-200
# Length of an axis, rounded up: half of 3 roundings of its square, the root, the product: 3.5. Axes are scaled such
# that squares of all but the useless ones are far from the denormals.
_LENGTH = 1.0 + 8 * UNIT_ROUNDOFF  # margin 2.3
_ROUNDED_AWAY = 1e-150


@helper
def separated_by(kind, start, end, m, axis, loose, fuzz, gap):
    """The features are apart along the axis, by more than the gap, during the whole motion.

    Proved for vectors that are off by a part ``loose`` of their size, between points that are off by ``fuzz``: a
    difference of two points by 2 fuzz in each of three coordinates.
    """
    in_line()
    length = max_norm(axis)
    if not length > _SHORTEST_AXIS:
        return False
    error = ((_ERROR + _OF_LOOSE * loose) * (m[0] + m[1] + m[2]) + _OF_FUZZ * fuzz) * length
    if gap > 0.0:
        error += gap * length_above(axis)
    low, high = _range(kind, start, axis)  # which mostly decides it: the end is looked at where it does not
    if low > error:
        return _range(kind, end, axis)[0] > error
    return high < -error and _range(kind, end, axis)[1] < -error


@helper
def apart_by_centres(kind, start, end, m, loose, fuzz, gap):
    """Separated along the line between the two centres, or along what is left of it across the relative velocity."""
    first, last = between_centres(kind, start), between_centres(kind, end)
    between = add(first, last)
    return separated_by(kind, start, end, m, between, loose, fuzz, gap) or separated_by(
        kind, start, end, m, across(between, sub(last, first)), loose, fuzz, gap
    )


@helper
def apart_by_sides(kind, start, end, m, loose, fuzz, gap):
    """Separated along the normal at the end, or along a line from one to the other across a side, halfway through.

    For pairs that advancement would have to decide, which takes five times as long. Of those that are apart and that
    the normal at the start and the centres leave it takes 30 % by the normal and another 20 % across sides, on
    cloth-ball.
    """
    if separated_by(kind, start, end, m, cross(end[0], end[1]), loose, fuzz, gap):
        return True
    e1, e2 = add(start[0], end[0]), add(start[1], end[1])
    if kind == VERTEX_FACE:
        w = add(start[2], end[2])
        return (
            separated_by(kind, start, end, m, across(w, e1), loose, fuzz, gap)
            or separated_by(kind, start, end, m, across(w, e2), loose, fuzz, gap)
            or separated_by(kind, start, end, m, across(sub(w, e1), sub(e2, e1)), loose, fuzz, gap)
        )
    first, last = between_centres(kind, start), between_centres(kind, end)
    between, velocity = add(first, last), sub(last, first)
    return (
        separated_by(kind, start, end, m, across(between, e1), loose, fuzz, gap)
        or separated_by(kind, start, end, m, across(between, e2), loose, fuzz, gap)
        or separated_by(kind, start, end, m, cross(velocity, e1), loose, fuzz, gap)
        or separated_by(kind, start, end, m, cross(velocity, e2), loose, fuzz, gap)
    )


@helper
def apart_though_flat(kind, start, end, m):
    """Separated by an axis across the relative velocity or across an edge, halfway through the motion.

    For the pairs on which the polynomials vanish (parallel edges that pass at a distance, motion within one plane),
    where doubles can prove nothing else. On passing_sheets the axes across edges settle 71 % of what the others leave.
    """
    velocity = sub(end[2], start[2])
    between = add(between_centres(kind, start), between_centres(kind, end))
    return (
        separated_by(kind, start, end, m, cross(velocity, start[0]), 0.0, 0.0, 0.0)
        or separated_by(kind, start, end, m, cross(velocity, start[1]), 0.0, 0.0, 0.0)
        or separated_by(kind, start, end, m, cross(velocity, cross(start[0], start[1])), 0.0, 0.0, 0.0)
        or separated_by(kind, start, end, m, across(between, add(start[0], end[0])), 0.0, 0.0, 0.0)
        or separated_by(kind, start, end, m, across(between, add(start[1], end[1])), 0.0, 0.0, 0.0)
    )


@helper
def length_above(axis):
    """At least the length of the axis."""
    return np.sqrt(dot(axis, axis)) * _LENGTH + _ROUNDED_AWAY


@helper
def across(vector, direction):
    """What is left of a vector without its part along a direction; zero, which separates nothing, where there is
    none."""
    length_squared = dot(direction, direction)
    if length_squared > 0.0:
        return sub(vector, scale(direction, dot(vector, direction) / length_squared))
    return 0.0, 0.0, 0.0


@helper
def _range(kind, vectors, axis):
    """Smallest and largest difference of a point of one feature and a point of the other, along the axis."""
    in_line()
    d1, d2, dw = dot(vectors[0], axis), dot(vectors[1], axis), dot(vectors[2], axis)
    if kind == VERTEX_FACE:  # v minus f0, f1, f2
        return dw - max(0.0, max(d1, d2)), dw - min(0.0, min(d1, d2))
    return dw - max(0.0, d1) + min(0.0, d2), dw - min(0.0, d1) + max(0.0, d2)  # b0, b1 minus a0, a1


@helper
def between_centres(kind, vectors):
    """From the centre of one feature to that of the other."""
    if kind == VERTEX_FACE:
        return sub(vectors[2], scale(add(vectors[0], vectors[1]), 1.0 / 3.0))
    return add(vectors[2], scale(sub(vectors[1], vectors[0]), 0.5))
