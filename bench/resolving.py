"""Steps that end free: how much of a hostile proposal is kept, and what an ordinary step costs."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import pliant
from bench.measure import Options, Report, interleaved, seconds
from tests.shapes.hostile import folded, proposals, share_kept

TRIANGLES = 4_000
LAYERS = 4
THICKNESS = 0.2  # of an edge
GAP = 0.5


def resolve(options: Options) -> None:
    """Hostile proposals for a stack of folds, and small steps of it against the queries that they consist of."""
    size = options.triangles or TRIANGLES
    width = max(2, round((size / 2 / LAYERS) ** 0.5))
    faces, x0 = folded(LAYERS * width, width, LAYERS, GAP)
    _hostile(options, faces, x0)
    _ordinary(options, faces, x0)


def _hostile(options: Options, faces: np.ndarray, x0: np.ndarray) -> None:
    report = Report(
        "resolve",
        f"Hostile proposals, {LAYERS} layers of {len(faces):,} triangles, thickness {THICKNESS} of an edge, "
        f"{options.threads} threads: share of the motion kept",
        "proposal, one safe step, resolve, rounds, queries, planes, CPU seconds, contacts left",
        options.save,
    )
    for name, x1 in proposals(x0, 1.0, np.random.default_rng(0)):
        start = time.process_time()
        resolved = pliant.resolve(faces, x0, x1, thickness=THICKNESS, threads=options.threads)
        spent = time.process_time() - start
        left = len(pliant.ccd(faces, x0, resolved.positions)) + len(pliant.check(faces, resolved.positions))
        kept = share_kept(x0, x1, resolved.positions)
        alone = share_kept(x0, x1, pliant.step(faces, x0, x1, threads=options.threads).positions)
        report.add(
            name, f"{alone:.2f}", f"{kept:.2f}", str(resolved.rounds), str(resolved.queries), f"{resolved.planes:,}",
            f"{spent:.2f}", str(left), name=name, kept=kept, alone=alone, left=left,
        )  # fmt: skip
    report.show()


def _ordinary(options: Options, faces: np.ndarray, x0: np.ndarray) -> None:
    report = Report(
        "resolve",
        f"A step of a kept Resolver against the queries of a kept Detector, CPU time, best of {options.repeats}",
        "motion, near, contacts, step, step / (near + contacts), queries",
        options.save,
    )
    rng = np.random.default_rng(1)
    wave = np.sin(x0[:, :1] + x0[:, 1:2]) * (0.0, 0.0, 1.0)
    for name, x1 in (("rest", x0), ("wave", x0 + 0.05 * wave), ("noise", x0 + 0.05 * rng.normal(size=x0.shape))):
        resolver = pliant.Resolver(faces, thickness=THICKNESS, threads=options.threads)
        detector = pliant.Detector(faces, threads=options.threads)
        jobs = {
            "near": partial(detector.near, x0, 1.5 * THICKNESS),
            "contacts": partial(detector.contacts, x0, x1),
            "step": partial(_step, resolver, x0, x1),
        }
        timed = interleaved(jobs, options.repeats + 2, time.process_time)
        near, contacts, step = (timed[job].best for job in jobs)
        ratio, queries = step / (near + contacts), timed["step"].result.queries
        report.add(
            name, seconds(near), seconds(contacts), seconds(step), f"{ratio:.2f}", str(queries), ratio=ratio, name=name
        )
    report.show()


def _step(resolver: pliant.Resolver, x0: np.ndarray, x1: np.ndarray) -> pliant.Resolved:
    """As if x0 were where the last step ended, with nothing known of what is near."""
    resolver._near = None
    resolver._known = resolver._known and resolver._known._replace(x=x0)
    return resolver.resolve(x0, x1)
