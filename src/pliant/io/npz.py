"""Sequences in NPZ: an array of all frames, or one for each, and faces. Nothing is unpickled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.io.mesh import CORNERS, FileError, FileMesh, TopologyError, make
from pliant.io.opening import Options, checked_sequence, sequence_of
from pliant.io.zipped import Archive, StoredFrames

if TYPE_CHECKING:
    from pliant.frames.sequence import Frames, Sequence

_POSITIONS = ("frames", "positions", "vertices", "points", "V", "v", "X", "x")
_FACES = ("faces", "triangles", "F", "f", "tri")
_TIMES = ("times", "time", "t")
CELL_DATA = "cell_data."  # and a name: numbers at the cells of each frame, (f, c)
RUN = "run_{}/"  # folder of arrays: frames with another mesh, from the second one on
# vertices_t0 and vertices_t1, or x0 and x1: one array for each frame.
_NUMBERED = re.compile(r"(frame|position|vertice|point|V|v|X|x)s?_?t?_?(\d{1,9})")


class _Separate:
    """One array for each frame."""

    def __init__(self, archive: Archive, names: list[str]) -> None:
        self._archive, self._names = archive, names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._archive.array(self._names[frame])


def open_frames(path: Path, options: Options) -> Sequence:
    archive = Archive(path)
    if f"{RUN.format(1)}frames" in archive.headers:
        raise TopologyError(f"{path.name}: its mesh changes; pliant.io.open_changing opens it")
    return _opened(archive, options)


def open_changing(path: Path, options: Options) -> list[Sequence]:
    """Runs of frames, each with a mesh of its own."""
    archive, runs = Archive(path), []
    while not runs or f"{RUN.format(len(runs))}frames" in archive.headers:
        folder = RUN.format(len(runs)) if runs else ""
        of_run = archive.within(folder) if runs else archive
        run = _opened(of_run, options)
        if "past" in of_run.headers and of_run.headers["past"].shape == run[0].shape:
            run.past = of_run.array("past")
        runs.append(run)
    return runs


def _opened(archive: Archive, options: Options) -> Sequence:
    path = archive.path
    frames = _frames(archive)
    names = archive.headers
    times = options.times(len(frames))
    time_name = next((name for name in _TIMES if name in names and names[name].shape == (len(frames),)), None)
    if time_name and times is None:
        times = archive.array(time_name)
    known: dict[str, Any] = {name: archive.array(name) for name in ("objects", "ranks") if name in names}
    known["times"] = times
    if "numbers" in names and names["numbers"].shape == (len(frames),) and names["numbers"].dtype.kind in "iu":
        known["numbers"] = archive.array("numbers")
    known["cell_data"] = {
        name.removeprefix(CELL_DATA): StoredFrames(archive, name)
        for name, header in names.items()
        if name.startswith(CELL_DATA) and len(header.shape) == 2 and header.shape[0] == len(frames)
    }
    if options.mesh is not None:
        return sequence_of(path, options.topology(path), frames, **known)
    cells = {kind: archive.array(kind) for kind in CORNERS if kind in names}
    faces = next((name for name in _FACES if name in names), None)
    if faces is not None:
        given = archive.array(faces)
        return checked_sequence(path, given, frames, cells=cells or None, **known)
    if not cells:
        raise FileError(f"{path.name}: no faces among {_listed(archive)}; wanted is one of {', '.join(_FACES)}")
    mesh = make(path, list(cells.items()), frames[0])
    return sequence_of(path, mesh, frames, **known)


def read(path: Path) -> FileMesh:
    """The first frame."""
    sequence = open_frames(path, Options())
    return make(path, list((sequence.cells or {"triangle": sequence.faces}).items()), sequence[0])


def _frames(archive: Archive) -> Frames:
    headers = archive.headers
    for name in _POSITIONS:
        if name in headers and len(headers[name].shape) == 3 and headers[name].shape[2] == 3:
            return StoredFrames(archive, name)
    for name in _POSITIONS:
        if name in headers and len(headers[name].shape) == 2 and headers[name].shape[1] == 3:
            return _Separate(archive, [name])
    groups: dict[str, list[tuple[int, str]]] = {}
    for name, header in headers.items():
        match = _NUMBERED.fullmatch(name)
        if match and len(header.shape) == 2 and header.shape[1] == 3:
            groups.setdefault(match[1], []).append((int(match[2]), name))
    if not groups:
        raise FileError(
            f"{archive.path.name}: no positions among {_listed(archive)}; wanted are frames (f, n, 3), or one array "
            f"(n, 3) for each: vertices_t0, vertices_t1 ..."
        )
    names = [name for _, name in sorted(max(groups.values(), key=len))]
    shape = headers[names[0]].shape
    for frame, name in enumerate(names):
        if headers[name].shape != shape:
            raise FileError(
                f"{archive.path.name}, frame {frame}: {name} has the shape {headers[name].shape}, the first {shape}"
            )
    return _Separate(archive, names)


def _listed(archive: Archive) -> str:
    shown = [f"{name[:40]} {header.shape}" for name, header in list(archive.headers.items())[:12]]
    return ", ".join(shown) or "nothing"
