"""CSAT between elements (paper 004, section 4.4): two triangles that one axis keeps apart during the whole motion.

The paper takes the normal at the start, which of the pairs of triangles with overlapping boxes of armadillo-rollers,
cloth-ball and n-body culls 54, 38 and 79 %. The line between the two centres, halfway through the motion, culls 91, 71
and 90 %, and leaned three times 97, 90 and 99 % (``lanes``). The normals of the two triangles at the start take some of
what is left, and more than half where ``safe_step`` has shortened the motion: layers of cloth that lie on each other.
"""

from __future__ import annotations

import numpy as np

from pliant._arrays import New
from pliant._jit import helper, in_line, kernel, one_copy
from pliant._threads import ALONE, Crew
from pliant.filters.adjacent import apart_but_for_common, common_corner
from pliant.filters.axes import exceeds
from pliant.filters.lanes import (
    ABOVE,
    BEST,
    BLOCK,
    LANES,
    NEVER,
    ONE,
    RADII,
    SLACK,
    groups_of,
    lean,
    name_centres,
    set_slack,
)
from pliant.vec3 import UNIT_ROUNDOFF, cross, dot, max_norm, scale, sub

# Dot products of coordinates up to M with L are wrong by 3 u M |L|_1, and ends of a motion cut off at a horizon by 8 u
# M in each coordinate: 22 u for a difference of two. What ``lanes`` allows for far coordinates is more than that.
_ERROR = 32 * UNIT_ROUNDOFF
_LEANED = 4  # times, of the few pairs that the line between the centres leaves when it is leaned once


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
    """Move the pairs of elements (places) that no axis separates to the front; returns how many there are.

    corners: (k, 3) vertices; points: from gather_corners; largest: their largest coordinate; reach: (k,) how far around
    it an element goes, or none. by_planes: only the normals at the start are tried, which is Corollary 6.2 of paper
    002: during the whole motion all corners of one are on one side of the plane of the other. What has no normal, a
    loose edge or point, has no plane, but can be on one side of another's.
    """
    block, kept = np.empty(BLOCK, np.float32), 0
    if not by_planes:
        for first in range(0, count, LANES):
            some = pairs[first : min(first + LANES, count)]
            _lean_centres(points, reach, some, block, 1)
            for lane in range(len(some)):
                pairs[kept, 0], pairs[kept, 1] = some[lane, 0], some[lane, 1]
                kept += block[BEST + lane] < ONE
        count, kept = kept, 0
    held, lanes = np.empty((LANES, 2), np.int32), 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        common = common_corner(corners, i, j)
        if common < 0:
            held[lanes, 0], held[lanes, 1] = i, j
            lanes += 1
        elif by_planes or not apart_but_for_common(points, (i, j), common, largest, _gap(reach, i, j)):
            pairs[kept, 0], pairs[kept, 1] = i, j  # they touch, now and always
            kept += 1
        if lanes == LANES:
            kept = _cull_held(points, largest, reach, held, block, by_planes, pairs, kept)
            lanes = 0
    return _cull_held(points, largest, reach, held[:lanes], block, by_planes, pairs, kept)


@helper
def _cull_held(points, largest, reach, held, block, by_planes, pairs, kept):
    """Note those that no axis separates after the pairs that are kept; returns how many these are then."""
    one_copy()
    if not by_planes:
        _lean_centres(points, reach, held, block, _LEANED)
    for lane in range(len(held)):
        if not by_planes and block[BEST + lane] > ONE:
            continue
        i, j = held[lane, 0], held[lane, 1]
        gap, a, b = _gap(reach, i, j), _corners(points, i), _corners(points, j)
        start = sub(_sum(b[0], b[1], b[2]), _sum(a[0], a[1], a[2]))
        # Where all of b is beyond a along a normal, so are the centres: the other way need not be tried.
        if _elements_apart(a, b, _towards(start, _normal(a)), largest, gap) or _elements_apart(
            a, b, _towards(start, _normal(b)), largest, gap
        ):
            continue
        pairs[kept, 0], pairs[kept, 1] = i, j
        kept += 1
    return kept


@helper
def _gap(reach, i, j):
    """What elements have to be apart by."""
    return reach[i] + reach[j] if len(reach) > 0 else 0.0


@kernel
def cull_resting_elements(corners, points, largest, reach, pairs, count, by_planes):
    """``cull_elements`` where nothing moves: start and end are one, (k, 9) points, and so is all that is evaluated.

    One after the other: half of the pairs have a corner in common, and leaning takes little of the rest.
    """
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        common, gap = common_corner(corners, i, j), _gap(reach, i, j)
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


# ---- side by side


@helper
def _lean_centres(points, reach, pairs, block, times):
    """Which of up to LANES pairs the line between the centres keeps apart, as it is or leaned so many times."""
    groups = groups_of(len(pairs))
    _load(points, reach, pairs, block)
    set_slack(block, len(pairs), 0.0)
    name_centres(block, groups)
    for _ in range(times + 1):
        lean(block, groups)


@helper
def _load(points, reach, pairs, block):
    """Coordinates relative to the first corner of the first element, in place of the slack how far away that is, and
    how far both elements go around themselves."""
    one_copy()
    for lane in range(len(pairs)):
        i, j = pairs[lane, 0], pairs[lane, 1]
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for c in range(6):  # three at the start, three at the end
            row = (3 * c if c < 3 else 9 + 3 * c) * LANES + lane
            block[row] = np.float32(points[i, 3 * c] - x)
            block[row + LANES] = np.float32(points[i, 3 * c + 1] - y)
            block[row + 2 * LANES] = np.float32(points[i, 3 * c + 2] - z)
            block[row + 9 * LANES] = np.float32(points[j, 3 * c] - x)
            block[row + 10 * LANES] = np.float32(points[j, 3 * c + 1] - y)
            block[row + 11 * LANES] = np.float32(points[j, 3 * c + 2] - z)
        block[BEST + lane], block[RADII + lane] = NEVER, np.float32(_gap(reach, i, j)) * ABOVE
        block[SLACK + lane] = np.float32(max_norm((x, y, z)))


# ---- one after the other


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
    slack = _ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290
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
    slack = _ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290
    a_end = max(max(dot(a[0], axis), dot(a[1], axis)), dot(a[2], axis)) + slack
    least = min(min(dot(b[0], axis), dot(b[1], axis)), dot(b[2], axis)) - a_end
    if not least > 0.0:
        return False
    a_end = max(max(dot(a[3], axis), dot(a[4], axis)), dot(a[5], axis)) + slack
    least = min(least, min(min(dot(b[3], axis), dot(b[4], axis)), dot(b[5], axis)) - a_end)
    return exceeds(least, gap, axis)
