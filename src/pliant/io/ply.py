"""PLY, text or binary of either byte order: vertices and polygons, in the order of the file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.io.content import read_text
from pliant.io.mesh import FileError, FileMesh, make, warn
from pliant.io.ply_rows import Element, Property, binary_columns, text_columns
from pliant.io.polygons import fan

_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
LONGEST_HEADER = 2**16
_CORNERS = ("vertex_indices", "vertex_index")


class _Header(NamedTuple):
    order: str  # "<" or ">" of a binary file, "" of text
    elements: list[Element]
    end: int  # the byte where the rows begin


def read(path: Path) -> FileMesh:
    content = read_text(path)
    header = read_header(path, content[:LONGEST_HEADER])
    names = [element.name for element in header.elements]
    if "vertex" not in names or "face" not in names:
        raise FileError(f"{path.name}: the header has no element vertex, or no element face")
    columns = text_columns if not header.order else binary_columns
    found = columns(path.name, memoryview(content)[header.end :], header.elements)
    points = _points(path, found["vertex"])
    faces = _faces(path, found["face"], len(points))
    others = {element.name: element.rows for element in header.elements if element.name not in ("vertex", "face")}
    warn(path, {name: count for name, count in others.items() if count}, "left out:")
    return make(path, [("triangle", faces)], points)


def read_header(path: Path, content: bytes) -> _Header:
    if not content.startswith((b"ply\n", b"ply\r")):
        raise FileError(f"{path.name}: a file of this kind begins with 'ply', not with {content[:4]!r}")
    end = content.find(b"end_header")
    end_of_line = content.find(b"\n", end)
    if end < 0 or end_of_line < 0:
        raise FileError(f"{path.name}: the header has no end; cut off?")
    order, elements = None, []
    for number, line in enumerate(content[:end].decode("latin-1").splitlines(), 1):
        word, *fields = line.split() or [""]
        try:
            if word == "format":
                order = _FORMATS[fields[0]]
            elif word == "element":
                elements.append(Element(fields[0], _count(fields[1]), []))
            elif word == "property":
                prop = _property(fields, order or "")
                if any(prop.name == other.name for other in elements[-1].properties):
                    raise ValueError("a second one of its name")
                elements[-1].properties.append(prop)
        except (KeyError, IndexError, ValueError):
            raise FileError(f"{path.name}:{number}: {line[:80]!r} is not understood") from None
    if order is None:
        raise FileError(f"{path.name}: the header does not say in which format the rows are")
    return _Header(order, elements, end_of_line + 1)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError("a negative count")
    return count


def _property(fields: list[str], order: str) -> Property:
    if fields[0] == "list":
        return Property(fields[3], order + _TYPES[fields[2]], order + _TYPES[fields[1]])
    return Property(fields[1], order + _TYPES[fields[0]], "")


def _points(path: Path, columns: dict[str, np.ndarray | tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    axes = [columns.get(axis) for axis in "xyz"]
    if not all(isinstance(axis, np.ndarray) for axis in axes):
        raise FileError(f"{path.name}: vertices have no x, y and z")
    return np.column_stack([np.asarray(axis, np.float64) for axis in axes])


def _faces(path: Path, columns: dict[str, np.ndarray | tuple[np.ndarray, np.ndarray]], point_count: int) -> np.ndarray:
    """(m, 3) int64"""
    listed = next((columns[name] for name in _CORNERS if name in columns), None)
    if not isinstance(listed, tuple):
        raise FileError(f"{path.name}: faces have no list {' or '.join(_CORNERS)}")
    counts, corners = listed[0].astype(np.int64), listed[1]
    if (counts < 3).any():
        face = int(np.argmax(counts < 3))
        raise FileError(f"{path.name}: face {face} has {counts[face]} corners")
    bad = (corners < 0) | (corners >= point_count)
    if bad.any():
        place = int(np.argmax(bad))
        face = int(np.searchsorted(np.cumsum(counts), place, side="right"))
        raise FileError(f"{path.name}: face {face} refers to vertex {corners[place]}, but there are {point_count}")
    return fan(counts, corners.astype(np.int64))
