"""What verbs read: a mesh, the same mesh twice, frames; from files, standard input or the embedded scenes."""

from __future__ import annotations

import glob
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

import pliant
from pliant.commands.numbering import require_numbered, shown
from pliant.commands.options import STANDARD, Up
from pliant.commands.running import Run
from pliant.frames.changing import ChangingSequence
from pliant.frames.sequence import Sequence, require_together
from pliant.io import FileMesh
from pliant.io.content import ending_of
from pliant.io.numbered import ENDINGS, files_of, in_order, is_pattern, pattern_of
from pliant.io.readers import read_motion as read_motion_files
from pliant.mesh.parts import Membership, Parts
from pliant.mesh.space import Space
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import Merging, merging_of
from pliant.runtime.arrays import MeshError, OptionError, ShapeError
from pliant.runtime.reading import FileError
from pliant.scenes import VolumeScene
from pliant.simulated.built_in import PREFIX

MOST_OF_STANDARD_INPUT = 4 << 30  # bytes, kept on a disk that is not ours to fill
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
    objects : (n,) labels of the vertices, where the file has several parts that share no vertex
    parts : names for the faces, where the file gives any
    merging : which vertices are taken for one in `faces`
    space : which axis points up and how long a unit is, where the file says
    """

    name: str
    faces: np.ndarray
    x: np.ndarray
    cells: dict[str, np.ndarray]
    objects: np.ndarray | None
    parts: Parts | None
    merging: Merging
    space: Space | None = None

    @property
    def words(self) -> str:
        return f"{len(self.faces):,} triangles, {len(self.x):,} vertices"

    @property
    def membership(self) -> Membership | None:
        """Which part each feature belongs to, where the file names parts."""
        return None if self.parts is None else Membership(TriMesh(self.faces), self.parts.of_face, self.parts.names)

    @property
    def merged(self) -> int:
        """How many vertices were taken for another one."""
        return len(self.merging.others)

    @property
    def doubled(self) -> int:
        """How many faces have the same corners as another one only because vertices were merged."""
        doubled = _doubled(self.faces) if self.merged else 0
        return doubled - _doubled(pliant.io.surface_of(FileMesh(self.cells, self.x))) if doubled else 0

    @property
    def merged_cells(self) -> dict[str, np.ndarray]:
        return {kind: self.merging.first[rows] for kind, rows in self.cells.items()}


def _doubled(faces: np.ndarray) -> int:
    """Faces with the same three corners as an earlier one; those that have collapsed do not count."""
    corners = np.sort(faces, axis=1)
    corners = corners[(corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2])]
    return len(corners) - len(np.unique(corners, axis=0))


def say_merged(run: Run, meshes: Iterable[Mesh]) -> None:
    """That vertices were taken for one; and where that has made one of bodies that coincide, as nothing else tells."""
    from pliant.report.tables import count, merged_words

    every = list(meshes)
    run.say(merged_words(sum(mesh.merged for mesh in every)), style="dim")
    doubled = sum(mesh.doubled for mesh in every)
    if doubled:
        have = "has" if doubled == 1 else "have"
        joined = "bodies that coincide were joined into one; --no-merge keeps them apart"
        run.say(f"{count(doubled, 'face')} {have} the same corners as another face then: {joined}.", style="bold")


def read_mesh(run: Run, path: Path, ending: str | None = None, merge: bool = False) -> Mesh:
    """Vertices at equal positions are one where they are to be merged, within each of the parts that the file names."""
    if path != STANDARD and not path.exists() and is_pattern(path):
        raise FileError(f"{path.name}: there is no such file; frames of a sequence: pliant scan '{path.as_posix()}'")
    return _mesh_of(path, pliant.io.read(on_disk(run, path, ending), displacement=run.displacement), merge)


def _mesh_of(path: Path, file: FileMesh, merge: bool) -> Mesh:
    faces, x = pliant.io.surface_of(file), file.points
    objects = None if file.parts is None else file.parts.bodies(faces, len(x))
    mesh = Mesh(shown(path), faces, x, file.cells, objects, file.parts, merging_of({}, x), file.space)
    if merge:
        mesh = mesh._replace(merging=merging_of(file.cells, x, objects))
        mesh = mesh._replace(faces=pliant.io.surface_of(pliant.io.FileMesh(mesh.merged_cells, x)))
    return mesh


def read_motion(run: Run, start: Path, end: Path, merge: bool) -> tuple[Mesh, np.ndarray]:
    """One mesh, and its positions at the end."""
    if start == end == STANDARD:
        raise OptionError("one of A and B can be standard input, not both")
    files = read_motion_files(on_disk(run, start), on_disk(run, end), displacement=run.displacement)
    a, b = _mesh_of(start, files[0], merge), _mesh_of(end, files[1], False)
    if len(a.x) != len(b.x):
        raise ShapeError(f"{a.name} has {len(a.x)} vertices, {b.name} has {len(b.x)}: A and B must be one mesh, moved")
    if a.cells.keys() != b.cells.keys() or not all(np.array_equal(a.cells[kind], b.cells[kind]) for kind in a.cells):
        raise ShapeError(f"{a.name} and {b.name} have different faces: A and B must be one mesh, moved")
    require_together(a.merging, b.x, a.name, f"{b.name}: ")
    return a, b.x


class Opening(NamedTuple):
    """Which frames of a sequence are wanted, by their numbers, and what its file may not tell."""

    start: int | None = None
    stop: int | None = None  # the last one, which is wanted too
    every: int = 1
    merge: bool = True
    mesh: Path | None = None
    rate: float | None = None
    clip: str | None = None


class Opened(NamedTuple):
    sequence: Sequence
    merged: int  # vertices that were taken for another one


def open_frames(run: Run, files: list[Path], how: Opening = Opening()) -> Opened:  # noqa: B008 (a tuple of constants)
    """The frames of a file, of files that a shell lists, or of an embedded scene where there is no such file."""
    path = files[0]
    if len(files) == 1 and not path.is_dir() and is_pattern(path):
        require_numbered(files_of(path))
    scenes = pliant.scenes
    known = (*scenes.names(), *scenes.volume_names(), *scenes.character_names(), *_simulated_names())
    merge, wanted = how.merge, {"displacement": run.displacement}
    if len(files) > 1:
        sequence = _listed(files, mesh=how.mesh, rate=how.rate, **wanted)
    elif not path.exists() and path.as_posix() in known:
        sequence, merge = load_scene(path.name), False  # what is embedded is whole
    elif not path.exists() and path.as_posix().isidentifier():  # no ending, no folder, no pattern: a scene was meant
        raise OptionError(f"{path}: there is no such file, and no such scene; pliant scenes lists those that there are")
    else:
        sequence = Sequence.open(on_disk(run, path), mesh=how.mesh, rate=how.rate, clip=how.clip, **wanted)
    places = _wanted(sequence, how)
    if len(places) < len(sequence):
        sequence = sequence[places.start : places.stop : places.step]
        ends = f"{sequence.numbers[0]} to {sequence.numbers[-1]}"
        sequence.name += f" [{ends}{f', every {how.every}' if how.every > 1 else ''}]"
    return Opened(*sequence.merged()) if merge else Opened(sequence, 0)


def _listed(files: list[Path], **options: Any) -> Sequence:
    """Frames of one sequence, as `frames/cloth_*.obj` is filled in by a shell: in the order of their numbers."""
    single = [ending for ending in ENDINGS if ending not in (".glb", ".gltf")]  # these hold frames of their own
    for path in files:
        if not path.is_file():
            raise OptionError(f"{shown(path)}: there is no such file")
        if ending_of(path) not in single:
            raise OptionError(
                f"{len(files)} files, of which {path.name} is a sequence by itself; look at --each of them"
            )
    require_numbered(files)
    name = pattern_of(files)
    sequence = Sequence.open(in_order(files, name), **options)
    sequence.name = name
    return sequence


def up_axis(wanted: Up | None, sequence: Sequence | ChangingSequence) -> str:
    """The axis that points up, in what is shown."""
    return wanted.value if wanted is not None else sequence.space.up if sequence.space is not None else "y"


def load_mesh_or_frames(run: Run, files: list[Path], how: Opening, ending: str | None) -> tuple[Mesh | None, Sequence]:
    """A mesh where there is one frame of it only, and the frames in any case."""
    if len(files) > 1:
        return None, open_frames(run, files, how).sequence
    path = files[0]
    sequence = open_frames(run, [on_disk(run, path, ending)], how).sequence
    only_one = len(sequence) == 1 or len(set(sequence.files or range(2))) == 1  # at rest and displaced, from one file
    if not only_one or not on_disk(run, path).is_file() or ending_of(path) == ".npz":
        return None, sequence
    return read_mesh(run, path), sequence


def _simulated_names() -> tuple[str, ...]:
    return tuple(PREFIX + name for name in (*pliant.simulated.names(), *pliant.simulated.volume_names()))


def load_scene(name: str, size: int | None = None, frames: int | None = None, seed: int = 0) -> Sequence:
    """An embedded scene; one of cells has their boundary for faces."""
    try:
        if name in pliant.scenes.volume_names():
            return _volume_scene(pliant.scenes.load_volume(name, size, frames or 12, seed))
        if name in pliant.scenes.character_names():
            raise OptionError(f"{name} is a character: pliant character {name} --clip ... --output FILE plays it")
        if name in _simulated_names():
            if name.removeprefix(PREFIX) in pliant.simulated.volume_names():
                return _volume_scene(pliant.simulated.load_volume(name, size, frames, seed))
            scene = pliant.simulated.load(name, size, frames, seed)
        else:
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
    """Places of the frames between two numbers; ends count from the last one where they are negative."""
    numbers, count = sequence.numbers.tolist(), len(sequence)
    ends = [0, count - 1]
    for i, end in enumerate((how.start, how.stop)):
        if end is None:
            continue
        negative = end < 0 <= numbers[0]
        if not (-count <= end if negative else numbers[0] <= end <= numbers[-1]):
            raise OptionError(f"there is no frame {end}: {sequence.name} has frames {numbers[0]} to {numbers[-1]}")
        ends[i] = end + count if negative else bisect_left(numbers, end) if i == 0 else bisect_right(numbers, end) - 1
    if ends[0] > ends[1]:
        raise OptionError(f"--from {how.start} comes after --to {how.stop}: no frame is wanted")
    return range(ends[0], ends[1] + 1, how.every)


def expand(run: Run, paths: Iterable[Path]) -> list[Path]:
    """Files, each once, with patterns that the shell has left as they are filled in."""
    out: dict[Path, None] = {}
    named = Counter(paths)
    for path, times in named.items():
        if times > 1:
            often = "twice" if times == 2 else f"{times} times"
            run.warn(f"{shown(path)} is named {often}, and read once")
        if path == STANDARD or path.exists() or not glob.has_magic(str(path)):
            out[path] = None
            continue
        names = glob.glob(str(path), recursive=True)  # noqa: PTH207  (Path.glob takes no absolute pattern)
        found = sorted(name for name in names if Path(name).is_file())
        if not found:
            raise OptionError(f"no file matches {path}")
        out.update(dict.fromkeys(map(Path, found)))
    return list(out)


def on_disk(run: Run, path: Path, ending: str | None = None) -> Path:
    """Standard input becomes a file, for as long as the run takes."""
    if path != STANDARD:
        return path
    if run.input is not None:
        return run.input
    if sys.stdin is None:
        raise OptionError("standard input is closed; pipe a file into it: pliant ... - < FILE")
    if sys.stdin.isatty():
        raise OptionError("standard input is the keyboard; pipe a file into it: pliant ... - < FILE")
    folder = Path(run.enter_context(tempfile.TemporaryDirectory(prefix="pliant-")))
    raw = folder / "stdin"
    with raw.open("wb") as file:
        _spool(file)
    run.input = raw.rename(raw.with_suffix("." + (ending or _ending(raw)).lstrip(".")))
    return run.input


def _spool(file: IO[bytes]) -> None:
    spent, doing = 0, "read"
    try:
        while chunk := sys.stdin.buffer.read(1 << 20):
            spent += len(chunk)
            if spent > MOST_OF_STANDARD_INPUT:
                most = f"{MOST_OF_STANDARD_INPUT:,} bytes"
                raise OptionError(f"standard input is longer than {most}; write it to a file, and name that")
            doing = f"kept in {tempfile.gettempdir()}"
            file.write(chunk)
            file.flush()
            doing = "read"
    except OSError as error:
        raise OptionError(f"standard input cannot be {doing}: {error.strerror}") from error


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
    raise OptionError("cannot detect the format of standard input; pass --format")
