"""GLB: one mesh, with colours where they are given."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

import numpy as np

_FLOAT, _BYTE, _INDEX = 5126, 5121, 5125


def write_glb(file: IO[bytes], faces: np.ndarray, x: np.ndarray, colours: np.ndarray | None = None) -> None:
    """Coordinates are rounded to float32.

    colours : (m, 3) uint8 of the faces; each face has corners of its own then, since colours of a glTF are at vertices
    """
    if colours is None:
        positions, corners = x.astype("<f4"), faces.reshape(-1).astype("<u4")
    else:
        positions, corners = x[faces].reshape(-1, 3).astype("<f4"), np.arange(3 * len(faces), dtype="<u4")
    arrays: list[tuple[np.ndarray, dict[str, Any]]] = [
        (positions, {"componentType": _FLOAT, "type": "VEC3", **_limits(positions)}),
        (corners, {"componentType": _INDEX, "type": "SCALAR"}),
    ]
    attributes = {"POSITION": 0}
    if colours is not None:
        opaque = np.column_stack([colours, np.full(len(colours), 255, np.uint8)]).astype(np.uint8)
        arrays.append((opaque.repeat(3, axis=0), {"componentType": _BYTE, "type": "VEC4", "normalized": True}))
        attributes["COLOR_0"] = 2
    _write(file, arrays, attributes)


def _limits(positions: np.ndarray) -> dict[str, list[float]]:
    if len(positions) == 0:
        return {}
    return {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}


def _write(file: IO[bytes], arrays: list[tuple[np.ndarray, dict[str, Any]]], attributes: dict[str, int]) -> None:
    views, accessors, begin = [], [], 0
    for number, (array, kind) in enumerate(arrays):
        views.append({"buffer": 0, "byteOffset": begin, "byteLength": array.nbytes})
        accessors.append({"bufferView": number, "count": len(array), **kind})
        begin += array.nbytes  # all are of whole words
    root = {
        "asset": {"version": "2.0", "generator": "pliant"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 1, "material": 0}]}],
        "materials": [{"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.9}}],
        "buffers": [{"byteLength": begin}],
        "bufferViews": views,
        "accessors": accessors,
    }
    text = json.dumps(root, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    file.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + begin))
    file.write(struct.pack("<I4s", len(text), b"JSON") + text)
    file.write(struct.pack("<I4s", begin, b"BIN\0"))
    for array, _ in arrays:
        file.write(array.tobytes())
