"""Three by three matrices in kernels: singular values with rotations on both sides, and positive parts."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, scale, sub
from pliant.runtime.jit import helper

_SWEEPS = 8  # of Jacobi's method, which ends before where nothing is left: it converges quadratically
_TINY = 1e-300


@helper
def eigen(m):
    """Eigenvalues of a symmetric matrix (00, 11, 22, 01, 02, 12), descending, and its eigenvectors, a right-handed
    frame."""
    a, b, c, d, e, f = m
    u, v, w = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _ in range(_SWEEPS):
        if abs(d) + abs(e) + abs(f) <= 1e-18 * (abs(a) + abs(b) + abs(c)):
            break
        a, b, d, e, f, u, v = _rotate(a, b, d, e, f, u, v)
        a, c, e, d, f, u, w = _rotate(a, c, e, d, f, u, w)
        b, c, f, d, e, v, w = _rotate(b, c, f, d, e, v, w)
    if a < b:
        a, b, u, v = b, a, v, scale(u, -1.0)
    if a < c:
        a, c, u, w = c, a, w, scale(u, -1.0)
    if b < c:
        b, c, v, w = c, b, w, scale(v, -1.0)
    return (a, b, c), (u, v, w)


@helper
def _rotate(p, q, off, x, y, u, v):
    """A rotation in the plane of two axes that makes the number off the diagonal 0; x, y: the others in these rows."""
    if abs(off) <= _TINY:
        return p, q, 0.0, x, y, u, v
    theta = 0.5 * (q - p) / off
    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
    t = -t if theta < 0.0 else t
    c = 1.0 / np.sqrt(t * t + 1.0)
    s = t * c
    first = (c * u[0] - s * v[0], c * u[1] - s * v[1], c * u[2] - s * v[2])
    second = (s * u[0] + c * v[0], s * u[1] + c * v[1], s * u[2] + c * v[2])
    return p - t * off, q + t * off, 0.0, c * x - s * y, s * x + c * y, first, second


@helper
def singular(f):
    """F = U diag(s) V': singular values, descending, the last one negative where det F is; columns of U and of V, both
    rotations. F is given by its rows."""
    x, y, z = f
    gram = (
        x[0] * x[0] + y[0] * y[0] + z[0] * z[0], x[1] * x[1] + y[1] * y[1] + z[1] * z[1],
        x[2] * x[2] + y[2] * y[2] + z[2] * z[2], x[0] * x[1] + y[0] * y[1] + z[0] * z[1],
        x[0] * x[2] + y[0] * y[2] + z[0] * z[2], x[1] * x[2] + y[1] * y[2] + z[1] * z[2],
    )  # fmt: skip
    _, v = eigen(gram)
    a, b, c = _image(f, v[0]), _image(f, v[1]), _image(f, v[2])
    first = np.sqrt(dot(a, a))
    u0 = scale(a, 1.0 / first) if first > _TINY else (1.0, 0.0, 0.0)
    b = sub(b, scale(u0, dot(u0, b)))
    second = np.sqrt(dot(b, b))
    u1 = scale(b, 1.0 / second) if second > 1e-14 * first + _TINY else _across(u0)
    u2 = cross(u0, u1)
    return (first, second, dot(u2, c)), (u0, u1, u2), v


@helper
def _image(f, v):
    return dot(f[0], v), dot(f[1], v), dot(f[2], v)


@helper
def _across(u):
    """A unit vector at a right angle to one."""
    other = (0.0, -u[2], u[1]) if abs(u[0]) < 0.7 else (-u[1], u[0], 0.0)
    return scale(other, 1.0 / np.sqrt(dot(other, other)))


@helper
def positive_part(m):
    """A symmetric matrix (00, 11, 22, 01, 02, 12) without its negative eigenvalues."""
    values, vectors = eigen(m)
    if values[2] >= 0.0:
        return m
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        value, v = values[k], vectors[k]
        if value > 0.0:
            a += value * v[0] * v[0]
            b += value * v[1] * v[1]
            c += value * v[2] * v[2]
            d += value * v[0] * v[1]
            e += value * v[0] * v[2]
            f += value * v[1] * v[2]
    return a, b, c, d, e, f
