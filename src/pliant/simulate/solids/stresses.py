"""Solid cells that store and dissipate energy: what is fixed of them, their past, and a term of a simulated body.

Plastic deformation is the rest shape of a point: F is taken from there, and so are the gradients of the shape
functions. Damping is viscosity as of a membrane: it resists to the change of Green's strain in a step, with the
stiffness of small strains times the time that the material says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import dot
from pliant.runtime.jit import kernel
from pliant.runtime.threads import ThreadPool
from pliant.simulate.rows import Incidence, Rows, incidence_of
from pliant.simulate.solids.laws import energy_of, kept_stretches
from pliant.simulate.solids.matrices import singular
from pliant.simulate.solids.points import deformation, strain_in, total_deformation
from pliant.simulate.solids.quadrature import Points
from pliant.simulate.solids.stiffness import cells_kernel
from pliant.simulate.solids.sums import assembly_of, sum_blocks, sum_forces
from pliant.simulate.terms import Memory


class Solids(NamedTuple):
    """What is fixed of all cells.

    corners : (c, 8) int32, -1 beyond those that a cell has
    points : where they are integrated
    law : (c,) int32, which one each cell obeys
    constants : (c, 4) float64, as in ``laws.energy_of``
    damping : (c,) float64, s
    incidence : cells at each vertex
    rows : which vertices stand in the equations of which
    pairs : (k,) int64, for each block of the rows in turn, which pairs of corners of which cells it is the sum of,
        64 cell + 8 i + j; pair_start : (blocks + 1,) int64, where those of each block begin: those of an ``Assembly``
    """

    corners: np.ndarray
    points: Points
    law: np.ndarray
    constants: np.ndarray
    damping: np.ndarray
    incidence: Incidence
    rows: Rows
    pairs: np.ndarray
    pair_start: np.ndarray


class Plastic(NamedTuple):
    """The past of the points: inverse : (p, 3, 3), of their plastic deformation; strain : (p,), equivalent plastic
    strain"""

    inverse: np.ndarray
    strain: np.ndarray


def solids_of(
    corners: np.ndarray, points: Points, law: np.ndarray, constants: np.ndarray, vertex_count: int,
    damping: np.ndarray | None = None, rows: Rows | None = None,
) -> Solids:  # fmt: skip
    """corners : (c, 8) int32; law : (c,); constants : (c, 4); damping : (c,), none by default; rows : of a body that
    has more than these cells, as its first term"""
    assembly = assembly_of(corners, vertex_count, rows)
    damping = np.zeros(len(corners)) if damping is None else damping
    return Solids(corners, points, law, constants, damping, incidence_of(corners, vertex_count), *assembly)


def no_plastic(points: Points) -> Plastic:
    count = len(points.cell)
    return Plastic(np.tile(np.eye(3), (count, 1, 1)), np.zeros(count))


class SolidStep:
    """Memory for energies, forces and stiffness of solids, step after step: a ``Lasting`` term.

    dissipated : J, by plastic flow, of the positions of the last ``energies``
    """

    def __init__(self, solids: Solids, pool: ThreadPool) -> None:
        cells, points = len(solids.corners), len(solids.points.cell)
        self.solids, self._pool, self.plastic = solids, pool, no_plastic(solids.points)
        self._parts, self._forces = np.empty((points, 3)), np.empty((cells, 8, 3))
        self._stiffness = np.empty((cells, 64, 9))
        # Squares of lengths, F'F, at the start of the step; no rows where nothing is damped.
        self._before = np.zeros((points if solids.damping.any() else 0, 6))
        self._x, self._per_step, self.dissipated = np.empty((0, 3)), 0.0, 0.0
        self._flows = bool(np.isfinite(solids.constants[:, 2]).any())

    @property
    def stencil(self) -> np.ndarray:
        """(c, 8) int32, corners of each cell, -1 where there are fewer."""
        return self.solids.corners

    @property
    def damping(self) -> float:
        """s, the largest of the materials'."""
        return float(self.solids.damping.max(initial=0.0))

    @property
    def memory(self) -> Memory:
        return self.plastic

    @memory.setter
    def memory(self, memory: Memory) -> None:
        self.plastic = Plastic(*memory)

    def begin(self, x: np.ndarray) -> None:
        """Positions, (n, 3), that the step starts from: what viscosity compares with."""
        if len(self._before):
            solids, inverse = self.solids, self.plastic.inverse
            self._pool.run_range(lambda a, b: _squares(x, solids, inverse, a, b, self._before), len(self._before))

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy, and what plastic flow from the start of the step dissipates; what a step of so many seconds
        adds for viscosity), J, at positions x, (n, 3)."""
        self._x, self._per_step = x, 1.0 / step
        solids, plastic, rates = self.solids, self.plastic, (self._before, self._per_step)
        self._pool.run_range(lambda a, b: _energies(x, solids, plastic, rates, a, b, self._parts), len(self._parts))
        elastic, self.dissipated, viscous = self._parts.sum(axis=0).tolist()
        return elastic + self.dissipated, viscous

    def add(self, gradient: np.ndarray, blocks: np.ndarray) -> None:
        """Add the gradient, (n, 3), at the positions of ``energies``; write the positive Hessian into blocks, (k, 12),
        if it has rows."""
        solids = self.solids
        self._run(self._x, (0, len(self._forces)), len(blocks) > 0)
        self._add_forces(gradient)
        if len(blocks):
            pairs, start, flat = solids.pairs, solids.pair_start, self._stiffness.reshape(-1, 9)
            self._pool.run_range(lambda a, b: sum_blocks(pairs, start, flat, (a, b), True, blocks), len(blocks), 4096)

    def add_gradient(self, x: np.ndarray, step: float, gradient: np.ndarray) -> None:
        """Add the gradient at x alone, in a step of so many seconds."""
        self._per_step = 1.0 / step
        self._run(x, (0, len(self._forces)), False)
        self._add_forces(gradient)

    def stiffness(self, x: np.ndarray, first: int, last: int, per_second: float = 0.0) -> np.ndarray:
        """(last - first, 64, 9), row by row: positive Hessians of these cells, of pairs of their corners, with so many
        times what damping resists to velocities with."""
        self._per_step = per_second
        self._run(x, (first, last), True)
        return self._stiffness[first:last]

    def _run(self, x: np.ndarray, span: tuple[int, int], is_stiff: bool) -> None:
        solids, plastic, rates = self.solids, self.plastic, (self._before, self._per_step)
        out, first = (self._forces, self._stiffness if is_stiff else np.empty((0, 64, 9))), span[0]
        self._pool.run_range(
            lambda a, b: cells_kernel(x, solids, plastic, rates, (first + a, first + b), out), span[1] - first
        )

    def _add_forces(self, gradient: np.ndarray) -> None:
        incidence, forces = self.solids.incidence, self._forces
        self._pool.run_range(lambda a, b: sum_forces(incidence, forces, a, b, gradient), len(gradient), 1024)

    def flowed(self) -> float:
        """J, dissipated by plastic flow since the start."""
        solids, strain = self.solids, self.plastic.strain
        at = np.flatnonzero(strain > 0.0)
        constants = solids.constants[solids.points.cell[at]]
        work = constants[:, 2] * strain[at] + 0.5 * constants[:, 3] * strain[at] ** 2
        return float(np.vdot(solids.points.volume[at], work))

    def accept(self, x: np.ndarray) -> None:
        """The step has ended at x: plastic flow is part of the past."""
        if not self._flows:
            return
        solids, count = self.solids, len(self.solids.points.cell)
        plastic = self.plastic = Plastic(self.plastic.inverse.copy(), self.plastic.strain.copy())
        self._pool.run_range(lambda a, b: _flow(x, solids, plastic, a, b), count)

    def stretch(self, x: np.ndarray) -> np.ndarray:
        """(p,) largest principal stretch at each point, 1 at rest, at x, (n, 3)."""
        out = np.empty(len(self.solids.points.cell))
        self._pool.run_range(lambda a, b: _stretches(x, self.solids, a, b, out), len(out))
        return out


@kernel
def _squares(x, solids, inverse, first, last, out):
    for p in range(first, last):
        a, b, c = deformation(x, solids, inverse, p)
        out[p, 0] = a[0] * a[0] + b[0] * b[0] + c[0] * c[0]
        out[p, 1] = a[1] * a[1] + b[1] * b[1] + c[1] * c[1]
        out[p, 2] = a[2] * a[2] + b[2] * b[2] + c[2] * c[2]
        out[p, 3] = a[0] * a[1] + b[0] * b[1] + c[0] * c[1]
        out[p, 4] = a[0] * a[2] + b[0] * b[2] + c[0] * c[2]
        out[p, 5] = a[1] * a[2] + b[1] * b[2] + c[1] * c[2]


@kernel
def _energies(x, solids, plastic, rates, first, last, out):
    """Elastic, dissipated by plastic flow, and of viscosity."""
    before, per_step = rates
    for p in range(first, last):
        cell, volume = solids.points.cell[p], solids.points.volume[p]
        constants, strain = solids.constants[cell], plastic.strain[p]
        s, _, v = singular(deformation(x, solids, plastic.inverse, p))
        energy, _, _, flow = energy_of(solids.law[cell], s, constants, strain)
        lost = 0.0
        if flow > 0.0:
            more = np.sqrt(2.0 / 3.0) * flow
            lost = constants[2] * more + 0.5 * constants[3] * more * (2.0 * strain + more)
        out[p, 0], out[p, 1], out[p, 2] = volume * (energy - lost), volume * lost, 0.0
        if len(before) and solids.damping[cell] > 0.0:
            d = strain_in(s, v, before[p])
            trace = d[0] + d[1] + d[2]
            square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            square += 2.0 * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5])
            rate = solids.damping[cell] * per_step
            out[p, 2] = 0.5 * volume * rate * (constants[0] * trace * trace + 2.0 * constants[1] * square)


@kernel
def _stretches(x, solids, first, last, out):
    for p in range(first, last):
        s, _, _ = singular(total_deformation(x, solids, p))
        out[p] = s[0]


@kernel
def _flow(x, solids, plastic, first, last):
    for p in range(first, last):
        cell, m = solids.points.cell[p], plastic.inverse
        s, _, v = singular(deformation(x, solids, m, p))
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
