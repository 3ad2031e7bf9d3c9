"""Arrays of a VTK file in XML: as text, in base64 or appended raw, compressed or not.

Nothing is decoded or allocated beyond what the counts of the file ask for, and these are held against its size.
"""

from __future__ import annotations

import base64
import binascii
import lzma
import re
import zlib
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.content import read_text
from pliant.io.mesh import FileError
from pliant.io.xml import count, parse
from pliant.runtime.reading import current

_TYPES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
_APPENDED = re.compile(rb"<AppendedData[^>]*>\s*_")
_LZMA_MEMORY = 2**27  # for its dictionary, of which the largest that its tool makes has 64 MB
_COMPRESSORS = {"": "", "vtkZLibDataCompressor": "zlib", "vtkLZMADataCompressor": "lzma"}


class VtkFile(NamedTuple):
    path: Path
    root: Element
    order: str
    header: np.dtype  # of the sizes before binary data
    compressor: str
    appended: bytes
    is_raw: bool


def open_vtk(path: Path) -> VtkFile:
    content = read_text(path)
    appended, is_raw = b"", False
    match = _APPENDED.search(content)
    if match:
        # Raw bytes are not XML: they are taken out first.
        end = content.rfind(b"</AppendedData>")
        if end < match.end():
            raise FileError(f"{path.name}: AppendedData has no end; cut off?")
        is_raw = b"raw" in match[0]
        appended = content[match.end() : end]
        content = content[: match.end()] + content[end:]
    root = parse(path, content)
    compressor = root.get("compressor", "")
    if root.tag != "VTKFile" or compressor not in _COMPRESSORS:
        raise FileError(f"{path.name}: is {root.tag} with compressor {compressor!r}; VTKFile with zlib or lzma is read")
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    header = np.dtype(order + _TYPES.get(root.get("header_type", "UInt32"), "u4"))
    return VtkFile(path, root, order, header, _COMPRESSORS[compressor], appended, is_raw)


def read_array(file: VtkFile, element: Element | None, length: int, columns: int | None = None) -> np.ndarray:
    """(length, columns) of a DataArray, or (length,) without `columns`; a length of -1 is as long as it is."""
    if element is None:
        raise FileError(f"{file.path.name}: an array is missing")
    name = element.get("Name", element.tag)
    if element.get("type") not in _TYPES:
        raise FileError(f"{file.path.name}: {name} has the type {element.get('type')!r}, which is not known")
    dtype = np.dtype(file.order + _TYPES[element.get("type", "")])
    if columns is not None and count(file.path, element, "NumberOfComponents", "1") != columns:
        raise FileError(f"{file.path.name}: {name} has {element.get('NumberOfComponents')} components, not {columns}")
    try:
        flat = _text(element, dtype) if element.get("format", "ascii") == "ascii" else _binary(file, element, dtype)
    except (ValueError, OverflowError, binascii.Error, zlib.error, lzma.LZMAError, EOFError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{file.path.name}: {name} cannot be read ({error})") from error
    current().charge(8 * len(flat), name)  # several may be of the same bytes, and numbers become larger ones
    if length >= 0 and len(flat) != length * (columns or 1):
        raise FileError(f"{file.path.name}: {name} has {len(flat)} numbers, not {length * (columns or 1)}; cut off?")
    return flat if columns is None else flat.reshape(-1, columns)


def _text(element: Element, dtype: np.dtype) -> np.ndarray:
    kind = float if dtype.kind == "f" else int
    return np.array([kind(field) for field in (element.text or "").split()]).astype(dtype.newbyteorder("="))


def _binary(file: VtkFile, element: Element, dtype: np.dtype) -> np.ndarray:
    if element.get("format") == "appended":
        data = file.appended[count(file.path, element, "offset") :]
        content = _raw_content(file, data) if file.is_raw else _base64_content(file, data)
    else:
        content = _base64_content(file, (element.text or "").strip().encode("latin-1"))
    if len(content) % dtype.itemsize:
        raise ValueError(f"{len(content)} bytes are not a whole number of {dtype}")
    return np.frombuffer(content, dtype)


def _raw_content(file: VtkFile, data: bytes) -> bytes | bytearray:
    size = file.header.itemsize
    if not file.compressor:
        length = int(_sizes(file, data, 1)[0])
        if length > len(data) - size:
            raise ValueError(f"{length} bytes are declared, but {len(data) - size} follow")
        return data[size : size + length]
    blocks = int(_sizes(file, data, 1)[0])
    sizes = _sizes(file, data, 3 + blocks)
    return _inflated(file, sizes, data[(3 + blocks) * size :])


def _base64_content(file: VtkFile, text: bytes) -> bytes | bytearray:
    size = file.header.itemsize
    first = text[: _base64_length(size)]
    if not file.compressor:
        length = int(_sizes(file, _decoded(first), 1)[0])
        if length > len(text):
            raise ValueError(f"{length} bytes are declared, but {len(text)} characters follow")
        # Some writers encode the size on its own, which shows by its padding, and some together with the data.
        if b"=" in first:
            rest = text[len(first) : len(first) + _base64_length(length)]
            return _decoded(rest)[:length]
        return _decoded(text[: _base64_length(size + length)])[size : size + length]
    blocks = int(_sizes(file, _decoded(text[: _base64_length(3 * size)].rstrip(b"=") + b"=="), 1)[0])
    if blocks > len(text):
        raise ValueError(f"{blocks} blocks are declared, but {len(text)} characters follow")
    head = _base64_length((3 + blocks) * size)
    sizes = _sizes(file, _decoded(text[:head]), 3 + blocks)
    return _inflated(file, sizes, _decoded(text[head : head + _base64_length(int(sizes[3:].sum()))]))


def _base64_length(size: int) -> int:
    return 4 * ((size + 2) // 3)


def _decoded(text: bytes) -> bytes:
    return base64.b64decode(text)


def _sizes(file: VtkFile, data: bytes, wanted: int) -> np.ndarray:
    if wanted * file.header.itemsize > len(data):
        raise ValueError(f"{wanted} sizes are declared, but {len(data)} bytes follow")
    return np.frombuffer(data, file.header, wanted)


def _inflated(file: VtkFile, sizes: np.ndarray, data: bytes) -> bytearray:
    """Blocks of one size, the last of which may be shorter: (blocks, size, size of the last or 0, compressed sizes)."""
    blocks, whole, last = (int(size) for size in sizes[:3])
    total = (blocks - (last > 0)) * whole + last
    current().charge(total)
    out, begin = bytearray(), 0
    for block in range(blocks):
        end = begin + int(sizes[3 + block])
        expected = last if last and block == blocks - 1 else whole
        is_zlib = file.compressor == "zlib"
        inflater = zlib.decompressobj() if is_zlib else lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)
        content = inflater.decompress(data[begin:end], expected + 1)
        out += content
        if len(content) != expected:
            raise ValueError(f"block {block} has not the {expected} bytes that are declared")
        begin = end
    return out
