"""Animations of a glTF file, as far as they move a skeleton."""

from __future__ import annotations

import numpy as np

from pliant.characters.rig.errors import ClipError
from pliant.characters.rig.rig import Channel, Clip
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.document import Document, Entry

_INTERPOLATIONS = {"LINEAR": "linear", "STEP": "step", "CUBICSPLINE": "cubic"}
_KINDS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
_NOT_OF_NODES = ("weights", "pointer")  # of morph targets; of anything, by an extension


def read_clips(document: Document, accessors: Accessors, place: dict[int, int]) -> dict[str, Clip]:
    """Clips by name, without those that move nothing of the skeleton; `place` is its node for each node of the file.

    Clips without a name are called "clip 0" and so on by their place in the file; of clips of one name, the second is
    called "name 2".
    """
    clips: dict[str, Clip] = {}
    for i, animation in enumerate(document.root.entries("animations")):
        samplers = animation.entries("samplers")
        read = [_read_channel(channel, samplers, accessors, place) for channel in animation.entries("channels")]
        channels = tuple(channel for channel in read if channel is not None)
        if not channels:
            continue
        name = wanted = animation.text("name", f"clip {i}")
        copies = 1
        while name in clips:
            copies += 1
            name = f"{wanted} {copies}"
        try:
            clips[name] = Clip(name, channels, max(float(channel.times[-1]) for channel in channels))
        except ClipError as error:
            raise ClipError(f"{document.name}: {animation.place}: {error}") from error
    return clips


def _read_channel(channel: Entry, samplers: list[Entry], accessors: Accessors, place: dict[int, int]) -> Channel | None:
    """None for what moves no node of the skeleton."""
    target = channel.entry("target")
    path = target.text("path")
    if path in _NOT_OF_NODES or "node" not in target or target.integer("node") not in place:
        return None
    if path not in _KINDS:
        raise target.error(ClipError, f"path {path!r} is not known")
    number = channel.integer("sampler")
    if number >= len(samplers):
        raise channel.error(ClipError, f"refers to sampler {number}, but there are {len(samplers)}")
    sampler = samplers[number]
    mode = sampler.text("interpolation", "LINEAR")
    if mode not in _INTERPOLATIONS:
        raise sampler.error(ClipError, f"interpolation {mode!r} is not known")
    times = accessors.floats(sampler.integer("input"), f"{sampler.place}.input", "SCALAR")[:, 0]
    values = accessors.floats(sampler.integer("output"), f"{sampler.place}.output", _KINDS[path])
    needed = len(times) * (3 if mode == "CUBICSPLINE" else 1)
    if len(values) != needed:
        raise sampler.error(ClipError, f"has {len(values)} values for {len(times)} times, where {needed} are needed")
    if mode == "CUBICSPLINE":
        values = values.reshape(len(times), 3, values.shape[1])
    return Channel(place[target.integer("node")], path, np.ascontiguousarray(times), values, _INTERPOLATIONS[mode])
