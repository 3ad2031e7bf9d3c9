"""On which side of a plane or of a line: signs with a proof in doubles, and in integers where doubles cannot tell.

Error bounds in doubles. u = 2**-53, and m is the largest computed coordinate of a vector. Every vector below is a
difference of inputs: one rounding. A value is a sum of products of coordinates, and has the error of its roundings on
the longest way (``rounding``).
  w . (e x f)        1 + (2 inputs, product, difference), product, 2 sums = 8     8 u on 6 mw me mf
  (e x f) . (e x g)  4 + 4, product, 2 sums = 11                                  11 u on 12 me me mf mg
  w . axis           1 + product, 2 sums = 4, for any axis, taken as it is        4 u on 3 mw ma
  plane e x f        2 inputs, product, difference = 4                            4 u on 2 me mf
A product that underflows is wrong by 2**-1075, times at most two vectors that follow. With no coordinate beyond LARGEST
that is far below TINY, which is added to every bound, and nothing overflows: sizes from 1e-60 to 1e60 are
decided in doubles, all others in integers.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.arithmetic.double_double import two_product, two_sum
from pliant.arithmetic.integers import LIMB_BITS, SIZE, add, mantissa_and_exponent, multiply, set_integer, sign_of
from pliant.arithmetic.rounding import MARGIN, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, sub
from pliant.runtime.jit import helper, out_of_line

SIDE_ERROR = MARGIN * 8 * 6 * UNIT_ROUNDOFF
HINGE_ERROR = MARGIN * 11 * 12 * UNIT_ROUNDOFF
AXIS_ERROR = MARGIN * 4 * 3 * UNIT_ROUNDOFF
TURN_ERROR = MARGIN * 4 * 2 * UNIT_ROUNDOFF
TINY, LARGEST = 1e-200, 1e60

# --- registers -----------------------------------------------------------------------------------------------------

# Register 3 p + k is coordinate k of corner p: corners 0 .. 2 of triangle a, 3 .. 5 of triangle b.
NORMAL = 18  # two vectors: the normals of a and b, zero where a triangle has no area
SIDE = 24  # of each corner: on which side of the plane of the other triangle
VALUE = 30  # two results that are kept
_E, _F, _G, _PRODUCT, _OTHER = 32, 35, 38, 41, 42
ROWS = 43


# A volume is 6 products of three differences: 3 bits + 6, for coordinates of so many bits, of which there are 2098 from
# 2**-1074 to 2**1024; and 2 limbs for factors that are rounded up, a carry, the size. Few pairs use more than a start.
WIDTH = (3 * 2098 + 6) // LIMB_BITS + 5


@helper
def set_corners(m, x):
    """The coordinates of the first six points as integers in one unit; returns their highest exponent."""
    out_of_line()
    low, largest = 1 << 20, 0.0
    for i in range(18):
        c = x[i // 3, i % 3]
        m[i, 0], m[i, 1] = mantissa_and_exponent(c)
        if c != 0.0:
            low, largest = min(low, m[i, 1]), max(largest, abs(c))
    for i in range(18):
        set_integer(m, i, m[i, 0], m[i, 1] - low)
    return math.frexp(largest)[1]


@helper
def _subtract_corners(m, dst, p, q):
    out_of_line()
    for k in range(3):
        add(m, dst + k, 3 * p + k, 3 * q + k, -1)


@helper
def _multiply_across(m, dst, a, b, c, d):
    """dst = a b - c d."""
    out_of_line()
    multiply(m, _PRODUCT, a, b)
    multiply(m, _OTHER, c, d)
    add(m, dst, _PRODUCT, _OTHER, -1)


@helper
def _cross_registers(m, dst, e, f):
    out_of_line()
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        _multiply_across(m, dst + k, e + i, f + j, e + j, f + i)


@helper
def _dot_registers(m, dst, e, f):
    out_of_line()
    multiply(m, dst, e, f)
    for k in range(1, 3):
        multiply(m, _PRODUCT, e + k, f + k)
        add(m, dst, dst, _PRODUCT, 1)


# --- signs ---------------------------------------------------------------------------------------------------------


@helper
def certain_sign(value, error):
    """1 or -1 where the bound proves it, else 0."""
    return 1 if value > error else (-1 if value < -error else 0)


@helper
def set_normal(m, side):
    """NORMAL of triangle 0 or 1."""
    out_of_line()
    _subtract_corners(m, _E, 3 * side + 1, 3 * side)
    _subtract_corners(m, _F, 3 * side + 2, 3 * side)
    _cross_registers(m, NORMAL + 3 * side, _E, _F)


@helper
def first_component(m, vector):
    """The first of three registers that is not zero, or -1."""
    for k in range(3):
        if sign_of(m, vector + k) != 0:
            return k
    return -1


@helper
def set_sides(m, side):
    """SIDE of the corners of triangle side, by the plane of the other; returns the lowest and the highest sign."""
    out_of_line()
    lowest, highest = 1, -1
    other = 1 - side
    for p in range(3 * side, 3 * side + 3):
        _subtract_corners(m, _E, p, 3 * other)
        _dot_registers(m, SIDE + p, _E, NORMAL + 3 * other)
        sign = sign_of(m, SIDE + p)
        lowest, highest = min(lowest, sign), max(highest, sign)
    return lowest, highest


@helper
def volume_sign(m, x, p, q, r, s):
    """Sign of (q - p) x (r - p) . (s - p)."""
    out_of_line()
    e, f, g = sub(row(x, q), row(x, p)), sub(row(x, r), row(x, p)), sub(row(x, s), row(x, p))
    a, b, c = max_norm(e), max_norm(f), max_norm(g)
    if max(a, max(b, c)) < LARGEST:
        sign = certain_sign(dot(cross(e, f), g), SIDE_ERROR * a * b * c + TINY)
        if sign != 0:
            return sign
    _subtract_corners(m, _E, q, p)
    _subtract_corners(m, _F, r, p)
    _cross_registers(m, _G, _E, _F)
    _subtract_corners(m, _E, s, p)
    _dot_registers(m, VALUE, _G, _E)
    return sign_of(m, VALUE)


@helper
def set_turn(m, dst, k, p, q, r):
    """dst = component k of (q - p) x (r - p): which way p q r turn, seen along axis k."""
    out_of_line()
    i, j = (k + 1) % 3, (k + 2) % 3
    for axis in (i, j):
        add(m, _E + axis, 3 * q + axis, 3 * p + axis, -1)
        add(m, _F + axis, 3 * r + axis, 3 * p + axis, -1)
    _multiply_across(m, dst, _E + i, _F + j, _E + j, _F + i)


@helper
def turn_value(x, k, p, q, r):
    """Component k of (q - p) x (r - p) in doubles, and a bound of its error."""
    i, j = (k + 1) % 3, (k + 2) % 3
    e, f, g, h = x[q, i] - x[p, i], x[q, j] - x[p, j], x[r, i] - x[p, i], x[r, j] - x[p, j]
    a, b = max(abs(e), abs(f)), max(abs(g), abs(h))
    if not max(a, b) < LARGEST:
        return 0.0, np.inf
    return e * h - f * g, TURN_ERROR * a * b + TINY


@helper
def turn_sign(m, x, k, p, q, r):
    """Sign of component k of (q - p) x (r - p)."""
    out_of_line()
    value, error = turn_value(x, k, p, q, r)
    sign = certain_sign(value, error)
    if sign != 0:
        return sign
    if error < np.inf:
        i, j = (k + 1) % 3, (k + 2) % 3
        e, f = two_sum(x[q, i], -x[p, i]), two_sum(x[q, j], -x[p, j])
        g, h = two_sum(x[r, i], -x[p, i]), two_sum(x[r, j], -x[p, j])
        if _splits(e) and _splits(f) and _splits(g) and _splits(h):
            return _compare_products(e[0], h[0], f[0], g[0])
    set_turn(m, VALUE, k, p, q, r)
    return sign_of(m, VALUE)


@helper
def _splits(a):
    """The difference a = (value, error) is exact, and a product of two such has its last bit above the denormals."""
    return a[1] == 0.0 and (abs(a[0]) > 1e-130 or a[0] == 0.0)


@helper
def _compare_products(a, b, c, d):
    """Sign of a b - c d. Rounding is monotone: where the rounded products differ, the true ones do in the same way."""
    p, q = two_product(a, b), two_product(c, d)
    return certain_sign(p[0] - q[0], 0.0) if p[0] != q[0] else certain_sign(p[1] - q[1], 0.0)


# --- values --------------------------------------------------------------------------------------------------------


@helper
def _leading(m, r):
    """Register r, which is not zero, is this times 2**(30 length), to 2**-53."""
    size = abs(m[r, SIZE])
    value = 0.0
    for i in range(max(1, size - 2), size + 1):
        value = value / (1 << LIMB_BITS) + m[r, i]
    return value


@helper
def ratio(m, r, s):
    """r / (r - s) of two registers with opposite signs, to a few roundings."""
    out_of_line()
    add(m, _PRODUCT, r, s, -1)
    exponent = int(LIMB_BITS * (abs(m[r, SIZE]) - abs(m[_PRODUCT, SIZE])))
    return math.ldexp(_leading(m, r) / _leading(m, _PRODUCT), exponent)
