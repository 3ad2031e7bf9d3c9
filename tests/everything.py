"""python -m tests.everything: types and all tests, side by side. `make test` runs it.

The tests run three ways: compiled, compiled with bounds checks, interpreted. The first is the longest and is printed as
it runs. The types, the tests in a browser and the other two run one after the other beside it, so that no core is idle
while it waits for a process or for its last test; what they print comes in one piece when each has ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple, NoReturn

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BROWSER = "tests/browser"
PATIENCE = 5.0  # seconds: Ctrl-C goes to all processes of a terminal, and pytest says where it stopped


class Part(NamedTuple):
    name: str
    arguments: list[str]  # of Python
    environment: dict[str, str]


def tests(processes: int, *options: str) -> list[str]:
    """Files go to one process each, so that kernels are mostly compiled once; tests/conftest.py has their order."""
    shared = ["--numprocesses", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
    return ["-m", "pytest", *(shared if processes > 1 else []), *options]


def parts() -> tuple[Part, list[Part]]:
    """The one that is printed as it runs, and those beside it. pytest fails where it selects none.

    Kernels with bounds checks are not optimized: they run for seconds in all, and compile in less time. What
    they compute is the same, since no optimization that is allowed changes a rounding. Interpreted, every index is
    checked anyway: tests that run so need no bounds checks of their own.

    Browsers draw with the processor: one at a time, or they wait for each other until their patience ends.
    """
    few = min(2, CORES // 2)
    return Part("compiled", tests(min(4, CORES), "--ignore", BROWSER), {}), [
        Part("types", ["-m", "pyright"], {}),
        Part("browser", tests(1, BROWSER), {}),
        Part("bounds checks", tests(few, "-m", "bounds and not unit"), {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0"}),
        Part("interpreted", tests(few, "-m", "unit"), {"NUMBA_DISABLE_JIT": "1"}),
    ]


class Run:
    """Processes that end together, however this one ends."""

    def __init__(self) -> None:
        self.results: dict[str, tuple[int, float]] = {}
        self._running: list[subprocess.Popen[bytes]] = []
        self._stopped = False

    def run(self, part: Part, output: int | None = None) -> int:
        environment = {**os.environ, **part.environment}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would each compile what they import
        start = time.monotonic()
        process = subprocess.Popen([sys.executable, *part.arguments], env=environment, stdout=output, stderr=output)
        self._running.append(process)
        code = process.wait()
        self._running.remove(process)
        self.results[part.name] = code, time.monotonic() - start
        return code

    def run_quietly(self, waiting: list[Part]) -> None:
        for part in waiting:
            with tempfile.TemporaryFile() as output:
                code = self.run(part, output.fileno())
                output.seek(0)
                text = output.read().decode(errors="replace")
            if self._stopped:
                return
            verdict = "passed" if code == 0 else "FAILED"
            print(f"\n======== {part.name}: {verdict}\n{text.rstrip()}\n========", flush=True)

    def interrupt(self, number: int, _: object) -> NoReturn:
        self._stopped = True
        sys.exit(128 + number)

    def stop(self) -> None:
        until = time.monotonic() + PATIENCE
        while self._running and time.monotonic() < until:
            time.sleep(0.1)
        for process in list(self._running):
            process.terminate()


def main() -> int:
    run, (first, beside) = Run(), parts()
    signal.signal(signal.SIGTERM, run.interrupt)
    signal.signal(signal.SIGINT, run.interrupt)
    others = threading.Thread(target=run.run_quietly, args=(beside,))
    others.start()
    try:
        run.run(first)
        others.join()
    except SystemExit:
        run.stop()
        raise
    print()
    for part in (*beside, first):
        code, seconds = run.results[part.name]
        print(f"{part.name:14} {'passed' if code == 0 else 'FAILED'} in {seconds:.0f} s")
    return int(any(code for code, _ in run.results.values()))


if __name__ == "__main__":
    sys.exit(main())
