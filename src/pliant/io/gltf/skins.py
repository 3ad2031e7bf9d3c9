"""The surface that a skin of a glTF file carries: primitives of all its meshes in one, and weights of the joints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pliant.characters.rig.blending import weight_fault
from pliant.characters.rig.errors import SkinError, UnsupportedError
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.document import Document, Entry
from pliant.mesh.welding import first_at_place
from pliant.runtime.arrays import LARGEST_INDEX
from pliant.runtime.reading import current

# Eight weights of one byte, each rounded by at most half a step, are off by at most 4/255 = 0.016 together.
WEIGHT_TOLERANCE = 0.02
_TRIANGLES, _STRIP, _FAN = 4, 5, 6


class Surface(NamedTuple):
    positions: np.ndarray  # (n, 3)
    joints: np.ndarray  # (n, w) int64
    weights: np.ndarray  # (n, w), not negative, of sum 1
    faces: np.ndarray  # (m, 3) int64


def choose_skin(document: Document, accessors: Accessors, wanted: str | int | None) -> int:
    """The skin of a name or number; or else the only one, or the one that carries most vertices."""
    names = [skin.text("name", f"skin {i}") for i, skin in enumerate(document.root.entries("skins"))]
    if not names:
        raise SkinError(f"{document.name}: there are no skins, and {document.count('meshes')} meshes without one")
    if wanted is not None:
        found = [i for i, name in enumerate(names) if wanted in (name, i) and not isinstance(wanted, bool)]
        if not found:
            raise SkinError(f"{document.name}: no skin {wanted!r}; there are {', '.join(map(repr, names))}")
        return found[0]
    sizes = [sum(_sizes(document, accessors, skin)) for skin in range(len(names))]
    return int(np.argmax(sizes))


def _sizes(document: Document, accessors: Accessors, skin: int) -> Iterator[int]:
    for primitive in _primitives(document, skin):
        attributes = primitive.entry("attributes")
        if "POSITION" in attributes:
            yield accessors.count(attributes.integer("POSITION"), attributes.place)


def _primitives(document: Document, skin: int) -> list[Entry]:
    """Of every mesh that a node shows with this skin. The transform of that node does not matter, nor how many such
    nodes there are: a skinned vertex is where its joints put it."""
    nodes = document.root.entries("nodes")
    meshes = [node.integer("mesh") for node in nodes if "mesh" in node and node.integer("skin", -1, lower=-1) == skin]
    return [
        primitive
        for mesh in dict.fromkeys(meshes)
        for primitive in document.entry("meshes", mesh, f"skin {skin}").entries("primitives")
    ]


def read_surface(document: Document, accessors: Accessors, skin: int, notes: list[str]) -> Surface:
    """All triangles that a skin carries; what is left out goes to the notes."""
    joint_count = len(document.entry("skins", skin, "skins").items("joints"))
    parts: dict[tuple[int, ...], Surface] = {}
    begins: dict[tuple[int, ...], int] = {}
    faces: dict[tuple[int, ...], np.ndarray] = {}
    morphs = others = vertex_count = 0
    for primitive in _primitives(document, skin):
        mode = primitive.integer("mode", _TRIANGLES, upper=_FAN)
        if mode < _TRIANGLES:
            others += 1
            continue
        morphs += bool(primitive.items("targets"))
        key = _attribute_key(accessors, primitive)
        if key not in parts:
            parts[key] = _read_vertices(accessors, primitive, joint_count)
            begins[key] = vertex_count
            vertex_count += len(parts[key].positions)
        # Primitives often share their vertices, and are seldom the same: both are read once.
        indices = primitive.integer("indices", -1, lower=-1)
        corners = read_corners(accessors, primitive, len(parts[key].positions))
        faces[(*key, indices, mode)] = begins[key] + triangles_of(primitive, corners, mode)
    if morphs:
        notes.append(f"morph targets of {morphs} primitives")
    if others:
        notes.append(f"{others} primitives of points or lines")
    if not faces or not sum(map(len, faces.values())):
        raise SkinError(f"{document.name}: skins[{skin}]: carries no triangles")
    if max(vertex_count, sum(map(len, faces.values()))) > LARGEST_INDEX:
        raise SkinError(f"{document.name}: skins[{skin}]: carries more than an int32 can count")
    return _joined(list(parts.values()), list(faces.values()))


def _joined(parts: list[Surface], faces: list[np.ndarray]) -> Surface:
    width = max(part.joints.shape[1] for part in parts)
    current().charge((16 * width + 24) * sum(len(part.positions) for part in parts), "all parts")

    def padded(array: np.ndarray) -> np.ndarray:
        return np.hstack([array, np.zeros((len(array), width - array.shape[1]), array.dtype)])

    return Surface(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([padded(part.joints) for part in parts]),
        np.concatenate([padded(part.weights) for part in parts]),
        np.concatenate(faces),
    )


def _attribute_key(accessors: Accessors, primitive: Entry) -> tuple[int, ...]:
    """Accessors of POSITION, JOINTS_0, WEIGHTS_0, JOINTS_1, WEIGHTS_1 ..."""
    attributes = primitive.entry("attributes")
    names = ["POSITION", "JOINTS_0", "WEIGHTS_0"]
    while f"JOINTS_{len(names) // 2}" in attributes or f"WEIGHTS_{len(names) // 2}" in attributes:
        names += [f"JOINTS_{len(names) // 2}", f"WEIGHTS_{len(names) // 2}"]
    for name in names:
        if name not in attributes:
            raise attributes.error(SkinError, f"{name} is missing")
    key = tuple(attributes.integer(name) for name in names)
    compressed = [name for name in primitive.extensions() if "compression" in name]
    read = (*key, primitive.integer("indices", key[0]))
    if compressed and not all(accessors.holds_data(index, primitive.place) for index in read):
        raise primitive.error(UnsupportedError, f"is compressed by {compressed[0]}, which is not supported")
    return key


def _read_vertices(accessors: Accessors, primitive: Entry, joint_count: int) -> Surface:
    """One primitive without its faces."""
    position, *influences = _attribute_key(accessors, primitive)
    place = primitive.entry("attributes").place
    positions = accessors.floats(position, f"{place}.POSITION", "VEC3")
    names = [f"{name}_{i // 2}" for i, name in enumerate(("JOINTS", "WEIGHTS") * (len(influences) // 2))]
    columns = [
        accessors.integers(index, f"{place}.{name}", "VEC4")
        if name.startswith("JOINTS")
        else accessors.floats(index, f"{place}.{name}", "VEC4")
        for index, name in zip(influences, names)
    ]
    for name, column in zip(names, columns):
        if len(column) != len(positions):
            raise primitive.error(SkinError, f"{name} has {len(column)} elements, but POSITION has {len(positions)}")
    current().charge(32 * len(columns) * len(positions), primitive.place)
    joints, weights = np.hstack(columns[0::2]), np.hstack(columns[1::2])
    joints, weights = normalised(primitive, joints, weights, joint_count)
    return Surface(positions, joints, weights, np.empty((0, 3), np.int64))


def normalised(
    primitive: Entry, joints: np.ndarray, weights: np.ndarray, joint_count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Joints and weights (n, w), with a sum of 1 for each vertex; said where it was another one than rounding makes."""
    total = weights.sum(axis=1)
    if fault := weight_fault(joints, weights, joint_count, np.inf):
        raise primitive.error(SkinError, fault)
    none = ~((total > 0.0) & (total < np.inf))
    if none.any():
        vertex = int(np.argmax(none))
        raise primitive.error(SkinError, f"vertex {vertex} has weights that sum to {total[vertex]:g}, not to 1")
    off = np.abs(total - 1.0)
    if (off > WEIGHT_TOLERANCE).any():
        worst = int(np.argmax(off))
        # Errors and warnings name the file and the place alike.
        said = primitive.error(
            SkinError,
            f"weights of {int((off > WEIGHT_TOLERANCE).sum())} vertices do not sum to 1, those of vertex {worst} to "
            f"{total[worst]:.6g}; they are divided by their sum",
        )
        warnings.warn(str(said), stacklevel=2)
    joints[weights == 0.0] = 0
    return joints, weights / total[:, None]


def read_corners(accessors: Accessors, primitive: Entry, vertex_count: int) -> np.ndarray:
    """(c,) vertices of the primitive, one after the other."""
    if "indices" not in primitive:
        current().charge(24 * vertex_count, primitive.place)
        return np.arange(vertex_count)
    corners = accessors.integers(primitive.integer("indices"), f"{primitive.place}.indices", "SCALAR")[:, 0]
    current().charge(24 * len(corners), primitive.place)  # as triangles, of a strip
    if corners.max() >= vertex_count:
        place = int(np.argmax(corners >= vertex_count))
        raise primitive.error(SkinError, f"index {place} is vertex {corners[place]}, but there are {vertex_count}")
    return corners


def triangles_of(primitive: Entry, corners: np.ndarray, mode: int) -> np.ndarray:
    """(m, 3), as section 3.7.2.1 of the specification makes them."""
    if mode == _TRIANGLES:
        if len(corners) % 3:
            raise primitive.error(SkinError, f"{len(corners)} corners are not a whole number of triangles")
        return corners.reshape(-1, 3)
    i = np.arange(max(len(corners) - 2, 0))
    if mode == _FAN:
        return np.stack([corners[i + 1], corners[i + 2], np.full(len(i), corners[0])], axis=1)
    faces = np.stack([corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]], axis=1)
    # A strip turns corners by repeating vertices.
    return faces[~_is_collapsed(faces)]


def _is_collapsed(faces: np.ndarray) -> np.ndarray:
    a, b, c = faces.T
    return (a == b) | (b == c) | (c == a)


def weld(surface: Surface) -> Surface:
    """Vertices at exactly one position become one, which has the mean of their weights; vertices without faces, and
    faces that have collapsed, go.

    Files split vertices where normals, colours or materials differ. With the mean of the weights, linear blend skinning
    puts the vertex in the middle of where the file puts its parts, and the surface cannot come apart.
    """
    used, corners = np.unique(surface.faces, return_inverse=True)
    first = first_at_place(surface.positions[used])
    roots = np.unique(first)
    row = np.searchsorted(roots, first)
    faces = row[corners.reshape(-1, 3)]
    faces = faces[~_is_collapsed(faces)]
    kept, corners = np.unique(faces, return_inverse=True)
    joints, weights = _mean_influences(row, surface.joints[used], surface.weights[used], len(roots))
    return Surface(surface.positions[used][roots][kept], joints[kept], weights[kept], corners.reshape(-1, 3))


def _mean_influences(
    row: np.ndarray, joints: np.ndarray, weights: np.ndarray, row_count: int
) -> tuple[np.ndarray, np.ndarray]:
    """(row_count, w) joints and weights, strongest first: the mean over all vertices of a row."""
    stride = int(joints.max(initial=0)) + 1
    key = row[:, None] * stride + joints
    keys, slot = np.unique(key[weights > 0.0], return_inverse=True)
    total = np.bincount(slot.reshape(-1), weights[weights > 0.0], len(keys))
    total /= np.bincount(keys // stride, total, row_count)[keys // stride]
    order = np.lexsort((keys, -total, keys // stride))
    rows = keys[order] // stride
    begins = np.searchsorted(rows, np.arange(row_count))
    column = np.arange(len(rows)) - begins[rows]
    out_joints = np.zeros((row_count, int(column.max(initial=0)) + 1), np.int64)
    out_weights = np.zeros(out_joints.shape)
    out_joints[rows, column] = keys[order] % stride
    out_weights[rows, column] = total[order]
    return out_joints, out_weights
