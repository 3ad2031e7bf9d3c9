"""Vectors as 3-tuples: what kernels load a row into once and pass around."""

from __future__ import annotations

from pliant.runtime.jit import helper

Vec3 = tuple[float, float, float]


@helper
def row(x, i):
    """Row i of an (n, 3) array."""
    return x[i, 0], x[i, 1], x[i, 2]


@helper
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scale(a, s):
    return a[0] * s, a[1] * s, a[2] * s


@helper
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def lerp(a, b, t):
    """a at t = 0, b at t = 1; monotone rounding at the ends: t = 0 and t = 1 give a and b exactly."""
    s = 1.0 - t
    return s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]


@helper
def max_norm(a):
    return max(abs(a[0]), max(abs(a[1]), abs(a[2])))
