"""Gas in a closed chamber: pressure follows its walls, and has an energy.

Of a chamber of volume V energy is -p V where pressure p is constant; where the amount of gas, pressure times volume,
is, it is ambient V - amount log V, and pressure is that above the ambient one. The force on each corner of a face is a
third of pressure times the area along its normal, which is the gradient of that energy.

Second derivatives: of the area along the normal they are of either sign, and left out; those of the pressure of a gas,
amount / V^2 times the gradient of V with itself, join all vertices. In their place is a diagonal that is never less:
row sums of absolute values. So Newton's method takes shorter steps, but does not overshoot; where all walls move
outwards alike, both are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.runtime.arrays import MeshError, OptionError, as_number
from pliant.simulate.rows import Rows

Amount = float | Callable[[float], float]
_MOST = float(np.finfo(np.float64).max)


class OpenChamberError(MeshError):
    """The faces around a chamber do not close it."""


class Pressure:
    """A term of a body: what is in a chamber pushes its walls.

    Parameters
    ----------
    faces : (m, 3) integers
        Around the chamber, closed and consistently oriented: all outwards or all inwards.
    x : (n, 3) float64
        Positions at the start: say which of both.
    rows : Rows
        Of the body.
    pressure : float or function of the time, s
        N/m2 above the ambient one.
    gas : float or function of the time, s
        J, absolute pressure times volume, in place of a pressure: what is in the chamber, which does not cool down.
    ambient : float
        N/m2, outside, where there is a gas.

    Raises
    ------
    OpenChamberError
        Where an edge has a face on one side only, or two that are oriented differently.
    OptionError
        Where both or none of pressure and gas are given.
    """

    def __init__(
        self, faces: Any, x: np.ndarray, rows: Rows, *, pressure: Amount | None = None, gas: Amount | None = None,
        ambient: float = 0.0,
    ) -> None:  # fmt: skip
        if (pressure is None) == (gas is None):
            raise OptionError("a chamber needs either pressure= or gas=")
        self._faces = np.asarray(faces, np.int64).reshape(-1, 3)
        _require_closed(self._faces)
        if _volume(x[self._faces]) < 0.0:
            self._faces = self._faces[:, ::-1].copy()
        self._diagonal, self._is_gas = rows.diagonal, gas is not None
        self._given = gas if pressure is None else pressure
        self._ambient = as_number(ambient, "ambient", 0.0, _MOST) if self._is_gas else 0.0
        self._x, self._amount = x, 0.0
        self.at(0.0)

    def at(self, time: float) -> None:
        """What is inside at the end of the next step, s."""
        given = self._given
        name = "gas" if self._is_gas else "pressure"
        # What users give has its ranges in SI units, in ``chambers``: here it may be in any.
        least = 0.0 if self._is_gas else -_MOST
        self._amount = as_number(given(time) if callable(given) else given, name, least, _MOST)

    def volume(self, x: np.ndarray) -> float:
        """m3, at positions x, (n, 3); negative where the chamber is inside out."""
        return _volume(x[self._faces])

    def pressure(self, x: np.ndarray) -> float:
        """N/m2 above the ambient one, at x, (n, 3)."""
        if not self._is_gas:
            return self._amount
        volume = self.volume(x)
        return self._amount / volume - self._ambient if volume > 0.0 else 0.0

    def begin(self, x: np.ndarray) -> None:
        """Gas has no viscosity."""

    def accept(self, x: np.ndarray) -> None:
        """Nor has it a past."""

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(energy, 0), J, at x, (n, 3): infinite where a gas has no volume. Its zero is that of a volume of 1 m3."""
        self._x, volume = x, self.volume(x)
        if not self._is_gas:
            return -self._amount * volume, 0.0
        if volume <= 0.0:
            return (np.inf if self._amount > 0.0 else self._ambient * volume), 0.0
        return self._ambient * volume - self._amount * float(np.log(volume)), 0.0

    def add(self, gradient: np.ndarray, blocks: np.ndarray) -> None:
        """Add the gradient at the positions of ``energies``, (n, 3), and what stands for the Hessian into blocks,
        (k, 12), if they have rows."""
        self.add_gradient(self._x, 1.0, gradient)
        if len(blocks) and self._is_gas:
            area, stiff = self._areas(self._x), self._of_gas(self._x)
            per_vertex = np.bincount(self._faces.ravel(), np.repeat(area / 3.0, 3), len(gradient))
            for k in (0, 5, 10):
                blocks[self._diagonal, k] += stiff * area.sum() * per_vertex

    def add_gradient(self, x: np.ndarray, step: float, gradient: np.ndarray) -> None:
        """Add the gradient at x, (n, 3), alone."""
        a, b, c = (x[self._faces[:, i]] for i in range(3))
        push = self.pressure(x) / 6.0 * np.cross(b - a, c - a)
        for k in range(3):
            gradient[:, k] -= np.bincount(self._faces.ravel(), np.repeat(push[:, k], 3), len(gradient))

    # ---- of the explicit scheme

    damping = 0.0

    @property
    def stencil(self) -> np.ndarray:
        """(m, 3) int64, corners of the faces."""
        return self._faces

    def stiffness(self, x: np.ndarray, first: int, last: int, per_second: float = 0.0) -> np.ndarray:
        """(last - first, 9, 9) diagonal blocks that are never less than the Hessian of a face, of either sign.

        The force on a corner changes by pressure / 6 times a side for each of three corners that move: at most half of
        the longest side times pressure, in all.
        """
        out, corners = np.zeros((last - first, 9, 9)), x[self._faces[first:last]]
        side = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1)
        area = self._areas(x)
        stiff = 0.5 * abs(self.pressure(x)) * side + self._of_gas(x) * area.sum() * area[first:last] / 3.0
        for i in range(3):
            for k in range(3):
                out[:, 4 * i, 4 * k] = stiff
        return out

    def _of_gas(self, x: np.ndarray) -> float:
        """How much pressure falls with volume."""
        volume = self.volume(x) if self._is_gas else 0.0
        return self._amount / volume**2 if volume > 0.0 else 0.0

    def _areas(self, x: np.ndarray) -> np.ndarray:
        a, b, c = (x[self._faces[:, i]] for i in range(3))
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def _volume(corners: np.ndarray) -> float:
    """Signed, of closed faces, (m, 3, 3)."""
    if not len(corners):
        return 0.0
    a, b, c = (corners[:, i] - corners[0, 0] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _require_closed(faces: np.ndarray) -> None:
    """Each edge is passed as often in one direction as in the other, and once at least."""
    count = int(faces.max(initial=-1)) + 1
    ways = np.concatenate([faces[:, (i, (i + 1) % 3)] for i in range(3)])
    forth, back = ways[:, 0] * count + ways[:, 1], ways[:, 1] * count + ways[:, 0]
    keys, passed = np.unique(np.concatenate((forth, back)), return_inverse=True)
    passed = passed.reshape(-1)
    net = np.bincount(passed[: len(forth)], minlength=len(keys)) - np.bincount(
        passed[len(forth) :], minlength=len(keys)
    )
    if net.any():
        a, b = divmod(int(keys[np.argmax(net != 0)]), count)
        raise OpenChamberError(f"faces at edge {a} {b} do not close the chamber, or are oriented differently")
