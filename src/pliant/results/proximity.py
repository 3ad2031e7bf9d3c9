"""What is near: pairs of features within a distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mesh.tested import surface_of
from pliant.results import notebooks
from pliant.results.exports import OnFaces, ends, faces_of_pairs, pair_columns, side_columns
from pliant.results.table import Rows
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage


@dataclass(frozen=True, repr=False, eq=False)
class Proximity(Rows, OnFaces):
    """Every pair of features within a distance, sorted by kind, then by the two element ids.

    kind, elements, vertices : as in ``Contacts``
    distance : (k,) float64
    points : (k, 2, 3) float64, the closest points of the first and of the second
    weights : (k, 4) float64, those points from the four vertices: positive of the first, negative of the second
    normal : (k, 3) float64, unit vector from the second towards the first
    stages : what every stage of the pipeline did
    """

    kind: np.ndarray
    elements: np.ndarray
    vertices: np.ndarray
    distance: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    normal: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    @property
    def vf(self) -> Proximity:
        """The pairs of a vertex and a face."""
        return self[self.kind == 0]

    @property
    def ee(self) -> Proximity:
        """The pairs of two edges."""
        return self[self.kind == 1]

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Proximity(none)"
        edges = int(np.count_nonzero(self.kind))
        return f"Proximity({len(self) - edges} vertex-face, {edges} edge-edge, closest {self.distance.min():.6g})"

    def _columns(self) -> dict[str, Any]:
        columns = pair_columns(self) | {"distance": self.distance} | ends("point", self.points)
        return columns | side_columns(self)

    def face_counts(self, mesh: Any) -> np.ndarray:
        return faces_of_pairs(self.kind, self.elements, surface_of(mesh))

    def _repr_html_(self) -> str:
        return notebooks.proximity_card(self)
