"""The skeleton of a skin in a glTF file: its joints and all nodes above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pliant.characters.rig.errors import SkeletonError, SkinError
from pliant.characters.rig.kinematics import decompose
from pliant.characters.rig.quaternions import quaternions_of
from pliant.characters.rig.rig import Pose, Skeleton
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.document import Document, Entry

_IDENTITY = tuple(np.eye(4).ravel())


def read_skeleton(document: Document, accessors: Accessors, skin: int) -> tuple[Skeleton, dict[int, int]]:
    """The skeleton, and which of its nodes each node of the file is."""
    entry = document.entry("skins", skin, "skins")
    joints = entry.integers("joints")
    if not joints:
        raise entry.error(SkinError, "has no joints")
    if len(set(joints)) < len(joints):
        twice = next(joint for joint, count in Counter(joints).items() if count > 1)
        raise entry.error(SkinError, f"nodes[{twice}] is a joint twice")
    parents = read_parents(document)
    order = from_the_roots(document, entry, joints, parents)
    place = {node: i for i, node in enumerate(order)}
    nodes = [document.entry("nodes", node, entry.place) for node in order]
    skeleton = Skeleton(
        tuple(node.text("name", f"node {i}") for i, node in zip(order, nodes)),
        np.array([place.get(parents[node], -1) for node in order], np.int32),
        Pose(*(np.array(column) for column in zip(*map(read_local, nodes)))),
        np.array([place[joint] for joint in joints], np.int32),
        _inverse_bind(accessors, entry, len(joints)),
    )
    return skeleton, place


def read_parents(document: Document) -> list[int]:
    """The parent of every node of the file, -1 for none."""
    parents = [-1] * document.count("nodes")
    for i, node in enumerate(document.root.entries("nodes")):
        for child in node.integers("children"):
            if child >= len(parents):
                raise node.error(SkeletonError, f"has the child nodes[{child}], but there are {len(parents)} nodes")
            if parents[child] >= 0:
                raise node.error(
                    SkeletonError, f"has the child nodes[{child}], which is a child of nodes[{parents[child]}] already"
                )
            parents[child] = i
    return parents


def from_the_roots(document: Document, entry: Entry, joints: Sequence[int], parents: list[int]) -> list[int]:
    """Joints and all nodes above them, parents before children."""
    depths: dict[int, int] = {-1: 0}
    for joint in joints:
        document.entry("nodes", joint, f"{entry.place}.joints")
        above: dict[int, None] = {}
        node = joint
        while node not in depths:
            if node in above:
                raise entry.error(SkeletonError, f"nodes[{node}] is above itself: the skeleton is a cycle")
            above[node] = None
            node = parents[node]
        for step, passed in enumerate(reversed(above), 1):
            depths[passed] = depths[node] + step
    del depths[-1]
    return sorted(depths, key=lambda node: (depths[node], node))


def read_local(node: Entry) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translation, rotation and scale of a node."""
    if "matrix" in node:
        parts = decompose(node.numbers("matrix", _IDENTITY).reshape(4, 4).T)
        if parts is None:
            raise node.error(SkeletonError, "the matrix is singular, or is not a translation, rotation and scale")
        return parts[0], quaternions_of(parts[1][None])[0], parts[2]
    rotation = node.numbers("rotation", (0.0, 0.0, 0.0, 1.0))
    length = float(np.linalg.norm(rotation))
    if not 1e-6 < length < 1e6:
        raise node.error(SkeletonError, f"the rotation is a quaternion of length {length:g}, not 1")
    translation, scale = node.numbers("translation", (0.0, 0.0, 0.0)), node.numbers("scale", (1.0, 1.0, 1.0))
    return translation, rotation / length, scale


def _inverse_bind(accessors: Accessors, entry: Entry, joint_count: int) -> np.ndarray:
    """(joint_count, 4, 4)"""
    if "inverseBindMatrices" not in entry:
        return np.tile(np.eye(4), (joint_count, 1, 1))
    flat = accessors.floats(entry.integer("inverseBindMatrices"), f"{entry.place}.inverseBindMatrices", "MAT4")
    if len(flat) < joint_count:
        raise entry.error(SkinError, f"has {len(flat)} inverseBindMatrices for {joint_count} joints")
    matrices = np.ascontiguousarray(flat[:joint_count].reshape(-1, 4, 4).transpose(0, 2, 1))
    off = np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1) > 1e-5
    size = np.linalg.norm(matrices[:, :3, :3], axis=(1, 2))
    singular = ~(np.abs(np.linalg.det(matrices[:, :3, :3] / np.maximum(size, 1e-300)[:, None, None])) > 1e-12)
    for bad, why in ((off, "has no last row 0 0 0 1"), (singular, "is singular")):
        if bad.any():
            raise entry.error(SkinError, f"inverse bind matrix {int(np.argmax(bad))} {why}")
    matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return matrices
