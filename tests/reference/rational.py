"""The slow truth: contact of moving features decided in integers, without a single rounding.

A vertex moves as p(t) = (1 - t) x0 + t x1. All coordinates of a query are brought to one power of two, so they are
Python ints, and every quantity below is a polynomial in t with integer coefficients, lowest first, without trailing
zeros ([] is zero). A time is an algebraic number: m / 2^k, or the only root of a polynomial between m / 2^k and
(m + 1) / 2^k.

Two features can meet only while their four points are coplanar. So the candidates are the roots of the coplanarity
cubic; where that vanishes identically, see `_first_in_plane`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, zip_longest
from math import comb, gcd
from typing import NamedTuple

import numpy as np

BITS = 80

# Which point can be the first to lie on which segment, as rows of a query.
VERTEX_FACE = ((0, 1, 2), (0, 2, 3), (0, 3, 1))
EDGE_EDGE = ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1))


class Truth(NamedTuple):
    """Encloses the first time of contact: upper - lower is at most 2^-80, and 0 where the time is known exactly."""

    lower: Fraction
    upper: Fraction


def vertex_face(x0, x1) -> Truth | None:
    """x0, x1 : (4, 3) float64, rows v f0 f1 f2 at t = 0 and t = 1. None: no contact at any t in [0, 1]."""
    return _first_contact(_moving_points(x0, x1), _vertex_on_face, VERTEX_FACE)


def edge_edge(x0, x1) -> Truth | None:
    """x0, x1 : (4, 3) float64, rows a0 a1 b0 b1 at t = 0 and t = 1. None: no contact at any t in [0, 1]."""
    return _first_contact(_moving_points(x0, x1), _edges_cross, EDGE_EDGE)


def contacts(faces, x0, x1, edges=None, points=None):
    """Every contact of a small mesh: {(vertex, face): Truth}, {((a0, a1), (b0, b1)): Truth}, the smaller edge first.

    faces : (m, 3), edges : (k, 2), points : (j,) vertex ids, x0, x1 : (n, 3) float64, positions at t = 0 and t = 1.
    Edges are the sides of all faces and the loose ones, sorted, once each, without those from a vertex to itself.
    Every pair of features without a common vertex is tried.
    """
    x0, x1 = np.asarray(x0, dtype=np.float64), np.asarray(x1, dtype=np.float64)
    faces = [tuple(map(int, face)) for face in faces]
    loose = [tuple(map(int, edge)) for edge in ([] if edges is None else edges)]
    named = [v for feature in faces + loose for v in feature] + [int(v) for v in ([] if points is None else points)]
    sides = [side for face in faces for side in combinations(face, 2)] + loose
    segments = sorted({(min(side), max(side)) for side in sides if side[0] != side[1]})

    def solve(test, pairs):
        for key, a, b in pairs:
            if not set(a) & set(b) and not _boxes_apart(x0, x1, list(a), list(b)):
                truth = test(x0[[*a, *b]], x1[[*a, *b]])
                if truth is not None:
                    yield key, truth

    vertex_pairs = (((v, i), (v,), face) for v in sorted(set(named)) for i, face in enumerate(faces))
    edge_pairs = (((a, b), a, b) for a, b in combinations(segments, 2))
    return dict(solve(vertex_face, vertex_pairs)), dict(solve(edge_edge, edge_pairs))


def _boxes_apart(x0, x1, a, b):
    # Comparing floats is exact, and a straight path stays in the box of its ends.
    a, b = np.concatenate([x0[a], x1[a]]), np.concatenate([x0[b], x1[b]])
    return bool(np.any(a.max(axis=0) < b.min(axis=0)) or np.any(b.max(axis=0) < a.min(axis=0)))


def _moving_points(x0, x1):
    """Four points of three linear polynomials, all coordinates multiplied by the same power of two."""
    both = np.stack([np.asarray(x0, dtype=np.float64), np.asarray(x1, dtype=np.float64)]).reshape(24).tolist()
    ratios = [c.as_integer_ratio() for c in both]
    scale = max(denominator for _, denominator in ratios)
    c = [numerator * (scale // denominator) for numerator, denominator in ratios]
    return [[_trim([c[3 * i + k], c[12 + 3 * i + k] - c[3 * i + k]]) for k in range(3)] for i in range(4)]


# ---- contact of four moving points


def _first_contact(points, touching, segments):
    p, q, r, s = points
    volume = _dot(_between(p, q), _cross(_between(p, r), _between(p, s)))
    if not volume:
        return _first_in_plane(points, touching, segments)
    return next((root.truth() for root in _roots(volume) if touching(points, root)), None)


def _first_in_plane(points, touching, segments):
    """First contact of four points that are coplanar all the time.

    Just before a first contact at t > 0 there is none. In the interior of a triangle that has an area, or where two
    edges properly cross, a small motion in the plane cannot undo contact: so at that time a point is on a segment.
    Likewise for a point that is always in line with a segment: it gets onto it at an end.
    """
    start = _Root([], 0, 0, 0)
    if touching(points, start):
        return start.truth()
    times = []
    for segment in segments:
        p, a, b = (points[i] for i in segment)
        times += [root.truth() for root in _collinear_times(p, a, b) if _on_segment(root, p, a, b)]
    # The smallest lower and upper bound need not be of the same event: they enclose the first one all the same.
    return Truth(min(t.lower for t in times), min(t.upper for t in times)) if times else None


def _collinear_times(p, a, b):
    line = [g for g in _cross(_between(a, b), _between(a, p)) if g]
    if line:
        return list(_roots(line[0]))
    # Where p is an end point all the time there is no such component, and t = 0 was a contact.
    meetings = [next((g for g in _between(end, p) if g), None) for end in (a, b)]
    return [root for g in meetings if g for root in _roots(g)]


def _vertex_on_face(points, root):
    """Whether v is in the closed triangle, at a time when the four points are coplanar."""
    v, *corners = points
    sides = list(zip(corners, corners[1:] + corners[:1]))
    for k in range(3):
        if root.sign(_cross_component(_between(*sides[0]), _between(*sides[1]), k)):
            # The plane is not along axis k, so nothing is lost without that coordinate. The three areas seen from v add
            # up to the triangle's: v is inside unless two of them differ in sign.
            to = [_between(v, corner) for corner in corners]
            areas = {root.sign(_cross_component(to[i - 1], to[i], k)) for i in range(3)}
            return not {-1, 1} <= areas
    return _any_on_segment(points, VERTEX_FACE, root)


def _edges_cross(points, root):
    """Whether two closed edges share a point, at a time when the four points are coplanar."""
    a0, a1, b0, b1 = points
    a, b = _between(a0, a1), _between(b0, b1)
    for k in range(3):
        if root.sign(_cross_component(a, b, k)):
            # Not parallel, also without coordinate k: the lines cross in one point, which is on an edge if that edge's
            # ends are not strictly on the same side of the other line.
            sides_of_b = [root.sign(_cross_component(b, _between(b0, p), k)) for p in (a0, a1)]
            sides_of_a = [root.sign(_cross_component(a, _between(a0, p), k)) for p in (b0, b1)]
            return sides_of_a[0] * sides_of_a[1] <= 0 and sides_of_b[0] * sides_of_b[1] <= 0
    return _any_on_segment(points, EDGE_EDGE, root)


def _any_on_segment(points, segments, root):
    # A triangle without area is the union of its sides. Where parallel or collapsed edges meet, an end is on the other.
    return any(_on_segment(root, *(points[i] for i in segment)) for segment in segments)


def _on_segment(root, p, a, b):
    # In line, p = a + s (b - a) and the last product is s (1 - s) |b - a|^2; for a = b it is -|p - a|^2.
    u, w = _between(a, p), _between(p, b)
    return not any(root.sign(g) for g in _cross(u, w)) and root.sign(_dot(u, w)) >= 0


# ---- times


class _Root:
    """A time: m / 2^k where width is 0, else the only root of p in the bracket from m / 2^k to (m + 1) / 2^k, which is
    a simple one and not at its ends."""

    def __init__(self, p, m, k, width):
        self.p, self.m, self.k, self.width = p, m, k, width
        self.sign_lower = _sign_at(p, m, k)

    def halve(self):
        self.m, self.k = 2 * self.m, self.k + 1
        middle = _sign_at(self.p, self.m + 1, self.k)
        if middle == 0:
            self.width = 0
        if middle == 0 or middle == self.sign_lower:
            self.m += 1

    def sign(self, g):
        """The sign of the polynomial g at this time."""
        shared = None
        while g and self.width:
            c = _bernstein(g, self.m, self.k)
            if min(c) > 0:
                return 1
            if max(c) < 0:
                return -1
            if shared is None:
                # Every root of shared is one of p, so in the bracket there is at most this one, and it is simple.
                shared = _common_divisor(self.p, g)
                if _sign_at(shared, self.m, self.k) * _sign_at(shared, self.m + 1, self.k) < 0:
                    return 0
            # From here on g is not zero at this time: halving ends.
            self.halve()
        return _sign_at(g, self.m, self.k)

    def truth(self):
        while self.width and self.k < BITS:
            self.halve()
        return Truth(Fraction(self.m, 1 << self.k), Fraction(self.m + self.width, 1 << self.k))


def _roots(p):
    """The roots of p in [0, 1], each once, in increasing order. p is not zero."""
    if _sign_changes(_bernstein(p, 0, 0)) > 1:
        p = _squarefree(p)
    # Descartes: an open interval holds at most as many roots, counted with multiplicity, as its coefficients change
    # sign, and exactly one for one change. Without multiple roots inside, halving gets there (the two-circle theorem).
    # Ends are intervals of their own, of width 0.
    stack = [(1, 0, 0), (0, 0, 1), (0, 0, 0)]
    while stack:
        m, k, width = stack.pop()
        if not width:
            if not _sign_at(p, m, k):
                yield _Root(p, m, k, 0)
            continue
        c = _bernstein(p, m, k)
        changes = _sign_changes(c)
        if changes == 1 and c[0] and c[-1]:
            yield _Root(p, m, k, 1)
        elif changes:
            stack += [(2 * m + 1, k + 1, 1), (2 * m + 1, k + 1, 0), (2 * m, k + 1, 1)]


def _sign_at(p, m, k):
    """The sign of p(m / 2^k)."""
    value = 0
    for i, c in enumerate(reversed(p)):
        value = value * m + (c << k * i)
    return (value > 0) - (value < 0)


def _bernstein(p, m, k):
    """c with 2^(k n) p(t) = sum of c_j s^j (1 - s)^(n - j) for t = (m + s) / 2^k, n the degree.

    All positive proves p > 0 for 0 <= s <= 1: the first and the last are the values at the ends."""
    n = len(p) - 1
    q = [c << k * (n - i) for i, c in enumerate(p)]
    for i in range(n):
        for j in range(n - 1, i - 1, -1):
            q[j] += m * q[j + 1]
    # s^i = s^i (s + 1 - s)^(n - i)
    return [sum(comb(n - i, j - i) * q[i] for i in range(j + 1)) for j in range(n + 1)]


def _sign_changes(c):
    signs = [x > 0 for x in c if x]
    return sum(a != b for a, b in pairwise(signs))


# ---- polynomials


def _trim(p):
    while p and not p[-1]:
        p.pop()
    return p


def _sub(p, q):
    return _trim([a - b for a, b in zip_longest(p, q, fillvalue=0)])


def _mul(p, q):
    product = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return _trim(product)


def _between(a, b):
    """The moving vector from a to b."""
    return [_sub(q, p) for p, q in zip(a, b)]


def _cross_component(u, v, k):
    i, j = (k + 1) % 3, (k + 2) % 3
    return _sub(_mul(u[i], v[j]), _mul(u[j], v[i]))


def _cross(u, v):
    return [_cross_component(u, v, k) for k in range(3)]


def _dot(u, v):
    x, y, z = (_mul(p, q) for p, q in zip(u, v))
    return _trim([sum(c) for c in zip_longest(x, y, z, fillvalue=0)])


def _divide(p, q):
    """Quotient and remainder of p by q, each up to a constant factor: integers stay integers."""
    quotient = []
    while len(p) >= len(q):
        shift, lead = len(p) - len(q), p[-1]
        term = [0] * shift + [lead]
        quotient = _sub([q[-1] * c for c in quotient], [-c for c in term])
        p = _sub([q[-1] * c for c in p], _mul(term, q))
    return _primitive(quotient), _primitive(p)


def _primitive(p):
    content = gcd(*p)
    return [c // content for c in p]


def _common_divisor(p, q):
    while q:
        p, q = q, _divide(p, q)[1]
    return p


def _squarefree(p):
    derivative = _trim([i * c for i, c in enumerate(p)][1:])
    return _divide(p, _common_divisor(p, derivative))[0]
