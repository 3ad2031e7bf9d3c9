"""Intersecting triangles in integers: decides every finite input, for the pairs that floating point cannot.

A triangle without area is the segment between two of its corners, or a point. What two of these have in common is
convex, and its extreme points are corners of one that lie in the other, and points where an edge crosses a triangle or
an edge. All of these are found; the triangles intersect if one of them is beyond what they share by id.

A corner may be on the shared vertex or edge only if it is shared itself, or if it belongs to a triangle without
area: then its position decides. A crossing is off the ends of its edge, so it is on a shared vertex only where a
segment leads through that vertex, and there through a plane or across another segment: that point is then all they
have in common. A segment in the plane of a triangle that crosses one of its sides has more in common with it.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.integers import sign_of
from pliant.arithmetic.orientation import (
    NORMAL,
    ROWS,
    SIDE,
    VALUE,
    WIDTH,
    first_component,
    ratio,
    set_corners,
    set_normal,
    set_sides,
    set_turn,
    turn_sign,
    turn_value,
    volume_sign,
)
from pliant.arithmetic.vec3 import row
from pliant.elementary.certified import HIT, MISS
from pliant.elementary.neighbours import is_duplicate
from pliant.elementary.segments import ACCURACY, FLAT, farthest, point_between, write_segment
from pliant.runtime.jit import helper, kernel, out_of_line

# What describes the pair stands in further rows of the machine: one array compiles in half the time of several.
_VERTEX = ROWS  # the ids of corners 0 .. 5
_SHARED = ROWS + 1  # how many vertices both triangles have, and a corner at each
_SIZE = ROWS + 2  # of triangles 0 and 1: 3 with area, 2 a segment, 1 a point
_CORNER = ROWS + 3  # two rows: the corners of a triangle, so many
_TURN = ROWS + 5  # two times three rows, in a common plane: edge of one triangle, corner of the other
_ALL_ROWS = ROWS + 11
_FOUND = 6  # row of the first extreme point, among the points: six corners in one triangle or the other, nine crossings
_POINTS = 6 + 15


@kernel
def decide_triangles_in_integers(x, corners, pairs, undecided, status, segments):
    """Decide the rows of pairs that undecided names, in place; returns how many intersect."""
    hits = 0
    m, points = np.empty((_ALL_ROWS, WIDTH), np.int64), np.empty((_POINTS, 3))
    for p in undecided:
        for i in range(6):
            m[_VERTEX, i] = corners[pairs[p, i // 3], i % 3]
            for k in range(3):
                points[i, k] = x[m[_VERTEX, i], k]
        high = set_corners(m, points)
        answer, found = _decide(m, points)
        status[p] = answer
        if answer != MISS:
            hits += 1
            i, j = farthest(points, _FOUND, _FOUND + found, high)
            write_segment(segments, p, row(points, i), row(points, j))
    return hits


# --- what a triangle is --------------------------------------------------------------------------------------------


@helper
def _set_shared(m):
    """Which vertices both triangles have."""
    out_of_line()
    m[_SHARED, 0] = equal = 0
    for i in range(3):
        repeated = False
        for j in range(i):
            repeated |= m[_VERTEX, j] == m[_VERTEX, i]
        for j in range(3, 6):
            equal += m[_VERTEX, j] == m[_VERTEX, i]
            if m[_VERTEX, j] == m[_VERTEX, i] and not repeated:
                m[_SHARED, 0] += 1
                m[_SHARED, m[_SHARED, 0]] = i
                repeated = True
    if is_duplicate(equal):
        m[_SHARED, 0] = 3


@helper
def _before(x, p, q):
    """In lexicographic order, which on a line is the order along it."""
    out_of_line()
    return row(x, p) < row(x, q)


@helper
def _set_shape(m, x, t):
    """Size and corners of triangle t."""
    out_of_line()
    first = last = 3 * t
    for i in range(3 * t, 3 * t + 3):
        m[_CORNER + t, i - 3 * t] = i
        if _before(x, i, first):
            first = i
        if _before(x, last, i):
            last = i
    m[_SIZE, t] = 3
    if first_component(m, NORMAL + 3 * t) < 0:
        m[_CORNER + t, 0], m[_CORNER + t, 1] = first, last
        m[_SIZE, t] = 2 if first != last else 1


@helper
def _ends(m, t, edge):
    """Corners at the ends of an edge of triangle t: it has 3, or 1 as a segment, or none as a point."""
    return m[_CORNER + t, edge], m[_CORNER + t, (edge + 1) % m[_SIZE, t]]


@helper
def _edges(m, t):
    return 3 if m[_SIZE, t] == 3 else m[_SIZE, t] - 1


@helper
def _on_segment(m, x, p, s, t):
    """Corner p is on the segment between corners s and t: between them in lexicographic order, and in line."""
    out_of_line()
    if (_before(x, p, s) and _before(x, p, t)) or (_before(x, s, p) and _before(x, t, p)):
        return False
    k = 0
    while k < 3 and turn_sign(m, x, k, s, t, p) == 0:
        k += 1
    return k == 3


@helper
def _beyond_shared(m, x, p):
    """Corner p, which both triangles have, is on no vertex and no edge that they share by id."""
    out_of_line()
    count = m[_SHARED, 0]
    if count == 0 or count == 3:
        return True
    s, t = m[_SHARED, 1], m[_SHARED, count]
    if m[_VERTEX, p] == m[_VERTEX, s] or m[_VERTEX, p] == m[_VERTEX, t]:
        return False
    return m[_SIZE, p // 3] == 3 or not _on_segment(m, x, p, s, t)


@helper
def _add(x, found, point):
    out_of_line()
    for k in range(3):
        x[_FOUND + found, k] = point[k]
    return found + 1


# --- deciding ------------------------------------------------------------------------------------------------------


@helper
def _decide(m, x):
    """(MISS | HIT | FLAT, how many extreme points were found)."""
    out_of_line()
    _set_shared(m)
    for t in range(2):
        set_normal(m, t)
        _set_shape(m, x, t)
    flat = m[_SIZE, 0] < 3 and m[_SIZE, 1] < 3
    for t in range(2):
        if m[_SIZE, 1 - t] == 3 and not flat:
            lowest, highest = set_sides(m, t)
            if lowest > 0 or highest < 0:
                return MISS, 0
            flat = lowest == 0 and highest == 0
    if not flat:
        hit, found = _meet_across(m, x)
        return (HIT if hit else MISS), found
    axis = _axis(m, x)
    hit, found = False, 0
    if axis >= 0 and _set_turns(m, x, axis):
        hit, found = _meet_in_plane(m, x, axis)
    return (FLAT if hit else MISS), found


@helper
def _axis(m, x):
    """An axis along which a common plane can be seen; -1 where two segments have none."""
    out_of_line()
    for t in range(2):
        if m[_SIZE, t] == 3:
            return first_component(m, NORMAL + 3 * t)
    r, s, c, d = m[_CORNER, 0], m[_CORNER, m[_SIZE, 0] - 1], m[_CORNER + 1, 0], m[_CORNER + 1, m[_SIZE, 1] - 1]
    if volume_sign(m, x, r, s, c, d) != 0:
        return -1
    for k in range(3):
        if turn_sign(m, x, k, r, s, c) != 0 or turn_sign(m, x, k, r, s, d) != 0:
            return k
    return 0  # all in line, or one is a point: then nothing crosses, seen along whichever axis


@helper
def _differ(a, b, c):
    """Some of the signs is 1 and some is -1."""
    return min(a, min(b, c)) < 0 and max(a, max(b, c)) > 0


@helper
def _meet_across(m, x):
    """Not all in one plane. A point is inside a triangle if it is not on different sides of its edges."""
    out_of_line()
    hit, found = False, 0
    for t in range(2):
        u = 1 - t
        if m[_SIZE, u] < 3:
            continue
        a, b, c = 3 * u, 3 * u + 1, 3 * u + 2
        k = first_component(m, NORMAL + 3 * u)
        for i in range(m[_SIZE, t]):
            p = m[_CORNER + t, i]
            if sign_of(m, SIDE + p) == 0 and not _differ(
                turn_sign(m, x, k, a, b, p), turn_sign(m, x, k, b, c, p), turn_sign(m, x, k, c, a, p)
            ):
                found = _add(x, found, row(x, p))
                hit |= _beyond_shared(m, x, p)
        for i in range(_edges(m, t)):
            r, s = _ends(m, t, i)
            if sign_of(m, SIDE + r) * sign_of(m, SIDE + s) < 0 and not _differ(
                volume_sign(m, x, r, s, a, b), volume_sign(m, x, r, s, b, c), volume_sign(m, x, r, s, c, a)
            ):
                found = _add(x, found, _crossing(m, x, SIDE + r, SIDE + s, r, s))
                hit |= m[_SIZE, t] == 3 or m[_SHARED, 0] == 0
    return hit, found


@helper
def _crossing(m, x, value, other_value, r, s):
    """The point of the edge between corners r and s where what has these values (in registers) at its ends is zero."""
    out_of_line()
    return point_between(row(x, r), row(x, s), ratio(m, value, other_value))


@helper
def _crossing_of_edges(m, x, k, r, s, c, d):
    """Where the edge r s crosses c d, all in a plane that is seen along axis k."""
    out_of_line()
    value, error = turn_value(x, k, c, d, r)
    other_value, other_error = turn_value(x, k, c, d, s)
    if max(error, other_error) <= ACCURACY * abs(value - other_value):
        return point_between(row(x, r), row(x, s), min(1.0, max(0.0, value / (value - other_value))))
    set_turn(m, VALUE, k, c, d, r)
    set_turn(m, VALUE + 1, k, c, d, s)
    return _crossing(m, x, VALUE, VALUE + 1, r, s)


@helper
def _set_turns(m, x, k):
    """Turns of edges and corners in a plane seen along axis k; False: all of one is strictly outside an edge."""
    out_of_line()
    for t in range(2):
        u = 1 - t
        inner = sign_of(m, NORMAL + 3 * t + k)
        for edge in range(_edges(m, t)):
            r, s = _ends(m, t, edge)
            outside = inner != 0
            for i in range(m[_SIZE, u]):
                sign = turn_sign(m, x, k, r, s, m[_CORNER + u, i])
                m[_TURN + 3 * t + edge, i] = sign
                outside &= sign == -inner
            if outside:
                return False
    return True


@helper
def _meet_in_plane(m, x, k):
    """All in one plane, which is seen along axis k, with the turns set."""
    out_of_line()
    hit, found = False, 0
    for t in range(2):
        u = 1 - t
        for i in range(m[_SIZE, u]):
            p = m[_CORNER + u, i]
            if m[_SIZE, t] == 3:
                inside = not _differ(m[_TURN + 3 * t, i], m[_TURN + 3 * t + 1, i], m[_TURN + 3 * t + 2, i])
            else:
                inside = _on_segment(m, x, p, m[_CORNER + t, 0], m[_CORNER + t, m[_SIZE, t] - 1])
            if inside:
                found = _add(x, found, row(x, p))
                hit |= _beyond_shared(m, x, p)
    for edge in range(_edges(m, 0)):
        for other in range(_edges(m, 1)):
            after, other_after = (edge + 1) % m[_SIZE, 0], (other + 1) % m[_SIZE, 1]
            if (
                m[_TURN + edge, other] * m[_TURN + edge, other_after] < 0
                and m[_TURN + 3 + other, edge] * m[_TURN + 3 + other, after] < 0
            ):
                r, s = _ends(m, 0, edge)
                c, d = _ends(m, 1, other)
                found = _add(x, found, _crossing_of_edges(m, x, k, r, s, c, d))
                hit |= m[_SIZE, 0] == 3 or m[_SIZE, 1] == 3 or m[_SHARED, 0] == 0
    return hit, found
