"""From the start of Python to the first result: with nothing compiled yet, and from the second time on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.measure import Options, Report, child, seconds

_COMMANDS = {
    "import numba": ["-c", "import numba"],
    "import pliant": ["-c", "import pliant"],
    "pliant --help": ["-m", "pliant", "--help"],
}


class Taken(NamedTuple):
    seconds: float
    of_processors: float  # of the process and of those that it began and waited for; 0 on Windows


def startup(options: Options) -> None:
    title = "From the start of the process to its end"
    report = Report("startup", title, "what, seconds, of processors", options.save)
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as folder:
        _row(report, "first ccd, cold cache", _timed(lambda: _first_result(folder)))
        _row(report, "first ccd, warm cache", _best(lambda: _first_result(folder), options.repeats))
    for what, command in _COMMANDS.items():
        _row(report, what, _best(lambda c=command: _run(c), options.repeats))
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as folder:
        demo = ["-m", "pliant", "warm", "scan", "simulate"]
        _row(report, "kernels of make demo", _timed(lambda: _run(demo, PLIANT_CACHE_DIR=folder)))
        scene = ["simulate", "cloth_ball", "--triangles", "2000", "--frames", "80", "--no-cache"]
        simulation = ["-m", "pliant", *scene, "--report", str(Path(folder, "simulation.html"))]
        for which in ("first", "second"):  # they differ by what is compiled beyond the kernels above: nothing
            what = f"its simulation, the {which} time"
            _row(report, what, _timed(lambda: _run(simulation, PLIANT_CACHE_DIR=folder)))
    report.show()


def _first_result(folder: str) -> None:
    child("first_result", PLIANT_CACHE_DIR=folder, PYTHONDONTWRITEBYTECODE="")


def _run(command: list[str], **environment: str) -> None:
    variables = os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment  # pip writes bytecode: as installed
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, env=variables, check=True)


def _best(action: Callable[[], None], repeats: int) -> Taken:
    """The least of each."""
    taken = [_timed(action) for _ in range(repeats)]
    return Taken(min(one.seconds for one in taken), min(one.of_processors for one in taken))


def _timed(action: Callable[[], None]) -> Taken:
    clock, before = time.perf_counter(), os.times()
    action()
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return Taken(time.perf_counter() - clock, spent)


def _row(report: Report, what: str, taken: Taken) -> None:
    report.add(what, seconds(taken.seconds), seconds(taken.of_processors), what=what, **taken._asdict())
