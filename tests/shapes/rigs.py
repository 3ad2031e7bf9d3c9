"""Small skinned characters as glTF files, right ones and ones to be broken."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Builder:
    """JSON and binary data of a file in the making."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "buffers": [{}], "bufferViews": [], "accessors": []}
        self.data = bytearray()

    def view(self, array: np.ndarray, stride: int = 0) -> int:
        """A bufferView of rows, `stride` bytes apart, with junk in between."""
        rows = np.ascontiguousarray(array).reshape(len(array), -1)
        self.data += b"\xff" * (-len(self.data) % 4)
        entry: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.data)}
        if stride:
            entry["byteStride"] = stride
        for row in rows:
            content = row.tobytes()
            self.data += content + b"\xff" * max(stride - len(content), 0)
        entry["byteLength"] = len(self.data) - entry["byteOffset"]
        self.json["bufferViews"].append(entry)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, array: Any, dtype: str = "f4", *, normalized: bool = False, stride: int = 0) -> int:
        array = np.asarray(array).astype("<" + dtype)
        array = array.reshape(len(array), -1)
        entry = {"bufferView": self.view(array, stride), "componentType": COMPONENTS[dtype], "count": len(array)}
        entry["type"] = TYPES[array.shape[1]]
        if normalized:
            entry["normalized"] = True
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def sparse(self, count: int, width: int, rows: Any, values: Any) -> int:
        """float32 zeros, but for some rows."""
        indices, replaced = self.view(np.asarray(rows, "<u2")), self.view(np.asarray(values, "<f4"))
        where = {"bufferView": indices, "componentType": COMPONENTS["u2"]}
        entry = {"componentType": COMPONENTS["f4"], "count": count, "type": TYPES[width]}
        entry["sparse"] = {"count": len(rows), "indices": where, "values": {"bufferView": replaced}}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def glb(self) -> bytes:
        self.json["buffers"][0].setdefault("byteLength", len(self.data))
        text = json.dumps(self.json).encode()
        return assemble((0x4E4F534A, text + b" " * (-len(text) % 4)), (0x004E4942, bytes(self.data)))

    def gltf(self, uri: str | None = None) -> str:
        """Text with the data in it, or in the file that is named."""
        inline = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        self.json["buffers"][0] |= {"byteLength": len(self.data), "uri": inline if uri is None else uri}
        return json.dumps(self.json)

    def write(self, folder: Path, name: str = "rig.glb") -> Path:
        path = folder / name
        path.write_bytes(self.glb())
        return path


def assemble(*chunks: tuple[int, bytes]) -> bytes:
    body = b"".join(struct.pack("<II", len(data), kind) + data for kind, data in chunks)
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def tube(rings: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) positions and (m, 3) faces of a closed box that stands on the origin, of height 2."""
    square = np.array([(-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25)])
    x = np.array([(a, h, b) for h in np.linspace(0.0, 2.0, rings) for a, b in square])
    faces = [(0, 1, 2), (0, 2, 3)]
    for r in range(rings - 1):
        for i in range(4):
            a, b = 4 * r + i, 4 * r + (i + 1) % 4
            faces += [(a, a + 4, b), (b, a + 4, b + 4)]
    top = 4 * (rings - 1)
    return x, np.array([*faces, (top, top + 2, top + 1), (top, top + 3, top + 2)])


def carried(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 4) joints and weights: from the lower joint to the upper one with height."""
    upper = np.clip(x[:, 1] / 2.0, 0.0, 1.0)
    zeros = np.zeros(len(x))
    joints = np.tile(np.array([0, 1, 0, 0]), (len(x), 1))
    return joints, np.stack([1.0 - upper, upper, zeros, zeros], axis=1)


def bind_matrices() -> np.ndarray:
    """(2, 16) column by column: joints at height 0 and 1."""
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 3, 1] = -1.0
    return matrices.reshape(2, 16)


def simple(split: bool = True) -> Builder:
    """A tube on two joints below an armature, with one clip that bends it; faces with corners of their own if split."""
    builder = Builder()
    x, faces = tube()
    corners = faces.ravel() if split else np.arange(len(x))
    joints, weights = carried(x)
    primitive: dict[str, Any] = {
        "attributes": {
            "POSITION": builder.accessor(x[corners]),
            "JOINTS_0": builder.accessor(joints[corners], "u1"),
            "WEIGHTS_0": builder.accessor(weights[corners]),
        }
    }
    if not split:
        primitive["indices"] = builder.accessor(faces.ravel(), "u2")
    half = np.sqrt(0.5)
    times = builder.accessor([0.0, 1.0, 2.0])
    turns = builder.accessor([(0, 0, 0, 1), (0, 0, half, half), (0, 0, 0, 1)])
    builder.json |= {
        "meshes": [{"primitives": [primitive]}],
        "nodes": [
            {"name": "armature", "children": [1, 3], "translation": [0.0, 0.0, 0.0]},
            {"name": "lower", "children": [2]},
            {"name": "upper", "translation": [0.0, 1.0, 0.0]},
            {"name": "skin", "mesh": 0, "skin": 0, "translation": [9.0, 9.0, 9.0]},
        ],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": builder.accessor(bind_matrices())}],
        "animations": [
            {
                "name": "Bend",
                "samplers": [{"input": times, "output": turns}],
                "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
            }
        ],
    }
    return builder


def overwrite(builder: Builder, accessor: int, element: int, layout: str, *values):
    """Write numbers over the start of an element of an accessor."""
    entry = builder.json["accessors"][accessor]
    view = builder.json["bufferViews"][entry["bufferView"]]
    size = view["byteLength"] // entry["count"]
    struct.pack_into("<" + layout, builder.data, view["byteOffset"] + element * size, *values)
