"""``pliant character``: a clip of a character, frame by frame, and what collides in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant._arrays import OptionError
from pliant._threads import Progress
from pliant.characters.bodies import body_of
from pliant.characters.body import Body
from pliant.characters.errors import ClipError
from pliant.characters.playing import Frame, play
from pliant.characters.reading import load
from pliant.characters.rig import Character, Clip
from pliant.characters.summaries import Summary, summarise
from pliant.report.characters_sheet import SHOTS, tiles_of
from pliant.report.outputs import Result, Table, inside_table, joined
from pliant.report.picture import View
from pliant.report.sequences import Played, require_writable, write
from pliant.report.sheet import contact_sheet
from pliant.report.tables import table as rich_table
from pliant.scenes import character_names, load_character

if TYPE_CHECKING:
    from rich.console import RenderableType

_ROWS = 40  # of the table, at most
_POSES, _POSES_IN_A_ROW = 8, 4
_POSE_WIDTH = 300  # pixels


class Wanted(NamedTuple):
    """What the command line asks for."""

    file: str
    clip: str | None = None
    skinning: str = "position based"
    response: bool = True
    update: str = "safe"
    rate: float = 60.0
    seconds: float | None = None
    edge: float | None = None
    output: Path | None = None
    png: Path | None = None
    threads: int | None = None


class Cast(NamedTuple):
    """Who plays what."""

    character: Character
    clip: Clip
    body: Body
    obstacles: tuple[Any, ...]


def cast(wanted: Wanted) -> Cast:
    """The character with its body, after a look at whether files can be written at all."""
    if wanted.output is not None:
        require_writable(wanted.output)
    if wanted.png is not None and not wanted.png.parent.is_dir():
        raise OptionError(f"{wanted.png.parent} is not a folder")
    character, body, obstacles = _load(wanted)
    return Cast(character, _clip(character, wanted.clip), body, obstacles)


def perform(wanted: Wanted, who: Cast, progress: Progress | None = None) -> list[Frame]:
    """All frames."""
    return list(
        play(
            who.character, who.clip, body=who.body, obstacles=who.obstacles, skinning=wanted.skinning,
            collisions=wanted.response, update=wanted.update, rate=wanted.rate, seconds=wanted.seconds,
            threads=wanted.threads, progress=progress,
        )
    )  # fmt: skip


def write_files(wanted: Wanted, who: Cast, frames: Sequence[Frame]) -> list[Path]:
    """The sequence and the picture, if they are wanted; returns those that were written."""
    if wanted.output is not None:
        write(wanted.output, _as_played(who.character, who.body, frames))
    if wanted.png is not None:
        _draw(wanted.png, who, frames)
    return [path for path in (wanted.output, wanted.png) if path is not None]


def _load(wanted: Wanted) -> tuple[Character, Body, tuple[Any, ...]]:
    if wanted.file in character_names() and not Path(wanted.file).exists():
        scene = load_character(wanted.file)
        if wanted.edge is not None:
            raise OptionError(f"edge is for skins of files: {wanted.file} has a body")
        return scene.character, scene.body, () if scene.obstacle is None else (scene.obstacle,)
    if not Path(wanted.file).exists():
        raise OptionError(f"there is no file {wanted.file}, and no scene but {', '.join(character_names())}")
    character = load(wanted.file)
    _clip(character, wanted.clip)  # said before a body is made, which takes longest
    return character, body_of(character, edge=wanted.edge), ()


def _clip(character: Character, name: str | None) -> Clip:
    if name is None:
        known = ", ".join(character.clips) or "none at all"
        raise ClipError(f"choose a clip of {character.name} with --clip; there are: {known}")
    return character.clip(name)


def _as_played(character: Character, body: Body, frames: Sequence[Frame]) -> Played:
    times = np.array([frame.time for frame in frames])
    skins = np.stack([frame.skin for frame in frames])
    return Played(times, skins, np.stack([frame.colliding(body) for frame in frames]), character.mesh.faces)


def _draw(path: Path, who: Cast, frames: Sequence[Frame]) -> None:
    """Poses at even distances, and among them the one with the deepest penetration."""
    character, body, obstacles = who.character, who.body, who.obstacles
    places = set(np.linspace(0, len(frames) - 1, min(_POSES, len(frames))).round().astype(int).tolist())
    deepest = int(np.argmax([frame.penetrations.deepest for frame in frames]))
    if deepest not in places:
        places = places - {min(places - {0}, key=lambda i: abs(i - deepest), default=0)} | {deepest}
    chosen = [frames[i] for i in sorted(places)]
    view = next((shot.view for shot in SHOTS if shot.scene == character.name), View(turn=0.7, tilt=0.15))
    tiles = tiles_of(character, body, chosen, [f"{frame.time:.2f} s" for frame in chosen], view, obstacles)
    width, height = tiles[0].view.span
    size = _POSE_WIDTH, int(min(max(0.5, height / width), 1.5) * _POSE_WIDTH)
    rows = [tiles[i : i + _POSES_IN_A_ROW] for i in range(0, len(tiles), _POSES_IN_A_ROW)]
    contact_sheet(path, rows, [size])


def result_of(who: Cast, frames: Sequence[Frame]) -> Result:
    """For machines: every vertex in a cell of every frame, and the summary."""
    summary = summarise(frames)
    means = summary.milliseconds[1:].mean(axis=0).tolist() if len(frames) > 1 else [0.0] * 3
    head = {
        "pairs": sum(len(frame.penetrations) for frame in frames),
        "character": who.character.name,
        "clip": who.clip.name,
        "frames": len(frames),
        "frames_with_collisions": summary.colliding,
        "deepest": summary.deepest,
        "bones": [{"pair": pair, "frames": count} for pair, count in summary.bones.items()],
        "milliseconds": dict(zip(("skinning", "solver", "detection"), means)),
    }
    return Result("character", head, (joined(_pairs(i, frame) for i, frame in enumerate(frames)),))


def _pairs(number: int, frame: Frame) -> Table:
    found = frame.penetrations
    names = [found.carriers.name(bone) for bone in found.bones.ravel().tolist()]
    table = inside_table(found, frame=number, time=frame.time)
    return Table(table.name, table.columns | {"bones": np.array(names, "U64").reshape(-1, 2)})


def shown(wanted: Wanted, who: Cast, frames: Sequence[Frame]) -> Iterator[tuple[RenderableType, str]]:
    """What people read, each with its style."""
    how = wanted.skinning + (", no response" if not wanted.response and wanted.skinning == "position based" else "")
    yield f"{who.character.name}: {who.clip.name}, {len(frames)} frames, {how}", "bold"
    yield f"{who.character!r}, {who.body!r}", "dim"
    summary = summarise(frames)
    if summary.colliding:
        yield _frame_table(frames), ""
        if summary.colliding > _ROWS:
            yield f"... and {summary.colliding - _ROWS} more frames (--json has all)", ""
    yield _words(summary, who.body), ""


def _frame_table(frames: Sequence[Frame]) -> RenderableType:
    """The first frames with collisions."""
    table = rich_table(("frame", "seconds", "vertices", "cells", "deepest", "bones"), ("bones",))
    rows = [(i, frame) for i, frame in enumerate(frames) if len(frame.penetrations)]
    for i, frame in rows[:_ROWS]:
        found = frame.penetrations
        counts = len(np.unique(found.vertices)), len(np.unique(found.cells))
        bones = ", ".join(" / ".join(pair) if pair[0] != pair[1] else pair[0] for pair in found.bone_pairs())
        table.add_row(str(i), f"{frame.time:.3f}", *map(str, counts), f"{found.deepest:.4g}", bones)
    return table


def _words(summary: Summary, body: Body) -> str:
    milliseconds = summary.milliseconds[1:].mean(axis=0) if len(summary.times) > 1 else np.zeros(3)
    times = ", ".join(f"{name} {ms:.1f}" for name, ms in zip(("skinning", "solver", "detection"), milliseconds))
    spent = f"Milliseconds of a frame: {times}."
    if summary.colliding == 0:
        return f"No collisions in {len(summary.times)} frames. {spent}"
    edges = body.rest[body.volume.edges]
    edge = float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
    often = ", ".join(f"{' / '.join(pair)} in {count}" for pair, count in list(summary.bones.items())[:5])
    return (
        f"Collisions in {summary.colliding} of {len(summary.times)} frames, deepest {summary.deepest:.4g} "
        f"({summary.deepest / edge:.2f} mean edges) at {summary.times[int(summary.depth.argmax())]:.3f} s. "
        f"Bones: {often}. {spent}"
    )
