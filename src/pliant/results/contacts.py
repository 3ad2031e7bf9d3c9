"""The tables that come out of meshes: contacts, intersections, what is near or inside, a safe step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.mesh.tested import surface_of
from pliant.results import notebooks
from pliant.results.exports import (
    OnFaces,
    along_axes,
    ends,
    faces_of_contacts,
    faces_of_intersections,
    faces_of_pairs,
    frame_of,
    numbered,
    pair_columns,
    side_columns,
)
from pliant.runtime.arrays import as_positions, freeze
from pliant.runtime.tally import Stage

if TYPE_CHECKING:
    import pandas

    from pliant.results.contours import Contours


# How a pair ended: advancement reports what comes within its tolerance; what it could not bring that far although it
# could not prove it free ("stalled": rounding, or no end of small steps) counts as a contact where it stood.
STATUS = ("free", "contact", "", "at the start", "stalled")


@dataclass(frozen=True, repr=False, eq=False)
class Contacts(OnFaces):
    """Every contact of a motion, sorted by kind, then by the two element ids.

    kind : (k,) int8, 0 = vertex-face, 1 = edge-edge
    elements : (k, 2) int32, (vertex, face) or (edge, edge) ids, rows of ``mesh.faces`` and ``mesh.edges``
    vertices : (k, 4) int32, v f0 f1 f2 or a0 a1 b0 b1
    toi, toi_upper : (k,) float64, bracket of the first time of contact
    weights : (k, 4) float64, the weighted sum of the four moving vertices is zero at toi; with a min_distance, the
        vector between the closest points
    normal : (k, 3) float64, unit vector that separates the two features, towards the first of them
    gap : (k,) float64, distance of the two features at t = 0
    status : (k,) int8, how it was found: a row of ``STATUS``
    cells : (k, 2) int32, of a volume mesh: a cell that has the first feature, and one that has the second; else -1
    inversion : (k,) bool, one cell has both features: it is being turned inside out
    stages : what every stage of the pipeline did
    """

    kind: np.ndarray
    elements: np.ndarray
    vertices: np.ndarray
    toi: np.ndarray
    toi_upper: np.ndarray
    weights: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    status: np.ndarray
    cells: np.ndarray
    inversion: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A column that has not been asked for so far, of a table that is packed."""
            make, packed = _UNPACKED.get(name), self.__dict__.get("_packed")
            if make is None or packed is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            column = make(*packed, len(packed[1]) // 6)
            column.flags.writeable = False
            return self.__dict__.setdefault(name, column)

    def __len__(self) -> int:
        return len(self.toi)

    def __getitem__(self, rows: Any) -> Contacts:
        """The contacts that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        return _rows_of(self, rows)

    @property
    def vf(self) -> Contacts:
        """The vertex-face contacts."""
        return self[self.kind == 0]

    @property
    def ee(self) -> Contacts:
        """The edge-edge contacts."""
        return self[self.kind == 1]

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Contacts(none)"
        edges = int(np.count_nonzero(self.kind))
        return f"Contacts({len(self) - edges} vertex-face, {edges} edge-edge, first at t = {self.toi.min():.6g})"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per contact.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        columns = pair_columns(self) | {"toi": self.toi, "toi_upper": self.toi_upper} | side_columns(self)
        columns |= {"gap": self.gap, "status": np.array(STATUS)[self.status]}
        if (self.cells >= 0).any():
            columns |= numbered("cell", self.cells) | {"inversion": self.inversion}
        return frame_of(columns)

    def points(self, x0: Any, x1: Any) -> np.ndarray:
        """Where each contact happens, at its toi; with a min_distance, midway between the closest points.

        Parameters
        ----------
        x0, x1 : (n, 3) floats
            Positions at t = 0 and t = 1, between which the vertices moved in straight lines.

        Returns
        -------
        (k, 3) float64

        Raises
        ------
        MeshError
            Where the input is wrong; the message says what and where.
        """
        t, start, end = self.toi[:, None, None], as_positions(x0, "x0"), as_positions(x1, "x1")
        moving = (1.0 - t) * start[self.vertices] + t * end[self.vertices]
        # Weights of either side add up to 1, those of the second to -1.
        return np.einsum("ki,kij->kj", 0.5 * np.abs(self.weights), moving)

    def face_counts(self, mesh: Any) -> np.ndarray:
        return faces_of_contacts(self, mesh)

    def _repr_html_(self) -> str:
        return notebooks.contacts_card(self)


def packed_contacts(numbers: np.ndarray, ids: np.ndarray, split: int, stages: tuple[Stage, ...]) -> Contacts:
    """A table whose columns are made when they are asked for: of a surface, at distance 0 and on straight paths.

    To make all of them takes as long as a query about four triangles.

    numbers : (10 k,) toi, toi_upper, gap, weights, normal, one column after the other; ids : (6 k,) elements, vertices;
    split: how many are of a vertex and a face, which come first
    """
    table = Contacts.__new__(Contacts)
    table.__dict__.update(_packed=(numbers, ids, split), stages=stages)
    return table


# The columns of a table of k contacts that is packed.
_UNPACKED: dict[str, Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]] = {
    "kind": lambda _numbers, _ids, split, k: np.repeat(np.array(KINDS, np.int8), (split, k - split)),
    "elements": lambda _numbers, ids, _split, k: ids[: 2 * k].reshape(k, 2),
    "vertices": lambda _numbers, ids, _split, k: ids[2 * k :].reshape(k, 4),
    "toi": lambda numbers, _ids, _split, k: numbers[:k],
    "toi_upper": lambda numbers, _ids, _split, k: numbers[k : 2 * k],
    "gap": lambda numbers, _ids, _split, k: numbers[2 * k : 3 * k],
    "weights": lambda numbers, _ids, _split, k: numbers[3 * k : 7 * k].reshape(k, 4),
    "normal": lambda numbers, _ids, _split, k: numbers[7 * k :].reshape(k, 3),
    "status": lambda _numbers, _ids, _split, k: np.full(k, STATUS.index("contact"), np.int8),
    "cells": lambda _numbers, _ids, _split, k: np.full((k, 2), -1, np.int32),
    "inversion": lambda _numbers, _ids, _split, k: np.zeros(k, bool),
}


@dataclass(frozen=True, repr=False, eq=False)
class Intersections(OnFaces):
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

    def __len__(self) -> int:
        return len(self.faces)

    def __getitem__(self, rows: Any) -> Intersections:
        """The pairs that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        return _rows_of(self, rows)

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Intersections(none)"
        flat = int(np.count_nonzero(self.coplanar))
        return f"Intersections({len(self)} pairs of triangles{f', {flat} coplanar' if flat else ''})"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per pair.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        return frame_of(numbered("face", self.faces) | ends("end", self.segments) | {"coplanar": self.coplanar})

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


@dataclass(frozen=True, repr=False, eq=False)
class Proximity(OnFaces):
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

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, rows: Any) -> Proximity:
        """The pairs that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        return _rows_of(self, rows)

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

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per pair.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        columns = pair_columns(self) | {"distance": self.distance} | ends("point", self.points)
        return frame_of(columns | side_columns(self))

    def face_counts(self, mesh: Any) -> np.ndarray:
        return faces_of_pairs(self.kind, self.elements, surface_of(mesh))

    def _repr_html_(self) -> str:
        return notebooks.proximity_card(self)


@dataclass(frozen=True, repr=False, eq=False)
class InsideCells:
    """Every vertex inside of a cell that it is no corner of, at an instant, sorted by vertex, then by cell.

    vertices, cells : (k,) int32
    weights : (k, 8) float64, of the corners of the cell, in their order: they give the vertex; not negative, of sum 1
    depth : (k,) float64, how far the vertex has to go, to get out of the object of the cell; NaN where it is not known
    direction : (k, 3) float64, unit vector, which way
    stages : what every stage did
    """

    vertices: np.ndarray
    cells: np.ndarray
    weights: np.ndarray
    depth: np.ndarray
    direction: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __len__(self) -> int:
        return len(self.vertices)

    def __getitem__(self, rows: Any) -> InsideCells:
        """The pairs that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        return _rows_of(self, rows)

    def __repr__(self) -> str:
        if len(self) == 0:
            return "InsideCells(none)"
        counts = f"{len(np.unique(self.vertices))} vertices in {len(np.unique(self.cells))} cells"
        known = self.depth[~np.isnan(self.depth)]
        return f"InsideCells({counts}{f', deepest {known.max():.6g}' if len(known) else ''})"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per pair.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        columns: dict[str, Any] = {"vertex": self.vertices, "cell": self.cells}
        columns |= numbered("weight", self.weights) | {"depth": self.depth}
        return frame_of(columns | along_axes("direction", self.direction))

    def _repr_html_(self) -> str:
        return notebooks.insides_card(self)


@dataclass(frozen=True, repr=False, eq=False)
class InsideSurface:
    """Every point that a closed surface winds around, or that is on it, at an instant, in their order.

    vertices : (k,) int32, rows of the points that were given
    winding : (k,) int32, how often the surface winds around each; 0 for those on it
    on_surface : (k,) bool
    depth : (k,) float64, how far it is to the closest point of the surface; NaN where it is not known
    direction : (k, 3) float64, unit vector, which way
    stages : what every stage did
    """

    vertices: np.ndarray
    winding: np.ndarray
    on_surface: np.ndarray
    depth: np.ndarray
    direction: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __len__(self) -> int:
        return len(self.vertices)

    def __getitem__(self, rows: Any) -> InsideSurface:
        """The points that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        return _rows_of(self, rows)

    def __repr__(self) -> str:
        if len(self) == 0:
            return "InsideSurface(none)"
        on = int(np.count_nonzero(self.on_surface))
        known = self.depth[~np.isnan(self.depth)]
        words = [f"{len(self) - on} points inside"] + [f"{on} on the surface"] * (on > 0)
        return f"InsideSurface({', '.join(words)}{f', deepest {known.max():.6g}' if len(known) else ''})"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per point.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        columns = {"vertex": self.vertices, "winding": self.winding, "on_surface": self.on_surface}
        return frame_of(columns | {"depth": self.depth} | along_axes("direction", self.direction))

    def _repr_html_(self) -> str:
        return notebooks.enclosed_card(self)


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


Table = TypeVar("Table", "Contacts", "Proximity", "Intersections", "InsideCells", "InsideSurface")


def _rows_of(table: Table, rows: Any) -> Table:
    if isinstance(rows, int | np.integer):
        rows = [rows]
    return replace(table, **{f.name: getattr(table, f.name)[rows] for f in fields(table) if f.name != "stages"})
