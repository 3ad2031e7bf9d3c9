"""Where the energy of explicit steps goes.

A step of central differences does not change the sum of kinetic energy and the work of forces, each the mean of those
at both ends times the displacement, but for what is at the ends: kinetic energy of velocities at the time of positions
differs from that sum by h^2 f^2 / 8m. So work is added up step by step, and only where somebody asks it is compared
with what is stored: what is missing is the loss by steps being finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.accounts import Closed
from pliant.simulate.frames import Balance, Energies, gravity_energy, kinetic_energy
from pliant.simulate.settings import Settings
from pliant.simulate.solids.shells_step import ShellStep
from pliant.simulate.solids.stresses import SolidStep

_VISCOUS, _CONTACT, _PINS, _LOADS, _ELASTIC, _ENDS = range(6)


class Taken(NamedTuple):
    """A step of n vertices that has been taken: at its start and at its end positions, velocities, gradients of what is
    stored (plastic flow with it), of loads and of damping, all (n, 3)."""

    seconds: float
    x: tuple[np.ndarray, np.ndarray]
    v: tuple[np.ndarray, np.ndarray]
    stored: tuple[np.ndarray, np.ndarray]
    loads: tuple[np.ndarray, np.ndarray]
    damped: tuple[np.ndarray, np.ndarray]


class ExplicitAccount:
    """Of terms that store energy.

    inverse_mass : (n,) 0 of what is driven; gravity : (3,) in units of length
    stretch : of elements, at positions (n, 3); watched : cells that are searched for inverted ones
    """

    def __init__(
        self, terms: tuple[SolidStep | ShellStep, ...], mass: np.ndarray, inverse_mass: np.ndarray,
        gravity: np.ndarray, settings: Settings, stretch: Callable[[np.ndarray], np.ndarray],
        watched: VolumeMesh | None,
    ) -> None:  # fmt: skip
        self._terms, self._mass, self._inverse, self._gravity = terms, mass, inverse_mass, gravity
        self._settings, self._stretch, self._watched = settings, stretch, watched
        self.spent = np.zeros(6)

    def after(self, spent: np.ndarray, step: Taken) -> np.ndarray:
        """What has been spent, with a step."""
        (x0, x1), (v0, v1), h = step.x, step.v, step.seconds
        mass, inverse = self._mass[:, None], self._inverse[:, None]
        is_free = self._inverse > 0.0
        weight, way = mass * self._gravity, x1 - x0
        forces = [weight - sum(parts) for parts in zip(step.stored, step.loads, step.damped)]
        # Velocities in the middle, as forces alone change them, and as they were.
        free, met = v0 + 0.5 * h * inverse * forces[0], way / h
        out = np.array(spent)
        out[_VISCOUS] += 0.5 * np.vdot(step.damped[0] + step.damped[1], way)
        gained = 0.5 * mass * (met**2 - free**2) - 0.5 * forces[0] * (way - h * free)
        out[_CONTACT] -= gained[is_free].sum()
        both, fixed = 0.5 * (forces[0] + forces[1]), ~is_free
        out[_PINS] += (0.5 * mass * (v1**2 - v0**2) - both * way)[fixed].sum()
        out[_LOADS] += 0.5 * np.vdot(step.loads[0] + step.loads[1], way)
        out[_ELASTIC] += 0.5 * np.vdot(step.stored[0] + step.stored[1], way)
        out[_ENDS] += 0.125 * h * h * float((inverse * (forces[1] ** 2 - forces[0] ** 2)).sum())
        return out

    def close(self, x: np.ndarray, v: np.ndarray, spent: np.ndarray) -> Closed:
        """What there is at the end of a step, x and v, (n, 3), and where energy has gone since the start."""
        viscous, contact, pins, loads, work, ends = spent.tolist()
        elastic = plastic = 0.0
        for term in self._terms:
            stored, _ = term.energies(x, 1.0)
            elastic, plastic = elastic + stored - term.dissipated, plastic + term.flowed()
        scale = self._settings.scale**-2  # kg m2/s2 from those of the units
        fall = gravity_energy(self._mass, x, self._gravity)
        energies = Energies(scale * kinetic_energy(self._mass, v), scale * elastic, 0.0, scale * fall)
        numerical = work - elastic - plastic - ends
        of = (scale * np.array((plastic, viscous, contact, pins - loads, numerical))).tolist()
        count = 0 if self._watched is None else len(inverted(self._watched, x))
        return Closed(energies, self._stretch(x), spent, Balance(*of), count)
