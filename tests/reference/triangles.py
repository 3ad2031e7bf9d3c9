"""The slow truth: which triangles share a point, decided in integers and fractions, without a single rounding.

A triangle is the convex hull of its corners: with a plane of its own, or a segment, or a point. Each of these is the
set of points where some affine functions are not negative (`_half_spaces`). Cutting one triangle by all half-spaces of
the other leaves exactly the points they share, as a convex polygon in order around it, or a segment, or a point. That
set is within what the triangles share by name (a corner or a side) if all its extreme points are.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np


def intersect(a, b, ids_a=(0, 1, 2), ids_b=(3, 4, 5)) -> bool:
    """Whether two closed triangles share a point beyond the corner or side they share by id.

    a, b : (3, 3) finite float64, corners in rows. ids_a, ids_b : the corners' vertices.
    Three common ids always intersect, and so do the same ids with repetitions. Otherwise a triangle with repeated ids
    has fewer, and is a segment or a point.
    """
    _, (a, b) = _integers(a, b)
    places = dict(zip(ids_a, a)) | dict(zip(ids_b, b))
    if any(places[i] != p for i, p in zip((*ids_a, *ids_b), (*a, *b))):
        raise ValueError("one vertex at two places")
    shared = [places[i] for i in set(ids_a) & set(ids_b)]
    if len(shared) == 3 or sorted(ids_a) == sorted(ids_b):
        return True
    points = _overlap(a, b)
    if not shared:
        return bool(points)
    inside = _half_spaces(shared)
    return not all(_value(f, p) >= 0 for p in points for f in inside)


def overlap(a, b) -> list[tuple[Fraction, Fraction, Fraction]]:
    """The extreme points, once each, of what two closed triangles have in common; in order around it if a polygon.

    a, b : (3, 3) finite float64, corners in rows.
    """
    scale, (a, b) = _integers(a, b)
    return [(Fraction(x) / scale, Fraction(y) / scale, Fraction(z) / scale) for x, y, z in _overlap(a, b)]


def coplanar(a, b) -> bool:
    """Whether one plane holds all six corners."""
    _, (a, b) = _integers(a, b)
    origin, *others = *a, *b
    return not any(_dot(p, _cross(q, r)) for p, q, r in combinations([_minus(p, origin) for p in others], 3))


def intersecting_faces(faces, x) -> list[tuple[int, int]]:
    """Every pair i < j of faces that intersect, in order. faces : (m, 3) vertex ids, x : (n, 3) float64 positions."""
    faces, x = np.asarray(faces, dtype=np.int64).reshape(-1, 3), np.asarray(x, dtype=np.float64)
    corners = x[faces]
    return [
        (i, j)
        for i, j in _box_pairs(corners)
        if intersect(corners[i], corners[j], faces[i].tolist(), faces[j].tolist())
    ]


def _box_pairs(corners):
    # Comparing floats is exact, and a triangle is in the box of its corners.
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    for i in range(len(corners)):
        apart = (lower[i + 1 :] > upper[i]) | (upper[i + 1 :] < lower[i])
        for j in np.flatnonzero(~apart.any(axis=1)).tolist():
            yield i, i + 1 + j


def _integers(*triangles):
    """A power of two, and the corners as tuples of integers: all coordinates multiplied by it."""
    ratios = [c.as_integer_ratio() for c in np.array(triangles, dtype=np.float64).ravel().tolist()]
    scale = max(denominator for _, denominator in ratios)
    c = [numerator * (scale // denominator) for numerator, denominator in ratios]
    points = [tuple(c[i : i + 3]) for i in range(0, len(c), 3)]
    return scale, [points[i : i + 3] for i in range(0, len(points), 3)]


def _overlap(a, b):
    points = _extreme_points(a)
    for f in _half_spaces(b):
        points = _cut(points, f)
    return points


def _extreme_points(points):
    """Those of the convex hull of up to three points."""
    if len(points) == 3 and any(_normal(points)):
        return list(points)
    # On a line the lexicographic order is the order along it.
    first, last = min(points), max(points)
    return [first] if first == last else [first, last]


def _half_spaces(points):
    """Functions (n, c), each standing for n . p + c: the hull of up to three points is where none is negative."""
    corners = _extreme_points(points)
    if len(corners) == 1:
        (p,) = corners
        return [f for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for f in _both_sides(axis, p)]
    if len(corners) == 2:
        p, q = corners
        x, y, z = d = _minus(q, p)
        # The components of d x (r - p): r is on the line where all three are zero.
        line = [f for row in ((0, -z, y), (z, 0, -x), (-y, x, 0)) for f in _both_sides(row, p)]
        return [*line, _from(d, p), _from(_minus(p, q), q)]
    n = _normal(corners)
    # n x side points to where, seen against n, the triangle is: to the left of each side.
    sides = [_from(_cross(n, _minus(corners[(i + 1) % 3], corners[i])), corners[i]) for i in range(3)]
    return [*_both_sides(n, corners[0]), *sides]


def _both_sides(n, p):
    return [_from(n, p), _from((-n[0], -n[1], -n[2]), p)]


def _from(n, p):
    """The function with gradient n that is zero at p."""
    return n, -_dot(n, p)


def _cut(points, f):
    """Extreme points of the part where f is not negative, of a convex set given by its own, in order around it.

    Those not cut off stay extreme; the new ones are where f changes sign along a side. A segment is a polygon with the
    two sides p q and q p, which have the same new point.
    """
    kept = []
    values = [_value(f, p) for p in points]
    for i, (q, at_q) in enumerate(zip(points, values)):
        p, at_p = points[i - 1], values[i - 1]
        if at_p < 0 < at_q or at_q < 0 < at_p:
            t = Fraction(at_p) / (at_p - at_q)
            kept.append(tuple(s + t * (e - s) for s, e in zip(p, q)))
        if at_q >= 0:
            kept.append(q)
    return list(dict.fromkeys(kept))


def _value(f, p):
    n, c = f
    return _dot(n, p) + c


def _normal(corners):
    p, q, r = corners
    return _cross(_minus(q, p), _minus(r, p))


def _minus(p, q):
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _dot(p, q):
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p, q):
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
