"""PLY with other positions: x, y and z of the vertices that move, in text or in binary."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.io.ply import LONGEST_HEADER, read_header
from pliant.io.ply_rows import Element, bytes_of
from pliant.io.rewriting.texts import moved, shortest, with_fields
from pliant.runtime.writing import OutputError


def rewrite(path: Path, content: bytes, before: np.ndarray, x: np.ndarray) -> bytes:
    header = read_header(path, content[:LONGEST_HEADER])
    place = [element.name for element in header.elements].index("vertex")
    vertex = header.elements[place]
    kinds = {prop.name: np.dtype(prop.dtype) for prop in vertex.properties}
    if any(kinds[axis].kind != "f" for axis in "xyz"):
        raise OutputError(f"{path.name}: its vertices have whole numbers for coordinates, which cannot be moved")
    if any(prop.count_dtype for prop in vertex.properties):
        raise OutputError(f"{path.name}: its vertices have lists, beside which positions are not rewritten")
    rows, earlier = moved(before, x), header.elements[:place]
    if header.order:
        begin = header.end + bytes_of(path.name, memoryview(content)[header.end :], earlier)
        return content[:begin] + _binary(content, begin, vertex, rows, x)
    return content[: header.end] + _text(content[header.end :], earlier, vertex, rows, x)


def _binary(content: bytes, begin: int, vertex: Element, rows: np.ndarray, x: np.ndarray) -> bytes:
    table = np.frombuffer(content, [(prop.name, prop.dtype) for prop in vertex.properties], vertex.rows, begin).copy()
    for k, axis in enumerate("xyz"):
        table[axis][rows] = x[rows, k]
    return table.tobytes() + content[begin + table.nbytes :]


def _text(body: bytes, earlier: list[Element], vertex: Element, rows: np.ndarray, x: np.ndarray) -> bytes:
    lines = body.split(b"\n")
    filled = [number for number, line in enumerate(lines) if line and not line.isspace()]
    first = sum(element.rows for element in earlier)
    names = [prop.name for prop in vertex.properties]
    columns, kinds = [names.index(axis) for axis in "xyz"], [vertex.properties[names.index(a)].dtype for a in "xyz"]
    for row in rows.tolist():
        at = filled[first + row]
        # The reader rounds to the type of the header: the shortest text of that is short.
        fields = [shortest_of(value, kind) for value, kind in zip(x[row], kinds)]
        lines[at] = with_fields(lines[at], columns, fields)
    return b"\n".join(lines)


def shortest_of(value: float, dtype: str) -> bytes:
    """The shortest text that is the same number once it is rounded to a type."""
    if np.dtype(dtype).itemsize == 8:
        return shortest([value])[0]
    return str(np.float32(value)).encode()
