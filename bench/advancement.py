"""Paper 002, Figures 5 to 11: pairs of triangles, by its sequence of conditions and by what it compares with."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pliant
from bench.baselines import run_triangles
from bench.inputs import Motion, real_motions
from bench.measure import Options, Report, interleaved
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import cross, dot, sub
from pliant.elementary.distance import shortest, spread_of
from pliant.engine.plan import Tuning, plan_of
from pliant.engine.scene import Fitted, Scene, build, topology_of
from pliant.engine.travel import travel_of
from pliant.engine.walk import Alone, Listed, walk
from pliant.runtime.arrays import as_positions
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Stage, Tally
from pliant.runtime.threads import SERIAL
from pliant.scenes.triangle_pairs import MOTIONS, random_pairs

BASELINES = {
    "feature CA": "feature_advancement",
    "triangle CA": "triangle_advancement",
    "cubic": "cubic_solver",
    "+ DNF": "cubic_solver_after_dnf",
}
FALSE_POSITIVES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
# Pairs. The paper has a thousand; what a call takes by itself, 0.3 ms after other work, is 3 ns of each.
RANDOM = 100_000
SAMPLE = 200_000  # pairs of a scene
EXPLODING = 0, 5  # steps


def advancement(options: Options) -> None:
    rounds = max(7, options.repeats)
    _distances(rounds)
    report = _report("Paper 002, Figure 7: pairs that never touch, by motion", "motion", options)
    for size in (0.25, 1.0):
        for motion in MOTIONS:
            pairs = random_pairs(RANDOM, motion, size=size)
            _race(f"{motion}, size {size:g}", pairs[:2], rounds, report)
    report.show()
    report = _report("Paper 002, Figure 8: share of pairs that never touch (false positives)", "share", options)
    for apart in FALSE_POSITIVES:
        _race(f"{apart:.0%}", random_pairs(RANDOM, apart=apart)[:2], rounds, report)
    report.show()
    _scenes(options)


# ---- Figures 5 and 6


def _distances(rounds: int) -> None:
    x = np.random.default_rng(0).uniform(size=(20_000, 4, 3))
    report = Report(
        "advancement",
        "Paper 002, Figures 5 and 6: nanoseconds of a distance",
        "figure, plane or lines, features, ratio, paper, hash",
        save=False,
    )
    for figure, kind, paper in (
        ("5: a vertex and a face", VERTEX_FACE, "9.6"),
        ("6: two edges", EDGE_EDGE, "1.7 to 3.0"),
    ):
        out = {"unbounded": np.empty(len(x)), "features": np.empty(len(x))}
        timed = interleaved(
            {
                "unbounded": lambda kind=kind, out=out: _unbounded_distances(kind, x, out["unbounded"]),
                "features": lambda kind=kind, out=out: _feature_distances(kind, x, out["features"]),
            },
            rounds,
            time.process_time,
        )
        unbounded, features = (1e9 * timed[name].best / len(x) for name in out)
        # Closest points inside both features are those of the plane or the lines.
        assert (out["unbounded"] <= out["features"] * (1.0 + 1e-9)).all()
        report.add(
            figure, f"{unbounded:.1f}", f"{features:.1f}", f"{features / unbounded:.1f}", paper, _hash(out["features"])
        )
    report.show()


@helper
def _quad(x, p):
    return (
        (x[p, 0, 0], x[p, 0, 1], x[p, 0, 2]),
        (x[p, 1, 0], x[p, 1, 1], x[p, 1, 2]),
        (x[p, 2, 0], x[p, 2, 1], x[p, 2, 2]),
        (x[p, 3, 0], x[p, 3, 1], x[p, 3, 2]),
    )


@kernel
def _unbounded_distances(kind, x, out):
    """Equations 1 and 12: from the vertex to the plane, or between the lines."""
    for p in range(len(x)):
        a, b, c, d = _quad(x, p)
        n = cross(sub(c, b), sub(d, b)) if kind == VERTEX_FACE else cross(sub(b, a), sub(d, c))
        out[p] = abs(dot(sub(b if kind == VERTEX_FACE else c, a), n)) / np.sqrt(dot(n, n))


@kernel
def _feature_distances(kind, x, out):
    for p in range(len(x)):
        out[p] = shortest(kind, spread_of(kind, _quad(x, p), (0.0, 0.0, 0.0, 0.0)))[4]


# ---- Figures 7 and 8


def _report(title: str, first: str, options: Options) -> Report:
    return Report(
        "advancement",
        f"{title}.\nNanoseconds of CPU for a pair, one thread, and ratios to ours (the sequence, then advancement); "
        "with the exact solver;\npairs in contact; how many more or fewer we and the others report; hash of our times",
        f"{first}, pairs, ours, {', '.join(f'{label}, ratio' for label in BASELINES)}, exact, contacts, others, hash",
        options.save,
    )


def _race(name: str, x: tuple[np.ndarray, np.ndarray], rounds: int, report: Report) -> tuple[Stage, ...]:
    """One row; returns the stages of our sequence."""
    jobs: dict[str, Callable[[], Any]] = {
        "ours": lambda: pliant.triangle_triangle(*x, threads=1),
        "exact": lambda: pliant.triangle_triangle(*x, accuracy=pliant.Accuracy(solver="exact"), threads=1),
    }
    for label, baseline in BASELINES.items():
        jobs[label] = lambda baseline=baseline: run_triangles(baseline, *x, threads=1)
    for job in jobs.values():
        job()  # compile
    timed = interleaved(jobs, rounds, time.process_time)
    each = {label: 1e9 * run.best / len(x[0]) for label, run in timed.items()}
    hits = {label: int(np.count_nonzero(run.result.hit)) for label, run in timed.items()}
    ours = timed["ours"].result
    report.add(
        name, f"{len(x[0]):,}", f"{each['ours']:.0f}",
        *(cell for label in BASELINES for cell in (f"{each[label]:.0f}", f"{each[label] / each['ours']:.1f}")),
        f"{each['exact']:.0f}", f"{hits['exact']:,}",
        " ".join(f"{hits[label] - hits['exact']}" for label in ("ours", *BASELINES)), _hash(ours.toi),
        scene=name, pairs=len(x[0]), nanoseconds=each, hits=hits, hash=_hash(ours.toi),
        stages=[list(stage) for stage in ours.stages],
    )  # fmt: skip
    return ours.stages


def _hash(times: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(times).tobytes()).hexdigest()[:12]


# ---- Figures 9 to 11


def _scenes(options: Options) -> None:
    report = _report(
        "Paper 002, Figures 9 to 11: pairs of triangles with overlapping swept boxes and no common vertex, a sample.\n"
        "The paper has ratios of 5.4, 3.2 and 3.8 (cloth), 8.8, 4.3 and 6.3 (n-body), 1.8, 1.3 and 1.5 (dragon)",
        "scene",
        options,
    )
    stages = {}
    for scene in (*real_motions("cloth-ball", "n-body"), *_exploding(options.triangles)):
        stages[scene.name] = _race(scene.name, _triangle_pairs(scene), options.repeats, report)
    report.show()
    _culled(stages)


def _culled(stages: dict[str, tuple[Stage, ...]]) -> None:
    """Which condition takes how much."""
    names = [stage.name for stage in next(iter(stages.values()))]
    culls = [name for name in names if name.startswith(("corollary", "lemma"))]
    report = Report(
        "advancement",
        "What the conditions take, in the order of Table 2: percent of all pairs of features; then pairs of triangles "
        "that are left, pairs of features that are advanced, and steps of each",
        ", ".join(["scene", *culls, "triangles left", "features left", "steps"]),
        save=False,
    )
    for name, found in stages.items():
        stage = {s.name: s for s in found}
        triangles, features = stage["triangle pairs"], stage["advancement"].pairs_in
        report.add(
            name, *(f"{(stage[c].pairs_in - stage[c].pairs_out) / (0.15 * triangles.pairs_in):.1f}" for c in culls),
            f"{triangles.pairs_out / triangles.pairs_in:.1%}", f"{features / (15 * triangles.pairs_in):.1%}",
            f"{stage['advancement: steps'].pairs_in / max(1, features):.1f}",
        )  # fmt: skip
    report.show()


def _exploding(most: int | None) -> list[Motion]:
    scene = pliant.scenes.load("exploding", most, max(EXPLODING) + 2)
    return [Motion(f"exploding, step {k}", scene.faces, scene.frames[k], scene.frames[k + 1]) for k in EXPLODING]


def _triangle_pairs(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Positions (k, 6, 3) at both ends of pairs of faces whose swept boxes overlap and that share no vertex."""
    x0, x1 = (as_positions(x, "x") for x in (motion.x0, motion.x1))
    plan, tally, collector = plan_of(Tuning(culling="boxes"), "all", has_cells=False), Tally(), _Collector()
    scene, fitted = build(topology_of(motion.faces), travel_of(x0, x1), plan, SERIAL, tally, features=False)
    walk(scene, lambda: fitted, plan, [collector], SERIAL, tally)
    pairs = np.concatenate(collector.pairs)
    if len(pairs) > SAMPLE:
        pairs = pairs[np.sort(np.random.default_rng(0).choice(len(pairs), SAMPLE, replace=False))]
    corners = pairs.reshape(len(pairs), 6)
    return x0[corners], x1[corners]


class _Collector:
    """Keeps the corners (k, 2, 3) of the pairs of faces it comes by."""

    def __init__(self) -> None:
        self.tally: Tally = Tally()
        self.pairs: list[np.ndarray] = []

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        corners = scene.hierarchy.leaves.corners[pairs[:count]]
        shared = (corners[:, 0, :, None] == corners[:, 1, None, :]).any(axis=(1, 2))
        self.pairs.append(corners[~shared])

    def take_listed(self, scene: Scene, fitted: Fitted, chunk: Listed) -> None:
        pass

    def take_alone(self, scene: Scene, fitted: Fitted, chunk: Alone) -> None:
        pass

    def finish(self, scene: Scene) -> None:
        pass
