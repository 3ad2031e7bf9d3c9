"""The tables of queries that stand alone: one row for each that was asked, whether anything was found or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.results.contacts import STATUS
from pliant.results.exports import along_axes, ends, numbered, side_columns
from pliant.results.table import Table
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage


@dataclass(frozen=True, repr=False, eq=False)
class PairContacts(Table):
    """Answers to an array of elementary queries, row by row; NaN where there is no contact.

    hit : (k,) bool
    toi, toi_upper : (k,) float64, bracket of the first time of contact
    weights : (k, 4) float64, the weighted sum of the four moving vertices is zero at toi; with a min_distance, the
        vector between the closest points
    normal : (k, 3) float64, unit vector that separates the two features, towards the first of them
    gap : (k,) float64, distance of the two features at t = 0, hit or not
    status : (k,) int8, how it ended: a row of ``STATUS``
    stages : what every stage of the pipeline did
    """

    hit: np.ndarray
    toi: np.ndarray
    toi_upper: np.ndarray
    weights: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    status: np.ndarray
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __repr__(self) -> str:
        return f"PairContacts({np.count_nonzero(self.hit)} of {len(self)} hit)"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"hit": self.hit, "toi": self.toi, "toi_upper": self.toi_upper} | side_columns(self)
        return columns | {"gap": self.gap, "status": np.array(STATUS)[self.status]}


class TriangleContacts(NamedTuple):
    """The pairs of triangles that touch, in their order: columns of ``TrianglePairs`` without the other rows."""

    toi: np.ndarray
    toi_upper: np.ndarray
    kind: np.ndarray
    features: np.ndarray
    weights: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    status: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class TrianglePairs(Table):
    """The first contact of each pair of triangles, row by row; NaN and -1 where there is none.

    hit : (k,) bool
    contacts : the columns below for the pairs that hit alone; for all pairs they are made when they are first asked for
    stages : how many pairs of features each condition took, and who decided the rest
    toi, toi_upper : (k,) bracket of the first time of contact
    kind : (k,) int8, 0 = vertex-face, 1 = edge-edge, -1 = none
    features : (k, 2) int8, vertex 0 .. 5 (those of the first triangle, then those of the second) and face 0 or 1; or
        edge 0 .. 2 of the first and edge 0 .. 2 of the second, edge i from corner i to the next
    weights : (k, 6) the point of contact from the corners: positive of the first triangle, negative of the second
    normal : (k, 3) unit vector that separates the two features, towards the first triangle
    gap : (k,) distance of the two features at t = 0
    status : (k,) int8, how it ended: a row of ``STATUS``
    """

    # Filling 100 bytes with NaN for each pair that does not touch took a third of a query in which most do not.
    hit: np.ndarray
    contacts: TriangleContacts
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    @cached_property
    def toi(self) -> np.ndarray:
        return self._spread(self.contacts.toi, np.nan)

    @cached_property
    def toi_upper(self) -> np.ndarray:
        return self._spread(self.contacts.toi_upper, np.nan)

    @cached_property
    def kind(self) -> np.ndarray:
        return self._spread(self.contacts.kind, -1)

    @cached_property
    def features(self) -> np.ndarray:
        return self._spread(self.contacts.features, -1)

    @cached_property
    def weights(self) -> np.ndarray:
        return self._spread(self.contacts.weights, np.nan)

    @cached_property
    def normal(self) -> np.ndarray:
        return self._spread(self.contacts.normal, np.nan)

    @cached_property
    def gap(self) -> np.ndarray:
        return self._spread(self.contacts.gap, np.nan)

    @cached_property
    def status(self) -> np.ndarray:
        return self._spread(self.contacts.status, STATUS.index("free"))

    def _spread(self, column: np.ndarray, nothing: float) -> np.ndarray:
        """A column of all pairs, from that of the pairs that hit."""
        spread = np.full((len(self), *column.shape[1:]), nothing, column.dtype)
        spread[self.hit] = column
        return spread

    def __repr__(self) -> str:
        return f"TrianglePairs({np.count_nonzero(self.hit)} of {len(self)} hit)"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"hit": self.hit, "toi": self.toi, "toi_upper": self.toi_upper}
        columns |= {"kind": np.array(["vertex-face", "edge-edge", ""])[self.kind]} | numbered("feature", self.features)
        columns |= numbered("weight", self.weights) | along_axes("normal", self.normal)
        return columns | {"gap": self.gap, "status": np.array(STATUS)[self.status]}


@dataclass(frozen=True, repr=False, eq=False)
class PairDistances(Table):
    """How far features or triangles are apart, row by row.

    distance : (k,), 0 where they touch or intersect
    points : (k, 2, 3), the closest points of the first and of the second
    weights : (k, 4) or (k, 6), those points from the vertices: positive of the first, negative of the second
    normal : (k, 3), unit vector from the second towards the first
    """

    distance: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    normal: np.ndarray

    __post_init__ = freeze

    def __repr__(self) -> str:
        return f"PairDistances({len(self)} pairs{f', at least {self.distance.min():.6g}' if len(self) else ''})"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"distance": self.distance} | ends("point", self.points)
        return columns | numbered("weight", self.weights) | along_axes("normal", self.normal)


@dataclass(frozen=True, repr=False, eq=False)
class Windings(Table):
    """How often a surface winds around points, row by row.

    number : (k,) float64; whole where ``exact``, else the generalised winding number; NaN on the surface
    on_surface : (k,) bool, decided exactly
    exact : whether the surface is closed, so that all numbers are whole and right
    open_edges : of the surface, along which as many faces do not run one way as the other
    stages : what every stage did
    """

    number: np.ndarray
    on_surface: np.ndarray
    exact: bool
    open_edges: int
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    @property
    def inside(self) -> np.ndarray:
        """(k,) bool: on the surface, or with a number closer to another whole one than to 0; a guess if not exact."""
        return self.on_surface | (np.abs(self.number) >= 0.5)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"generalised: {self.open_edges} open edges"
        return f"Windings({np.count_nonzero(self.inside)} of {len(self)} inside, {how})"

    def _columns(self) -> dict[str, Any]:
        columns = {"number": self.number, "on_surface": self.on_surface, "inside": self.inside}
        return columns | {"exact": np.full(len(self), self.exact)}
