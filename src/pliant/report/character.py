"""``pliant character``: whether a skinned character intersects itself in its clips, and what flesh would make of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.characters.body.bodies import body_of
from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import place
from pliant.characters.body.tetrahedra import BodyError
from pliant.characters.playing import Frame, frame_times, play
from pliant.characters.rig.blending import METHODS
from pliant.characters.rig.rig import Character
from pliant.frames.scanning import Scan, scan
from pliant.frames.sequence import Sequence as Frames
from pliant.io import clip_names
from pliant.io.gltf.characters import load
from pliant.report.sequences import require_writable
from pliant.runtime.arrays import OptionError, choose
from pliant.runtime.threads import Progress
from pliant.scenes import character_names, load_character

REST = "rest pose"  # what is examined where there are no clips


class Wanted(NamedTuple):
    """What the command line asks for."""

    file: str
    clips: tuple[str, ...] = ()  # none: all
    skinning: str = "linear"  # of the asset
    merge: bool = True
    repair: bool = True
    response: bool = True
    update: str = "safe"
    rate: float = 60.0
    seconds: float | None = None
    edge: float | None = None
    output: Path | None = None
    png: Path | None = None
    threads: int | None = None


class Cast(NamedTuple):
    """Who plays what.

    character : the skin that a repair is about
    clips : names; of what has none, REST
    body : where the scene brings one
    left_out : what a file shows besides that skin, as sentences
    """

    character: Character
    clips: tuple[str, ...]
    body: Body | None = None
    obstacles: tuple[Any, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def from_file(self) -> bool:
        return self.body is None


class Repair(NamedTuple):
    """A clip played by flesh.

    scan : of the skin that the flesh carries: intersections, as of the asset itself
    """

    body: Body
    frames: list[Frame]
    scan: Scan


class Judged(NamedTuple):
    """A clip, and what intersects in it.

    scan : of the asset as it is
    repair : None where there is nothing to repair, or none was wanted
    """

    clip: str
    scan: Scan
    repair: Repair | None = None

    @property
    def pairs(self) -> int:
        return int(self.scan.intersection_counts.sum())


def cast(wanted: Wanted) -> Cast:
    """The character, after a look at whether files can be written at all."""
    choose(wanted.skinning, "skinning", METHODS)
    if wanted.output is not None:
        if not wanted.repair:
            raise OptionError("--output is for the repaired skin: leave --no-repair out")
        require_writable(wanted.output)
    if wanted.png is not None and not wanted.png.parent.is_dir():
        raise OptionError(f"{wanted.png.parent} is not a folder")
    who = _load(wanted)
    if wanted.output is not None and len(who.clips) > 1:
        raise OptionError(f"--output takes one clip; choose it with --clip; there are: {', '.join(who.clips)}")
    return who


def _load(wanted: Wanted) -> Cast:
    if wanted.file in character_names() and not Path(wanted.file).exists():
        scene = load_character(wanted.file)
        if wanted.edge is not None:
            raise OptionError(f"edge is for skins of files: {wanted.file} has a body")
        obstacles = () if scene.obstacle is None else (scene.obstacle,)
        return Cast(scene.character, _chosen(wanted, scene.character), scene.body, obstacles)
    if not Path(wanted.file).exists():
        raise OptionError(f"{wanted.file}: there is no such file, and no scene but {', '.join(character_names())}")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        character = load(wanted.file)
    return Cast(character, _chosen(wanted, character), left_out=tuple(str(note.message) for note in notes))


def _chosen(wanted: Wanted, character: Character) -> tuple[str, ...]:
    """Names of clips in full; those of a file include what moves no joint, such as morph targets."""
    if wanted.clips:
        return tuple(dict.fromkeys(character.clip(name).name for name in wanted.clips))
    known = clip_names(wanted.file) if Path(wanted.file).exists() else tuple(character.clips)
    return known or (REST,)


def judge(wanted: Wanted, who: Cast, progress: Progress | None = None) -> list[Judged]:
    """What intersects in every frame of every clip, as the asset is: the triangles of its file, blended as it says."""
    every = [(clip, _as_it_is(wanted, who, clip)) for clip in who.clips]
    total, done, out = sum(len(frames) for _, frames in every), 0, []
    for clip, frames in every:
        found = scan(frames, find="intersections", threads=wanted.threads, progress=_after(progress, done, total))
        out.append(Judged(clip, found))
        done += len(frames)
    return out


def _after(progress: Progress | None, before: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _as_it_is(wanted: Wanted, who: Cast, clip: str) -> Frames:
    times = _times(wanted, who, clip)
    if who.from_file and wanted.skinning == METHODS[0]:
        # All that the file shows, as `pliant scan` reads it.
        frames = Frames.open(wanted.file, clip=None if clip == REST else clip, rate=wanted.rate)
        frames = frames if wanted.seconds is None else frames[: len(times)]
        return frames.merged()[0] if wanted.merge else frames
    named = None if clip == REST else clip
    skins = [who.character.pose(named, t, wanted.skinning) for t in times.tolist()]
    return _surfaces(who, skins, times, clip)


def _times(wanted: Wanted, who: Cast, clip: str) -> np.ndarray:
    return frame_times(who.character.clips.get(clip), wanted.rate, wanted.seconds)


def _surfaces(who: Cast, skins: Sequence[np.ndarray], times: np.ndarray, clip: str) -> Frames:
    """The skin and the obstacles, as one surface."""
    faces, first = [who.character.mesh.faces], len(who.character.rest)
    for obstacle in who.obstacles:
        faces.append(obstacle.volume.surface().faces + first)
        first += len(obstacle.rest)
    placed = [np.concatenate((skin, *_placed(who, t))) for skin, t in zip(skins, times.tolist())]
    return Frames(np.concatenate(faces), np.stack(placed), times=times, name=f"{who.character.name}: {clip}")


def _placed(who: Cast, t: float) -> list[np.ndarray]:
    return [
        place([o], [o.transform(t)] if hasattr(o, "transform") else None)[0]  # one by one: some rest
        for o in who.obstacles
    ]


def repair(
    wanted: Wanted, who: Cast, judged: Sequence[Judged], progress: Progress | None = None
) -> tuple[list[Judged], str]:
    """Clips that intersect, played by flesh (all, for a file of the result); and why none was, where it cannot be."""
    chosen = [one for one in judged if wanted.repair and (one.pairs or wanted.output is not None)]
    chosen = [one for one in chosen if one.clip in who.character.clips]  # flesh follows joints, and nothing else
    total, done, repaired = sum(len(one.scan) for one in chosen), 0, {}
    try:
        for one in chosen:
            body = body_of(who.character, edge=wanted.edge) if who.body is None else who.body
            repaired[one.clip] = _repaired(wanted, who, body, one.clip, _after(progress, done, total))
            done += len(one.scan)
    except (ModuleNotFoundError, BodyError) as error:
        if wanted.output is not None:
            raise
        return list(judged), str(error)
    for note in who.left_out if chosen else ():
        warnings.warn(note, stacklevel=2)
    return [one._replace(repair=repaired.get(one.clip)) for one in judged], ""


def _repaired(wanted: Wanted, who: Cast, body: Body, clip: str, progress: Progress | None) -> Repair:
    frames = list(
        play(
            who.character, clip, body=body, obstacles=who.obstacles, collisions=wanted.response,
            update=wanted.update, rate=wanted.rate, seconds=wanted.seconds, threads=wanted.threads, progress=progress,
        )
    )  # fmt: skip
    skins = _surfaces(who, [frame.skin for frame in frames], np.array([frame.time for frame in frames]), clip)
    return Repair(body, frames, scan(skins, find="intersections", threads=wanted.threads))
