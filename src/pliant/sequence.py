"""A sequence: one mesh and its positions, frame by frame, each read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, overload

import numpy as np

from pliant._arrays import MeshError, ShapeError, as_positions
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh


class Frames(Protocol):
    """Where positions come from: an array (f, n, 3), or anything that makes frame i when it is asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, frame: int, /) -> Any: ...


class Sequence:
    """One mesh over time.

        sequence = pliant.Sequence.open("frames/cloth_*.obj")
        for x in sequence: ...                       # (n, 3) float64, one frame at a time
        found = pliant.scan(sequence[10:20])

    faces : (m, 3) vertex ids of the triangles; for cells, of their boundary
    frames : an array (f, n, 3), or an object with a length that gives frame i, (n, 3), when indexed: then only the
        frames that are being looked at are in memory
    cells : kind of cell to (k, corners) vertex ids, as for ``pliant.VolumeMesh``; `faces` may be left out then
    times : (f,) seconds; default: the numbers of the frames
    objects : (n,) label of the object that each vertex belongs to; default: connected components
    name : what messages and reports call it
    """

    def __init__(
        self,
        faces: Any,
        frames: Frames,
        *,
        cells: Mapping[str, Any] | None = None,
        times: Any = None,
        objects: Any = None,
        name: str = "sequence",
    ) -> None:
        self.cells: dict[str, Any] | None = None if cells is None else dict(cells)
        self.faces: np.ndarray = _boundary(self.cells) if faces is None and self.cells else TriMesh(faces).faces
        self.times: np.ndarray = (
            np.arange(len(frames), dtype=np.float64) if times is None else np.asarray(times, np.float64)
        )
        if self.times.shape != (len(frames),):
            raise ShapeError(f"times has the shape {self.times.shape}, but there are {len(frames)} frames")
        self.objects: np.ndarray | None = None if objects is None else np.asarray(objects)
        self.name = name
        self._frames = frames

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> Sequence:
        """Open a sequence of files, or a file with frames; see ``pliant.io.open_sequence``."""
        from pliant.io import open_sequence

        return open_sequence(path, **options)

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, frame: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, frame: slice) -> Sequence: ...
    def __getitem__(self, frame: int | slice) -> np.ndarray | Sequence:
        """(n, 3) float64 positions of one frame, or a sequence of some of the frames, still read when asked for."""
        if isinstance(frame, slice):
            chosen = range(len(self))[frame]
            return Sequence(
                self.faces,
                _Chosen(self._frames, chosen),
                cells=self.cells,
                times=self.times[frame],
                objects=self.objects,
                name=self.name,
            )
        number = range(len(self))[frame]
        try:
            return as_positions(self._frames[number], "positions")
        except MeshError as error:
            raise type(error)(f"{self.name}, frame {number}: {error}") from error

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[frame] for frame in range(len(self)))

    def __repr__(self) -> str:
        return f"Sequence({self.name!r}: {len(self.faces)} triangles, {len(self)} frames)"

    def _repr_html_(self) -> str:
        from pliant.report.thumbnails import sequence_card

        return sequence_card(self)


class _Chosen:
    """Some frames of others."""

    def __init__(self, frames: Frames, chosen: range) -> None:
        self._frames, self._chosen = frames, chosen

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, frame: int) -> Any:
        return self._frames[self._chosen[frame]]


def _boundary(cells: Mapping[str, Any]) -> np.ndarray:
    return VolumeMesh(cells).surface().faces
