"""Axes between two features (CSAT): paper 004, Corollaries 1 and 3; paper 002, Corollary 4.3, Lemmas 4.4, 5.1 and 5.2.

Paper 004 takes the normal at the start. The conditions of paper 002 are tests along one axis each, which the
configuration at the start gives:
  plane   Corollary 4.3 and Lemma 5.1: the normal n_P of the face, or of the plane that two edges span
  circle  Lemmas 4.4 and 5.2: n_C, in that plane, from the centre of one feature to the centre of the other
It bounds what is to be covered along the axis by d_P, or by d_C less the radii of bounding circles, and the motion by
its largest part along it. Both come down to the differences of the vertices along the axis at t = 0 and at t = 1, and
those are what is evaluated here, every one of them.

Why this is at least as strong as the circles: a vertex is within r of its circle's centre c, so its part along a unit
n_C is within r of that of c. If d_C > r1 + r2 + max(0, g) - the Lemmas as they have to be, outside at the start
(errata 11), g the largest relative motion over the vertices of one and of the other (errata 12) - then every
difference is at least d_C - r1 - r2 > 0 at t = 0, and at least d_C - r1 - r2 - g > 0 at t = 1. Neither n_C nor the
radii need to be rounded with care, and n_C need not be a unit vector: it is only an axis.
"""

from __future__ import annotations

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.rounding import MARGIN, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, scale, sub
from pliant.filters.axes.separation import SHORTEST_AXIS, across, length_above
from pliant.runtime.jit import helper, in_line

# A difference of two points along L is a sum of up to three dot products of vectors, with coordinates up to m1, m2 and
# mw: 3 products each, and roundings 1 of the vector, 1 of the product, 2 of the dot product, 2 of the sum. Times
# m1 + m2 + mw and the largest coordinate of L. Where the motion is cut off, the part ``relative_error`` of each vector
# has the rest.
_ERROR = MARGIN * 3 * 6 * UNIT_ROUNDOFF
_OF_RELATIVE_ERROR = 3.0 * 3  # 3 coordinates of each vector; margin 3
_OF_POSITION_ERROR = 3 * 2 * 7 / 6  # 3 coordinates of two points; margin 7 / 6


@helper
def separated_by(kind, start, end, m, axis, relative_error, position_error, gap):
    """The features are apart along the axis, by more than the gap, during the whole motion.

    Proved for vectors that are off by a part ``relative_error`` of their size, between points that are off by
    ``position_error``: a difference of two points by twice that in each of three coordinates.
    """
    in_line()
    length = max_norm(axis)
    if not length > SHORTEST_AXIS:
        return False
    error = (
        (_ERROR + _OF_RELATIVE_ERROR * relative_error) * (m[0] + m[1] + m[2]) + _OF_POSITION_ERROR * position_error
    ) * length
    if gap > 0.0:
        error += gap * length_above(axis)
    low, high = _range(kind, start, axis)  # which mostly decides it: the end is examined where it does not
    if low > error:
        return _range(kind, end, axis)[0] > error
    return high < -error and _range(kind, end, axis)[1] < -error


@helper
def apart_by_plane(kind, start, end, m, relative_error, position_error, gap):
    """Separated along the normal at the start; by more than the gap, for vectors as in ``separated_by``.

    Of a degenerate face, or parallel edges, there is none: the paper's d_P = 0, which separates nothing.
    """
    return separated_by(kind, start, end, m, cross(start[0], start[1]), relative_error, position_error, gap)


@helper
def apart_by_circle(kind, start, end, m, relative_error, position_error, gap):
    """Separated along the line between the centres at the start, as far as it lies in the plane at the start."""
    normal = cross(start[0], start[1])
    axis = between_centres(kind, start)
    if dot(normal, normal) > 0.0:  # else there are planes through both, and one of them holds the centres
        axis = across(axis, normal)
    return separated_by(kind, start, end, m, axis, relative_error, position_error, gap)


@helper
def apart_by_centres(kind, start, end, m, relative_error, position_error, gap):
    """Separated along the line between the two centres, or along what is left of it across the relative velocity."""
    first, last = between_centres(kind, start), between_centres(kind, end)
    between = add(first, last)
    return separated_by(kind, start, end, m, between, relative_error, position_error, gap) or separated_by(
        kind, start, end, m, across(between, sub(last, first)), relative_error, position_error, gap
    )


@helper
def apart_by_sides(kind, start, end, m, relative_error, position_error, gap):
    """Separated along the normal at the end, or along a line from one to the other across a side, halfway through.

    For pairs that advancement would have to decide, which takes five times as long. Of those that are apart and that
    the normal at the start and the centres leave it takes 30 % by the normal and another 20 % across sides, on
    cloth-ball.
    """
    if separated_by(kind, start, end, m, cross(end[0], end[1]), relative_error, position_error, gap):
        return True
    e1, e2 = add(start[0], end[0]), add(start[1], end[1])
    if kind == VERTEX_FACE:
        w = add(start[2], end[2])
        return (
            separated_by(kind, start, end, m, across(w, e1), relative_error, position_error, gap)
            or separated_by(kind, start, end, m, across(w, e2), relative_error, position_error, gap)
            or separated_by(kind, start, end, m, across(sub(w, e1), sub(e2, e1)), relative_error, position_error, gap)
        )
    first, last = between_centres(kind, start), between_centres(kind, end)
    between, velocity = add(first, last), sub(last, first)
    return (
        separated_by(kind, start, end, m, across(between, e1), relative_error, position_error, gap)
        or separated_by(kind, start, end, m, across(between, e2), relative_error, position_error, gap)
        or separated_by(kind, start, end, m, cross(velocity, e1), relative_error, position_error, gap)
        or separated_by(kind, start, end, m, cross(velocity, e2), relative_error, position_error, gap)
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
