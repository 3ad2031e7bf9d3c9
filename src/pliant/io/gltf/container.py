"""Bytes of a glTF file: chunks of a GLB, and buffers as data URIs or in files beside it."""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pliant.characters.rig.errors import FormatError, UnsupportedError
from pliant.runtime.reading import FileError, current

_MAGIC, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
_DATA = re.compile(r"data:[^,]*;base64,", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def read_container(path: Path) -> tuple[dict[str, Any], memoryview | None]:
    """The JSON of a .glb or .gltf, and the binary chunk where there is one."""
    content = _read(path)
    chunk = None
    if content[:4] == _MAGIC:
        text, chunk = _chunks(path.name, memoryview(content))
    elif path.suffix.lower() == ".glb":
        raise FormatError(f"{path.name}: byte 0: a GLB begins with {_MAGIC!r}, but this one with {content[:4]!r}")
    else:
        text = content
    return _parsed(path.name, bytes(text)), chunk


def _read(path: Path, limit: int = -1) -> bytes:
    try:
        if not path.is_file():
            raise FormatError(f"{path.name}: {'this is a folder' if path.is_dir() else 'there is no such file'}")
        with path.open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise FormatError(f"{path.name}: {error.strerror or error}") from error


def _chunks(name: str, content: memoryview) -> tuple[memoryview, memoryview | None]:
    if len(content) < 12:
        raise FormatError(f"{name}: cut off: a header of a GLB has 12 bytes, the file {len(content)}")
    version, length = struct.unpack_from("<II", content, 4)
    if version != 2:
        raise UnsupportedError(f"{name}: byte 4: version {version} of GLB; 2 is supported")
    if length != len(content):
        cut = "cut off: " if length > len(content) else ""
        raise FormatError(f"{name}: byte 8: {cut}{length} bytes are declared, but the file has {len(content)}")
    found: list[tuple[int, memoryview]] = []
    place = 12
    while place < length:
        if place + 8 > length:
            raise FormatError(f"{name}: byte {place}: {length - place} bytes are left, too few for a chunk")
        size, kind = struct.unpack_from("<II", content, place)
        if size > length - place - 8:
            raise FormatError(
                f"{name}: byte {place}: chunk {len(found)} has {size} bytes, but {length - place - 8} are left"
            )
        found.append((kind, content[place + 8 : place + 8 + size]))
        place += 8 + size
    if not found or found[0][0] != _JSON:
        raise FormatError(f"{name}: byte 12: the first chunk of a GLB has to be JSON")
    return found[0][1], found[1][1] if len(found) > 1 and found[1][0] == _BIN else None


def _parsed(name: str, text: bytes) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number in JSON")

    try:
        root = json.loads(text.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: the JSON cannot be read: {error}") from error
    if not isinstance(root, dict):
        raise FormatError(f"{name}: the JSON is not an object, but a {type(root).__name__}")
    return root


def read_uri(path: Path, place: str, uri: str, length: int) -> bytes:
    """`length` bytes of a data URI, or of a file beside or below the one at `path`."""
    where = f"{path.name}: {place}"
    if uri[:5].lower() == "data:":
        match = _DATA.match(uri)
        if not match:
            raise UnsupportedError(f"{where}: a data URI that is not in base64")
        try:
            data = base64.b64decode(uri[match.end() :], validate=True)
        except ValueError as error:
            raise FormatError(f"{where}: the data URI cannot be read: {error}") from error
    else:
        data = _read_beside(path, where, uri, length)
    if len(data) < length:
        raise FormatError(f"{where}: cut off: {length} bytes are declared, but there are {len(data)}")
    return data


def _read_beside(path: Path, where: str, uri: str, length: int) -> bytes:
    if _SCHEME.match(uri):
        raise UnsupportedError(f"{where}: {uri[:40]!r} is neither data nor a file beside this one")
    name = unquote(uri)
    try:
        beside = current().beside(path, name)
    except FileError as error:
        raise FormatError(f"{where}: {str(error).partition(': ')[2]}") from None
    size = beside.stat().st_size
    if size < length:
        raise FormatError(f"{where}: cut off: {length} bytes are declared, but {name!r} has {size}")
    return _read(beside, length)
