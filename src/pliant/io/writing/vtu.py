"""VTU: cells of all kinds, and numbers at them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import IO
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.io.vtu import TYPES, WEDGE

_NUMBER = {name: number for number, (name, _) in TYPES.items()}
_NAMES = {"f8": "Float64", "i8": "Int64", "i4": "Int32", "u1": "UInt8"}


def write_vtu(
    file: IO[bytes], cells: Mapping[str, np.ndarray], x: np.ndarray, data: Mapping[str, np.ndarray] | None = None
) -> None:
    """`data` is at cells, in the order of the kinds, each (c,) int32 or float64."""
    for part in _parts(cells, x, data or {}):
        file.write(part)


def _parts(cells: Mapping[str, np.ndarray], x: np.ndarray, data: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    rows = [cell[:, WEDGE] if kind == "wedge" else cell for kind, cell in cells.items()]
    sizes = np.concatenate([np.empty(0, np.int64), *(np.full(len(row), row.shape[1]) for row in rows)])
    types = np.concatenate([np.empty(0, np.uint8), *(np.full(len(cells[k]), _NUMBER[k], np.uint8) for k in cells)])
    corners = np.concatenate([np.empty(0, np.int64), *(row.reshape(-1) for row in rows)])
    yield b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
    yield b'header_type="UInt64">\n<UnstructuredGrid>\n'
    yield f'<Piece NumberOfPoints="{len(x)}" NumberOfCells="{len(types)}">\n<Points>\n'.encode()
    yield from _array("Points", x.astype("<f8"), 3)
    yield b"</Points>\n<Cells>\n"
    yield from _array("connectivity", corners.astype("<i8"))
    yield from _array("offsets", np.cumsum(sizes).astype("<i8"))
    yield from _array("types", types)
    yield b"</Cells>\n<CellData>\n"
    for name, values in data.items():
        yield from _array(name, values.astype("<f8" if values.dtype.kind == "f" else "<i4"))
    yield b"</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"


def _array(name: str, values: np.ndarray, columns: int | None = None) -> Iterator[bytes]:
    kind = _NAMES[values.dtype.str[1:]]
    width = f' NumberOfComponents="{columns}"' if columns else ""
    yield f'<DataArray type="{kind}" Name={quoteattr(name)}{width} format="binary">\n'.encode()
    yield base64.b64encode(values.nbytes.to_bytes(8, "little") + values.tobytes())
    yield b"\n</DataArray>\n"
