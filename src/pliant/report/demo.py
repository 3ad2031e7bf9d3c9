"""``pliant demo``: the main job on a built-in sequence, and what every stage and every step did."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant._arrays import OptionError, thread_count
from pliant._tally import Stage, Tally
from pliant.contacts import Contacts, Step
from pliant.report.writing import write_atomically
from pliant.scenes import Scene

try:
    from rich.console import Console, RenderableType
    from rich.progress import track
    from rich.progress_bar import ProgressBar
    from rich.table import Table
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "rich":
        raise
    raise ModuleNotFoundError(
        "pliant.report needs rich, which is in an extra: pip install 'pliant[cli]'", name="rich"
    ) from error

FOLDER = Path("pliant-demo")
REPORT_WIDTH = 100  # columns where there is no terminal that says
_BAR_WIDTH = 10
_DETAIL = ": "  # a stage named "exact: doubles" is a part of the stage "exact"


class StepRun(NamedTuple):
    """One step of the sequence: all its contacts, how far it can safely go, and the seconds that each took."""

    contacts: Contacts
    contacts_seconds: float
    safe: Step
    safe_seconds: float


def run(
    *, scene: str | None = None, triangles: int | None = None, frames: int | None = None, threads: int | None = None
) -> None:
    """Every contact and the safe step of each step of a built-in scene: tables on the terminal, results in a folder."""
    sequence = _load(scene or "twisted_cloth", triangles, frames)
    threads = thread_count(threads)
    console = Console()
    if not console.is_terminal:
        console = Console(width=REPORT_WIDTH)
    title = _title(sequence, threads)
    console.print(title, style="bold", highlight=False, soft_wrap=True)
    with console.status("Loading kernels; the very first run compiles them ..."):
        loading = _load_kernels(threads)
    runs = list(_run_steps(sequence, threads, console))
    body = (_funnel(runs), _steps_table(runs), _summary(runs, loading))
    for part in body:
        console.print()
        console.print(part, highlight=False)
    arrays, words = _write_results(sequence.name, runs, (title, *body))
    where = f"Contacts in {arrays.as_posix()}, this report in {words.as_posix()}"
    console.print(where, highlight=False, soft_wrap=True)


def _load(name: str, triangles: int | None, frames: int | None) -> Scene:
    try:
        return pliant.scenes.load(name, triangles, frames)
    except ValueError as error:  # a wrong option of the user's: a message, not a traceback
        raise OptionError(str(error)) from None


def _load_kernels(threads: int) -> float:
    """Compile or load what the run will need, rare tiers too, so that the times below are of the work itself."""
    clock = time.perf_counter()
    small = pliant.scenes.load("flat_sheets", triangles=16, frames=2)
    pliant.ccd(small.faces, small.x0, small.x1, threads=threads)
    pliant.safe_step(small.faces, small.x0, small.x1, threads=threads)
    return time.perf_counter() - clock


def _run_steps(sequence: Scene, threads: int, console: Console) -> Iterable[StepRun]:
    mesh = pliant.TriMesh(sequence.faces)
    steps = list(sequence.steps())
    shown = track(steps, "Steps", console=console, transient=True, disable=not console.is_terminal)
    for x0, x1 in shown:
        clock = time.perf_counter()
        contacts = pliant.ccd(mesh, x0, x1, threads=threads)
        between = time.perf_counter()
        safe = pliant.safe_step(mesh, x0, x1, threads=threads)
        yield StepRun(contacts, between - clock, safe, time.perf_counter() - between)


def _title(sequence: Scene, threads: int) -> str:
    objects = int(sequence.objects.max()) + 1
    return (
        f"pliant {pliant.__version__}: every contact of {sequence.name}, {len(sequence.faces):,} triangles, "
        f"{_count(objects, 'object')}, {_count(len(sequence.frames) - 1, 'step')}, on {_count(threads, 'thread')}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _funnel(runs: list[StepRun]) -> Table:
    """What every stage of ``ccd`` did, summed over steps and threads."""
    tally = Tally()
    for one in runs:
        for stage in one.contacts.stages:
            tally.add(*stage)
    stages = tally.stages()
    longest = max((s.seconds for s in stages), default=0.0)
    table = _table("ccd, stage by stage, summed over steps and threads", "stage")
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


def _steps_table(runs: list[StepRun]) -> Table:
    table = _table("Step by step: all contacts, and how far the motion is free of them", "step")
    for name in ("vertex-face", "edge-edge", "first toi", "ccd ms", "safe step", "safe_step ms"):
        table.add_column(name, justify="right", no_wrap=True)
    for i, one in enumerate(runs, start=1):
        edges = int(np.count_nonzero(one.contacts.kind))
        first = f"{one.contacts.toi.min():.9f}" if len(one.contacts) else "none"
        table.add_row(
            str(i), f"{len(one.contacts) - edges:,}", f"{edges:,}", first, f"{1e3 * one.contacts_seconds:.0f}",
            f"{one.safe.t:.9f}", f"{1e3 * one.safe_seconds:.0f}",
        )  # fmt: skip
    return table


def _table(title: str, first_column: str) -> Table:
    table = Table(
        title=title, title_style="bold", title_justify="left", box=None, header_style="dim", padding=(0, 2, 0, 0)
    )
    table.add_column(first_column, no_wrap=True)
    return table


def _summary(runs: list[StepRun], loading: float) -> str:
    contacts = sum(len(one.contacts) for one in runs)
    all_seconds = sum(one.contacts_seconds for one in runs)
    safe_seconds = sum(one.safe_seconds for one in runs)
    agreed = sum(one.safe.t == min(one.contacts.toi, default=1.0) for one in runs)
    return (
        f"{_count(contacts, 'contact')} in {all_seconds:.2f} s, safe steps in {safe_seconds:.2f} s, "
        f"after {loading:.1f} s for loading kernels.\n"
        f"safe_step equals the first toi of ccd in {agreed} of {_count(len(runs), 'step')}."
    )


def _write_results(name: str, runs: list[StepRun], report: Iterable[RenderableType]) -> tuple[Path, Path]:
    """The contacts of all steps as one table, and the report as text."""
    columns = ("kind", "elements", "vertices", "toi", "toi_upper", "weights", "normal")
    table: dict[str, Any] = {
        column: np.concatenate([getattr(one.contacts, column) for one in runs]) for column in columns
    }
    table["step"] = np.repeat(np.arange(1, len(runs) + 1), [len(one.contacts) for one in runs])
    table["safe_step"] = np.array([one.safe.t for one in runs])
    text = io.StringIO()
    paper = Console(file=text, width=REPORT_WIDTH, color_system=None)
    for part in report:
        paper.print(part, "", sep="\n", highlight=False)
    arrays, words = FOLDER / f"{name}.npz", FOLDER / f"{name}.txt"
    try:
        FOLDER.mkdir(exist_ok=True)
        write_atomically(arrays, lambda file: np.savez_compressed(file, **table))
        write_atomically(words, lambda file: file.write(text.getvalue().encode()))
    except OSError as error:
        raise SystemExit(f"pliant: the results could not be written: {error}") from error
    return arrays, words
