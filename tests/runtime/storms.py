"""Queries while signals come whose handlers raise, and near the limit of recursion: nothing crashes, and what is
answered is right, then and afterwards.

    python -m tests.runtime.storms alarm --calls 100000     an alarm every few milliseconds, as timeouts have it
    python -m tests.runtime.storms term --calls 100000      SIGTERM, from another process
    python -m tests.runtime.storms recursion --calls 100000
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import pliant
from pliant.mesh.changed import cells as changes
from pliant.scenes import load, load_volume

WARM_UP = 30  # calls of each query


class Raised(Exception):
    """What handlers raise."""


def queries() -> dict[str, Callable[[], Any]]:
    """Small enough for thousands of calls; some with two threads, some that keep things between calls."""
    cloth, large = load("twisted_cloth", 200), load("twisted_cloth", 2000)
    liver = load_volume("liver", 500).steps[0]
    volume = pliant.VolumeMesh(liver.cells)
    _ = volume.o_sets
    changes.WORTH_THREADS = 0  # so that small meshes are changed by several
    detector = pliant.Detector(cloth.faces, threads=2)
    x0, x1 = np.random.default_rng(1).random((2, 50, 4, 3))

    def advance() -> pliant.Contacts:
        for x in cloth.frames[:2]:
            found = detector.advance(x)
        return found

    def change() -> pliant.VolumeMesh:
        return volume.changed(remove=[5, 77, 300], add={"tetra": [[0, 1, 2, 500]]}, threads=2)

    return {
        "ccd": lambda: pliant.ccd(cloth.faces, cloth.x0, cloth.x1, threads=1),
        "ccd, two threads": lambda: pliant.ccd(large.faces, large.x0, large.x1, threads=2),
        "safe_step": lambda: pliant.safe_step(cloth.faces, cloth.x0, cloth.x1, threads=2),
        "dcd": lambda: pliant.dcd(cloth.faces, cloth.x1, threads=2),
        "proximity": lambda: pliant.proximity(cloth.faces, cloth.x0, within=0.02, threads=2),
        "advance": advance,
        "vertex_face": lambda: pliant.vertex_face(x0, x1),
        "volume": lambda: pliant.ccd(volume, liver.x0, liver.x1, threads=2),
        "inside": lambda: pliant.inside(volume, liver.x1, threads=2),
        "changed": change,
    }


def warmed_up(asked: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each query answers, after so many calls that nothing is compiled or loaded any more: a detector that is kept
    changes to other kernels in time, and numba does not expect that an exception comes while it loads one."""
    for _ in range(WARM_UP):
        answers = {name: query() for name, query in asked.items()}
    return answers


def columns(result: Any) -> list[np.ndarray]:
    if isinstance(result, pliant.VolumeMesh):
        return [result.faces, result.edges, *result.o_sets, *result.cell_faces, *result.cell_table.owned_edges]
    named = vars(result)
    return [named[name] for name in sorted(named) if isinstance(named[name], np.ndarray)]


def same(one: Any, other: Any) -> bool:
    """Bit for bit; np.array_equal calls arrays different where an exception comes while it looks at them."""
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(columns(one), columns(other)))


@contextmanager
def alarms(pause: random.Random) -> Iterator[Callable[[], None]]:
    """What is yielded asks for the next one."""
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, pause.uniform(1e-5, 4e-3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


SENDER = """
import os, signal, sys, time
for i in iter(lambda: sys.stdin.buffer.read(1)[0], 0):
    time.sleep(i * 2e-5)
    os.kill(int(sys.argv[1]), signal.SIGTERM)
"""


@contextmanager
def terminations(pause: random.Random) -> Iterator[Callable[[], None]]:
    command = [sys.executable, "-c", SENDER, str(os.getpid())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as other:
        assert other.stdin is not None

        def ask() -> None:
            other.stdin.write(bytes([pause.randrange(1, 200)]))  # pyright: ignore[reportOptionalMemberAccess]

        try:
            yield ask
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            other.kill()


def storm(kind: str, calls: int, seed: int = 0) -> dict[str, tuple[int, int]]:
    """Calls, and how many of them an exception ended, of each query; all are asked in turn."""

    def refuse(*_: Any) -> None:
        raise Raised

    asked = queries()
    expected = warmed_up(asked)
    counts = {name: [0, 0] for name in asked}
    signal.signal(signal.SIGALRM if kind == "alarm" else signal.SIGTERM, refuse)
    with (alarms if kind == "alarm" else terminations)(random.Random(seed)) as ask:
        for name in itertools.cycle(asked):
            if sum(count for count, _ in counts.values()) >= calls:
                break
            try:
                ask()
                while True:
                    counts[name][0] += 1
                    found = asked[name]()
                    if not same(found, expected[name]):
                        raise AssertionError(f"{name}: another answer")
            except Raised:
                counts[name][1] += 1
    for name, query in asked.items():
        if not same(query(), expected[name]):
            raise AssertionError(f"{name}: another answer afterwards")
    return {name: (count, ended) for name, (count, ended) in counts.items()}


def recurse(calls: int) -> dict[str, tuple[int, int]]:
    """Calls with ever fewer frames left, down to none; and how many of them ended in a RecursionError."""
    asked = queries()
    expected = warmed_up(asked)
    counts = {name: [0, 0] for name in asked}
    room = sys.getrecursionlimit() - len(inspect.stack()) - 1

    def below(depth: int, query: Callable[[], Any]) -> Any:
        return query() if depth == 0 else below(depth - 1, query)

    for i in range(calls):
        left, name = i // len(asked) % 80, list(asked)[i % len(asked)]
        counts[name][0] += 1
        try:
            found = below(room - left, asked[name])
        except RecursionError:
            counts[name][1] += 1
        else:
            if not same(found, expected[name]):
                raise AssertionError(f"{name}: another answer")
    for name, query in asked.items():
        if not same(query(), expected[name]):
            raise AssertionError(f"{name}: another answer afterwards")
    return {name: (count, ended) for name, (count, ended) in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("alarm", "term", "recursion"))
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    clock = time.perf_counter()
    counts = recurse(options.calls) if options.kind == "recursion" else storm(options.kind, options.calls, options.seed)
    for name, (count, ended) in counts.items():
        print(f"{name}: {count} calls, {ended} ended by an exception")
    total, ended = (sum(column) for column in zip(*counts.values()))
    print(f"{options.kind}: {total} calls, {ended} ended by an exception, all others and those afterwards right")
    print(f"{time.perf_counter() - clock:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
