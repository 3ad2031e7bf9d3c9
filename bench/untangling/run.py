"""Cases in a process of their own: jobs as JSON on stdin, a record as a line of JSON for each, as soon as it is there.

A method that crashes or never ends takes no more with it than the case that it was given.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.untangling.case import Case
from bench.untangling.cases import make, recipes
from bench.untangling.judge import judge, movable_pairs
from bench.untangling.methods import METHODS


class Job(NamedTuple):
    kind: str
    name: str
    seed: int
    method: str
    threads: int
    seconds: float  # that a method may take
    keep: str = ""  # a folder for the positions; nothing is kept without


def run(job: Job) -> dict[str, Any]:
    case = make(job.kind, job.name)
    before = movable_pairs(case, case.x)
    clocks = time.perf_counter(), time.process_time()
    try:
        done = METHODS[job.method](case, job.threads, job.seconds)
    except Exception as error:  # of somebody else's method, of whatever kind: a line of the table
        return _about(job, case, before) | {"error": f"{type(error).__name__}: {error}"[:300]}
    spent = time.perf_counter() - clocks[0], time.process_time() - clocks[1]
    record = _about(job, case, before) | {
        "clock": spent[0], "cpu": spent[1], "claims": done.claims, "reported_wrong_side": done.wrong_side,
        "note": done.note, "kept_connectivity": done.positions is not None,
    }  # fmt: skip
    if done.positions is None:
        return record
    if job.keep:
        name = f"{job.kind} {job.name} {job.method}".replace(" ", "-").replace(",", "").replace("/", "-")
        np.savez_compressed(Path(job.keep) / f"{name}.npz", x=case.x, y=done.positions)
    sha = hashlib.sha256(np.ascontiguousarray(done.positions).tobytes()).hexdigest()[:6]
    return record | judge(case, np.asarray(done.positions))._asdict() | {"hash": sha}


def _about(job: Job, case: Case, before: int) -> dict[str, Any]:
    return {
        "kind": case.kind, "name": case.name, "seed": case.seed, "held_out": case.held_out, "method": job.method,
        "triangles": len(case.faces), "pairs_before": before, "edge": case.edge,
    }  # fmt: skip


def warm_up(methods: set[str], threads: int) -> None:
    """Compile or load kernels, those for sides and fixed vertices too: no time is the compiler's."""
    garment = next(recipe.name for recipe in recipes(["garments"]) if "doll" in recipe.name)
    for case in (make("noise", "noise 0.35 on ball"), make("layers", "2 balls, seed 0"), make("garments", garment)):
        pliant.check(case.mesh, case.x, threads=threads)
        for method in methods:
            try:
                METHODS[method](case, threads, 30.0)
            except Exception as error:  # the first case of the table says the same
                print(f"{method}: {error}", file=sys.stderr)


def main() -> None:
    jobs = [Job(**job) for job in json.load(sys.stdin)]
    warm_up({job.method for job in jobs}, jobs[0].threads)
    print(json.dumps({"ready": True}), flush=True)
    for job in jobs:
        print(json.dumps(run(job)), flush=True)


if __name__ == "__main__":
    main()
