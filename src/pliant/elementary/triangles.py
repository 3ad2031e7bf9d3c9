"""Whether two triangles intersect at rest: with a proof in doubles for most pairs, in integers for the rest.

Two triangles intersect if they share a point that is not on a vertex or an edge which they share by id. A sign in
doubles counts only if it clears its error bound (``orientation``): a corner that lies in the plane of the other
triangle, or nearly so, is decided here only if an axis separates the two.
"""

from __future__ import annotations

import time

import numpy as np

from pliant.arithmetic.orientation import AXIS_ERROR, LARGEST, SIDE_ERROR, TINY
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, scale, sub
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.elementary.neighbours import largest, rotated, rows, times_in, with_shared
from pliant.elementary.segments import ACCURACY, FLAT, point_between, write_segment
from pliant.runtime.jit import helper, kernel, out_of_line
from pliant.runtime.tally import Tally


def decide_triangles(x, corners, pairs, status, segments, tally: Tally) -> int:
    """Decide pairs of triangles in place, tier after tier; returns how many intersect.

    x : (n, 3) float64, positions. corners : (m, 3) int32, vertices. pairs : (k, 2) int32, rows of corners.
    status : (k,) int8, becomes MISS, HIT or FLAT. segments : (k, 2, 3) float64, what is shared by those that intersect:
    its longest extent where they overlap in a plane, one point twice where they touch in one; the ends in
    lexicographic order. Of the others it is not set.
    """
    count, clock = len(pairs), time.perf_counter()
    hits, unsure = decide_triangles_in_doubles(x, corners, pairs, count, status, segments)
    seconds = time.perf_counter() - clock
    tally.add("exact: doubles", count, count - unsure, seconds)
    if unsure:
        # Compiled when first needed.
        from pliant.elementary.exact_triangles import decide_triangles_in_integers

        clock = time.perf_counter()
        undecided = np.flatnonzero(status == UNSURE)
        hits += decide_triangles_in_integers(x, corners, pairs, undecided, status, segments)
        tally.add("exact: integers", unsure, unsure, time.perf_counter() - clock)
        seconds += time.perf_counter() - clock
    tally.add("exact", count, hits, seconds)
    return hits


@kernel
def decide_triangles_in_doubles(x, corners, pairs, count, status, segments):
    """Rows 0 .. count - 1 of pairs: MISS, HIT, FLAT or UNSURE; returns how many intersect and how many are UNSURE."""
    hits = unsure = 0
    for p in range(count):
        a, b = row(corners, pairs[p, 0]), row(corners, pairs[p, 1])
        shared = times_in(a[0], b) + times_in(a[1], b) + times_in(a[2], b)
        if shared == 0:
            answer, s, t = _without_shared(rows(x, a), rows(x, b))
        else:
            answer, s, t = with_shared(x, a, b, shared)
        status[p] = answer
        unsure += answer == UNSURE
        if answer == HIT or answer == FLAT:
            hits += 1
            write_segment(segments, p, s, t)
    return hits, unsure


@helper
def _one_side(d, error):
    """All three are surely of one sign."""
    return (d[0] > error and d[1] > error and d[2] > error) or (d[0] < -error and d[1] < -error and d[2] < -error)


@helper
def _certain(d, error):
    return abs(d[0]) > error and abs(d[1]) > error and abs(d[2]) > error


@helper
def _without_shared(a, b):
    """(answer, end, end) of two triangles without a common vertex."""
    nothing = a[0]
    e, f, w0, w1, w2 = sub(a[1], a[0]), sub(a[2], a[0]), sub(b[0], a[0]), sub(b[1], a[0]), sub(b[2], a[0])
    size = largest(w0, w1, w2)
    if not max(size, max(max_norm(e), max_norm(f))) < 0.5 * LARGEST:
        return UNSURE, nothing, nothing
    n = cross(e, f)
    d = dot(n, w0), dot(n, w1), dot(n, w2)
    d_error = SIDE_ERROR * max_norm(e) * max_norm(f) * size + TINY
    if _one_side(d, d_error):
        return MISS, nothing, nothing
    g, h, v1, v2 = sub(b[1], b[0]), sub(b[2], b[0]), sub(a[1], b[0]), sub(a[2], b[0])
    o = cross(g, h)
    c = -dot(o, w0), dot(o, v1), dot(o, v2)
    c_error = SIDE_ERROR * max_norm(g) * max_norm(h) * largest(w0, v1, v2) + TINY
    if _one_side(c, c_error):
        return MISS, nothing, nothing
    if _certain(d, d_error) and _certain(c, c_error):
        return _across(a, b, c, d, c_error, d_error)
    if _some_axis_separates(n, e, f, w0, w1, w2) or _some_axis_separates(o, g, h, scale(w0, -1.0), v1, v2):
        return MISS, nothing, nothing
    return UNSURE, nothing, nothing


@helper
def _some_axis_separates(n, e, f, w0, w1, w2):
    """Seen along its normal n, the triangle 0, e, f has all of the other, w0, w1, w2, beyond one of its sides."""
    out_of_line()
    size = max(largest(w0, w1, w2), max(max_norm(e), max_norm(f)))
    for side in (e, f, sub(f, e)):
        axis = cross(n, side)
        p, q = dot(axis, e), dot(axis, f)
        r, s, t = dot(axis, w0), dot(axis, w1), dot(axis, w2)
        error = 2.0 * AXIS_ERROR * max_norm(axis) * size + TINY  # a gap is between two values
        gap = min(r, min(s, t)) - max(0.0, max(p, q))
        other_gap = min(0.0, min(p, q)) - max(r, max(s, t))
        if max(gap, other_gap) > error:
            return True
    return False


@helper
def _lone(d):
    """The corner that is on one side of a plane by itself, given that the three are on both."""
    if (d[0] > 0.0) == (d[1] > 0.0):
        return 2
    return 1 if (d[0] > 0.0) == (d[2] > 0.0) else 0


@helper
def _across(a, b, c, d, c_error, d_error):
    """Each has corners strictly on both sides of the plane of the other: c for a, d for b.

    The two edges of a that meet at its lone corner cross the line common to both planes at X1 and X2, those of b at Y1
    and Y2. The volume spanned by edge i of a and edge j of b is zero where Xi = Yj, and nowhere else: its sign is the
    order of Xi and Yj on the line, up to one sign common to all four. The intervals are apart if all four agree.
    """
    i, j = _lone(c), _lone(d)
    a, c, b, d = rotated(a, i), rotated(c, i), rotated(b, j), rotated(d, j)
    u, v, s, t, w = sub(a[1], a[0]), sub(a[2], a[0]), sub(b[1], b[0]), sub(b[2], b[0]), sub(b[0], a[0])
    uw, vw = cross(u, w), cross(v, w)
    us, ut, vs, vt = dot(uw, s), dot(uw, t), dot(vw, s), dot(vw, t)
    error = SIDE_ERROR * max(max_norm(u), max_norm(v)) * max(max_norm(s), max_norm(t)) * max_norm(w) + TINY
    lower, upper = min(min(us, ut), min(vs, vt)), max(max(us, ut), max(vs, vt))
    if lower > error or upper < -error:
        return MISS, a[0], a[0]
    accurate = c_error <= ACCURACY * min(abs(c[0] - c[1]), abs(c[0] - c[2])) and (
        d_error <= ACCURACY * min(abs(d[0] - d[1]), abs(d[0] - d[2]))
    )
    if not (accurate and min(min(abs(us), abs(ut)), min(abs(vs), abs(vt))) > error):
        return UNSURE, a[0], a[0]
    # Xi is within the interval of b if Y1 and Y2 are on different sides of it, and Yj likewise: two of the four are.
    first, second = (us > 0.0) != (ut > 0.0), (vs > 0.0) != (vt > 0.0)
    x1, x2 = point_between(a[0], a[1], c[0] / (c[0] - c[1])), point_between(a[0], a[2], c[0] / (c[0] - c[2]))
    if first and second:
        return HIT, x1, x2
    y1, y2 = point_between(b[0], b[1], d[0] / (d[0] - d[1])), point_between(b[0], b[2], d[0] / (d[0] - d[2]))
    if not first and not second:
        return HIT, y1, y2
    return HIT, (x1 if first else x2), (y1 if (us > 0.0) != (vs > 0.0) else y2)
