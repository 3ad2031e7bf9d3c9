"""The radial view test (Wong et al. 2013): a disc is seen from a point, each of its faces from one side, once.

Why it holds. Seen from p, all of the patch is before a plane through p with normal l: (v - p) . l > 0 for its
vertices, at t = 0 and t = 1, so for all t. Central projection maps it to a plane, where all faces have one orientation
(det(a - p, b - p, c - p) has one sign: cubics whose four Bernstein coefficients have it), and the contour winds around
a centre o once, forward all the time (det(o - p, a - p, b - p) likewise). The rest is as in ``culling/contours``.

As in our own test, p and o move in straight lines, and are pushed to where the test holds at t = 0 and at t = 1 before
it is made for all t.

Rounding. Vectors from p, one rounding each, are at most M: cubics as in ``filters/bernstein``. The product that counts
the winding, (v - p) . ((o - p) x r), has 6 products of M^2 and 7 roundings.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import F_ERROR, cross_controls, cubic
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.runtime.jit import helper

_PASS_ERROR = 6 * 16 * UNIT_ROUNDOFF  # times M^2
_BEFORE_ERROR = 3 * 8 * UNIT_ROUNDOFF  # times M
_DISTANCE = 2.0  # of the first guess for p from the contour, in extents of the patch
_SWEEPS = 4


class Cloud(NamedTuple):
    """One frame; nodes by heap index, coordinates scaled to about 1."""

    x0: np.ndarray  # (n, 3), not scaled
    x1: np.ndarray  # (n, 3), not scaled
    factor: float  # a power of two, that scales them
    points: np.ndarray  # (k, 18) corners of the faces by place at both ends of the motion
    flipped: np.ndarray  # (k,) bool by place
    begin: np.ndarray  # (leaves + 1,) places
    nodes: np.ndarray  # (nodes, 2 axes) bounds, not scaled
    start: np.ndarray  # (nodes + 1,) contours
    loop: np.ndarray  # int32 vertex ids
    lean: np.ndarray  # (nodes, 6) sum of the normals of the faces at both ends, to be filled in


@helper
def seen_once(cloud, node, begin, end):
    """Some observation point sees the faces at places begin .. end - 1, all those below a node that is a disc, once."""
    size = _extent(cloud, node)
    if not (size > 1e-70 and size < 1e70):
        return False
    hand = 1.0 if _is_convex(cloud, node) else -1.0
    o0, o1 = _mean(cloud, cloud.x0, node), _mean(cloud, cloud.x1, node)
    p0, p1 = _away(cloud, node, o0, 0, hand, size), _away(cloud, node, o1, 1, hand, size)
    ahead, extent = _ahead(o0, p0, o1, p1), max(_extent_from(cloud, node, p0), _extent_from(cloud, node, p1))
    if not _sees_faces(cloud, begin, end, p0, p1, ahead, hand, extent):
        p0, ok0 = _behind_faces(cloud, begin, end, p0, 0, hand, size)
        if not ok0:
            return False
        p1, ok1 = _behind_faces(cloud, begin, end, p1, 1, hand, size)
        if not ok1:
            return False
        ahead, extent = _ahead(o0, p0, o1, p1), max(_extent_from(cloud, node, p0), _extent_from(cloud, node, p1))
        if not _sees_faces(cloud, begin, end, p0, p1, ahead, hand, extent):
            return False
    if _winds_once(cloud, node, p0, p1, o0, o1, ahead, hand, extent):
        return True
    o0, ok0 = _into_kernel(cloud, cloud.x0, node, p0, o0, hand, size)
    o1, ok1 = _into_kernel(cloud, cloud.x1, node, p1, o1, hand, size)
    return ok0 and ok1 and _winds_once(cloud, node, p0, p1, o0, o1, ahead, hand, extent)


@helper
def _extent(cloud, node):
    size = 0.0
    for c in range(0, 6, 2):
        size = max(size, cloud.nodes[node, c + 1] - cloud.nodes[node, c])
    return size * cloud.factor


@helper
def _extent_from(cloud, node, p):
    """At least every coordinate of the cluster as seen from p, which may stand for a point as well as for a centre."""
    extent = 0.0
    for c in range(3):
        lower, upper = cloud.nodes[node, 2 * c] * cloud.factor, cloud.nodes[node, 2 * c + 1] * cloud.factor
        extent = max(extent, max(abs(lower - p[c]), abs(upper - p[c])))
    return 1.0001 * extent


@helper
def _is_convex(cloud, node):
    """The normals of the two halves turn away from each other: the point to see the cluster from is behind it."""
    a, b = 2 * node, 2 * node + 1
    if b >= len(cloud.nodes):
        return True
    bend = 0.0
    for c in range(3):
        apart = (cloud.nodes[b, 2 * c] + cloud.nodes[b, 2 * c + 1]) - (
            cloud.nodes[a, 2 * c] + cloud.nodes[a, 2 * c + 1]
        )
        bend += apart * (cloud.lean[b, c] + cloud.lean[b, c + 3] - cloud.lean[a, c] - cloud.lean[a, c + 3])
    return not bend < 0.0  # NaN where a half is empty


@helper
def _mean(cloud, x, node):
    """Of the contour."""
    begin, end = cloud.start[node], cloud.start[node + 1]
    total = 0.0, 0.0, 0.0
    for k in range(begin, end):
        total = add(total, scale(row(x, cloud.loop[k]), cloud.factor))
    return scale(total, 1.0 / (end - begin))


@helper
def _away(cloud, node, o, side, hand, size):
    """Away from the contour along the mean normal, at one end of the motion: o itself, which sees nothing, where there
    is none."""
    n = cloud.lean[node, 3 * side], cloud.lean[node, 3 * side + 1], cloud.lean[node, 3 * side + 2]
    length = math.sqrt(dot(n, n))
    return sub(o, scale(n, hand * _DISTANCE * size / length)) if length > 1e-200 else o


@helper
def _ahead(o0, p0, o1, p1):
    """The direction from an observation point to a centre, over the motion."""
    v = add(sub(o0, p0), sub(o1, p1))
    return scale(v, 1.0 / math.sqrt(max(1e-300, dot(v, v))))


@helper
def _behind_faces(cloud, begin, end, p, side, hand, size):
    """Push a point behind all faces at one end of the motion (before them where hand is negative); and whether it got
    there."""
    for _ in range(_SWEEPS):
        unseen = 0
        for i in range(begin, end):
            a, b, c = corners_at(cloud, i, side)
            p, behind = _push(p, a, scale(cross(sub(b, a), sub(c, a)), -hand), 0.02 * size)
            unseen += not behind
        if unseen == 0:
            return p, True
    return p, False


@helper
def _push(p, a, inward, margin):
    """p, or where it is too near to the plane through a: moved inward from it by ``margin``; and whether it was
    inside."""
    length = dot(inward, inward)
    beyond = dot(inward, sub(p, a))
    if beyond * abs(beyond) >= margin * margin * length:
        return p, length > 0.0
    root = math.sqrt(length)
    moved = add(p, scale(inward, (margin * root - beyond) / length)) if length > 0.0 else p
    return moved, beyond > 0.01 * margin * root


@helper
def _sees_faces(cloud, begin, end, p0, p1, ahead, hand, extent):
    """Every face is before p, and facing it with one side, all the time."""
    before, error = _BEFORE_ERROR * extent, F_ERROR * extent * extent * extent
    for i in range(begin, end):
        a, b, c = corners_at(cloud, i, 0)
        a0, b0, c0 = sub(a, p0), sub(b, p0), sub(c, p0)
        a, b, c = corners_at(cloud, i, 1)
        a1, b1, c1 = sub(a, p1), sub(b, p1), sub(c, p1)
        if not (dot(a0, ahead) > before and dot(b0, ahead) > before and dot(c0, ahead) > before):
            return False
        if not (dot(a1, ahead) > before and dot(b1, ahead) > before and dot(c1, ahead) > before):
            return False
        if not _one_sign(cubic(a0, a1, cross_controls(b0, c0, b1, c1)), hand, error):
            return False
    return True


@helper
def _one_sign(values, hand, error):
    return (
        hand * values[0] > error and hand * values[1] > error and hand * values[2] > error and hand * values[3] > error
    )


@helper
def _winds_once(cloud, node, p0, p1, o0, o1, ahead, hand, extent):
    """The contour, seen from p, winds once around o, forward at every edge and all the time."""
    begin, end = cloud.start[node], cloud.start[node + 1]
    w0, w1 = sub(o0, p0), sub(o1, p1)
    largest = max(extent, max(max_norm(w0), max_norm(w1)))
    if not (dot(w0, ahead) > _BEFORE_ERROR * largest and dot(w1, ahead) > _BEFORE_ERROR * largest):
        return False
    error, pass_error = F_ERROR * largest * extent * extent, _PASS_ERROR * largest * extent
    r = (0.36, 0.48, 0.8) if abs(0.36 * ahead[0] + 0.48 * ahead[1] + 0.8 * ahead[2]) < 0.8 else (0.8, -0.36, 0.48)
    aside = cross(w0, r)
    a0, a1 = _seen(cloud, cloud.x0, end - 1, p0), _seen(cloud, cloud.x1, end - 1, p1)
    before, passes = dot(a0, aside), 0
    for k in range(begin, end):
        b0, b1 = _seen(cloud, cloud.x0, k, p0), _seen(cloud, cloud.x1, k, p1)
        now = dot(b0, aside)
        if abs(now) <= pass_error or not _one_sign(cubic(w0, w1, cross_controls(a0, b0, a1, b1)), hand, error):
            return False
        passes += before < 0.0 and now > 0.0
        before, a0, a1 = now, b0, b1
    return passes == 1


@helper
def _seen(cloud, x, k, p):
    """A vertex of a contour as seen from p."""
    return sub(scale(row(x, cloud.loop[k]), cloud.factor), p)


@helper
def _into_kernel(cloud, x, node, p, o, hand, size):
    """Push a centre to where all edges of the contour pass it forward, as seen from p; and whether it got there."""
    begin, end = cloud.start[node], cloud.start[node + 1]
    for _ in range(_SWEEPS):
        behind = 0
        a = _seen(cloud, x, end - 1, p)
        for k in range(begin, end):
            b = _seen(cloud, x, k, p)
            o, inside = _push(o, p, scale(cross(a, b), hand), 0.01 * size)
            behind += not inside
            a = b
        if behind == 0:
            return o, True
    return o, False


@helper
def corners_at(cloud, i, side):
    """Of the face at a place, at t = 0 or t = 1, flipped where it has to be."""
    p, s = cloud.points, 9 * side
    a, b, c = (
        (p[i, s], p[i, s + 1], p[i, s + 2]),
        (p[i, s + 3], p[i, s + 4], p[i, s + 5]),
        (p[i, s + 6], p[i, s + 7], p[i, s + 8]),
    )
    return (a, c, b) if cloud.flipped[i] else (a, b, c)
