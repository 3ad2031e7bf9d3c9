"""Driven vertices: those without inverse mass go where they are told, or wait, together with their object."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.response.planes import Driven
from pliant.runtime.arrays import MeshError


class PinchedError(MeshError):
    """Driven objects would have to wait, for what is between them and others has nowhere to go.

    objects : labels of those that would have to wait
    shares : (k,) float64, how much of its motion each of them could make
    """

    def __init__(self, objects: np.ndarray, shares: np.ndarray, names: Mapping[int, str] | None = None) -> None:
        first, more = int(objects[0]), f" and {len(objects) - 1} more" if len(objects) > 1 else ""
        named = (names or {}).get(first, f"driven object {first}")
        super().__init__(
            f"{named}{more} cannot go on: what is in its way has nowhere to go, and it could make {shares[0]:.3g} of "
            'its motion; pinched="wait" lets it wait'
        )
        self.objects, self.shares = objects, shares


class DrivenObjects:
    """Which objects have driven vertices, and how much of their motion they have made in a step.

    labels : (d,) of the objects, ascending
    shares : (d,) float64
    of_all : (n,) object of each vertex, driven or not, from 0
    """

    def __init__(self, driven: Driven, labels: np.ndarray, of_all: np.ndarray, x0: np.ndarray) -> None:
        self._driven, self.labels, self.of_all, self._x0 = driven, labels, of_all, x0
        self.shares: np.ndarray = np.ones(len(labels))

    @property
    def columns(self) -> Driven:
        return self._driven

    def rebase(self) -> None:
        """From now on no share gets smaller than it is now."""
        self._driven = self._driven._replace(base_shares=self.shares.copy())

    def wait_at_base(self, vertices: np.ndarray) -> None:
        """The objects that have these vertices make no more of their motion than at the base."""
        which = np.unique(self._driven.of_vertex[vertices])
        which = which[which >= 0]
        self.shares[which] = self._driven.base_shares[which]

    def place(self, x: np.ndarray) -> None:
        """Put the driven vertices among x, (n, 3), where their shares say; coordinates that rest stay to the bit."""
        rows = np.flatnonzero(self._driven.of_vertex >= 0)
        share = self.shares[self._driven.of_vertex[rows]][:, None]
        x0, goal = self._x0[rows], self._driven.goal[rows]
        x[rows] = np.where((share == 1.0) | (x0 == goal), goal, np.where(share == 0.0, x0, _between(x0, goal, share)))

    def made(self) -> np.ndarray:
        """(d,) shares; what rests has nothing to wait for."""
        moving = np.zeros(len(self.labels), bool)
        rows = np.flatnonzero(self._driven.of_vertex >= 0)
        moves = (self._x0[rows] != self._driven.goal[rows]).any(axis=1)
        moving[self._driven.of_vertex[rows[moves]]] = True
        return np.where(moving, self.shares, 1.0)

    def require_nobody_waits(self) -> None:
        made = self.made()
        waiting = np.flatnonzero(made < 1.0)
        if len(waiting):
            raise PinchedError(self.labels[waiting], made[waiting])


def driven_objects(is_driven: np.ndarray, labels: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> DrivenObjects:
    """is_driven : (n,) bool; labels : (n,) of the objects"""
    named, inverse = np.unique(labels[is_driven], return_inverse=True)
    of_vertex = np.full(len(labels), -1, np.int32)
    of_vertex[is_driven] = inverse
    of_all = np.unique(labels, return_inverse=True)[1]
    return DrivenObjects(Driven(of_vertex, x1, np.zeros(len(named))), named, of_all, x0)


def _between(x0: np.ndarray, x1: np.ndarray, t: np.ndarray) -> np.ndarray:
    return (1.0 - t) * x0 + t * x1
