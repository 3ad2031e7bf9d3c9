"""What is inside: vertices in cells, and points that a closed surface winds around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.results import notebooks
from pliant.results.exports import along_axes, numbered
from pliant.results.table import Rows
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage


@dataclass(frozen=True, repr=False, eq=False)
class InsideCells(Rows):
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

    def __repr__(self) -> str:
        if len(self) == 0:
            return "InsideCells(none)"
        counts = f"{len(np.unique(self.vertices))} vertices in {len(np.unique(self.cells))} cells"
        known = self.depth[~np.isnan(self.depth)]
        return f"InsideCells({counts}{f', deepest {known.max():.6g}' if len(known) else ''})"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"vertex": self.vertices, "cell": self.cells}
        columns |= numbered("weight", self.weights) | {"depth": self.depth}
        return columns | along_axes("direction", self.direction)

    def _repr_html_(self) -> str:
        return notebooks.insides_card(self)


@dataclass(frozen=True, repr=False, eq=False)
class InsideSurface(Rows):
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

    def __repr__(self) -> str:
        if len(self) == 0:
            return "InsideSurface(none)"
        on = int(np.count_nonzero(self.on_surface))
        known = self.depth[~np.isnan(self.depth)]
        words = [f"{len(self) - on} points inside"] + [f"{on} on the surface"] * (on > 0)
        return f"InsideSurface({', '.join(words)}{f', deepest {known.max():.6g}' if len(known) else ''})"

    def _columns(self) -> dict[str, Any]:
        columns = {"vertex": self.vertices, "winding": self.winding, "on_surface": self.on_surface}
        return columns | {"depth": self.depth} | along_axes("direction", self.direction)

    def _repr_html_(self) -> str:
        return notebooks.enclosed_card(self)
