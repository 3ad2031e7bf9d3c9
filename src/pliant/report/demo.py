"""``pliant demo``: a built-in sequence is scanned; tables in the terminal, a page and pictures in a folder."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import pliant
from pliant.frames.scanning import Scan, ScannedFrame, scan_frames
from pliant.frames.sequence import Sequence
from pliant.report.consoles import PlainConsole
from pliant.report.pages import write_page
from pliant.report.plots import write_plots
from pliant.report.scan_sheet import write_contact_sheet
from pliant.runtime import jit  # not from it: whoever does is taken for a module with kernels, with all it imports
from pliant.runtime.arrays import OptionError, thread_count
from pliant.runtime.extras import needed
from pliant.runtime.tally import Stage, Tally
from pliant.runtime.writing import OutputError

with needed("rich", "pliant.report"):
    from rich.console import RenderableType
    from rich.progress import track
    from rich.progress_bar import ProgressBar
    from rich.table import Table

FOLDER = Path("demo")
SCENE, FRAMES = "twisted_cloth", 24
REPORT_WIDTH = 100  # columns where there is no terminal that says
_UP = "z"  # in all built-in scenes
# Not "auto", which tries normal cones in so many frames: they save a part of a second, after ten of compilation.
_TUNING = pliant.Tuning(culling="boxes")
_ROWS = 12  # of the table of frames
_BAR_WIDTH = 10
_DETAIL = ": "  # a stage named "exact: doubles" is a part of the stage "exact"


def run(
    *,
    scene: str | None = None,
    triangles: int | None = None,
    frames: int | None = None,
    threads: int | None = None,
    output: Path = FOLDER,
) -> None:
    """Every contact and intersection of a built-in scene: tables on the terminal, a page and pictures in a folder."""
    sequence = _load(scene or SCENE, triangles, frames or (None if scene else FRAMES))
    threads = thread_count(threads)
    console = PlainConsole()
    if not console.is_terminal:
        console = PlainConsole(width=REPORT_WIDTH)
    console.print(_title(sequence, threads), style="bold", highlight=False, soft_wrap=not console.is_terminal)
    with console.status("Loading kernels; the very first run compiles them ..."):
        console.print(_load_kernels(sequence, threads), highlight=False)
    found = _scan(sequence, threads, console)
    for part in (_funnel(found), _frames_table(found), _summary(found)):
        console.print()
        console.print(part, highlight=False)
    with console.status("Writing the page and the pictures ..."):
        paths = _write(found, output, {"culling": _TUNING.culling, "pairs": "all", "threads": threads})
    console.print()
    for path, what in paths:
        console.print(f"{path.as_posix()}  {what}", highlight=False, soft_wrap=True)


def _load(name: str, triangles: int | None, frames: int | None) -> Sequence:
    try:
        scene = pliant.scenes.load(name, triangles, frames)
    except ValueError as error:  # a wrong option of the user's: a message, not a traceback
        raise OptionError(str(error)) from None
    return Sequence(scene.faces, scene.frames, objects=scene.objects, name=scene.name)


def _load_kernels(sequence: Sequence, threads: int) -> str:
    """Compile or load what the run will need, so that the times below are of the work itself."""
    clock, before = time.perf_counter(), _kernel_files()
    # Two triangles in one plane: later frames of the default scene need the last tier of the triangle test, too.
    flat = np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 0], [1, 1, 0], [4, 1, 0], [1, 4, 0]])
    for _ in scan_frames(Sequence([[0, 1, 2], [3, 4, 5]], flat[None]), find="intersections", threads=threads):
        pass
    for _ in scan_frames(sequence[:2], tuning=_TUNING, threads=threads):
        pass
    spent, new = time.perf_counter() - clock, _kernel_files() - before
    if new > 0:
        return f"Compiled {_count(new, 'kernel')} in {spent:.1f} s; from now on they are loaded."
    return f"Loaded kernels in {spent:.1f} s."


def _kernel_files() -> int:
    return 0 if jit.CACHE_FOLDER is None else sum(1 for _ in jit.CACHE_FOLDER.rglob("*.nbc"))


def _scan(sequence: Sequence, threads: int, console: PlainConsole) -> Scan:
    clock, frames = time.perf_counter(), scan_frames(sequence, tuning=_TUNING, threads=threads)
    shown = track(
        frames, "Frames", total=len(sequence), console=console, transient=True, disable=not console.is_terminal
    )
    return Scan(sequence, tuple(shown), time.perf_counter() - clock)


def _title(sequence: Sequence, threads: int) -> str:
    objects = 0 if sequence.objects is None else len(np.unique(sequence.objects))
    return (
        f"pliant {pliant.__version__}: everything that collides in {sequence.name}, {len(sequence.faces):,} triangles, "
        f"{_count(objects, 'object')}, {_count(len(sequence), 'frame')}, on {_count(threads, 'thread')}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _funnel(found: Scan) -> Table:
    """What every stage did for contacts, summed over frames and threads."""
    tally = Tally()
    for one in found.frames:
        for stage in () if one.contacts is None else one.contacts.stages:
            tally.add(*stage)
    stages = tally.stages()
    longest = max((s.seconds for s in stages), default=0.0)
    table = _table("Contacts, stage by stage, summed over frames and threads", "stage")
    for name in ("pairs in", "pairs out", "passed", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", width=_BAR_WIDTH)
    for stage in stages:
        table.add_row(*_funnel_row(stage, longest), style="dim" if _DETAIL in stage.name else "")
    return table


def _funnel_row(stage: Stage, longest: float) -> tuple[RenderableType, ...]:
    name, pairs_in, pairs_out, seconds = stage
    if _DETAIL in name:  # of its pairs, those that this tier settled
        settled = f"{pairs_out / pairs_in:.1%}" if pairs_in else ""
        return f"  in {name.partition(_DETAIL)[2]}", f"{pairs_in:,}", f"{pairs_out:,}", settled, "", ""
    bar = ProgressBar(
        total=longest or 1.0, completed=seconds, width=_BAR_WIDTH, complete_style="cyan", finished_style="cyan"
    )
    if pairs_in == 0 and pairs_out == 0:
        return name, "", "", "", f"{seconds:.3f}", bar
    passed = f"{pairs_out / pairs_in:.1%}" if pairs_in else ""
    return name, f"{pairs_in:,}", f"{pairs_out:,}", passed, f"{seconds:.3f}", bar


def _frames_table(found: Scan) -> Table:
    places = np.linspace(0, len(found) - 1, min(_ROWS, len(found))).round().astype(int)
    some = "" if len(places) == len(found) else f" ({len(places)} of {len(found)})"
    table = _table(f"Frame by frame{some}: contacts on the way, then intersections", "frame")
    for name in ("vertex-face", "edge-edge", "first toi", "ms", "intersections", "ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for place in places.tolist():
        table.add_row(*_frame_row(found.frames[place]))
    return table


def _frame_row(one: ScannedFrame) -> tuple[str, ...]:
    milliseconds = [f"{1e3 * seconds:.0f}" for seconds in one.seconds]
    crossing = "" if one.intersections is None else f"{len(one.intersections):,}"
    if one.contacts is None:
        return str(one.number), "", "", "", milliseconds[0], crossing, milliseconds[1]
    edges = int(np.count_nonzero(one.contacts.kind))
    first = f"{one.contacts.toi.min():.9f}" if len(one.contacts) else "none"
    contacts = f"{len(one.contacts) - edges:,}", f"{edges:,}", first
    return str(one.number), *contacts, milliseconds[0], crossing, milliseconds[1]


def _table(title: str, first_column: str) -> Table:
    table = Table(
        title=title, title_style="bold", title_justify="left", box=None, header_style="dim", padding=(0, 2, 0, 0)
    )
    table.add_column(first_column, no_wrap=True)
    return table


def _summary(found: Scan) -> str:
    contacts, crossings = int(found.contact_counts.sum()), int(found.intersection_counts.sum())
    worst = found.frames[int(np.argmax(found.contact_counts + found.intersection_counts))].number
    return (
        f"{_count(contacts, 'contact')} and {_count(crossings, 'intersection')} in {_count(len(found), 'frame')}, "
        f"in {found.seconds:.2f} s. The worst frame is {worst}."
    )


def _write(found: Scan, folder: Path, options: dict[str, object]) -> list[tuple[Path, str]]:
    page, sheet, plots = folder / "report.html", folder / "contact_sheet.png", folder / "plots.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_page(found, page, options=options, up=_UP)
        write_contact_sheet(found, sheet, up=_UP)
        write_plots(found, plots)
    except OSError as error:
        raise OutputError(f"the results could not be written: {error}") from error
    return [
        (page, "the whole animation in 3D: open it in a browser"),
        (sheet, "its worst frames, what collides in red"),
        (plots, "what was found, and pairs left after each stage"),
    ]
