"""The moving vectors of a feature pair, the Bernstein coefficients of its polynomials, and how wrong they can be.

A pair of features is three moving vectors e1, e2, w, linear in t:
  vertex-face  e1 = f1 - f0, e2 = f2 - f0, w = v - f0
  edge-edge    e1 = a1 - a0, e2 = b1 - b0, w = b0 - a0
with n = e1 x e2 (quadratic), the coplanarity f = w . n (cubic), and inside conditions k . n (quartic), where k is a
cross product of two of the vectors. Polynomials are held by Bernstein coefficients over [0, 1]: their range is an
enclosure.

Error bounds. u = 2**-53; m1, m2, mw are the largest computed coordinates of e1, e2, w at both ends. Every computed
coefficient is a sum of products of input coordinates, and has the error of its roundings on the longest way
(``rounding``). Differences of inputs are one rounding each; products with a power of two are exact.
  n      cross: 2 inputs, product, difference = 4;  middle coefficient: 1 more            5 u on 2 m1 m2
  f      1 input + 5, product, 2 sums, and for the inner ones a sum and a third = 11      11 u on 6 mw m1 m2
  k . n  5 + 5, product, 2 sums, 2 sums and a division = 16; one or two more differences  18 u on 12 mk m1 m2 each
Vectors restricted to a part of the motion, x = (1 - t) a + t b, have LERP = 3 roundings more: 3 u |(1 - t) a| +
2 u |t b| <= 3 u m, for each of the 3 or 4 factors, where m is that of the whole motion. Where m is taken after the
motion was cut off at a horizon, b may be larger, but |t b| <= |x| + |(1 - t) a| <= 2 m: that makes 7 u m, for which
CUT_OFF is added.
The guard ``in_range`` keeps every product far from underflow and overflow, so that the relative bounds hold; pairs of
other sizes are scaled by a power of two first (``unit_factor``).
"""

from __future__ import annotations

import math

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.rounding import LERP, MARGIN, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, lerp, max_norm, row, scale, sub
from pliant.runtime.jit import helper

N_ERROR = 2 * 5 * UNIT_ROUNDOFF  # times m1 m2; the margin is where it is used, in culling/cones
F_ERROR = MARGIN * 6 * (11 + 3 * LERP) * UNIT_ROUNDOFF  # times mw m1 m2; for restricted motion too
INSIDE_ERROR = MARGIN * 12 * (18 + 4 * LERP) * UNIT_ROUNDOFF  # times the product of the four magnitudes

CUT_OFF = 8 * UNIT_ROUNDOFF  # 7 roundings, margin 8 / 7: the part of its size that a vector cut off is off by
# Where a proof has to hold for every motion near the given one (see ``relative_error_of``): a product of three
# vectors, each off by a part r of its size, is off by (1 + r)^3 - 1 < 3.04 r for r <= LARGEST_RELATIVE_ERROR, of four
# by (1 + r)^4 - 1 < 4.07 r.
LARGEST_RELATIVE_ERROR = 0.01
F_RELATIVE, INSIDE_RELATIVE = 6 * 3.1, 12 * 4.2


@helper
def vectors(kind, x, q):
    """e1, e2, w of the feature pair with vertices q = (v, f0, f1, f2) or (a0, a1, b0, b1) at positions x."""
    p0, p1, p2, p3 = row(x, q[0]), row(x, q[1]), row(x, q[2]), row(x, q[3])
    if kind == VERTEX_FACE:
        return sub(p2, p1), sub(p3, p1), sub(p0, p1)
    return sub(p1, p0), sub(p3, p2), sub(p2, p0)


@helper
def magnitudes(start, end):
    """m1, m2, mw: the largest coordinate of each vector at both ends of the motion."""
    return (
        max(max_norm(start[0]), max_norm(end[0])),
        max(max_norm(start[1]), max_norm(end[1])),
        max(max_norm(start[2]), max_norm(end[2])),
    )


@helper
def restrict(start, end, t):
    """The three vectors at time t."""
    return lerp(start[0], end[0], t), lerp(start[1], end[1], t), lerp(start[2], end[2], t)


@helper
def relative_error_of(m, position_error):
    """How much the vectors change, relative to the smallest, if each coordinate may be off by position_error."""
    smallest = min(m[0], min(m[1], m[2]))
    if position_error <= 2.0**-37 * smallest:  # nearly always: a division less, a percent of a query
        return 2.0**-36
    return 2.0 * position_error / smallest


@helper
def in_range(m):
    """Products of four such magnitudes neither overflow nor come near the denormals."""
    return m[0] > 1e-70 and m[0] < 1e70 and m[1] > 1e-70 and m[1] < 1e70 and m[2] > 1e-70 and m[2] < 1e70


@helper
def unit_factor(m):
    """The power of two that brings the largest magnitude near 1: scaling by it changes no bit above the denormals."""
    largest = max(m[0], max(m[1], m[2]))
    if not (largest > 0.0 and largest < np.inf):
        return 1.0
    return math.ldexp(1.0, max(-1000, min(1000, -math.frexp(largest)[1])))


@helper
def scaled(v, factor):
    """The three vectors times a factor."""
    return scale(v[0], factor), scale(v[1], factor), scale(v[2], factor)


@helper
def cross_controls(a0, b0, a1, b1):
    """Bernstein vectors of the moving a x b."""
    return cross(a0, b0), scale(add(cross(a0, b1), cross(a1, b0)), 0.5), cross(a1, b1)


@helper
def cubic(w0, w1, n):
    """Bernstein coefficients of w . n, w linear, n quadratic: the four values of the deforming non-penetration
    filter."""
    return (
        dot(w0, n[0]),
        (2.0 * dot(w0, n[1]) + dot(w1, n[0])) / 3.0,
        (dot(w0, n[2]) + 2.0 * dot(w1, n[1])) / 3.0,
        dot(w1, n[2]),
    )


@helper
def quartic(k, n):
    """Bernstein coefficients of k . n, both quadratic: five values as in the deforming non-collinear filter."""
    return (
        dot(k[0], n[0]),
        (dot(k[0], n[1]) + dot(k[1], n[0])) * 0.5,
        (dot(k[0], n[2]) + dot(k[2], n[0]) + 4.0 * dot(k[1], n[1])) / 6.0,
        (dot(k[1], n[2]) + dot(k[2], n[1])) * 0.5,
        dot(k[2], n[2]),
    )
