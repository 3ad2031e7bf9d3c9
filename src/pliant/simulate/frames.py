"""What a simulation gives: frames, with what happened in their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.runtime.arrays import freeze


class Energies(NamedTuple):
    """Joule: of motion, of stretch and shear (of solids all elastic energy), of bending, and of height (0 at the
    origin)."""

    kinetic: float
    stretch: float
    bending: float
    gravity: float

    @property
    def total(self) -> float:
        return sum(self)


class Balance(NamedTuple):
    """Joule, since the start: what has left motion, elasticity and height, and what has been put into them.

    plastic : dissipated by plastic flow
    viscous : dissipated by damping
    contact : taken by contacts and friction: what they push against the motion
    driven : put in by pins that move, and by pressure
    numerical : lost by the time steps being finite
    """

    plastic: float
    viscous: float
    contact: float
    driven: float
    numerical: float

    @property
    def lost(self) -> float:
        """What is missing in the energies, all in all."""
        return self.plastic + self.viscous + self.contact + self.numerical - self.driven


class StepTimes(NamedTuple):
    """Seconds of the clock that the last step took: to find what is near, to solve, to make the end free of contact."""

    near: float
    solve: float
    resolve: float


@dataclass(frozen=True)
class StepStats:
    """What happened in the last time step of a frame, or, of explicit ones, in all of them: contacts and rounds are
    added up then, displacement and depth are the largest.

    seconds : length of the last one
    newton, linear : iterations
    near : pairs of features within 1.5 thicknesses at its start
    contacts, rounds : pairs that pushed in the resolver, and rounds that it took
    displacement : how far it moved a vertex from what the solver proposed, at most
    lag : how far a driven vertex is from where its path is, because it had to wait
    energies : Energies at the end
    stretch : the largest principal stretch of an element, 1 at rest
    balance : of solids, where energy has gone since the start; None of cloth
    inverted : solid cells that are inverted at its end: 0 for certain where contact inside is resolved too
    steps : how many time steps it is about
    active, intersections : where contact is answered with impact forces, at its end: pairs that are past each other and
        pushed apart, and pairs of boundary faces that intersect; 0 where it is resolved
    deepest : the largest depth of such a pair in a step, before it was pushed
    """

    seconds: float
    newton: int
    linear: int
    near: int
    contacts: int
    rounds: int
    displacement: float
    lag: float
    energies: Energies
    stretch: float
    balance: Balance | None = None
    inverted: int = 0
    steps: int = 1
    active: int = 0
    deepest: float = 0.0
    intersections: int = 0


@dataclass(frozen=True, repr=False, eq=False)
class Frame:
    """Where everything is at a time.

    positions, velocities : (n, 3) float64, of the cloth
    time : s
    scene : (N, 3) float64, positions of the cloth and, after it, of all obstacles: those of ``Cloth.mesh``
    stats : of the last step; None before the first
    times : what it took, which differs from run to run; None before the first
    """

    positions: np.ndarray
    velocities: np.ndarray
    time: float
    scene: np.ndarray
    stats: StepStats | None = None
    times: StepTimes | None = None

    __post_init__ = freeze

    def __repr__(self) -> str:
        return f"Frame({len(self.positions)} vertices, t = {self.time:.4g} s)"


def kinetic_energy(mass: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(np.einsum("i,ij,ij->", mass, v, v, optimize=False))
