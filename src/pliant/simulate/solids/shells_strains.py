"""Strains of shells: the logarithm of stretch in the middle, and angles at sides, with their derivatives."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, row, scale, sub
from pliant.runtime.jit import helper

_LEAST = 0.05**2  # squared stretch below which its logarithm goes on as a straight line
_CLOSE = 1e-8  # relative: two squared stretches that are so close have the limit of the quotient of differences


@helper
def deformation(x, stencil, gradient, p):
    """Where the deformation gradient takes the unit vectors of warp and weft; stencil : six vertices."""
    u, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(6):
        a, b = gradient[p, i, 0], gradient[p, i, 1]
        if a != 0.0 or b != 0.0:
            at = row(x, stencil[i])
            u, w = add(u, scale(at, a)), add(w, scale(at, b))
    return u, w


@helper
def _logarithm(c):
    """And its derivative."""
    if c > _LEAST:
        return np.log(c), 1.0 / c
    return np.log(_LEAST) + (c - _LEAST) / _LEAST, 1.0 / _LEAST


@helper
def log_strain(u, w):
    """Half of the logarithm of F'F, and its derivatives by Green's strain, three rows; with twice the shear in both."""
    a, b, both = dot(u, u), dot(w, w), dot(u, w)
    mean, half = 0.5 * (a + b), 0.5 * (a - b)
    radius = np.sqrt(half * half + both * both)
    cosine, sine = (half / radius, both / radius) if radius > 0.0 else (1.0, 0.0)  # of twice the angle to warp
    cc, ss, cs = 0.5 * (1.0 + cosine), 0.5 * (1.0 - cosine), 0.5 * sine
    upper, lower = mean + radius, mean - radius
    (one, l1), (two, l2) = _logarithm(upper), _logarithm(lower)
    if 2.0 * radius <= _CLOSE * mean:
        l12 = 0.5 * (l1 + l2)
    elif lower > _LEAST:
        l12 = np.log1p(2.0 * radius / lower) / (2.0 * radius)
    else:
        l12 = (one - two) / (2.0 * radius)
    strain = 0.5 * (cc * one + ss * two), 0.5 * (ss * one + cc * two), cs * (one - two)
    # Q^-1 diag(l1, l2, l12) Q, where Q takes a strain with twice its shear into principal directions.
    turned = 2.0 * cs * cs * l12
    off = cs * (cc * l1 - ss * l2 - cosine * l12)
    across = cs * (ss * l1 - cc * l2 + cosine * l12)
    rows = (
        (cc * cc * l1 + ss * ss * l2 + turned, cc * ss * (l1 + l2) - turned, off),
        (cc * ss * (l1 + l2) - turned, ss * ss * l1 + cc * cc * l2 + turned, across),
        (2.0 * off, 2.0 * across, 2.0 * cs * cs * (l1 + l2) + cosine * cosine * l12),
    )
    return strain, rows


@helper
def angle(a, b, c, d):
    """Between two triangles with the side a b, and the corners c and d across it: 0 where they are flat.

    It is from -pi to pi, and jumps where they are folded through each other.
    """
    side = sub(b, a)
    one, two = cross(side, sub(c, a)), cross(sub(d, a), side)
    length = np.sqrt(dot(side, side))
    return np.arctan2(dot(cross(one, two), side), length * dot(one, two))


@helper
def angle_slopes(a, b, c, d):
    """Derivatives of the angle by a, b, c and d: of a corner, along its normal by one over its height."""
    side = sub(b, a)
    one, two = cross(side, sub(c, a)), cross(sub(d, a), side)
    length = max(np.sqrt(dot(side, side)), 1e-300)
    one, two = scale(one, 1.0 / max(dot(one, one), 1e-300)), scale(two, 1.0 / max(dot(two, two), 1e-300))
    at_b = add(scale(one, dot(sub(c, a), side)), scale(two, dot(sub(d, a), side)))
    at_a = add(scale(one, dot(sub(b, c), side)), scale(two, dot(sub(b, d), side)))
    k = 1.0 / length
    return scale(at_a, k), scale(at_b, k), scale(one, -length), scale(two, -length)
