"""Continuous contours (CBC; Tang, Curtis, Yoon and Manocha 2009, ICCD): every pair of contour edges, during the motion.

From the paper, as 000 describes it: continuous normal cones, then the exact test in O(n^2): the moving contour is
projected on the plane of the cone's axis, and no two of its edges that are not neighbours may meet there at any time.
Then the contour is a simple polygon all the time, and what was said of star-shaped ones in ``culling/contours`` holds.

Neighbours need no test. Where two of them fold onto each other, the far end of the shorter one lies on the other, and
the edge that follows there is no neighbour of it; a contour of three edges bounds a positive area, since all faces do.

Where the paper solves for times of overlap, pairs are proved to be apart by signs: along the line between their
centres, at both ends of an interval of time; or both ends of one edge on one side of the other, quadratics whose three
Bernstein coefficients have one sign. Where neither holds, time is halved, down to 1/64 of the motion: past that,
nothing is proved. Added, because a straw man proves nothing: coordinates are those seen from the moving mean of
the contour, and pairs with swept boxes that are apart (nearly all) cost four comparisons.

Rounding. With differences of coordinates up to M, projected ones are off by 7 u M (``baselines/patches``), by 11 u M at
a time in between, their differences, at most sqrt(3) M, by 24 u M; products of two by 2 (2 sqrt(3) 24 + 9) u M^2 < 186
u M^2, the middle coefficient and its sum included in 256.
"""

from __future__ import annotations

import numpy as np

from bench.baselines.patches import across, axis_of, extent_of, mark_with_cones, next_patch, project
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.culling.contours import FREE, centres
from pliant.engine.scene import Fitted, Scene
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

_PLACE_ERROR = 16 * UNIT_ROUNDOFF  # times M
_SIDE_ERROR = 256 * UNIT_ROUNDOFF  # times M^2
_ALONG_ERROR = 64 * UNIT_ROUNDOFF  # times M and the sum of the axis' coordinates: two of 24 u, 3 roundings more
_HALVINGS = 6


def mark(scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Mark the nodes that surely do not meet themselves in ``fitted.pair_tree.free``."""
    mark_with_cones(_mark_below, scene, fitted, pool, tally)


@kernel
def _mark_below(sheet, free, top, end):
    flat, boxes = np.empty((sheet.longest + 1, 4)), np.empty((sheet.longest, 4))
    tests = 0
    node, level = next_patch(sheet, free, top, end, 0, 0)
    while node > 0:
        begin, stop = sheet.start[node], sheet.start[node + 1]
        size = extent_of(sheet.nodes, node)
        if stays_simple(sheet.x0, sheet.x1, sheet.loop, begin, stop, axis_of(sheet.cones, node), size, flat, boxes):
            free[node] = FREE
        tests += 1
        node, level = next_patch(sheet, free, top, end, node, level)
    return tests


@helper
def stays_simple(x0, x1, loop, begin, end, axis, size, flat, boxes):
    """The contour loop[begin:end], seen along the axis, is a simple polygon during the whole motion.

    size: at least every difference of coordinates, 0 where there is none that serves; flat: (n + 1, 4), boxes: (n, 4)
    are buffers.
    """
    if size == 0.0:
        return False
    e, f = across(axis)
    o0, o1 = centres(x0, x1, loop, begin, end)
    project(x0, loop, begin, end, o0, e, f, flat, 0)
    project(x1, loop, begin, end, o1, e, f, flat, 2)
    count = end - begin
    for c in range(4):
        flat[count, c] = flat[0, c]
    for k in range(count):
        for c in range(2):
            p, q, r, s = flat[k, c], flat[k, c + 2], flat[k + 1, c], flat[k + 1, c + 2]
            boxes[k, 2 * c] = min(min(p, q), min(r, s)) - _PLACE_ERROR * size
            boxes[k, 2 * c + 1] = max(max(p, q), max(r, s)) + _PLACE_ERROR * size
    for i in range(count - 2):
        a0, a1, a2, a3 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
        for j in range(i + 2, count - 1 if i == 0 else count):
            if a0 > boxes[j, 1] or boxes[j, 0] > a1 or a2 > boxes[j, 3] or boxes[j, 2] > a3:
                continue
            if not stay_apart(flat, i, j, size):
                return False
    return True


@helper
def stay_apart(flat, i, j, size):
    """Edges i and j, from row to row + 1 of flat (u and v at t = 0, u and v at t = 1), never meet."""
    a, b, c, d = _mover(flat, i), _mover(flat, i + 1), _mover(flat, j), _mover(flat, j + 1)
    level, part = 0, 0  # the interval of time: from part / 2^level on, 1 / 2^level long
    while True:
        length = 1.0 / (1 << level)
        first, last = part * length, (part + 1) * length
        start = _place(a, first), _place(b, first), _place(c, first), _place(d, first)
        stop = _place(a, last), _place(b, last), _place(c, last), _place(d, last)
        if _apart_along(start, stop, size) or _apart_aside(start, stop, size):
            part += 1
            while part % 2 == 0 and level > 0:
                part, level = part >> 1, level - 1
            if level == 0:
                return True
        elif level == _HALVINGS:
            return False
        else:
            part, level = 2 * part, level + 1


@helper
def _mover(flat, k):
    return flat[k, 0], flat[k, 1], flat[k, 2], flat[k, 3]


@helper
def _place(mover, t):
    s = 1.0 - t
    return s * mover[0] + t * mover[2], s * mover[1] + t * mover[3]


@helper
def _apart_along(start, stop, size):
    """Separated along the line between the centres: differences linear in t, positive at both ends of the interval."""
    u = (start[2][0] + start[3][0] + stop[2][0] + stop[3][0]) - (start[0][0] + start[1][0] + stop[0][0] + stop[1][0])
    v = (start[2][1] + start[3][1] + stop[2][1] + stop[3][1]) - (start[0][1] + start[1][1] + stop[0][1] + stop[1][1])
    error = _ALONG_ERROR * size * (abs(u) + abs(v))
    return _beyond(start, u, v) > error and _beyond(stop, u, v) > error


@helper
def _beyond(points, u, v):
    a, b, c, d = points
    nearest = min(c[0] * u + c[1] * v, d[0] * u + d[1] * v)
    return nearest - max(a[0] * u + a[1] * v, b[0] * u + b[1] * v)


@helper
def _apart_aside(start, stop, size):
    """Both ends of one edge stay on one side of the other."""
    error = _SIDE_ERROR * size * size
    a0, b0, c0, d0 = start
    a1, b1, c1, d1 = stop
    return _same_side(a0, b0, c0, d0, a1, b1, c1, d1, error) or _same_side(c0, d0, a0, b0, c1, d1, a1, b1, error)


@helper
def _same_side(a0, b0, c0, d0, a1, b1, c1, d1, error):
    """Points c and d stay on one side of the line from a to b."""
    low_c, high_c = _side_range(a0, b0, c0, a1, b1, c1)
    if low_c <= error and high_c >= -error:
        return False
    low_d, high_d = _side_range(a0, b0, d0, a1, b1, d1)
    return low_d > error if low_c > error else high_d < -error


@helper
def _side_range(a0, b0, p0, a1, b1, p1):
    """Smallest and largest Bernstein coefficient of (b - a) x (p - a)."""
    e0, f0, e1, f1 = b0[0] - a0[0], b0[1] - a0[1], b1[0] - a1[0], b1[1] - a1[1]
    g0, h0, g1, h1 = p0[0] - a0[0], p0[1] - a0[1], p1[0] - a1[0], p1[1] - a1[1]
    first, last = e0 * h0 - f0 * g0, e1 * h1 - f1 * g1
    middle = 0.5 * ((e0 * h1 - f0 * g1) + (e1 * h0 - f1 * g0))
    return min(min(first, last), middle), max(max(first, last), middle)
