"""Whole triangles that one axis after another keeps apart: what is common to Corollaries 6.2 and 6.3 of paper 002.

Two moving triangles that are apart along an axis at a time and at the end of the motion are apart in between
(``lanes``). If they are apart at that time only, they still are until the gap, which shrinks at most linearly, is used
up. So each axis says how far it can be trusted, the best one is followed to there, and the triangles that are there
then name new axes: conservative advancement without a distance. The axes are
  centres        the line between the centres, halfway; and that line again, corrected with over-relaxation
  Corollary 6.2  the normal of either face
  Corollary 6.3  what an edge of each spans (both triangles on its two sides)
  in turn        those of 6.2 and 6.3 again, at later times
The corollaries ask for one axis of the start that lasts to the end; that the axes may change is ours.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import SINGLE_ROUNDOFF
from pliant.arithmetic.vec3 import dot, max_norm
from pliant.filters.axes.lanes import (
    ABOVE,
    ALWAYS,
    AT_ONCE,
    AXIS,
    BEST,
    BLOCK,
    LANES,
    NEVER,
    ONE,
    RADII,
    STEPS,
    TAKEN,
    THRESHOLD,
    groups_of,
    least_of,
    lower,
    name_centres,
    over_relax,
    set_thresholds,
    upper,
)
from pliant.runtime.jit import helper, kernel, one_copy

# Of random pairs that never touch, this and STEPS leave 0.01, 0.02 and 0.07 % (small, medium and large motion). With
# four steps, none below 0.02, it was 0.04, 0.13 and 0.4 %, which took longer to advance than more steps do.
_LEAST = np.float32(0.005)  # of what is left of the motion: pairs that come no further are close, or touch
_CORRECTIONS = 2
# A step of this part of what is proven ends before it: 2 differences, the quotient and this product, 4 roundings.
_SAFE = np.float32(1.0 - 16 * SINGLE_ROUNDOFF)  # margin 4

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
    """What the line between the centres, as it is and corrected, does not keep apart to the end."""
    kept = 0
    for first in range(0, len(ids), LANES):
        lanes = _load(x0, x1, closeness[1], ids[first : first + LANES], block, pairs)
        culled[ODD] += set_thresholds(block, lanes, closeness[0])
        if which:
            name_centres(block, groups_of(lanes))
            for _ in range(_CORRECTIONS + 1):
                over_relax(block, groups_of(lanes))
        before = kept
        for lane in range(lanes):
            ids[kept] = pairs[lane]
            kept += block[BEST + lane] < ONE
        culled[0] += lanes - (kept - before)
    return kept


@helper
def _keep_in_turn(x0, x1, closeness, which, ids, block, pairs, culled):
    """What the axes of the start do not keep apart to the end, nor, if chosen, those of a few times one after another.

    Lanes that are done with are given to the next pairs, so that all have something to do.
    """
    kept, most = 0, STEPS if which & IN_TURN else 0
    lanes = taken = 0
    while lanes > 0 or taken < len(ids):
        new = min(LANES - lanes, len(ids) - taken)
        _load(x0, x1, closeness[1], ids[taken : taken + new], block[lanes:], pairs[lanes:])
        set_thresholds(block[lanes:], new, closeness[0])
        groups, apart = groups_of(lanes + new), 0
        _follow(block, groups)
        if which & (PLANES | IN_TURN):
            _along_normals(block, groups)
            apart = _count_apart(block[lanes:], new)
            culled[1 if which & PLANES else 3] += apart
        if which & (EDGES | IN_TURN):
            _along_edges(block, groups)
            more = _count_apart(block[lanes:], new) - apart
            culled[2 if which & EDGES else 3] += more
            apart += more
        lanes, taken = lanes + new, taken + new
        lanes, kept, gone = _sort_out(block, pairs, lanes, ids, kept, most)
        culled[3] += gone - apart
    return kept


@helper
def _count_apart(block, lanes):
    """How many pairs are surely apart to the end."""
    count = 0
    for lane in range(lanes):
        count += block[BEST + lane] > ONE
    return count


@helper
def _load(x0, x1, radii, ids, block, pairs):
    """Coordinates relative to a0, and in place of the threshold the largest coordinate of a0; returns how many."""
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
        block[BEST + lane] = block[TAKEN + lane] = np.float32(0.0)
        block[THRESHOLD + lane], block[RADII + lane] = np.float32(max_norm((x, y, z))), np.float32(radii) * ABOVE
    return len(ids)


@helper
def _sort_out(block, pairs, lanes, ids, kept, most):
    """Let go of the pairs that are surely apart to the end; those that come no further are inseparable, and so are all
    after so many steps at most. Returns how many go on, how many were found inseparable, and how many are gone."""
    going, before = 0, kept
    for lane in range(lanes):
        best = block[BEST + lane]
        if best < ONE and best > _LEAST and block[TAKEN + lane] < most:
            block[TAKEN + lane] += ONE
            pairs[LANES + going] = lane
            going += 1
        elif best < ONE:
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
    for row in range(0, AXIS, LANES):
        for i in range(lanes):
            block[row + i] = block[row + pairs[LANES + i]]


@helper
def _follow(block, groups):
    """Move on in time, as far as the best axis can be trusted."""
    for r in range(18):
        for lane in range(AT_ONCE * groups):
            now, end = block[r * LANES + lane], block[(18 + r) * LANES + lane]
            block[r * LANES + lane] = now + (end - now) * (block[BEST + lane] * _SAFE)
    for lane in range(AT_ONCE * groups):
        block[BEST + lane] = np.float32(0.0)


@helper
def _along_normals(block, groups):
    corner, axis = _corners(block), _axis(block)
    for c in (0, 3):
        _across(corner[c], corner[c + 1], corner[c], corner[c + 2], axis, groups)
        _along(block, groups)


@helper
def _along_edges(block, groups):
    corner, axis = _corners(block), _axis(block)
    for i in range(3):
        for j in range(3):
            _across(corner[i], corner[(i + 1) % 3], corner[3 + j], corner[3 + (j + 1) % 3], axis, groups)
            _along(block, groups)


@helper
def _corners(block):
    """(6, 3, LANES), where the corners are now."""
    return block[: 18 * LANES].reshape(6, 3, LANES)


@helper
def _axis(block):
    return block[AXIS:].reshape(3, LANES)


@helper
def _across(p, q, r, s, axis, groups):
    """The axis across the edges from p to q and from r to s, each (3, LANES).

    Arrays of their own: of rows of one array that only the caller knows the compiler makes one lane after the other.
    """
    for lane in range(AT_ONCE * groups):
        e_x, e_y, e_z = q[0, lane] - p[0, lane], q[1, lane] - p[1, lane], q[2, lane] - p[2, lane]
        f_x, f_y, f_z = s[0, lane] - r[0, lane], s[1, lane] - r[1, lane], s[2, lane] - r[2, lane]
        axis[0, lane] = e_y * f_z - e_z * f_y
        axis[1, lane] = e_z * f_x - e_x * f_z
        axis[2, lane] = e_x * f_y - e_y * f_x


@helper
def _along(block, groups):
    """For what part of the motion the axis can be trusted, 2.0 if for all of it; the best so far is kept."""
    one_copy()
    for i in range(AT_ONCE * groups):
        axis = block[AXIS + i], block[AXIS + LANES + i], block[AXIS + 2 * LANES + i]
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
        up, up_at_end = lower(b0, b1, b2) - upper(a0, a1, a2), lower(d0, d1, d2) - upper(c0, c1, c2)
        down, down_at_end = lower(a0, a1, a2) - upper(b0, b1, b2), lower(c0, c1, c2) - upper(d0, d1, d2)
        gap, at_end = (up, up_at_end) if up > down else (down, down_at_end)
        least = least_of(block, i, axis)
        trusted = ALWAYS if at_end > least else (gap - least) / (gap - at_end)
        trusted = trusted if gap > least else NEVER
        block[BEST + i] = trusted if trusted > block[BEST + i] else block[BEST + i]
