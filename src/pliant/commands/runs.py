"""Sequences whose triangles change from one frame to another: each run of frames with equal ones is a sequence."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.commands.inputs import Opened, Opening, open_frames
from pliant.commands.running import Run
from pliant.frames.scanning import Scan, scan_frames
from pliant.io import pvd
from pliant.io.content import ending_of
from pliant.io.mesh import TopologyError
from pliant.io.numbered import files_of
from pliant.runtime.reading import reading


def scan_runs(
    run: Run, paths: list[Path], opening: Opening, how: dict[str, Any], begin: Callable[[int], None]
) -> list[tuple[Scan, Opened]]:
    """Scan a sequence up to where its triangles change, the rest of it as another one, and so on.

    Files are read once, when their frame comes: that another run begins is known when it does.

    begin : called with the place of each run after the first, before it is examined
    """
    opened, found, done = open_frames(run, paths, opening), [], 0
    total = len(opened.sequence)
    with run.bar("Frames") as progress:
        while True:
            clock, frames, rest = time.perf_counter(), [], None
            try:
                for one in scan_frames(opened.sequence, **how):
                    frames.append(one)
                    if progress is not None:
                        progress(done + len(frames), total)
            except TopologyError:
                rest = _rest(run, paths, opening, opened, len(frames))
                if rest is None or not frames:
                    raise
            done += len(frames)
            sequence = opened.sequence[: len(frames)]
            if rest is not None or found:
                sequence.name = f"{_plain(opened)} [{sequence.numbers[0]} to {sequence.numbers[-1]}]"
            found.append((Scan(sequence, tuple(frames), time.perf_counter() - clock), Opened(sequence, opened.merged)))
            if rest is None:
                return found
            begin(len(found))
            opened = rest


def _plain(opened: Opened) -> str:
    return opened.sequence.name.partition(" [")[0]


def _rest(run: Run, paths: list[Path], opening: Opening, before: Opened, first: int) -> Opened | None:
    """The frames from one on, as a sequence of their own; None where they are not in files of their own."""
    files = paths if len(paths) > 1 else files_of(paths[0])
    if len(paths) == 1 and ending_of(paths[0]) == ".pvd":
        with reading(paths[0]):
            files = [file for _, file in pvd.files_of(paths[0])]
    wanted = (before.sequence.files or ())[first:]
    place = {path.name: path for path in files}
    if not wanted or not place.keys() >= set(wanted):
        return None
    ordered = [place[name] for name in wanted]
    opened = open_frames(run, ordered, opening._replace(start=None, stop=None, every=1))
    opened.sequence.numbers, opened.sequence.times = before.sequence.numbers[first:], before.sequence.times[first:]
    opened.sequence.name = _plain(before)
    return opened


def numbered_path(path: Path, place: int) -> Path:
    """Of several runs, the first has the file that was named, others have their number in the name."""
    return path if place == 0 else path.with_name(f"{path.stem}-{place + 1}{path.suffix}")
