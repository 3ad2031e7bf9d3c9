"""Primitives of a glTF mesh with their joints and morph targets, and how weights of morph targets change in a clip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.characters.rig.errors import ClipError, SkinError, UnsupportedError
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.document import Document, Entry
from pliant.io.gltf.skins import normalised, read_corners, triangles_of
from pliant.runtime.reading import current

_TRIANGLES, _FAN = 4, 6
_MODES = ("LINEAR", "STEP", "CUBICSPLINE")


class Primitive(NamedTuple):
    positions: np.ndarray  # (n, 3)
    targets: np.ndarray  # (t, n, 3), what each morph target adds
    joints: np.ndarray | None  # (n, w) int64
    weights: np.ndarray | None  # (n, w), of sum 1


class Weights(NamedTuple):
    """Weights of morph targets over time."""

    times: np.ndarray  # (k,) ascending
    values: np.ndarray  # (k, t); (k, 3, t) with tangents (in, value, out) for CUBICSPLINE
    mode: str

    def at(self, t: float) -> np.ndarray:
        """(t,); before the first key and after the last, as there."""
        values = self.values[:, 1] if self.mode == "CUBICSPLINE" else self.values
        after = int(np.searchsorted(self.times, t, side="right"))
        if after in (0, len(self.times)):
            return values[max(after - 1, 0)]
        before = after - 1
        length = self.times[after] - self.times[before]
        s = (t - self.times[before]) / length
        if self.mode == "STEP":
            return values[before]
        if self.mode == "LINEAR":
            return (1.0 - s) * values[before] + s * values[after]
        leaving, arriving = length * self.values[before, 2], length * self.values[after, 0]
        start, end = values[before], values[after]
        return (
            (2 * s**3 - 3 * s**2 + 1) * start
            + (s**3 - 2 * s**2 + s) * leaving
            + (3 * s**2 - 2 * s**3) * end
            + (s**3 - s**2) * arriving
        )


def read_primitives(accessors: Accessors, mesh: Entry, joint_count: int) -> list[tuple[Primitive, np.ndarray]]:
    """Primitives of triangles and the (m, 3) corners of their faces; those of points and lines are passed over."""
    found = []
    for primitive in mesh.entries("primitives"):
        mode = primitive.integer("mode", _TRIANGLES, upper=_FAN)
        if mode < _TRIANGLES:
            continue
        attributes = primitive.entry("attributes")
        compressed = [name for name in primitive.extensions() if "compression" in name]
        position = attributes.integer("POSITION")
        if compressed and not accessors.holds_data(position, attributes.place):
            raise primitive.error(UnsupportedError, f"is compressed by {compressed[0]}, which is not supported")
        positions = accessors.floats(position, f"{attributes.place}.POSITION", "VEC3")
        joints, weights = _influences(accessors, primitive, len(positions), joint_count)
        targets = _targets(accessors, primitive, len(positions))
        corners = read_corners(accessors, primitive, len(positions))
        found.append((Primitive(positions, targets, joints, weights), triangles_of(primitive, corners, mode)))
    return found


def _influences(
    accessors: Accessors, primitive: Entry, count: int, joint_count: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Joints and weights (n, w), of all the sets JOINTS_0, JOINTS_1 ...; None without a skin."""
    attributes = primitive.entry("attributes")
    if joint_count == 0:
        return None, None
    joints, weights = [], []
    while len(joints) == 0 or f"JOINTS_{len(joints)}" in attributes:
        for kind, read, kept in (("JOINTS", accessors.integers, joints), ("WEIGHTS", accessors.floats, weights)):
            name = f"{kind}_{len(kept)}"
            column = read(attributes.integer(name), f"{attributes.place}.{name}", "VEC4")
            if len(column) != count:
                raise primitive.error(SkinError, f"{name} has {len(column)} elements, but POSITION has {count}")
            kept.append(column)
            current().charge(32 * count, primitive.place)
    return normalised(primitive, np.hstack(joints), np.hstack(weights), joint_count)


def _targets(accessors: Accessors, primitive: Entry, count: int) -> np.ndarray:
    """(t, n, 3)"""
    targets = primitive.entries("targets")
    current().charge(24 * len(targets) * count, f"{primitive.place}: {len(targets)} morph targets")
    arrays = [np.zeros((0, count, 3))]
    for target in targets:
        delta = np.zeros((count, 3))
        if "POSITION" in target:
            delta = accessors.floats(target.integer("POSITION"), f"{target.place}.POSITION", "VEC3")
        if len(delta) != count:
            raise target.error(SkinError, f"POSITION has {len(delta)} elements, but that of the primitive {count}")
        arrays.append(delta[None])
    return np.concatenate(arrays)


def read_weights(
    document: Document, accessors: Accessors, place: dict[int, int], targets: dict[int, int]
) -> dict[str, dict[int, Weights]]:
    """By name of the clip and node of the skeleton; `targets` are the numbers of targets of the nodes that have any."""
    found: dict[str, dict[int, Weights]] = {}
    for i, animation in enumerate(document.root.entries("animations")):
        name, samplers = animation.text("name", f"clip {i}"), animation.entries("samplers")
        for channel in animation.entries("channels"):
            target = channel.entry("target")
            node = place.get(target.integer("node", -1, lower=-1), -1)
            if target.text("path") == "weights" and node in targets:
                number = channel.integer("sampler")
                if number >= len(samplers):
                    raise channel.error(ClipError, f"refers to sampler {number}, but there are {len(samplers)}")
                found.setdefault(name, {})[node] = _weights(accessors, samplers[number], targets[node])
    return found


def _weights(accessors: Accessors, sampler: Entry, target_count: int) -> Weights:
    mode = sampler.text("interpolation", "LINEAR")
    if mode not in _MODES:
        raise sampler.error(ClipError, f"interpolation {mode!r} is not known")
    times = accessors.floats(sampler.integer("input"), f"{sampler.place}.input", "SCALAR")[:, 0]
    values = accessors.floats(sampler.integer("output"), f"{sampler.place}.output", "SCALAR")[:, 0]
    shape = (len(times), 3, target_count) if mode == "CUBICSPLINE" else (len(times), target_count)
    if len(values) != np.prod(shape):
        raise sampler.error(ClipError, f"has {len(values)} values for {len(times)} times of {target_count} weights")
    if (np.diff(times) < 0.0).any():
        raise sampler.error(ClipError, "times do not ascend")
    return Weights(np.ascontiguousarray(times), values.reshape(shape), mode)
