"""Lines of a text file that know where they stand, and tables of numbers in them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.io.content import read_text
from pliant.io.mesh import FileError
from pliant.runtime.reading import current


class Line(NamedTuple):
    """One line of a file, numbered from 1 as editors do."""

    path: Path
    number: int
    text: str

    def error(self, why: str) -> FileError:
        return FileError(f"{self.path.name}:{self.number}: {why}")


def read_lines(path: Path, comment: str) -> list[Line]:
    """All lines that are neither empty nor begin with `comment`; what follows a comment sign in a line is kept."""
    # Latin 1 knows every byte: names of parts may be in any encoding, and numbers are the same in all.
    content = read_text(path).decode("latin-1")
    if "\0" in content:
        raise FileError(f"{path.name}: holds binary data, not text")
    lines = (Line(path, number, text) for number, text in enumerate(content.splitlines(), 1))
    return [line for line in lines if line.text.strip() and not line.text.lstrip().startswith(comment)]


def included(line: Line, name: str, depth: int, seen: list[Path]) -> Path:
    """The file that a line includes; `depth` counts files that include files, `seen` has
    all that were included before."""
    if depth >= 16:
        raise line.error(f"includes {name}: more than 16 files deep, or a file that includes itself")
    if len(seen) >= 1000:  # small files that include each other many times over would never end
        raise line.error(f"includes {name}: more than 1000 files")
    try:
        path = current().beside(line.path, name)
    except FileError as error:
        raise line.error(f"includes {name}, which {str(error).partition(', which ')[2]}") from None
    seen.append(path)
    return path


def numbers(line: Line, fields: Sequence[str], kind: Callable[[str], Any]) -> list[Any]:
    """The fields of a line as whole numbers (kind=int) or as numbers (kind=float)."""
    try:
        return [kind(field) for field in fields]
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise line.error(f"{_first_bad(fields, kind)!r} is not {wanted}") from error


def as_floats(
    path: Path, lines: Sequence[bytes], places: Sequence[int], rows: Sequence[Sequence[bytes]], what: str
) -> np.ndarray:
    """(k, 3) float64 of rows of three fields, each from the line of a place, counted from 0."""
    if all(len(row) == 3 for row in rows):
        with contextlib.suppress(ValueError):
            return np.array([float(field) for row in rows for field in row], np.float64).reshape(-1, 3)
    for place, row in zip(places, rows):
        line = Line(path, place + 1, lines[place].decode("latin-1"))
        if len(row) != 3:
            raise line.error(f"{what} has 3 coordinates, but this one {len(row)}")
        numbers(line, [field.decode("latin-1") for field in row], float)
    raise AssertionError("every row has three numbers")


def _first_bad(fields: Sequence[str], kind: Callable[[str], Any]) -> str:
    for field in fields:
        try:
            kind(field)
        except ValueError:
            return field.strip()
    raise AssertionError("every field is a number")


def section(lines: Sequence[Line], start: int, count: int, what: str) -> Sequence[Line]:
    """`count` lines from place `start` on; whether they are there is asked before anything is made of their number."""
    if count < 0 or start + count > len(lines):
        before = lines[min(start, len(lines)) - 1]
        raise before.error(f"{count} {what} are declared, but {len(lines) - start} lines follow")
    return lines[start : start + count]


class Nodes(NamedTuple):
    """Nodes of a file, by numbers of their own.

    ids : (n,) int64, ascending
    row : (n,) int64, which point each of them is
    points : (n, 3) float64, in the order of the file
    """

    ids: np.ndarray
    row: np.ndarray
    points: np.ndarray

    @staticmethod
    def of(lines: Sequence[Line], ids: Sequence[int], points: Sequence[Sequence[float]]) -> Nodes:
        """Nodes given by one line each."""
        number = as_ids(lines, [[i] for i in ids], 1)[:, 0]
        order = np.argsort(number, kind="stable")
        twice = np.flatnonzero(number[order][1:] == number[order][:-1])
        if len(twice):
            raise lines[int(order[twice[0] + 1])].error(f"node {number[order[twice[0]]]} is given a second time")
        return Nodes(number[order], order, np.array(points, np.float64).reshape(-1, 3))

    def rows(self, lines: Sequence[Line], cells: Sequence[Sequence[int]], width: int) -> np.ndarray:
        """(k, width) int64 rows of points for cells that are given by one line each, in numbers of nodes."""
        wanted = as_ids(lines, cells, width)
        if len(self.ids) == 0 and wanted.size:
            raise lines[0].error("refers to nodes, but the file gives none")
        place = np.minimum(np.searchsorted(self.ids, wanted), max(len(self.ids) - 1, 0))
        missing = np.argwhere(self.ids[place] != wanted) if wanted.size else np.empty((0, 2), np.int64)
        if len(missing):
            cell, corner = missing[0]
            raise lines[cell].error(f"refers to node {wanted[cell, corner]}, which the file does not give")
        return self.row[place]


def as_ids(lines: Sequence[Line], rows: Sequence[Sequence[int]], width: int) -> np.ndarray:
    """(k, width) int64."""
    try:
        return np.array(rows, np.int64).reshape(-1, width)
    except OverflowError:
        for line, row in zip(lines, rows):
            if any(abs(i) >= 2**63 for i in row):
                raise line.error("a number of a node needs more than 64 bits") from None
        raise
