"""The safe step: the first contact without all the others, and positions that stay clear of it after rounding."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from pliant._tally import Tally
from pliant._threads import Crew
from pliant.bounds.kdops import ROOM
from pliant.elementary.exact import decide
from pliant.mesh.features import VERTEX_FACE
from pliant.pipeline import FirstContactWorker, Fitted, Found, Plan, Prepared, chunks_of, fit

# Bounds are fitted anew (a percent of a traversal) when the motion that is left has become this much shorter.
_SHORTER = 0.7
# Rounded positions on the way, (1 - s) x0 + s x1, are off by at most 3 u of the largest coordinate.
_FUZZ = 4 * 2.0**-53

Near = list[tuple[int, np.ndarray]]


def first_contacts(scene: Prepared, plan: Plan, crew: Crew, tally: Tally) -> tuple[list[Found], Near]:
    """Contacts among which is the first one, and all pairs of features that no filter could keep apart.

    Chunks are worked off in rounds, small ones first. The earliest contact so far is the end of the motion for
    everything that comes later: filters see the shortened motion at once, bounds after the next round. What has been
    looked at with a longer motion is done, so nothing is looked at twice, and a scene without contact costs what
    ``ccd`` does.
    """
    workers = [FirstContactWorker(plan, crew, _FUZZ * scene.largest) for _ in range(crew.threads)]
    fitted, fitted_to, size = fit(scene, plan.bounds, 1.0, ROOM, tally), 1.0, crew.threads
    chunks, done = chunks_of(scene, fitted, plan), 0
    while chunks and not crew.stop.is_set():
        now, chunks = chunks[:size], chunks[size:]
        size *= 4
        crew.run(partial(_run_chunk, workers, scene, fitted), now, done, len(chunks))
        done += len(now)
        horizon = min(w.horizon for w in workers)
        for worker in workers:
            worker.horizon = horizon
        if horizon < _SHORTER * fitted_to and chunks:
            fitted, fitted_to = fit(scene, plan.bounds, horizon, ROOM, tally), horizon
    tally.merge(w.tally for w in workers)
    return [f for w in workers for f in w.found], [n for w in workers for n in w.near]


def _run_chunk(workers: list[FirstContactWorker], scene: Prepared, fitted: Fitted, worker: int, chunk: Any) -> None:
    workers[worker].run(scene, fitted, chunk)


def verified_positions(
    scene: Prepared, near: Near, t: float, x0: np.ndarray, x1: np.ndarray, tally: Tally
) -> np.ndarray:
    """Positions just before x0 + t (x1 - x0) such that the motion from x0 to them is free of contact after rounding.

    Rounding moves each vertex by an ulp, which can close the gap that is left a moment before the contact. So step
    back a little, look whether the rounded motion is free, and step back more where it is not. Only near pairs have to
    be looked at: bounds and filters were told to leave room for rounded positions (ROOM, fuzz).
    """
    back = 2.0**-36
    while t > 0.0 and back < 1.0:
        s = t * (1.0 - back)
        positions = (1.0 - s) * x0 + s * x1
        clock = time.perf_counter()
        free = _is_free(scene, near, x0, positions)
        tally.add("verification", sum(len(pairs) for _, pairs in near), 0, time.perf_counter() - clock)
        if free:
            return positions
        back *= 16.0
    return x0.copy()


def _is_free(scene: Prepared, near: Near, x0: np.ndarray, x1: np.ndarray) -> bool:
    """None of the near pairs of features meets during the motion from x0 to x1."""
    for kind, pairs in near:
        toi, toi_upper, status = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), np.int8)
        table = scene.faces if kind == VERTEX_FACE else scene.edges
        if decide(kind, x0, x1, table, pairs, toi, toi_upper, status, Tally()):
            return False
    return True
