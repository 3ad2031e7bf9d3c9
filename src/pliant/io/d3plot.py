"""Results of LS-DYNA over time: a family of files d3plot, d3plot01, ..., read with lasso-python."""

from __future__ import annotations

import contextlib
import glob
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.io.mesh import FileError, FileMesh, make, warn
from pliant.io.opening import LARGEST_ARRAY, Options, sequence_of
from pliant.io.solids import split_solids
from pliant.runtime.extras import needed
from pliant.runtime.reading import current

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence

# Places in the control section of a d3plot, which begins with 64 words: how many nodes and elements there are.
_COUNTS = {"nodes": 16, "solids": 23, "beams": 28, "shells": 31, "thick shells": 40}
_WORDS = {"nodes": 3, "solids": 9, "beams": 6, "shells": 5, "thick shells": 9}


_ALIVE = {kind: f"element_{kind}_is_alive" for kind in ("solid", "tshell", "shell")}


def read(path: Path) -> FileMesh:
    """The mesh with all its frames, which must not be more than `LARGEST_ARRAY`."""
    _check_sizes(path)
    frames = _StateFrames(path)
    size = len(frames) * len(frames.mesh.points) * 24
    if size > LARGEST_ARRAY:
        raise FileError(
            f"{path.name}: {len(frames)} frames have {size} bytes: pliant.io.open_sequence reads each alone"
        )
    arrays = _arrays(path, state_array_filter=["node_displacement", *_ALIVE.values()])
    positions = arrays.get("node_displacement")  # positions, whatever the name says
    _warn_of_deleted(path, arrays)
    mesh = frames.mesh
    return make(
        path, list(mesh.cells.items()), mesh.points, None if positions is None else np.asarray(positions, np.float64)
    )


def open_frames(path: Path, options: Options) -> Sequence:
    """States of a family of files, each read when it is asked for."""
    _check_sizes(path)
    frames = _StateFrames(path)
    if len(frames):
        _warn_of_deleted(path, _state(path, len(frames) - 1, list(_ALIVE.values())))
    times = options.times(len(frames))
    return sequence_of(path, frames.mesh, frames, times=frames.times if times is None else times)


class _StateFrames:
    """Positions of the nodes in each state."""

    def __init__(self, path: Path) -> None:
        self._path = path
        arrays = _arrays(path, state_array_filter=["timesteps"], buffered_reading=True)
        self.times = np.asarray(arrays.get("timesteps", ()), np.float64)
        self.mesh = _mesh(path, arrays)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, frame: int) -> np.ndarray:
        positions = _state(self._path, frame, ["node_displacement"]).get("node_displacement")
        if positions is None or len(positions) == 0:
            raise FileError(f"{self._path.name}: state {frame} has no positions")
        return np.asarray(positions[0], np.float64)


def _state(path: Path, state: int, names: list[str]) -> dict:
    return _arrays(path, state_array_filter=names, state_filter={state}, buffered_reading=True)


def _mesh(path: Path, arrays: dict) -> FileMesh:
    points = np.asarray(arrays.get("node_coordinates", np.empty((0, 3))), np.float64)
    shells = np.asarray(arrays.get("element_shell_node_indexes", np.empty((0, 4), np.int32)))
    is_triangle = shells[:, 2] == shells[:, 3]
    blocks = [("triangle", shells[is_triangle][:, :3]), ("quad", shells[~is_triangle])]
    for name in ("element_solid_node_indexes", "element_tshell_node_indexes"):
        solids, wrong = split_solids(np.asarray(arrays.get(name, np.empty((0, 8), np.int32)))[:, :8])
        if len(wrong):
            raise FileError(f"{path.name}: row {wrong[0]} of {name} is none of tetra, pyramid, wedge and hexahedron")
        blocks += solids
    beams = len(arrays.get("element_beam_node_indexes", ()))
    warn(path, {"beam": beams} if beams else {}, "left out:")
    return make(path, blocks, points)


def _warn_of_deleted(path: Path, arrays: dict) -> None:
    deleted = {
        f"{kind} of its cells": int((np.asarray(arrays[name])[-1] == 0).sum())
        for kind, name in _ALIVE.items()
        if len(arrays.get(name, ()))
    }
    warn(path, {kind: count for kind, count in deleted.items() if count}, "kept, though deleted by the last frame:")


def _check_sizes(path: Path) -> None:
    """What the file announces must fit into it: lasso-python allocates before it reads."""
    size = 0
    for part in path.parent.glob(glob.escape(path.name) + "*"):
        if part.is_file():
            current().require_inside(path, part)
            current().count(part)
            size += part.stat().st_size
    with path.open("rb") as file:
        head = file.read(64 * 8)
    for word in (4, 8):
        if len(head) < 64 * word:
            continue
        for order in "<>":
            values = np.frombuffer(head, f"{order}i{word}", 64)
            # The number of dimensions is a small number only if words are read as they were written.
            if not 2 <= values[15] <= 7:
                continue
            need = sum(abs(int(values[place])) * _WORDS[what] * word for what, place in _COUNTS.items())
            if need > size:
                raise FileError(f"{path.name}: declares a mesh of {need} bytes, but the files have {size}; cut off?")
            return
    raise FileError(f"{path.name}: is not a d3plot")


def _arrays(path: Path, **options: Any) -> dict:
    with needed("lasso", "pliant.io", path.name):
        from lasso.dyna import D3plot
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return _careful(D3plot)(str(path), **options).arrays
    # lasso-python raises whatever the first wrong word of a cut or foreign file led to.
    except (Exception, SystemExit) as error:
        raise FileError(f"{path.name}: lasso-python cannot read it ({type(error).__name__}: {error})") from error


def _careful(reader: Any) -> Any:
    """The reader of lasso-python, which believes what airbags announce: names of variables far beyond the file."""

    class Careful(reader):
        def _read_particle_data(self) -> None:
            if self.header.raw_header.get("npefg", 0) > 0:
                word, kind = self.header.wordsize, self._header.itype
                for place in (0, 1, 3):  # geometry, particles, airbags
                    count = int(self._buffer.read_number(self.geometry_section_size + place * word, kind))
                    if not 0 <= count * word <= self._buffer.size:
                        raise ValueError(f"{count} variables of airbags are declared")
            super()._read_particle_data()

    return Careful
