"""Paper 000, section 5.3: simulated scenes with boxes only, with normal cones, and with cones and fronts inside."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import pliant
from bench.measure import Options, Report
from pliant.simulate import Cloth

SCENES = {"twisting": 110, "funnel": 120, "bishop": 80, "falling": 70}  # and the frame from which on steps are measured
TRIANGLES = 8_000
CULLINGS = ("boxes", "cones", "cones+front")
STEPS, WARM = 6, 2


class Run(NamedTuple):
    """CPU ms of a step, of all queries in it, of those for what is near; and a hash of where it ends."""

    step: float
    detection: float
    near: float
    digest: str


def simulated(options: Options) -> None:
    """Each scene is simulated up to where the cloth is in folds; from that state, the same steps for each culling."""
    report = Report(
        "simulated",
        f"Frames of 0.01 s of simulated scenes (a step, or its halves), {options.threads} threads, CPU ms, means of "
        f"{STEPS}, the best of "
        f"{options.repeats} runs",
        "scene, triangles, culling, near pairs, detection, of it near, share, step, boxes / this: detection, step, "
        "hash",
        options.save,
    )
    for name, frame in SCENES.items():
        if options.only and name not in options.only:
            continue
        _measure(report, name, frame, options)
    report.show()


def _measure(report: Report, name: str, frame: int, options: Options) -> None:
    setup = pliant.simulated.setup(name, options.triangles or TRIANGLES)
    cloth, near = setup.begin(threads=options.threads), 0
    for one in cloth.frames(options.frames or frame, setup.rate):
        near = one.stats.near
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state.npz"
        cloth.save(state)
        runs: dict[str, list[Run]] = {culling: [] for culling in CULLINGS}
        for _ in range(options.repeats):
            for culling in CULLINGS:
                again = setup.begin(tuning=pliant.Tuning(culling=culling), threads=options.threads)
                again.restore(state)
                runs[culling].append(_steps(again, setup.rate))
    best = {culling: _best(some) for culling, some in runs.items()}
    for culling, run in best.items():
        report.add(
            name, f"{len(cloth.mesh.faces):,}", culling, f"{near:,}", f"{run.detection:.1f}", f"{run.near:.1f}",
            f"{run.detection / run.step:.0%}", f"{run.step:.0f}", f"{best['boxes'].detection / run.detection:.2f}",
            f"{best['boxes'].step / run.step:.2f}", run.digest, name=name, culling=culling, step=run.step,
            detection=run.detection,
        )  # fmt: skip


def _best(runs: list[Run]) -> Run:
    digests = "/".join(sorted({one.digest for one in runs}))
    step, detection, near = (min(one[k] for one in runs) for k in range(3))
    return Run(step, detection, near, digests)


def _steps(cloth: Cloth, rate: float) -> Run:
    clock = _Clock(cloth)
    for _ in cloth.frames(WARM, rate):
        pass
    clock.spent, start = dict.fromkeys(clock.spent, 0.0), process_time()
    for _ in cloth.frames(STEPS, rate):
        pass
    spent = process_time() - start
    digest = hashlib.sha256(cloth.frame().scene.tobytes()).hexdigest()[:8]
    queries = sum(clock.spent.values())
    return Run(*(1e3 * one / STEPS for one in (spent, queries, clock.spent["_near"])), digest)


class _Clock:
    """CPU seconds in the queries of a simulation: those for what is near, and those for contacts."""

    def __init__(self, cloth: Cloth) -> None:
        # As the resolver calls them; `contacts` is about pairs that are near.
        self.spent: dict[str, float] = {"_near": 0.0, "contacts": 0.0, "_contacts": 0.0}
        self._is_inside = False
        detector: Any = cloth._resolver.detector
        for name in self.spent:
            setattr(detector, name, self._timed(name, getattr(detector, name)))

    def _timed(self, name: str, query: Any) -> Any:
        def timed(*arguments: Any, **named: Any) -> Any:
            if self._is_inside:
                return query(*arguments, **named)
            self._is_inside, start = True, process_time()
            try:
                return query(*arguments, **named)
            finally:
                self.spent[name] += process_time() - start
                self._is_inside = False

        return timed
