"""Numbers of an XDMF file: in its text, in HDF5 or in raw files beside it."""

from __future__ import annotations

from math import prod
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.hdf5 import read_dataset, require_harmless
from pliant.io.mesh import FileError
from pliant.io.xml import count
from pliant.runtime.reading import current

_KINDS = {"float": "f", "int": "i", "uint": "u", "char": "i", "uchar": "u"}
# Number of the type in a mixed topology: name and nodes. Those of 1 and 2 give their number of nodes first.
MIXED = {
    1: ("vertex", 0), 2: ("line", 0), 4: ("triangle", 3), 5: ("quad", 4), 6: ("tetra", 4), 7: ("pyramid", 5),
    8: ("wedge", 6), 9: ("hexahedron", 8), 36: ("triangle6", 6), 37: ("quad8", 8), 38: ("tetra10", 10),
    39: ("pyramid13", 13), 40: ("wedge15", 15), 48: ("hexahedron20", 20),
}  # fmt: skip


class Items:
    """Reads the DataItems of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._harmless: set[Path] = set()

    def numbers(self, item: Element | None) -> np.ndarray:
        """An array of the shape that is declared."""
        if item is None or item.get("Reference") or item.get("ItemType", "Uniform") != "Uniform":
            raise FileError(f"{self._path.name}: a DataItem is missing, or refers to another one")
        shape = self._shape(item)
        kind = _KINDS.get(item.get("NumberType", item.get("DataType", "Float")).lower())
        if kind is None:
            raise FileError(f"{self._path.name}: numbers of type {item.get('NumberType')!r} are not known")
        text, way = (item.text or "").strip(), item.get("Format", "XML").lower()
        if way == "xml":
            array = self._inline(text, kind)
        elif way == "hdf":
            array = self._from_hdf5(text)
        elif way == "binary":
            array = self._raw(item, text, kind, shape)
        else:
            raise FileError(f"{self._path.name}: data in the format {way!r} are not read")
        if array.size != prod(shape):
            raise FileError(f"{self._path.name}: {prod(shape)} numbers are declared, but there are {array.size}")
        if array.dtype.kind not in "iuf":
            raise FileError(f"{self._path.name}: data are not numbers, but {array.dtype}")
        return array.reshape(shape)

    def _shape(self, item: Element) -> tuple[int, ...]:
        text = item.get("Dimensions", "")
        try:
            shape = tuple(int(field) for field in text.split())
        except ValueError:
            shape = ()
        if not 1 <= len(shape) <= 3 or min(shape) < 0 or prod(shape) >= 2**60:
            raise FileError(f"{self._path.name}: Dimensions are {text[:60]!r}")
        return shape

    def _inline(self, text: str, kind: str) -> np.ndarray:
        try:
            if kind == "f":
                return np.array([float(field) for field in text.split()], np.float64)
            return np.array([int(field) for field in text.split()], np.int64)
        except (ValueError, OverflowError) as error:
            raise FileError(f"{self._path.name}: {error}") from error

    def _from_hdf5(self, text: str) -> np.ndarray:
        name, _, inside = text.rpartition(":")
        file = current().beside(self._path, name.strip())
        try:
            if file not in self._harmless:
                require_harmless(file)
                self._harmless.add(file)
            return read_dataset(file, inside.strip())
        except FileError as error:
            if str(error).startswith(self._path.name):
                raise
            raise FileError(f"{self._path.name}: {error}") from error

    def _raw(self, item: Element, text: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        file = current().beside(self._path, text)
        order = ">" if item.get("Endian", "").lower() == "big" else "<"
        size = count(self._path, item, "Precision", "4")
        if size not in (1, 2, 4, 8) or (kind == "f" and size < 4):
            raise FileError(f"{self._path.name}: numbers of {size} bytes are not known")
        begin = count(self._path, item, "Seek", "0")
        if begin + prod(shape) * size > file.stat().st_size:
            raise FileError(f"{self._path.name}: {file.name} is too short for {prod(shape)} numbers; cut off?")
        current().charge(prod(shape) * 8, file.name)
        return np.fromfile(file, f"{order}{kind}{size}", prod(shape), offset=begin)


def mixed_blocks(path: Path, flat: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Cells of a mixed topology, each written as its type and its corners, by kind."""
    found: dict[str, list[list[int]]] = {}
    values, place = flat.tolist(), 0
    while place < len(values):
        name, nodes = MIXED.get(values[place], ("", 0))
        place += 1
        if name in ("vertex", "line") and place < len(values):
            nodes, place = values[place], place + 1
        if not name or nodes <= 0 or place + nodes > len(values):
            raise FileError(f"{path.name}: the mixed topology ends in the middle of a cell, or has a type of its own")
        found.setdefault(name, []).append(values[place : place + nodes])
        place += nodes
    blocks = []
    for name, rows in found.items():
        is_kept = name not in ("vertex", "line")
        blocks.append((name, np.array(rows, np.int64) if is_kept else np.empty((len(rows), 0), np.int64)))
    return blocks
