"""``pliant character``: a clip of a character, frame by frame, and what collides in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant._arrays import MeshError, OptionError
from pliant.characters.bodies import body_of
from pliant.characters.body import Body
from pliant.characters.errors import ClipError
from pliant.characters.playing import Frame, frame_times, play
from pliant.characters.reading import load
from pliant.characters.rig import Character, Clip
from pliant.characters.summaries import Summary, summarise
from pliant.report.characters_sheet import SHOTS, tiles_of
from pliant.report.demo import REPORT_WIDTH, Console, Table, track  # where a missing rich is explained
from pliant.report.picture import View
from pliant.report.sequences import Played, require_writable, write
from pliant.report.sheet import contact_sheet
from pliant.scenes import character_names, load_character

CLEAN, FOUND, FAILED = 0, 1, 2
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
    as_json: bool = False
    threads: int | None = None


def run(wanted: Wanted) -> int:
    """0 where nothing collides, 1 where something does, 2 after an error, which takes one line on stderr."""
    try:
        return _run(wanted)
    except (MeshError, OSError, ModuleNotFoundError) as error:
        print(f"pliant: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED


def _run(wanted: Wanted) -> int:
    if wanted.output is not None:
        require_writable(wanted.output)
    if wanted.png is not None and not wanted.png.parent.is_dir():
        raise OptionError(f"{wanted.png.parent} is not a folder")
    character, body, obstacles = _load(wanted)
    clip = _clip(character, wanted.clip)
    frames = _play(wanted, (character, clip, body, obstacles))
    summary = summarise(frames)
    if wanted.output is not None:
        write(wanted.output, _as_played(character, body, frames))
    if wanted.png is not None:
        _draw(wanted.png, (character, body, obstacles), frames)
    if wanted.as_json:
        print(json.dumps(as_record(character, clip, frames, summary)))
    else:
        _print(wanted, (character, clip, body), frames)
    return FOUND if summary.colliding else CLEAN


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


def _play(wanted: Wanted, what: tuple[Character, Clip, Body, tuple[Any, ...]]) -> list[Frame]:
    character, clip, body, obstacles = what
    count = len(frame_times(clip, wanted.rate, wanted.seconds))
    frames = play(
        character, clip, body=body, obstacles=obstacles, skinning=wanted.skinning, collisions=wanted.response,
        update=wanted.update, rate=wanted.rate, seconds=wanted.seconds, threads=wanted.threads,
    )  # fmt: skip
    quiet = Console(stderr=True)
    return list(track(frames, "Frames", total=count, console=quiet, transient=True, disable=not quiet.is_terminal))


def _as_played(character: Character, body: Body, frames: Sequence[Frame]) -> Played:
    times = np.array([frame.time for frame in frames])
    skins = np.stack([frame.skin for frame in frames])
    return Played(times, skins, np.stack([frame.colliding(body) for frame in frames]), character.mesh.faces)


def _draw(path: Path, what: tuple[Character, Body, tuple[Any, ...]], frames: Sequence[Frame]) -> None:
    """Poses at even distances, and among them the one with the deepest penetration."""
    character, body, obstacles = what
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


def as_record(character: Character, clip: Clip, frames: Sequence[Frame], summary: Summary) -> dict[str, Any]:
    """For JSON: every frame with collisions, and the summary."""
    colliding = [
        {
            "frame": i,
            "time": frame.time,
            "vertices": np.unique(frame.penetrations.vertices).tolist(),
            "pairs": len(frame.penetrations),
            "deepest": frame.penetrations.deepest,
            "bones": frame.penetrations.bone_pairs(),
        }
        for i, frame in enumerate(frames)
        if len(frame.penetrations)
    ]
    means = summary.milliseconds[1:].mean(axis=0).tolist() if len(frames) > 1 else [0.0] * 3
    return {
        "verb": "character",
        "pliant": pliant.__version__,
        "pairs": sum(len(frame.penetrations) for frame in frames),
        "character": character.name,
        "clip": clip.name,
        "frames": len(frames),
        "frames_with_collisions": summary.colliding,
        "deepest": summary.deepest,
        "bones": [{"pair": pair, "frames": count} for pair, count in summary.bones.items()],
        "milliseconds": dict(zip(("skinning", "solver", "detection"), means)),
        "list": colliding,
    }


def _print(wanted: Wanted, what: tuple[Character, Clip, Body], frames: Sequence[Frame]) -> None:
    character, clip, body = what
    console = Console() if sys.stdout.isatty() else Console(width=REPORT_WIDTH)
    how = wanted.skinning + (", no response" if not wanted.response and wanted.skinning == "position based" else "")
    title = f"{character.name}: {clip.name}, {len(frames)} frames, {how}"
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    console.print(f"{character!r}, {body!r}", style="dim", highlight=False, soft_wrap=True)
    summary = summarise(frames)
    if summary.colliding:
        console.print(_table(frames), highlight=False)
        if summary.colliding > _ROWS:
            console.print(f"... and {summary.colliding - _ROWS} more frames (--json has all)", highlight=False)
    console.print(_words(summary, body), highlight=False, soft_wrap=True)
    for kind, path in (("Sequence", wanted.output), ("Picture", wanted.png)):
        if path is not None:
            console.print(f"{kind} in {path.as_posix()}", highlight=False, soft_wrap=True)


def _table(frames: Sequence[Frame]) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("frame", "seconds", "vertices", "cells", "deepest"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bones")
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
