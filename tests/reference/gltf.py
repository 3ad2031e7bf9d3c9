"""The slow truth about skinned glTF: its formulas (sections 3.7.3 and 3.11 of the specification, version 2.0) in plain
loops, with json, struct and base64."""

from __future__ import annotations

import base64
import json
import math
import struct
from pathlib import Path

_FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_LARGEST = {5120: 127, 5121: 255, 5122: 32767, 5123: 65535, 5125: 4294967295}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6


class File:
    """A .glb or .gltf, taken to be right."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        chunk = b""
        if content[:4] == b"glTF":
            length = struct.unpack_from("<I", content, 12)[0]
            text, chunk = content[20 : 20 + length], content[28 + length :]
        else:
            text = content
        self.json = json.loads(text)
        self.buffers = []
        for buffer in self.json["buffers"]:
            if "uri" not in buffer:
                self.buffers.append(chunk)
            elif buffer["uri"].startswith("data:"):
                self.buffers.append(base64.b64decode(buffer["uri"].partition(",")[2]))
            else:
                self.buffers.append((path.parent / buffer["uri"]).read_bytes())

    def numbers(self, index: int) -> list[list[float]]:
        """Rows of an accessor; normalized integers as fractions of their largest."""
        accessor = self.json["accessors"][index]
        width, kind = _WIDTHS[accessor["type"]], accessor["componentType"]
        rows = [[0.0] * width for _ in range(accessor["count"])]
        if "bufferView" in accessor:
            rows = self._rows(accessor["bufferView"], accessor.get("byteOffset", 0), len(rows), width, kind)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            where, what = sparse["indices"], sparse["values"]
            count = sparse["count"]
            places = self._rows(where["bufferView"], where.get("byteOffset", 0), count, 1, where["componentType"])
            values = self._rows(what["bufferView"], what.get("byteOffset", 0), count, width, kind)
            for (place,), value in zip(places, values):
                rows[place] = value
        if accessor.get("normalized"):
            rows = [[max(value / _LARGEST[kind], -1.0) for value in row] for row in rows]
        return rows

    def _rows(self, view_index: int, offset: int, count: int, width: int, kind: int) -> list[list]:
        view = self.json["bufferViews"][view_index]
        layout = "<" + str(width) + _FORMATS[kind]
        stride = view.get("byteStride", struct.calcsize(layout))
        start = view.get("byteOffset", 0) + offset
        return [
            list(struct.unpack_from(layout, self.buffers[view["buffer"]], start + i * stride)) for i in range(count)
        ]

    def vertices(self, skin: int = 0) -> tuple[list, list, list]:
        """Positions, lists of (joint, weight), and triangles of all meshes that a skin carries, in the file's order."""
        positions, influences, triangles, seen = [], [], [], []
        for node in self.json["nodes"]:
            if node.get("skin") != skin or "mesh" not in node or node["mesh"] in seen:
                continue
            seen.append(node["mesh"])
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                attributes = primitive["attributes"]
                start = len(positions)
                rows = self.numbers(attributes["POSITION"])
                positions += rows
                carried = [[] for _ in rows]
                for place in range(8):
                    if f"JOINTS_{place}" in attributes:
                        joints = self.numbers(attributes[f"JOINTS_{place}"])
                        weights = self.numbers(attributes[f"WEIGHTS_{place}"])
                        for row, joint, weight in zip(carried, joints, weights):
                            row += [(int(j), w) for j, w in zip(joint, weight) if w != 0]
                influences += carried
                corners = list(range(len(rows)))
                if "indices" in primitive:
                    corners = [int(row[0]) for row in self.numbers(primitive["indices"])]
                triangles += _triangles([start + c for c in corners], primitive.get("mode", _TRIANGLES))
        return positions, influences, triangles

    def joint_matrices(self, clip: int | None, t: float, skin: int = 0) -> list[list[list[float]]]:
        """For each joint of a skin, what takes a vertex from where it was bound to where it is at time t."""
        nodes = [dict(node) for node in self.json["nodes"]]
        if clip is not None:
            animation = self.json["animations"][clip]
            for channel in animation["channels"]:
                target = channel["target"]
                if "node" in target and target["path"] != "weights":
                    sampler = animation["samplers"][channel["sampler"]]
                    nodes[target["node"]].pop("matrix", None)
                    nodes[target["node"]][target["path"]] = self.sampled(sampler, t, target["path"] == "rotation")
        parent = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
        entry = self.json["skins"][skin]
        matrices = []
        for place, joint in enumerate(entry["joints"]):
            matrix = _local(nodes[joint])
            above = parent.get(joint)
            while above is not None:
                matrix = _times(_local(nodes[above]), matrix)
                above = parent.get(above)
            if "inverseBindMatrices" in entry:
                flat = self.numbers(entry["inverseBindMatrices"])[place]
                matrix = _times(matrix, _columns(flat))
            matrices.append(matrix)
        return matrices

    def sampled(self, sampler: dict, t: float, is_rotation: bool) -> list[float]:
        """Appendix C of the specification."""
        times = [row[0] for row in self.numbers(sampler["input"])]
        values = self.numbers(sampler["output"])
        mode = sampler.get("interpolation", "LINEAR")
        t = min(max(t, times[0]), times[-1])
        k = max(i for i, time in enumerate(times) if time <= t)
        if mode == "CUBICSPLINE":
            if k == len(times) - 1:
                out = values[3 * k + 1]
            else:
                span = times[k + 1] - times[k]
                s = (t - times[k]) / span
                v0, b0, a1, v1 = values[3 * k + 1], values[3 * k + 2], values[3 * k + 3], values[3 * k + 4]
                out = [
                    (2 * s**3 - 3 * s**2 + 1) * v0[c]
                    + span * (s**3 - 2 * s**2 + s) * b0[c]
                    + (-2 * s**3 + 3 * s**2) * v1[c]
                    + span * (s**3 - s**2) * a1[c]
                    for c in range(len(v0))
                ]
            return _unit(out) if is_rotation else out
        if mode == "STEP" or k == len(times) - 1:
            return _unit(values[k]) if is_rotation else values[k]
        s = (t - times[k]) / (times[k + 1] - times[k])
        a, b = values[k], values[k + 1]
        if not is_rotation:
            return [(1 - s) * p + s * q for p, q in zip(a, b)]
        a, b = _unit(a), _unit(b)
        d = sum(p * q for p, q in zip(a, b))
        angle, sign = math.acos(min(abs(d), 1.0)), (-1.0 if d < 0 else 1.0)
        if angle < 1e-9:
            return _unit([(1 - s) * p + s * sign * q for p, q in zip(a, b)])
        return [
            (math.sin(angle * (1 - s)) * p + sign * math.sin(angle * s) * q) / math.sin(angle) for p, q in zip(a, b)
        ]


def skinned(position: list[float], influences: list[tuple[int, float]], matrices: list) -> list[float]:
    """One vertex, by linear blend skinning; weights are made to sum to 1, which rounded ones do not."""
    total = sum(weight for _, weight in influences)
    out = [0.0, 0.0, 0.0]
    point = [*position, 1.0]
    for joint, weight in influences:
        for i in range(3):
            out[i] += weight / total * sum(matrices[joint][i][k] * point[k] for k in range(4))
    return out


def _triangles(corners: list[int], mode: int) -> list[tuple[int, int, int]]:
    if mode == _STRIP:
        found = [(corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]) for i in range(len(corners) - 2)]
        return [face for face in found if len(set(face)) == 3]
    if mode == _FAN:
        return [(corners[i + 1], corners[i + 2], corners[0]) for i in range(len(corners) - 2)]
    return [(corners[i], corners[i + 1], corners[i + 2]) for i in range(0, len(corners), 3)]


def _local(node: dict) -> list[list[float]]:
    if "matrix" in node:
        return _columns(node["matrix"])
    x, y, z, w = _unit(node.get("rotation", [0.0, 0.0, 0.0, 1.0]))
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    size, shift = node.get("scale", [1.0, 1.0, 1.0]), node.get("translation", [0.0, 0.0, 0.0])
    rows = [[turn[i][k] * size[k] for k in range(3)] + [shift[i]] for i in range(3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _columns(flat: list[float]) -> list[list[float]]:
    return [[flat[4 * k + i] for k in range(4)] for i in range(4)]


def _times(a: list, b: list) -> list[list[float]]:
    return [[sum(a[i][m] * b[m][k] for m in range(4)) for k in range(4)] for i in range(4)]


def _unit(q: list[float]) -> list[float]:
    length = math.sqrt(sum(c * c for c in q))
    return [c / length for c in q]
