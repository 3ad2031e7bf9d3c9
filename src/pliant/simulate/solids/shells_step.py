"""Energies, forces and stiffness of shells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.threads import ThreadPool
from pliant.simulate.rows import Rows
from pliant.simulate.solids.shells import STENCIL, Shells
from pliant.simulate.solids.shells_kernels import (
    elements_kernel,
    energies_kernel,
    flow_kernel,
    strains_kernel,
    stresses_kernel,
    turns_kernel,
)
from pliant.simulate.solids.shells_laws import LAYERS, WEIGHTS
from pliant.simulate.solids.sums import assembly_of, sum_blocks, sum_forces

_PAIRS, _LEAST = STENCIL * STENCIL, 256  # elements that a thread takes at least


class ShellPlastic(NamedTuple):
    """The past of the points, layer by layer from one surface to the other, and of the sides.

    strain : (p, 5, 3), plastic strain (along warp, along weft, twice both); equivalent : (p, 5), equivalent one
    turn : (e, 3) change of the angle at each side since rest, which may be more than all around
    """

    strain: np.ndarray
    equivalent: np.ndarray
    turn: np.ndarray


def no_shell_plastic(shells: Shells) -> ShellPlastic:
    count = len(shells.area)
    return ShellPlastic(np.zeros((count, LAYERS, 3)), np.zeros((count, LAYERS)), np.zeros(shells.hinged.shape))


class ShellStep:
    """Memory for energies, forces and stiffness of shells, step after step.

    Forces are those of the energy. Of its Hessian, made positive, two parts are left out that are as small as strains
    and angles between neighbours are: second derivatives of the logarithm of stretch, and of angles.

    rows : of a body that has more than these shells; its blocks are added to where this is not its first term
    memory : ShellPlastic, arrays that nobody writes to
    dissipated : J, by plastic flow, of the positions of the last ``energies``
    """

    def __init__(self, shells: Shells, pool: ThreadPool, rows: Rows | None = None, is_first: bool = True) -> None:
        count, vertex_count = len(shells.stencil), len(shells.incidence.start) - 1
        self.shells, self._pool, self._is_first = shells, pool, is_first
        self.memory: tuple[np.ndarray, ...] = no_shell_plastic(shells)
        self._assembly = assembly_of(shells.stencil, vertex_count, rows)
        self._energy, self._forces = np.empty((count, 3)), np.zeros((count, STENCIL, 3))
        self._before, self._x, self._rate = np.zeros((len(shells.area), 6)), np.zeros((vertex_count, 3)), 0.0
        self.dissipated, self._flows = 0.0, bool(np.isfinite(shells.constants[:, 2]).any())

    @property
    def rows(self) -> Rows:
        """Which vertices stand in the equations of which: those of the blocks."""
        return self._assembly.rows

    @property
    def stencil(self) -> np.ndarray:
        """(e, 6) int32, vertices of each element, -1 where there are fewer."""
        return self.shells.stencil

    @property
    def damping(self) -> float:
        """s, the largest of the materials'."""
        return float(self.shells.constants[:, 5].max(initial=0.0))

    @property
    def plastic(self) -> ShellPlastic:
        return ShellPlastic(*self.memory)

    def begin(self, x: np.ndarray) -> None:
        """Positions, (n, 3), that a step starts from: what damping compares with."""
        if self.damping == 0.0:
            return
        shells, turn, before = self.shells, self.plastic.turn, self._before
        self._pool.run_range(lambda a, b: strains_kernel(x, shells, turn, a, b, before), len(shells.stencil), _LEAST)

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy and what plastic flow dissipates in the step, what a step of so many seconds adds for
        damping), J, at x, (n, 3)."""
        self._x[:], self._rate = x, 1.0 / step
        shells, past, out = self.shells, (*self.plastic, self._before, self._rate), self._energy
        self._pool.run_range(lambda a, b: energies_kernel(x, shells, past, a, b, out), len(out), _LEAST)
        elastic, self.dissipated, viscous = out.sum(axis=0).tolist()
        return elastic + self.dissipated, viscous

    def add(self, gradient: np.ndarray, blocks: np.ndarray) -> None:
        """Add the gradient at the positions of ``energies``, (n, 3), and the positive Hessian into blocks, (k, 12), if
        they have rows."""
        stiffness = self._elements(self._x, (0, len(self.shells.stencil)), len(blocks) > 0)
        self._add_forces(gradient)
        if not len(blocks):
            return
        flat, (_, pairs, start), is_first = stiffness.reshape(-1, 9), self._assembly, self._is_first
        self._pool.run_range(lambda a, b: sum_blocks(pairs, start, flat, (a, b), is_first, blocks), len(blocks), 4096)

    def add_gradient(self, x: np.ndarray, step: float, gradient: np.ndarray) -> None:
        """Add the gradient at x alone, in a step of so many seconds."""
        self._rate = 1.0 / step
        self._elements(x, (0, len(self.shells.stencil)), False)
        self._add_forces(gradient)

    def stiffness(self, x: np.ndarray, first: int, last: int, per_second: float = 0.0) -> np.ndarray:
        """(last - first, 36, 9), row by row: positive Hessians of these elements, of pairs of their vertices, with so
        many times what damping resists to velocities with."""
        self._rate = per_second
        return self._elements(x, (first, last), True)

    def accept(self, x: np.ndarray) -> None:
        """The step has ended at x: plastic flow is part of the past."""
        shells, plastic = self.shells, self.plastic
        turn, count = np.empty_like(plastic.turn), len(plastic.turn)
        self._pool.run_range(lambda a, b: turns_kernel(x, shells, plastic.turn, a, b, turn), count, _LEAST)
        if self._flows:
            plastic = ShellPlastic(plastic.strain.copy(), plastic.equivalent.copy(), plastic.turn)
            self._pool.run_range(lambda a, b: flow_kernel(x, shells, plastic, a, b), count, _LEAST)
        self.memory = ShellPlastic(plastic.strain, plastic.equivalent, turn)

    def flowed(self) -> float:
        """J, dissipated by plastic flow since the start."""
        shells, strain = self.shells, self.plastic.equivalent
        element = np.repeat(np.arange(len(shells.stencil)), np.diff(shells.start))
        at = np.flatnonzero(strain.any(axis=1))
        constants, strain = shells.constants[element[at]], strain[at]
        work = (constants[:, 2:3] * strain + 0.5 * constants[:, 3:4] * strain**2) @ np.array(WEIGHTS)
        return float(np.vdot(shells.area[at] * constants[:, 4], work))

    def stretch(self, x: np.ndarray) -> np.ndarray:
        """(p,) largest principal stretch of the middle at each point, 1 at rest, at x, (n, 3)."""
        shells = self.shells
        element = np.repeat(np.arange(len(shells.stencil)), np.diff(shells.start))
        along = np.einsum("pik,pix->pkx", shells.gradient, x[shells.stencil[element]])  # no weight where no vertex is
        a, b, both = (np.einsum("px,px->p", along[:, i], along[:, j]) for i, j in ((0, 0), (1, 1), (0, 1)))
        upper = 0.5 * (a + b) + np.sqrt(0.25 * (a - b) ** 2 + both**2)
        hinge = (shells.gradient == 0.0).all(axis=(1, 2))
        return np.where(hinge, 1.0, np.sqrt(upper))

    def stresses(self, x: np.ndarray) -> np.ndarray:
        """(e, 5) largest stress of von Mises of each layer of elements, N/m2, at the end of a step."""
        out = np.zeros((len(self.shells.stencil), LAYERS))
        stresses_kernel(x, self.shells, self.plastic, out)
        return out

    def _elements(self, x: np.ndarray, span: tuple[int, int], is_stiff: bool) -> np.ndarray:
        shells, past, forces = self.shells, (*self.plastic, self._before, self._rate), self._forces
        first, count = span[0], span[1] - span[0]
        out = np.empty((count if is_stiff else 0, _PAIRS, 9))
        self._pool.run_range(
            lambda a, b: elements_kernel(x, shells, past, (first + a, first + b, first), forces, out), count, _LEAST
        )
        return out

    def _add_forces(self, gradient: np.ndarray) -> None:
        incidence, forces = self.shells.incidence, self._forces
        self._pool.run_range(lambda a, b: sum_forces(incidence, forces, a, b, gradient), len(gradient), 1024)
