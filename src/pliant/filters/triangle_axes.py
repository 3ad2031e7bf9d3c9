"""Whole triangles that one axis after another keeps apart: what is common to Corollaries 6.2 and 6.3 of paper 002.

Two moving triangles whose projections on an axis L are apart, at a time and at the end of the motion, are apart in
between. If they are apart at that time only, they still are until the gap, which shrinks at most linearly, is used up:
the largest projection of the one is a convex function of time, the smallest of the other a concave one. So each axis
says how far it can be trusted, the best one is followed to there, and the triangles that are there then name new axes:
conservative advancement without a distance. The axes are
  centres        the line between the centres, halfway
  Corollary 6.2  the normal of either face
  Corollary 6.3  what an edge of each spans (both triangles on its two sides)
  in turn        those of 6.2 and 6.3 again, at later times
The corollaries ask for one axis of the start that lasts to the end; that the axes may change is ours.

Pairs are taken LANES at a time, each coordinate a row of a block, in single precision, so that the compiler works on
eight at once: 4 ns an axis, where doubles take 10 and one pair after the other 20. The rows are parts of one array with
a fixed stride: with a stride that is not known to the compiler it cannot tell them from what it writes.

Error bound, u = 2^-24. Coordinates are taken relative to a0 at the start and scaled such that the largest is 1: each is
off by at most 2.01 u (the factor itself is rounded too, but it is the same for all), the difference of two by 4.02. A
dot product with L has three roundings and is off by at most 3.01 u |L|_1, the difference of two by 6.02, and its
comparison with the slack by u (2 |L|_1 + slack). Positions at a later time are off by at most 5 u in each coordinate
for every step that was taken, on both sides of the difference: 10 u |L|_1 a step (the time itself is rounded too, but
it is the same for all corners). A slack of (16 + 12 STEPS) u |L|_1 is more than all that. |L| above 1e-15 keeps what
underflow rounds away, 1e-45 each, far below it. Triangles that single precision cannot hold are passed on.
"""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel, one_copy
from pliant.vec3 import dot, max_norm

LANES = 64
_PART = 16 * LANES  # pairs that the second-level cache holds while they are loaded up to three times
_AT_ONCE = 8  # loops over a multiple of this need no code for what is left over; lanes beyond the last hold anything
# 36 coordinates (now, at the end), how far the best axis so far can be trusted, what has to lie between projections per
# |L|_1, steps taken in time, and the axis.
BLOCK = 42 * LANES
_BEST, _SLACK, _STEPS, _AXIS = 36 * LANES, 37 * LANES, 38 * LANES, 39 * LANES

# Of random pairs that never touch, four steps leave 0.05, 0.15 and 0.4 % (small, medium and large motion).
STEPS = 4
_LEAST = np.float32(0.02)  # of what is left of the motion: pairs that come no further are close, or touch
_ERROR = np.float32((16 + 12 * STEPS) * 2.0**-24)
# What advancement allows for rounding, some hundred u of the largest coordinate, with room: as ``prepare.reach_of``.
ALLOWED = 2.0**-42
_SHORTEST_AXIS = np.float32(1e-25)
_SAFE = np.float32(1.0 - 1e-6)  # a step of this part of what is proven ends before it, whatever is rounded
_ABOVE = np.float32(1.0 + 1e-6)  # a few numbers of one sign, added and multiplied, times this: rounded up
_SMALLEST, _TOO_LARGE = np.float32(1e-8), np.float32(1e8)  # of coordinates: cubes are far from the end of the range
_ROUNDED_AWAY = np.float32(1e-18)  # of a length, by squares that are too small
_NEVER, _ONE, _ALWAYS = np.float32(0.0), np.float32(1.0), np.float32(2.0)

CENTRES, PLANES, EDGES, IN_TURN = 1, 2, 4, 8
ODD = 4  # number of the count of pairs that single precision cannot hold, or that are not finite


@kernel
def keep_inseparable(x0, x1, closeness, which, ids, culled):
    """Move the ids of pairs that no axes keep apart to the front; returns how many there are.

    x0, x1 : (k, 6, 3). closeness : tolerance, relative to the extent of a pair, and largest sum of radii: what is let
    go does not even come so close. which : bits CENTRES .. IN_TURN. culled : (5,) counts the pairs that each takes,
    and those that are ODD, all of which are kept.
    """
    block, pairs, kept = np.empty(BLOCK, np.float32), np.empty(2 * LANES, np.int32), 0
    for first in range(0, len(ids), _PART):
        some = ids[first : first + _PART]
        left = _keep_at_start(x0, x1, closeness, which & (CENTRES | PLANES), some, block, pairs, culled)
        # Each time few are left: a block full of them at a time, loaded anew, which takes less than closing up.
        if which & EDGES:
            left = _keep_by_edges(x0, x1, closeness, some[:left], block, pairs, culled)
        for i in range(left):
            ids[kept] = some[i]
            kept += 1
    if which & IN_TURN:
        kept = _keep_in_turn(x0, x1, closeness, ids[:kept], block, pairs, culled)
    return kept


@helper
def _keep_at_start(x0, x1, closeness, which, ids, block, pairs, culled):
    """What neither the line between the centres nor the normals of the start keep apart to the end."""
    one_copy()
    kept, of_radii = 0, np.float32(closeness[1]) * _ABOVE
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, ids[first : first + LANES], block, pairs)
        culled[ODD] += _set_slack(block, lanes, closeness)
        left, groups = lanes, _groups(lanes)
        if which & CENTRES:
            _along_centres(block, groups, of_radii)
            left = _count(block, lanes, left, culled, 0)
        if which & PLANES:
            _along_normals(block, groups, of_radii)
            _count(block, lanes, left, culled, 1)
        kept = _name(block, pairs, lanes, ids, kept)
    return kept


@helper
def _keep_by_edges(x0, x1, closeness, ids, block, pairs, culled):
    """What no axis across edges of the start keeps apart to the end either."""
    one_copy()
    kept, of_radii = 0, np.float32(closeness[1]) * _ABOVE
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, ids[first : first + LANES], block, pairs)
        _set_slack(block, lanes, closeness)
        groups = _groups(lanes)
        _along_edges(block, groups, of_radii)
        _count(block, lanes, lanes, culled, 2)
        kept = _name(block, pairs, lanes, ids, kept)
    return kept


@helper
def _keep_in_turn(x0, x1, closeness, ids, block, pairs, culled):
    """What the axes of a few times, one after another, do not keep apart either.

    Lanes that are done with are given to the next pairs, so that all have something to do.
    """
    one_copy()
    kept, of_radii = 0, np.float32(closeness[1]) * _ABOVE
    lanes = taken = 0
    while lanes > 0 or taken < len(ids):
        new = min(LANES - lanes, len(ids) - taken)
        _load(x0, x1, ids[taken : taken + new], block[lanes:], pairs[lanes:])
        _set_slack(block[lanes:], new, closeness)
        lanes, taken = lanes + new, taken + new
        groups = _groups(lanes)
        _follow(block, groups)
        _along_normals(block, groups, of_radii)
        _along_edges(block, groups, of_radii)
        lanes, kept = _sort_out(block, pairs, lanes, ids, kept, culled)
    return kept


@helper
def _groups(lanes):
    return (lanes + _AT_ONCE - 1) // _AT_ONCE


@helper
def _set_slack(block, lanes, closeness):
    """What projections have to be apart by, per |L|_1: infinite where coordinates are too large or too small, or not
    finite. Returns how many are too large or not finite."""
    tolerance, allowed = np.float32(2.1 * closeness[0] + ALLOWED) + _ERROR, np.float32(ALLOWED)
    of_both, odd = np.float32(closeness[1]), 0
    for i in range(lanes):
        largest, total = _sizes(block, i, np.float32(0.0), np.float32(0.0))
        for c in (3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33):
            largest, total = _sizes(block, c * LANES + i, largest, total)
        slack = (tolerance * largest + allowed * (block[_SLACK + i] + of_both)) * _ABOVE
        finite = total < _TOO_LARGE  # false for NaN too
        block[_SLACK + i] = slack if finite and largest > _SMALLEST else np.float32(np.inf)
        odd += not finite
    return odd


@helper
def _sizes(block, i, largest, total):
    x, y, z = abs(block[i]), abs(block[LANES + i]), abs(block[2 * LANES + i])
    size = _upper(x, y, z)
    return size if size > largest else largest, total + ((x + y) + z)


@helper
def _count(block, lanes, left, culled, number):
    """Counts what is surely apart now; returns how many pairs are left."""
    kept = 0
    for lane in range(lanes):
        kept += block[_BEST + lane] < _ONE
    culled[number] += left - kept
    return kept


@helper
def _name(block, pairs, lanes, ids, kept):
    """The ids of what is not surely apart; returns how many there are now."""
    for lane in range(lanes):
        ids[kept] = pairs[lane]
        kept += block[_BEST + lane] < _ONE
    return kept


@helper
def _load(x0, x1, ids, block, pairs):
    """Coordinates relative to a0, and in place of the slack the largest coordinate of a0; returns how many lanes."""
    one_copy()
    for lane in range(len(ids)):
        p = pairs[lane] = ids[lane]
        x, y, z = x0[p, 0, 0], x0[p, 0, 1], x0[p, 0, 2]
        for c in range(6):
            i = 3 * c * LANES + lane
            block[i] = np.float32(x0[p, c, 0] - x)
            block[i + LANES] = np.float32(x0[p, c, 1] - y)
            block[i + 2 * LANES] = np.float32(x0[p, c, 2] - z)
            block[i + 18 * LANES] = np.float32(x1[p, c, 0] - x)
            block[i + 19 * LANES] = np.float32(x1[p, c, 1] - y)
            block[i + 20 * LANES] = np.float32(x1[p, c, 2] - z)
        block[_BEST + lane] = block[_STEPS + lane] = np.float32(0.0)
        block[_SLACK + lane] = np.float32(max_norm((x, y, z)))
    return len(ids)


@helper
def _sort_out(block, pairs, lanes, ids, kept, culled):
    """Let go of the pairs that are surely apart to the end; those that come no further are inseparable, and so are all
    after the last step. Returns how many go on, and how many were found inseparable."""
    going, before = 0, kept
    for lane in range(lanes):
        best = block[_BEST + lane]
        if best < _ONE and best > _LEAST and block[_STEPS + lane] < STEPS:
            block[_STEPS + lane] += _ONE
            pairs[LANES + going] = lane
            going += 1
        elif best < _ONE:
            ids[kept] = pairs[lane]
            kept += 1
    culled[3] += lanes - going - (kept - before)
    _close_up(block, pairs, going)
    return going, kept


@helper
def _close_up(block, pairs, lanes):
    """Move the lanes that pairs[LANES:] names, in ascending order, to the front."""
    one_copy()
    for i in range(lanes):
        pairs[i] = pairs[pairs[LANES + i]]
    for row in range(0, _AXIS, LANES):
        for i in range(lanes):
            block[row + i] = block[row + pairs[LANES + i]]


@helper
def _follow(block, groups):
    """Move on in time, as far as the best axis can be trusted."""
    for r in range(18):
        for lane in range(_AT_ONCE * groups):
            now, end = block[r * LANES + lane], block[(18 + r) * LANES + lane]
            block[r * LANES + lane] = now + (end - now) * (block[_BEST + lane] * _SAFE)
    for lane in range(_AT_ONCE * groups):
        block[_BEST + lane] = np.float32(0.0)


@helper
def _along_centres(block, groups, of_radii):
    for k in range(3):
        for lane in range(_AT_ONCE * groups):
            i = k * LANES + lane
            block[_AXIS + i] = (
                (block[9 * LANES + i] + block[12 * LANES + i] + block[15 * LANES + i])
                + (block[27 * LANES + i] + block[30 * LANES + i] + block[33 * LANES + i])
                - (block[i] + block[3 * LANES + i] + block[6 * LANES + i])
                - (block[18 * LANES + i] + block[21 * LANES + i] + block[24 * LANES + i])
            )
    _along(block, groups, of_radii)


@helper
def _along_normals(block, groups, of_radii):
    corner, axis = _corners(block), _axis(block)
    for c in (0, 3):
        _across(corner[c], corner[c + 1], corner[c], corner[c + 2], axis, groups)
        _along(block, groups, of_radii)


@helper
def _along_edges(block, groups, of_radii):
    corner, axis = _corners(block), _axis(block)
    for i in range(3):
        for j in range(3):
            _across(corner[i], corner[(i + 1) % 3], corner[3 + j], corner[3 + (j + 1) % 3], axis, groups)
            _along(block, groups, of_radii)


@helper
def _corners(block):
    """(6, 3, LANES), where the corners are now."""
    return block[: 18 * LANES].reshape(6, 3, LANES)


@helper
def _axis(block):
    return block[_AXIS:].reshape(3, LANES)


@helper
def _across(p, q, r, s, axis, groups):
    """The axis across the edges from p to q and from r to s, each (3, LANES).

    Arrays of their own: of rows of one array that only the caller knows the compiler makes one lane after the other.
    """
    for lane in range(_AT_ONCE * groups):
        e_x, e_y, e_z = q[0, lane] - p[0, lane], q[1, lane] - p[1, lane], q[2, lane] - p[2, lane]
        f_x, f_y, f_z = s[0, lane] - r[0, lane], s[1, lane] - r[1, lane], s[2, lane] - r[2, lane]
        axis[0, lane] = e_y * f_z - e_z * f_y
        axis[1, lane] = e_z * f_x - e_x * f_z
        axis[2, lane] = e_x * f_y - e_y * f_x


@helper
def _along(block, groups, of_radii):
    """For what part of the motion the axis can be trusted, 2.0 if for all of it; the best so far is kept."""
    one_copy()
    for i in range(_AT_ONCE * groups):
        axis = block[_AXIS + i], block[_AXIS + LANES + i], block[_AXIS + 2 * LANES + i]
        a0 = dot((block[i], block[LANES + i], block[2 * LANES + i]), axis)
        a1 = dot((block[3 * LANES + i], block[4 * LANES + i], block[5 * LANES + i]), axis)
        a2 = dot((block[6 * LANES + i], block[7 * LANES + i], block[8 * LANES + i]), axis)
        b0 = dot((block[9 * LANES + i], block[10 * LANES + i], block[11 * LANES + i]), axis)
        b1 = dot((block[12 * LANES + i], block[13 * LANES + i], block[14 * LANES + i]), axis)
        b2 = dot((block[15 * LANES + i], block[16 * LANES + i], block[17 * LANES + i]), axis)
        c0 = dot((block[18 * LANES + i], block[19 * LANES + i], block[20 * LANES + i]), axis)
        c1 = dot((block[21 * LANES + i], block[22 * LANES + i], block[23 * LANES + i]), axis)
        c2 = dot((block[24 * LANES + i], block[25 * LANES + i], block[26 * LANES + i]), axis)
        d0 = dot((block[27 * LANES + i], block[28 * LANES + i], block[29 * LANES + i]), axis)
        d1 = dot((block[30 * LANES + i], block[31 * LANES + i], block[32 * LANES + i]), axis)
        d2 = dot((block[33 * LANES + i], block[34 * LANES + i], block[35 * LANES + i]), axis)
        up, up_at_end = _lower(b0, b1, b2) - _upper(a0, a1, a2), _lower(d0, d1, d2) - _upper(c0, c1, c2)
        down, down_at_end = _lower(a0, a1, a2) - _upper(b0, b1, b2), _lower(c0, c1, c2) - _upper(d0, d1, d2)
        gap, at_end = (up, up_at_end) if up > down else (down, down_at_end)
        sizes = abs(axis[0]), abs(axis[1]), abs(axis[2])
        length = np.sqrt(dot(axis, axis)) * _ABOVE + _ROUNDED_AWAY
        least = block[_SLACK + i] * (sizes[0] + sizes[1] + sizes[2]) + of_radii * length
        least = least if _upper(*sizes) > _SHORTEST_AXIS else np.float32(np.inf)  # also where inf times 0 is NaN
        trusted = _ALWAYS if at_end > least else (gap - least) / (gap - at_end)
        trusted = trusted if gap > least else _NEVER
        block[_BEST + i] = trusted if trusted > block[_BEST + i] else block[_BEST + i]


# Written out: what the compiler turns into one instruction for several lanes; ``min`` and ``max`` mind the sign of 0.
@helper
def _lower(a, b, c):
    d = a if a < b else b
    return d if d < c else c


@helper
def _upper(a, b, c):
    d = a if a > b else b
    return d if d > c else c
