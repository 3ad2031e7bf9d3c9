"""Which way a sequence is stored: by its name."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.io import caches, d3plot, npz, numbered, pvd, usd, xdmf
from pliant.io.content import ending_of, is_packed, unpack
from pliant.io.displacement import NONE
from pliant.io.gltf import reader as gltf
from pliant.io.mesh import FileError, FileMesh
from pliant.io.opening import Options
from pliant.io.readers import require_content
from pliant.runtime.arrays import OptionError
from pliant.runtime.reading import carrying, current, reading

if TYPE_CHECKING:
    from pliant.frames.changing import ChangingSequence
    from pliant.frames.sequence import Frames, Sequence

_BY_ENDING: dict[str, Callable[[Path, Options], Sequence]] = {
    ".npz": npz.open_frames,
    ".pc2": caches.open_pc2,
    ".mdd": caches.open_mdd,
    ".glb": gltf.open_frames,
    ".gltf": gltf.open_frames,
    ".usd": usd.open_frames,
    ".usda": usd.open_frames,
    ".usdc": usd.open_frames,
    ".usdz": usd.open_frames,
    ".pvd": pvd.open_frames,
    ".xdmf": xdmf.open_frames,
    ".xmf": xdmf.open_frames,
}
_UNPACKED_IN_MEMORY = (".pvd", ".xdmf", ".xmf")


def open_sequence(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    mesh: str | os.PathLike[str] | FileMesh | None = None,
    rate: float | None = None,
    clip: str | None = None,
    displacement: str | None = None,
    budget: int | None = None,
    outside: bool = False,
) -> Sequence:
    """Open a mesh over time. Frames are read when they are asked for.

    path : numbered files, by a pattern ("cloth_*.obj", "cloth_%04d.ply", "cloth.####.obj"), by their folder, or as a
        list of paths in their order; or one file that has frames:
        .npz, .pc2, .mdd, .usd, .usda, .usdc, .usdz, .glb, .gltf, .pvd, .xdmf,
        d3plot; any other file is a sequence of one frame; each may be packed by gzip: .obj.gz, .npz.gz
    mesh : file of the faces, or a mesh that was read, where `path` has positions only
    rate : frames per second, from which times are made where the file gives none
    clip : name of the motion, where the file has several
    displacement : name of a vector at the points that is added to them, in .vtu, .vtp, .pvd, .xdmf and what meshio
        reads; "none" for none; default: one that is named like a displacement, where the points themselves do not move,
        which a warning names. Of one frame with a displacement, the mesh at rest becomes the frame before.
    budget : bytes that the file may expand to, by compression or by naming the same part many times, for each frame
        that is read; 64 times its size if not given, and 256 MB at least
    outside : read files outside of its folder too, where it refers to any

    All frames must have the cells of the first. What is wrong raises a `FileError` that names the file and the frame.
    """
    if rate is not None and not (isinstance(rate, int | float) and 0 < rate < math.inf):
        raise OptionError(f"rate={rate!r} must be a positive number of frames per second")
    options = Options(mesh, rate, clip, displacement)
    if not isinstance(path, str | os.PathLike):
        paths = [Path(one) for one in path]
        with reading(paths[0] if paths else "files", budget, outside):
            return numbered.open_files(paths, options)
    with reading(path, budget, outside):
        return _opened(Path(path), options)


def open_changing(
    path: str | os.PathLike[str], *, budget: int | None = None, outside: bool = False
) -> ChangingSequence:
    """Open frames whose mesh changes from one to another: a .pvd or .npz, or numbered files as in `open_sequence`.

    Runs of frames with the same cells are sequences of their own. Files are read once to find them, and once more when
    their frame is asked for.
    """
    from pliant.frames.changing import ChangingSequence

    path = Path(path)
    with reading(path, budget, outside):
        if ending_of(path) == ".npz":
            return ChangingSequence(npz.open_changing(path, Options()), name=path.name)
        found = [] if path.is_dir() or not path.exists() else pvd.files_of(path)
        files = [file for _, file in found] or numbered.in_order(numbered.files_of(path), path.name)
        if not files:
            raise FileError(f"{path.name}: no frames whose mesh may change: name a .pvd, an .npz, or numbered files")
        times = np.array([time for time, _ in found] or np.arange(len(files)), float)
        begins, runs = numbered.runs_of(files), []
        for begin, end in zip(begins, [*begins[1:], len(files)]):
            run = numbered.open_files(files[begin:end], Options(), path.name)
            run.times = times[begin:end]
            runs.append(run)
        return ChangingSequence(runs, name=path.name)


def _opened(path: Path, options: Options) -> Sequence:
    if path.is_dir() and (path / "d3plot").is_file():
        path = path / "d3plot"
    if path.is_dir():
        return numbered.open_folder(path, options)
    if not path.exists() and numbered.is_pattern(path):
        return numbered.open_pattern(path, options)
    require_content(path)
    if path.name.lower().startswith("d3plot"):
        return d3plot.open_frames(path, options)
    opener = _BY_ENDING.get(ending_of(path))
    if opener and options.displacement not in (None, NONE) and ending_of(path) not in _UNPACKED_IN_MEMORY:
        raise FileError(f"{path.name}: has no {options.displacement!r} at its points: the format has no such vectors")
    if opener is None:
        return numbered.open_files([path], options)
    if is_packed(path) and ending_of(path) not in _UNPACKED_IN_MEMORY:
        return _open_packed(path, opener, options)
    return opener(path, options)


class _Held:
    """Frames of a file that is unpacked for as long as they are there."""

    def __init__(self, frames: Frames, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._frames, self._folder = frames, folder

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._frames[frame]


def _open_packed(path: Path, opener: Callable[[Path, Options], Sequence], options: Options) -> Sequence:
    if options.mesh is None:
        options = options._replace(mesh=caches.mesh_beside(path))
    # Where the frames are mapped into memory, some systems remove the file only after the end of the process.
    folder = tempfile.TemporaryDirectory(prefix="pliant-", ignore_cleanup_errors=True)
    copy = unpack(path, Path(folder.name))
    with carrying(current().moved(copy)):
        sequence = opener(copy, options)
    sequence.name, sequence._frames = path.name, _Held(sequence._frames, folder)
    return sequence
