"""glTF: all that a file shows, as one surface; at rest, or over a clip. Rigs are in `pliant.characters`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.io.content import is_packed, plain_file
from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.opening import Options, sequence_of
from pliant.mesh.space import Space
from pliant.runtime.reading import carrying, current, reading

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence
    from pliant.io.gltf.scene import Scene

_RATE = 30.0  # frames per second, where none is asked for
_MOST_FRAMES = 10_000_000
_SPACE = Space("y", 1.0)  # by its specification


def read(path: Path) -> FileMesh:
    """All triangles that nodes show, at rest, in the order of the nodes; vertices as they are in the file."""
    scene = _scene(path)
    return make(path, [("triangle", scene.faces)], scene.positions(), parts=scene.named, space=_SPACE)


def open_frames(path: Path, options: Options) -> Sequence:
    """One clip, of the vertices and faces that `read` gives."""
    scene = _scene(path)
    clip = _chosen(path, scene, options.clip)
    frames = _ClipFrames(scene, clip, options.rate or _RATE)
    if len(frames) > _MOST_FRAMES:
        raise FileError(f"{path.name}: {clip!r} takes {scene.duration(clip or '')} s, {len(frames)} frames")
    mesh = FileMesh({"triangle": scene.faces}, frames[0], parts=scene.named, space=_SPACE)
    return sequence_of(path, mesh, frames, times=frames.times)


def _scene(path: Path) -> Scene:
    from pliant.io.gltf.document import Document
    from pliant.io.gltf.scene import read_scene

    return read_scene(Document(path))


def _chosen(path: Path, scene: Scene, wanted: str | None) -> str | None:
    names = scene.clip_names()
    shown = ", ".join(map(repr, names)) or "none"
    if wanted is None:
        if len(names) > 1:
            raise FileError(f"{path.name}: has several clips; name one of {shown}: clip={names[0]!r}")
        return names[0] if names else None
    found = [name for name in names if wanted in (name, name.rpartition("|")[2])]
    exact = [name for name in found if name == wanted]
    if len(exact or found) != 1:
        raise FileError(f"{path.name}: has no clip {wanted!r}, but {shown}")
    return (exact or found)[0]


class _ClipFrames:
    """A clip at steady times; without one, the pose of rest."""

    def __init__(self, scene: Scene, clip: str | None, rate: float) -> None:
        self._scene, self._clip, self._rate = scene, clip, rate
        # A clip of a second at 30 frames per second has 31, whichever way its last time was rounded.
        frames = 1 if clip is None else scene.duration(clip) * rate + 1e-6 + 1
        self._count = int(min(frames, 2.0**62))

    @property
    def times(self) -> np.ndarray:
        return np.arange(self._count) / self._rate

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._scene.positions(self._clip, frame / self._rate)


def clip_names(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The clips of a .glb or .gltf file, as ``clip=`` of ``open_sequence`` takes them, in the order of the file."""
    path = Path(path)
    with reading(path):
        if not is_packed(path):
            return tuple(_scene(path).clip_names())
        with plain_file(path) as plain, carrying(current().moved(plain)):
            return tuple(_scene(plain).clip_names())
