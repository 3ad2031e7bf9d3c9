"""``python -m bench versions --other ../other/src``: this checkout against another one, query by query.

Each version runs in a process of its own, and they take turns, so that a slow moment of the machine hits both. Only
public names are used, and those of versions before alike.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import real_motions, volume_steps
from bench.measure import Options, Report, seconds

TRIANGLES, CELLS, FRAMES = 20_000, 5_000, 6
VOLUMES = ("octopi", "bullet", "car_crash", "liver")
LONG_ENOUGH = 0.03  # seconds that each timing repeats a query for


def versions(options: Options) -> None:
    """Best times of queries in both versions, their ratio, and whether the answers are the same."""
    if options.other is None:
        raise SystemExit("versions: --other names the folder that has the other version's package")
    report = Report(
        "versions",
        f"This version against {options.other}, {options.threads} threads, best of {options.repeats}, taking turns",
        "scene, query, before, now, ratio, same",
        options.save,
    )
    workers = [_Worker(str(options.other), options), _Worker("src", options)]
    ratios: list[float] = []
    while min(worker.prepare() for worker in workers):
        best, hashes, scene, query = [math.inf, math.inf], ["", ""], "", ""
        for _ in range(options.repeats):
            for k, worker in enumerate(workers):
                scene, query, took, hashes[k] = worker.run()
                best[k] = min(best[k], took)
        ratios.append(best[1] / best[0])
        same = "yes" if hashes[0] == hashes[1] else "NO"
        report.add(scene, query, seconds(best[0]), seconds(best[1]), f"{ratios[-1]:.3f}", same, ratio=ratios[-1])
    report.show()
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} queries: geometric mean {middle:.3f}, largest {max(ratios):.3f}")


class _Worker:
    """One version, in a process that answers line by line."""

    def __init__(self, source: str, options: Options) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(Path(source).resolve()), str(Path.cwd())))}
        command = [sys.executable, "-m", "bench.versions", str(options.threads), str(options.triangles or 0)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def prepare(self) -> bool:
        """The next query; False after the last one."""
        return self._ask("next") == "ready"

    def run(self) -> tuple[str, str, float, str]:
        """Scene, query, seconds, hash of the answer."""
        scene, query, took, found = self._ask("run").split("|")
        return scene, query, float(took), found

    def _ask(self, what: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(what, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("versions: a worker has ended, see its message above")
        return answer.strip()


def _serve(threads: int, most: int | None) -> None:
    """Answers "next" and "run" on the standard input."""
    warnings.simplefilter("ignore")
    queries = _queries(threads, most)
    scene, query, job, times = "", "", None, 1
    for line in sys.stdin:
        if line.strip() == "next":
            scene, query, job = next(queries, ("", "", None))
            if job is not None:
                job()
                start = time.perf_counter()
                job()
                times = max(1, int(LONG_ENOUGH / (time.perf_counter() - start)))
            print("end" if job is None else "ready", flush=True)
        elif job is not None:
            start, found = time.perf_counter(), []
            for _ in range(times):
                found = job()
            took = (time.perf_counter() - start) / times
            print(f"{scene}|{query}|{took}|{'-'.join(fingerprint(one) for one in found)}", flush=True)


def _queries(threads: int, most: int | None) -> Iterator[tuple[str, str, Callable[[], list[Any]]]]:
    for motion in real_motions():
        yield from _surface(motion.name, motion.faces, [motion.x0, motion.x1], threads)
    for name in pliant.scenes.names():
        for triangles in (64, 1_000, most or TRIANGLES):
            if name == "flat_sheets" and triangles > 1_000:
                continue  # nearly all of it is one kernel, integers
            made = pliant.scenes.load(name, triangles=triangles, frames=FRAMES)
            yield from _surface(f"{name} {triangles:,}", made.faces, list(made.frames), threads)
    for name in VOLUMES:
        step = volume_steps(name, most or CELLS)[-1]
        yield name, "ccd", partial(_ccd, step.mesh, [step.x0, step.x1], threads)
        yield name, "safe_step", lambda step=step: [pliant.safe_step(step.mesh, step.x0, step.x1, threads=threads)]


def _surface(
    name: str, faces: np.ndarray, frames: list[np.ndarray], threads: int
) -> Iterator[tuple[str, str, Callable[[], list[Any]]]]:
    mesh = pliant.TriMesh(faces)
    x0, x1 = frames[-2:]
    within = 1e-3 * float(np.ptp(x0, axis=0).max())
    yield name, "ccd", partial(_ccd, mesh, [x0, x1], threads)
    yield name, "safe_step", lambda: [pliant.safe_step(mesh, x0, x1, threads=threads)]
    yield name, "dcd", lambda: [pliant.dcd(mesh, x0, threads=threads)]
    yield name, "proximity", lambda: [pliant.proximity(mesh, x0, within=within, threads=threads)]
    if len(frames) > 2:
        yield name, "advance", partial(_advance, mesh, frames, threads)


def _ccd(mesh: Any, frames: list[np.ndarray], threads: int) -> list[Any]:
    return [pliant.ccd(mesh, a, b, threads=threads) for a, b in pairwise(frames)]


def _advance(mesh: Any, frames: list[np.ndarray], threads: int) -> list[Any]:
    detector = pliant.Detector(mesh, threads=threads)
    return [detector.advance(x) for x in frames][1:]


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]) or None)
