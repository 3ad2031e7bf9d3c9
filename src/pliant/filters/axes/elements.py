"""Axes between elements (CSAT; paper 004, section 4.4): two triangles that one axis keeps apart during all of a motion.

The paper takes the normal at the start, which of the pairs of triangles with overlapping boxes of armadillo-rollers,
cloth-ball and n-body culls 54, 38 and 79 %. The line between the two centres, halfway through the motion, culls 91, 71
and 90 %, and corrected three times 97, 90 and 99 % (``separation``, ``lanes``). The normals of the two triangles at
the start take some of what is left, and more than half where ``step`` has shortened the motion: layers of cloth
that lie on each other.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, max_norm, scale, sub
from pliant.filters.axes.adjacent import NEITHER, SEPARATE, SHARED, SIDE, VERTEX, apart_but_for_common, common_corners
from pliant.filters.axes.adjacent_lanes import keep_fans, keep_hinges
from pliant.filters.axes.lanes import (
    ABOVE,
    BEST,
    BLOCK,
    LANES,
    NEVER,
    ONE,
    RADII,
    THRESHOLD,
    groups_of,
    load_corner,
    name_centres,
    over_relax,
    set_thresholds,
)
from pliant.filters.axes.separation import surely_above
from pliant.runtime.arrays import New
from pliant.runtime.jit import helper, in_line, kernel, one_copy
from pliant.runtime.threads import SERIAL, ThreadPool

_CORRECTIONS = 4  # of the few axes that are left when that between the centres is corrected once


def scaled_ends(
    x0: np.ndarray, x1: np.ndarray, horizon: float, factor: float, pool: ThreadPool = SERIAL, new: New = np.empty
) -> np.ndarray:
    """(n, 6) start and end of every vertex, side by side: what the test loads of a corner.

    factor: a power of two that brings the largest coordinate near 1.
    """
    out = new((len(x0), 6))
    pool.run_range(lambda a, b: _scale_ends(x0, x1, horizon, factor, out, a, b), len(x0))
    return out


def scaled(x: np.ndarray, factor: float, new: New = np.empty) -> np.ndarray:
    """(n, 3) the same where nothing moves: one position of every vertex."""
    return np.multiply(x, factor, out=new((len(x), 3)))


@kernel
def _scale_ends(x0, x1, horizon, factor, out, begin, end_of_range):
    for v in range(begin, end_of_range):
        for k in range(3):
            start, end = x0[v, k] * factor, x1[v, k] * factor
            out[v, k] = start
            out[v, 3 + k] = end if horizon == 1.0 else (1.0 - horizon) * start + horizon * end


@kernel
def cull_elements(corners, points, largest, padding, free, pairs, count, by_planes):
    """Move the pairs of elements (places) that no axis separates to the front; returns how many there are.

    corners: (k, 3) vertices; points: from scaled_ends; largest: their largest coordinate; padding: (k,) how far
    around it an element goes, or none; free: (n,) not 0 for vertices whose star does not meet itself, or none: two
    elements that have such a vertex in common are left out (``culling/stars``). by_planes: only the normals at the
    start are tried, which is Corollary 6.2 of paper 002: during the whole motion all corners of one are on one side of
    the plane of the other. What has no normal, a loose edge or point, has no plane, but can be on one side of that of
    another.
    """
    block, held, kept = np.empty(BLOCK, np.float32), np.empty((LANES, 2), np.int32), 0
    left, more = np.empty((2 * LANES, 2), np.int32), 0  # of those that the line between the centres leaves
    fans, hinges, fan_count, hinge_count = np.empty((2 * LANES, 4), np.int32), np.empty((2 * LANES, 4), np.int32), 0, 0
    few = False  # are adjacent
    for first in range(0, count, LANES):
        lanes, tried = min(LANES, count - first), few and not by_planes
        some, rest = pairs[first : first + lanes], lanes
        # Most of the others are settled by the line between the centres, for less than it takes to tell them apart.
        if tried:
            _copy(some, held)
            some, rest = held, _keep_inseparable(corners, points, padding, held[:lanes], block)
        separate, examined = 0, rest
        rest = _drop_free(corners, free[:0] if by_planes else free, some, rest, held)
        for lane in range(rest):  # every list gets it, and one of them counts it: no branch that could be mistaken
            i, j = held[lane, 0], held[lane, 1]
            shared = SHARED[common_corners(corners, i, j)]
            held[separate, 0], held[separate, 1] = i, j
            separate += shared == SEPARATE
            kind = NEITHER if by_planes and shared != SEPARATE else shared & 3
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += kind == NEITHER  # they touch, now and always
            _note(fans, fan_count, i, j, shared)
            fan_count += kind == VERTEX
            _note(hinges, hinge_count, i, j, shared)
            hinge_count += kind == SIDE
        if fan_count >= LANES:
            fan_count -= LANES
            kept = keep_fans(corners, points, padding, fans[fan_count : fan_count + LANES], block, pairs, kept)
        if hinge_count >= LANES:
            hinge_count -= LANES
            kept = keep_hinges(corners, points, padding, hinges[hinge_count : hinge_count + LANES], block, pairs, kept)
        few = 2 * (examined - separate) < lanes
        if not tried and not by_planes:
            separate = _keep_inseparable(corners, points, padding, held[:separate], block)
        for lane in range(separate):
            left[more, 0], left[more, 1] = held[lane, 0], held[lane, 1]
            more += 1
        if more >= LANES:
            more -= LANES
            some = left[more : more + LANES]
            kept = _cull_held(corners, points, largest, padding, some, block, by_planes, pairs, kept)
    kept = keep_fans(corners, points, padding, fans[:fan_count], block, pairs, kept)
    kept = keep_hinges(corners, points, padding, hinges[:hinge_count], block, pairs, kept)
    return _cull_held(corners, points, largest, padding, left[:more], block, by_planes, pairs, kept)


@helper
def _copy(pairs, out):
    for lane in range(len(pairs)):
        out[lane, 0], out[lane, 1] = pairs[lane, 0], pairs[lane, 1]


@helper
def _drop_free(corners, free, pairs, count, out):
    """The first pairs without those that have a free vertex in common; returns how many there are."""
    one_copy()
    if len(free) == 0:
        _copy(pairs[:count], out)
        return count
    kept = 0
    for lane in range(count):
        i, j = pairs[lane, 0], pairs[lane, 1]
        a, b, c = corners[j, 0], corners[j, 1], corners[j, 2]
        u, v, w = corners[i, 0], corners[i, 1], corners[i, 2]
        of_u = ((u == a) | (u == b) | (u == c)) & (free[np.uint32(u)] != 0)
        of_v = ((v == a) | (v == b) | (v == c)) & (free[np.uint32(v)] != 0)
        of_w = ((w == a) | (w == b) | (w == c)) & (free[np.uint32(w)] != 0)
        out[kept, 0], out[kept, 1] = i, j
        kept += not (of_u | of_v | of_w)
    return kept


@helper
def _note(held, lane, i, j, shared):
    held[lane, 0], held[lane, 1], held[lane, 2], held[lane, 3] = i, j, (shared >> 2) & 3, shared >> 4


@helper
def _keep_inseparable(corners, points, padding, pairs, block):
    """Move the pairs that the line between the centres, corrected once, does not separate to the front; returns how
    many there are."""
    one_copy()
    _relax_centres(corners, points, padding, pairs, block, 1)
    kept = 0
    for lane in range(len(pairs)):
        pairs[kept, 0], pairs[kept, 1] = pairs[lane, 0], pairs[lane, 1]
        kept += block[BEST + lane] < ONE
    return kept


@helper
def _cull_held(corners, points, largest, padding, held, block, by_planes, pairs, kept):
    """Note those that no axis separates after the pairs that are kept; returns how many these are then."""
    one_copy()
    if not by_planes:
        _relax_centres(corners, points, padding, held, block, _CORRECTIONS)
    for lane in range(len(held)):
        if not by_planes and block[BEST + lane] > ONE:
            continue
        i, j = held[lane, 0], held[lane, 1]
        gap, a, b = _gap(padding, i, j), _corners(corners, points, i, 0), _corners(corners, points, j, 0)
        ends = _corners(corners, points, i, 3), _corners(corners, points, j, 3)
        between = _between(a, b)
        # Where all of b is beyond a along a normal, so are the centres: the other way need not be tried.
        if _moving_apart(a, b, ends, _towards(between, _normal(a)), largest, gap) or _moving_apart(
            a, b, ends, _towards(between, _normal(b)), largest, gap
        ):
            continue
        pairs[kept, 0], pairs[kept, 1] = i, j
        kept += 1
    return kept


@helper
def _gap(padding, i, j):
    """What elements have to be apart by."""
    return padding[i] + padding[j] if len(padding) > 0 else 0.0


@kernel
def cull_resting_elements(corners, points, largest, padding, pairs, count, by_planes):
    """``cull_elements`` where nothing moves: start and end are one, (n, 3) points, and so is all that is evaluated.

    One after the other: half of the pairs have a corner in common, and over-relaxation takes little of the rest.
    """
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        common, gap = common_corners(corners, i, j), _gap(padding, i, j)
        if common > 0:
            surely_apart = not by_planes and apart_but_for_common(corners, points, (i, j), common, largest, gap)
        else:
            a, b = _corners(corners, points, i, 0), _corners(corners, points, j, 0)
            between = _between(a, b)
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
def _relax_centres(corners, points, padding, pairs, block, times):
    """Which of up to LANES pairs the line between the centres keeps apart, as it is or corrected so many times."""
    groups = groups_of(len(pairs))
    _load(corners, points, padding, pairs, block)
    set_thresholds(block, len(pairs), 0.0)
    name_centres(block, groups)
    for _ in range(times + 1):
        over_relax(block, groups)


@helper
def _load(corners, points, padding, pairs, block):
    """Coordinates relative to the first corner of the first element, in place of the threshold how far away it is, and
    how far both elements go around themselves."""
    one_copy()
    for lane in range(len(pairs)):
        i, j = pairs[lane, 0], pairs[lane, 1]
        origin = _point(points, np.uint32(corners[i, 0]), 0)
        for c in range(3):
            load_corner(points, np.uint32(corners[i, c]), origin, block, 3 * c * LANES + lane, 18 * LANES)
            load_corner(points, np.uint32(corners[j, c]), origin, block, (9 + 3 * c) * LANES + lane, 18 * LANES)
        block[BEST + lane], block[RADII + lane] = NEVER, np.float32(_gap(padding, i, j)) * ABOVE
        block[THRESHOLD + lane] = np.float32(max_norm(origin))


# ---- one after the other


@helper
def _corners(corners, points, i, first):
    """The three corners of element i, from the first of the numbers of each: 0, or 3 for the end of the motion."""
    in_line()
    return (
        _point(points, np.uint32(corners[i, 0]), first),
        _point(points, np.uint32(corners[i, 1]), first),
        _point(points, np.uint32(corners[i, 2]), first),
    )


@helper
def _point(points, v, first):
    in_line()
    return points[v, first], points[v, first + 1], points[v, first + 2]


@helper
def _between(a, b):
    """From the centre of a to that of b, three times."""
    return sub(_sum(b), _sum(a))


@helper
def _sum(a):
    return a[0][0] + a[1][0] + a[2][0], a[0][1] + a[1][1] + a[2][1], a[0][2] + a[1][2] + a[2][2]


@helper
def _normal(corners):
    return cross(sub(corners[1], corners[0]), sub(corners[2], corners[0]))


@helper
def _towards(direction, axis):
    """The axis, turned so that it points the same way as a direction."""
    return axis if dot(axis, direction) >= 0.0 else scale(axis, -1.0)


@helper
def _beyond(a, b, axis):
    """By how much b is beyond a along the axis."""
    in_line()
    a_end = max(max(dot(a[0], axis), dot(a[1], axis)), dot(a[2], axis))
    return min(min(dot(b[0], axis), dot(b[1], axis)), dot(b[2], axis)) - a_end


@helper
def _resting_apart(a, b, axis, largest, gap):
    """b is beyond a along the axis by more than the gap."""
    in_line()
    return surely_above(_beyond(a, b, axis), gap, axis, largest)


@helper
def _moving_apart(a, b, ends, axis, largest, gap):
    """The same at the start and at the end of the motion, where elements are that move."""
    in_line()
    least = _beyond(a, b, axis)
    return least > 0.0 and surely_above(min(least, _beyond(ends[0], ends[1], axis)), gap, axis, largest)
