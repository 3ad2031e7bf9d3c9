"""What verbs read: a mesh, the same mesh twice, frames; from files, standard input or the embedded scenes."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant
from pliant._arrays import MeshError, OptionError, ShapeError
from pliant.commands.options import STANDARD
from pliant.commands.running import Run
from pliant.scanning import weld_frames
from pliant.scenes import VolumeScene
from pliant.sequence import Sequence

SOLID = ("tetra", "hexahedron", "wedge", "pyramid")
# How files of each format begin. STL in text begins with "solid", and so may binary ones: told apart by their length.
_BEGINNINGS = (
    (b"ply", "ply"), (b"OFF", "off"), (b"COFF", "off"), (b"glTF", "glb"), (b"$MeshFormat", "msh"), (b"$NOD", "msh"),
    (b"# vtk", "vtk"), (b"<VTKFile", "vtu"), (b"<?xml", "vtu"), (b"PK\x03\x04", "npz"), (b"POINTCACHE2", "pc2"),
    (b"*KEYWORD", "k"), (b"*Heading", "inp"), (b"*NODE", "inp"),
)  # fmt: skip


class Mesh(NamedTuple):
    """The triangles of a file.

    faces : (m, 3) rows of x, in the order of the file; of solid cells, the boundary
    x : (n, 3) positions
    cells : kind to corners, as the file has them
    """

    name: str
    faces: np.ndarray
    x: np.ndarray
    cells: dict[str, np.ndarray]

    @property
    def words(self) -> str:
        return f"{len(self.faces):,} triangles, {len(self.x):,} vertices"


def read_mesh(run: Run, path: Path, ending: str | None = None) -> Mesh:
    file = pliant.io.read(on_disk(run, path, ending))
    return Mesh(shown(path), pliant.io.surface_of(file), file.points, file.cells)


def read_motion(run: Run, start: Path, end: Path, merge: bool) -> tuple[Mesh, np.ndarray]:
    """One mesh, and its positions at the end."""
    if start == end == STANDARD:
        raise OptionError("one of A and B can be standard input, not both")
    a, b = read_mesh(run, start), read_mesh(run, end)
    if len(a.x) != len(b.x):
        raise ShapeError(f"{a.name} has {len(a.x)} vertices, {b.name} has {len(b.x)}: A and B must be one mesh, moved")
    if not np.array_equal(a.faces, b.faces):
        raise ShapeError(f"{a.name} and {b.name} have different faces: A and B must be one mesh, moved")
    if merge:
        from pliant.mesh.welding import weld

        a = a._replace(faces=weld(a.faces, np.concatenate((a.x, b.x), axis=1)))
    return a, b.x


class Opening(NamedTuple):
    """Which frames of a sequence are wanted, and what its file may not tell."""

    start: int | None = None
    stop: int | None = None  # the last one, which is wanted too
    every: int = 1
    merge: bool = False
    mesh: Path | None = None
    rate: float | None = None
    clip: str | None = None


class Opened(NamedTuple):
    sequence: Sequence
    numbers: range  # that the file knows its frames by


def open_frames(run: Run, path: Path, how: Opening = Opening()) -> Opened:  # noqa: B008 (a tuple of constants)
    """The frames of a file, or of an embedded scene where there is no such file."""
    scenes = pliant.scenes
    known = (*scenes.names(), *scenes.volume_names(), *scenes.character_names())
    if not path.exists() and path.as_posix() in known:
        sequence = load_scene(path.name)
    elif not path.exists() and path.as_posix().isidentifier():  # no ending, no folder, no pattern: a scene was meant
        raise OptionError(f"{path}: there is no such file, and no such scene; pliant scenes lists those that there are")
    else:
        sequence = Sequence.open(on_disk(run, path), mesh=how.mesh, rate=how.rate, clip=how.clip)
    numbers = _wanted(sequence, how)
    if len(numbers) < len(sequence):
        sequence = sequence[numbers.start : numbers.stop : numbers.step]
        sequence.name += f" [{numbers[0]} to {numbers[-1]}{f', every {how.every}' if how.every > 1 else ''}]"
    return Opened(weld_frames(sequence) if how.merge else sequence, numbers)


def load_mesh_or_frames(run: Run, path: Path, how: Opening, ending: str | None) -> tuple[Mesh | None, Sequence]:
    """A mesh where there is one frame of it only, and the frames in any case."""
    sequence = open_frames(run, on_disk(run, path, ending), how).sequence
    if len(sequence) > 1 or not on_disk(run, path).is_file() or path.suffix == ".npz":
        return None, sequence
    return read_mesh(run, path), sequence


def load_scene(name: str, size: int | None = None, frames: int | None = None, seed: int = 0) -> Sequence:
    """An embedded scene; one of cells has their boundary for faces."""
    try:
        if name in pliant.scenes.volume_names():
            return _volume_scene(pliant.scenes.load_volume(name, size, frames or 12, seed))
        if name in pliant.scenes.character_names():
            raise OptionError(f"{name} is a character: pliant character {name} --clip ... --output FILE plays it")
        scene = pliant.scenes.load(name, size, frames, seed)
    except MeshError:
        raise
    except ValueError as error:  # a wrong name or size
        raise OptionError(str(error)) from None
    return Sequence(scene.faces, scene.frames, objects=scene.objects, name=scene.name)


def _volume_scene(scene: VolumeScene) -> Sequence:
    if not scene.topology_is_fixed:
        raise OptionError(f"{scene.name} is cut or breaks: it has no one mesh for all frames; choose another scene")
    frames = np.stack([step.x0 for step in scene.steps] + [scene.steps[-1].x1])
    return Sequence(None, frames, cells=scene.cells, objects=scene.objects, name=scene.name)


def _wanted(sequence: Sequence, how: Opening) -> range:
    """Numbers of the frames; ends count from the last one where they are negative."""
    count = len(sequence)
    ends = [how.start or 0, count - 1 if how.stop is None else how.stop]
    for i, end in enumerate(ends):
        ends[i] = end + count if end < 0 else end
        if not 0 <= ends[i] < count:
            raise OptionError(f"there is no frame {end}: {sequence.name} has frames 0 to {count - 1}")
    if ends[0] > ends[1]:
        raise OptionError(f"--from {how.start} comes after --to {how.stop}: no frame is wanted")
    return range(ends[0], ends[1] + 1, how.every)


def on_disk(run: Run, path: Path, ending: str | None = None) -> Path:
    """Standard input becomes a file, for as long as the run takes."""
    if path != STANDARD:
        return path
    if run.input is not None:
        return run.input
    if sys.stdin.isatty():
        raise OptionError("standard input is the keyboard; pipe a file into it: pliant ... - < FILE")
    folder = Path(run.enter_context(tempfile.TemporaryDirectory(prefix="pliant-")))
    raw = folder / "stdin"
    with raw.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    run.input = raw.rename(raw.with_suffix("." + (ending or _ending(raw)).lstrip(".")))
    return run.input


def shown(path: Path) -> str:
    """How messages call a file."""
    return "standard input" if path == STANDARD else path.as_posix()


def _ending(path: Path) -> str:
    with path.open("rb") as file:
        begin = file.read(512)
    if len(begin) >= 84 and path.stat().st_size == 84 + 50 * int.from_bytes(begin[80:84], "little"):
        return "stl"
    for mark, ending in _BEGINNINGS:
        if begin.lstrip().lower().startswith(mark.lower()):
            return ending
    if begin.lstrip().startswith(b"solid"):
        return "stl"
    if any(line.split()[:1] in ([b"v"], [b"vn"], [b"mtllib"], [b"o"], [b"g"]) for line in begin.splitlines()):
        return "obj"
    raise OptionError("standard input is of no format that can be told by its beginning; say which with --format")
