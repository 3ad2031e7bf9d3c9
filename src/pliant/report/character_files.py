"""Files that ``pliant character`` writes: the repaired skin, and a sheet of poses before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.frames.scanning import Scan
from pliant.report.character import Cast, Judged, Wanted
from pliant.report.characters_sheet import SHOTS
from pliant.report.picture import Shape, View
from pliant.report.sequences import Played, write
from pliant.report.sheet import Tile, contact_sheet

_POSES, _CLIPS = 4, 6
_POSE_WIDTH = 300  # pixels


def write_files(wanted: Wanted, who: Cast, judged: Sequence[Judged]) -> list[Path]:
    """The sequence and the picture, if they are wanted; returns those that were written."""
    if wanted.output is not None:
        write(wanted.output, _as_played(who, judged[0]))
    if wanted.png is not None:
        _draw(wanted.png, who, judged)
    return [path for path in (wanted.output, wanted.png) if path is not None]


def _as_played(who: Cast, one: Judged) -> Played:
    assert one.repair is not None  # the one clip that there is was repaired for this
    body, frames = one.repair.body, one.repair.frames
    times, skins = np.array([frame.time for frame in frames]), np.stack([frame.skin for frame in frames])
    return Played(times, skins, np.stack([frame.colliding(body) for frame in frames]), who.character.mesh.faces)


def _draw(path: Path, who: Cast, judged: Sequence[Judged]) -> None:
    """For the worst clips a row of poses as they are, and below it the same poses with flesh."""
    worst = sorted(judged, key=lambda one: -one.pairs)[:_CLIPS]
    view = next((shot.view for shot in SHOTS if shot.scene == who.character.name), View(turn=0.7, tilt=0.15))
    rows, sizes = [], []
    for one in worst:
        places = _poses(one.scan)
        seen = view.around(*(one.scan.sequence[place] for place in places))
        size = _POSE_WIDTH, int(min(max(0.5, seen.span[1] / seen.span[0]), 1.5) * _POSE_WIDTH)
        rows.append([_tile(one.scan, place, seen, one.clip) for place in places])
        if one.repair is not None:
            rows.append([_tile(one.repair.scan, place, seen, "with flesh") for place in places])
        sizes += [size] * (len(rows) - len(sizes))
    frames, bad = (
        sum(len(one.scan) for one in judged),
        sum(int((one.scan.intersection_counts > 0).sum()) for one in judged),
    )
    title = f"{who.character.name}\nintersects itself in {bad:,} of {frames:,} frames; above as it is, below with flesh"
    contact_sheet(path, rows, sizes, title)


def _poses(scan: Scan) -> list[int]:
    """Frames at even distances, and among them the worst."""
    places = set(np.linspace(0, len(scan) - 1, min(_POSES, len(scan))).round().astype(int).tolist())
    worst = int(np.argmax(scan.intersection_counts))
    if worst not in places:
        places = places - {min(places - {0}, key=lambda i: abs(i - worst), default=0)} | {worst}
    return sorted(places)


def _tile(scan: Scan, place: int, view: View, what: str) -> Tile:
    frame = scan.frames[place]
    marked = scan.face_counts(place) > 0
    shape = Shape(scan.sequence[place], scan.sequence.faces, marked_faces=marked)
    pairs = f"{frame.intersection_count:,} pair{'' if frame.intersection_count == 1 else 's'}"
    return Tile([shape], view, f"{what}, {frame.time:.2f} s\n{pairs}")
