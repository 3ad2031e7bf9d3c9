"""What files announce that meshio reads, before it does: it allocates whatever they say, or reads other files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pliant.io.content import ending_of, read_text
from pliant.runtime.reading import FileError, current

# How many of something follow, at the begin of a line; three numbers give the points of a grid.
_COUNTS = {
    ".vtk": re.compile(rb"^(?:POINTS|CELLS|CELL_TYPES|POLYGONS|OFFSETS|CONNECTIVITY|FIELD \S+)((?:[ \t]+\d+)+)", re.M),
    ".msh": re.compile(rb"^\$(?:Nodes|Elements|PhysicalNames|Entities)\s+(\d+(?:[ \t]+\d+)*)", re.M),
    ".mesh": re.compile(rb"^(?:Vertices|Triangles|Quadrilaterals|Tetrahedra|Hexahedra|Edges)\s+(\d+)", re.M),
}
_GRID = re.compile(rb"^DIMENSIONS[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)", re.M)
_GRID_SIZE = 200  # bytes for each point of one: itself, its cell, and both while they are made
_DEEPEST = 16


def require_announced(path: Path) -> None:
    """Nothing that is declared is larger than the file may expand to."""
    ending = ending_of(path)
    if ending == ".inp":
        _look_at_deck(path, path, 0)
    elif ending in _COUNTS:
        content = read_text(path)
        for match in _COUNTS[ending].finditer(content):
            for count in map(_number, match[1].split()):
                current().require(8 * count, f"{count} of something are declared")
        for match in _GRID.finditer(content) if ending == ".vtk" else ():
            points = _number(match[1]) * _number(match[2]) * _number(match[3])
            current().charge(_GRID_SIZE * points, f"a grid of {points} points")


def _number(digits: bytes) -> int:
    return int(digits[:18])


def _look_at_deck(asked: Path, path: Path, depth: int) -> None:
    """Of Abaqus: includes are files in the folder, and sets that are made of three numbers are not too large."""
    if depth > _DEEPEST:
        raise FileError(f"{asked.name}: includes more than {_DEEPEST} files deep, or a file that includes itself")
    makes_sets = False
    for line in read_text(path).decode("latin-1").splitlines():
        text = line.strip()
        if text.startswith("*"):
            keyword = text[1:].partition(",")[0].strip().upper()
            makes_sets = keyword in ("NSET", "ELSET") and "GENERATE" in text.upper()
            if keyword == "INCLUDE":
                _look_at_deck(asked, _included(path, line.split("=")[-1].strip()), depth + 1)
        elif makes_sets and text:
            numbers = [int(field) for field in text.split(",") if re.fullmatch(r"\s*-?\d{1,18}\s*", field)]
            if len(numbers) == 3:
                current().charge(4 * max(0, (numbers[1] - numbers[0]) // (numbers[2] or 1)), text[:80])


def _included(path: Path, name: str) -> Path:
    found = current().beside(path, name)
    # meshio looks for it in the working folder first.
    if os.path.exists(name) and not os.path.samefile(name, found):  # noqa: PTH110, PTH121 (as meshio does)
        raise FileError(f"{path.name}: includes {name[:80]!r}, of which there is another in the working folder")
    return found
