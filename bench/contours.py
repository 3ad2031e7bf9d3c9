"""Paper 000, Figure 9: the time of contour tests, in the frames of a scene and on contours of growing length."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.baselines import Baseline
from bench.baselines.continuous_contours import stay_apart, stays_simple
from bench.baselines.patches import across, project
from bench.baselines.star_contours import star_in_plane
from bench.frames import Lap, load_kernels, race
from bench.inputs import sequences
from bench.measure import Options, Report
from pliant import Detector, Tuning
from pliant.culling.contours import centres, star_shaped
from pliant.runtime.jit import kernel

OTHERS = {"ccd": ("CBC", "continuous_contours"), "dcd": ("SCT", "star_contours")}
EDGES = (10, 30, 100, 300)
AXIS = 0.0, 0.0, 1.0
ROUNDS = 15


def contours(options: Options) -> None:
    load_kernels(options)
    report = Report(
        "contours",
        f"Paper 000, Figure 9: milliseconds of the contour tests in a frame, {options.threads} threads, medians over "
        "frames; tests in all frames, and how many pass.\nThe other method: CBC, every pair of edges, for ccd; SCT, "
        "which finds its tests in a tree made of topology (not timed), for dcd",
        "scene, triangles, query, ours, tests, pass, other, ms, tests, pass, ours : other, hash",
        options.save,
    )
    for sequence in sequences(options.triangles):
        detectors = {"ours": Detector(sequence.faces, tuning=Tuning(culling="cones"), threads=options.threads)}
        for other, baseline in OTHERS.values():
            detectors[other] = Baseline(baseline, sequence.faces, threads=options.threads)
        for laps in race(sequence, detectors, only={other: query for query, (other, _) in OTHERS.items()}):
            other = OTHERS[laps.query][0]
            cells = {name: _tests(laps.of[name]) for name in ("ours", other)}
            report.add(
                laps.scene, f"{laps.triangles:,}", laps.query, f"{1e3 * laps.middle('ours', _seconds):.2f}",
                *cells["ours"], other, f"{1e3 * laps.middle(other, _seconds):.2f}", *cells[other],
                f"{laps.ratio('ours', other, _seconds):.2f}", laps.hash,
                **laps.record(options),
            )  # fmt: skip
    report.show()
    _growing(options)


def _seconds(lap: Lap) -> float:
    return lap.stage("contours")


def _tests(laps: list[Lap]) -> tuple[str, str]:
    """How many contours were tested, and how many of them passed."""
    tests = [lap.stages["contours"] for lap in laps if "contours" in lap.stages]
    tested = sum(stage.pairs_in for stage in tests)
    return f"{tested:,}", f"{1.0 - sum(stage.pairs_out for stage in tests) / max(1, tested):.0%}"


class Loops(NamedTuple):
    """Contours of one length, seen along AXIS."""

    x0: np.ndarray
    x1: np.ndarray
    loop: np.ndarray
    start: np.ndarray
    size: float  # at least every difference of coordinates


def _growing(options: Options) -> None:
    report = Report(
        "contours",
        f"One contour test, microseconds, one thread, best of {ROUNDS} interleaved; wavy star-shaped contours, moved "
        "by two edges and turned by one; all pass.\nlinear: ours; all pairs: CBC, with the boxes that our version "
        "of it adds, and without, as described; at rest: ours, and SCT",
        "edges, linear, all pairs, ratio, without boxes, ratio, linear at rest, SCT at rest, ratio",
        options.save,
    )
    rng = np.random.default_rng(0)
    for edges in EDGES:
        moving = _stars(edges, max(1, 3_000 // edges), rng)
        resting = moving._replace(x1=moving.x0)
        jobs = {
            "linear": (_linear, moving), "all pairs": (_all_pairs, moving), "without boxes": (_without_boxes, moving),
            "linear at rest": (_linear, resting), "SCT at rest": (_in_plane, resting),
        }  # fmt: skip
        best = {name: 1e6 * value for name, value in _best(jobs).items()}
        cells = [f"{best['linear']:.2f}"]
        for name, base in (("all pairs", "linear"), ("without boxes", "linear")):
            cells += [f"{best[name]:.2f}", f"{best[name] / best[base]:.1f}"]
        at_rest = best["linear at rest"], best["SCT at rest"]
        cells += [*(f"{value:.2f}" for value in at_rest), f"{at_rest[1] / at_rest[0]:.1f}"]
        report.add(str(edges), *cells, edges=edges, microseconds=best)
    report.show()


def _best(jobs: dict[str, tuple[Callable[[Loops], int], Loops]]) -> dict[str, float]:
    """Seconds of one test."""
    best: dict[str, float] = {}
    for round_ in range(ROUNDS + 1):
        for name, (job, loops) in jobs.items():
            clock = time.perf_counter()
            passed = job(loops)
            each = (time.perf_counter() - clock) / (len(loops.start) - 1)
            if passed < len(loops.start) - 1:
                raise SystemExit(f"{name}: {passed} of {len(loops.start) - 1} star-shaped contours pass")
            if round_ > 0:  # the compiler was at work before
                best[name] = min(each, best.get(name, each))
    return best


def _stars(edges: int, count: int, rng: np.random.Generator) -> Loops:
    """Wavy circles with edges of different length."""
    turn = 2.0 * math.pi * (np.arange(edges) / edges + np.sort(rng.uniform(0.0, 0.2 / edges, (count, edges)), axis=1))
    radius = 1.0 + 0.2 * np.sin(3.0 * turn) + 0.2 * np.sin(2.0 * turn + 1.0)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0.2 * np.sin(2.0 * turn)], axis=2)
    edge = 2.0 * math.pi / edges
    rotation = np.array(
        [(math.cos(edge), -math.sin(edge), 0.0), (math.sin(edge), math.cos(edge), 0.0), (0.0, 0.0, 1.0)]
    )
    moved = points @ rotation.T + (2.0 * edge, edge, 0.0)
    x0, x1 = np.ascontiguousarray(points.reshape(-1, 3)), np.ascontiguousarray(moved.reshape(-1, 3))
    size = 1.01 * float(np.ptp(np.concatenate([x0, x1]), axis=0).max())
    return Loops(x0, x1, np.arange(count * edges, dtype=np.int32), np.arange(0, count * edges + 1, edges), size)


@kernel
def _linear(loops):
    x0, x1, loop, start, size = loops
    passed = 0
    for k in range(len(start) - 1):
        passed += star_shaped(x0, x1, loop, start[k], start[k + 1], AXIS, size, 0.0) > 0
    return passed


@kernel
def _all_pairs(loops):
    x0, x1, loop, start, size = loops
    flat, boxes = np.empty((start[1] + 1, 4)), np.empty((start[1], 4))
    passed = 0
    for k in range(len(start) - 1):
        passed += stays_simple(x0, x1, loop, start[k], start[k + 1], AXIS, size, flat, boxes)
    return passed


@kernel
def _without_boxes(loops):
    """``stays_simple`` without its boxes."""
    x0, x1, loop, start, size = loops
    e, f = across(AXIS)
    count = start[1]
    flat = np.empty((count + 1, 4))
    passed = 0
    for k in range(len(start) - 1):
        begin, end = start[k], start[k + 1]
        o0, o1 = centres(x0, x1, loop, begin, end)
        project(x0, loop, begin, end, o0, e, f, flat, 0)
        project(x1, loop, begin, end, o1, e, f, flat, 2)
        flat[count] = flat[0]
        passed += _all_apart(flat, count, size)
    return passed


@kernel
def _all_apart(flat, count, size):
    for i in range(count - 2):
        for j in range(i + 2, count - 1 if i == 0 else count):
            if not stay_apart(flat, i, j, size):
                return False
    return True


@kernel
def _in_plane(loops):
    x0, _, loop, start, size = loops
    flat = np.empty((start[1] + 1, 2))
    passed = 0
    for k in range(len(start) - 1):
        passed += star_in_plane(x0, loop, start[k], start[k + 1], AXIS, size, flat)
    return passed
