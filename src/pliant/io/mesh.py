"""What a file holds, and how cells of any kind become the six that are kept."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.mesh.parts import Parts
from pliant.mesh.space import Space
from pliant.runtime.arrays import LARGEST_INDEX
from pliant.runtime.reading import FileError as FileError

# Corners of each kind of cell, in the order in which their cells are numbered.
CORNERS = {"tetra": 4, "hexahedron": 8, "wedge": 6, "pyramid": 5, "triangle": 3, "quad": 4}
# Names of cells with nodes on edges and faces: in all orders that meshio and gmsh use, corners come first.
_HIGH_ORDER = re.compile(r"(tetra|hexahedron|wedge|pyramid|triangle|quad)[0-9]+")
_LAGRANGE = {
    "VTK_LAGRANGE_TETRAHEDRON": "tetra",
    "VTK_LAGRANGE_HEXAHEDRON": "hexahedron",
    "VTK_LAGRANGE_WEDGE": "wedge",
    "VTK_LAGRANGE_PYRAMID": "pyramid",
    "VTK_LAGRANGE_TRIANGLE": "triangle",
    "VTK_LAGRANGE_QUADRILATERAL": "quad",
}


class TopologyError(FileError):
    """A frame has other points or cells than the first."""


@dataclass(frozen=True, eq=False, repr=False)
class FileMesh:
    """The mesh of one file.

    cells : kind of cell to (k, corners) int32 rows of `points`; kinds and order of corners are meshio's: tetra,
        hexahedron, wedge, pyramid, triangle, quad. Only kinds that the file holds.
    points : (n, 3) float64
    frames : (f, n, 3) float64, positions over time, or None
    parts : names of the parts that triangles belong to (OBJ groups, glTF nodes, USD prims), where a file of triangles
        gives any, or None
    space : which axis points up and how long a unit is, where the format says (USD, glTF, COLLADA, 3MF), or None
    """

    cells: dict[str, np.ndarray]
    points: np.ndarray
    frames: np.ndarray | None = None
    parts: Parts | None = None
    space: Space | None = None

    def __repr__(self) -> str:
        held = ", ".join(f"{len(rows)} {kind}" for kind, rows in self.cells.items())
        frames = "" if self.frames is None else f", {len(self.frames)} frames"
        return f"FileMesh({held}; {len(self.points)} points{frames})"


def make(
    path: Path,
    blocks: list[tuple[str, np.ndarray]],
    points: np.ndarray,
    frames: np.ndarray | None = None,
    parts: Parts | None = None,
    space: Space | None = None,
) -> FileMesh:
    """Put blocks of cells, each (kind, (k, nodes) rows of points), together by kind, and check all of it.

    Cells of high order lose all but their corners, and cells of other kinds are left out, both with a warning.
    """
    if len(points) > LARGEST_INDEX:
        raise FileError(f"{path.name}: {len(points)} points are more than an int32 can count")
    _check_finite(path, points if frames is None else np.concatenate([points[None], frames]))
    found: dict[str, list[np.ndarray]] = {}
    shortened: dict[str, int] = {}
    left_out: dict[str, int] = {}
    for kind, rows in blocks:
        corner_kind = _corner_kind(kind)
        if corner_kind is None:
            left_out[kind] = left_out.get(kind, 0) + len(rows)
            continue
        if corner_kind != kind:
            shortened[kind] = shortened.get(kind, 0) + len(rows)
        found.setdefault(corner_kind, []).append(_checked(path, kind, rows, len(points)))
    cells = {kind: np.concatenate(found[kind]) for kind in CORNERS if kind in found}
    cells = {kind: rows for kind, rows in cells.items() if len(rows)}
    if not cells:
        other = f", only {_listed(left_out)}" if left_out else ""
        raise FileError(f"{path.name}: no cells of the kinds {', '.join(CORNERS)}{other}")
    warn(path, shortened, "only the corners are kept of")
    warn(path, left_out, "left out:")
    return FileMesh(cells, points, frames, parts, space)


def warn(path: Path, counts: Mapping[str, int], what: str) -> None:
    """Say what of a file is not in the result, if anything."""
    if counts:
        warnings.warn(f"{path.name}: {what} {_listed(counts)}", stacklevel=2)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _corner_kind(kind: str) -> str | None:
    if kind in CORNERS:
        return kind
    match = _HIGH_ORDER.fullmatch(kind)
    return match[1] if match else _LAGRANGE.get(kind)


def _check_finite(path: Path, positions: np.ndarray) -> None:
    bad = np.argwhere(~np.isfinite(positions))
    if len(bad):
        *frame, point, axis = (int(i) for i in bad[0])
        raise FileError(
            f"{path.name}: point {point} has a {'xyz'[axis]} that is not finite{' (in a frame)' * len(frame)}"
        )


def _checked(path: Path, kind: str, rows: np.ndarray, point_count: int) -> np.ndarray:
    """(k, corners) int32 of one block."""
    corners = CORNERS[_corner_kind(kind) or kind]
    rows = np.asarray(rows)
    if rows.size == 0:
        return np.empty((0, corners), np.int32)
    if rows.ndim != 2 or rows.shape[1] < corners or rows.dtype.kind not in "iu":
        raise FileError(f"{path.name}: {kind} cells need {corners} corners, but the file gives an array {rows.shape}")
    rows = rows[:, :corners]
    bad = ((rows < 0) | (rows >= point_count)).any(axis=1)
    if bad.any():
        cell = int(np.flatnonzero(bad)[0])
        raise FileError(f"{path.name}: {kind} {cell} refers to a point that is not among the {point_count} of the file")
    return np.ascontiguousarray(rows, np.int32)
