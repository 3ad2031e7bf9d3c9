"""Files of VEGA: plain text, *VERTICES and *ELEMENTS, each with a table as tetgen writes it, in place or in a file."""

from __future__ import annotations

from pathlib import Path

from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.tetgen import read_cells, read_nodes
from pliant.io.text import Line, included, read_lines

_KINDS = {
    "TET": ("tetra", 4),
    "TETS": ("tetra", 4),
    "TETRAHEDRA": ("tetra", 4),
    "CUBIC": ("hexahedron", 8),
    "CUBES": ("hexahedron", 8),
}


def read(path: Path) -> FileMesh:
    sections: dict[str, list[Line]] = {}
    name = ""
    for line in _expanded(path, 0, []):
        if line.text.lstrip().startswith("*"):
            name = line.text.split()[0].upper()
            # Materials, sets and regions may come many times, and are not read; a second mesh would be.
            if name in ("*VERTICES", "*ELEMENTS") and name in sections:
                raise line.error(f"{name} comes a second time")
            sections.setdefault(name, [])
        elif name:
            sections[name].append(line)
        else:
            raise line.error("a file of VEGA begins with *VERTICES")
    for wanted in ("*VERTICES", "*ELEMENTS"):
        if not sections.get(wanted):
            raise FileError(f"{path.name}: {wanted} is missing or empty")
    nodes = read_nodes(sections["*VERTICES"])
    kind_line, *lines = sections["*ELEMENTS"]
    kind, corners = _KINDS.get(kind_line.text.strip().upper(), ("", 0))
    if not kind:
        raise kind_line.error(f"elements are TET or CUBIC, not {kind_line.text.strip()!r}")
    if not lines:
        raise kind_line.error("no table of elements follows")
    return make(path, [(kind, read_cells(lines, nodes, corners))], nodes.points)


def _expanded(path: Path, depth: int, seen: list[Path]) -> list[Line]:
    """All lines, with those of included files in their places."""
    lines: list[Line] = []
    for line in read_lines(path, comment="#"):
        if line.text.split()[0].upper() == "*INCLUDE":
            name = line.text.strip()[len("*INCLUDE") :].strip().strip('"')
            lines += _expanded(included(line, name, depth, seen), depth + 1, seen)
        else:
            lines.append(line)
    return lines
