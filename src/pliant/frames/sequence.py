"""A sequence: one mesh and its positions, frame by frame, each read when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, overload

import numpy as np

from pliant.mesh.parts import Parts
from pliant.mesh.space import Space
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.mesh.welding import Merging, merging_of
from pliant.runtime.arrays import MeshError, ShapeError, as_positions

_NAMED = 5  # vertices in a message


class ApartError(MeshError):
    """Vertices were merged that are not at one position all the time."""


class Frames(Protocol):
    """Where positions come from: an array (f, n, 3), or anything that makes frame i when it is asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, frame: int, /) -> Any: ...


class Sequence:
    """One mesh over time.

        sequence = pliant.Sequence.open("frames/cloth_*.obj")
        for x in sequence: ...                       # (n, 3) float64, one frame at a time
        found = pliant.scan(sequence[10:20])

    Parameters
    ----------
    faces : (m, 3) integers, or None
        Vertex ids of the triangles; None for the boundary of the cells.
    frames : (f, n, 3) floats, or an object with a length
        Positions. An object gives frame i, (n, 3), when indexed: then only the frames that are being examined are in
        memory.
    cells : {type: (k, corners) integers}, optional
        Vertex ids of the cells, as for ``pliant.VolumeMesh``.
    times : (f,) floats, optional
        In seconds; default: the numbers of the frames.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    parts : pliant.io.Parts, optional
        Names for the faces, such as those of OBJ groups.
    numbers : (f,) integers, optional
        That the frames are known by, such as those in the names of files, each once; default: from 0 on.
    files : (f,) str, optional
        Names of the files that the frames are in, where each has its own.
    space : pliant.io.Space, optional
        Which axis points up and how long a unit is, where the file says.
    ranks : (n,) integers, optional
        Of the vertices, as for ``pliant.VolumeMesh``: quadrilaterals are split at the corner of the lowest.
    cell_data : {name: (f, c) floats}, optional
        Numbers at the cells, such as stresses, in the order in which ``pliant.VolumeMesh`` numbers them; at the faces
        where there are no cells. Instead of an array, an object with a length that gives frame i, (c,), when indexed.
    name : str
        What messages and reports call it.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where. Positions are checked when they are read.
    """

    def __init__(
        self,
        faces: Any,
        frames: Frames,
        *,
        cells: Mapping[str, Any] | None = None,
        times: Any = None,
        objects: Any = None,
        parts: Parts | None = None,
        numbers: Any = None,
        files: Iterable[str] | None = None,
        space: Space | None = None,
        ranks: Any = None,
        cell_data: Mapping[str, Frames] | None = None,
        name: str = "sequence",
    ) -> None:
        self.cells: dict[str, Any] | None = None if cells is None else _in_order(cells)
        self.ranks: np.ndarray | None = None if ranks is None else np.asarray(ranks)
        # Of a run in a ChangingSequence: (n, 3), where its vertices were in the frame before its first one.
        self.past: np.ndarray | None = None
        self._is_boundary = faces is None and bool(self.cells)
        volume = self.volume() if self._is_boundary else None
        self.faces: np.ndarray = TriMesh(faces).faces if volume is None else volume.surface().faces
        counted = np.arange(len(frames)) if numbers is None else numbers
        self.numbers: np.ndarray = _one_each(frames, counted, "numbers", np.int64)
        if len(np.unique(self.numbers)) < len(frames):
            raise ShapeError("numbers has a number twice: frames must be told apart")
        self.times: np.ndarray = _one_each(frames, self.numbers if times is None else times, "times", np.float64)
        self.files: tuple[str, ...] | None = None if files is None else tuple(files)
        if self.files is not None and len(self.files) != len(frames):
            raise ShapeError(f"files has {len(self.files)} names, but there are {len(frames)} frames")
        self.objects: np.ndarray | None = None if objects is None else np.asarray(objects)
        self.parts = parts
        if parts is not None and len(parts.of_face) != len(self.faces):
            raise ShapeError(f"parts name {len(parts.of_face)} faces, but there are {len(self.faces)}")
        self.space = space
        self.name = name
        self._frames = frames
        self._cell_data = dict(cell_data or {})
        for data, values in self._cell_data.items():
            if len(values) != len(frames):
                raise ShapeError(f"cell_data[{data!r}] has {len(values)} frames, but there are {len(frames)} frames")

    @classmethod
    def open(cls, path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], **options: Any) -> Sequence:
        """Open a sequence of files, or a file with frames, as ``pliant.io.open_sequence`` does.

        Parameters
        ----------
        path : str, Path, or several of them
            Numbered files, by a pattern, their folder or a list; or one file that has frames.
        **options
            Those of ``pliant.io.open_sequence``.

        Returns
        -------
        Sequence

        Raises
        ------
        FileError
            Where a file cannot be read; the message names the file and the frame.
        """
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
            files = None if self.files is None else self.files[frame]
            known = {"times": self.times[frame], "numbers": self.numbers[frame], "files": files}
            data = {key: _Chosen(values, chosen) for key, values in self._cell_data.items()}
            return self._changed(frames=_Chosen(self._frames, chosen), cell_data=data, **known)
        place = range(len(self))[frame]
        try:
            return as_positions(self._frames[place], "positions")
        except MeshError as error:
            raise type(error)(f"{self.name}, frame {self.numbers[place]}: {error}") from error

    def volume(self) -> VolumeMesh | None:
        """The cells as a mesh; None where there are none.

        Returns
        -------
        VolumeMesh or None
        """
        return VolumeMesh(self.cells, ranks=self.ranks) if self.cells else None

    @property
    def cell_count(self) -> int:
        """How many cells it has; faces, where it has no cells."""
        return len(self.faces) if self.cells is None else sum(map(len, self.cells.values()))

    def cell_data(self, frame: int) -> dict[str, np.ndarray]:
        """Numbers at the cells in one frame, read when asked for.

        Parameters
        ----------
        frame : int

        Returns
        -------
        dict of str to (c,) float64

        Raises
        ------
        ShapeError
            Where there are not as many numbers as cells.
        """
        place, found = range(len(self))[frame], {}
        for key, values in self._cell_data.items():
            found[key] = np.asarray(values[place], np.float64)
            if found[key].shape != (self.cell_count,):
                here = f"{self.name}, frame {self.numbers[place]}: cell_data[{key!r}]"
                raise ShapeError(f"{here} has the shape {found[key].shape}, but there are {self.cell_count} cells")
        return found

    def cells_at_faces(self) -> np.ndarray | None:
        """(m,) ids of the cells whose numbers the faces have; None where the faces are not the boundary of the cells.

        Returns
        -------
        (m,) int or None
        """
        if self.cells is None:
            return np.arange(len(self.faces))
        surface = VolumeMesh(self.cells, ranks=self.ranks).surface()
        return surface.cells if np.array_equal(surface.faces, self.faces) else None

    def merged(self) -> tuple[Sequence, int]:
        """The same frames, with vertices that are at one position in the first frame taken for one.

        Within an object, where the sequence has several. Faces name the first vertex of each position; all ids stay
        those of the file. Each frame that is read is checked: vertices that come apart raise an ``ApartError``, since
        no answer about a surface that is torn there would be right.

        Returns
        -------
        sequence : Sequence
            This one, where there is nothing to merge.
        count : int
            How many vertices were replaced by another at their position.
        """
        if len(self) == 0:
            return self, 0
        cells = {kind: np.asarray(rows) for kind, rows in (self.cells or {"triangle": self.faces}).items()}
        merging = merging_of(cells, self[0], self.objects)
        if len(merging.others) == 0:
            return self, 0
        changes: dict[str, Any] = {"frames": _Together(self._frames, merging), "faces": merging.first[self.faces]}
        if self.cells is not None:
            changes["cells"] = {kind: merging.first[rows] for kind, rows in cells.items()}
        if self._is_boundary:
            del changes["faces"]
        return self._changed(**changes), len(merging.others)

    def _changed(self, **changes: Any) -> Sequence:
        """A copy, but for some of what it is made of."""
        names = ("faces", "cells", "times", "objects", "parts", "numbers", "files", "space", "ranks", "name")
        kept: dict[str, Any] = {name: getattr(self, name) for name in names}
        kept |= {"frames": self._frames, "cell_data": self._cell_data}
        if self._is_boundary and "cells" in changes:
            kept["faces"] = None
        kept |= changes
        made = Sequence(kept.pop("faces"), kept.pop("frames"), **kept)
        made._is_boundary = self._is_boundary
        return made

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


class _Together:
    """Frames in which vertices that were merged are examined: whether they are still at one position."""

    def __init__(self, frames: Frames, merging: Merging) -> None:
        self._frames, self._merging = frames, merging

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> np.ndarray:
        x = as_positions(self._frames[frame], "positions")
        require_together(self._merging, x, "the first frame", "")
        return x


def require_together(merging: Merging, x: np.ndarray, where: str, here: str) -> None:
    """Vertices that were at one position at first, `where`, are so at x, (n, 3), which is `here`."""
    apart = merging.apart(x)
    if len(apart):
        named = ", ".join(f"{i} from {merging.first[i]}" for i in apart[:_NAMED].tolist())
        more = f" and {len(apart) - _NAMED} more" if len(apart) > _NAMED else ""
        raise ApartError(
            f"{here}vertices come apart that were merged, being at one position in {where}: {named}{more}; merge=False "
            "(--no-merge) keeps all vertices as they are in the file"
        )


def _one_each(frames: Frames, given: Any, name: str, dtype: type) -> np.ndarray:
    """(f,)"""
    values = np.asarray(given, dtype)
    if values.shape != (len(frames),):
        raise ShapeError(f"{name} has the shape {values.shape}, but there are {len(frames)} frames")
    return values


def _in_order(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Types in the order in which their cells are numbered; what is no type is named where cells are checked."""
    return {kind: cells[kind] for kind in (*VolumeMesh.type_names, *cells) if kind in cells}
