"""Numbers as unevaluated sums of two doubles, and the root of the coplanarity cubic in them.

Only for the time of contact: where features move slowly, the root of f is known to fewer digits in doubles than
``toi`` promises. Error-free transformations need exactly the roundings written here: no fused multiply-add.
"""

from __future__ import annotations

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import row
from pliant.runtime.jit import helper

_SPLITTER = 134217729.0  # 2**27 + 1
# A value of f has 13 operations on the longest way: cross 2, sum of two 1, dot 3, sum of two 1, and 6 in ``_value``.
# Each is off by at most 7 u^2 of its result: sums by 3, products by 7, those with a double by 3 (Joldes, Muller,
# Popescu, Tight and rigorous error bounds for basic building blocks of double-word arithmetic, 2017). The products
# add up to at most 6 mw m1 m2, and the powers r^(3 - i) s^i with their binomials to 1. As powers of two: 6 < 8, 13 <
# 16, 7 < 8.
DD_ERROR = 8 * 8 * 16 * (8 * UNIT_ROUNDOFF**2)  # times mw m1 m2; margin 8


@helper
def two_sum(a, b):
    """(s, e): s = fl(a + b) and s + e = a + b exactly."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@helper
def two_product(a, b):
    """(p, e): p = fl(a b) and p + e = a b exactly, away from overflow and underflow."""
    p = a * b
    c = _SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = _SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@helper
def _add(a, b):
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = two_sum(s, e + t)
    return two_sum(s, e + f)


@helper
def _negative(a):
    return -a[0], -a[1]


@helper
def _multiply(a, b):
    p, e = two_product(a[0], b[0])
    return two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@helper
def _scale(a, s):
    p, e = two_product(a[0], s)
    return two_sum(p, e + a[1] * s)


@helper
def _difference(a, b, factor):
    """b - a for two points, exactly, times a power of two."""
    return (
        _times(two_sum(b[0], -a[0]), factor),
        _times(two_sum(b[1], -a[1]), factor),
        _times(two_sum(b[2], -a[2]), factor),
    )


@helper
def _times(a, factor):
    return a[0] * factor, a[1] * factor


@helper
def _cross(a, b):
    return (
        _add(_multiply(a[1], b[2]), _negative(_multiply(a[2], b[1]))),
        _add(_multiply(a[2], b[0]), _negative(_multiply(a[0], b[2]))),
        _add(_multiply(a[0], b[1]), _negative(_multiply(a[1], b[0]))),
    )


@helper
def _dot(a, b):
    return _add(_add(_multiply(a[0], b[0]), _multiply(a[1], b[1])), _multiply(a[2], b[2]))


@helper
def _vectors(kind, x, q, factor):
    p0, p1, p2, p3 = row(x, q[0]), row(x, q[1]), row(x, q[2]), row(x, q[3])
    if kind == VERTEX_FACE:
        return _difference(p1, p2, factor), _difference(p1, p3, factor), _difference(p1, p0, factor)
    return _difference(p0, p1, factor), _difference(p2, p3, factor), _difference(p0, p2, factor)


@helper
def _coefficients(kind, x0, x1, q, factor):
    """The Bernstein coefficients of f over [0, 1] times their binomials 1, 3, 3, 1: f = sum c_i r^(3 - i) s^i, which
    needs no division by 3."""
    a, b = _vectors(kind, x0, q, factor), _vectors(kind, x1, q, factor)
    n0, n1 = _cross(a[0], a[1]), _cross(b[0], b[1])
    mixed0, mixed1 = _cross(a[0], b[1]), _cross(b[0], a[1])
    n = _add(mixed0[0], mixed1[0]), _add(mixed0[1], mixed1[1]), _add(mixed0[2], mixed1[2])
    return (
        _dot(a[2], n0),
        _add(_dot(a[2], n), _dot(b[2], n0)),
        _add(_dot(a[2], n1), _dot(b[2], n)),
        _dot(b[2], n1),
    )


@helper
def _value(c, s):
    """f(s) in double-double; r = 1 - s exactly, as a double-double."""
    r = two_sum(1.0, -s)
    total = _add(_multiply(c[0], r), _scale(c[1], s))
    total = _add(_multiply(total, r), _scale(_scale(c[2], s), s))
    return _add(_multiply(total, r), _scale(_scale(_scale(c[3], s), s), s))


@helper
def _slope(c, s):
    """f'(s) in doubles, for Newton's method: with b_i the Bernstein coefficients, 3 times the differences of these."""
    r = 1.0 - s
    return r * r * (c[1][0] - 3.0 * c[0][0]) + 2.0 * r * s * (c[2][0] - c[1][0]) + s * s * (3.0 * c[3][0] - c[2][0])


@helper
def tighten(kind, x0, x1, q, factor, m, bracket):
    """A bracket of the only root of f in a given one, at most 5e-13 wide; (-1, -1) where the signs are not certain.

    factor: the power of two that the pair is scaled by; m: its magnitudes after that.
    """
    c = _coefficients(kind, x0, x1, q, factor)
    error = DD_ERROR * m[0] * m[1] * m[2]
    lower, upper = bracket
    sign = 1.0 if _value(c, lower)[0] > 0.0 else -1.0
    s = 0.5 * (lower + upper)
    for _ in range(5):
        slope = _slope(c, s)
        if slope != 0.0:
            s = min(max(s - _value(c, s)[0] / slope, lower), upper)
    radius = 2.0**-52
    while radius < 2.5e-13:
        left, right = max(lower, s - radius), min(upper, s + radius)
        if sign * _value(c, left)[0] > error and -sign * _value(c, right)[0] > error:
            return left, right
        radius *= 8.0
    return -1.0, -1.0
