"""Stretch and shear: an orthotropic membrane of St. Venant and Kirchhoff, each triangle by itself.

Energy of a triangle of area A at rest: A/2 E : C E, of Green's strain E = (F'F - 1)/2 in coordinates along warp and
weft, with what its viscosity resists to the change of E in a step. Its Hessian is made positive: the part of the
material is so, and that of the stress is, once stress has no negative principal value (compressed cloth gives way out
of its plane instead).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.arrays import MeshError
from pliant.runtime.jit import bare_kernel, helper
from pliant.runtime.simd import BLOCK, WIDTH, add_outer, mirror_block
from pliant.runtime.threads import ThreadPool
from pliant.simulate.materials import Material
from pliant.simulate.rows import Incidence, Rows, incidence_of, rows_of

LEAST = 1024  # vertices that are worth a thread of their own
STATE = 16  # numbers of a face while rows are summed: two columns of F, stress, its positive part, stiffness


class Sides(NamedTuple):
    """Pairs of vertices that have faces in common, each once.

    places : (s, 2) int64, where a pair is in rows: in the row of its smaller vertex, and in that of the other
    start : (s + 1,) int64, its faces are entries start[k] .. start[k + 1]
    corners : (k, 3) int32, of an entry: the face, and which of its corners both are
    """

    places: np.ndarray
    start: np.ndarray
    corners: np.ndarray


class Membrane(NamedTuple):
    """What is fixed of all triangles.

    faces : (m, 3) int32
    gradient : (m, 3, 2) float64, derivatives of the weights of the corners along warp and weft
    area : (m,) float64, at rest
    moduli : (m, 4) float64, stiffness warp, weft, both, shear, N/m
    limit : (m, 2) float64, strain beyond which there is more stiffness, and how much
    damping : (m,) float64, s
    incidence : faces at each vertex
    rows : one ring of neighbours
    sides : pairs of neighbours
    """

    faces: np.ndarray
    gradient: np.ndarray
    area: np.ndarray
    moduli: np.ndarray
    limit: np.ndarray
    damping: np.ndarray
    incidence: Incidence
    rows: Rows
    sides: Sides


def flatten(faces: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(m, 3, 2) coordinates of the corners of each triangle along warp and weft.

    rest : (n, 2) coordinates of a pattern, (warp, weft); or (n, 3) positions: warp is the first axis of space laid
        into each triangle, or the second where the first is nearly perpendicular to it
    """
    if rest.shape[1] == 2:
        return rest[faces]
    corners = rest[faces]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(one, two)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    axis = np.where((np.abs(normal[:, 0]) < 0.9)[:, None], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    warp = axis - np.einsum("ij,ij->i", axis, normal)[:, None] * normal
    warp /= np.linalg.norm(warp, axis=1, keepdims=True)
    weft = np.cross(normal, warp)
    frame = np.stack((warp, weft), axis=1)
    return np.einsum("mkj,mcj->mck", frame, corners - corners[:, :1])


def membrane_of(faces: np.ndarray, rest: np.ndarray, materials: list[Material], kind: np.ndarray) -> Membrane:
    """faces : (m, 3) int32; rest : (n, 2 or 3); kind : (m,) which of the materials each triangle is of."""
    flat = flatten(faces, rest)
    one, two = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    longest = np.maximum(np.linalg.norm(one, axis=1), np.linalg.norm(two, axis=1))
    thin = np.abs(twice) <= 1e-10 * longest**2
    if thin.any():
        raise MeshError(f"face {int(np.argmax(thin))} has no area at rest: cloth needs proper triangles")
    gradient = np.empty((len(faces), 3, 2))
    for i in range(3):  # the gradient of a weight is its opposite side, turned by a right angle
        side = flat[:, (i + 2) % 3] - flat[:, (i + 1) % 3]
        gradient[:, i, 0], gradient[:, i, 1] = -side[:, 1] / twice, side[:, 0] / twice
    constants = np.array([_moduli(material) for material in materials])
    n = len(rest)
    rows, slots = rows_of(faces, n)
    return Membrane(
        faces, gradient, 0.5 * np.abs(twice), constants[kind, :4].copy(), constants[kind, 4:6].copy(),
        constants[kind, 6].copy(), incidence_of(faces, n), rows, _sides(faces, slots),
    )  # fmt: skip


def _sides(faces: np.ndarray, slots: np.ndarray) -> Sides:
    """slots : (m, 3, 3) where the pairs of corners are in rows"""
    f, i, j = np.nonzero(faces[:, :, None] < faces[:, None, :])
    order = np.argsort(slots[f, i, j], kind="stable")
    f, i, j = f[order], i[order], j[order]
    places, first = np.unique(slots[f, i, j], return_index=True)
    mirrored = slots[f[first], j[first], i[first]]
    corners = np.column_stack((f, i, j)).astype(np.int32)
    return Sides(np.column_stack((places, mirrored)), np.append(first, len(f)), corners)


def _moduli(material: Material) -> tuple[float, ...]:
    """Stiffness of a strip is that of stress in one direction alone: plane stress."""
    plane = 1.0 - material.poisson**2
    warp, weft = material.stretch_warp / plane, material.stretch_weft / plane
    both = material.poisson * np.sqrt(warp * weft)
    return warp, weft, both, material.shear, material.most_strain, 10.0 * max(warp, weft), material.damping


class MembraneStep:
    """Memory for energies, forces and Hessians of a membrane, step after step."""

    def __init__(self, membrane: Membrane, pool: ThreadPool) -> None:
        m = len(membrane.faces)
        self.membrane, self._pool = membrane, pool
        self._state, self._energy = np.empty((m, STATE)), np.empty((2, m))
        self._strain = np.zeros((m, 3))

    def begin(self, x: np.ndarray) -> None:
        """Positions, (n, 3), that the step starts from: what viscosity compares with."""
        membrane = self.membrane
        self._pool.run_range(
            lambda a, b: _strains(x, membrane.faces, membrane.gradient, a, b, self._strain), len(membrane.faces)
        )

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy, what a step of so many seconds adds for viscosity), at x."""
        membrane = self.membrane
        self._pool.run_range(
            lambda a, b: _stresses(x, membrane, self._strain, 1.0 / step, (a, b), (self._state, self._energy)),
            len(membrane.faces),
        )
        elastic, viscous = self._energy.sum(axis=1)
        return float(elastic), float(viscous)

    def add(self, gradient: np.ndarray, blocks: np.ndarray) -> None:
        """Write the Hessian at the positions of ``energies`` into blocks, (k, 12), and add the gradient, (n, 3)."""
        membrane, state = self.membrane, self._state
        self._pool.run_range(
            lambda a, b: _join_sides(membrane, state, a, b, blocks), len(membrane.sides.places), 4 * LEAST
        )
        self._pool.run_range(lambda a, b: _sum_rows(membrane, state, a, b, gradient, blocks), len(gradient), LEAST)

    def stretch(self, x: np.ndarray) -> np.ndarray:
        """(m,) largest principal stretch of each triangle, 1 at rest."""
        strain = np.empty((len(self.membrane.faces), 3))
        _strains(x, self.membrane.faces, self.membrane.gradient, 0, len(strain), strain)
        mean, half = 0.5 * (strain[:, 0] + strain[:, 1]), 0.5 * (strain[:, 0] - strain[:, 1])
        return np.sqrt(np.maximum(1.0 + 2.0 * (mean + np.hypot(half, 0.5 * strain[:, 2])), 0.0))


@helper
def _columns(x, faces, gradient, f):
    """The deformation gradient of a face: where it takes the unit vectors of warp and weft."""
    u0 = u1 = u2 = v0 = v1 = v2 = 0.0
    for i in range(3):
        j, a, b = faces[f, i], gradient[f, i, 0], gradient[f, i, 1]
        u0 += a * x[j, 0]
        u1 += a * x[j, 1]
        u2 += a * x[j, 2]
        v0 += b * x[j, 0]
        v1 += b * x[j, 1]
        v2 += b * x[j, 2]
    return u0, u1, u2, v0, v1, v2


@helper
def _green(u0, u1, u2, v0, v1, v2):
    """Green's strain, and twice its shear."""
    warp = 0.5 * (u0 * u0 + u1 * u1 + u2 * u2 - 1.0)
    weft = 0.5 * (v0 * v0 + v1 * v1 + v2 * v2 - 1.0)
    return warp, weft, u0 * v0 + u1 * v1 + u2 * v2


@bare_kernel
def _strains(x, faces, gradient, first, last, out):
    for f in range(first, last):
        u0, u1, u2, v0, v1, v2 = _columns(x, faces, gradient, f)
        out[f, 0], out[f, 1], out[f, 2] = _green(u0, u1, u2, v0, v1, v2)


@bare_kernel
def _stresses(x, membrane, before, per_step, span, out):
    """State and energies of faces; before : (m, 3) strains at the start of the step."""
    state, energy = out
    for f in range(span[0], span[1]):
        u0, u1, u2, v0, v1, v2 = _columns(x, membrane.faces, membrane.gradient, f)
        e0, e1, e2 = _green(u0, u1, u2, v0, v1, v2)
        area, c00, c11 = membrane.area[f], membrane.moduli[f, 0], membrane.moduli[f, 1]
        c01, c22 = membrane.moduli[f, 2], membrane.moduli[f, 3]
        rate = membrane.damping[f] * per_step
        d0, d1, d2 = e0 - before[f, 0], e1 - before[f, 1], e2 - before[f, 2]
        elastic = c00 * e0 * e0 + 2.0 * c01 * e0 * e1 + c11 * e1 * e1 + c22 * e2 * e2
        viscous = rate * (c00 * d0 * d0 + 2.0 * c01 * d0 * d1 + c11 * d1 * d1 + c22 * d2 * d2)
        t0, t1, t2 = e0 + rate * d0, e1 + rate * d1, e2 + rate * d2
        s0, s1, s2 = c00 * t0 + c01 * t1, c01 * t0 + c11 * t1, c22 * t2
        scale = 1.0 + rate
        c00, c11, c01, c22 = scale * c00, scale * c11, scale * c01, scale * c22
        limit, more = membrane.limit[f, 0], membrane.limit[f, 1]
        if e0 > limit:
            elastic += more * (e0 - limit) ** 2
            s0 += more * (e0 - limit)
            c00 += more
        if e1 > limit:
            elastic += more * (e1 - limit) ** 2
            s1 += more * (e1 - limit)
            c11 += more
        energy[0, f], energy[1, f] = 0.5 * area * elastic, 0.5 * area * viscous
        p0, p1, p2 = _positive_part(s0, s1, s2)
        state[f, 0], state[f, 1], state[f, 2] = u0, u1, u2
        state[f, 3], state[f, 4], state[f, 5] = v0, v1, v2
        state[f, 6], state[f, 7], state[f, 8] = area * s0, area * s1, area * s2
        state[f, 9], state[f, 10], state[f, 11] = area * p0, area * p1, area * p2
        state[f, 12], state[f, 13], state[f, 14], state[f, 15] = area * c00, area * c11, area * c01, area * c22


@helper
def _positive_part(s0, s1, s2):
    """The symmetric matrix ((s0, s2), (s2, s1)) without its negative principal values."""
    mean, half = 0.5 * (s0 + s1), 0.5 * (s0 - s1)
    radius = np.sqrt(half * half + s2 * s2)
    upper, lower = mean + radius, mean - radius
    if lower >= 0.0:
        return s0, s1, s2
    if upper <= 0.0:
        return 0.0, 0.0, 0.0
    # (S - lower) / (upper - lower) projects onto the principal direction of the upper value
    k = upper / (2.0 * radius)
    return k * (s0 - lower), k * (s1 - lower), k * s2


@bare_kernel
def _join_sides(membrane, state, first, last, blocks):
    """Blocks between both vertices of sides first .. last - 1: sums over their faces, and the same transposed."""
    places, start, corners = membrane.sides.places, membrane.sides.start, membrane.sides.corners
    for side in range(first, last):
        k = places[side, 0]
        for i in range(BLOCK):
            blocks[k, i] = 0.0
        for at in range(start[side], start[side + 1]):
            f = corners[at, 0]
            a, b = membrane.gradient[f, corners[at, 1], 0], membrane.gradient[f, corners[at, 1], 1]
            c, d = membrane.gradient[f, corners[at, 2], 0], membrane.gradient[f, corners[at, 2], 1]
            shear, ac, ad, bc, bd = state[f, 15], a * c, a * d, b * c, b * d
            add_outer(
                blocks, k, (state[f, 0], state[f, 1], state[f, 2]), (state[f, 3], state[f, 4], state[f, 5]),
                (
                    ac * state[f, 12] + bd * shear, ad * state[f, 14] + bc * shear,
                    bc * state[f, 14] + ad * shear, bd * state[f, 13] + ac * shear,
                    ac * state[f, 9] + (ad + bc) * state[f, 11] + bd * state[f, 10],
                ),
            )  # fmt: skip
        mirror_block(blocks, k, places[side, 1])


@bare_kernel
def _sum_rows(membrane, state, first, last, gradient, blocks):
    """Rows first .. last - 1: the gradient, a sum over faces in ascending order, whoever sums it; and blocks on the
    diagonal, from those beside them."""
    start, element, corner = membrane.incidence.start, membrane.incidence.element, membrane.incidence.corner
    row_start, diagonal = membrane.rows.start, membrane.rows.diagonal
    for v in range(first, last):
        g0 = g1 = g2 = 0.0
        for at in range(start[v], start[v + 1]):
            f, i = element[at], corner[at]
            a, b = membrane.gradient[f, i, 0], membrane.gradient[f, i, 1]
            pu, pv = a * state[f, 6] + b * state[f, 8], a * state[f, 8] + b * state[f, 7]
            g0 += pu * state[f, 0] + pv * state[f, 3]
            g1 += pu * state[f, 1] + pv * state[f, 4]
            g2 += pu * state[f, 2] + pv * state[f, 5]
        _close_row(blocks, row_start[v], diagonal[v], row_start[v + 1])
        gradient[v, 0] += g0
        gradient[v, 1] += g1
        gradient[v, 2] += g2


@helper
def _close_row(blocks, first, own, last):
    """The block on the diagonal: what moves all vertices alike meets no force."""
    for q in range(0, BLOCK, WIDTH):
        a = b = c = 0.0
        for k in range(first, last):
            if k != own:
                a -= blocks[k, q]
                b -= blocks[k, q + 1]
                c -= blocks[k, q + 2]
        blocks[own, q], blocks[own, q + 1], blocks[own, q + 2], blocks[own, q + 3] = a, b, c, 0.0
