"""Wavefront OBJ: vertices and polygons, in the order of the file, with the names of their objects and groups. Normals,
textures and materials are passed over; nothing is merged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pliant.io.content import read_text
from pliant.io.mesh import FileError, FileMesh, make, warn
from pliant.io.polygons import fan
from pliant.io.text import Line, as_floats
from pliant.mesh.parts import Parts, parts_from

_NO_GROUP = ("", "default", "off")  # how programs write that no group follows
_LEFT_OUT = {b"l": "line", b"p": "point", b"curv": "curve", b"curv2": "curve", b"surf": "surface"}


class _Statements:
    """Vertices and polygons as they are written, each with the line that it is on, from 0."""

    def __init__(self) -> None:
        self.vertices: list[list[bytes]] = []
        self.vertex_lines: list[int] = []
        self.polygons: list[list[bytes]] = []
        self.polygon_lines: list[int] = []
        self.seen: list[int] = []  # vertices before each polygon, from which negative numbers count back
        self.left_out: dict[str, int] = {}
        self.parts: list[tuple[str, int]] = []  # name of a part, and polygons before it


def read(path: Path) -> FileMesh:
    content = read_text(path)
    lines = content.split(b"\n")
    if b"\\" in content:
        lines = _joined(lines)
    found = _collect(lines)
    points = as_floats(path, lines, found.vertex_lines, [row[:3] for row in found.vertices], "a vertex")
    faces = _triangles(path, lines, found, len(points))
    warn(path, found.left_out, "left out:")
    return make(path, [("triangle", faces)], points, parts=_parts(found))


def vertex_lines(lines: list[bytes]) -> list[int]:
    """The line, from 0, on which each vertex begins."""
    return _collect(_joined(list(lines))).vertex_lines


def _joined(lines: list[bytes]) -> list[bytes]:
    """A line that ends in a backslash goes on in the next, which is left empty: numbers of lines stay."""
    for place in range(len(lines) - 2, -1, -1):
        line = lines[place].rstrip()
        if line.endswith(b"\\"):
            lines[place], lines[place + 1] = line[:-1] + b" " + lines[place + 1], b""
    return lines


def _collect(lines: list[bytes]) -> _Statements:
    found = _Statements()
    object_name = ""
    for number, line in enumerate(lines):
        word, *fields = line.partition(b"#")[0].split() or (b"",)
        if word == b"v":
            found.vertices.append(fields)
            found.vertex_lines.append(number)
        elif word in (b"f", b"fo"):
            found.polygons.append(fields)
            found.polygon_lines.append(number)
            found.seen.append(len(found.vertices))
        elif word in (b"o", b"g"):
            name = b" ".join(fields).decode("utf-8", "replace")
            object_name = name if word == b"o" else object_name
            group = name if word == b"g" and name not in _NO_GROUP else ""
            inside = f"{object_name}/{group}" if object_name and group not in ("", object_name) else ""
            found.parts.append((inside or group or object_name, len(found.polygons)))
        elif word in _LEFT_OUT:
            kind = _LEFT_OUT[word]
            found.left_out[kind] = found.left_out.get(kind, 0) + 1
    return found


def _parts(found: _Statements) -> Parts | None:
    """An object, a group, or a group in an object, of all polygons that follow its name."""
    begins = [begin for _, begin in found.parts] + [len(found.polygons)]
    names = ["", *(name for name, _ in found.parts)]
    triangles = np.concatenate(([0], np.cumsum([len(polygon) - 2 for polygon in found.polygons]))).astype(np.int64)
    counts = np.diff(triangles[[0, *begins]])
    held = np.flatnonzero(counts)
    return parts_from([names[i] for i in held], counts[held].tolist())


def _triangles(path: Path, lines: list[bytes], found: _Statements, point_count: int) -> np.ndarray:
    """(m, 3) int64, rows of vertices from 0."""

    def error(polygon: int, why: str) -> FileError:
        number = found.polygon_lines[polygon]
        return Line(path, number + 1, lines[number].decode("latin-1")).error(why)

    counts = np.array([len(polygon) for polygon in found.polygons], np.int64)
    if (counts < 3).any():
        polygon = int(np.argmax(counts < 3))
        raise error(polygon, f"a face has 3 corners or more, but this one {counts[polygon]}")
    written = _corners(found, error)
    seen = np.repeat(np.array(found.seen, np.int64), counts)
    corners = np.where(written < 0, seen + written, written - 1)
    bad = (corners < 0) | (corners >= point_count) | (written == 0)
    if bad.any():
        place = int(np.argmax(bad))
        polygon = int(np.searchsorted(np.cumsum(counts), place, side="right"))
        raise error(polygon, f"refers to vertex {written[place]}, but there are {point_count}")
    return fan(counts, corners)


def _corners(found: _Statements, error: Callable[[int, str], FileError]) -> np.ndarray:
    """(c,) int64 numbers of vertices as they are written, one polygon after the other."""
    try:
        flat = [int(field.partition(b"/")[0]) for fields in found.polygons for field in fields]
        return np.array(flat, np.int64)
    except (ValueError, OverflowError):
        for polygon, fields in enumerate(found.polygons):
            try:
                np.array([int(field.partition(b"/")[0]) for field in fields], np.int64)
            except (ValueError, OverflowError):
                text = b" ".join(fields)[:60].decode("latin-1")
                raise error(polygon, f"{text!r} are no numbers of vertices") from None
        raise
