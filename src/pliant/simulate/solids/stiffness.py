"""Forces and stiffness of solid cells, from what a law says of the principal stretches.

In the frames of the singular value decomposition F = U diag(s) V' the derivatives of an isotropic energy are nearly
diagonal: three stretches, coupled by the second derivatives of the law, and for each two axes a pair of modes, one
symmetric with eigenvalue (g_k - g_l) / (s_k - s_l), one of rotation with (g_k + g_l) / (s_k + s_l), where g is the
gradient of the law. Each part is made positive by itself, which is the nearest positive matrix to the whole.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import dot
from pliant.runtime.jit import helper, kernel
from pliant.simulate.solids.laws import energy_of
from pliant.simulate.solids.matrices import positive_part, singular
from pliant.simulate.solids.points import deformation, elastic_gradient, strain_in

_CLOSE = 1e-6  # relative: two stretches that are so close have the limit of the quotient of differences


@kernel
def cells_kernel(x, solids, plastic, rates, span, out):
    """Gradients at the corners of cells, (c, 8, 3), and blocks of their pairs, (c, 64, 9), if there is room."""
    (forces, stiffness), (before, per_step) = out, rates
    turned, local, none = np.empty((8, 3)), np.empty((64, 9)), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for cell in range(span[0], span[1]):
        forces[cell] = 0.0
        if len(stiffness):
            stiffness[cell] = 0.0
        constants, rate = solids.constants[cell], solids.damping[cell] * per_step
        for p in range(solids.points.start[cell], solids.points.start[cell + 1]):
            volume = solids.points.volume[p]
            s, u, v = singular(deformation(x, solids, plastic.inverse, p))
            _, g, h, _ = energy_of(solids.law[cell], s, constants, plastic.strain[p])
            is_damped = len(before) > 0 and rate > 0.0
            t = _viscous(strain_in(s, v, before[p]), constants, rate) if is_damped else none
            count = 0
            for i in range(8):
                if solids.corners[cell, i] < 0:
                    break
                count += 1
                way = elastic_gradient(solids, plastic.inverse, p, i)
                a, b, c = dot(way, v[0]), dot(way, v[1]), dot(way, v[2])
                turned[i, 0], turned[i, 1], turned[i, 2] = a, b, c
                f = (
                    volume * (g[0] * a + s[0] * (t[0] * a + t[3] * b + t[4] * c)),
                    volume * (g[1] * b + s[1] * (t[3] * a + t[1] * b + t[5] * c)),
                    volume * (g[2] * c + s[2] * (t[4] * a + t[5] * b + t[2] * c)),
                )
                for k in range(3):
                    forces[cell, i, k] += f[0] * u[0][k] + f[1] * u[1][k] + f[2] * u[2][k]
            if len(stiffness):
                _pairs(count, volume, s, g, h, turned, local)
                if is_damped:
                    moduli = volume * rate * constants[0], volume * rate * constants[1]
                    _damp(count, volume, s, positive_part(t), moduli, turned, local)
                _turn_back(count, u, local, stiffness[cell])


@helper
def _viscous(d, constants, rate):
    """Stress of a change of strain d, in the frame of V: 00, 11, 22, 01, 02, 12."""
    spread, twice = rate * constants[0] * (d[0] + d[1] + d[2]), 2.0 * rate * constants[1]
    return (
        spread + twice * d[0], spread + twice * d[1], spread + twice * d[2], twice * d[3], twice * d[4], twice * d[5],
    )  # fmt: skip


@helper
def _damp(count, volume, s, t, moduli, w, out):
    """Blocks of viscosity: of the change of strain, and of the positive part t of the stress."""
    lame, shear = moduli
    for i in range(count):
        q = (
            volume * (t[0] * w[i, 0] + t[3] * w[i, 1] + t[4] * w[i, 2]),
            volume * (t[3] * w[i, 0] + t[1] * w[i, 1] + t[5] * w[i, 2]),
            volume * (t[4] * w[i, 0] + t[5] * w[i, 1] + t[2] * w[i, 2]),
        )
        for j in range(count):
            at = 8 * i + j
            both = shear * (w[i, 0] * w[j, 0] + w[i, 1] * w[j, 1] + w[i, 2] * w[j, 2])
            turn = q[0] * w[j, 0] + q[1] * w[j, 1] + q[2] * w[j, 2]
            for k in range(3):
                for m in range(3):
                    stretched = s[k] * s[m] * (lame * w[i, k] * w[j, m] + shear * w[j, k] * w[i, m])
                    out[at, 3 * k + m] += stretched
                out[at, 4 * k] += s[k] * s[k] * both + turn


@helper
def _modes(i, j, s, g, h_own, h_other):
    """Half the sum and half the difference of the two modes of two axes, made positive."""
    apart, total = s[i] - s[j], s[i] + s[j]
    size = abs(s[i]) + abs(s[j])
    symmetric = (g[i] - g[j]) / apart if abs(apart) > _CLOSE * size else h_own - h_other
    rotation = (g[i] + g[j]) / total if abs(total) > _CLOSE * size else 0.0
    symmetric, rotation = max(symmetric, 0.0), max(rotation, 0.0)
    return 0.5 * (symmetric + rotation), 0.5 * (symmetric - rotation)


@helper
def _pairs(count, volume, s, g, h, w, out):
    """Blocks of all pairs of corners in the frame of U, from the gradients w of the shape functions in that of V."""
    a = positive_part(h)
    b01, c01 = _modes(0, 1, s, g, 0.5 * (h[0] + h[1]), h[3])
    b02, c02 = _modes(0, 2, s, g, 0.5 * (h[0] + h[2]), h[4])
    b12, c12 = _modes(1, 2, s, g, 0.5 * (h[1] + h[2]), h[5])
    for i in range(count):
        x, y, z = volume * w[i, 0], volume * w[i, 1], volume * w[i, 2]
        for j in range(count):
            p, q, r, at = w[j, 0], w[j, 1], w[j, 2], 8 * i + j
            out[at, 0] = a[0] * x * p + b01 * y * q + b02 * z * r
            out[at, 4] = a[1] * y * q + b01 * x * p + b12 * z * r
            out[at, 8] = a[2] * z * r + b02 * x * p + b12 * y * q
            out[at, 1] = a[3] * x * q + c01 * y * p
            out[at, 3] = a[3] * y * p + c01 * x * q
            out[at, 2] = a[4] * x * r + c02 * z * p
            out[at, 6] = a[4] * z * p + c02 * x * r
            out[at, 5] = a[5] * y * r + c12 * z * q
            out[at, 7] = a[5] * z * q + c12 * y * r


@helper
def _turn_back(count, u, local, out):
    """Add U block U' of all pairs of corners."""
    for i in range(count):
        for j in range(count):
            at = 8 * i + j
            for k in range(3):
                a = u[0][k] * local[at, 0] + u[1][k] * local[at, 3] + u[2][k] * local[at, 6]
                b = u[0][k] * local[at, 1] + u[1][k] * local[at, 4] + u[2][k] * local[at, 7]
                c = u[0][k] * local[at, 2] + u[1][k] * local[at, 5] + u[2][k] * local[at, 8]
                for m in range(3):
                    out[at, 3 * k + m] += a * u[0][m] + b * u[1][m] + c * u[2][m]
