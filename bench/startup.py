"""From the start of Python to the first result: with nothing compiled yet, and from the second time on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

from bench.measure import Options, Report, child, seconds


def startup(options: Options) -> None:
    report = Report("startup", "From the start of the process to its end", "what, seconds", options.save)
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as folder:
        _row(report, "first ccd, cold cache", _timed(lambda: child("first_result", PLIANT_CACHE_DIR=folder)))
        warm = min(_timed(lambda: child("first_result", PLIANT_CACHE_DIR=folder)) for _ in range(options.repeats))
        _row(report, "first ccd, warm cache", warm)
    for what, command in (("import pliant", ["-c", "import pliant"]), ("pliant --help", ["-m", "pliant", "--help"])):
        best = min(
            _timed(lambda c=command: subprocess.run([sys.executable, *c], stdout=subprocess.DEVNULL, check=True))
            for _ in range(options.repeats)
        )
        _row(report, what, best)
    report.show()


def _timed(action) -> float:
    clock = time.perf_counter()
    action()
    return time.perf_counter() - clock


def _row(report: Report, what: str, value: float) -> None:
    report.add(what, seconds(value), what=what, seconds=value)
