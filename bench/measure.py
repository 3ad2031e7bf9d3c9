"""How it is measured: interleaved, best of several, with a hash of the answer beside each time."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import pliant

RESULTS = Path(__file__).with_name("results.jsonl")
WIDTH = 150


def warm_up(threads: int) -> None:
    """Compile or load all kernels, those of rare tiers too, so that no time below is the compiler's."""
    for name in ("flat_sheets", "crumpled_sheet"):
        tiny = pliant.scenes.load(name, triangles=16, frames=2)
        pliant.ccd(tiny.faces, tiny.x0, tiny.x1, tuning=pliant.Tuning(filters=("csat", "dnf", "ncf")), threads=threads)
        pliant.safe_step(tiny.faces, tiny.x0, tiny.x1, threads=threads)
        pliant.dcd(tiny.faces, tiny.x0, threads=threads)


class Options(NamedTuple):
    threads: int
    repeats: int
    save: bool
    triangles: int | None = None  # at most, of the scenes of paper 000, and cells of those of 004: to try a part out
    scale: bool = False  # the largest scene of paper 004, too
    out: Path | None = None  # where hashes are written
    other: Path | None = None  # has the package of another version
    only: tuple[str, ...] = ()  # scenes of simulators, classes of untangle; all
    simulators: tuple[str, ...] = ()  # of the table of simulators; all that are installed
    frames: int | None = None  # of each of its scenes
    limit: float | None = None  # seconds of each of its lines; of each case of untangle


class Timed(NamedTuple):
    best: float  # seconds
    result: Any  # of the last run


def interleaved(
    jobs: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timed]:
    """The best time of each job: each round runs all in turn, so that a slow moment of the machine hits all."""
    timed: dict[str, Timed] = {}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            result = job()
            seconds = clock() - start
            timed[name] = Timed(min(seconds, timed[name].best if name in timed else seconds), result)
    return timed


def machine() -> dict[str, Any]:
    """What a time depends on, without what names a particular computer."""
    name = platform.processor() or platform.machine()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        names = [line.partition(":")[2].strip() for line in cpu_info.read_text().splitlines() if "model name" in line]
        name = names[0] if names else name
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    packages = {
        package: _version(package)
        for package in ("pliant", "numpy", "numba", "ipctk", "meshlib", "open3d", "pymeshlab")
    }
    return {"cpu": name, "cores": cores, "python": platform.python_version(), **packages}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return pliant.__version__ if package == "pliant" else None


class Report:
    """One part of the benchmark: a table for people, and one record a row for ``--save``."""

    def __init__(self, part: str, title: str, columns: str, save: bool) -> None:
        self._part, self._save = part, save
        self._table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
        for i, column in enumerate(columns.split(", ")):
            self._table.add_column(column, justify="right" if i else "left", no_wrap=i == 0)

    def add(self, *cells: str, **record: Any) -> None:
        self._table.add_row(*cells)
        print(f"{self._part}:", *cells, file=sys.stderr, flush=True)  # a sign of life; the table comes at the end
        if self._save:
            when = datetime.now(timezone.utc).isoformat(timespec="seconds")
            line = {"part": self._part, "when": when, **record, "machine": machine()}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def show(self) -> None:
        console = Console()
        console = console if console.is_terminal else Console(width=WIDTH)
        console.print(self._table, "", sep="\n", highlight=False)


def child(job: str, *arguments: object, limit: float = 900.0, **environment: str) -> dict[str, Any]:
    """What a job of bench/child.py prints, run in a process of its own; {} where it takes longer than the limit."""
    command = [sys.executable, "-m", "bench.child", job, *map(str, arguments)]
    here = Path(__file__).resolve().parents[1]
    try:
        done = subprocess.run(
            command,
            cwd=here,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=limit,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10.0 else f"{value:.1f}"
