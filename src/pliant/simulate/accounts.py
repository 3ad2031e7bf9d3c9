"""What is said of the end of a step: energies, and how far everything is stretched."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pliant.results.resolved import Resolved
from pliant.simulate.bending_step import BendingStep
from pliant.simulate.frames import Balance, Energies, gravity_energy, kinetic_energy
from pliant.simulate.links import Links
from pliant.simulate.membrane import MembraneStep


class Ended(NamedTuple):
    """A step of n vertices, before terms with a past accept it.

    x0, v0 : (N, 3), (n, 3) at its start; v : (n, 3) at its end
    resolved : positions at its end, and how far they are from what was proposed
    links : that it was solved with
    spent : (k,) what the account kept of the steps before
    """

    seconds: float
    x0: np.ndarray
    v0: np.ndarray
    resolved: Resolved
    v: np.ndarray
    links: Links
    spent: np.ndarray


class Closed(NamedTuple):
    """What an account says of a step: energies, J; stretch : (m,) of the elements; spent, with this step; inverted :
    how many cells are."""

    energies: Energies
    stretch: np.ndarray
    spent: np.ndarray
    balance: Balance | None = None
    inverted: int = 0


class Account(Protocol):
    """spent : (k,) what it keeps from step to step, at the start"""

    spent: np.ndarray

    def close(self, ended: Ended) -> Closed: ...


class ClothAccount:
    """Of cloth: energies alone.

    gravity : (3,); scale : units of length in a metre
    """

    def __init__(
        self, mass: np.ndarray, terms: tuple[MembraneStep, BendingStep], gravity: np.ndarray, scale: float
    ) -> None:
        self._mass, self._gravity, self._scale = mass, gravity, scale
        self._membrane, self._bending = terms
        self.spent = np.empty(0)

    def close(self, ended: Ended) -> Closed:
        own = np.array(ended.resolved.positions[: len(self._mass)])
        stretch, _ = self._membrane.energies(own, 1.0)
        bending, _ = self._bending.energies(own, 1.0)
        scale = self._scale**-2  # kg m2/s2 from those of the units
        fall = gravity_energy(self._mass, own, self._gravity)
        energies = Energies(
            scale * kinetic_energy(self._mass, ended.v), scale * stretch, scale * bending, scale * fall
        )  # fmt: skip
        return Closed(energies, self._membrane.stretch(own), self.spent)
