"""Plane stress: Hooke's law of logarithmic strain with J2 plasticity and linear isotropic hardening, and its layers.

A step has an energy, which is convex in strain: elastic energy at its end and what plastic flow has dissipated. So its
second derivative is never negative. Return mapping is that of Simo and Taylor (1986): the two parts of stress, sum and
differences, shrink by factors of their own, so that flow is the root of one function, which is convex and decreases:
Newton's method, begun before the root, never passes it.

Strain is (along warp, along weft, twice both), stress (along warp, along weft, both).
"""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper

# Heights, of half of the thickness, and weights, of the whole: Simpson's rule above and below the middle. It is exact
# for elastic bending, for the moment at which the surface begins to flow, sigma t^2 / 6, and for that at which all
# flows, sigma t^2 / 4; between them the moment is within a tenth (Gauss's five points miss the last by 5 %).
LAYERS = 5
HEIGHTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
WEIGHTS = (1.0 / 12.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 12.0)
_MOST = 50  # iterations of return mapping, which takes four or five
_CLOSE = 1e-14  # relative to the yield stress


@helper
def plane_stress(strain, hardening, constants):
    """Energy density, stress, its derivatives (00, 11, 22, 01, 02, 12), and the increase of equivalent plastic strain.

    strain : beyond the plastic one at the start of the step; hardening : equivalent plastic strain then; constants :
    Young's modulus, Poisson's ratio, yield stress (infinite where there is none), slope of hardening
    """
    young, nu, limit, slope = constants[0], constants[1], constants[2], constants[3]
    sums, shear = young / (1.0 - nu), 0.5 * young / (1.0 + nu)
    total, apart = sums * (strain[0] + strain[1]), 2.0 * shear * (strain[0] - strain[1])
    both, now = shear * strain[2], limit + slope * hardening
    one, two = 0.25 * total * total, 0.75 * apart * apart + 3.0 * both * both
    flow, stretch, turn = 0.0, 1.0, 1.0
    if one + two > now * now:
        flow = _flow(one, two, sums / 3.0, 2.0 * shear, now, slope)
        stretch, turn = 1.0 / (1.0 + flow * sums / 3.0), 1.0 / (1.0 + 2.0 * shear * flow)
    total, apart, both = stretch * total, turn * apart, turn * both
    mises = np.sqrt(stretch * stretch * one + turn * turn * two)
    more = 2.0 / 3.0 * flow * mises
    energy = 0.25 * (total * total / sums + apart * apart / (2.0 * shear)) + 0.5 * both * both / shear
    if flow > 0.0:
        energy += limit * more + 0.5 * slope * more * (2.0 * hardening + more)
    stress = (0.5 * (total + apart), 0.5 * (total - apart), both)
    sums, shear = stretch * sums, turn * shear
    d00, d01 = 0.5 * sums + shear, 0.5 * sums - shear
    if flow == 0.0:
        return energy, stress, (d00, d00, shear, d01, 0.0, 0.0), 0.0
    # n: derivative of stress by flow; what flows, P stress, is (total / 3 + apart) / 2, (total / 3 - apart) / 2, 2 both
    p0, p1, p2 = total / 6.0 + 0.5 * apart, total / 6.0 - 0.5 * apart, 2.0 * both
    n0, n1, n2 = d00 * p0 + d01 * p1, d01 * p0 + d00 * p1, shear * p2
    size = n0 * p0 + n1 * p1 + n2 * p2
    size += 4.0 / 9.0 * slope * mises * mises / (1.0 - 2.0 / 3.0 * slope * flow)
    k = 1.0 / size
    tangent = (
        d00 - k * n0 * n0, d00 - k * n1 * n1, shear - k * n2 * n2, d01 - k * n0 * n1, -k * n0 * n2, -k * n1 * n2,
    )  # fmt: skip
    return energy, stress, tangent, more


@helper
def _flow(one, two, first, second, now, slope):
    """Root of mises (1 - 2/3 slope flow) - now, with mises^2 = one / (1 + first flow)^2 + two / (1 + second flow)^2."""
    flow, grow = 0.0, 2.0 / 3.0 * slope
    for _ in range(_MOST):
        a, b = 1.0 / (1.0 + first * flow), 1.0 / (1.0 + second * flow)
        p, q = one * a * a, two * b * b
        mises = np.sqrt(p + q)
        beyond = mises * (1.0 - grow * flow) - now
        if beyond <= _CLOSE * now:
            break
        falling = (first * a * p + second * b * q) / mises * (1.0 - grow * flow) + grow * mises
        flow += beyond / falling
    return flow


@helper
def plastic_part(strain, stress, young, nu):
    """What of a strain is not that of a stress."""
    a, b = (stress[0] - nu * stress[1]) / young, (stress[1] - nu * stress[0]) / young
    return strain[0] - a, strain[1] - b, strain[2] - 2.0 * (1.0 + nu) / young * stress[2]
