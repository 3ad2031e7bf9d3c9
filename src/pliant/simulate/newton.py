"""One implicit step: the positions that minimise inertia, elastic energy, contacts and drag together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import bare_kernel
from pliant.runtime.simd import BLOCK
from pliant.runtime.threads import ThreadPool
from pliant.simulate.air import Air
from pliant.simulate.coarse import prepare_levels
from pliant.simulate.levels import levels_of
from pliant.simulate.linear import System, no_bending
from pliant.simulate.links import Links, meet_contacts, pull_links, pulling
from pliant.simulate.multilevel import room_for, solve_multilevel
from pliant.simulate.terms import Body

_HALVINGS = 6  # of a Newton step that would gain energy
_ROUNDING = 1e-10  # relative, of sums of energies
# Loads of friction begin with what contacts push where nothing is elastic, and are taken once more from where Newton's
# method has come to, when it is done or has half of its steps. Where they change with every step, the energy never
# comes to its minimum: of 12 steps of cloth on a ball, the last gained as much as the seventh. Of a step that was
# halved they are not taken: where it ends, contacts push too much or too little.
MEETING = 6  # sweeps over contacts
PATIENCE = 3  # times as many Newton steps, while they still move a vertex far
# Of the energy of the terms (stretch, not bending), how much counts where starts are compared: a few iterations of the
# linear solver take it away, where motion that is missing takes many. Cloth folding on a ball, 10,000 triangles: with
# all of it, steps began at rest and took 54 iterations; with this, at their velocities, 23, to a lower minimum.
STRETCH_COUNTS = 0.2


class Step(NamedTuple):
    """What a step is about.

    seconds : its length
    x0 : (N, 3) positions at its start, obstacles after the n vertices of the body
    aim : (n, 3) where inertia and gravity alone would take the body
    links : of all N vertices
    slip : m, displacement up to which friction sticks
    free : (n,) bool, which vertices are not driven
    """

    seconds: float
    x0: np.ndarray
    aim: np.ndarray
    links: Links
    slip: float
    free: np.ndarray


class Outcome(NamedTuple):
    """newton, linear : iterations; moved : m, of the last Newton step, its largest; is_solved: below the tolerance

    links : those of the step, with the loads that friction has come to
    """

    newton: int
    linear: int
    moved: float
    is_solved: bool
    links: Links


@dataclass(frozen=True)
class Tolerances:
    """newton : at most so many Newton steps, or PATIENCE times as many while they move a vertex further than far, m

    gain : J, twice the energy that the last one gains at most
    linear : relative, of the linear solver; most : iterations of it
    """

    newton: int
    far: float
    gain: float
    linear: float
    most: int


class Minimiser:
    """Newton's method with memory that is kept from step to step."""

    def __init__(self, body: Body, pool: ThreadPool) -> None:
        n = len(body.mass)
        self.body, self._pool = body, pool
        self._blocks, self._room = np.empty((len(body.rows.columns), BLOCK)), room_for(n)
        self._change, self._free, self._levels = np.zeros((n, 3)), np.zeros(n, bool), ()
        self._no_bending = no_bending(n)
        self._of_links = self._of_terms = 0.0  # energies, parts of the last one
        self._likely = 2  # of the starts, which is probably best

    def solve(self, step: Step, air: Air, tolerances: Tolerances, x: np.ndarray) -> Outcome:
        """Move the free vertices among x, (N, 3), to the minimum; what is driven is where it ends."""
        n = len(self.body.mass)
        for part in self.body.parts:
            part.begin(step.x0[:n])
        pulls, linear, count, moved = np.zeros_like(x), 0, 0, np.inf
        before, loads_are_due = self._start(step, air, x, pulls), bool(step.links.friction.any())
        for iteration in range(PATIENCE * tolerances.newton):
            if iteration >= tolerances.newton and moved <= tolerances.far:
                break
            gradient = self._gradient(step, air, x, pulls)
            linear += self._newton_step(step, gradient, tolerances)
            moved = float(np.sqrt(np.einsum("ij,ij->i", self._change, self._change).max(initial=0.0)))
            x[:n] += self._change
            # A Newton step gains half of this, as far as energy is a quadratic function.
            is_solved = -np.einsum("ij,ij->", self._change, gradient) <= tolerances.gain
            if is_solved and not loads_are_due:
                return Outcome(iteration + 1, linear, moved, True, step.links)
            before, is_whole = self._back_off(step, air, x, pulls, before)
            if loads_are_due and is_whole and (is_solved or 2 * (iteration + 1) >= tolerances.newton):
                before, loads_are_due = self._with_new_loads(step, x, pulls, before), False
            count = iteration + 1
        return Outcome(count, linear, moved, False, step.links)

    def _start(self, step: Step, air: Air, x: np.ndarray, pulls: np.ndarray) -> float:
        """Begin where the step does, where velocities take the cloth (x as it is given), or gravity too, both as far as
        contacts alone would let them: wherever there is least energy, stretch not counted in full. Returns the energy.

        What falls or slides is nearly there; what hangs is where velocities alone take it; what turns would be far too
        much stretched. Without the contacts, what strikes a table at an angle began at rest, and four Newton steps left
        it a third of its speed along the table.
        """
        n, links, mass = len(step.free), step.links, self.body.mass
        inverse_mass = np.divide(1.0, mass, out=np.zeros(n), where=step.free & (mass > 0.0))
        drag, starts = np.empty((len(links.kind), 3)), [step.x0[:n].copy()]
        for goal in (x[:n].copy(), step.aim):  # loads are those of the second
            x[:n][step.free] = goal[step.free]
            meet_contacts(links, x, step.x0, inverse_mass, step.seconds, MEETING, drag)
            starts.append(x[:n].copy())
        energies, stretch = np.empty((2, len(starts)))
        order = [k for k in range(len(starts)) if k != self._likely]
        for k in (*order, self._likely):  # what was least in the step before comes last: what is there is kept then
            x[:n][step.free] = starts[k][step.free]
            energies[k] = self._energy(step, air, x, pulls)
            stretch[k] = self._of_terms
        least = int(np.argmin(energies - (1.0 - STRETCH_COUNTS) * stretch))
        if least != self._likely:
            self._likely = least
            x[:n][step.free] = starts[least][step.free]
            self._energy(step, air, x, pulls)
        return float(energies[least])

    def _gradient(self, step: Step, air: Air, x: np.ndarray, pulls: np.ndarray) -> np.ndarray:
        """(n, 3), at the positions of the last energy; writes the Hessian into blocks."""
        gradient = pulls[: len(self.body.mass)].copy()
        for term in self.body.terms:
            term.add(gradient, self._blocks)
        if self.body.bending is not None:
            self.body.bending.add(gradient)
        state = (x, step.x0, step.aim, self.body.mass, air.matrix, air.wind)
        _add_diagonal(state, step.seconds, self.body.rows.diagonal, gradient, self._blocks)
        gradient[~step.free] = 0.0
        return gradient

    def _newton_step(self, step: Step, gradient: np.ndarray, tolerances: Tolerances) -> int:
        rows, bending = self.body.rows, self.body.bending
        bend_rows, values, parts = self._no_bending
        if bending is not None:
            bend_rows, values, parts = bending.bending.rows, bending.hessian(step.seconds), bending.parts
        system = System(
            rows, self._blocks, bend_rows, values, 1.0 / step.seconds, pulling(step.links), step.free,
        )  # fmt: skip
        if not self._levels or not np.array_equal(self._free, step.free):
            self._free = step.free.copy()
            self._levels = levels_of(rows, bend_rows, parts, self._free)
        # For every Newton step: residuals are measured with these matrices, and links change. Where they were kept
        # for two steps, the solver ended before contacts held, and scraps that met gained a quarter of their energy.
        prepare_levels(system, self._levels, self._pool)
        limits = (tolerances.linear, 0.0, tolerances.most)
        return solve_multilevel(system, self._levels, gradient, limits, self._room, self._change, self._pool)

    def _back_off(self, step: Step, air: Air, x: np.ndarray, pulls: np.ndarray, before: float) -> tuple[float, bool]:
        """Halve the Newton step until it gains no energy; the energy, and whether it was not halved."""
        n = len(self._change)
        for halving in range(_HALVINGS):
            now = self._energy(step, air, x, pulls)
            if now <= before + _ROUNDING * (abs(before) + abs(now)):
                return now, halving == 0
            self._change *= 0.5
            x[:n] -= self._change
        return self._energy(step, air, x, pulls), False

    def _energy(self, step: Step, air: Air, x: np.ndarray, pulls: np.ndarray) -> float:
        """Everything that is minimised, at x; pulls gets the gradient of the links."""
        n, seconds = len(self.body.mass), step.seconds
        own = np.ascontiguousarray(x[:n])
        self._of_terms = sum(sum(term.energies(own, seconds)) for term in self.body.terms)
        bending = self.body.bending
        total = self._of_terms + (0.0 if bending is None else sum(bending.energies(own, seconds)))
        pulls[:] = 0.0
        self._of_links = pull_links(step.links, x, step.x0, step.slip, True, pulls)
        total += _outer_energy((x, step.x0, step.aim, self.body.mass, air.matrix, air.wind), seconds)
        return total + self._of_links

    def _with_new_loads(self, step: Step, x: np.ndarray, pulls: np.ndarray, before: float) -> float:
        """The energy at the positions of the last one, ``before``, with the loads of friction that there are."""
        pulls[:] = 0.0
        return before - self._of_links + pull_links(step.links, x, step.x0, step.slip, False, pulls)


@bare_kernel
def _outer_energy(state, seconds):
    """Of inertia, and of drag."""
    x, x0, aim, mass, drag, wind = state
    total, per = 0.0, 1.0 / seconds
    for v in range(len(mass)):
        a, b, c = x[v, 0] - aim[v, 0], x[v, 1] - aim[v, 1], x[v, 2] - aim[v, 2]
        total += 0.5 * mass[v] * per * per * (a * a + b * b + c * c)
        a = wind[v, 0] - per * (x[v, 0] - x0[v, 0])
        b = wind[v, 1] - per * (x[v, 1] - x0[v, 1])
        c = wind[v, 2] - per * (x[v, 2] - x0[v, 2])
        d0 = drag[v, 0] * a + drag[v, 1] * b + drag[v, 2] * c
        d1 = drag[v, 1] * a + drag[v, 3] * b + drag[v, 4] * c
        d2 = drag[v, 2] * a + drag[v, 4] * b + drag[v, 5] * c
        total += 0.5 * seconds * (a * d0 + b * d1 + c * d2)
    return total


@bare_kernel
def _add_diagonal(state, seconds, diagonal, gradient, blocks):
    """Inertia and drag: gradient and Hessian."""
    x, x0, aim, mass, drag, wind = state
    per = 1.0 / seconds
    for v in range(len(mass)):
        m, k = mass[v] * per * per, diagonal[v]
        a = wind[v, 0] - per * (x[v, 0] - x0[v, 0])
        b = wind[v, 1] - per * (x[v, 1] - x0[v, 1])
        c = wind[v, 2] - per * (x[v, 2] - x0[v, 2])
        gradient[v, 0] += m * (x[v, 0] - aim[v, 0]) - (drag[v, 0] * a + drag[v, 1] * b + drag[v, 2] * c)
        gradient[v, 1] += m * (x[v, 1] - aim[v, 1]) - (drag[v, 1] * a + drag[v, 3] * b + drag[v, 4] * c)
        gradient[v, 2] += m * (x[v, 2] - aim[v, 2]) - (drag[v, 2] * a + drag[v, 4] * b + drag[v, 5] * c)
        blocks[k, 0] += m + per * drag[v, 0]
        blocks[k, 4] += per * drag[v, 1]
        blocks[k, 8] += per * drag[v, 2]
        blocks[k, 1] += per * drag[v, 1]
        blocks[k, 5] += m + per * drag[v, 3]
        blocks[k, 9] += per * drag[v, 4]
        blocks[k, 2] += per * drag[v, 2]
        blocks[k, 6] += per * drag[v, 4]
        blocks[k, 10] += m + per * drag[v, 5]
