"""Whole triangles that one axis after another keeps apart: what is common to Corollaries 6.2 and 6.3 of paper 002.

Two moving triangles whose projections on an axis L are apart, at a time and at the end of the motion, are apart in
between. If they are apart at that time only, they still are until the gap, which shrinks at most linearly, is used up:
the largest projection of the one is a convex function of time, the smallest of the other a concave one. So each axis
says how far it can be trusted, the best one is followed to there, and the triangles that are there then name new axes:
conservative advancement without a distance. The axes are
  centres        the line between the centres, halfway; and that line again, leaned away from where the triangles are
                 closest along it
  Corollary 6.2  the normal of either face
  Corollary 6.3  what an edge of each spans (both triangles on its two sides)
  in turn        those of 6.2 and 6.3 again, at later times
The corollaries ask for one axis of the start that lasts to the end; that the axes may change is ours.

Pairs are taken LANES at a time, each coordinate a row of a block, in single precision, so that the compiler works on
eight at once: 2.5 ns an axis, where doubles take 10 and one pair after the other 20. The rows are parts of one array
with a fixed stride: with a stride that is not known to the compiler it cannot tell them from what it writes.

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
_AT_ONCE = 8  # loops over a multiple of this need no code for what is left over; lanes beyond the last hold anything
# 36 coordinates (now, at the end), how far the best axis so far can be trusted, what has to lie between projections per
# |L|_1, steps taken in time, and the axis.
BLOCK = 42 * LANES
_BEST, _SLACK, _STEPS, _AXIS = 36 * LANES, 37 * LANES, 38 * LANES, 39 * LANES

_LEAN, _LEANED = np.float32(1.2), 2
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
    block, pairs = np.empty(BLOCK, np.float32), np.empty(2 * LANES, np.int32)
    left = _keep_by_centres(x0, x1, closeness, which & CENTRES, ids, block, pairs, culled)
    if which & (PLANES | EDGES | IN_TURN):
        left = _keep_in_turn(x0, x1, closeness, which, ids[:left], block, pairs, culled)
    return left


@helper
def _keep_by_centres(x0, x1, closeness, which, ids, block, pairs, culled):
    """What the line between the centres, as it is and leaned, does not keep apart to the end."""
    kept, of_radii = 0, np.float32(closeness[1]) * _ABOVE
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, ids[first : first + LANES], block, pairs)
        culled[ODD] += _set_slack(block, lanes, closeness)
        if which:
            _name_centres(block, _groups(lanes))
            for _ in range(_LEANED + 1):
                _lean(block, _groups(lanes), of_radii)
        before = kept
        for lane in range(lanes):
            ids[kept] = pairs[lane]
            kept += block[_BEST + lane] < _ONE
        culled[0] += lanes - (kept - before)
    return kept


@helper
def _keep_in_turn(x0, x1, closeness, which, ids, block, pairs, culled):
    """What the axes of the start do not keep apart to the end, nor, if chosen, those of a few times one after another.

    Lanes that are done with are given to the next pairs, so that all have something to do.
    """
    kept, of_radii, most = 0, np.float32(closeness[1]) * _ABOVE, STEPS if which & IN_TURN else 0
    lanes = taken = 0
    while lanes > 0 or taken < len(ids):
        new = min(LANES - lanes, len(ids) - taken)
        _load(x0, x1, ids[taken : taken + new], block[lanes:], pairs[lanes:])
        _set_slack(block[lanes:], new, closeness)
        groups, apart = _groups(lanes + new), 0
        _follow(block, groups)
        if which & (PLANES | IN_TURN):
            _along_normals(block, groups, of_radii)
            apart = _count_apart(block[lanes:], new)
            culled[1 if which & PLANES else 3] += apart
        if which & (EDGES | IN_TURN):
            _along_edges(block, groups, of_radii)
            more = _count_apart(block[lanes:], new) - apart
            culled[2 if which & EDGES else 3] += more
            apart += more
        lanes, taken = lanes + new, taken + new
        lanes, kept, gone = _sort_out(block, pairs, lanes, ids, kept, most)
        culled[3] += gone - apart
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
def _count_apart(block, lanes):
    """How many pairs are surely apart to the end."""
    count = 0
    for lane in range(lanes):
        count += block[_BEST + lane] > _ONE
    return count


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
def _sort_out(block, pairs, lanes, ids, kept, most):
    """Let go of the pairs that are surely apart to the end; those that come no further are inseparable, and so are all
    after so many steps at most. Returns how many go on, how many were found inseparable, and how many are gone."""
    going, before = 0, kept
    for lane in range(lanes):
        best = block[_BEST + lane]
        if best < _ONE and best > _LEAST and block[_STEPS + lane] < most:
            block[_STEPS + lane] += _ONE
            pairs[LANES + going] = lane
            going += 1
        elif best < _ONE:
            ids[kept] = pairs[lane]
            kept += 1
    _close_up(block, pairs, going)
    return going, kept, lanes - going - (kept - before)


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
def _name_centres(block, groups):
    """The axis from the centre of a to that of b, both halfway."""
    for k in range(3):
        for lane in range(_AT_ONCE * groups):
            i = k * LANES + lane
            block[_AXIS + i] = (
                (block[9 * LANES + i] + block[12 * LANES + i] + block[15 * LANES + i])
                + (block[27 * LANES + i] + block[30 * LANES + i] + block[33 * LANES + i])
                - (block[i] + block[3 * LANES + i] + block[6 * LANES + i])
                - (block[18 * LANES + i] + block[21 * LANES + i] + block[24 * LANES + i])
            )


@helper
def _lean(block, groups, of_radii):
    """Can the axis, from a to b, be trusted to the end? Then lean it away from the vector between the two corners that
    are closest along it, or furthest behind each other: by a little more than makes it perpendicular to that.

    A factor of 2 mirrors it (Chung and Wang, Quick collision detection of polytopes in virtual environments, 1996). Of
    random pairs that never touch, 50, 43 and 34 % are left by the line between the centres (small, medium and large
    motion), 17, 14 and 12 % after mirroring it twice, and 11, 9 and 8 % with a factor of 1.2.
    """
    one_copy()
    for i in range(_AT_ONCE * groups):
        axis = block[_AXIS + i], block[_AXIS + LANES + i], block[_AXIS + 2 * LANES + i]
        back = -axis[0], -axis[1], -axis[2]
        a, b = _furthest(block, i, axis), _furthest(block, 9 * LANES + i, back)
        c, d = _furthest(block, 18 * LANES + i, axis), _furthest(block, 27 * LANES + i, back)
        now, at_end = -b[0] - a[0], -d[0] - c[0]
        least = _least(block, i, axis, of_radii)
        later = at_end < now
        gap = at_end if later else now
        x, y, z = (
            d[1] - c[1] if later else b[1] - a[1],
            d[2] - c[2] if later else b[2] - a[2],
            d[3] - c[3] if later else b[3] - a[3],
        )
        by = _LEAN * gap / (x * x + y * y + z * z)
        block[_BEST + i] = _ALWAYS if gap > least else block[_BEST + i]
        block[_AXIS + i] = axis[0] - by * x
        block[_AXIS + LANES + i] = axis[1] - by * y
        block[_AXIS + 2 * LANES + i] = axis[2] - by * z


@helper
def _furthest(block, i, axis):
    """(how far, x, y, z) of that corner of a triangle, whose rows begin at i, that is furthest along an axis."""
    p = block[i], block[LANES + i], block[2 * LANES + i]
    q = block[3 * LANES + i], block[4 * LANES + i], block[5 * LANES + i]
    r = block[6 * LANES + i], block[7 * LANES + i], block[8 * LANES + i]
    d, e, f = dot(p, axis), dot(q, axis), dot(r, axis)
    other = e > d
    d, x, y, z = e if other else d, q[0] if other else p[0], q[1] if other else p[1], q[2] if other else p[2]
    other = f > d
    return f if other else d, r[0] if other else x, r[1] if other else y, r[2] if other else z


@helper
def _least(block, i, axis, of_radii):
    """What projections on an axis have to be apart by; infinite if it is too short to prove anything, or not finite."""
    sizes = abs(axis[0]), abs(axis[1]), abs(axis[2])
    length = np.sqrt(dot(axis, axis)) * _ABOVE + _ROUNDED_AWAY
    least = block[_SLACK + i] * (sizes[0] + sizes[1] + sizes[2]) + of_radii * length
    return least if _upper(*sizes) > _SHORTEST_AXIS else np.float32(np.inf)  # also where inf times 0 is NaN


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
        least = _least(block, i, axis, of_radii)
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
