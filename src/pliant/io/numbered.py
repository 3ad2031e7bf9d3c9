"""Sequences of files: one mesh in each, in the order of their numbers."""

from __future__ import annotations

import contextlib
import glob
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.io.content import PACKED, ending_of, is_packed
from pliant.io.displacement import AtRest, RestAndDisplaced, are_elsewhere, chosen
from pliant.io.mesh import FileError, FileMesh, TopologyError
from pliant.io.opening import Options, sequence_of
from pliant.io.readers import read_at_rest

if TYPE_CHECKING:
    from pliant.frames.sequence import Frames, Sequence

# Endings of files that hold one mesh, and may be frames of a folder.
ENDINGS = (
    ".obj", ".ply", ".stl", ".off", ".vtk", ".vtu", ".vtp", ".msh", ".med", ".inp", ".k", ".key", ".dyn", ".veg",
    ".mesh", ".glb", ".gltf", ".3mf", ".dae",
)  # fmt: skip
PLACE_OF_NUMBER = re.compile(r"%0?\d*d|##+")  # cloth_%04d.obj, cloth.####.obj
_DIGITS = re.compile(r"(\d+)")


class FileFrames:
    """Positions in files, one for each frame, that all have the cells of the first."""

    def __init__(self, paths: list[Path], displacement: str | None = None) -> None:
        self._paths = paths
        self._first = read_at_rest(paths[0])
        self._displacement = chosen(paths[0], self._first.vectors, displacement, self._moves)
        self.mesh = self._first.displaced(paths[0], self._displacement)
        self._first = self._first._replace(vectors={})  # which hold the content of the file

    def _moves(self) -> bool:
        """Whether points at rest are elsewhere in the next frame, or in the last."""
        others = {self._paths[place] for place in (min(1, len(self) - 1), -1)} - {self._paths[0]}
        with contextlib.suppress(FileError):  # said when that frame is asked for
            return any(are_elsewhere(self._at_rest(path).mesh.points, self._first.mesh.points) for path in others)
        return False

    def _at_rest(self, path: Path) -> AtRest:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is left out was said for the first one
            return read_at_rest(path)

    def frames(self) -> Frames:
        """These; of one file with a displacement, the mesh at rest comes first."""
        if len(self) > 1 or self._displacement is None:
            return self
        return RestAndDisplaced(self._first.mesh.points, self.mesh.points)

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, frame: int) -> np.ndarray:
        if frame == 0:
            return self.mesh.points
        path = self._paths[frame]
        found = self._at_rest(path)
        self._require_same(path, found.mesh)
        return found.displaced(path, self._displacement).points

    def _require_same(self, path: Path, mesh: FileMesh) -> None:
        first = f"the first file, {self._paths[0].name},"
        if len(mesh.points) != len(self.mesh.points):
            raise TopologyError(f"{path.name}: has {len(mesh.points)} points, but {first} has {len(self.mesh.points)}")
        for kind in {**self.mesh.cells, **mesh.cells}:
            here, there = len(mesh.cells.get(kind, ())), len(self.mesh.cells.get(kind, ()))
            if here != there:
                raise TopologyError(f"{path.name}: has {here} of {kind}, but {first} has {there}")
            differ = (mesh.cells[kind] != self.mesh.cells[kind]).any(axis=1)
            if differ.any():
                cell = int(np.argmax(differ))
                rows = mesh.cells[kind][cell].tolist(), self.mesh.cells[kind][cell].tolist()
                raise TopologyError(f"{path.name}: {kind} {cell} is {rows[0]}, but in {first} it is {rows[1]}")


def runs_of(paths: list[Path]) -> list[int]:
    """Places of the files that have other cells than the one before, the first included."""
    begins: list[int] = []
    before: FileMesh | None = None
    for place, path in enumerate(paths):
        mesh = read_at_rest(path).mesh
        if before is None or not _are_same(before, mesh):
            begins.append(place)
        before = mesh
    return begins


def _are_same(one: FileMesh, other: FileMesh) -> bool:
    kinds = {**one.cells, **other.cells}
    return len(one.points) == len(other.points) and all(
        np.array_equal(one.cells.get(kind, ()), other.cells.get(kind, ())) for kind in kinds
    )


def is_pattern(path: Path) -> bool:
    return glob.has_magic(path.name) or PLACE_OF_NUMBER.search(path.name) is not None


def files_of(path: Path) -> list[Path]:
    """The numbered files that a pattern or a folder stands for, in any order; none where it is another file."""
    if path.is_dir():
        return [one for one in path.iterdir() if ending_of(one) in ENDINGS and one.is_file()]
    return _fitting(path) if not path.exists() and is_pattern(path) else []


def open_pattern(pattern: Path, options: Options) -> Sequence:
    """Files of one folder whose names fit "frame_*.obj", "frame_%04d.obj" or "frame.####.obj"."""
    found = _fitting(pattern)
    if not found:
        raise FileError(f"{pattern.name}: there is no such file")
    return _open_sorted(found, pattern.name, options)


def _fitting(pattern: Path) -> list[Path]:
    if not pattern.parent.is_dir():
        return []
    number = PLACE_OF_NUMBER.search(pattern.name)
    if not number:
        return [path for path in pattern.parent.glob(pattern.name) if path.is_file()]
    before, after = re.escape(pattern.name[: number.start()]), re.escape(pattern.name[number.end() :])
    digits = len(number[0]) if number[0].startswith("#") else 1
    fits = re.compile(rf"{before}\d{{{digits},}}{after}")
    return [path for path in pattern.parent.iterdir() if path.is_file() and fits.fullmatch(path.name)]


def open_folder(folder: Path, options: Options) -> Sequence:
    """All meshes of a folder, which must be of one format."""
    found = [path for path in folder.iterdir() if ending_of(path) in ENDINGS and path.is_file()]
    found = [path for path in found if not path.name.startswith(".")]
    endings = sorted({ending_of(path) + PACKED * is_packed(path) for path in found})
    if not found:
        raise FileError(f"{folder.name}: the folder holds no meshes")
    if len(endings) > 1:
        raise FileError(
            f"{folder.name}: the folder holds {', '.join(endings)}; name the files: {folder.name}/*{endings[0]}"
        )
    return _open_sorted(found, folder.name, options)


def open_files(paths: list[Path], options: Options, name: str | None = None) -> Sequence:
    """Files in the order in which they are given."""
    if not paths:
        raise FileError("a sequence of no files at all")
    files = FileFrames(paths, options.displacement)
    frames = files.frames()
    numbers = _numbers(paths) if len(paths) == len(frames) else None
    known: dict[str, Any] = {
        "numbers": numbers if name or len(paths) > 1 else None,
        "files": [path.name for path in paths] if len(paths) == len(frames) else 2 * [paths[0].name],
    }
    times = options.times(len(frames), numbers)
    return sequence_of(paths[0], files.mesh, frames, times=times, name=name or paths[0].name, **known)


def _open_sorted(paths: list[Path], name: str, options: Options) -> Sequence:
    return open_files(in_order(paths, name), options, name)


def in_order(paths: Iterable[Path], name: str) -> list[Path]:
    """By their numbers, with a warning of gaps; name: what the message calls them."""
    ordered = sorted(paths, key=_natural)
    _warn_of_gaps(ordered, name)
    return ordered


def pattern_of(paths: list[Path]) -> str:
    """What names of files have in common, with * for the rest."""
    names = [path.name for path in paths]
    before = _common_begin(names).rstrip("0123456789")
    after = _common_begin([name[len(before) :][::-1] for name in names])[::-1].lstrip("0123456789")
    return f"{before}*{after}"


def _common_begin(names: list[str]) -> str:
    lowest, highest = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(lowest, highest)) if a != b), min(len(lowest), len(highest)))
    return lowest[:length]


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """frame_9 before frame_10."""
    parts = _DIGITS.split(path.name)
    return [(int(part), "") if place % 2 else (-1, part.lower()) for place, part in enumerate(parts)], path.name


def _numbers(paths: list[Path]) -> np.ndarray | None:
    """(f,) the last of the numbers in each name that ascends from file to file; None if they number nothing."""
    found = [_DIGITS.findall(path.stem) for path in paths]
    for place in range(1, min(map(len, found)) + 1):
        digits = [numbers[-place] for numbers in found]
        if max(map(len, digits)) <= 15 and (np.diff(np.array(digits, np.int64)) > 0).all():
            return np.array(digits, np.int64)
    return None


def _warn_of_gaps(paths: list[Path], name: str) -> None:
    numbers = _numbers(paths)
    if numbers is None or len(numbers) < 3:
        return
    steps = np.diff(numbers)
    missing = steps // steps.min() - 1
    if missing.any():
        place = int(np.argmax(missing > 0))
        warnings.warn(
            f"{name}: {missing.sum()} frames are missing, the first between {paths[place].name} and "
            f"{paths[place + 1].name}; what is between two files is taken for one motion",
            stacklevel=6,
        )
