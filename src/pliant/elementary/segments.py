"""The segment that two triangles share: points of edges, the longest extent, how exact they are."""

from __future__ import annotations

import math

from pliant.arithmetic.vec3 import dot, lerp, max_norm, row, scale, sub
from pliant.runtime.jit import helper, out_of_line

# Beside MISS, HIT and UNSURE: a hit, and one plane holds all six corners. So it does of any two without area that meet.
FLAT = 3

# Of an edge: how far off an end of a segment may be by the error bounds, else it is computed in integers. In 5000
# random pairs none was off by more than 3e-15.
ACCURACY = 2.0**-38


@helper
def point_between(p, q, t):
    """lerp, and in the box of p and q after rounding: an edge in a plane x = c meets others at x = c."""
    r = lerp(p, q, t)
    return _clamped(r[0], p[0], q[0]), _clamped(r[1], p[1], q[1]), _clamped(r[2], p[2], q[2])


@helper
def _clamped(c, a, b):
    return max(min(a, b), min(max(a, b), c))


@helper
def write_segment(segments, p, s, t):
    """Row p, its ends in lexicographic order."""
    if t < s:
        s, t = t, s
    for k in range(3):
        segments[p, 0, k], segments[p, 1, k] = s[k], t[k]


@helper
def farthest(points, first, end, high):
    """Which two of rows first .. end - 1 of points are farthest apart; all coordinates are below 2**high."""
    out_of_line()
    unit = math.ldexp(1.0, max(-1000, min(1000, -high))) if abs(high) > 500 else 1.0
    best, best_i, best_j = 0.0, first, first
    for i in range(first, end):
        for j in range(first, i):
            length = _length(sub(scale(row(points, i), unit), scale(row(points, j), unit)))
            if length > best:
                best, best_i, best_j = length, j, i
    return best_i, best_j


@helper
def _length(d):
    """Of a vector of any size."""
    largest = max_norm(d)
    if largest == 0.0:
        return 0.0
    e = d[0] / largest, d[1] / largest, d[2] / largest
    return largest * math.sqrt(dot(e, e))
