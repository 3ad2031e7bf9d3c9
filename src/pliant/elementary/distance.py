"""The closest points of two features, and how far they are from coming within a distance.

Both kinds of pair are one problem: the shortest vector r = w + s a + t b, from the second feature to the first, over
a triangle (vertex-face: s, t >= 0, s + t <= 1) or a square (edge-edge: 0 <= s, t <= 1) of parameters. With a radius at
each vertex, which interpolates over a feature, the two come within the sum of their radii where the *gap*
|r| - (radius + s slope_s + t slope_t) is not positive. Length minus something linear is convex, so its least value is
at its free minimum if that is inside, and else on a side of the domain that has the free minimum beyond it.

The free minimum: g = the vector in the plane of a and b with g . a = slope_s and g . b = slope_t. Moving r within that
plane by u changes the gap from h - radius to sqrt(h^2 + u^2) - radius - u . g, which is least at
u = h g / sqrt(1 - g^2), for |g| < 1; a steeper slope has no minimum. Equal radii have g = 0: r is the perpendicular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.vec3 import add, cross, dot, scale, sub
from pliant.runtime.jit import helper

# sin^2 of the angle between a and b below which the free minimum has too few correct digits to say which side matters,
# and below which it has none.
_NEARLY_PARALLEL = 1e-10
_PARALLEL = 1e-28


class Spread(NamedTuple):
    """All vectors from the second feature to the first, and the radii there: w + s a + t b, radius + s .. + t .."""

    w: tuple[float, float, float]
    a: tuple[float, float, float]
    b: tuple[float, float, float]
    radius: float
    slope_s: float
    slope_t: float


@helper
def spread_of(kind, p, radii):
    """The vectors between the features with vertices p = (v, f0, f1, f2) or (a0, a1, b0, b1), 3-tuples each."""
    if kind == VERTEX_FACE:
        return Spread(
            sub(p[0], p[1]), sub(p[1], p[2]), sub(p[1], p[3]),
            radii[0] + radii[1], radii[2] - radii[1], radii[3] - radii[1],
        )  # fmt: skip
    return Spread(
        sub(p[0], p[2]), sub(p[1], p[0]), sub(p[2], p[3]),
        radii[0] + radii[2], radii[1] - radii[0], radii[3] - radii[2],
    )  # fmt: skip


# Along what the closest points could still be moved: nothing (a corner), a side of the domain, or all of it.
CORNER, ALONG_A, ALONG_B, ACROSS, INSIDE = 0, 1, 2, 3, 4


@helper
def shortest(kind, spread):
    """(s, t, side, r, gap): where the gap is least, the vector there from the second feature to the first, the gap.

    At the minimum |r| grows along each free direction as the radius does: r . a = |r| slope_s. Where features nearly
    touch, r is the small rest of large terms, and that no longer holds, although it is what makes r an axis along which
    the features are separated. One correction makes up for it.
    """
    if spread.slope_s == 0.0 and spread.slope_t == 0.0:
        s, t, side, r = shortest_level(kind, spread.w, spread.a, spread.b)
        return s, t, side, r, np.sqrt(dot(r, r)) - spread.radius
    s, t, side = _closest(kind, spread)
    r = _at(spread.w, spread.a, spread.b, s, t)
    if side != CORNER:
        r, ds, dt = _corrected(spread, side, r)
        s, t = _within(kind, s + ds, t + dt)
    return s, t, side, r, np.sqrt(dot(r, r)) - (spread.radius + s * spread.slope_s + t * spread.slope_t)


@helper
def _closest(kind, spread):
    """(s, t) of the least gap, and on which side that is."""
    w, a, b = spread.w, spread.a, spread.b
    aa, ab, bb, normal = dot(a, a), dot(a, b), dot(b, b), cross(a, b)
    det = dot(normal, normal)  # aa bb - ab ab has no correct digit where they are nearly parallel
    if not det > _PARALLEL * aa * bb:
        return _closest_on_sides(kind, spread, (True, True, True, kind != VERTEX_FACE))
    s, t = dot(cross(b, w), normal) / det, dot(cross(w, a), normal) / det
    g_a = (bb * spread.slope_s - ab * spread.slope_t) / det
    g_b = (aa * spread.slope_t - ab * spread.slope_s) / det
    steepness = g_a * spread.slope_s + g_b * spread.slope_t  # g . g
    if not steepness < 1.0:
        return _closest_on_sides(kind, spread, (True, True, True, kind != VERTEX_FACE))
    r = _at(w, a, b, s, t)
    push = np.sqrt(dot(r, r) / (1.0 - steepness))
    s, t = s + push * g_a, t + push * g_b
    at_s, at_t = (s + t > 1.0, False) if kind == VERTEX_FACE else (s > 1.0, t > 1.0)
    beyond = s < 0.0 or t < 0.0 or at_s or at_t
    if det > _NEARLY_PARALLEL * aa * bb:
        return _closest_on_sides(kind, spread, (s < 0.0, at_s, t < 0.0, at_t)) if beyond else (s, t, INSIDE)
    on_side = _closest_on_sides(kind, spread, (True, True, True, kind != VERTEX_FACE))
    if beyond or _value(spread, on_side[0], on_side[1]) <= _value(spread, s, t):
        return on_side
    return s, t, INSIDE


@helper
def _closest_on_sides(kind, spread, beyond):
    """(s, t) of the least gap on the sides s = 0, s = 1 or s + t = 1, t = 0, t = 1 that are named; and which it is."""
    w, a, b = spread.w, spread.a, spread.b
    best, s, t, side = np.inf, 0.0, 0.0, CORNER
    if beyond[0]:
        u, free = _closest_on_line(w, b, spread.slope_t)
        s, t, side, best = 0.0, u, ALONG_B if free else CORNER, _value(spread, 0.0, u)
    if beyond[2]:
        u, free = _closest_on_line(w, a, spread.slope_s)
        value = _value(spread, u, 0.0)
        if value < best:
            s, t, side, best = u, 0.0, ALONG_A if free else CORNER, value
    if beyond[1] and kind == VERTEX_FACE:
        u, free = _closest_on_line(add(w, a), sub(b, a), spread.slope_t - spread.slope_s)
        value = _value(spread, 1.0 - u, u)
        if value < best:
            s, t, side, best = 1.0 - u, u, ACROSS if free else CORNER, value
    elif beyond[1]:
        u, free = _closest_on_line(add(w, a), b, spread.slope_t)
        value = _value(spread, 1.0, u)
        if value < best:
            s, t, side, best = 1.0, u, ALONG_B if free else CORNER, value
    if beyond[3]:
        u, free = _closest_on_line(add(w, b), a, spread.slope_s)
        if _value(spread, u, 1.0) < best:
            s, t, side = u, 1.0, ALONG_A if free else CORNER
    return s, t, side


@helper
def _closest_on_line(w, d, slope):
    """u between 0 and 1 of the least |w + u d| - u slope; and whether it lies between them."""
    length_squared = dot(d, d)
    steepness = slope * slope / length_squared if length_squared > 0.0 else np.inf
    if not steepness < 1.0:
        return 1.0 if slope > 0.0 else 0.0, False
    u = -dot(w, d) / length_squared
    if slope != 0.0:
        r = add(w, scale(d, u))
        u += slope / length_squared * np.sqrt(dot(r, r) / (1.0 - steepness))
    return min(1.0, max(0.0, u)), 0.0 < u < 1.0


@helper
def _at(w, a, b, s, t):
    return add(w, add(scale(a, s), scale(b, t)))


@helper
def _value(spread, s, t):
    """The gap at (s, t), up to a constant."""
    r = _at(spread.w, spread.a, spread.b, s, t)
    return np.sqrt(dot(r, r)) - s * spread.slope_s - t * spread.slope_t


@helper
def _within(kind, s, t):
    """Parameters that rounding may have brought out of the domain, in it."""
    s = min(1.0, max(0.0, s))
    return s, min(1.0 - s if kind == VERTEX_FACE else 1.0, max(0.0, t))


@helper
def _corrected(spread, side, r):
    """r, moved until r . d = |r| times the slope along every free direction d; and how far s and t move with it."""
    a, b, length = spread.a, spread.b, np.sqrt(dot(r, r))
    if side == ALONG_B:
        dt = (length * spread.slope_t - dot(b, r)) / dot(b, b)
        return add(r, scale(b, dt)), 0.0, dt
    if side == ACROSS:
        d = sub(b, a)
        u = (length * (spread.slope_t - spread.slope_s) - dot(d, r)) / dot(d, d)
        return add(r, scale(d, u)), -u, u
    aa = dot(a, a)
    ds = (length * spread.slope_s - dot(a, r)) / aa
    r = add(r, scale(a, ds))
    if side == ALONG_A:
        return r, ds, 0.0
    along = dot(a, b) / aa
    c = sub(b, scale(a, along))  # across a
    dt = (length * (spread.slope_t - along * spread.slope_s) - dot(c, r)) / dot(c, c)
    return add(r, scale(c, dt)), ds - along * dt, dt


@helper
def shortest_level(kind, w, a, b):
    """(s, t, side, r) of ``shortest`` where all radii of a feature are equal: no slopes, no roots, and mostly this."""
    aa, ab, bb, normal = dot(a, a), dot(a, b), dot(b, b), cross(a, b)
    det = dot(normal, normal)
    on_all = True, True, True, kind != VERTEX_FACE
    if not det > _PARALLEL * aa * bb:
        return _on_sides_level(kind, w, a, b, on_all)
    s, t = dot(cross(b, w), normal) / det, dot(cross(w, a), normal) / det
    at_s, at_t = (s + t > 1.0, False) if kind == VERTEX_FACE else (s > 1.0, t > 1.0)
    beyond = s < 0.0 or t < 0.0 or at_s or at_t
    if not det > _NEARLY_PARALLEL * aa * bb:
        if not beyond:  # errors along a and b would add up: the t that belongs to this s
            t = -dot(b, add(w, scale(a, s))) / bb
            beyond = t < 0.0 or t > (1.0 - s if kind == VERTEX_FACE else 1.0)
        on_side = _on_sides_level(kind, w, a, b, on_all)
        r, side_r = _at(w, a, b, s, t), _at(w, a, b, on_side[0], on_side[1])
        if beyond or dot(side_r, side_r) <= dot(r, r):
            return on_side
    elif beyond:
        return _on_sides_level(kind, w, a, b, (s < 0.0, at_s, t < 0.0, at_t))
    r = _at(w, a, b, s, t)
    ds = (0.0 - dot(a, r)) / aa
    r = add(r, scale(a, ds))
    along = ab / aa
    c = sub(b, scale(a, along))  # across a
    dt = (0.0 - dot(c, r)) / dot(c, c)
    s, t = _within(kind, s + (ds - along * dt), t + dt)
    return s, t, INSIDE, add(r, scale(c, dt))


@helper
def _on_sides_level(kind, w, a, b, beyond):
    """(s, t, side, r) on the sides that are named, as in ``_closest_on_sides``."""
    best, s, t, side, r, d = np.inf, 0.0, 0.0, CORNER, w, b
    if beyond[0]:
        u, free = _on_line_level(w, b)
        r = _at(w, a, b, 0.0, u)
        t, side, best = u, ALONG_B if free else CORNER, dot(r, r)
    if beyond[2]:
        u, free = _on_line_level(w, a)
        at = _at(w, a, b, u, 0.0)
        if dot(at, at) < best:
            s, t, side, best, r, d = u, 0.0, ALONG_A if free else CORNER, dot(at, at), at, a
    if beyond[1]:
        along, across = (sub(b, a), ACROSS) if kind == VERTEX_FACE else (b, ALONG_B)
        u, free = _on_line_level(add(w, a), along)
        at_s = 1.0 - u if kind == VERTEX_FACE else 1.0
        at = _at(w, a, b, at_s, u)
        if dot(at, at) < best:
            s, t, side, best, r, d = at_s, u, across if free else CORNER, dot(at, at), at, along
    if beyond[3]:
        u, free = _on_line_level(add(w, b), a)
        at = _at(w, a, b, u, 1.0)
        if dot(at, at) < best:
            s, t, side, r, d = u, 1.0, ALONG_A if free else CORNER, at, a
    if side == CORNER:
        return s, t, side, r
    u = (0.0 - dot(d, r)) / dot(d, d)
    if side == ALONG_A:
        s += u
    else:
        t += u
        s -= u if side == ACROSS else 0.0
    s, t = _within(kind, s, t)
    return s, t, side, add(r, scale(d, u))


@helper
def _on_line_level(w, d):
    """u between 0 and 1 of the least |w + u d|; and whether it lies between them."""
    length_squared = dot(d, d)
    u = -dot(w, d) / length_squared if length_squared > 0.0 else 0.0
    return min(1.0, max(0.0, u)), 0.0 < u < 1.0


@helper
def turning_of(spread, change, side, n):
    """How the axis n has to turn, per unit of time, to stay perpendicular to what is free while the vectors change.

    spread at a time, change: its velocity. To first order: m . a = - n . a', and m in the plane of a and b.
    """
    if side == INSIDE:
        a, b = spread.a, spread.b
        aa, ab, bb = dot(a, a), dot(a, b), dot(b, b)
        off_a, off_b, normal = -dot(n, change.a), -dot(n, change.b), cross(a, b)
        det = dot(normal, normal)
        return add(scale(a, (bb * off_a - ab * off_b) / det), scale(b, (aa * off_b - ab * off_a) / det))
    if side == ALONG_A:
        return scale(spread.a, -dot(n, change.a) / dot(spread.a, spread.a))
    if side == ALONG_B:
        return scale(spread.b, -dot(n, change.b) / dot(spread.b, spread.b))
    if side == ACROSS:
        d = sub(spread.b, spread.a)
        return scale(d, -dot(n, sub(change.b, change.a)) / dot(d, d))
    return 0.0, 0.0, 0.0
