"""Pairs of files of tetgen: points in .node, tetrahedra in .ele. VEGA has the same tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.io.content import PACKED, ending_of, is_packed
from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.text import Line, Nodes, numbers, read_lines, section
from pliant.runtime.reading import current


def read(path: Path) -> FileMesh:
    node_path, ele_path = (_beside(path, ending) for ending in (".node", ".ele"))
    nodes = read_nodes(read_lines(node_path, comment="#"))
    lines = read_lines(ele_path, comment="#")
    corners = _header(lines, "elements")[1]
    if corners not in (4, 10):
        raise lines[0].error(f"tetrahedra have 4 or 10 nodes, not {corners}")
    return make(ele_path, [("tetra" if corners == 4 else "tetra10", read_cells(lines, nodes, corners))], nodes.points)


def read_nodes(lines: Sequence[Line]) -> Nodes:
    """A table: number of points, 3, and then for each its number and position; what follows in a line is skipped."""
    count, dimension = _header(lines, "points")
    if dimension != 3:
        raise lines[0].error(f"points need 3 coordinates, not {dimension}")
    rows = _rows(lines, count, 4, "points")
    ids = [numbers(line, row[:1], int)[0] for line, row in rows]
    return Nodes.of([line for line, _ in rows], ids, [numbers(line, row[1:], float) for line, row in rows])


def read_cells(lines: Sequence[Line], nodes: Nodes, corners: int) -> np.ndarray:
    """A table: number of cells, nodes of each, and then for each its number and its nodes. (k, corners) int64."""
    count, given = _header(lines, "elements")
    if given != corners:
        raise lines[0].error(f"elements need {corners} nodes here, not {given}")
    rows = _rows(lines, count, corners + 1, "elements")
    cells = [numbers(line, row[1:], int) for line, row in rows]
    return nodes.rows([line for line, _ in rows], cells, corners)


def _header(lines: Sequence[Line], what: str) -> tuple[int, int]:
    if not lines:
        raise FileError(f"no table of {what}: the file or section is empty")
    fields = lines[0].text.replace(",", " ").split()
    if len(fields) < 2:
        raise lines[0].error(f"a table of {what} begins with their number and how many numbers each has")
    count, width = numbers(lines[0], fields[:2], int)
    return count, width


def _rows(lines: Sequence[Line], count: int, width: int, what: str) -> list[tuple[Line, list[str]]]:
    rows = []
    for line in section(lines, 1, count, what):
        fields = line.text.partition("#")[0].replace(",", " ").split()
        if len(fields) < width:
            raise line.error(f"needs {width} numbers, but has {len(fields)}")
        rows.append((line, fields[:width]))
    return rows


def _beside(path: Path, ending: str) -> Path:
    if ending_of(path) == ending:
        return path
    name = Path(path.stem).stem if is_packed(path) else path.stem
    for other in (name + ending, name + ending.upper(), name + ending + PACKED):
        if (found := path.with_name(other)).is_file():
            current().require_inside(path, found)
            current().count(found)
            return found
    raise FileError(f"{path.name}: there is no {name + ending} beside it")
