"""The safe step: the first contact without all the others, and positions that stay clear of it after rounding."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant._arrays import as_positions, exact_scale
from pliant._tally import Tally
from pliant._threads import Crew
from pliant.pipeline import FirstContactWorker, Fitted, Found, Plan, Prepared, Worker, chunks_of, fit

# Refitting costs a percent of a traversal, so it pays as soon as the motion that is left has become this much shorter.
_SHORTER = 0.7


def first_contacts(scene: Prepared, plan: Plan, crew: Crew, tally: Tally) -> list[Found]:
    """Contacts among which is the first one; empty where there is none at all.

    Chunks are worked off in rounds, small ones first. The earliest contact so far is the end of the motion for
    everything that comes later: filters see the shortened motion at once, bounds after the next round. What has been
    looked at with a longer motion is done, so nothing is looked at twice, and a scene without contact costs what ``ccd`` does.
    """
    workers = [FirstContactWorker(plan, crew) for _ in range(crew.threads)]
    fitted, fitted_to, size = fit(scene, plan.bounds, 1.0, tally), 1.0, crew.threads
    chunks = chunks_of(scene, fitted, plan)
    while chunks and not crew.stop.is_set():
        now, chunks = chunks[:size], chunks[size:]
        size *= 2
        _run(crew, workers, scene, fitted, now)
        horizon = min(w.horizon for w in workers)
        for worker in workers:
            worker.horizon = horizon
        if horizon < _SHORTER * fitted_to and chunks:
            fitted, fitted_to = fit(scene, plan.bounds, horizon, tally), horizon
    tally.merge(w.tally for w in workers)
    return [f for w in workers for f in w.found]


def _run(crew: Crew, workers: list[FirstContactWorker], scene: Prepared, fitted: Fitted, chunks: list) -> None:
    crew.run(lambda worker, chunk: workers[worker].run(scene, fitted, chunk), chunks)


def verified_positions(
    scene: Prepared, plan: Plan, crew: Crew, tally: Tally, t: float, x0: np.ndarray, x1: Any
) -> np.ndarray:
    """Positions just before x0 + t (x1 - x0) such that the motion from x0 to them is free of contact after rounding.

    Rounding moves each vertex by an ulp, which can close the gap that is left a moment before the contact. So step back a
    little, look whether the rounded motion is free, and step back more where it is not.
    """
    x1 = as_positions(x1, "x1")
    back = 2.0**-36
    while t > 0.0 and back < 1.0:
        s = t * (1.0 - back)
        positions = (1.0 - s) * x0 + s * x1
        if _is_free(scene, plan, crew, tally, x0, positions):
            return positions
        back *= 16.0
    return x0.copy()


def _is_free(scene: Prepared, plan: Plan, crew: Crew, tally: Tally, x0: np.ndarray, x1: np.ndarray) -> bool:
    """No contact during the motion from x0 to x1; stops at the first one it meets."""
    clock = time.perf_counter()
    scale = exact_scale(x0, x1)
    scene = scene._replace(x0=x0 * scale, x1=x1 * scale)
    fitted = fit(scene, plan.bounds, 1.0, Tally())
    watch = Crew(crew.threads)
    workers = [Worker(plan, watch) for _ in range(crew.threads)]

    def work(worker: int, chunk: Any) -> None:
        workers[worker].run(scene, fitted, chunk)
        if workers[worker].found:
            watch.stop.set()

    watch.run(work, chunks_of(scene, fitted, plan))
    tally.add("verification", 0, 0, time.perf_counter() - clock)
    return not any(w.found for w in workers)
