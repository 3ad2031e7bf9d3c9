"""Pairs of triangles side by side: blocks in which the compiler works on eight pairs at once, in single precision.

A block has LANES pairs, each coordinate a row of it: 2.5 ns an axis and pair, where doubles take 10 and one pair after
the other 20. The rows are parts of one array with a fixed stride: with a stride that is not known to the compiler it
cannot tell them from what it writes.

Two moving triangles whose projections on an axis L are apart at both ends of the motion are apart in between: the
largest projection of the one is a convex function of time, the smallest of the other a concave one.

Error bound, u = 2^-24, of a difference of two corners along L, in units of u M |L|_1. Coordinates are taken relative to
a0 at the start, in double precision, and rounded to single precision once; M is the largest of them, now and at the
end.
  coordinates   1 rounding, of two corners                                                                     2
  dot products  3 roundings, of two corners                                                                    6
  difference    1 rounding of at most 2 M |L|_1                                                                2
  steps         now + (end - now) s: 1 rounding of end - now and 1 of the product, at most 2 M each, 1 of the
                sum: 5 for a coordinate, of two corners                                                       10 each
How far s goes is rounded too, but it is the same for all corners. The rest is smaller by far: coordinates themselves
may be off by LERP (the end of a motion that is cut off) and POSITION_ERROR (positions that are rounded once more) of
|a0| + M, in double precision, which ALLOWED holds 100 times.

Range. M from 1e-8 to 1e8 and |L| from 1e-25 to 1e19 keep products from overflow, and what underflow rounds away, 1e-45
each, far below the threshold. Triangles and axes of other sizes separate nothing: the square of a longer one overflows,
and then what its projections have to be apart by is infinite, or not a number. Axes do get there. In exact arithmetic
over-relaxation makes none longer, but rounded it divides a gap that is off by some u M |L|_1 by the distance of two
corners, which can be far smaller: where a product is as large as the last bit of the next one, and that as the last bit
of the third, a change of the last bit of the first, u^2 times smaller, carries through the sums of a dot product. One
step makes an axis up to 2^51 times as long, or infinite where the squared distance underflows.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import DOT, MARGIN, SINGLE_ROUNDOFF
from pliant.arithmetic.vec3 import dot
from pliant.filters.axes.separation import ALLOWED, OVER_RELAXATION
from pliant.runtime.jit import helper, in_line, one_copy

LANES = 64
AT_ONCE = 8  # loops over a multiple of this need no code for what is left over; lanes beyond the last hold anything
# 36 coordinates (now, at the end), how far the best axis so far can be trusted, the threshold (first, how far away a0
# is), the sum of both radii, steps taken in time, and the axis.
BLOCK = 43 * LANES
BEST, THRESHOLD, RADII, TAKEN, AXIS = 36 * LANES, 37 * LANES, 38 * LANES, 39 * LANES, 40 * LANES

STEPS = 10  # in time, at most
_OVER_RELAXATION = np.float32(OVER_RELAXATION)
AXIS_ERROR = np.float32(1.25 * (2 + 2 * DOT + 2 + 10 * STEPS) * SINGLE_ROUNDOFF)
_SHORTEST_AXIS = np.float32(1e-25)
# Rounded up: up to 8 numbers of one sign, added and multiplied.
ABOVE = np.float32(1.0 + 16 * SINGLE_ROUNDOFF)  # margin 2
_SMALLEST, _TOO_LARGE = np.float32(1e-8), np.float32(1e8)  # of coordinates: cubes are far from the end of the range
_ROUNDED_AWAY = np.float32(1e-18)  # of a length, by squares that are too small
NEVER, ONE, ALWAYS = np.float32(0.0), np.float32(1.0), np.float32(2.0)


@helper
def groups_of(lanes):
    return (lanes + AT_ONCE - 1) // AT_ONCE


@helper
def set_thresholds(block, lanes, tolerance):
    """What projections have to be apart by, per |L|_1: infinite where coordinates are too large or too small, or not
    finite. Returns how many are too large or not finite."""
    of_extent, odd = np.float32(2.0 * MARGIN * tolerance + ALLOWED) + AXIS_ERROR, 0
    for i in range(lanes):
        largest, total = sizes_of(block, i)
        later, more = sizes_of(block, 18 * LANES + i)
        odd += not set_threshold(block, i, of_extent, later if later > largest else largest, total + more)
    return odd


@helper
def set_threshold(block, i, of_extent, largest, total):
    """Of one pair whose largest coordinate and the sum of all are known; False where that is too large or not
    finite."""
    in_line()
    threshold = (of_extent * largest + np.float32(ALLOWED) * (block[THRESHOLD + i] + block[RADII + i])) * ABOVE
    finite = total < _TOO_LARGE  # false for NaN too
    block[THRESHOLD + i] = threshold if finite and largest > _SMALLEST else np.float32(np.inf)
    return finite


@helper
def load_corner(points, v, origin, block, row, later):
    """Where vertex v is from the origin at the start, and so many rows later at the end; points : (n, 6) start and end;
    v : unsigned, which needs no look at its sign."""
    in_line()
    block[row] = np.float32(points[v, 0] - origin[0])
    block[row + LANES] = np.float32(points[v, 1] - origin[1])
    block[row + 2 * LANES] = np.float32(points[v, 2] - origin[2])
    block[row + later] = np.float32(points[v, 3] - origin[0])
    block[row + later + LANES] = np.float32(points[v, 4] - origin[1])
    block[row + later + 2 * LANES] = np.float32(points[v, 5] - origin[2])


@helper
def sizes_of(block, i):
    """The largest and the sum of 18 coordinates."""
    in_line()
    largest = total = np.float32(0.0)
    for c in (0, 3, 6, 9, 12, 15):
        at = c * LANES + i
        x, y, z = abs(block[at]), abs(block[LANES + at]), abs(block[2 * LANES + at])
        size = upper(x, y, z)
        largest, total = size if size > largest else largest, total + ((x + y) + z)
    return largest, total


@helper
def name_centres(block, groups):
    """The axis from the centre of a to that of b, both halfway."""
    for k in range(3):
        for lane in range(AT_ONCE * groups):
            i = k * LANES + lane
            block[AXIS + i] = between_centres(block, i) + between_centres(block, 18 * LANES + i)


@helper
def between_centres(block, i):
    a = block[i] + block[3 * LANES + i] + block[6 * LANES + i]
    return (block[9 * LANES + i] + block[12 * LANES + i] + block[15 * LANES + i]) - a


@helper
def over_relax(block, groups):
    """Mark the pairs that their axis, from a to b, separates to the end; then correct every axis, away from the vector
    between the two corners that are closest along it, or furthest behind each other (``separation.over_relaxed``)."""
    one_copy()
    for i in range(AT_ONCE * groups):
        axis = block[AXIS + i], block[AXIS + LANES + i], block[AXIS + 2 * LANES + i]
        correct_axis(block, i, axis, _closest(block, i, axis), _closest(block, 18 * LANES + i, axis))


@helper
def correct_axis(block, i, axis, now, at_end):
    """One of them; now, at_end : how far b is beyond a along it, and the vector between the corners that say so."""
    in_line()
    later = at_end[0] < now[0]
    gap = at_end[0] if later else now[0]
    x, y, z = at_end[1] if later else now[1], at_end[2] if later else now[2], at_end[3] if later else now[3]
    block[BEST + i] = ALWAYS if gap > least_of(block, i, axis) else block[BEST + i]
    # Not finite where they touch: such an axis proves nothing.
    by = _OVER_RELAXATION * gap / dot((x, y, z), (x, y, z))
    block[AXIS + i] = axis[0] - by * x
    block[AXIS + LANES + i] = axis[1] - by * y
    block[AXIS + 2 * LANES + i] = axis[2] - by * z


@helper
def _closest(block, i, axis):
    """(how far b is beyond a along the axis, the vector between the corners that say so), rows beginning at i."""
    in_line()
    return from_a_to_b(furthest(block, i, axis), furthest(block, 9 * LANES + i, (-axis[0], -axis[1], -axis[2])))


@helper
def from_a_to_b(a, b):
    """From the furthest corner of a to that of b the other way: how far, and the vector."""
    in_line()
    return -b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3]


@helper
def furthest(block, i, axis):
    """(how far, x, y, z) of that corner of a triangle, rows beginning at i, that is furthest along the axis."""
    in_line()
    p = block[i], block[LANES + i], block[2 * LANES + i]
    q = block[3 * LANES + i], block[4 * LANES + i], block[5 * LANES + i]
    r = block[6 * LANES + i], block[7 * LANES + i], block[8 * LANES + i]
    d, e, f = dot(p, axis), dot(q, axis), dot(r, axis)
    other = e > d
    d, x, y, z = e if other else d, q[0] if other else p[0], q[1] if other else p[1], q[2] if other else p[2]
    other = f > d
    return f if other else d, r[0] if other else x, r[1] if other else y, r[2] if other else z


@helper
def least_of(block, i, axis):
    """What projections on an axis have to be apart by; infinite, or not a number, if it is too short or too long to
    prove anything."""
    in_line()
    sizes = abs(axis[0]), abs(axis[1]), abs(axis[2])
    length = np.sqrt(dot(axis, axis)) * ABOVE + _ROUNDED_AWAY
    least = block[THRESHOLD + i] * (sizes[0] + sizes[1] + sizes[2]) + block[RADII + i] * length
    return least if upper(*sizes) > _SHORTEST_AXIS else np.float32(np.inf)  # also where inf times 0 is NaN


# Written out: what the compiler turns into one instruction for several lanes; ``min`` and ``max`` mind the sign of 0.
@helper
def lower(a, b, c):
    d = a if a < b else b
    return d if d < c else c


@helper
def upper(a, b, c):
    d = a if a > b else b
    return d if d > c else c
