"""OBJ and OFF with other positions: fields of lines are replaced, and nothing else is touched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pliant.io import obj, off

_FIELD = re.compile(rb"[^\s\\]+")  # a backslash ends a line that goes on in the next


def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Rows that differ; -0.0 and 0.0 are the same."""
    return np.flatnonzero((before != after).any(axis=1))


def shortest(values: Iterable[float]) -> list[bytes]:
    """The shortest text that is read as the same float64."""
    return [repr(float(value)).encode() for value in values]


def with_fields(line: bytes, columns: Sequence[int], fields: Sequence[bytes]) -> bytes:
    """A line with some of its fields replaced; what is between them, and behind, stays."""
    spans = [match.span() for match in _FIELD.finditer(line)]
    for column, field in sorted(zip(columns, fields), reverse=True):
        begin, end = spans[column]
        line = line[:begin] + field + line[end:]
    return line


def rewrite_obj(path: Path, content: bytes, before: np.ndarray, x: np.ndarray) -> bytes:
    lines = content.split(b"\n")
    places = obj.vertex_lines(lines)
    for vertex in moved(before, x).tolist():
        first = last = places[vertex]
        while lines[last].rstrip().endswith(b"\\") and last + 1 < len(lines):
            last += 1
        statement = with_fields(b"\n".join(lines[first : last + 1]), (1, 2, 3), shortest(x[vertex]))
        lines[first : last + 1] = statement.split(b"\n")
    return b"\n".join(lines)


def rewrite_off(path: Path, content: bytes, before: np.ndarray, x: np.ndarray) -> bytes:
    places = [line.number - 1 for line in off.layout(path).points]
    lines = content.decode("latin-1").splitlines(keepends=True)  # as the reader numbers them
    for vertex in moved(before, x).tolist():
        line = lines[places[vertex]].encode("latin-1")
        lines[places[vertex]] = with_fields(line, (0, 1, 2), shortest(x[vertex])).decode("latin-1")
    return "".join(lines).encode("latin-1")
