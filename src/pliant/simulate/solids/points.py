"""How cells are deformed at their points of integration."""

from __future__ import annotations

from pliant.arithmetic.vec3 import dot
from pliant.runtime.jit import helper


@helper
def elastic_gradient(solids, inverse, p, i):
    """Of the shape function of corner i at a point, from its plastic shape."""
    g, m = solids.points.gradient, inverse
    a, b, c = g[p, i, 0], g[p, i, 1], g[p, i, 2]
    return (
        m[p, 0, 0] * a + m[p, 1, 0] * b + m[p, 2, 0] * c,
        m[p, 0, 1] * a + m[p, 1, 1] * b + m[p, 2, 1] * c,
        m[p, 0, 2] * a + m[p, 1, 2] * b + m[p, 2, 2] * c,
    )


@helper
def total_deformation(x, solids, p):
    """Rows of the deformation gradient at a point."""
    cell, g = solids.points.cell[p], solids.points.gradient
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = 0.0
    for i in range(8):
        v = solids.corners[cell, i]
        if v < 0:
            break
        g0, g1, g2 = g[p, i, 0], g[p, i, 1], g[p, i, 2]
        a0 += x[v, 0] * g0
        a1 += x[v, 0] * g1
        a2 += x[v, 0] * g2
        b0 += x[v, 1] * g0
        b1 += x[v, 1] * g1
        b2 += x[v, 1] * g2
        c0 += x[v, 2] * g0
        c1 += x[v, 2] * g1
        c2 += x[v, 2] * g2
    return (a0, a1, a2), (b0, b1, b2), (c0, c1, c2)


@helper
def deformation(x, solids, inverse, p):
    """Rows of the elastic deformation gradient at a point; inverse : (p, 3, 3), of plastic deformation"""
    a, b, c = total_deformation(x, solids, p)
    return _times(a, inverse, p), _times(b, inverse, p), _times(c, inverse, p)


@helper
def _times(row, m, p):
    a, b, c = row
    return (
        a * m[p, 0, 0] + b * m[p, 1, 0] + c * m[p, 2, 0],
        a * m[p, 0, 1] + b * m[p, 1, 1] + c * m[p, 2, 1],
        a * m[p, 0, 2] + b * m[p, 1, 2] + c * m[p, 2, 2],
    )


@helper
def strain_in(s, v, before):
    """How Green's strain has changed, in the frame of V: 00, 11, 22, 01, 02, 12; before : (6,), F'F at the start."""
    x, y, z = _applied(before, v[0]), _applied(before, v[1]), _applied(before, v[2])
    return (
        0.5 * (s[0] * s[0] - dot(v[0], x)), 0.5 * (s[1] * s[1] - dot(v[1], y)), 0.5 * (s[2] * s[2] - dot(v[2], z)),
        -0.5 * dot(v[0], y), -0.5 * dot(v[0], z), -0.5 * dot(v[1], z),
    )  # fmt: skip


@helper
def _applied(m, v):
    return (
        m[0] * v[0] + m[3] * v[1] + m[4] * v[2],
        m[3] * v[0] + m[1] * v[1] + m[5] * v[2],
        m[4] * v[0] + m[5] * v[1] + m[2] * v[2],
    )
