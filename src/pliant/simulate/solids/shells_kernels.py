"""Energies, forces, stiffness and plastic flow of shells, element by element.

Curvature and the strain of the middle are six numbers; their derivatives by the eighteen coordinates of an element are
``slopes``. Stress of all layers, added up, is ``pull``, and its derivatives by the six are ``tangent``.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import row
from pliant.runtime.jit import helper, kernel
from pliant.simulate.solids.matrices import positive_part
from pliant.simulate.solids.shells_laws import HEIGHTS, LAYERS, WEIGHTS, plane_stress, plastic_part
from pliant.simulate.solids.shells_strains import angle, angle_slopes, deformation, log_strain

_ROUND = 2.0 * np.pi


@helper
def _side(x, stencil, h):
    """Both ends of a side, the corner of the element across it, and that of its neighbour."""
    i, j = (h + 1) % 3, (h + 2) % 3
    return row(x, stencil[h]), row(x, stencil[i]), row(x, stencil[j]), row(x, stencil[3 + h])


@helper
def _turn(x, shells, turns, e, h):
    """Change of the angle at a side since rest. Angles end at pi, where a fold closes: beyond, as impact forces let it
    get, the change goes on from what it was at the start of the step, turns."""
    a, b, c, d = _side(x, shells.stencil[e], h)
    turn = angle(a, b, c, d) - shells.angle[e, h]
    return turn - _ROUND * np.floor((turn - turns[e, h]) / _ROUND + 0.5)


@helper
def _curvature(x, shells, turns, e):
    """Change of curvature since rest: along warp, along weft, twice both."""
    k0 = k1 = k2 = 0.0
    for h in range(3):
        if shells.hinged[e, h]:
            turn = _turn(x, shells, turns, e, h)
            k0 += shells.bend[e, 0, h] * turn
            k1 += shells.bend[e, 1, h] * turn
            k2 += shells.bend[e, 2, h] * turn
    return k0, k1, k2


@helper
def _at(strain, curvature, z, plastic, p, k):
    """Strain of layer k at height z, beyond its plastic one."""
    return (
        strain[0] + z * curvature[0] - plastic[p, k, 0],
        strain[1] + z * curvature[1] - plastic[p, k, 1],
        strain[2] + z * curvature[2] - plastic[p, k, 2],
    )


@helper
def _middle(x, shells, e, p):
    """Whether a point has a middle that can stretch, its strain, and where warp and weft are."""
    u, w = deformation(x, shells.stencil[e], shells.gradient, p)
    there = shells.gradient[p, 0, 0] != 0.0 or shells.gradient[p, 0, 1] != 0.0
    u, w = (u, w) if there else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    return there, u, w


@helper
def _apply(constants, strain):
    """Hooke's law of plane stress."""
    k = constants[0] / (1.0 - constants[1] * constants[1])
    return (
        k * (strain[0] + constants[1] * strain[1]),
        k * (strain[1] + constants[1] * strain[0]),
        0.5 * k * (1.0 - constants[1]) * strain[2],
    )


@helper
def _since(before, p, first, strain):
    return strain[0] - before[p, first], strain[1] - before[p, first + 1], strain[2] - before[p, first + 2]


@kernel
def turns_kernel(x, shells, turns, first, last, out):
    for e in range(first, last):
        for h in range(3):
            out[e, h] = _turn(x, shells, turns, e, h) if shells.hinged[e, h] else 0.0


@kernel
def strains_kernel(x, shells, turns, first, last, out):
    for e in range(first, last):
        k = _curvature(x, shells, turns, e)
        for p in range(shells.start[e], shells.start[e + 1]):
            _, u, w = _middle(x, shells, e, p)
            s, _ = log_strain(u, w)
            for c in range(3):
                out[p, c], out[p, 3 + c] = s[c], k[c]


@kernel
def energies_kernel(x, shells, past, first, last, out):
    plastic, equivalent, turns, before, per_second = past
    for e in range(first, last):
        curvature, constants, total = _curvature(x, shells, turns, e), shells.constants[e], 0.0
        viscous, dissipated = 0.0, 0.0
        thick, rate = constants[4], constants[5] * per_second
        for p in range(shells.start[e], shells.start[e + 1]):
            _, u, w = _middle(x, shells, e, p)
            strain, _ = log_strain(u, w)
            density, rest, lost = 0.0, 0.0, 0.0
            for k in range(LAYERS):
                here = _at(strain, curvature, 0.5 * thick * HEIGHTS[k], plastic, p, k)
                energy, _, _, more = plane_stress(here, equivalent[p, k], constants)
                density += WEIGHTS[k] * energy
                if more > 0.0:
                    by_hardening = 0.5 * constants[3] * more * (2.0 * equivalent[p, k] + more)
                    lost += WEIGHTS[k] * (constants[2] * more + by_hardening)
            if rate > 0.0:
                s, c = _since(before, p, 0, strain), _since(before, p, 3, curvature)
                n, m = _apply(constants, s), _apply(constants, c)
                rest += 0.5 * rate * (s[0] * n[0] + s[1] * n[1] + s[2] * n[2])
                rest += rate * thick * thick / 24.0 * (c[0] * m[0] + c[1] * m[1] + c[2] * m[2])
            total += shells.area[p] * thick * (density - lost)
            dissipated += shells.area[p] * thick * lost
            viscous += shells.area[p] * thick * rest
        out[e, 0], out[e, 1], out[e, 2] = total, dissipated, viscous


@kernel
def flow_kernel(x, shells, plastic, first, last):
    for e in range(first, last):
        curvature, constants = _curvature(x, shells, plastic.turn, e), shells.constants[e]
        if constants[2] == np.inf:
            continue
        for p in range(shells.start[e], shells.start[e + 1]):
            _, u, w = _middle(x, shells, e, p)
            strain, _ = log_strain(u, w)
            for k in range(LAYERS):
                here = _at(strain, curvature, 0.5 * constants[4] * HEIGHTS[k], plastic.strain, p, k)
                _, stress, _, more = plane_stress(here, plastic.equivalent[p, k], constants)
                if more > 0.0:
                    plastic.equivalent[p, k] += more
                    flown = plastic_part(here, stress, constants[0], constants[1])
                    for c in range(3):
                        plastic.strain[p, k, c] += flown[c]


@kernel
def stresses_kernel(x, shells, plastic, out):
    for e in range(len(out)):
        curvature, constants = _curvature(x, shells, plastic.turn, e), shells.constants[e]
        for p in range(shells.start[e], shells.start[e + 1]):
            _, u, w = _middle(x, shells, e, p)
            strain, _ = log_strain(u, w)
            for k in range(LAYERS):
                here = _at(strain, curvature, 0.5 * constants[4] * HEIGHTS[k], plastic.strain, p, k)
                _, s, _, _ = plane_stress(here, plastic.equivalent[p, k], constants)
                mises = np.sqrt(s[0] * s[0] - s[0] * s[1] + s[1] * s[1] + 3.0 * s[2] * s[2])
                out[e, k] = max(out[e, k], mises)


@kernel
def elements_kernel(x, shells, past, span, forces, stiffness):
    """Gradients at the vertices of elements, and blocks of their pairs from element span[2] on, if there is room."""
    plastic, equivalent, turns, before, per_second = past
    slopes, push, tangent, law = np.empty((6, 18)), np.empty(18), np.empty((6, 6)), np.empty((6, 18))
    pull = np.empty(6)
    for e in range(span[0], span[1]):
        constants, stencil = shells.constants[e], shells.stencil[e]
        curvature = _curvature(x, shells, turns, e)
        thick, rate = constants[4], constants[5] * per_second
        _bending_slopes(x, shells, e, slopes)
        for i in range(18):
            push[i] = 0.0
        if len(stiffness):
            for i in range(36):
                for c in range(9):
                    stiffness[e - span[2], i, c] = 0.0
        for p in range(shells.start[e], shells.start[e + 1]):
            there, u, w = _middle(x, shells, e, p)
            strain, rows = log_strain(u, w)
            for i in range(6):
                pull[i] = 0.0
                for j in range(6):
                    tangent[i, j] = 0.0
            area = shells.area[p] * thick
            for k in range(LAYERS):
                z = 0.5 * thick * HEIGHTS[k]
                here = _at(strain, curvature, z, plastic, p, k)
                _, stress, d, _ = plane_stress(here, equivalent[p, k], constants)
                _collect(area * WEIGHTS[k], z, stress, d, pull, tangent)
            if rate > 0.0:
                _resist(area * rate, thick, constants, _since(before, p, 0, strain), pull, tangent, 0)
                bend = area * rate * thick * thick / 12.0
                _resist(bend, thick, constants, _since(before, p, 3, curvature), pull, tangent, 3)
            _stretching_slopes(shells.gradient, p, there, u, w, rows, slopes)
            for i in range(18):
                for r in range(6):
                    push[i] += slopes[r, i] * pull[r]
            if len(stiffness):
                _material(slopes, tangent, law, stiffness[e - span[2]])
                if there:
                    s = _by_green(pull, rows)
                    pulling = positive_part((s[0], s[1], 0.0, s[2], 0.0, 0.0))
                    _tighten(shells.gradient, p, pulling, stiffness[e - span[2]])
        for i in range(6):
            for c in range(3):
                forces[e, i, c] = push[3 * i + c] if stencil[i] >= 0 else 0.0


@helper
def _bending_slopes(x, shells, e, out):
    """Derivatives of curvature by the coordinates of the six vertices: rows 3 to 5."""
    for r in range(3, 6):
        for i in range(18):
            out[r, i] = 0.0
    for h in range(3):
        if shells.hinged[e, h]:
            a, b, c, d = _side(x, shells.stencil[e], h)
            of_a, of_b, of_c, of_d = angle_slopes(a, b, c, d)
            i, j = (h + 1) % 3, (h + 2) % 3
            for r in range(3):
                bend = shells.bend[e, r, h]
                for k in range(3):
                    out[3 + r, 3 * h + k] += bend * of_a[k]
                    out[3 + r, 3 * i + k] += bend * of_b[k]
                    out[3 + r, 3 * j + k] += bend * of_c[k]
                    out[3 + r, 9 + 3 * h + k] += bend * of_d[k]


@helper
def _stretching_slopes(gradient, p, there, u, w, rows, out):
    """Derivatives of the strain of the middle: rows 0 to 2."""
    for i in range(6):
        a, b = gradient[p, i, 0], gradient[p, i, 1]
        for k in range(3):
            g0, g1, g2 = a * u[k], b * w[k], a * w[k] + b * u[k]  # of Green's strain
            for r in range(3):
                at = rows[r][0] * g0 + rows[r][1] * g1 + rows[r][2] * g2
                out[r, 3 * i + k] = at if there else 0.0


@helper
def _collect(weight, z, stress, d, pull, tangent):
    full = ((d[0], d[3], d[4]), (d[3], d[1], d[5]), (d[4], d[5], d[2]))
    for i in range(3):
        pull[i] += weight * stress[i]
        pull[3 + i] += weight * z * stress[i]
        for j in range(3):
            at = weight * full[i][j]
            tangent[i, j] += at
            tangent[i, 3 + j] += z * at
            tangent[3 + i, j] += z * at
            tangent[3 + i, 3 + j] += z * z * at


@helper
def _resist(weight, thick, constants, since, pull, tangent, first):
    """Damping: the stiffness of elasticity times what has changed since the start of the step."""
    for i in range(3):
        one = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        column = _apply(constants, one)
        for j in range(3):
            pull[first + j] += weight * column[j] * since[i]
            tangent[first + j, first + i] += weight * column[j]


@helper
def _by_green(pull, rows):
    """Stress that belongs to Green's strain: along warp, along weft, both."""
    return (
        rows[0][0] * pull[0] + rows[1][0] * pull[1] + rows[2][0] * pull[2],
        rows[0][1] * pull[0] + rows[1][1] * pull[1] + rows[2][1] * pull[2],
        rows[0][2] * pull[0] + rows[1][2] * pull[1] + rows[2][2] * pull[2],
    )


@helper
def _material(slopes, tangent, law, out):
    """slopes' tangent slopes."""
    for r in range(6):
        for i in range(18):
            total = 0.0
            for q in range(6):
                total += tangent[r, q] * slopes[q, i]
            law[r, i] = total
    for i in range(18):
        for j in range(18):
            total = 0.0
            for r in range(6):
                total += slopes[r, i] * law[r, j]
            out[6 * (i // 3) + j // 3, 3 * (i % 3) + j % 3] += total


@helper
def _tighten(gradient, p, s, out):
    """What stress along the middle, where it pulls, resists to being moved out of it."""
    for i in range(6):
        a, b = gradient[p, i, 0], gradient[p, i, 1]
        x, y = s[0] * a + s[3] * b, s[3] * a + s[1] * b
        for j in range(6):
            at = x * gradient[p, j, 0] + y * gradient[p, j, 1]
            for c in range(3):
                out[6 * i + j, 4 * c] += at
