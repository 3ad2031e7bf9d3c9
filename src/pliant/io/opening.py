"""What all sequences share: how they are asked for, and what is checked before they are handed out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.io.mesh import FileError, FileMesh
from pliant.io.polygons import solids_of, surface_of
from pliant.runtime.arrays import MeshError
from pliant.runtime.reading import Reading, carrying, current

if TYPE_CHECKING:
    from pliant.frames.sequence import Frames, Sequence

# What is read at once has to fit into memory beside everything else; more than this is read frame by frame.
LARGEST_ARRAY = 2**28


class Options(NamedTuple):
    """See `open_sequence`."""

    mesh: str | os.PathLike[str] | FileMesh | None = None
    rate: float | None = None
    clip: str | None = None
    displacement: str | None = None

    def topology(self, path: Path) -> FileMesh:
        """The mesh for a file that has positions only."""
        if self.mesh is None:
            raise FileError(f"{path.name}: holds positions and no faces; name the file of the mesh: mesh='rest.obj'")
        if isinstance(self.mesh, FileMesh):
            return self.mesh
        from pliant.io.readers import read  # readers of files that have frames too import this module

        return read(self.mesh)

    def times(self, count: int, numbers: np.ndarray | None = None) -> np.ndarray | None:
        """(count,) seconds by the rate, from the first frame on; None where there is no rate."""
        if self.rate is None:
            return None
        passed = np.arange(count) if numbers is None else numbers - numbers[0]
        return passed / self.rate


def carried(x: np.ndarray, rows: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """x @ rows + shift, (n, 3), with the same roundings in each row: vertices at one place stay together.

    A product of matrices rounds the last rows of a block otherwise than the others.
    """
    return x[:, :1] * rows[0] + x[:, 1:2] * rows[1] + x[:, 2:] * rows[2] + shift


class _Carried:
    """Frames that are read later, with what was allowed when they were opened."""

    def __init__(self, frames: Frames, one: Reading) -> None:
        self._frames, self._reading = frames, one

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> Any:
        with carrying(self._reading.again()):
            return self._frames[frame]


def sequence_of(path: Path, mesh: FileMesh, frames: Frames, **options: Any) -> Sequence:
    """A sequence of the mesh, after a look at its first frame; errors name the file."""
    solids = solids_of(mesh)
    faces = None if solids else surface_of(mesh)
    if mesh.parts is not None and faces is not None:
        options = {"objects": mesh.parts.bodies(faces, len(mesh.points)), "parts": mesh.parts} | options
    return checked_sequence(path, faces, frames, cells=solids, space=mesh.space, **options)


def checked_sequence(path: Path, faces: Any, frames: Frames, **options: Any) -> Sequence:
    """A sequence of the faces, after a look at its first frame; errors name the file."""
    from pliant.frames.sequence import Sequence
    from pliant.runtime.arrays import require_in_range

    if not isinstance(frames, np.ndarray):
        frames = _Carried(frames, current())
    if options.get("cell_data"):
        options["cell_data"] = {name: _Carried(values, current()) for name, values in options["cell_data"].items()}
    if len(frames) == 0:
        raise FileError(f"{path.name}: there are no frames in it")
    try:
        sequence = Sequence(faces, frames, **{"name": path.name, **options})
        first = sequence[0]
        require_in_range(sequence.faces, "faces", len(first))
        if sequence.objects is not None and sequence.objects.shape != (len(first),):
            raise FileError(f"objects have the shape {sequence.objects.shape}, but there are {len(first)} vertices")
        if not np.isfinite(sequence.times).all():
            raise FileError("a time is not finite")
    except MeshError as error:
        if str(error).startswith(path.name):
            raise
        raise FileError(f"{path.name}: {error}") from error
    return sequence
