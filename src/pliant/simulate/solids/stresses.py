"""Energies, forces and stiffness of solid cells, from what a law says of the principal stretches.

In the frames of the singular value decomposition F = U diag(s) V' the derivatives of an isotropic energy are nearly
diagonal: three stretches, coupled by the second derivatives of the law, and for each two axes a pair of modes, one
symmetric with eigenvalue (g_k - g_l) / (s_k - s_l), one of rotation with (g_k + g_l) / (s_k + s_l), where g is the
gradient of the law. Each part is made positive by itself, which is the nearest positive matrix to the whole.

Plastic deformation is the rest shape of a point: F is taken from there, and so are the gradients of the shape
functions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import dot
from pliant.runtime.jit import helper, kernel
from pliant.runtime.simd import BLOCK
from pliant.runtime.threads import ThreadPool
from pliant.simulate.rows import Incidence, Rows, incidence_of, rows_of
from pliant.simulate.solids.laws import energy_of, kept_stretches
from pliant.simulate.solids.matrices import positive_part, singular
from pliant.simulate.solids.quadrature import Points

_CLOSE = 1e-6  # relative: two stretches that are so close have the limit of the quotient of differences


class Solids(NamedTuple):
    """What is fixed of all cells.

    corners : (c, 8) int32, -1 beyond those that a cell has
    points : where they are integrated
    law : (c,) int32, which one each cell obeys
    constants : (c, 4) float64, as in ``laws.energy_of``
    incidence : cells at each vertex
    rows : which vertices stand in the equations of which
    pairs : (k,) int64, for each block of the rows in turn, which pairs of corners of which cells it is the sum of,
        64 cell + 8 i + j; pair_start : (blocks + 1,) int64, where those of each block begin
    """

    corners: np.ndarray
    points: Points
    law: np.ndarray
    constants: np.ndarray
    incidence: Incidence
    rows: Rows
    pairs: np.ndarray
    pair_start: np.ndarray


class Plastic(NamedTuple):
    """The past of the points: inverse : (p, 3, 3), of their plastic deformation; strain : (p,), equivalent plastic
    strain"""

    inverse: np.ndarray
    strain: np.ndarray


def solids_of(corners: np.ndarray, points: Points, law: np.ndarray, constants: np.ndarray, vertex_count: int) -> Solids:
    """corners : (c, 8) int32; law : (c,); constants : (c, 4)"""
    rows, slots = rows_of(corners, vertex_count)
    flat = slots.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    start = np.zeros(len(rows.columns) + 1, np.int64)
    np.cumsum(np.bincount(flat[order], minlength=len(rows.columns)), out=start[1:])
    return Solids(corners, points, law, constants, incidence_of(corners, vertex_count), rows, order, start)


def no_plastic(points: Points) -> Plastic:
    count = len(points.cell)
    return Plastic(np.tile(np.eye(3), (count, 1, 1)), np.zeros(count))


class SolidStep:
    """Memory for energies, forces and stiffness of solids, step after step."""

    def __init__(self, solids: Solids, pool: ThreadPool) -> None:
        cells, points = len(solids.corners), len(solids.points.cell)
        self.solids, self._pool, self.plastic = solids, pool, no_plastic(solids.points)
        self._energy, self._forces = np.empty(points), np.empty((cells, 8, 3))
        self._stiffness = np.empty((cells, 64, 9))

    def energy(self, x: np.ndarray) -> float:
        """J, at positions x, (n, 3): elastic energy, and what plastic flow from the start of the step dissipates."""
        solids, plastic, count = self.solids, self.plastic, len(self.solids.points.cell)
        self._pool.run_range(lambda a, b: _energies(x, solids, plastic, a, b, self._energy), count)
        return float(self._energy.sum())

    def add(self, x: np.ndarray, gradient: np.ndarray, blocks: np.ndarray | None = None) -> None:
        """Add the gradient of the energy at x, (n, 3); write its positive Hessian into blocks, (k, 12)."""
        solids, plastic, stiffness = self.solids, self.plastic, self._stiffness if blocks is not None else None
        out = self._forces, np.empty((0, 64, 9)) if stiffness is None else stiffness
        self._pool.run_range(lambda a, b: _cells(x, solids, plastic, a, b, *out), len(solids.corners))
        self._pool.run_range(lambda a, b: _sum_forces(solids.incidence, out[0], a, b, gradient), len(gradient), 1024)
        if blocks is not None:
            self._pool.run_range(lambda a, b: _sum_blocks(solids, out[1], a, b, blocks), len(blocks), 4096)

    def accept(self, x: np.ndarray) -> None:
        """The step has ended at x: plastic flow is part of the past."""
        solids, plastic, count = self.solids, self.plastic, len(self.solids.points.cell)
        self._pool.run_range(lambda a, b: _flow(x, solids, plastic, a, b), count)


@helper
def _elastic_gradient(solids, inverse, p, i):
    """Of the shape function of corner i at a point, from its plastic shape."""
    g, m = solids.points.gradient, inverse
    a, b, c = g[p, i, 0], g[p, i, 1], g[p, i, 2]
    return (
        m[p, 0, 0] * a + m[p, 1, 0] * b + m[p, 2, 0] * c,
        m[p, 0, 1] * a + m[p, 1, 1] * b + m[p, 2, 1] * c,
        m[p, 0, 2] * a + m[p, 1, 2] * b + m[p, 2, 2] * c,
    )


@helper
def _deformation(x, solids, inverse, p):
    """Rows of the elastic deformation gradient at a point."""
    cell = solids.points.cell[p]
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = 0.0
    for i in range(8):
        v = solids.corners[cell, i]
        if v < 0:
            break
        g = _elastic_gradient(solids, inverse, p, i)
        a0 += x[v, 0] * g[0]
        a1 += x[v, 0] * g[1]
        a2 += x[v, 0] * g[2]
        b0 += x[v, 1] * g[0]
        b1 += x[v, 1] * g[1]
        b2 += x[v, 1] * g[2]
        c0 += x[v, 2] * g[0]
        c1 += x[v, 2] * g[1]
        c2 += x[v, 2] * g[2]
    return (a0, a1, a2), (b0, b1, b2), (c0, c1, c2)


@kernel
def _energies(x, solids, plastic, first, last, out):
    for p in range(first, last):
        cell = solids.points.cell[p]
        s, _, _ = singular(_deformation(x, solids, plastic.inverse, p))
        energy, _, _, _ = energy_of(solids.law[cell], s, solids.constants[cell], plastic.strain[p])
        out[p] = solids.points.volume[p] * energy


@kernel
def _flow(x, solids, plastic, first, last):
    for p in range(first, last):
        cell, m = solids.points.cell[p], plastic.inverse
        s, _, v = singular(_deformation(x, solids, m, p))
        _, _, _, flow = energy_of(solids.law[cell], s, solids.constants[cell], plastic.strain[p])
        if flow == 0.0:
            continue
        k = kept_stretches(s, flow)
        plastic.strain[p] += np.sqrt(2.0 / 3.0) * flow
        for i in range(3):  # the inverse times V diag(k) V'
            row = (m[p, i, 0], m[p, i, 1], m[p, i, 2])
            a, b, c = k[0] * dot(row, v[0]), k[1] * dot(row, v[1]), k[2] * dot(row, v[2])
            for j in range(3):
                m[p, i, j] = a * v[0][j] + b * v[1][j] + c * v[2][j]


@kernel
def _cells(x, solids, plastic, first, last, forces, stiffness):
    """Gradients at the corners of cells, (c, 8, 3), and blocks of their pairs, (c, 64, 9), if there is room."""
    turned, local = np.empty((8, 3)), np.empty((64, 9))
    for cell in range(first, last):
        for i in range(8):
            forces[cell, i, 0] = forces[cell, i, 1] = forces[cell, i, 2] = 0.0
        if len(stiffness):
            for k in range(64):
                for c in range(9):
                    stiffness[cell, k, c] = 0.0
        for p in range(solids.points.start[cell], solids.points.start[cell + 1]):
            volume = solids.points.volume[p]
            s, u, v = singular(_deformation(x, solids, plastic.inverse, p))
            _, g, h, _ = energy_of(solids.law[cell], s, solids.constants[cell], plastic.strain[p])
            count = 0
            for i in range(8):
                if solids.corners[cell, i] < 0:
                    break
                count += 1
                way = _elastic_gradient(solids, plastic.inverse, p, i)
                a, b, c = dot(way, v[0]), dot(way, v[1]), dot(way, v[2])
                turned[i, 0], turned[i, 1], turned[i, 2] = a, b, c
                a, b, c = volume * g[0] * a, volume * g[1] * b, volume * g[2] * c
                for k in range(3):
                    forces[cell, i, k] += a * u[0][k] + b * u[1][k] + c * u[2][k]
            if len(stiffness):
                _pairs(count, volume, s, g, h, turned, local)
                _turn_back(count, u, local, stiffness[cell])


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


@kernel
def _sum_forces(incidence, forces, first, last, gradient):
    """Each vertex sums over its cells in ascending order: the same, whoever sums."""
    for v in range(first, last):
        for at in range(incidence.start[v], incidence.start[v + 1]):
            cell, corner = incidence.element[at], incidence.corner[at]
            for k in range(3):
                gradient[v, k] += forces[cell, corner, k]


@kernel
def _sum_blocks(solids, stiffness, first, last, blocks):
    for block in range(first, last):
        for c in range(BLOCK):
            blocks[block, c] = 0.0
        for at in range(solids.pair_start[block], solids.pair_start[block + 1]):
            cell, pair = solids.pairs[at] // 64, solids.pairs[at] % 64
            for k in range(3):
                for m in range(3):
                    blocks[block, 4 * m + k] += stiffness[cell, pair, 3 * k + m]
