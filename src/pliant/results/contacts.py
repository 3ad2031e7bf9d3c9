"""Contacts: pairs of features that touch during a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.results import notebooks
from pliant.results.exports import OnFaces, faces_of_contacts, numbered, pair_columns, side_columns
from pliant.results.table import Rows
from pliant.runtime.arrays import as_positions, freeze
from pliant.runtime.tally import Stage

# How a pair ended: advancement reports what comes within its tolerance; what it could not bring that far although it
# could not prove it free ("stalled": rounding, or no end of small steps) counts as a contact where it stood.
STATUS = ("free", "contact", "", "at the start", "stalled")


@dataclass(frozen=True, repr=False, eq=False)
class Contacts(Rows, OnFaces):
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
    inversion : (k,) bool, one cell has both features: it is being inverted
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

    def _columns(self) -> dict[str, Any]:
        columns = pair_columns(self) | {"toi": self.toi, "toi_upper": self.toi_upper} | side_columns(self)
        columns |= {"gap": self.gap, "status": np.array(STATUS)[self.status]}
        if (self.cells >= 0).any():
            columns |= numbered("cell", self.cells) | {"inversion": self.inversion}
        return columns

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
