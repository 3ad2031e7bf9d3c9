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

Pairs are taken LANES at a time, each coordinate a row of a block, so that the compiler works on several at once: 10 ns
an axis, where one pair after the other takes 20. The rows are parts of one array with a fixed stride: with a stride
that is not known to the compiler it cannot tell them from what it writes.

Error bound. M is the largest coordinate of the pair: a dot product with L has three roundings and is off by at most
3.01 u M |L|_1, the difference of two by 6.02, and its comparison with the slack by u (2 M |L|_1 + slack). Positions at
a later time are off by at most 5 u M in each coordinate for every step that was taken, on both sides of the difference:
10 u M |L|_1 a step (the time itself is rounded too, but it is the same for all corners). A slack of (12 + 12 STEPS) u M
|L|_1 is more than all that. M from 1e-70 to 1e70 and |L| above 1e-200 keep what underflow rounds away, 5e-324 each, far
below it. Triangles of other sizes are passed on.
"""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel, out_of_line
from pliant.filters.csat import length_above
from pliant.vec3 import UNIT_ROUNDOFF, dot

LANES = 64
# 36 coordinates (now, at the end), how far the best axis so far can be trusted, what has to lie between projections per
# |L|_1, and the axis.
BLOCK = 41 * LANES
_BEST, _SLACK, _AXIS = 36 * LANES, 37 * LANES, 38 * LANES

# Of random pairs that never touch, four steps leave 0.05, 0.15 and 0.4 % (small, medium and large motion).
STEPS = 4
_LEAST = 0.02  # of what is left of the motion: pairs that come no further are close, or touch
_ERROR = (12 + 12 * STEPS) * UNIT_ROUNDOFF
# What advancement allows for rounding, some hundred u of the largest coordinate, with room: as ``prepare.reach_of``.
_ALLOWED = 2.0**-42
_SHORTEST_AXIS = 1e-200
_SAFE = 1.0 - 1e-14  # a step of this part of what is proven ends before it, whatever is rounded

CENTRES, PLANES, EDGES, IN_TURN = 1, 2, 4, 8


@kernel
def keep_inseparable(x0, x1, closeness, which, ids, culled):
    """Move the ids of pairs that no axes keep apart to the front; returns how many there are.

    x0, x1 : (k, 6, 3). closeness : tolerance, relative to the extent of a pair, and largest sum of radii: what is let
    go does not even come so close. which : bits CENTRES .. IN_TURN. culled : (4,) counts the pairs that each takes.
    """
    block, pairs = np.empty(BLOCK), np.empty(2 * LANES, np.int32)
    kept = _keep_at_start(x0, x1, closeness, which, ids, block, pairs, culled)
    if which & IN_TURN:  # few are left: a block full of them at a time
        kept = _keep_in_turn(x0, x1, closeness, ids[:kept], block, pairs, culled)
    return kept


@helper
def room_for(closeness, m, far):
    """By how much projections have to be apart for triangles not to be reported, rounding aside: per |L|_1, per |L|.

    The tolerance (the extent is at most 2 m, for a largest coordinate m), what advancement allows for rounding, with m
    and an origin that is so far away; and the radii of both.
    """
    tolerance, of_both = closeness
    return 2.1 * tolerance * m + _ALLOWED * (far + m + of_both), of_both * (1.0 + 6.0 * UNIT_ROUNDOFF)


@helper
def _set_slack(block, lanes, closeness):
    """What projections have to be apart by, per |L|_1: infinite where coordinates are too large or too small."""
    for lane in range(lanes):
        m = 0.0
        for r in range(36):
            size = abs(block[r * LANES + lane])
            m = size if size > m else m
        slack = room_for(closeness, m, 0.0)[0] + _ERROR * m
        block[_SLACK + lane] = slack if m > 1e-70 and m < 1e70 else np.inf


@helper
def _keep_at_start(x0, x1, closeness, which, ids, block, pairs, culled):
    """What no axis of the start keeps apart to the end."""
    out_of_line()
    kept, of_radii = 0, room_for(closeness, 0.0, 0.0)[1]
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, ids, first, block, pairs)
        _set_slack(block, lanes, closeness)
        if which & CENTRES:
            _along_centres(block, lanes, of_radii)
            lanes = _keep(block, pairs, lanes, culled, 0)
        if which & PLANES:
            _along_normals(block, lanes, of_radii)
            lanes = _keep(block, pairs, lanes, culled, 1)
        if which & EDGES:
            _along_edges(block, lanes, of_radii)
            lanes = _keep(block, pairs, lanes, culled, 2)
        for lane in range(lanes):
            ids[kept] = pairs[lane]
            kept += 1
    return kept


@helper
def _keep_in_turn(x0, x1, closeness, ids, block, pairs, culled):
    """What the axes of a few times, one after another, do not keep apart either."""
    out_of_line()
    kept, of_radii = 0, room_for(closeness, 0.0, 0.0)[1]
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, ids, first, block, pairs)
        _set_slack(block, lanes, closeness)
        for step in range(STEPS + 1):
            if step > 0:
                lanes, kept = _give_up(block, pairs, lanes, ids, kept)
                _follow(block, lanes)
            _along_normals(block, lanes, of_radii)
            _along_edges(block, lanes, of_radii)
            lanes = _keep(block, pairs, lanes, culled, 3)
        for lane in range(lanes):
            ids[kept] = pairs[lane]
            kept += 1
    return kept


@helper
def _load(x0, x1, ids, first, block, pairs):
    lanes = min(LANES, len(ids) - first)
    for lane in range(lanes):
        p = pairs[lane] = ids[first + lane]
        for c in range(6):
            for k in range(3):
                block[(3 * c + k) * LANES + lane] = x0[p, c, k]
                block[(18 + 3 * c + k) * LANES + lane] = x1[p, c, k]
        block[_BEST + lane] = 0.0
    return lanes


@helper
def _keep(block, pairs, lanes, culled, number):
    """Let go of the pairs that are surely apart to the end; returns how many are left."""
    kept = 0
    for lane in range(lanes):
        pairs[LANES + kept] = lane
        kept += block[_BEST + lane] < 1.0
    culled[number] += lanes - kept
    _close_up(block, pairs, kept)
    return kept


@helper
def _give_up(block, pairs, lanes, ids, kept):
    """Pairs that come no further are inseparable; returns how many go on, and how many were found inseparable."""
    going = 0
    for lane in range(lanes):
        if block[_BEST + lane] > _LEAST:
            pairs[LANES + going] = lane
            going += 1
        else:
            ids[kept] = pairs[lane]
            kept += 1
    _close_up(block, pairs, going)
    return going, kept


@helper
def _close_up(block, pairs, lanes):
    """Move the lanes that pairs[LANES:] names, in ascending order, to the front."""
    out_of_line()
    for i in range(lanes):
        pairs[i] = pairs[pairs[LANES + i]]
    for row in range(0, _AXIS, LANES):
        for i in range(lanes):
            block[row + i] = block[row + pairs[LANES + i]]


@helper
def _follow(block, lanes):
    """Move on in time, as far as the best axis can be trusted."""
    for r in range(18):
        for lane in range(lanes):
            now, end = block[r * LANES + lane], block[(18 + r) * LANES + lane]
            block[r * LANES + lane] = now + (end - now) * (block[_BEST + lane] * _SAFE)
    for lane in range(lanes):
        block[_BEST + lane] = 0.0


@helper
def _along_centres(block, lanes, of_radii):
    for k in range(3):
        for lane in range(lanes):
            i = k * LANES + lane
            block[_AXIS + i] = (
                (block[9 * LANES + i] + block[12 * LANES + i] + block[15 * LANES + i])
                + (block[27 * LANES + i] + block[30 * LANES + i] + block[33 * LANES + i])
                - (block[i] + block[3 * LANES + i] + block[6 * LANES + i])
                - (block[18 * LANES + i] + block[21 * LANES + i] + block[24 * LANES + i])
            )
    _along(block, lanes, of_radii)


@helper
def _along_normals(block, lanes, of_radii):
    for c in (0, 3):
        _across(block, lanes, (c, c + 1), (c, c + 2))
        _along(block, lanes, of_radii)


@helper
def _along_edges(block, lanes, of_radii):
    for i in range(3):
        for j in range(3):
            _across(block, lanes, (i, (i + 1) % 3), (3 + j, 3 + (j + 1) % 3))
            _along(block, lanes, of_radii)


@helper
def _across(block, lanes, e, f):
    """The axis across two edges, each given by its two corners."""
    out_of_line()
    e0, e1, f0, f1 = 3 * LANES * e[0], 3 * LANES * e[1], 3 * LANES * f[0], 3 * LANES * f[1]
    for lane in range(lanes):
        p, q, r, s = e0 + lane, e1 + lane, f0 + lane, f1 + lane
        e_x, e_y, e_z = (
            block[q] - block[p],
            block[q + LANES] - block[p + LANES],
            block[q + 2 * LANES] - block[p + 2 * LANES],
        )
        f_x, f_y, f_z = (
            block[s] - block[r],
            block[s + LANES] - block[r + LANES],
            block[s + 2 * LANES] - block[r + 2 * LANES],
        )
        block[_AXIS + lane] = e_y * f_z - e_z * f_y
        block[_AXIS + LANES + lane] = e_z * f_x - e_x * f_z
        block[_AXIS + 2 * LANES + lane] = e_x * f_y - e_y * f_x


@helper
def _along(block, lanes, of_radii):
    """For what part of the motion the axis can be trusted, 2.0 if for all of it; the best so far is kept."""
    out_of_line()
    for i in range(lanes):
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
        least = block[_SLACK + i] * (sizes[0] + sizes[1] + sizes[2]) + of_radii * length_above(axis)
        least = least if _upper(*sizes) > _SHORTEST_AXIS else np.inf  # also where inf times 0 is NaN
        trusted = 2.0 if at_end > least else (gap - least) / (gap - at_end)
        trusted = trusted if gap > least else 0.0
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
