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
    They are of one detector, and of the mesh that it is about.

    x : (n, 3) float64
    within : float
    allowance : (n,) float64, how far from x each vertex may be, on a straight motion
    vertex_face : (k, 2) int32 ids of vertices and faces; those of the surface of a volume mesh where its interior takes
        no part
    edge_edge : (k, 2) int32 ids of edges
    """

    x: np.ndarray
    within: float
    allowance: np.ndarray
    vertex_face: np.ndarray
    edge_edge: np.ndarray
    _of: object = None  # the topology that they are pairs of

    __post_init__ = freeze

    def __len__(self) -> int:
        return len(self.vertex_face) + len(self.edge_edge)

    def __repr__(self) -> str:
        counts = f"{len(self.vertex_face)} vertex-face, {len(self.edge_edge)} edge-edge"
        return f"NearPairs({counts}, within {self.within:g})"

    def valid_for(self, x: Any) -> bool:
        """Whether a straight motion may start or end at x: with both ends valid, all of it is.

        Parameters
        ----------
        x : (n, 3) floats

        Returns
        -------
        bool

        Raises
        ------
        MeshError
            Where x is not of as many vertices, or not finite.
        """
        return not len(self._beyond(as_positions(x, "x"), self.allowance))

    def require_valid(self, of: object, x0: np.ndarray, x1: np.ndarray, radius: np.ndarray) -> None:
        """Raise StalePairsError where a motion leaves what they are valid for, or is one of another mesh.

        Parameters
        ----------
        of : object
            The topology of the query.
        x0, x1 : (n, 3) float64
            Positions at t = 0 and t = 1.
        radius : (n,) or (0,) float64
            How far from its chord a vertex can be in contact; empty for 0.

        Raises
        ------
        StalePairsError
        """
        if of is not self._of:
            raise StalePairsError("near pairs are those of another detector, or of the mesh that it had before")
        most = allowance_of(self.x, self.within) - (radius if len(radius) else 0.0)
        for x, name in ((x0, "x0"), (x1, "x1")):
            beyond = self._beyond(x, most)
            if len(beyond):
                vertex = int(beyond[0])
                moved = float(np.linalg.norm(x[vertex] - self.x[vertex]))
                at_most = max(float(np.broadcast_to(most, len(x))[vertex]), 0.0)
                raise StalePairsError(
                    f"near pairs are no longer valid: at {name} vertex {vertex} has moved by {moved:.9g}, and may by "
                    f"{at_most:.9g}; ask for near_pairs again, or within a larger distance"
                )

    def _beyond(self, x: np.ndarray, most: np.ndarray | float) -> np.ndarray:
        """Vertices that are further from where they were."""
        if len(x) != len(self.x):
            raise ShapeError(f"x has {len(x)} rows, but the near pairs are of {len(self.x)} vertices")
        # Two lengths of which each is off by less than 2 u of itself. Squares of small numbers would be 0.
        with np.errstate(over="ignore"):
            step = x - self.x
            moved = np.hypot(np.hypot(step[:, 0], step[:, 1]), step[:, 2]) * (1.0 + 2.0**-50)
        return np.flatnonzero(~(moved <= most))


def allowance_of(x: np.ndarray, within: float) -> float:
    """How far two features that were not within the distance at x may come towards each other: half of it for each,
    less the rounding of that distance."""
    largest = float(np.abs(x).max(initial=0.0)) + within
    return 0.5 * within * (1.0 - 1e-12) - 1e-14 * largest - 1e-300  # below that rounding is no longer a part of numbers
