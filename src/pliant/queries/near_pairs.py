"""Pairs of features that are near each other: what a solver asks about several times in a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.runtime.arrays import MeshError, ShapeError, as_positions, freeze


class StalePairsError(MeshError):
    """Near pairs are used for a motion that leaves where they are valid."""


@dataclass(frozen=True, repr=False, eq=False)
class NearPairs:
    """Pairs of features that were within a distance at x; from ``Detector.near_pairs``.

    They are valid for every motion on which no vertex is ever further from x than its ``allowance``: half of the
    distance, less what counts as contact. Two features that are further apart than the distance at x cannot meet then.

    x : (n, 3) float64
    within : float
    allowance : (n,) float64, how far from x each vertex may be
    vertex_face : (k, 2) int32 ids of vertices and faces
    edge_edge : (k, 2) int32 ids of edges
    """

    x: np.ndarray
    within: float
    allowance: np.ndarray
    vertex_face: np.ndarray
    edge_edge: np.ndarray

    __post_init__ = freeze

    def __len__(self) -> int:
        return len(self.vertex_face) + len(self.edge_edge)

    def __repr__(self) -> str:
        counts = f"{len(self.vertex_face)} vertex-face, {len(self.edge_edge)} edge-edge"
        return f"NearPairs({counts}, within {self.within:g})"

    def valid_for(self, x: Any) -> bool:
        """Whether a straight motion may start or end at x, (n, 3): with both ends valid, all of it is."""
        return self.first_invalid(as_positions(x, "x")) is None

    def first_invalid(self, x: np.ndarray, bend: float = 0.0) -> int | None:
        """A vertex that is too far from where it was; bend : how far paths leave their chords at most."""
        if len(x) != len(self.x):
            raise ShapeError(f"x has {len(x)} rows, but the near pairs are of {len(self.x)} vertices")
        # A square root of a sum of squares is off by less than 4 u of itself.
        moved = np.sqrt(np.einsum("ij,ij->i", x - self.x, x - self.x)) * (1.0 + 2.0**-50)
        too_far = np.flatnonzero(~(moved + bend <= self.allowance))
        return int(too_far[0]) if len(too_far) else None

    def require_valid(self, x0: np.ndarray, x1: np.ndarray, bend: float = 0.0) -> None:
        """Raise StalePairsError where a motion leaves what they are valid for."""
        for x, name in ((x0, "x0"), (x1, "x1")):
            vertex = self.first_invalid(x, bend)
            if vertex is not None:
                moved, most = np.linalg.norm(x[vertex] - self.x[vertex]), max(self.allowance[vertex], 0.0)
                raise StalePairsError(
                    f"near pairs are no longer valid: at {name} vertex {vertex} has moved by {moved:g}, and may "
                    f"be {most:g}; ask for near_pairs again, or within a larger distance"
                )
