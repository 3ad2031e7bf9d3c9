"""OFF: counts, points, polygons, in the order of the file; colours and normals are passed over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.polygons import fan
from pliant.io.text import Line, numbers, read_lines, section

_HEAD = re.compile(r"(ST)?C?N?OFF\b", re.IGNORECASE)


class Layout(NamedTuple):
    """Which lines of a file hold what."""

    points: Sequence[Line]
    faces: Sequence[Line]


def read(path: Path) -> FileMesh:
    lines = layout(path)
    points = _points(lines.points)
    return make(path, [("triangle", _faces(lines.faces, len(points)))], points)


def layout(path: Path) -> Layout:
    """The lines of points and of faces, without what follows a comment sign."""
    lines = [line._replace(text=line.text.partition("#")[0]) for line in read_lines(path, comment="#")]
    if not lines:
        raise FileError(f"{path.name}: there is nothing but comments")
    head = _HEAD.match(lines[0].text.strip())
    if not head or "BINARY" in lines[0].text.upper():
        raise lines[0].error("a file of this kind begins with OFF, COFF, NOFF or the like, and is text")
    counts = lines[0]._replace(text=lines[0].text.strip()[head.end() :])
    body = 1
    if not counts.text.strip():
        counts, body = (section(lines, 1, 1, "line of counts")[0]), 2
    fields = counts.text.split()
    if len(fields) < 2:
        raise counts.error("the numbers of points and faces are missing")
    point_count, face_count = numbers(counts, fields[:2], int)
    points = section(lines, body, point_count, "points")
    return Layout(points, section(lines, body + point_count, face_count, "faces"))


def _points(lines: Sequence[Line]) -> np.ndarray:
    rows = [numbers(line, line.text.split()[:3], float) for line in lines]
    for line, row in zip(lines, rows):
        if len(row) < 3:
            raise line.error(f"a point has 3 coordinates, but this one {len(row)}")
    return np.array(rows, np.float64).reshape(-1, 3)


def _faces(lines: Sequence[Line], point_count: int) -> np.ndarray:
    counts, corners = [], []
    for line in lines:
        fields = line.text.split()
        (count,) = numbers(line, fields[:1], int)
        row = numbers(line, fields[1 : 1 + max(count, 0)], int)
        if count < 3 or len(row) < count:
            raise line.error(f"a face of {count} corners, of which {len(row)} are there")
        if min(row) < 0 or max(row) >= point_count:
            raise line.error(f"refers to point {min(row) if min(row) < 0 else max(row)}, but there are {point_count}")
        counts.append(count)
        corners += row
    return fan(np.array(counts, np.int64), np.array(corners, np.int64))
