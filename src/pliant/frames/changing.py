"""Sequences whose mesh changes: runs of frames that have the same one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import overload

import numpy as np

from pliant.frames.scanning import Scan, scan_frames
from pliant.frames.sequence import Frames, Sequence
from pliant.mesh.parts import Parts
from pliant.mesh.space import Space
from pliant.runtime.arrays import ShapeError


class ChangingSequence:
    """Frames of a mesh that changes: runs of frames, each a sequence with a mesh of its own.

        for run in recorded.runs:
            found = pliant.scan(run)
        pliant.io.write_sequence("bullet.pvd", recorded)

    Parameters
    ----------
    runs : iterable of Sequence
        In the order of their times. Vertices keep their ids from one to the next, and new ones come after those of the
        body, as in what a ``pliant.simulate.Solid`` with ``fracture=`` gives.
    name : str, optional
        What messages and reports call it; default: the name of the first.

    Raises
    ------
    MeshError
        Where there is no run, or times do not ascend.
    """

    def __init__(self, runs: Iterable[Sequence], *, name: str | None = None) -> None:
        self.runs: tuple[Sequence, ...] = tuple(run for run in runs if len(run))
        if not self.runs:
            raise ShapeError("a changing sequence needs at least one run with a frame")
        self.times: np.ndarray = np.concatenate([run.times for run in self.runs])
        if (np.diff(self.times) <= 0.0).any():
            raise ShapeError("the runs of a changing sequence must be in the order of their times")
        self.numbers: np.ndarray = np.arange(len(self.times))
        self.name: str = self.runs[0].name if name is None else name
        self._begin = np.array([0, *accumulate(map(len, self.runs))])

    @property
    def space(self) -> Space | None:
        """Which axis points up and how long a unit is, where that is known."""
        return self.runs[0].space

    def __len__(self) -> int:
        return int(self._begin[-1])

    def place(self, frame: int) -> tuple[int, int]:
        """Where a frame is.

        Parameters
        ----------
        frame : int

        Returns
        -------
        int, int
            The run, and the frame of it.
        """
        frame = range(len(self))[frame]
        run = int(np.searchsorted(self._begin, frame, "right")) - 1
        return run, frame - int(self._begin[run])

    @overload
    def __getitem__(self, frame: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, frame: slice) -> ChangingSequence: ...
    def __getitem__(self, frame: int | slice) -> np.ndarray | ChangingSequence:
        """(n, 3) float64 positions of one frame, of the mesh that it has; or a changing sequence of some frames that
        follow each other."""
        if isinstance(frame, slice):
            chosen = range(len(self))[frame]
            if chosen.step < 1:
                raise ShapeError("frames of a changing sequence cannot be taken backwards")
            places = [self.place(one) for one in chosen]
            parts = []
            for number, run in enumerate(self.runs):
                own = [place for of, place in places if of == number]
                if own:
                    parts.append(run[own[0] : own[-1] + 1 : chosen.step])
                    parts[-1].past = run.past if own[0] == 0 and chosen.step == 1 else None
            return ChangingSequence(parts, name=self.name)
        number, place = self.place(frame)
        return self.runs[number][place]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (x for run in self.runs for x in run)

    def __repr__(self) -> str:
        return f"ChangingSequence({self.name!r}: {len(self.runs)} meshes, {len(self)} frames)"

    # ---- as one mesh

    def as_one(self) -> OneMesh:
        """All frames with one mesh, to be shown: faces are those that are on the boundary in any run. What a frame does
        not have lies in one point there.

        Returns
        -------
        OneMesh
        """
        return OneMesh(self)


class OneMesh:
    """The frames of a changing sequence as a sequence of triangles with one mesh.

    A face of several runs is one face. Its corners are those of the vertices, where all faces of a vertex are there for
    the same runs, and copies of them otherwise: what is not there lies in one point, the first vertex of the frame.

    sequence : Sequence
    faces : for each run, (m,) of its faces those of the sequence
    """

    def __init__(self, changing: ChangingSequence) -> None:
        runs = changing.runs
        rows, there = _all_faces([run.faces for run in runs])
        self.faces: list[np.ndarray] = [np.full(len(run.faces), -1, np.int64) for run in runs]
        for number, of_run in enumerate(there):
            self.faces[number][of_run[of_run >= 0]] = np.flatnonzero(of_run >= 0)
        # Faces whose runs are the same are shown and hidden together; corners of different ones are different.
        shown = np.ascontiguousarray(there.T >= 0)
        _, group = np.unique(shown, axis=0, return_inverse=True)
        corners = np.stack((rows.ravel(), np.repeat(group.ravel(), 3)), axis=1)
        known, ids = np.unique(corners, axis=0, return_inverse=True)
        is_shown = np.zeros((int(group.max(initial=0)) + 1, len(runs)), bool)
        is_shown[group.ravel()] = shown
        frames = _Together(changing, known[:, 0], is_shown[known[:, 1]].T)
        self.sequence = Sequence(
            ids.reshape(-1, 3), frames, times=changing.times, name=changing.name, space=changing.space,
            parts=_parts(changing, self.faces, len(rows)), cell_data=_data_at_faces(changing, self.faces, len(rows)),
        )  # fmt: skip


class _Together:
    """Positions of vertices, (v,) of all runs, in the frames in which their faces are there, (runs, v)."""

    def __init__(self, changing: ChangingSequence, vertices: np.ndarray, is_shown: np.ndarray) -> None:
        self._changing, self._vertices, self._is_shown = changing, vertices, is_shown

    def __len__(self) -> int:
        return len(self._changing)

    def __getitem__(self, frame: int) -> np.ndarray:
        number, place = self._changing.place(frame)
        run, shown = self._changing.runs[number], self._is_shown[number]
        x = run[place]
        hidden = x[run.faces[0, 0]] if len(run.faces) else x[0]
        return np.where(shown[:, None], x[np.where(shown, self._vertices, 0)], hidden)


class _AtFaces:
    """Numbers at the cells behind the faces of all runs; 0 at those that a frame does not have."""

    def __init__(self, changing: ChangingSequence, name: str, faces: list[np.ndarray], count: int) -> None:
        self._changing, self._name, self._faces, self._count = changing, name, faces, count
        self._cells: dict[int, np.ndarray | None] = {}

    def __len__(self) -> int:
        return len(self._changing)

    def __getitem__(self, frame: int) -> np.ndarray:
        number, place = self._changing.place(frame)
        run, out = self._changing.runs[number], np.zeros(self._count)
        if number not in self._cells:
            self._cells[number] = run.cells_at_faces()
        cells = self._cells[number]
        if cells is not None:
            out[self._faces[number]] = run.cell_data(place)[self._name][cells]
        return out


def _parts(changing: ChangingSequence, faces: list[np.ndarray], count: int) -> Parts:
    """Those of the runs; one where they have none."""
    of_face, names = np.zeros(count, np.int32), [changing.name]
    for run, places in zip(changing.runs, faces):
        if run.parts is not None:
            names = list(run.parts.names)
            of_face[places] = run.parts.of_face
    return Parts(of_face, tuple(names))


def scan_as_one(changing: ChangingSequence, *, threads: int | None = None) -> Scan:
    """What intersects in each frame, with its own mesh, and whether cells are inverted: as a scan of ``OneMesh``, to be
    shown."""
    clock, one, frames = time.perf_counter(), changing.as_one(), []
    for number, run in enumerate(changing.runs):
        for found in scan_frames(run, find="intersections", threads=threads):
            place = int(changing._begin[number]) + found.place
            table = found.intersections
            assert table is not None
            faces = np.sort(one.faces[number][table.faces], axis=1).astype(np.int32)
            order = np.lexsort((faces[:, 1], faces[:, 0]))
            columns = {"faces": faces[order], "segments": table.segments[order], "coplanar": table.coplanar[order]}
            mapped = replace(table, **columns)
            frames.append(found._replace(number=place, place=place, intersections=mapped))
    return Scan(one.sequence, tuple(frames), time.perf_counter() - clock)


def _data_at_faces(changing: ChangingSequence, faces: list[np.ndarray], count: int) -> dict[str, Frames]:
    return {name: _AtFaces(changing, name, faces, count) for name in changing.runs[0].cell_data(0)}


def _all_faces(runs: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Different triangles of all runs, (m, 3), and for each run, (runs, m), which of its faces each is, or -1. Order of
    corners counts, but for where it begins."""
    turned = []
    for faces in runs:
        first = faces.argmin(axis=1)[:, None]
        turned.append(np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1))
    rows, inverse = np.unique(np.concatenate(turned), axis=0, return_inverse=True)
    there, begin, inverse = np.full((len(runs), len(rows)), -1), 0, inverse.ravel()
    for number, faces in enumerate(runs):
        there[number, inverse[begin : begin + len(faces)]] = np.arange(len(faces))
        begin += len(faces)
    return rows, there
