"""glTF with other positions: POSITION of the vertices that move, taken back through nodes, skins and morph targets."""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.io.gltf.container import read_container
from pliant.io.gltf.document import Document, Entry
from pliant.io.gltf.scene import Part, Scene, placing, read_scene
from pliant.io.rewriting.texts import moved
from pliant.runtime.writing import OutputError

_FLOAT, _TRIANGLES = 5126, 4
_JSON, _BIN = b"JSON", b"BIN\0"
_INDENT = re.compile(rb'\n([ \t]+)"')


class _Stored(NamedTuple):
    """Where positions of a primitive are: bytes of a buffer, from `begin` on, a vertex every `stride` bytes."""

    buffer: int
    begin: int
    stride: int
    rows: int


def rewrite(path: Path, x: np.ndarray) -> bytes:
    """The file, with the vertices that ``io.read`` gives at x, (n, 3)."""
    document = Document(path)
    root, _ = read_container(path)  # another copy, to be changed
    buffers: dict[int, bytearray] = {}
    changes = _changes(document, read_scene(document), x)
    for stored, values in changes.items():
        if stored.buffer not in buffers:
            buffers[stored.buffer] = bytearray(document.buffer(stored.buffer, "buffers"))
        table = np.ndarray((stored.rows, 3), "<f4", buffers[stored.buffer], stored.begin, (stored.stride, 4))
        table[:] = values
    for primitive in _shown(document):
        stored = _stored(document, primitive, False)
        if stored is not None and stored in changes:
            accessor, values = root["accessors"][_position(primitive)], changes[stored]
            accessor["min"], accessor["max"] = values.min(axis=0).tolist(), values.max(axis=0).tolist()
    content = path.read_bytes()
    return (_as_glb if content.startswith(b"glTF") else _as_text)(content, root, buffers)


# --- what changes ----------------------------------------------------------------------------------------------------


def _changes(document: Document, scene: Scene, x: np.ndarray) -> dict[_Stored, np.ndarray]:
    """Arrays of positions, (n, 3), that change."""
    before, matrices = scene.positions(), scene.skeleton.globals(None)
    needed = np.zeros(len(before), bool)
    needed[scene.faces] = True
    found: dict[_Stored, tuple[np.ndarray, np.ndarray, str]] = {}  # positions, which are known, whose they are
    end = 0
    for part, primitive in zip(scene.parts, _shown(document)):
        begin, end = end, end + len(part.primitive.positions)
        rows = moved(before[begin:end], x[begin:end])
        stored = _stored(document, primitive, bool(len(rows)))
        if stored is None:
            continue
        wanted, used = part.primitive.positions.copy(), needed[begin:end].copy()
        if len(rows):
            wanted[rows], used[rows] = _local(part, matrices, x[begin:end])[rows].astype("<f4"), True
        values, known, other = found.get(stored, (part.primitive.positions.copy(), np.zeros(len(used), bool), ""))
        clash = used & known & (values != wanted).any(axis=1)
        if clash.any():
            raise OutputError(
                f"{document.name}: {primitive.place} and {other} show the same vertices, and vertex "
                f"{int(np.argmax(clash))} would have to be at two places; give each its own"
            )
        values[used], known[used] = wanted[used], True
        found[stored] = values, known, primitive.place
    start = {
        _stored(document, one, False): part.primitive.positions for part, one in zip(scene.parts, _shown(document))
    }
    return {stored: values for stored, (values, _, _) in found.items() if (values != start[stored]).any()}


def _shown(document: Document) -> list[Entry]:
    """Primitives of triangles, as often as nodes show them, in the order of the parts of a scene."""
    found = []
    for node in document.root.entries("nodes"):
        if "mesh" in node:
            mesh = document.entry("meshes", node.integer("mesh"), node.place)
            found += [one for one in mesh.entries("primitives") if one.integer("mode", _TRIANGLES) >= _TRIANGLES]
    return found


def _position(primitive: Entry) -> int:
    return primitive.entry("attributes").integer("POSITION")


def _stored(document: Document, primitive: Entry, moves: bool) -> _Stored | None:
    """None where positions are not floats in a buffer, which matters only if they move."""
    entry = document.entry("accessors", _position(primitive), primitive.place)
    if "sparse" in entry or "bufferView" not in entry or entry.integer("componentType") != _FLOAT:
        if moves:
            raise OutputError(f"{document.name}: {entry.place}: positions are packed or sparse; write another format")
        return None
    view = document.entry("bufferViews", entry.integer("bufferView"), entry.place)
    begin = view.integer("byteOffset", 0) + entry.integer("byteOffset", 0)
    return _Stored(view.integer("buffer"), begin, view.integer("byteStride", 12), entry.integer("count"))


def _local(part: Part, matrices: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, 3) what POSITION has to be for the vertices of a part to be at x."""
    linear, shift = placing(part, matrices)
    volumes = np.linalg.det(linear)
    if (volumes == 0.0).any():
        raise OutputError("a node or its joints flatten what they show: it cannot be moved back through them")
    local = np.linalg.solve(linear, (x - shift)[:, :, None])[:, :, 0]
    return local - np.einsum("t,tnk->nk", part.weights, part.primitive.targets)


# --- writing ---------------------------------------------------------------------------------------------------------


def _as_glb(content: bytes, root: dict[str, Any], buffers: dict[int, bytearray]) -> bytes:
    """Chunks that are not known are kept as they are."""
    _set_uris(root, {index: data for index, data in buffers.items() if "uri" in root["buffers"][index]})
    place, chunks = 12, []
    while place < len(content):
        size, kind = struct.unpack_from("<I4s", content, place)
        chunks.append((kind, content[place + 8 : place + 8 + size]))
        place += 8 + size
    text = json.dumps(root, separators=(",", ":"), ensure_ascii=False).encode()
    chunks[0] = _JSON, text + b" " * (-len(text) % 4)
    if 0 in buffers and "uri" not in root["buffers"][0]:
        chunks[1] = _BIN, bytes(buffers[0])
    body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _as_text(content: bytes, root: dict[str, Any], buffers: dict[int, bytearray]) -> bytes:
    """Buffers that change are part of the file then, whatever they were before."""
    _set_uris(root, buffers)
    indented = _INDENT.search(content)
    if indented is None:
        return json.dumps(root, separators=(",", ":"), ensure_ascii=False).encode()
    return json.dumps(root, indent=indented[1].decode(), ensure_ascii=False).encode() + b"\n"


def _set_uris(root: dict[str, Any], buffers: dict[int, bytearray]) -> None:
    for index, data in buffers.items():
        text = base64.b64encode(data[: root["buffers"][index]["byteLength"]]).decode()
        root["buffers"][index]["uri"] = f"data:application/octet-stream;base64,{text}"
