"""What `pliant untangle` works on: the mesh or frames that are written, bodies beside them, and what names mean."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant.commands.inputs import Opening as Opening
from pliant.commands.inputs import open_frames, read_mesh
from pliant.commands.running import Run, fault
from pliant.frames.sequence import Sequence
from pliant.frames.untangled import UntangledFrame
from pliant.io.content import ending_of
from pliant.io.numbered import files_of, in_order, pattern_of
from pliant.mesh.parts import Parts
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import Merging, merging_of
from pliant.results.untangled import Untangled
from pliant.runtime.arrays import ShapeError
from pliant.runtime.threads import Progress
from pliant.runtime.writing import OutputError
from pliant.untangling.judging import longest

_GLTF = (".glb", ".gltf")
_WITH_FRAMES = (".npz", ".pc2", ".mdd", ".usd", ".usda", ".usdc", ".usdz", ".pvd", ".xdmf", ".xmf")
_ROUNDINGS = 3  # times that rounded positions are untangled again


class Subject(NamedTuple):
    """One mesh, or one over time, from files.

    faces : (m, 3), with vertices at equal positions being one
    sources : the file of each frame, where each has its own
    sequence : as it was read
    """

    name: str
    faces: np.ndarray
    sequence: Sequence
    merging: Merging
    sources: list[Path] | None
    has_solids: bool = False

    @property
    def parts(self) -> Parts | None:
        return self.sequence.parts


def read(run: Run, files: list[Path], how: Opening) -> Subject:
    """What is to be untangled: files that are numbered are frames, a single one is a mesh unless it has frames."""
    path = files[0]
    ending = ending_of(path)
    has_frames = ending in _WITH_FRAMES or (ending in _GLTF and how.clip is not None) or path.name.startswith("d3plot")
    if len(files) == 1 and path.is_file() and not has_frames:
        mesh = read_mesh(run, path, merge=how.merge)
        sequence = Sequence(
            mesh.faces, mesh.x[None], objects=mesh.objects, parts=mesh.parts, space=mesh.space, name=mesh.name
        )
        solids = any(kind not in ("triangle", "quad") for kind in mesh.cells)
        return Subject(mesh.name, mesh.faces, sequence, mesh.merging, [path], solids)
    sequence = open_frames(run, files, how._replace(merge=False)).sequence
    x, faces = sequence[0], sequence.faces
    merging = merging_of({"triangle": faces} if how.merge else {}, x, sequence.objects)
    return Subject(
        sequence.name, merging.first[faces], sequence, merging, _sources(files, sequence), sequence.cells is not None
    )


def _sources(files: list[Path], sequence: Sequence) -> list[Path] | None:
    """The files of the frames, in their order; None where one file has all."""
    if sequence.files is None:
        return None
    found = files if len(files) > 1 else files_of(files[0])
    by_name = {path.name: path for path in in_order(found, pattern_of(found))} if found else {}
    if len(by_name) != len(found) or not set(sequence.files) <= set(by_name):
        return None
    return [by_name[name] for name in sequence.files]


def is_body(path: Path, subject: Subject) -> bool:
    """Whether --fixed names files other than the subject itself; else it is the name of a part."""
    own = [one.resolve() for one in subject.sources or ()]
    return (path.exists() or bool(files_of(path))) and path.resolve() not in own


def bodies_of(run: Run, fixed: list[Path], subject: Subject, merge: bool) -> list[Subject]:
    """Files that --fixed names; one with frames has as many as there are."""
    found = []
    for path in fixed:
        if is_body(path, subject):
            body = read(run, [path], Opening(merge=merge))
            if len(body.sequence) not in (1, len(subject.sequence)):
                raise ShapeError(
                    f"{body.name} has {len(body.sequence)} frames, but {subject.name} has {len(subject.sequence)}"
                )
            found.append(body)
    return found


class Told(NamedTuple):
    """What the command line says, beside the files."""

    fixed: list[Path]
    layers: str | None
    outside_of: str | None
    reference: Path | None
    max_move: float | None
    max_distortion: float
    seconds: float


class Scene:
    """A subject, and after it the bodies that do not move, as one mesh."""

    def __init__(self, subject: Subject, bodies: list[Subject]) -> None:
        self.subject, self.bodies = subject, bodies
        counts = [len(one.sequence[0]) for one in (subject, *bodies)]
        self.first: np.ndarray = np.cumsum([0, *counts])
        joined = [one.faces + begin for one, begin in zip((subject, *bodies), self.first.tolist())]
        self.faces: np.ndarray = np.concatenate(joined).astype(np.int32)
        self.own: int = counts[0]  # vertices that are written

    def __len__(self) -> int:
        return len(self.subject.sequence)

    def positions(self, frame: int) -> np.ndarray:
        """(n, 3) of all of it."""
        others = [one.sequence[min(frame, len(one.sequence) - 1)] for one in self.bodies]
        return np.concatenate([self.subject.sequence[frame], *others])

    @cached_property
    def frames(self) -> np.ndarray:
        """(f, n, 3)"""
        return np.array([self.positions(frame) for frame in range(len(self))])

    @cached_property
    def named(self) -> dict[str, np.ndarray]:
        """Vertices by what they may be called: parts of the subject, files with ending and without."""
        found: dict[str, np.ndarray] = {}
        for one, begin in zip((self.subject, *self.bodies), self.first.tolist()):
            for number, name in enumerate(one.parts.names if one.parts is not None else ()):
                assert one.parts is not None
                found.setdefault(name, begin + np.unique(one.faces[one.parts.of_face == number]))
            whole = begin + np.unique(one.faces)
            for name in (one.name, Path(one.name).name, Path(one.name).stem):
                found.setdefault(name, whole)
        return found

    def vertices(self, name: str, option: str) -> np.ndarray:
        if name not in self.named:
            known = ", ".join(dict.fromkeys(self.named))
            raise fault(f"{option} {name}: there is no such part or file; there are {known}")
        return self.named[name]

    def options(self, told: Told) -> dict[str, Any]:
        """For ``pliant.untangle``."""
        fixed = np.zeros(len(self.frames[0]), bool)
        fixed[self.own :] = True
        for path in told.fixed:
            if not is_body(path, self.subject):
                fixed[self.vertices(path.as_posix(), "--fixed")] = True
        if fixed.all():
            raise fault("everything is fixed: nothing can be moved apart")
        layers = None
        if told.layers is not None:
            layers = np.full(len(fixed), -1)
            for place, name in enumerate(_names(told.layers)):
                own = self.vertices(name, "--layers")
                if (layers[own] >= 0).any():
                    raise fault(f"--layers {told.layers}: {name} has vertices that are in another layer already")
                layers[own] = place
        objects, outside = TriMesh(self.faces).components, None
        if told.outside_of is not None:
            ids = [self.vertices(name, "--outside-of") for name in _names(told.outside_of)]
            outside = np.unique(objects[np.concatenate(ids)])
        return {"fixed": fixed, "layers": layers, "outside_of": outside, "max_move": told.max_move} | {
            "max_distortion": told.max_distortion, "seconds": told.seconds,
        }  # fmt: skip

    def together(self, x: np.ndarray) -> np.ndarray:
        """Positions (..., n, 3) with those of merged vertices where the one is that stands for them."""
        merging, x = self.subject.merging, x.copy()
        x[..., merging.others, :] = x[..., merging.first[merging.others], :]
        return x


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise fault(f"{text!r}: must be names with commas between them, such as body,shirt")
    return names


class Done(NamedTuple):
    """What came out.

    x : (f, n, 3) positions of all vertices, of bodies too, as the file will have them
    frames : one for each
    only : of a single mesh, all that is known
    """

    x: np.ndarray
    frames: tuple[UntangledFrame, ...]
    only: Untangled | None
    seconds: float

    @property
    def remains(self) -> bool:
        """Whether anything intersects that should not, or is on the wrong side."""
        return any(not frame.clean or (frame.wrong_side is not None and len(frame.wrong_side)) for frame in self.frames)


Stored = Callable[[int, np.ndarray], np.ndarray]  # of a frame, and positions (n, 3): as they are read once written


def solve(run: Run, scene: Scene, told: Told, stored: Stored | None, progress: Progress | None) -> Done:
    """Untangle all frames, and again where the file rounds and that brings something back; stored: None where it does
    not round."""
    clock = time.perf_counter()
    options: dict[str, Any] = scene.options(told) | {"threads": run.threads}
    if told.reference is not None:
        options["reference"] = _reference(run, scene, told.reference)
    x, frames, only = scene.frames, [], None
    if len(scene) > 1:
        sequence = scene.subject.sequence
        whole = Sequence(scene.faces, x, times=sequence.times, numbers=sequence.numbers, name=sequence.name)
        found = pliant.untangle_sequence(whole, **options, progress=progress)
        x, frames = np.array(list(found.sequence)), list(found.frames)
    else:
        only = pliant.untangle(scene.faces, x[0], **options, progress=progress)
        x, frames = only.positions[None], [as_frame(only, time.perf_counter() - clock)]
    x = scene.together(x)
    if stored is not None:
        for frame, one in enumerate(x):
            x[frame], frames[frame] = _rounded(scene, one, (frame, stored), frames[frame], options)
    return Done(x, tuple(frames), only, time.perf_counter() - clock)


def as_frame(found: Untangled, seconds: float) -> UntangledFrame:
    return UntangledFrame(
        0, 0.0, found.history[0].pairs, found.clean, found.remaining, found.unfixable, found.wrong_side, found.moved,
        longest(found.displacement), found.method, seconds, found.sides,
    )  # fmt: skip


def _rounded(
    scene: Scene, x: np.ndarray, where: tuple[int, Stored], known: UntangledFrame, options: dict[str, Any]
) -> tuple[np.ndarray, UntangledFrame]:
    """As the file will have it; untangled again where rounding has brought something back."""
    (frame, stored), merging = where, scene.subject.merging
    limits = {name: value for name, value in options.items() if name != "reference"}
    x = np.concatenate((stored(frame, x[: scene.own]), x[scene.own :]))
    again = pliant.untangle(scene.faces, x, **limits)
    for _ in range(_ROUNDINGS):
        if not again.moved.any():
            break
        x = scene.together(again.positions)
        x = np.concatenate((stored(frame, x[: scene.own]), x[scene.own :]))
        again = pliant.untangle(scene.faces, x, **limits)
    if len(merging.apart(x)):
        raise OutputError(
            f"{scene.subject.name}: vertices of a seam would come apart by rounding; write another format"
        )
    given = scene.frames[frame]
    known = known._replace(moved=(x != given).any(axis=1), largest=longest(x - given))
    if again.moved.any():
        hits = pliant.check(scene.faces, x, threads=options["threads"])
        left = hits[~options["fixed"][scene.faces[hits.faces]].all(axis=(1, 2))]
        known = known._replace(clean=not len(left), remaining=left)
    return x, known._replace(wrong_side=again.wrong_side)


def _reference(run: Run, scene: Scene, path: Path) -> np.ndarray:
    """Positions of the same mesh from another file, with the bodies where they are."""
    other = read(run, [path], Opening(merge=False))
    x, given = other.sequence[0], scene.subject
    if len(x) != scene.own or len(other.faces) != len(given.faces):
        raise ShapeError(
            f"{other.name} has {len(x)} vertices and {len(other.faces)} triangles, {given.name} has {scene.own} and "
            f"{len(given.faces)}: a reference is the same mesh at other positions"
        )
    if (given.merging.first[other.faces] != given.faces).any():
        raise ShapeError(f"{other.name} and {given.name} have different faces: a reference is the same mesh")
    return np.concatenate((x, scene.frames[0][scene.own :]))
