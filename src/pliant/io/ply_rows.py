"""Rows of a PLY file as columns: one array for each property, or counts and entries for a list.

Nothing is allocated for a number of rows before the bytes that they need at least are known to be there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.io.mesh import FileError

Columns = dict[str, "np.ndarray | tuple[np.ndarray, np.ndarray]"]


class Property(NamedTuple):
    name: str
    dtype: str  # of its entries
    count_dtype: str  # of the number of its entries; "" if it is no list


class Element(NamedTuple):
    name: str
    rows: int
    properties: list[Property]

    def least_bytes(self) -> int:
        """Of one row: lists may be empty."""
        return sum(np.dtype(prop.count_dtype or prop.dtype).itemsize for prop in self.properties)


def binary_columns(file: str, content: memoryview, elements: list[Element]) -> dict[str, Columns]:
    found: dict[str, Columns] = {}
    begin = 0
    for element in elements:
        if element.rows * element.least_bytes() > len(content) - begin:
            raise FileError(
                f"{file}: declares {element.rows} of {element.name}, but {len(content) - begin} bytes are left"
            )
        found[element.name], size = _binary_element(file, content[begin:], element)
        begin += size
    return found


def bytes_of(file: str, content: memoryview, elements: list[Element]) -> int:
    """How many bytes the rows of elements take, one after the other."""
    begin = 0
    for element in elements:
        begin += _binary_element(file, content[begin:], element)[1]
    return begin


def _binary_element(file: str, content: memoryview, element: Element) -> tuple[Columns, int]:
    """Columns of an element, and how many bytes they took."""
    if element.rows == 0 or not element.properties:
        return _no_rows(element), 0
    first = _like_the_first(content, element)
    if first is not None:
        rows = np.frombuffer(content, first, element.rows)
        lists = [(name, rows[f"{name} count"], rows[name]) for name, *_ in _lists(element)]
        if all((counts == entries.shape[1]).all() for _, counts, entries in lists):
            columns: Columns = {prop.name: rows[prop.name] for prop in element.properties}
            columns.update({name: (counts, entries.reshape(-1)) for name, counts, entries in lists})
            return columns, rows.nbytes
    return _row_by_row(file, content, element)


def _lists(element: Element) -> list[Property]:
    return [prop for prop in element.properties if prop.count_dtype]


def _no_rows(element: Element) -> Columns:
    none = np.empty(0, np.int64)
    return {prop.name: (none, none) if prop.count_dtype else none for prop in element.properties}


def _like_the_first(content: memoryview, element: Element) -> np.dtype | None:
    """A row, if all lists are as long as in the first one; None if rows like that would not fit."""
    fields: list[tuple] = []
    for prop in element.properties:
        if prop.count_dtype:
            place = np.dtype(fields).itemsize
            if place + np.dtype(prop.count_dtype).itemsize > len(content):
                return None
            length = int(np.frombuffer(content, prop.count_dtype, 1, place)[0])
            if not 0 <= length <= len(content):
                return None
            fields += [(f"{prop.name} count", prop.count_dtype), (prop.name, prop.dtype, (length,))]
        else:
            fields.append((prop.name, prop.dtype))
        if np.dtype(fields).itemsize * element.rows > len(content):
            return None
    return np.dtype(fields)


def _row_by_row(file: str, content: memoryview, element: Element) -> tuple[Columns, int]:
    """Lists of different lengths: only they are kept."""
    counts: dict[str, list[int]] = {prop.name: [] for prop in _lists(element)}
    entries: dict[str, list[np.ndarray]] = {prop.name: [] for prop in _lists(element)}
    plans = [(p, np.dtype(p.dtype), np.dtype(p.count_dtype) if p.count_dtype else None) for p in element.properties]
    place = 0
    try:
        for _ in range(element.rows):
            for prop, dtype, count_dtype in plans:
                length = 1
                if count_dtype is not None:
                    length = int(np.frombuffer(content, count_dtype, 1, place)[0])
                    place += count_dtype.itemsize
                    if length < 0:
                        raise ValueError("a list of a negative length")
                    counts[prop.name].append(length)
                    entries[prop.name].append(np.frombuffer(content, dtype, length, place))
                place += length * dtype.itemsize
        if place > len(content):
            raise ValueError("rows end after the file")
    except ValueError as error:
        raise FileError(f"{file}: the rows of {element.name} do not fit into the file; cut off?") from error
    return {name: (np.array(counts[name]), np.concatenate(entries[name])) for name in counts}, place


def text_columns(file: str, content: memoryview, elements: list[Element]) -> dict[str, Columns]:
    lines = [line for line in bytes(content).split(b"\n") if not line.isspace() and line]
    found: dict[str, Columns] = {}
    begin = 0
    for element in elements:
        if element.rows > len(lines) - begin:
            raise FileError(
                f"{file}: declares {element.rows} of {element.name}, but {len(lines) - begin} lines are left"
            )
        found[element.name] = _text_element(file, lines[begin : begin + element.rows], element)
        begin += element.rows
    return found


def _text_element(file: str, lines: list[bytes], element: Element) -> Columns:
    values: dict[str, list[bytes]] = {prop.name: [] for prop in element.properties}
    counts: dict[str, list[int]] = {prop.name: [] for prop in _lists(element)}
    for row, line in enumerate(lines):
        fields = line.split()
        place = 0
        for prop in element.properties:
            length = 1
            if prop.count_dtype:
                try:
                    length = int(fields[place])
                except (IndexError, ValueError):
                    length = -1
                place += 1
                counts[prop.name].append(length)
            if length < 0 or place + length > len(fields):
                raise FileError(f"{file}: {element.name} {row} has too few numbers: {line[:60].decode('latin-1')!r}")
            values[prop.name] += fields[place : place + length]
            place += length
    arrays = {prop.name: _converted(file, element, prop, values[prop.name]) for prop in element.properties}
    return {
        name: (np.array(counts[name], np.int64), array) if name in counts else array for name, array in arrays.items()
    }


def _converted(file: str, element: Element, prop: Property, fields: list[bytes]) -> np.ndarray:
    """Rounded to the type of the header, as a binary file of the same mesh would be; whole numbers are as they are."""
    kind = float if np.dtype(prop.dtype).kind == "f" else int
    try:
        array = np.array([kind(field) for field in fields], np.float64 if kind is float else np.int64)
    except (ValueError, OverflowError) as error:
        raise FileError(f"{file}: {prop.name} of {element.name}: {error}") from error
    with np.errstate(over="ignore"):
        return array.astype(prop.dtype) if kind is float else array
