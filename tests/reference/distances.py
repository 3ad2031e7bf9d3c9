"""Distance of two features at one time, with and without radii, and conservative advancement: methods that share
nothing with `rational`.

A query is x : (..., 4, 3), or (..., 6, 3) for two triangles; its features are two tuples of rows as in `queries`. With
arrays of Fractions all is exact, but for square roots, to 50 digits, where there are radii. Floats are right to
1e-12 of the size of the query, slivers included.

Two features are as far apart as the origin is from the convex hull of the differences of their points. The nearest
point of it is a corner, or inside a segment or a triangle of corners. Those without length or area need not be tried:
along one, there is a way to its border on which the point stays where it is and the radius does not shrink.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import isqrt

import numpy as np

from tests.reference import triangles

VERTEX_FACE = ((0,), (1, 2, 3))
EDGE_EDGE = ((0, 1), (2, 3))
TRIANGLES = ((0, 1, 2), (3, 4, 5))
# The parts of two triangles that can be nearest to each other, unless the triangles intersect.
PARTS = (
    *(((i,), TRIANGLES[1]) for i in TRIANGLES[0]),
    *(((i,), TRIANGLES[0]) for i in TRIANGLES[1]),
    *product(combinations(TRIANGLES[0], 2), combinations(TRIANGLES[1], 2)),
)

# sin^2 of an angle that is rounding only.
_FLAT = 1e-30


def exactly(x) -> np.ndarray:
    """The same numbers as Fractions."""
    x = np.asarray(x, dtype=np.float64)
    return np.array([Fraction(c) for c in x.ravel().tolist()], dtype=object).reshape(x.shape)


def differences(features, x):
    """(..., j, 3): two features meet where the convex hull of the differences of their points holds the origin."""
    a, b = (x[..., list(rows), :] for rows in features)
    count = len(features[0]) * len(features[1])
    return (a[..., :, None, :] - b[..., None, :, :]).reshape(*x.shape[:-2], count, 3)


def distance_squared(features, x):
    """(...): between the two features; of two triangles in Fractions only, else see `triangle_distance`."""
    d = differences(features, x.reshape(-1, *x.shape[-2:]))
    best = _dot(d[:, 0], d[:, 0])
    for point, _, inside in _candidates(d, np.zeros_like(d[..., 0])):
        best = np.where(inside, np.minimum(best, _dot(point, point)), best)
    if d.shape[-2] == 9:
        assert x.dtype == object
        best = np.where(_holds_origin(d), Fraction(0), best)
    return best.reshape(x.shape[:-2])[()]


def distance(features, x):
    """(...) float64: between the two features, for floats of any scale."""
    return gap(features, np.asarray(x, dtype=np.float64), np.zeros(np.shape(x)[:-1]))


def gap(features, x, radii):
    """(...): the least of |p - q| - (r_p + r_q) for p and q on the two features.

    radii : (..., 4), of every point of x; over a feature they are interpolated linearly

    On a segment or a plane at the distance h from the origin, where the radius changes by k < 1 per unit of length, the
    least value is where one has gone h k / sqrt(1 - k^2) from the foot of the normal; for k >= 1 it is on the border.
    """
    return gap_and_difference(features, x, radii)[0]


def gap_and_difference(features, x, radii):
    """(...), (..., 3): the gap, and p - q for the points that have it; of floats, that vector up to a factor."""
    shape, x, radii = x.shape[:-2], x.reshape(-1, *x.shape[-2:]), radii.reshape(-1, radii.shape[-1])
    d = differences(features, x)
    first, second = (radii[:, list(rows)] for rows in features)
    radius = (first[:, :, None] + second[:, None, :]).reshape(d.shape[:-1])
    exponent = None
    if x.dtype != object:
        # To unit size, exactly: squares neither overflow nor vanish.
        exponent = np.frexp(np.abs(d).max(axis=(1, 2)))[1]
        d, radius = _scaled(d, -exponent[:, None, None]), _scaled(radius, -exponent[:, None])
    value, vector = _root(_dot(d[:, 0], d[:, 0])) - radius[:, 0], d[:, 0]
    for point, reach, inside in _candidates(d, radius):
        other = _root(_dot(point, point)) - reach
        better = inside & (other < value)
        value, vector = np.where(better, other, value), np.where(better[:, None], point, vector)
    value = value if exponent is None else _scaled(value, exponent)
    return value.reshape(shape)[()], vector.reshape(*shape, 3)


def triangle_distance(x) -> np.ndarray:
    """(k,) float64: between two triangles, x : (k, 6, 3); 0 exactly where they intersect."""
    x = np.asarray(x, dtype=np.float64)
    nearest = np.min([distance((a, b), x) for a, b in PARTS], axis=0)
    meet = [bool(triangles.intersect(query[:3], query[3:])) for query in x]
    return np.where(meet, 0.0, nearest)


def _candidates(d, radius) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Points of the hull, their radius, and whether they really are of it; the nearest one is among them."""
    corners = range(d.shape[-2])
    for i in corners:
        yield d[..., i, :], radius[..., i], np.ones(d.shape[:-2], dtype=bool)
    # Of a parallelogram, its sides, and two triangles that make it up; the seam, too, where both may just miss a point.
    sides = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)) if len(corners) == 4 else combinations(corners, 2)
    for i, j in sides:
        p, u, r, c = d[..., i, :], d[..., j, :] - d[..., i, :], radius[..., i], radius[..., j] - radius[..., i]
        length = _dot(u, u)
        solid = (length > 0) & (c * c < length)
        length = np.where(solid, length, 1)
        foot = -_dot(p, u) / length
        for _ in range(d.dtype != object):
            foot = foot - _dot(p + foot[..., None] * u, u) / length
        s = foot
        if np.any(c):
            s = foot + c / length * _aside(p + foot[..., None] * u, np.where(solid, c * c, 0) / length)
        yield p + s[..., None] * u, r + s * c, solid & (s >= 0) & (s <= 1)
    for i, j, k in ((0, 1, 2), (1, 2, 3)) if len(corners) == 4 else combinations(corners, 3):
        yield _in_triangle(d[..., [i, j, k], :], radius[..., [i, j, k]])


def _in_triangle(d, radius):
    p, u, v = d[..., 0, :], d[..., 1, :] - d[..., 0, :], d[..., 2, :] - d[..., 0, :]
    r, cu, cv = radius[..., 0], radius[..., 1] - radius[..., 0], radius[..., 2] - radius[..., 0]
    n = _cross(u, v)
    area = _dot(n, n)
    solid = area > (0 if d.dtype == object else _FLAT * _dot(u, u) * _dot(v, v))
    area = np.where(solid, area, 1)

    def along(y):
        """y = s u + t v + a multiple of n."""
        return _dot(_cross(y, v), n) / area, _dot(_cross(u, y), n) / area

    s, t = along(-p)
    # The first solution is off by eps |p| / sin of the angle, the corrections by that much less.
    for _ in range(2 * (d.dtype != object)):
        ds, dt = along(-(p + s[..., None] * u + t[..., None] * v))
        s, t = s + ds, t + dt
    if np.any(cu) or np.any(cv):
        slope = (cu[..., None] * _cross(v, n) + cv[..., None] * _cross(n, u)) / area[..., None]
        steepness = _dot(slope, slope)
        solid = solid & (steepness < 1)
        aside = _aside(p + s[..., None] * u + t[..., None] * v, np.where(solid, steepness, 0))
        ds, dt = along(slope)
        s, t = s + aside * ds, t + aside * dt
    point = p + s[..., None] * u + t[..., None] * v
    return point, r + s * cu + t * cv, solid & (s >= 0) & (t >= 0) & (s + t <= 1)


def _aside(foot, steepness):
    return _root(_dot(foot, foot)) / _root(1 - steepness)


def _holds_origin(d):
    """(...): whether a tetrahedron of the nine points does; what a flat one holds is in a triangle, too."""
    held = np.zeros(d.shape[:-2], dtype=bool)
    for rows in combinations(range(9), 4):
        p, q, r, s = (d[..., row, :] for row in rows)
        total = _dot(q - p, _cross(r - p, s - p))
        parts = [_dot(q, _cross(r, s)), -_dot(p, _cross(r, s)), _dot(p, _cross(q, s)), -_dot(p, _cross(q, r))]
        held = held | ((total != 0) & np.all([part * total >= 0 for part in parts], axis=0))
    return held


def _cross(a, b):
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _dot(a, b):
    return (a * b).sum(axis=-1)


def _root(square):
    if np.asarray(square).dtype != object:
        return np.sqrt(square)
    return np.frompyfunc(_fraction_root, 1, 1)(square)


def _fraction_root(square: Fraction | int) -> Fraction:
    """Rounded down, to 170 bits at least."""
    n, d = Fraction(square).as_integer_ratio()
    half = max(0, 342 - n.bit_length() + d.bit_length()) // 2
    return Fraction(isqrt((n << 2 * half) // d), 1 << half)


def _scaled(x, exponent):
    # In two steps, since 2^1074 is no float.
    return np.ldexp(np.ldexp(x, exponent // 2), exponent - exponent // 2)


def speed_squared(features, x0, x1):
    """(...): a bound of how fast the distance changes."""
    d = differences(features, x1 - x0)
    return (d * d).sum(axis=-1).max(axis=-1)


def advance(features, x0, x1, near=1e-5):
    """The time that conservative advancement stops at, and whether it stopped because the features are near."""
    # Nothing moves: any step leads to the end.
    speed = np.maximum(np.sqrt(speed_squared(features, x0, x1)), 1e-300)
    time, stuck = np.zeros(len(x0)), np.zeros(len(x0), dtype=bool)
    active = np.arange(len(x0))
    while len(active):
        t = time[active, None, None]
        apart = distance(features, (1 - t) * x0[active] + t * x1[active])
        stuck[active] = apart < near
        # The end counts too, so nothing is done before it was examined from exactly there.
        done = stuck[active] | (time[active] == 1)
        time[active] = np.where(done, time[active], np.minimum(time[active] + 0.99 * apart / speed[active], 1))
        active = active[~done]
    return time, stuck
