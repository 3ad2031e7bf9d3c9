"""Where the energy of solids goes, step by step.

What implicit steps lose is known without comparing energies: half of the mass times the square of the change of
velocity, and what forces at the end of a step, along the displacement, store less than they would have. With what
contacts, friction, damping, plastic flow and moving pins take or give, the balance closes but for what Newton's method
leaves unsolved, so that it can be tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.accounts import Closed, Ended
from pliant.simulate.frames import Balance, Energies, gravity_energy, kinetic_energy
from pliant.simulate.links import pull_links
from pliant.simulate.settings import Settings
from pliant.simulate.terms import Body

_VISCOUS, _CONTACT, _DRIVEN, _NUMERICAL, _PLASTIC = range(5)
_NO_BLOCKS = np.empty((0, 12))


class _Stored(NamedTuple):
    """J: elastic; of loads; dissipated by plastic flow in the step; viscosity"""

    elastic: float
    loads: float
    plastic: float
    viscous: float


class SolidAccount:
    """An ``Account`` with a balance.

    free : (n,) bool, vertices that are not driven
    gravity : (3,), in units of length
    stretch : of elements, at positions (n, 3)
    watched : cells to be looked at for inversion after each step, if any
    """

    def __init__(
        self, body: Body, free: np.ndarray, gravity: np.ndarray, settings: Settings,
        stretch: Callable[[np.ndarray], np.ndarray], watched: VolumeMesh | None,
    ) -> None:  # fmt: skip
        self._body, self._free, self._gravity, self._settings = body, free, gravity, settings
        self._stretch, self._watched = stretch, watched
        self.spent = np.zeros(5)

    def close(self, ended: Ended) -> Closed:
        mass, n = self._body.mass, len(self._body.mass)
        own = np.array(ended.resolved.positions[:n])
        before = self._stored(np.ascontiguousarray(ended.x0[:n]), ended.seconds)
        after, force = self._stored(own, ended.seconds), np.zeros((n, 3))
        for term in self._body.terms:
            term.add(force, _NO_BLOCKS)
        spent = ended.spent + self._of_step(ended, before, after, force)
        scale = self._settings.scale**-2  # kg m2/s2 from those of the units
        fall = gravity_energy(mass, own, self._gravity)
        kinetic = kinetic_energy(mass, ended.v)
        energies = Energies(scale * kinetic, scale * after.elastic, 0.0, scale * fall)
        of = (scale * spent).tolist()
        balance = Balance(of[_PLASTIC], of[_VISCOUS], of[_CONTACT], of[_DRIVEN], of[_NUMERICAL])
        count = 0 if self._watched is None else len(inverted(self._watched, own))
        return Closed(energies, self._stretch(own), spent, balance, count)

    def _stored(self, x: np.ndarray, seconds: float) -> _Stored:
        elastic = loads = viscous = 0.0
        for term in self._body.terms:
            stored, rate = term.energies(x, seconds)
            viscous += rate
            if term in self._body.loads:
                loads += stored
            else:
                elastic += stored
        plastic = sum(term.dissipated for term in self._body.lasting)
        return _Stored(elastic - plastic, loads, plastic, viscous)

    def _of_step(self, ended: Ended, before: _Stored, after: _Stored, force: np.ndarray) -> np.ndarray:
        """What the step has spent; force : (n, 3), gradient of all terms at its end"""
        mass, n, out = self._body.mass[:, None], len(self._body.mass), np.zeros(5)
        way, change = ended.resolved.positions[:n] - ended.x0[:n], ended.v - ended.v0
        slip = self._settings.slip_speed * self._settings.scale * ended.seconds
        pulls, positions = np.zeros_like(ended.x0), np.array(ended.resolved.positions)
        pull_links(ended.links, positions, ended.x0, slip, True, pulls)
        left = mass * change / ended.seconds + force - mass * self._gravity + pulls[:n]  # not in balance, or driven
        out[_PLASTIC], out[_VISCOUS] = after.plastic, 2.0 * after.viscous
        out[_CONTACT] = np.vdot(pulls[:n], way)
        if ended.resolved.changed[:n].any():
            out[_CONTACT] -= np.vdot(left[self._free], way[self._free])
        out[_DRIVEN] = np.vdot(left[~self._free], way[~self._free]) - (after.loads - before.loads)
        stored = sum(after[:3]) - sum(before[:3])
        out[_NUMERICAL] = 0.5 * np.vdot(mass * change, change) + np.vdot(force, way) - stored - out[_VISCOUS]
        return out
