"""XDMF: a mesh, or a series of them over time, in XML; numbers are in it, or in HDF5 or raw files beside it."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.content import read_bytes
from pliant.io.displacement import (
    AtRest,
    RestAndDisplaced,
    Vectors,
    added,
    are_elsewhere,
    chosen,
    is_named_so,
    times_of_two,
)
from pliant.io.mesh import CORNERS, FileError, FileMesh, make
from pliant.io.opening import Options, sequence_of
from pliant.io.xdmf_items import Items, mixed_blocks
from pliant.io.xml import parse

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence

_TOPOLOGIES = {
    "triangle": "triangle", "quadrilateral": "quad", "tetrahedron": "tetra", "pyramid": "pyramid", "wedge": "wedge",
    "hexahedron": "hexahedron",
}  # fmt: skip


def read_at_rest(path: Path) -> AtRest:
    """The mesh of the first grid, and the vectors at its points."""
    steps = _StepFrames(path, *_steps(path))
    vectors = steps.vectors(0)
    return AtRest(steps.mesh, vectors, any(map(is_named_so, vectors)) and steps.moves())


def open_frames(path: Path, options: Options) -> Sequence:
    """A series over time; a step without a mesh of its own has that of the first."""
    steps = _StepFrames(path, *_steps(path))
    steps.displacement = chosen(path, steps.vectors(0), options.displacement, steps.moves)
    frames, times, files = steps, steps.times, None
    if len(steps) == 1 and steps.displacement is not None:
        frames, times = RestAndDisplaced(steps.mesh.points, steps[0]), times_of_two(times[0])
        files = 2 * [path.name]
    by_rate = options.times(len(frames))
    return sequence_of(path, steps.mesh, frames, times=times if by_rate is None else by_rate, files=files)


def _steps(path: Path) -> tuple[list[Element], Items]:
    root = parse(path, read_bytes(path))
    domain = root.find("Domain")
    if root.tag != "Xdmf" or domain is None:
        raise FileError(f"{path.name}: is not an Xdmf file with a Domain")
    grids = domain.findall("Grid")
    series = [grid for grid in grids if grid.get("GridType", "Uniform").lower() == "collection"]
    uniform = [grid for grid in grids if grid.get("GridType", "Uniform").lower() == "uniform"]
    if not series:
        return uniform[:1] or _none(path), Items(path)
    steps = series[0].findall("Grid")
    if not steps or series[0].get("CollectionType", "Temporal").lower() != "temporal":
        return _none(path), Items(path)
    # FEniCS writes a series for each function.
    for other in series[1:]:
        others = other.findall("Grid")
        if len(others) == len(steps):
            for step, same in zip(steps, others):
                step.extend(same.findall("Attribute"))
    # Some writers give the mesh first, on its own, and refer to it in each step.
    if steps[0].find("Geometry") is None and uniform:
        for part in ("Geometry", "Topology"):
            found = uniform[0].find(part)
            if found is not None:
                steps[0].append(found)
    return steps, Items(path)


def _none(path: Path) -> list[Element]:
    raise FileError(f"{path.name}: there is no uniform grid, and no series of them over time")


class _StepFrames:
    """Positions of each step."""

    def __init__(self, path: Path, steps: list[Element], items: Items) -> None:
        self._path, self._items, self._steps = path, items, steps
        self.displacement: str | None = None  # the name of what is added to the points
        self.mesh = _mesh(path, items, steps[0])
        self.times = np.array([self._time(frame) for frame in range(len(steps))])

    def _time(self, frame: int) -> float:
        element = self._steps[frame].find("Time")
        text = str(frame) if element is None else element.get("Value", "")
        try:
            return float(text)
        except ValueError:
            raise FileError(f"{self._path.name}, frame {frame}: {text[:40]!r} is not a time") from None

    def __len__(self) -> int:
        return len(self._steps)

    def moves(self) -> bool:
        """Whether points at rest are elsewhere in the next step, or in the last."""
        others = {min(1, len(self) - 1), len(self) - 1}
        with contextlib.suppress(FileError):  # said when that frame is asked for
            return any(are_elsewhere(self._points(frame), self.mesh.points) for frame in others)
        return False

    def __getitem__(self, frame: int) -> np.ndarray:
        points = self._points(frame)
        if self.displacement is None:
            return points
        return added(self._path, points, self.vectors(frame), self.displacement)

    def _points(self, frame: int) -> np.ndarray:
        """At rest."""
        step = self._steps[frame]
        points = self.mesh.points
        if frame and step.find("Geometry") is not None:
            points = _points(self._path, self._items, step)
            if step.find("Topology") is not None:
                self._require_same(frame, _mesh(self._path, self._items, step))
        if len(points) != len(self.mesh.points):
            raise FileError(f"{self._path.name}: has {len(points)} points here, but {len(self.mesh.points)} at first")
        return points

    def _require_same(self, frame: int, mesh: FileMesh) -> None:
        first = self.mesh.cells
        if list(first) != list(mesh.cells) or any(not np.array_equal(first[k], mesh.cells[k]) for k in first):
            raise FileError(f"{self._path.name}: the cells of frame {frame} are not those of the first")

    def vectors(self, frame: int) -> Vectors:
        """Of 2 or 3 numbers at each point."""
        found = {}
        for one in self._steps[frame].findall("Attribute"):
            item = one.find("DataItem")
            shape = "" if item is None else item.get("Dimensions", "")
            if one.get("Center", "Node") == "Node" and shape.split()[1:] in (["2"], ["3"]):
                found[one.get("Name", "")] = partial(self._items.numbers, item)
        return found


def _points(path: Path, items: Items, grid: Element) -> np.ndarray:
    """(n, 3) float64"""
    geometry = grid.find("Geometry")
    kind = "" if geometry is None else geometry.get("GeometryType", geometry.get("Type", "XYZ")).upper()
    if geometry is None or kind not in ("XYZ", "XY"):
        raise FileError(f"{path.name}: a grid has no Geometry of XYZ or XY")
    points = items.numbers(geometry.find("DataItem"))
    if points.size % len(kind):
        raise FileError(f"{path.name}: {points.size} coordinates are not a whole number of points")
    points = points.reshape(-1, len(kind)).astype(np.float64)
    return points if kind == "XYZ" else np.column_stack([points, np.zeros(len(points))])


def _mesh(path: Path, items: Items, grid: Element) -> FileMesh:
    points = _points(path, items, grid)
    topology = grid.find("Topology")
    if topology is None:
        raise FileError(f"{path.name}: a grid has no Topology")
    kind = topology.get("TopologyType", topology.get("Type", "")).lower()
    corners = items.numbers(topology.find("DataItem"))
    if corners.dtype.kind not in "iu":
        raise FileError(f"{path.name}: the numbers of the Topology are not whole")
    if kind == "mixed":
        return make(path, mixed_blocks(path, corners.reshape(-1).astype(np.int64)), points)
    base = _TOPOLOGIES.get(kind.partition("_")[0])
    if base is None:
        raise FileError(f"{path.name}: a Topology of {kind!r} is not known")
    width = corners.shape[-1] if corners.ndim == 2 else CORNERS[base]
    if corners.size % width:
        raise FileError(f"{path.name}: {corners.size} corners are not a whole number of {base}")
    name = base if width == CORNERS[base] else f"{base}{width}"
    return make(path, [(name, corners.reshape(-1, width).astype(np.int64))], points)
