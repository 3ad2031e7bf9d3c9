"""The unprojected contour test (paper 000, Algorithms 1 and 3; errata 1 to 3).

A patch that is a disc, whose normals are all on one side of a plane, and whose contour is star-shaped as seen along the
axis l of its cone, does not meet itself.

Why. Seen along l, every face keeps its orientation (the cone), so each point of the plane is covered as often as the
contour winds around it. A contour that winds around a centre o once, and always forward, bounds a star-shaped region:
once inside, not at all outside. So no two points of the patch are seen in one place, let alone are one, at any time,
adjacent faces included. The patch has to be a disc, or "the" contour does not bound it (errata 2).

Signs. With a and b the vertices of a contour edge as seen from o, (a x b) . l = a . (b x l) has to be positive for all
t. o moves on a straight line, so it is a quadratic with Bernstein coefficients a0 . (b0 x l), (a0 . (b1 x l) +
a1 . (b0 x l)) / 2, a1 . (b1 x l); all three clear the error, or nothing is proved. Then the winding number cannot
change, and is counted at t = 0: how often the contour passes from one side of a line through o to the other, with signs
that are certain (errata 3).

The centre. The paper takes the mean of the contour. Any other serves as well, and most star-shaped contours are not so
from their mean: it is pushed into the kernel, at t = 0 and at t = 1, where it is not there yet.

Rounding. Coordinates of a and b, off by u each, are at most M, the extent of the patch, and l, a unit vector to
rounding, is taken as it is. a . (b x l) has 6 products of three factors, and 2 + 2 + 3 + 1 roundings. With vertices off
by the position error p, a and b are off by 2 p: 6 (2 M 2 p + 4 p^2) more. A product a . s, s at most 1, has 3 products
and 1 + 3 roundings, and with vertices off by p it is off by 3 2 p more.
"""

from __future__ import annotations

import math

from pliant.arithmetic.rounding import DOT, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.culling.cones import merged
from pliant.culling.outlines import new_outline, surely_simple
from pliant.runtime.jit import helper, in_line, kernel

SIDE_ERROR = 8 * 6 * 8 * UNIT_ROUNDOFF  # times M^2; margin 8: a wider one loses no patch that matters
PASS_ERROR = 4 * 3 * (1 + DOT) * UNIT_ROUNDOFF  # times M; margin 4

FREE, BELOW_FREE = 1, 2
SHORT = 40  # edges: up to here all pairs of them take less time than to look for a centre, which few contours have
# Sweeps to find a centre: on flowing_cloth nodes of 50 faces pass the test in 36, 77, 80, 81 % with 0, 2, 4, 8.
_SWEEPS = 4
_SAMPLES = 16  # vertices for the mean: more cost as much as a quarter of the test, and hardly change what passes


@kernel
def free_patches(x0, x1, nodes, cones, start, loop, position_error, free, top, end):
    """Mark node ``top`` and those below it, up to node ``end``, in ``free``: 0: it may meet itself, FREE: surely not,
    BELOW_FREE: part of such a node. Returns the number of contours tested.

    nodes: bounds by heap index; start, loop: contours (``mesh/patches``).
    """
    tests, outline = 0, new_outline()
    first, last = top, top + 1
    while first < end:
        for node in range(first, last):
            if node > 1 and free[node >> 1] != 0:
                free[node] = BELOW_FREE
            elif cones[node, 3] > 0.0 and start[node + 1] > start[node]:
                axis = cones[node, 0], cones[node, 1], cones[node, 2]
                size, begin, finish = extent(nodes, node), start[node], start[node + 1]
                if _winds_or_is_simple(x0, x1, loop, begin, finish, axis, size, position_error, outline):
                    free[node] = FREE
                tests += 1
        first, last = 2 * first, 2 * last
    return tests


@kernel
def free_joined(x0, x1, nodes, cones, joined, position_error, free, out, leaves):
    """Mark pairs of the given leaves that surely do not meet each other, nor themselves, unless they are part of a free
    patch. Returns the number of contours tested, and how many of those pairs there are.

    joined: leaves and contours (``mesh/joined``); free: of all nodes; out: (p,) int8, 0 at first
    """
    tests, found, outline, first = 0, 0, new_outline(), len(free) >> 1
    for a in range(leaves[0], leaves[1]):
        for p in range(joined.begin[a], joined.begin[a + 1]):
            i, j = first + a, first + joined.partner[p]
            if free[i] == 0 or free[j] == 0 or _have_free_patch(free, i, j):
                continue
            cone = merged(cones, i, j)
            if not cone[3] > 0.0:
                continue
            axis, size = (cone[0], cone[1], cone[2]), _extent_of_both(nodes, i, j)
            begin, end = joined.start[p], joined.start[p + 1]
            if _winds_or_is_simple(x0, x1, joined.loop, begin, end, axis, size, position_error, outline):
                out[p] = FREE
                found += 1
            tests += 1
    return tests, found


@helper
def _winds_or_is_simple(x0, x1, loop, begin, end, axis, size, position_error, outline):
    """One of the two tests proves that a patch with this contour, in the cone around the axis, does not meet itself."""
    in_line()
    if end - begin > SHORT and star_shaped(x0, x1, loop, begin, end, axis, size, position_error) > 0:
        return True
    return surely_simple(x0, x1, loop, begin, end, axis, size, position_error, outline)


@helper
def _have_free_patch(free, i, j):
    """The lowest node that has both nodes of one level below it is free."""
    while i != j:
        i >>= 1
        j >>= 1
    return free[i] != 0


@helper
def _extent_of_both(nodes, i, j):
    """``extent`` of two nodes together."""
    size, largest = 0.0, 0.0
    for c in range(0, 6, 2):
        lower, upper = min(nodes[i, c], nodes[j, c]), max(nodes[i, c + 1], nodes[j, c + 1])
        size = max(size, upper - lower)
        largest = max(largest, max(abs(lower), abs(upper)))
    return 1.0001 * size + 4.0 * UNIT_ROUNDOFF * largest


@helper
def extent(nodes, node):
    """At least every coordinate as seen from a centre that is computed by ``centres``, off by 4 u of its size and n u
    of the extent."""
    size, largest = 0.0, 0.0
    for c in range(0, 6, 2):
        size = max(size, nodes[node, c + 1] - nodes[node, c])
        largest = max(largest, max(abs(nodes[node, c]), abs(nodes[node, c + 1])))
    return 1.0001 * size + 4.0 * UNIT_ROUNDOFF * largest


@helper
def star_shaped(x0, x1, loop, begin, end, axis, size, position_error):
    """The contour winds once around a centre that moves in a straight line: around its mean, or a better one.

    Returns the edges examined, negative where that is not proved. size: at least every difference of coordinates.
    """
    if not (size > 1e-100 and size < 1e100):
        return -1
    o0, o1 = centres(x0, x1, loop, begin, end)
    looked = winds_once(x0, x1, loop, begin, end, o0, o1, axis, size, position_error)
    if looked < 0:
        k0, found0 = _into_kernel(x0, loop, begin, end, o0, axis, size)
        if not found0:
            return looked
        k1, found1 = _into_kernel(x1, loop, begin, end, o1, axis, size)
        if not found1 or max_norm(sub(k0, o0)) > size or max_norm(sub(k1, o1)) > size:
            return looked
        again = winds_once(x0, x1, loop, begin, end, k0, k1, axis, 2.0 * size, position_error)
        looked = again - looked if again > 0 else again + looked
    return looked


@helper
def _into_kernel(x, loop, begin, end, o, axis, size):
    """Push a centre across the edges that see it from behind, each time a little further than to their line.

    Relaxation: it converges where the kernel has an inside. Returns (centre, False) where some sweeps were not enough.
    """
    margin = 0.01 * size
    for _ in range(_SWEEPS):
        behind = 0
        a = row(x, loop[end - 1])
        for k in range(begin, end):
            b = row(x, loop[k])
            inward = cross(axis, sub(b, a))
            length = dot(inward, inward)
            beyond = dot(inward, sub(o, a))
            if beyond * abs(beyond) < margin * margin * length:  # nearer to the line than margin, or behind
                root = math.sqrt(length)
                if beyond <= 0.01 * margin * root:
                    behind += 1
                o = add(o, scale(inward, (margin * root - beyond) / length if length > 0.0 else 0.0))
            a = b
        if behind == 0:
            return o, True
    return o, False


@helper
def winds_once(x0, x1, loop, begin, end, o0, o1, axis, size, position_error):
    """The contour winds around a moving centre once, forward at every edge and all the time; as ``star_shaped``."""
    side_error = SIDE_ERROR * size * size + 24.0 * position_error * (size + position_error)
    pass_error = PASS_ERROR * size + 6.0 * position_error
    across = _any_across(axis)
    a0, a1 = sub(row(x0, loop[end - 1]), o0), sub(row(x1, loop[end - 1]), o1)
    before = dot(a0, across)
    if abs(before) <= pass_error:
        return -1
    passes = 0
    for k in range(begin, end):
        b0, b1 = sub(row(x0, loop[k]), o0), sub(row(x1, loop[k]), o1)
        b0_l, b1_l = cross(b0, axis), cross(b1, axis)
        if not (
            dot(a0, b0_l) > side_error
            and dot(a1, b1_l) > side_error
            and 0.5 * (dot(a0, b1_l) + dot(a1, b0_l)) > side_error
        ):
            return begin - k - 1
        now = dot(b0, across)
        if abs(now) <= pass_error:
            return begin - k - 1
        passes += before < 0.0 and now > 0.0
        if passes > 1:
            return begin - k - 1
        before, a0, a1 = now, b0, b1
    return end - begin if passes == 1 else begin - end


@helper
def centres(x0, x1, loop, begin, end):
    """The mean of some vertices of the contour at both ends of the motion, as seen from the first vertex, so that only
    the extent of the contour is rounded."""
    first0, first1 = row(x0, loop[begin]), row(x1, loop[begin])
    sum0, sum1 = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    step, count = 1 + (end - begin) // _SAMPLES, 0
    for k in range(begin, end, step):
        sum0, sum1 = add(sum0, sub(row(x0, loop[k]), first0)), add(sum1, sub(row(x1, loop[k]), first1))
        count += 1
    return add(first0, scale(sum0, 1.0 / count)), add(first1, scale(sum1, 1.0 / count))


@helper
def _any_across(axis):
    """A vector across the axis, to rounding, of length 0.3 to 1, and not in a row with the edges of a regular mesh."""
    r = 0.36, 0.48, 0.8
    if abs(dot(axis, r)) > 0.8:
        r = 0.8, -0.36, 0.48
    return cross(axis, r)
