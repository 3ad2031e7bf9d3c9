"""Steps that end free: how much of a hostile proposal is kept, and what an ordinary step costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

import pliant
from bench.measure import Options, Report, interleaved, seconds
from pliant.scenes.shapes import icosphere
from tests.shapes.hostile import folded, proposals, share_kept

TRIANGLES = 4_000
LAYERS = 4
THICKNESS = 0.2  # of an edge
GAP = 0.5
BALL = 3.0
THROUGH_A_POINT = ("a point", "inverted", "through a point")  # a safe step decides all pairs in integers: minutes


def resolve(options: Options) -> None:
    """Hostile proposals for a stack of folds, and small steps of it against the queries that they consist of."""
    size = options.triangles or TRIANGLES
    width = max(2, round((size / 2 / LAYERS) ** 0.5))
    faces, x0 = folded(LAYERS * width, width, LAYERS, GAP)
    _hostile(options, faces, x0)
    _ordinary(options, faces, x0)


class _Case(NamedTuple):
    """A proposal for a stack, and what it may meet: vertices from ``free_count`` on are driven."""

    name: str
    faces: np.ndarray
    x0: np.ndarray
    x1: np.ndarray
    free_count: int

    def resolved(self, threads: int) -> pliant.Resolved:
        inverse_mass = np.where(np.arange(len(self.x0)) < self.free_count, 1.0, 0.0)
        return pliant.resolve(
            self.faces, self.x0, self.x1, inverse_mass=inverse_mass, thickness=THICKNESS, threads=threads
        )


def _cases(faces: np.ndarray, x0: np.ndarray) -> Iterator[_Case]:
    for name, x1 in proposals(x0, 1.0, np.random.default_rng(0)):
        yield _Case(name, faces, x0, x1, len(x0))
    yield _Case("through a point", faces, x0, 2.0 * x0.mean(axis=0) - x0, len(x0))
    round_faces, ball = icosphere(8)
    ball = BALL * ball + x0.mean(axis=0) * (1.0, 1.0, 0.0) + (0.0, 0.0, x0[:, 2].min() - GAP - BALL)
    both, start = np.concatenate((faces, round_faces + len(x0))), np.concatenate((x0, ball))
    yield _Case("fall onto a ball", both, start, np.concatenate((x0 - (0.0, 0.0, 2.0), ball)), len(x0))


def _hostile(options: Options, faces: np.ndarray, x0: np.ndarray) -> None:
    for small in _cases(*folded(8, 2, LAYERS, GAP)):  # compiles
        small.resolved(options.threads)
    report = Report(
        "resolve",
        f"Hostile proposals, {LAYERS} layers of {len(faces):,} triangles, thickness {THICKNESS} of an edge, "
        f"{options.threads} threads: share of the motion kept",
        "proposal, one safe step, resolve, rounds, queries, planes, CPU seconds, contacts left",
        options.save,
    )
    for case in _cases(faces, x0):
        start = time.process_time()
        resolved = case.resolved(options.threads)
        spent = time.process_time() - start
        left = len(pliant.ccd(case.faces, case.x0, resolved.positions))
        left += len(pliant.check(case.faces, resolved.positions))
        kept = share_kept(case.x0, case.x1, resolved.positions)
        name, alone = case.name, _alone(case, options.threads)
        report.add(
            name, "-" if alone is None else f"{alone:.2f}", f"{kept:.2f}", str(resolved.rounds),
            str(resolved.queries), f"{resolved.planes:,}", f"{spent:.2f}", str(left), name=name, kept=kept,
            alone=alone, left=left,
        )  # fmt: skip
    report.show()


def _alone(case: _Case, threads: int) -> float | None:
    """Share that one safe step keeps."""
    if case.name in THROUGH_A_POINT:
        return None
    return share_kept(case.x0, case.x1, pliant.step(case.faces, case.x0, case.x1, threads=threads).positions)


def _ordinary(options: Options, faces: np.ndarray, x0: np.ndarray) -> None:
    report = Report(
        "resolve",
        f"A step of a kept Resolver against the queries of a kept Detector, CPU time, best of {options.repeats}",
        "motion, near, contacts, fresh ccd, step, step / (near + contacts), step / ccd, queries",
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
            "ccd": partial(pliant.ccd, faces, x0, x1, threads=options.threads),
            "step": partial(_step, resolver, x0, x1),
        }
        timed = interleaved(jobs, options.repeats + 2, time.process_time)
        near, contacts, ccd, step = (timed[job].best for job in jobs)
        ratio, queries = step / (near + contacts), timed["step"].result.queries
        report.add(
            name, seconds(near), seconds(contacts), seconds(ccd), seconds(step), f"{ratio:.2f}", f"{step / ccd:.2f}",
            str(queries), ratio=ratio, of_ccd=step / ccd, name=name,
        )  # fmt: skip
    report.show()


def _step(resolver: pliant.Resolver, x0: np.ndarray, x1: np.ndarray) -> pliant.Resolved:
    """As if x0 were where the last step ended, with nothing known of what is near."""
    resolver._near = None
    resolver._known = resolver._known and resolver._known._replace(x=x0)
    return resolver.resolve(x0, x1)
