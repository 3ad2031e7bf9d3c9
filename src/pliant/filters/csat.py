"""Continuous separating axis test (CSAT; paper 004, Theorem 1 and its corollaries; Corollary 4.3 and Lemma 5.1 of 002).

If all points of one thing are on the same side of all points of the other along some axis L, at t = 0 and at t = 1, the
two never meet: every difference is linear in t, so it keeps its sign in between. Any L will do for the proof; which one
decides how much is culled. The paper takes the normal at the start; measured on the pairs of triangles with overlapping
boxes of armadillo-rollers, cloth-ball and n-body, that culls 54, 38 and 79 %. The line between the two centres, halfway
through the motion, culls 86, 63 and 83 %, and what is left of it without its part along the relative velocity 88, 54
and 88 %: both together 91, 65 and 92 %. The normals of the two triangles at the start take 10, 22 and 1 % of what is
left, and more than half where ``safe_step`` has shortened the motion: layers of cloth that lie on each other.

A rounded L is still an axis, but differences that vanish for an exact normal do not vanish for it: every one of them is
evaluated (errata 14).
"""

from __future__ import annotations

import numpy as np

from pliant._arrays import New
from pliant._jit import helper, in_line, kernel
from pliant._threads import ALONE, Crew
from pliant.filters.adjacent import apart_but_for_common, common_corner
from pliant.filters.axes import exceeds
from pliant.mesh.features import VERTEX_FACE
from pliant.vec3 import UNIT_ROUNDOFF, add, cross, dot, max_norm, scale, sub

# Of elements: dot products of coordinates up to M with L are wrong by 3 u M |L|_1, and ends of a motion cut off at a
# horizon by 8 u M in each coordinate: 22 u for a difference of two.
_ELEMENT_ERROR = 32 * UNIT_ROUNDOFF
# Of features: a difference of dot products has 1 + 1 + 2 + 2 roundings on 3 products of a coordinate up to m and one of
# L; where the motion is cut off, looseness has the rest.
_ERROR = 1.05 * 3 * 6 * UNIT_ROUNDOFF
# With magnitudes above 1e-70 (in_range) such products are far from the denormals, where errors are not relative.
_SHORTEST_AXIS = 1e-200


def gather_corners(
    corners: np.ndarray, x0: np.ndarray, x1: np.ndarray, horizon: float, factor: float, crew: Crew = ALONE,
    new: New = np.empty,
) -> np.ndarray:  # fmt: skip
    """(k, 18) start and end positions of the three corners of every element: what the test loads, in one piece.

    factor: a power of two that brings the largest coordinate near 1.
    """
    out = new((len(corners), 18))
    crew.run_range(lambda a, b: _gather_corners(corners, x0, x1, horizon, factor, out, a, b), len(corners))
    return out


def gather_resting_corners(
    corners: np.ndarray, x: np.ndarray, factor: float, crew: Crew = ALONE, new: New = np.empty
) -> np.ndarray:
    """(k, 9) the same where nothing moves: positions of the three corners."""
    out = new((len(corners), 9))
    crew.run_range(lambda a, b: _gather_resting_corners(corners, x, factor, out, a, b), len(corners))
    return out


@kernel
def _gather_resting_corners(corners, x, factor, out, begin, end_of_range):
    for i in range(begin, end_of_range):
        for c in range(3):
            for k in range(3):
                out[i, 3 * c + k] = x[corners[i, c], k] * factor


@kernel
def _gather_corners(corners, x0, x1, horizon, factor, out, begin, end_of_range):
    for i in range(begin, end_of_range):
        for c in range(3):
            v = corners[i, c]
            for k in range(3):
                start, end = x0[v, k] * factor, x1[v, k] * factor
                out[i, 3 * c + k] = start
                out[i, 9 + 3 * c + k] = end if horizon == 1.0 else (1.0 - horizon) * start + horizon * end


@kernel
def cull_elements(corners, points, largest, reach, pairs, count, by_planes):
    """Keep the pairs of elements (places) that no axis separates, in place and in order; returns how many.

    corners: (k, 3) vertices; points: from gather_corners; largest: their largest coordinate; reach: (k,) how far around
    it an element goes, or none. by_planes: only the normals at the start are tried, which is Corollary 6.2 of paper
    002: during the whole motion all corners of one are on one side of the plane of the other. What has no normal, a
    loose edge or point, has no plane, but can be on one side of another's.
    """
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        common = common_corner(corners, i, j)
        if common >= 0:  # they touch, now and always
            gap = reach[i] + reach[j] if len(reach) > 0 else 0.0
            if by_planes or not apart_but_for_common(points, (i, j), common, largest, gap):
                pairs[kept, 0], pairs[kept, 1] = i, j
                kept += 1
            continue
        a, b = _corners(points, i), _corners(points, j)
        start = sub(_sum(b[0], b[1], b[2]), _sum(a[0], a[1], a[2]))
        end = sub(_sum(b[3], b[4], b[5]), _sum(a[3], a[4], a[5]))
        between = add(start, end)
        gap = reach[i] + reach[j] if len(reach) > 0 else 0.0
        if not by_planes and (
            _elements_apart(a, b, between, largest, gap)
            or (start != end and _elements_apart(a, b, across(between, sub(end, start)), largest, gap))
        ):
            continue
        # Where all of b is beyond a along a normal, at both ends, so are the centres: the other way need not be tried.
        if _elements_apart(a, b, _towards(between, _normal(a)), largest, gap) or _elements_apart(
            a, b, _towards(between, _normal(b)), largest, gap
        ):
            continue
        pairs[kept, 0], pairs[kept, 1] = i, j
        kept += 1
    return kept


@kernel
def cull_resting_elements(corners, points, largest, reach, pairs, count, by_planes):
    """``cull_elements`` where nothing moves: start and end are one, (k, 9) points, and so is all that is evaluated."""
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        common, gap = common_corner(corners, i, j), reach[i] + reach[j] if len(reach) > 0 else 0.0
        if common >= 0:
            surely_apart = not by_planes and apart_but_for_common(points, (i, j), common, largest, gap)
        else:
            a, b = _resting_corners(points, i), _resting_corners(points, j)
            between = sub(_sum(b[0], b[1], b[2]), _sum(a[0], a[1], a[2]))
            surely_apart = (
                (not by_planes and _resting_apart(a, b, between, largest, gap))
                or _resting_apart(a, b, _towards(between, _normal(a)), largest, gap)
                or _resting_apart(a, b, _towards(between, _normal(b)), largest, gap)
            )
        if not surely_apart:
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@helper
def _resting_corners(points, i):
    in_line()
    return (
        (points[i, 0], points[i, 1], points[i, 2]),
        (points[i, 3], points[i, 4], points[i, 5]),
        (points[i, 6], points[i, 7], points[i, 8]),
    )


@helper
def _resting_apart(a, b, axis, largest, gap):
    """b is beyond a along the axis by more than the gap; as in ``_elements_apart``."""
    in_line()
    slack = _ELEMENT_ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290
    a_end = max(max(dot(a[0], axis), dot(a[1], axis)), dot(a[2], axis)) + slack
    least = min(min(dot(b[0], axis), dot(b[1], axis)), dot(b[2], axis)) - a_end
    return exceeds(least, gap, axis)


@helper
def _normal(corners):
    return cross(sub(corners[1], corners[0]), sub(corners[2], corners[0]))


@helper
def _towards(direction, axis):
    """The axis, turned so that it points the same way as a direction."""
    return axis if dot(axis, direction) >= 0.0 else scale(axis, -1.0)


@helper
def _corners(points, i):
    in_line()
    return (
        (points[i, 0], points[i, 1], points[i, 2]),
        (points[i, 3], points[i, 4], points[i, 5]),
        (points[i, 6], points[i, 7], points[i, 8]),
        (points[i, 9], points[i, 10], points[i, 11]),
        (points[i, 12], points[i, 13], points[i, 14]),
        (points[i, 15], points[i, 16], points[i, 17]),
    )


@helper
def _sum(a, b, c):
    return a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]


@helper
def _elements_apart(a, b, axis, largest, gap):
    """b is beyond a along the axis by more than the gap, at the start and at the end of the motion."""
    in_line()
    slack = _ELEMENT_ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290
    a_end = max(max(dot(a[0], axis), dot(a[1], axis)), dot(a[2], axis)) + slack
    least = min(min(dot(b[0], axis), dot(b[1], axis)), dot(b[2], axis)) - a_end
    if not least > 0.0:
        return False
    a_end = max(max(dot(a[3], axis), dot(a[4], axis)), dot(a[5], axis)) + slack
    least = min(least, min(min(dot(b[3], axis), dot(b[4], axis)), dot(b[5], axis)) - a_end)
    return exceeds(least, gap, axis)


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
    error = ((_ERROR + 9.0 * loose) * (m[0] + m[1] + m[2]) + 7.0 * fuzz) * length
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
    """Rounded up; axes are scaled such that squares of all but the useless ones are far from the denormals."""
    return np.sqrt(dot(axis, axis)) * (1.0 + 8.0 * UNIT_ROUNDOFF) + 1e-150


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
