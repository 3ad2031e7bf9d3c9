"""Triangles that share vertices, in doubles: neighbours in a surface, most of which share nothing else.

What flat surfaces bring in crowds is decided here: neighbours side by side in one plane are told apart by an axis or at
their hinge, and need no orientation.
"""

from __future__ import annotations

import math

from pliant.arithmetic.orientation import AXIS_ERROR, HINGE_ERROR, LARGEST, SIDE_ERROR, TINY
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.elementary.segments import ACCURACY, FLAT, point_between
from pliant.runtime.jit import helper, out_of_line

_MOST_AXES = 16


@helper
def times_in(v, b):
    """How many corners of b are vertex v."""
    return int(v == b[0]) + int(v == b[1]) + int(v == b[2])


@helper
def rows(x, a):
    return row(x, a[0]), row(x, a[1]), row(x, a[2])


@helper
def rotated(a, first):
    """Corners in the same cyclic order, another one first."""
    if first == 0:
        return a
    return (a[1], a[2], a[0]) if first == 1 else (a[2], a[0], a[1])


@helper
def largest(u, v, w):
    return max(max_norm(u), max(max_norm(v), max_norm(w)))


@helper
def with_shared(x, a, b, shared):
    """(answer, end, end) of two triangles with so many equal corners; UNSURE where one names a vertex twice."""
    in_b = times_in(a[0], b), times_in(a[1], b), times_in(a[2], b)
    in_a = times_in(b[0], a), times_in(b[1], a), times_in(b[2], a)
    if shared == 1:
        p, q = rows(x, rotated(a, _place(in_b, 1))), rows(x, rotated(b, _place(in_a, 1)))
        return _at_vertex(p, q)
    once = max(in_b[0], max(in_b[1], in_b[2])) == 1 and max(in_a[0], max(in_a[1], in_a[2])) == 1
    if shared == 2 and once:
        p, q = rows(x, rotated(a, _place(in_b, 0))), row(x, b[_place(in_a, 0)])
        return _at_edge(p[1], p[2], p[0], q), q, q
    p = rows(x, a)
    if (shared == 3 and once) or is_duplicate(shared):
        return _longest_side(p)
    return UNSURE, p[0], p[0]


@helper
def is_duplicate(shared):
    """Two triangles with so many equal corners, one of which names a vertex twice, name the same three.

    Of a vertex that one names i times and the other j times, i j pairs of corners are equal: 2 2 + 1 1 or 3 3.
    """
    return shared == 5 or shared == 9


@helper
def _place(t, value):
    """Where a triple has the value, given that it does."""
    if t[0] == value:
        return 0
    return 1 if t[1] == value else 2


@helper
def _at_vertex(p, q):
    """(answer, end, end) of triangles v a b and v c d.

    Where each has its corners strictly on both sides of the other's plane, they meet the line common to both planes in
    a segment from v to a point X of ab, and one from v to a point Y of cd; they intersect if X and Y are on one ray.
    ab meets v c d if its volumes with the sides vc, cd and dv agree: those are at_c, o and -at_d, of which the last
    agrees with the first. In the same way cd meets v a b if o agrees with at_a. On one ray exactly one of these is so,
    since X or Y is nearer to v: at_c and at_a differ (also where X = Y and o = 0: a little away from that they are the
    same). On opposite rays none is so: o differs from both, and they agree.
    """
    v = p[0]
    a, b, c, d = sub(p[1], v), sub(p[2], v), sub(q[1], v), sub(q[2], v)
    ab, cd = max(max_norm(a), max_norm(b)), max(max_norm(c), max_norm(d))
    if not max(ab, cd) < 0.5 * LARGEST:
        return UNSURE, v, v
    n, error = cross(a, b), SIDE_ERROR * ab * ab * cd + TINY
    at_c, at_d = dot(n, c), dot(n, d)
    if min(at_c, at_d) > error or max(at_c, at_d) < -error:
        return MISS, v, v
    n, other_error = cross(c, d), SIDE_ERROR * cd * cd * ab + TINY
    at_a, at_b = dot(n, a), dot(n, b)
    if min(at_a, at_b) > other_error or max(at_a, at_b) < -other_error:
        return MISS, v, v
    if not (min(abs(at_c), abs(at_d)) > error and min(abs(at_a), abs(at_b)) > other_error):
        return (MISS if _cones_apart(a, b, c, d) else UNSURE), v, v
    if (at_c > 0.0) == (at_a > 0.0):
        return MISS, v, v
    e, f, g = sub(p[2], p[1]), sub(q[1], p[1]), sub(q[2], q[1])
    o = dot(cross(e, f), g)
    sure = abs(o) > SIDE_ERROR * max_norm(e) * max_norm(f) * max_norm(g) + TINY
    accurate = error <= ACCURACY * abs(at_c - at_d) and other_error <= ACCURACY * abs(at_a - at_b)
    if not (sure and accurate):
        return UNSURE, v, v
    if (o > 0.0) == (at_c > 0.0):
        return HIT, v, point_between(p[1], p[2], at_a / (at_a - at_b))
    return HIT, v, point_between(q[1], q[2], at_c / (at_c - at_d))


@helper
def _cones_apart(a, b, c, d):
    """a and b are surely on one side of a plane through 0, c and d on the other: triangles that only share 0.

    Any axis is a proof that separates them. In a regular fan the sum of the directions of a, b, -c, -d does; else the
    direction that is worst off is added until it does (the perceptron, which ends if there is such an axis). Of the
    pairs with overlapping boxes in a jittered flat grid, the first axis leaves 11 in 100, sixteen leave 1 in 1000.
    """
    out_of_line()
    la, lb, lc, ld = math.sqrt(dot(a, a)), math.sqrt(dot(b, b)), math.sqrt(dot(c, c)), math.sqrt(dot(d, d))
    if not min(min(la, lb), min(lc, ld)) > 1e-60:
        return False
    p, q, r, s = scale(a, 1.0 / la), scale(b, 1.0 / lb), scale(c, -1.0 / lc), scale(d, -1.0 / ld)
    axis = add(add(p, q), add(r, s))
    for _ in range(_MOST_AXES):
        error = AXIS_ERROR * max_norm(axis) * max(largest(a, b, c), max_norm(d)) + TINY
        if min(dot(axis, a), dot(axis, b)) > error and max(dot(axis, c), dot(axis, d)) < -error:
            return True
        at_p, at_q, at_r, at_s = dot(axis, p), dot(axis, q), dot(axis, r), dot(axis, s)
        worst = min(min(at_p, at_q), min(at_r, at_s))
        axis = add(axis, p if worst == at_p else (q if worst == at_q else (r if worst == at_r else s)))
    return False


@helper
def _at_edge(v, w, a, c):
    """Triangles (v, w, a) and (v, w, c): MISS where c is off the plane of the first, or beyond the edge seen from a."""
    e, f, g = sub(w, v), sub(a, v), sub(c, v)
    size, other_size, length = max_norm(f), max_norm(g), max_norm(e)
    if not max(length, max(size, other_size)) < LARGEST:
        return UNSURE
    n = cross(e, f)
    if abs(dot(n, g)) > SIDE_ERROR * length * size * other_size + TINY:
        return MISS
    # Components across the edge that point away from each other: a plane through the edge is between a and c.
    if dot(n, cross(e, g)) < -HINGE_ERROR * length * length * size * other_size - TINY:
        return MISS
    return UNSURE


@helper
def _longest_side(p):
    """(answer, end, end) of a triangle with itself."""
    e, f, g = sub(p[1], p[0]), sub(p[2], p[1]), sub(p[0], p[2])
    if not (largest(e, f, g) < LARGEST and largest(e, f, g) > 1.0 / LARGEST):  # or the squares vanish
        return UNSURE, p[0], p[0]
    ee, ff, gg = dot(e, e), dot(f, f), dot(g, g)
    if ee >= max(ff, gg):
        return FLAT, p[0], p[1]
    return (FLAT, p[1], p[2]) if ff >= gg else (FLAT, p[2], p[0])
