"""A safe step, and the distance of two meshes: answers of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.results import notebooks
from pliant.results.contacts import Contacts
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage


@dataclass(frozen=True, repr=False, eq=False)
class MeshDistance:
    """How far two meshes are from each other.

    distance : 0 where their surfaces intersect, infinite where one is empty
    points : (2, 3) float64, the closest points, or twice one that they share
    faces : (2,) int32, the faces they are on; -1 for a loose edge or point
    """

    distance: float
    points: np.ndarray
    faces: np.ndarray

    __post_init__ = freeze

    def __float__(self) -> float:
        return self.distance

    def __repr__(self) -> str:
        return f"MeshDistance({self.distance:.6g}, faces {self.faces[0]} and {self.faces[1]})"


@dataclass(frozen=True, repr=False, eq=False)
class Step:
    """How far a motion can go.

    t : no contact happens before it; 1.0 where there is none at all
    contact : the first contact, a table of one row, or None
    positions : (n, 3) float64 near x0 + t (x1 - x0); the motion from x0 to them is verified to be free of contact
        (x0 itself where contact is at t = 0)
    stages : what every stage of the pipeline did
    """

    t: float
    contact: Contacts | None
    positions: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __float__(self) -> float:
        return self.t

    def __repr__(self) -> str:
        return f"Step(t = {self.t:.6g}, {'free' if self.contact is None else 'stopped by a contact'})"

    def _repr_html_(self) -> str:
        return notebooks.step_card(self)
