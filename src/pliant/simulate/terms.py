"""What is elastic in a body that is simulated: energies of the positions, one term beside the other."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pliant.simulate.bending_step import BendingStep
from pliant.simulate.rows import Rows

Memory = tuple[np.ndarray, ...]  # arrays that nobody writes to: a state of the simulation has them too


class Term(Protocol):
    """An energy whose Hessian is blocks of 3 by 3 numbers, between the vertices that the rows of its body join."""

    def begin(self, x: np.ndarray) -> None:
        """Positions, (n, 3), that a step starts from: what viscosity compares with."""
        ...

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy, and what plastic flow dissipates in the step; what a step of so many seconds adds for
        viscosity), at x, (n, 3)."""
        ...

    def add(self, gradient: np.ndarray, blocks: np.ndarray) -> None:
        """Add the gradient, (n, 3), at the positions of ``energies``, which are as they were; and the Hessian, made
        positive, into blocks, (k, 12). The first term of a body writes all blocks, the others add to them; where blocks
        has no rows, the gradient alone is wanted."""
        ...


class Lasting(Term, Protocol):
    """A term with a past, plastic deformation say.

    memory : what the next step starts from
    dissipated : J, by plastic flow, of the positions of the last ``energies``
    """

    dissipated: float

    @property
    def memory(self) -> Memory: ...

    @memory.setter
    def memory(self, memory: Memory) -> None: ...

    def accept(self, x: np.ndarray) -> None:
        """The step that began last has ended at x: memory becomes other arrays."""
        ...


class Load(Term, Protocol):
    """A term that depends on the time."""

    def at(self, time: float) -> None:
        """The next step ends at this time, s."""
        ...


class Body(NamedTuple):
    """What is simulated, of n vertices.

    mass : (n,) kg, 0 of vertices that take no part
    rows : which vertices the terms join
    terms : at least one
    bending : a term by itself, whose Hessian is one number for each pair of vertices; None where there is none
    lasting : those of the terms that have a past
    loads : those of the terms that depend on the time
    """

    mass: np.ndarray
    rows: Rows
    terms: tuple[Term, ...]
    bending: BendingStep | None = None
    lasting: tuple[Lasting, ...] = ()
    loads: tuple[Load, ...] = ()

    @property
    def parts(self) -> tuple[Term | BendingStep, ...]:
        return self.terms if self.bending is None else (*self.terms, self.bending)

    def elastic(self, x: np.ndarray) -> float:
        """J, without viscosity, at x, (n, 3)."""
        own = np.array(x)  # not a read-only view, for which kernels are compiled once more
        return sum(part.energies(own, 1.0)[0] for part in self.parts)
