"""VTK files in XML: unstructured grids (.vtu) and surfaces (.vtp), with all their pieces."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.displacement import AtRest, Vectors
from pliant.io.mesh import FileError, make
from pliant.io.polygons import fan
from pliant.io.vtk_data import VtkFile, open_vtk, read_array
from pliant.io.xml import count

# Number of the type in the file: name and nodes.
TYPES = {
    1: ("vertex", 1), 3: ("line", 2), 5: ("triangle", 3), 9: ("quad", 4), 10: ("tetra", 4), 12: ("hexahedron", 8),
    13: ("wedge", 6), 14: ("pyramid", 5), 21: ("line3", 3), 22: ("triangle6", 6), 23: ("quad8", 8),
    24: ("tetra10", 10), 25: ("hexahedron20", 20), 26: ("wedge15", 15), 27: ("pyramid13", 13), 28: ("quad9", 9),
    29: ("hexahedron27", 27), 32: ("wedge18", 18),
}  # fmt: skip
_LAGRANGE = {69: "triangle", 70: "quad", 71: "tetra", 72: "hexahedron", 73: "wedge", 74: "pyramid"}
_POLYGON = 7
WEDGE = (0, 2, 1, 3, 5, 4)
_LEFT_OUT = "cell of another type"


def read_at_rest(path: Path) -> AtRest:
    """The mesh, and the vectors at its points."""
    file = open_vtk(path)
    kind = file.root.get("type", "")
    grid = file.root.find(kind) if kind in ("UnstructuredGrid", "PolyData") else None
    if grid is None:
        raise FileError(f"{path.name}: holds {kind or 'nothing'}; UnstructuredGrid and PolyData are read")
    points, blocks, begin = [np.empty((0, 3))], [], 0
    pieces = grid.findall("Piece")
    for piece in pieces:
        points.append(_points(file, piece))
        found = _cells(file, piece) if kind == "UnstructuredGrid" else _polygons(file, piece)
        # Negative ones stay negative, and are found later.
        blocks += [(name, np.where(rows < 0, rows, rows + begin)) for name, rows in found]
        begin += len(points[-1])
    return AtRest(make(path, blocks, np.concatenate(points)), _vectors(file, pieces))


def _points(file: VtkFile, piece: Element) -> np.ndarray:
    length = count(file.path, piece, "NumberOfPoints")
    return read_array(file, piece.find("Points/DataArray"), length, 3).astype(np.float64)


def _vectors(file: VtkFile, pieces: list[Element]) -> Vectors:
    """Those that all pieces have."""
    names = [
        array.get("Name", "")
        for array in (pieces[0].findall("PointData/DataArray") if pieces else ())
        if array.get("NumberOfComponents") in ("2", "3") and array.get("type", "").startswith("Float")
    ]
    everywhere = [name for name in names if all(_named(piece, "PointData", name) is not None for piece in pieces)]
    return {name: partial(_vector, file, pieces, name) for name in everywhere}


def _vector(file: VtkFile, pieces: list[Element], name: str) -> np.ndarray:
    arrays = [(piece, _named(piece, "PointData", name)) for piece in pieces]
    columns = {count(file.path, array, "NumberOfComponents", "1") for _, array in arrays if array is not None}
    if len(columns) != 1:
        raise FileError(f"{file.path.name}: pieces have {name!r} with different numbers of components")
    (width,) = columns
    read = (read_array(file, array, count(file.path, piece, "NumberOfPoints"), width) for piece, array in arrays)
    return np.concatenate(list(read))


def _named(piece: Element, group: str, name: str) -> Element | None:
    return next((array for array in piece.findall(f"{group}/DataArray") if array.get("Name") == name), None)


def _cells(file: VtkFile, piece: Element) -> list[tuple[str, np.ndarray]]:
    length = count(file.path, piece, "NumberOfCells")
    if length == 0:
        return []
    types = read_array(file, _named(piece, "Cells", "types"), length).astype(np.int64)
    begins, corners = _rows(file, piece, "Cells", length)
    sizes = np.diff(begins)
    blocks = []
    for number in np.unique(types):
        of_type = types == number
        name, wanted = TYPES.get(int(number), (_LAGRANGE.get(int(number), _LEFT_OUT), 0))
        if number == _POLYGON:
            blocks.append(("triangle", _fans(file, begins, corners, np.flatnonzero(of_type))))
        elif name == _LEFT_OUT:
            blocks.append((f"{_LEFT_OUT} ({number})", np.empty((int(of_type.sum()), 0), np.int64)))
        else:
            blocks.append((name, _equal_rows(file, name, wanted, begins, corners, of_type, sizes)))
    return blocks


def _equal_rows(file, name, wanted, begins, corners, of_type, sizes) -> np.ndarray:
    """(k, size) corners of cells of one type."""
    size = wanted or int(sizes[of_type].min())
    bad = of_type & (sizes < size if not wanted else sizes != size)
    if bad.any():
        raise FileError(f"{file.path.name}: cell {int(np.argmax(bad))} is a {name}, but has {sizes[bad][0]} nodes")
    rows = corners[begins[:-1][of_type][:, None] + np.arange(size)]
    # The first three corners of a linear wedge go round the other way in VTK than in meshio, whose order is ours.
    return rows[:, WEDGE] if name == "wedge" and wanted else rows


def _rows(file: VtkFile, piece: Element, group: str, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each cell begins and ends among the corners, (length + 1,), and all corners."""
    ends = read_array(file, _named(piece, group, "offsets"), length).astype(np.int64)
    corners = read_array(file, _named(piece, group, "connectivity"), -1).astype(np.int64)
    begins = np.concatenate([[0], ends])
    if (np.diff(begins) < 0).any() or begins[-1] > len(corners):
        raise FileError(f"{file.path.name}: the offsets of {group} do not fit its {len(corners)} corners")
    return begins, corners


def _fans(file: VtkFile, begins: np.ndarray, corners: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(m, 3) triangles of polygons."""
    counts = np.diff(begins)[cells]
    if (counts < 3).any():
        raise FileError(f"{file.path.name}: polygon {cells[int(np.argmax(counts < 3))]} has fewer than 3 corners")
    places = np.repeat(begins[cells] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return fan(counts, corners[places])


def _polygons(file: VtkFile, piece: Element) -> list[tuple[str, np.ndarray]]:
    blocks = []
    for group, name in (("Verts", "vertex"), ("Lines", "line"), ("Strips", "strip")):
        left_out = count(file.path, piece, f"NumberOf{group}", "0")
        if left_out:
            blocks.append((name, np.empty((min(left_out, 2**31), 0), np.int64)))
    length = count(file.path, piece, "NumberOfPolys", "0")
    if length:
        begins, corners = _rows(file, piece, "Polys", length)
        blocks.append(("triangle", _fans(file, begins, corners, np.arange(length))))
    return blocks
