"""A plain cubic solver, as in OpenCCD: when are four vertices coplanar, and do the features touch then?

For each of six vertex-face and nine edge-edge pairs: the cubic of coplanarity; no root where an interval that holds its
values is clear of 0; else Newton's method, kept within bounds by bisection, between the times at which it turns; then
whether the point in which plane or lines meet lies on the features, to within a tolerance. The vertices of one triangle
share what they can of their cubics, and a root later than the earliest contact so far is not examined.

With ``first_contacts_after_dnf`` the interval is that of the Bernstein coefficients, which is narrower: the deforming
non-penetration filter, which is younger than OpenCCD's solver.

Plain floating point, without error bounds: unlike ours it may miss contacts (four vertices that stay coplanar, grazing
contacts, where rounding hides a double root) and invent some (within the tolerance).
"""

from __future__ import annotations

import numpy as np

from bench.baselines.triangle_pairs import NEVER, FirstContacts, corners, rotated, run_kernel
from pliant.arithmetic.bernstein import cross_controls, cubic
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import cross, dot, lerp, sub
from pliant.runtime.jit import helper, kernel

_BEYOND = 1e-9  # of an edge or a face, that a point may be outside of it
_NEWTON = 60  # steps at most; bisection alone needs 53


def first_contacts(x0: np.ndarray, x1: np.ndarray, tolerance: float, threads: int) -> FirstContacts:
    """The first time at which two features of pairs of triangles (k, 6, 3) touch; tolerance: of advancement, unused."""
    return run_kernel(_first_contacts, x0, x1, tolerance, threads)


def first_contacts_after_dnf(x0: np.ndarray, x1: np.ndarray, tolerance: float, threads: int) -> FirstContacts:
    """The same, with cubics discarded by their Bernstein coefficients."""
    return run_kernel(_first_contacts_after_dnf, x0, x1, tolerance, threads)


@kernel
def _first_contacts(x0, x1, tolerance, begin, end, toi):
    return _solve(x0, x1, begin, end, toi, False)


@kernel
def _first_contacts_after_dnf(x0, x1, tolerance, begin, end, toi):
    return _solve(x0, x1, begin, end, toi, True)


@helper
def _solve(x0, x1, begin, end, toi, by_bernstein):
    steps = 0
    for p in range(begin, end):
        a, b = corners(x0, p)
        a_end, b_end = corners(x1, p)
        first = 1.0
        hit = False
        for _ in range(2):
            e1, e2, e1_end, e2_end = sub(b[1], b[0]), sub(b[2], b[0]), sub(b_end[1], b_end[0]), sub(b_end[2], b_end[0])
            n = cross_controls(e1, e2, e1_end, e2_end)
            for _ in range(3):
                w, w_end = sub(a[0], b[0]), sub(a_end[0], b_end[0])
                c = cubic(w, w_end, n)
                if _may_vanish(c, by_bernstein):
                    t = _first_touch(VERTEX_FACE, c, (e1, e2, w), (e1_end, e2_end, w_end), first)
                    if t <= first:
                        first, hit = t, True
                a, a_end = rotated(a), rotated(a_end)
            a, b, a_end, b_end = b, a, b_end, a_end
        for _ in range(3):
            e1, e1_end = sub(a[1], a[0]), sub(a_end[1], a_end[0])
            for _ in range(3):
                e2, e2_end, w, w_end = (
                    sub(b[1], b[0]),
                    sub(b_end[1], b_end[0]),
                    sub(b[0], a[0]),
                    sub(b_end[0], a_end[0]),
                )
                c = cubic(w, w_end, cross_controls(e1, e2, e1_end, e2_end))
                if _may_vanish(c, by_bernstein):
                    t = _first_touch(EDGE_EDGE, c, (e1, e2, w), (e1_end, e2_end, w_end), first)
                    if t <= first:
                        first, hit = t, True
                b, b_end = rotated(b), rotated(b_end)
            a, a_end = rotated(a), rotated(a_end)
        toi[p] = first if hit else NEVER
        steps += 15
    return steps


@helper
def _may_vanish(c, by_bernstein):
    """Zero is within the Bernstein coefficients, or within the interval c0 + [0, 1] p1 + [0, 1] p2 + [0, 1] p3."""
    if by_bernstein:
        return min(min(c[0], c[1]), min(c[2], c[3])) <= 0.0 and max(max(c[0], c[1]), max(c[2], c[3])) >= 0.0
    p1, p2, p3 = 3.0 * (c[1] - c[0]), 3.0 * (c[2] - 2.0 * c[1] + c[0]), c[3] - c[0] - 3.0 * (c[2] - c[1])
    lower, upper = min(p1, 0.0) + min(p2, 0.0) + min(p3, 0.0), max(p1, 0.0) + max(p2, 0.0) + max(p3, 0.0)
    return c[0] + lower <= 0.0 and c[0] + upper >= 0.0


@helper
def _first_touch(kind, c, start, end, until):
    """The first root of the cubic, up to the end, at which the features touch; NEVER where there is none."""
    low, bottom = 0.0, c[0]
    turn, turn_again = _turning_points(c)
    for piece in range(3):
        high = turn if piece == 0 else turn_again if piece == 1 else 1.0
        if high <= low and piece < 2:
            continue
        top = _value(c, high)
        if (bottom <= 0.0 and top >= 0.0) or (bottom >= 0.0 and top <= 0.0):
            t = _root(c, low, high, bottom < top)
            if t <= until and _is_inside(kind, start, end, t):
                return t
        if high > until:
            break
        low, bottom = high, top
    return NEVER


@helper
def _turning_points(c):
    """The times within 0 .. 1 at which the cubic turns, in order; 0 in place of what is not there."""
    d0, d1, d2 = c[1] - c[0], c[2] - c[1], c[3] - c[2]
    q2, q1 = d0 - 2.0 * d1 + d2, d1 - d0  # q2 t^2 + 2 q1 t + d0
    discriminant = q1 * q1 - q2 * d0
    if discriminant <= 0.0:
        return 0.0, 0.0
    q = -(q1 + np.sqrt(discriminant)) if q1 > 0.0 else np.sqrt(discriminant) - q1
    one = q / q2 if q2 != 0.0 else 0.0
    two = d0 / q if q != 0.0 else 0.0
    one, two = one if one > 0.0 and one < 1.0 else 0.0, two if two > 0.0 and two < 1.0 else 0.0
    return min(one, two), max(one, two)


@helper
def _value(c, t):
    s = 1.0 - t
    return s * s * (s * c[0] + 3.0 * t * c[1]) + t * t * (3.0 * s * c[2] + t * c[3])


@helper
def _slope(c, t):
    s = 1.0 - t
    return 3.0 * (s * s * (c[1] - c[0]) + 2.0 * s * t * (c[2] - c[1]) + t * t * (c[3] - c[2]))


@helper
def _root(c, low, high, rising):
    """The root between two times between which the cubic rises or falls."""
    t = 0.5 * (low + high)
    for _ in range(_NEWTON):
        value, slope = _value(c, t), _slope(c, t)
        if (value > 0.0) == rising:
            high = t
        else:
            low = t
        later = t - value / slope if slope != 0.0 else low
        if not (later > low and later < high):
            later = 0.5 * (low + high)
        if abs(later - t) <= 1e-15:
            return later
        t = later
    return t


@helper
def _is_inside(kind, start, end, t):
    """Where plane or lines meet is on the features."""
    e1, e2, w = lerp(start[0], end[0], t), lerp(start[1], end[1], t), lerp(start[2], end[2], t)
    n = cross(e1, e2)
    squared = dot(n, n)
    if squared == 0.0:
        return False
    b, c, off = dot(cross(w, e2), n), dot(cross(e1, w), n), _BEYOND * squared
    if kind == VERTEX_FACE:
        return b >= -off and c >= -off and squared - b - c >= -off
    return b >= -off and c <= off and squared - b >= -off and squared + c >= -off
