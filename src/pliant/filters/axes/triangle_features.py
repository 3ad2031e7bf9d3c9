"""The culling conditions of paper 002 for two whole triangles, in the order of its Table 2.

Two triangles a0 a1 a2 and b0 b1 b2 have 15 pairs of features, one bit each: vertex v = 0 .. 5 (those of a, then those
of b) against the face of the other; 6 + 3 i + j for edge i of a against edge j of b, edge i from corner i to the next.
A condition clears the bits of pairs that surely stay apart:
  Corollary 4.3  a vertex stays on one side of the plane of a face, that of the start: its sign
  Corollary 6.2  three vertices with the same sign: the whole pair of triangles
  Corollary 6.1  two: their edge against all edges of the other triangle
  Lemma 5.1      an edge stays on one side of the plane that it spans with another at the start, with its sign
  Corollary 6.3  so does the third corner behind that edge, with the same axis (errata 12: not the normal of a face):
                 the edge against all of that triangle. Both third corners: the whole pair
  Lemma 4.4/5.2  the axis in that plane, between the centres (``features``)
Every one is a proof along one axis L, whatever L is, and needs all differences along it (errata 14) with strict signs
(errata 13). What separates whole triangles is tried first (``triangles``); here is what remains to be said of pairs
of features.

Error bound. Coordinates are taken relative to b0 at the start, y = x - o with one rounding, and M is the largest of
them. In units of u M |L|_1: 1 + DOT roundings of each of two corners, and 1 of the sum with the threshold, 9 in all. M
from 1e-70 to 1e70 and |L| above 1e-200 keep what underflow rounds away, 5e-324 each, far below that. Triangles of other
sizes are passed on.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import DOT, MARGIN, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.filters.axes.separation import ALLOWED, GAP, SHORTEST_AXIS, across, length_above
from pliant.filters.axes.triangles import CENTRES, EDGES, IN_TURN, ODD, PLANES, keep_inseparable
from pliant.runtime.jit import helper, kernel, out_of_line

# Ours, then those of Table 2 in its order; all but the last three of them are "necessary" there.
CULLS = ("centres", "in turn", "4.3", "6.2", "6.1", "5.1", "6.3", "4.4", "5.2")
CULL_NAMES = (
    "centres", "axes in turn", "corollary 4.3", "corollary 6.2", "corollary 6.1", "lemma 5.1", "corollary 6.3",
    "lemma 4.4", "lemma 5.2",
)  # fmt: skip
_CENTRES, _IN_TURN, _VERTICES, _TRIANGLES, _EDGES, _EDGE_PAIRS, _EDGE_TRIANGLE, _CIRCLE, _CIRCLES = (
    1 << number for number in range(9)
)
EVERYTHING = (1 << 15) - 1

_ERROR = (2 * (1 + DOT) + 1) * UNIT_ROUNDOFF * 4 / 3


def cull_pairs(x0, x1, radii, tolerance: float, which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Pairs of triangles that are not surely apart (their numbers), which pairs of their features are left (as bits),
    how many pairs of features each condition takes (9,), in the order of CULLS, and how many pairs of triangles may
    not be finite.

    x0, x1 : (k, 6, 3). radii : (k, 6), or (1, 6) for all; with a tolerance, relative to the extent of a pair, what is
    left out does not even come within the radii and the tolerance. which : bits, in the order of CULLS.
    """
    closeness = tolerance, float(radii[:, :3].max(initial=0.0) + radii[:, 3:].max(initial=0.0))
    ids, whole, culled = np.arange(len(x0), dtype=np.int32), np.zeros(5, np.int64), np.zeros(len(CULLS), np.int64)
    ids = ids[: keep_inseparable(x0, x1, closeness, _axes(which), ids, whole)]
    left = np.empty(len(ids), np.int16)
    cull_features(x0, x1, radii, tolerance, which, ids, left, culled)
    for condition, count in zip((_CENTRES, _TRIANGLES, _EDGE_TRIANGLE, _IN_TURN), whole[:ODD].tolist(), strict=True):
        culled[condition.bit_length() - 1] += 15 * count
    return ids, left, culled, int(whole[ODD])


def _axes(which: int) -> int:
    """What ``triangles`` is to try."""
    return (
        (CENTRES if which & _CENTRES else 0)
        | (PLANES if which & _TRIANGLES else 0)
        | (EDGES if which & _EDGE_TRIANGLE else 0)
        | (IN_TURN if which & _IN_TURN else 0)
    )


@kernel
def cull_features(x0, x1, radii, tolerance, which, ids, left, culled):
    """What the conditions for features leave of the pairs of triangles with these numbers: left (k,), bits."""
    for i in range(len(ids)):
        left[i] = _left_of_pair(x0, x1, radii, tolerance, ids[i], which, culled)


@helper
def _left_of_pair(x0, x1, radii, tolerance, p, which, culled):
    """What the conditions for features leave of one pair of triangles that none separates as a whole."""
    out_of_line()
    o = x0[p, 3, 0], x0[p, 3, 1], x0[p, 3, 2]
    a = _triangle(x0, p, 0, o), _triangle(x1, p, 0, o)
    b = _triangle(x0, p, 3, o), _triangle(x1, p, 3, o)
    m = max(max(_largest(a[0]), _largest(a[1])), max(_largest(b[0]), _largest(b[1])))
    if not (m > 1e-70 and m < 1e70):
        return EVERYTHING
    r = p if len(radii) > 1 else 0
    a_radius = max(max(radii[r, 0], radii[r, 1]), radii[r, 2])
    b_radius = max(max(radii[r, 3], radii[r, 4]), radii[r, 5])
    margins = _margins_for((tolerance, a_radius + b_radius), m, max_norm(o))
    margins = margins[0] + _ERROR * m, margins[1]
    bits = EVERYTHING
    if which & (_VERTICES | _TRIANGLES | _EDGES):
        of_a, of_b = _sides(b, a, margins), _sides(a, b, margins)
        if which & _TRIANGLES and (abs(of_a[0] + of_a[1] + of_a[2]) == 3 or abs(of_b[0] + of_b[1] + of_b[2]) == 3):
            culled[3] += 15
            return 0
        bits = _left_by_signs(of_a, of_b, which, culled)
    if which & (_EDGE_PAIRS | _EDGE_TRIANGLE | _CIRCLE | _CIRCLES):
        points = np.empty((12, 3))
        _lay_out(points, x0, x1, p, o)
        bits = _by_features(bits, points, margins, which, culled)
    return bits


@helper
def _margins_for(closeness, m, far):
    """By how much projections have to be apart for triangles not to be reported, rounding aside: per |L|_1, per |L|.

    The tolerance (the extent is at most 2 m, for a largest coordinate m), what advancement allows for rounding, with m
    and an origin that is so far away; and the radii of both.
    """
    tolerance, of_both = closeness
    return 2.0 * MARGIN * tolerance * m + ALLOWED * (far + m + of_both), of_both * GAP


@helper
def _triangle(x, p, first, o):
    return (
        (x[p, first, 0] - o[0], x[p, first, 1] - o[1], x[p, first, 2] - o[2]),
        (x[p, first + 1, 0] - o[0], x[p, first + 1, 1] - o[1], x[p, first + 1, 2] - o[2]),
        (x[p, first + 2, 0] - o[0], x[p, first + 2, 1] - o[1], x[p, first + 2, 2] - o[2]),
    )


@helper
def _largest(corners):
    return max(max(max_norm(corners[0]), max_norm(corners[1])), max_norm(corners[2]))


@helper
def _threshold(axis, margins):
    """What a difference along the axis has to exceed; infinite for an axis that is too short to prove anything."""
    if not max_norm(axis) > SHORTEST_AXIS:
        return np.inf
    threshold = margins[0] * (abs(axis[0]) + abs(axis[1]) + abs(axis[2]))
    return threshold + margins[1] * length_above(axis) if margins[1] > 0.0 else threshold


# ---- against the planes of the two faces


@helper
def _sides(face, other, margins):
    """Of each corner of the other: 1 if it stays above the plane of the face, -1 below, 0 if that is not certain."""
    start, end = face
    axis = cross(sub(start[1], start[0]), sub(start[2], start[0]))
    threshold = _threshold(axis, margins)
    d0, d1, d2 = dot(start[0], axis), dot(start[1], axis), dot(start[2], axis)
    e0, e1, e2 = dot(end[0], axis), dot(end[1], axis), dot(end[2], axis)
    upper = max(max(d0, d1), d2) + threshold, max(max(e0, e1), e2) + threshold
    lower = min(min(d0, d1), d2) - threshold, min(min(e0, e1), e2) - threshold
    return (
        _side(other[0][0], other[1][0], axis, lower, upper),
        _side(other[0][1], other[1][1], axis, lower, upper),
        _side(other[0][2], other[1][2], axis, lower, upper),
    )


@helper
def _side(start, end, axis, lower, upper):
    d, e = dot(start, axis), dot(end, axis)
    return int((d > upper[0]) & (e > upper[1])) - int((d < lower[0]) & (e < lower[1]))


@helper
def _cleared(sides):
    return int(sides[0] != 0) | int(sides[1] != 0) << 1 | int(sides[2] != 0) << 2


@helper
def _left_by_signs(of_a, of_b, which, culled):
    """What Corollaries 4.3 and 6.1 leave, given the signs of the corners of a and of b."""
    bits = EVERYTHING
    if which & _VERTICES:
        bits ^= _cleared(of_a) | _cleared(of_b) << 3
        culled[2] += _count(EVERYTHING ^ bits)
    if which & _EDGES:
        clear = 0
        for i in range(3):
            if of_a[i] * of_a[(i + 1) % 3] > 0:
                clear |= 0b111 << 6 + 3 * i
            if of_b[i] * of_b[(i + 1) % 3] > 0:
                clear |= 0b1001001 << 6 + i
        culled[4] += _count(clear)
        bits &= ~clear
    return bits


@helper
def _count(bits):
    ones = 0
    while bits != 0:
        bits &= bits - 1
        ones += 1
    return ones


# ---- against the planes that edges span


@helper
def _lay_out(points, x0, x1, p, o):
    """The corners at the start, then at the end, as rows: what comes below is for any of them."""
    for c in range(6):
        for k in range(3):
            points[c, k] = x0[p, c, k] - o[k]
            points[6 + c, k] = x1[p, c, k] - o[k]


@helper
def _by_features(bits, points, margins, which, culled):
    """What the conditions for single pairs of features leave."""
    if which & (_EDGE_PAIRS | _EDGE_TRIANGLE):
        bits = _by_edges(bits, points, margins, which, culled)
    if which & (_CIRCLE | _CIRCLES):
        bits = _by_circles(bits, points, margins, which, culled)
    return bits


@helper
def _along(points, c, axis):
    """Corner c along the axis, at the start and at the end."""
    return dot(row(points, c), axis), dot(row(points, 6 + c), axis)


@helper
def _beyond(p, q, u, v, threshold):
    """p and q are beyond u and v, at the start and at the end."""
    return min(p[0], q[0]) > max(u[0], v[0]) + threshold and min(p[1], q[1]) > max(u[1], v[1]) + threshold


@helper
def _by_edges(bits, points, margins, which, culled):
    """What Lemma 5.1 and Corollary 6.3 leave."""
    for i in range(3):
        for j in range(3):
            pair = 1 << 6 + 3 * i + j
            if not bits & pair:
                continue
            cleared, others = _clear_by_edges(points, i, j, margins)
            if which & _EDGE_PAIRS and cleared:
                bits ^= pair
                culled[5] += 1
            if which & _EDGE_TRIANGLE and bits & others:
                culled[6] += _count(bits & others)
                bits &= ~others
    return bits


@helper
def _clear_by_edges(points, i, j, margins):
    """(edge i of a surely stays clear of edge j of b, bits of all pairs that the same axis keeps apart)."""
    i1, i2, b0, b1, b2 = (i + 1) % 3, (i + 2) % 3, 3 + j, 3 + (j + 1) % 3, 3 + (j + 2) % 3
    axis = cross(sub(row(points, i1), row(points, i)), sub(row(points, b1), row(points, b0)))
    threshold = _threshold(axis, margins)
    u, v, p, q = _along(points, i, axis), _along(points, i1, axis), _along(points, b0, axis), _along(points, b1, axis)
    if not _beyond(p, q, u, v, threshold):
        if not _beyond(u, v, p, q, threshold):
            return False, 0
        axis = scale(axis, -1.0)  # changes signs and nothing else
        u, v, p, q = (-u[0], -u[1]), (-v[0], -v[1]), (-p[0], -p[1]), (-q[0], -q[1])
    w, r = _along(points, i2, axis), _along(points, b2, axis)
    others = 1 << 6 + 3 * i + j
    edge_of_a, edge_of_b = _beyond(r, r, u, v, threshold), _beyond(p, q, w, w, threshold)
    if edge_of_a:  # against all of b
        others |= 0b111 << 6 + 3 * i | 1 << i | 1 << i1
    if edge_of_b:
        others |= 0b1001001 << 6 + j | 1 << b0 | 1 << b1
    if edge_of_a and edge_of_b and _beyond(r, r, w, w, threshold):
        others = EVERYTHING
    return True, others


# ---- in those planes


@helper
def _by_circles(bits, points, margins, which, culled):
    """What Lemmas 4.4 and 5.2 leave."""
    if which & _CIRCLE:
        for v in range(6):
            if bits & 1 << v and _vertex_beside_face(points, v, 3 if v < 3 else 0, margins):
                bits ^= 1 << v
                culled[7] += 1
    if which & _CIRCLES:
        for i in range(3):
            for j in range(3):
                pair = 1 << 6 + 3 * i + j
                if bits & pair and _edges_side_by_side(points, i, j, margins):
                    bits ^= pair
                    culled[8] += 1
    return bits


@helper
def _vertex_beside_face(points, v, first, margins):
    """Lemma 4.4."""
    f0, f1, f2 = row(points, first), row(points, first + 1), row(points, first + 2)
    normal = cross(sub(f1, f0), sub(f2, f0))
    between = sub(row(points, v), scale(add(add(f0, f1), f2), 1.0 / 3.0))
    axis = across(between, normal) if dot(normal, normal) > 0.0 else between
    threshold, d = _threshold(axis, margins), _along(points, v, axis)
    p, q, r = _along(points, first, axis), _along(points, first + 1, axis), _along(points, first + 2, axis)
    return _beyond(d, d, p, q, threshold) and _beyond(d, d, r, r, threshold)


@helper
def _edges_side_by_side(points, i, j, margins):
    """Lemma 5.2."""
    i1, b0, b1 = (i + 1) % 3, 3 + j, 3 + (j + 1) % 3
    e, f = sub(row(points, i1), row(points, i)), sub(row(points, b1), row(points, b0))
    between = sub(add(row(points, b0), row(points, b1)), add(row(points, i), row(points, i1)))
    normal = cross(e, f)
    axis = across(between, normal) if dot(normal, normal) > 0.0 else between
    threshold = _threshold(axis, margins)
    return _beyond(
        _along(points, b0, axis), _along(points, b1, axis), _along(points, i, axis), _along(points, i1, axis), threshold
    )
