"""What a resolver is told, checked once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.engine.scene import require_a_label_each
from pliant.runtime.arrays import OptionError, ShapeError, as_array, as_floats, as_number, choose

MAX_ROUNDS = 8
LARGEST = float(np.finfo(float).max)


class Options(NamedTuple):
    """As in ``pliant.resolve``.

    inverse_mass : (n,); None: 1 everywhere
    friction : a number, or (n,)
    distance_kept : None: from the thickness or the edges
    objects : (n,) labels; None: connected components
    """

    inverse_mass: np.ndarray | None
    thickness: float
    friction: float | np.ndarray
    restitution: float
    distance_kept: float | None
    objects: np.ndarray | None
    waits: bool  # where driven objects are pinched
    keeps: bool  # what is tangled
    max_rounds: int

    @staticmethod
    def of(given: dict[str, Any]) -> Options:
        """From the arguments of the same names."""
        kept, mass, objects = given["distance_kept"], given["inverse_mass"], given["objects"]
        return Options(
            None if mass is None else _as_column(mass, "inverse_mass"),
            as_number(given["thickness"], "thickness", 0.0, LARGEST),
            _as_friction(given["friction"]),
            as_number(given["restitution"], "restitution", 0.0, 1.0),
            None if kept is None else as_number(kept, "distance_kept", 0.0, LARGEST),
            None if objects is None else as_array(objects, "objects").copy(),
            choose(given["pinched"], "pinched", ("wait", "raise")) == "wait",
            choose(given["tangled"], "tangled", ("raise", "keep")) == "keep",
            _as_count(given["max_rounds"]),
        )

    def frictions(self, count: int) -> np.ndarray:
        """(n,) coefficients of so many vertices."""
        if not isinstance(self.friction, np.ndarray):
            return np.full(count, self.friction)
        if len(self.friction) != count:
            raise ShapeError(f"friction has {len(self.friction)} rows, but x0 has {count}")
        return self.friction

    def masses(self, count: int) -> np.ndarray:
        """(n,) inverse masses of so many vertices."""
        if self.inverse_mass is None:
            return np.ones(count)
        if len(self.inverse_mass) != count:
            raise ShapeError(f"inverse_mass has {len(self.inverse_mass)} rows, but x0 has {count}")
        return self.inverse_mass

    def labels(self, components: np.ndarray) -> np.ndarray:
        """(n,) of the objects; components : (n,) labels where none were given"""
        if self.objects is None:
            return components
        require_a_label_each(self.objects, len(components))
        return self.objects


def _as_column(given: Any, name: str) -> np.ndarray:
    array = as_floats(given, name).copy()
    if array.ndim != 1:
        raise ShapeError(f"{name} must have shape (n,), but has {array.shape}")
    if array.size and array.min() < 0.0:
        where = int(np.argmin(array))
        raise OptionError(f"{name}[{where}] is {array[where]}: it must not be negative")
    return array


def _as_friction(friction: Any) -> float | np.ndarray:
    if np.ndim(friction) == 0:
        return as_number(friction, "friction", 0.0, LARGEST)
    return _as_column(friction, "friction")


def _as_count(rounds: Any) -> int:
    if rounds is None:
        return MAX_ROUNDS
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
        raise OptionError(f"max_rounds={rounds!r} must be an integer that is not negative, or None")
    return int(rounds)
