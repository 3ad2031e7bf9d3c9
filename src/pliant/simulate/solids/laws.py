"""Constitutive laws: energy densities of the principal stretches, with first and second derivatives.

An isotropic law is a function of the three principal stretches, the singular values of the deformation gradient, the
smallest of which is negative where it is inverted. So each law is a few lines here, and forces, stiffness and its
positive part are computed in one way for all of them (``stresses.py``).

- Stable neo-Hookean (Smith, de Goes and Kim 2018, "Stable Neo-Hookean Flesh Simulation"): for rubber and flesh, defined
  and smooth for inverted cells too.
- Corotational: Hooke's law of the stretches.
- Hencky: Hooke's law of the logarithms of the stretches, with J2 plasticity and linear isotropic hardening (return
  mapping as by Simo 1992). In logarithms return mapping is that of small strains, and a step has an energy: elastic
  energy at its end and what plastic flow has dissipated.
"""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper

NEO_HOOKEAN, COROTATIONAL, HENCKY = 0, 1, 2
# Logarithms go on as parabolas below this stretch: Newton's method may look at cells that are inverted.
LEAST_STRETCH = 0.05
_TWO_THIRDS = np.sqrt(2.0 / 3.0)


@helper
def energy_of(law, s, constants, hardening):
    """Energy density at principal stretches s, 0 at rest; its gradient, three numbers; its second derivatives, 00, 11,
    22, 01, 02, 12; and the plastic multiplier of the step.

    constants: Lame's lambda and mu, yield stress (infinite where there is none), slope of hardening, N/m2; hardening:
    equivalent plastic strain at the start of the step.
    """
    if law == NEO_HOOKEAN:
        energy, g, h = _neo_hookean(s, constants[0], constants[1])
        return energy, g, h, 0.0
    if law == COROTATIONAL:
        energy, g, h = _corotational(s, constants[0], constants[1])
        return energy, g, h, 0.0
    return _hencky(s, constants, hardening)


@helper
def _neo_hookean(s, lame, shear):
    mu, lam = 4.0 / 3.0 * shear, lame + 5.0 / 6.0 * shear
    a, b, c = s
    squares, volume = a * a + b * b + c * c, a * b * c
    alpha = 1.0 + 0.75 * mu / lam
    off = volume - alpha
    # 1 - 1 / 4 and log 4: of the state of rest
    energy = 0.5 * mu * (squares - 3.0) + 0.5 * lam * (off * off - (1.0 - alpha) ** 2)
    energy -= 0.5 * mu * np.log((squares + 1.0) / 4.0)
    inverse = 1.0 / (squares + 1.0)
    straight, turned = mu * (1.0 - inverse), 2.0 * mu * inverse * inverse
    va, vb, vc = b * c, a * c, a * b
    gradient = (straight * a + lam * off * va, straight * b + lam * off * vb, straight * c + lam * off * vc)
    second = (
        straight + turned * a * a + lam * va * va,
        straight + turned * b * b + lam * vb * vb,
        straight + turned * c * c + lam * vc * vc,
        turned * a * b + lam * (va * vb + off * c),
        turned * a * c + lam * (va * vc + off * b),
        turned * b * c + lam * (vb * vc + off * a),
    )
    return energy, gradient, second


@helper
def _corotational(s, lame, shear):
    a, b, c = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    trace = a + b + c
    energy = shear * (a * a + b * b + c * c) + 0.5 * lame * trace * trace
    gradient = (2.0 * shear * a + lame * trace, 2.0 * shear * b + lame * trace, 2.0 * shear * c + lame * trace)
    own = 2.0 * shear + lame
    return energy, gradient, (own, own, own, lame, lame, lame)


@helper
def _logarithm(s):
    """And its first two derivatives."""
    if s > LEAST_STRETCH:
        return np.log(s), 1.0 / s, -1.0 / (s * s)
    off = (s - LEAST_STRETCH) / LEAST_STRETCH
    return np.log(LEAST_STRETCH) + off - 0.5 * off * off, (1.0 - off) / LEAST_STRETCH, -1.0 / LEAST_STRETCH**2


@helper
def _hencky(s, constants, hardening):
    lame, shear, limit, slope = constants[0], constants[1], constants[2], constants[3]
    bulk = lame + 2.0 / 3.0 * shear
    (ea, da, dda), (eb, db, ddb), (ec, dc, ddc) = _logarithm(s[0]), _logarithm(s[1]), _logarithm(s[2])
    trace = ea + eb + ec
    ea, eb, ec = ea - trace / 3.0, eb - trace / 3.0, ec - trace / 3.0
    length = np.sqrt(ea * ea + eb * eb + ec * ec)
    beyond = 2.0 * shear * length - _TWO_THIRDS * (limit + slope * hardening)
    flow = beyond / (2.0 * shear + 2.0 / 3.0 * slope) if beyond > 0.0 else 0.0
    kept = 1.0 - flow / length if beyond > 0.0 else 1.0  # of the deviator
    energy = 0.5 * bulk * trace * trace + shear * (kept * length) ** 2
    after = hardening + _TWO_THIRDS * flow
    if beyond > 0.0:
        energy += limit * _TWO_THIRDS * flow + 0.5 * slope * (after * after - hardening * hardening)
    pressure, deviator = bulk * trace, 2.0 * shear * kept
    ta, tb, tc = pressure + deviator * ea, pressure + deviator * eb, pressure + deviator * ec
    # Second derivatives in the logarithms: bulk, the deviator that is kept, and less along it while it flows.
    along = 2.0 * shear * (2.0 * shear / (2.0 * shear + 2.0 / 3.0 * slope) - (1.0 - kept)) if beyond > 0.0 else 0.0
    along = along / (length * length) if beyond > 0.0 else 0.0
    own, other = bulk + 2.0 / 3.0 * deviator, bulk - deviator / 3.0
    gradient = (ta * da, tb * db, tc * dc)
    second = (
        (own - along * ea * ea) * da * da + ta * dda,
        (own - along * eb * eb) * db * db + tb * ddb,
        (own - along * ec * ec) * dc * dc + tc * ddc,
        (other - along * ea * eb) * da * db,
        (other - along * ea * ec) * da * dc,
        (other - along * eb * ec) * db * dc,
    )
    return energy, gradient, second, flow


@helper
def kept_stretches(s, flow):
    """Elastic stretches after plastic flow, each as a part of what it was."""
    if flow == 0.0:
        return 1.0, 1.0, 1.0
    ea, eb, ec = _logarithm(s[0])[0], _logarithm(s[1])[0], _logarithm(s[2])[0]
    mean = (ea + eb + ec) / 3.0
    ea, eb, ec = ea - mean, eb - mean, ec - mean
    part = flow / np.sqrt(ea * ea + eb * eb + ec * ec)
    return np.exp(-part * ea), np.exp(-part * eb), np.exp(-part * ec)
