"""Intersections: pairs of triangles that share a point at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.results import notebooks
from pliant.results.exports import OnFaces, ends, faces_of_intersections, numbered
from pliant.results.table import Rows
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage

if TYPE_CHECKING:
    from pliant.results.contours import Contours


@dataclass(frozen=True, repr=False, eq=False)
class Intersections(Rows, OnFaces):
    """Every pair of intersecting triangles at an instant, sorted by the two face ids.

    faces : (k, 2) int32, the smaller id first
    segments : (k, 2, 3) float64, what the two share, from end to end: its longest extent where they overlap in one
        plane, one point twice where they touch in one
    coplanar : (k,) bool, one plane holds both
    stages : what every stage of the pipeline did
    """

    faces: np.ndarray
    segments: np.ndarray
    coplanar: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Intersections(none)"
        flat = int(np.count_nonzero(self.coplanar))
        return f"Intersections({len(self)} pairs of triangles{f', {flat} coplanar' if flat else ''})"

    def _columns(self) -> dict[str, Any]:
        return numbered("face", self.faces) | ends("end", self.segments) | {"coplanar": self.coplanar}

    def face_counts(self, mesh: Any) -> np.ndarray:
        return faces_of_intersections(self.faces, mesh)

    def contours(self, mesh: Any, x: Any) -> Contours:
        """The lines along which the pairs intersect, and what they enclose: for drawing and measuring.

        Parameters
        ----------
        mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
            The one that the pairs are of.
        x : (n, 3) floats
            Positions at which they intersect.

        Returns
        -------
        Contours

        Raises
        ------
        MeshError
            Where the input is wrong; the message says what and where.
        """
        from pliant.results.contours import contours_of  # kernels that nobody else needs

        return contours_of(mesh, x, self.faces)

    def _repr_html_(self) -> str:
        return notebooks.intersections_card(self)
