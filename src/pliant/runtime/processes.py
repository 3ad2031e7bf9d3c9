"""Other processes that compile what the first query is about to need, while this one compiles what it needs now."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from pathlib import Path

VARIABLE = "PLIANT_COMPILE_PROCESSES"
_MOST = 4  # each takes 200 MB, and the longest kernel a fifth of the time of all
_MODULE = "pliant.warming"
# The path of this process, not the current folder, which -c and -m begin with and which may be anybody's.
_BEGIN = "import sys; sys.path[:] = sys.argv.pop(1).splitlines(); import runpy; runpy._run_module_as_main('{}')"

_SMALL = {"ccd": "small_ccd", "step": "small_step"}  # what is compiled instead where a mesh needs no tree

_expected = "ccd"
_begun: set[str] = set()
_running: list[subprocess.Popen[bytes]] = []


def expect(piece: str) -> None:
    """What is about to be asked: a name in ``pliant.warming.pieces``. Others compile it if anything has to be."""
    global _expected
    _expected = piece


def expect_small() -> None:
    """The mesh of what is about to be asked is so small that other kernels answer."""
    expect(_SMALL.get(_expected, _expected))


def process_count() -> int:
    """Processes that compile at once, this one included: one for each core, or as many as the variable says."""
    asked = os.environ.get(VARIABLE, "")
    if asked:
        return max(1, int(asked)) if asked.isdecimal() else 1
    # The executable of a program that has Python inside is that program.
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.lower().startswith("python"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST)


def begin() -> int:
    """Start them, once for each kind of query, and return how many compile now, this process included."""
    if _running or _expected in _begun:
        return 1 + len(_running)
    _begun.add(_expected)
    for _ in range(process_count() - 1):
        try:
            started(_expected)
        except OSError:  # no memory, or no more processes allowed: this one compiles alone
            break
    return 1 + len(_running)


def started(*pieces: str) -> subprocess.Popen[bytes]:
    """A process that compiles kernels of these queries, the last ones first. It ends with its input, hence with us."""
    process = subprocess.Popen(
        [sys.executable, "-c", _BEGIN.format(_MODULE), "\n".join(sys.path), *pieces],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {VARIABLE: "1"}, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )  # fmt: skip
    _running.append(process)
    atexit.register(process.kill)
    threading.Thread(target=_wait_for, args=(process,), daemon=True, name="pliant-compiling").start()
    return process


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    if process.stdin is not None:  # or who asks for all warnings reads of a file that was not closed
        process.stdin.close()
    atexit.unregister(process.kill)
    if process in _running:
        _running.remove(process)
