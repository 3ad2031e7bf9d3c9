"""Results for machines: JSON as the published schema says, CSV and NPZ."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import product
from typing import IO, Any, NamedTuple

import numpy as np

import pliant
from pliant.characters.detection.penetrations import Penetrations
from pliant.results.contacts import Contacts
from pliant.results.insides import InsideCells, InsideSurface
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity

KINDS = np.array(["vertex-face", "edge-edge"])
# What a row of a table of CSV calls one of several: in JSON a face has "vertices", in CSV columns vertex_0 ...
_SINGULAR = {
    "elements": "element", "vertices": "vertex", "weights": "weight", "faces": "face", "points": "point",
    "segment": "end", "bones": "bone", "parts": "part",
}  # fmt: skip
_VECTORS = ("normal", "point", "points", "segment", "direction")  # their last axis is x, y, z


class Table(NamedTuple):
    """Things of one kind that were found: columns of equal length, whose rows are numbers, words or arrays."""

    name: str
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


class Result(NamedTuple):
    """What a verb found.

    head : what JSON says before the list: counts, and what they are of
    tables : what was found; None for a verb that does not look for anything
    """

    verb: str
    head: dict[str, Any]
    tables: tuple[Table, ...] | None = None


def contact_table(contacts: Contacts, points: np.ndarray, parts: np.ndarray | None = None, **first: Any) -> Table:
    """One row per contact.

    points : (k, 3) where they happen
    parts : (k, 2) names of those that the two sides belong to, where they have names
    first : columns to come before the others, one value each
    """
    names = ("elements", "vertices", "toi", "toi_upper", "gap", "normal", "weights")
    columns = {"kind": KINDS[contacts.kind]} | {name: getattr(contacts, name) for name in names} | {"point": points}
    return Table("contacts", _repeated(first, len(contacts)) | columns | _told(parts))


def intersection_table(
    pairs: Intersections, files: tuple[str, str] | None = None, parts: np.ndarray | None = None, **first: Any
) -> Table:
    """One row per pair of faces, with the files and the parts of the two, (k, 2) names, where these are told."""
    columns = {"kind": np.full(len(pairs), "face-face"), "faces": pairs.faces}
    columns |= {"segment": pairs.segments, "coplanar": pairs.coplanar}
    if files is not None:
        first, columns = {"file": files[0]} | first, columns | _repeated({"other_file": files[1]}, len(pairs))
    return Table("pairs", _repeated(first, len(pairs)) | columns | _told(parts))


def proximity_table(near: Proximity, files: np.ndarray | None = None, parts: np.ndarray | None = None) -> Table:
    """One row per pair of features, with the files and the parts of the two, (k, 2) names, where these are told."""
    names = ("elements", "vertices", "distance", "points", "normal")
    columns = {"kind": KINDS[near.kind]} | {name: getattr(near, name) for name in names}
    if files is not None:
        columns = {"file": files[:, 0]} | columns | {"other_file": files[:, 1]}
    return Table("pairs", columns | _told(parts))


def _told(parts: np.ndarray | None) -> dict[str, np.ndarray]:
    return {} if parts is None else {"parts": parts}


def inside_table(found: InsideCells | Penetrations, **first: Any) -> Table:
    """One row per vertex and cell."""
    columns = {"kind": np.full(len(found), "vertex-cell"), "vertex": found.vertices, "cell": found.cells}
    return Table("pairs", _repeated(first, len(found)) | columns | {"depth": found.depth, "direction": found.direction})


def enclosed_table(found: InsideSurface) -> Table:
    """One row per vertex in a closed surface."""
    names = ("winding", "on_surface", "depth", "direction")
    columns = {"kind": np.full(len(found), "vertex-surface"), "vertex": found.vertices}
    return Table("pairs", columns | {name: getattr(found, name) for name in names})


def inverted_table(cells: np.ndarray, turned: np.ndarray, **first: Any) -> Table:
    """One row per solid cell that is inverted or flat; turned : ids of those that were not so in the frame before."""
    columns = {"kind": np.full(len(cells), "inverted-cell"), "cell": cells, "turned": np.isin(cells, turned)}
    return Table("inverted", _repeated(first, len(cells)) | columns)


def joined(tables: Iterable[Table]) -> Table:
    """Tables of the same columns, one after the other; at least one."""
    every = list(tables)
    names = every[0].columns
    return Table(every[0].name, {name: np.concatenate([one.columns[name] for one in every]) for name in names})


def _repeated(first: dict[str, Any], count: int) -> dict[str, np.ndarray]:
    return {name: np.full(count, value) for name, value in first.items()}


def schema() -> str:
    """The JSON Schema (2020-12) that results keep to, as text."""
    return (files("pliant") / "schema" / "result.schema.json").read_text("utf-8")


def write_json(result: Result, file: IO[str]) -> None:
    """One object; its list comes last, a line for each entry, so that it can be read line by line."""
    head = {"verb": result.verb, "pliant": pliant.__version__} | result.head
    file.write(json.dumps(head, allow_nan=False)[:-1])
    if result.tables is not None:
        file.write(', "list": [')
        for i, record in enumerate(_records(result.tables)):
            file.write(("\n" if i == 0 else ",\n") + json.dumps(record, allow_nan=False))
        file.write("\n]" if any(map(len, result.tables)) else "]")
    file.write("}\n")


def _records(tables: Iterable[Table]) -> Iterator[dict[str, Any]]:
    for table in tables:
        columns = [_without_nan(column) for column in table.columns.values()]
        for row in zip(*columns):
            yield dict(zip(table.columns, row))


def _without_nan(column: np.ndarray) -> list[Any]:
    """JSON has no NaN: what is not known is null."""
    known = column.tolist()
    if column.dtype.kind != "f" or np.isfinite(column).all():
        return known
    if column.ndim == 1:
        return [number_or_none(value) for value in known]
    return [row if np.isfinite(row).all() else None for row in known]


def number_or_none(value: float) -> float | None:
    """For JSON, which has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


class _EndingInNewline:
    """Rows of a csv.writer, one by one. Told to end them so, it would not put names with carriage returns in quotes."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text

    def write(self, row: str) -> None:
        self._text.write(row.removesuffix("\r\n") + "\n")


def as_csv(result: Result) -> bytes:
    """A row for each entry of the list, under the columns of all tables; empty where a table has no such column."""
    tables = _tables(result)
    flat = [_flat(table) for table in tables]
    names = list(dict.fromkeys(name for columns in flat for name in columns))
    text = io.StringIO(newline="")
    writer = csv.writer(_EndingInNewline(text))
    writer.writerow(names)
    for columns, table in zip(flat, tables):
        blank = [""] * len(table)
        writer.writerows(zip(*(columns[name].tolist() if name in columns else blank for name in names)))
    return text.getvalue().encode("utf-8", "surrogateescape")


def _tables(result: Result) -> tuple[Table, ...]:
    """What was found; where nothing was searched for, the lists in the head."""
    if result.tables is not None:
        return result.tables
    out = []
    for name, rows in result.head.items():
        if isinstance(rows, list):
            keys = dict.fromkeys(key for row in rows for key in row)
            out.append(Table(name, {key: np.array([row.get(key, "") for row in rows]) for key in keys}))
    return tuple(out)


def _flat(table: Table) -> dict[str, np.ndarray]:
    """Columns of plain values, named as those of ``to_pandas``."""
    out = {}
    for name, column in table.columns.items():
        for place in product(*map(range, column.shape[1:])):
            words = [str(i) for i in place]
            if name in _VECTORS:
                words[-1] = "xyz"[place[-1]]
            out["_".join([_SINGULAR.get(name, name), *words])] = column[(slice(None), *place)]
    return out


def write_npz(result: Result, file: IO[bytes]) -> None:
    """The columns as arrays, with the name of their table before them where there are several, and `about`: the rest
    as JSON. numpy reads it without pickle."""
    tables = _tables(result)
    arrays: dict[str, Any] = {
        (f"{table.name}_{name}" if len(tables) > 1 or name == "file" else name): column  # savez has a `file` itself
        for table in tables
        for name, column in table.columns.items()
    }
    about = {"verb": result.verb, "pliant": pliant.__version__} | result.head
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
