"""Paper 004, Tables II and III, and section 7.2: tests left by each culling, separating axes and flips."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import pliant
from bench.baselines import run_volume
from bench.inputs import PAPER_004, Volume, volume_steps
from bench.measure import Options, Report
from pliant.arithmetic.bernstein import cross_controls, in_range, magnitudes, vectors
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE, quad
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, sub
from pliant.engine.assignment import Bounds
from pliant.engine.plan import DEFAULT_FILTERS, Plan, Tuning, plan_of
from pliant.engine.scene import Fitted, Scene, build, topology_of
from pliant.engine.sinks import AllContacts
from pliant.engine.travel import Travel, travel_of
from pliant.engine.walk import Listed, walk
from pliant.filters.axes.features import apart_by_centres, separated_by
from pliant.filters.axes.separation import across
from pliant.filters.dnf import never_coplanar
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

KINDS = "vertex-face tests", "edge-edge tests"
# What goes on the culling of the row before: filters, and whether bounds of features are compared.
CULLINGS = {
    "B: assignment, O-sets": ((), False),
    "+ bounds of features": ((), True),
    "C: + CSAT": (("csat",), True),
    "+ coplanarity (ours)": (DEFAULT_FILTERS, True),
}
SAMPLES = 100_000
ROUNDS = 9


class _Counter(AllContacts):
    """Counts the pairs that would go to the exact test."""

    def _decide(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        self.tally.add(KINDS[kind], len(pairs), 0, 0.0)


class _Collector(AllContacts):
    """Keeps pairs of separate cells whose bounds overlap."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.cells: list[np.ndarray] = []

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        self.cells.append(scene.hierarchy.tree.order[pairs[:count]])

    def take_listed(self, scene: Scene, fitted: Fitted, chunk: Listed) -> None:
        pass


def _walk(sink: AllContacts, step: Volume, plan: Plan, with_bounds: bool = True) -> None:
    """Everything up to the exact test; without bounds of features, all of them overlap."""
    pool = ThreadPool(1)
    scene, fitted = build(topology_of(step.mesh), travel_of(step.x0, step.x1), plan, pool, Tally())
    if not with_bounds:
        everywhere = [np.tile((-np.inf, np.inf), (len(b), b.shape[1] // 2)) for b in fitted.of_features.bounds]
        fitted = fitted._replace(features=fitted.of_features._replace(bounds=Bounds(*everywhere)))
    walk(scene, lambda: fitted, plan, [sink], pool, Tally())


def culling(
    steps: dict[str, list[Volume]], unculled: dict[str, tuple[int, int]], options: Options, part: str = "volumes"
) -> None:
    report = Report(
        part,
        "Paper 004, Tables II and III: elementary tests of all steps, with one culling after the other, 16-DOPs, "
        "dynamic assignment (paper: octopi B 2.23% of A,\nC 0.42% of B; car crash 1.96% and 29.61%)",
        "scene, culling, VF, EE, total, of A, of the row before",
        options.save,
    )
    for name, cases in steps.items():
        rows = {"A: none": unculled[name]}
        for label, (filters, with_bounds) in CULLINGS.items():
            plan = plan_of(Tuning("boxes", "16-dop", filters, "dynamic"), "all", has_cells=True)
            counter = _Counter(plan)
            for step in cases:
                _walk(counter, step, plan, with_bounds)
            counted = {stage.name: stage.pairs_in for stage in counter.tally.stages()}
            rows[label] = counted.get(KINDS[0], 0), counted.get(KINDS[1], 0)
        before = first = sum(rows["A: none"])
        for label, (vf, ee) in rows.items():
            of_first, of_before = f"{(vf + ee) / first:.3%}", f"{(vf + ee) / before:.2%}"
            report.add(name, label, f"{vf:,}", f"{ee:,}", f"{vf + ee:,}", of_first, of_before, vf=vf, ee=ee, row=label)
            before = vf + ee
    report.show()


class Samples(NamedTuple):
    """Features of separate cells with overlapping bounds."""

    x0: np.ndarray
    x1: np.ndarray
    corners: np.ndarray  # (k, 5) int32: a vertex, and the corners of a tetrahedron
    edges: np.ndarray  # (k, 2) int32: an edge of either
    faces: np.ndarray  # (k, 2) int32: the vertex, and a face of the tetrahedron


def _sample(step: Volume) -> Samples:
    plan = plan_of(Tuning("boxes", "16-dop", (), "dynamic"), "all", has_cells=True)
    collector = _Collector(plan)
    _walk(collector, step, plan)
    pairs, corners = np.concatenate(collector.cells), step.mesh.corners[:, :4]
    pairs = pairs[(corners[pairs[:, 0]][:, :, None] != corners[pairs[:, 1]][:, None, :]).all(axis=(1, 2))]
    rng = np.random.default_rng(0)
    a, b = pairs[np.sort(rng.integers(0, len(pairs), SAMPLES))].T  # in the order of the traversal: near in memory, too

    def one_of(rows, cells, count):
        return rows.items[rows.start[cells] + rng.integers(0, count, SAMPLES)]

    vertex = corners[a, rng.integers(0, 4, SAMPLES)]
    edges = np.stack([one_of(step.mesh.cell_edges, cells, 6) for cells in (a, b)], axis=1)
    faces = np.stack([vertex, one_of(step.mesh.cell_faces, b, 4)], axis=1)
    return Samples(step.x0, step.x1, np.column_stack((vertex, corners[b])), edges, faces)


def axes(steps: dict[str, list[Volume]], options: Options) -> None:
    report = Report(
        "volumes",
        f"Coplanarity (DNF) and CSAT: nanoseconds of a test, one thread, best of {ROUNDS} interleaved, and in brackets "
        f"what it discards; of {SAMPLES:,} features of separate\ntetrahedra with overlapping bounds. normal: of the "
        "face, or of one at random, as in the paper; centres: ours; loading: positions alone, which is in all.\n"
        "Ratios of coplanarity to CSAT, and without the loading (paper: 2 for a face, 6 for a tetrahedron)",
        "scene, pair, loading, coplanarity, CSAT normal, CSAT centres, ratio normal, ratio centres",
        options.save,
    )
    for name in ("octopi", "liver"):
        for pair, job in _tests(steps[name][-1]).items():
            times, apart = _best(job)
            cells = [f"{1e9 * t:.0f} ({n / SAMPLES:.0%})" for t, n in zip(times[1:], apart[1:], strict=True)]
            ratios = [f"{times[1] / t:.1f} ({(times[1] - times[0]) / (t - times[0]):.1f})" for t in times[2:]]
            report.add(name, pair, f"{1e9 * times[0]:.0f}", *cells, *ratios, scene=name, pair=pair, seconds=times)
    report.show()


def _tests(step: Volume) -> dict[str, Callable[[int], int]]:
    """Jobs that test all pairs of a sample in one of four ways, and return how many are proved to stay apart."""
    found, mesh = _sample(step), step.mesh
    x0, x1 = found.x0, found.x1
    return {
        "vertex and face": lambda way: _of_features(VERTEX_FACE, way, x0, x1, mesh.faces, found.faces),
        "edge and edge": lambda way: _of_features(EDGE_EDGE, way, x0, x1, mesh.edges, found.edges),
        "vertex and tetrahedron": lambda way: _of_tetrahedra(way, x0, x1, found.corners),
    }


def _best(job: Callable[[int], int]) -> tuple[list[float], list[int]]:
    """Seconds of one test of each of four ways, and how many pairs it proved apart."""
    best, results = [np.inf] * 4, [job(way) for way in range(4)]
    for _ in range(ROUNDS):
        for way in range(4):
            clock = time.process_time()
            job(way)
            best[way] = min(best[way], (time.process_time() - clock) / SAMPLES)
    return best, results


@kernel
def _of_features(kind, way, x0, x1, table, pairs):
    """How many are proved to stay apart by a way: 0 none, positions are loaded; 1 coplanarity; 2 the normal at the
    start; 3 the line between the centres, and what is left of it across the velocity."""
    apart = 0
    for p in range(len(pairs)):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        start, end = vectors(kind, x0, q), vectors(kind, x1, q)
        m = magnitudes(start, end)
        if not in_range(m):
            continue
        if way == 0:
            apart += m[0] + m[1] < m[2]  # or the compiler would leave it out
        elif way == 1:
            apart += never_coplanar(start, end, m, cross_controls(start[0], start[1], end[0], end[1]), 0.0)
        elif way == 2:
            apart += separated_by(kind, start, end, m, cross(start[0], start[1]), 0.0, 0.0, 0.0)
        else:
            apart += apart_by_centres(kind, start, end, m, 0.0, 0.0, 0.0)
    return apart


@kernel
def _of_tetrahedra(way, x0, x1, corners):
    """The same for a vertex and a tetrahedron, which takes four coplanarities, or the normal of a face."""
    apart = 0
    for k in range(len(corners)):
        if way == 1:
            apart += _never_coplanar_with_any(x0, x1, corners, k)
            continue
        start, end = _seen_from(x0, corners, k), _seen_from(x1, corners, k)
        if way == 0:
            apart += max_norm(_sum(start)) < max_norm(_sum(end))
        elif way == 2:
            apart += _on_one_side(start, end, cross(sub(start[1], start[0]), sub(start[2], start[0])))
        else:
            here, there = _sum(start), _sum(end)
            between = add(here, there)
            apart += _on_one_side(start, end, between) or _on_one_side(start, end, across(between, sub(there, here)))
    return apart


@helper
def _never_coplanar_with_any(x0, x1, corners, k):
    for f in range(1, 5):
        q = corners[k, 0], corners[k, f], corners[k, 1 + (f & 3)], corners[k, 1 + ((f + 1) & 3)]
        start, end = vectors(VERTEX_FACE, x0, q), vectors(VERTEX_FACE, x1, q)
        m = magnitudes(start, end)
        normal = cross_controls(start[0], start[1], end[0], end[1])
        if not (in_range(m) and never_coplanar(start, end, m, normal, 0.0)):
            return False
    return True


@helper
def _seen_from(x, corners, k):
    """The tetrahedron from the vertex; its corners begin with another one in every pair."""
    p = row(x, corners[k, 0])
    return (
        sub(row(x, corners[k, 1 + (k & 3)]), p),
        sub(row(x, corners[k, 1 + ((k + 1) & 3)]), p),
        sub(row(x, corners[k, 1 + ((k + 2) & 3)]), p),
        sub(row(x, corners[k, 1 + ((k + 3) & 3)]), p),
    )


@helper
def _sum(points):
    return add(add(points[0], points[1]), add(points[2], points[3]))


@helper
def _on_one_side(start, end, axis):
    """Of the vertex, all the time; with the error of a difference and of a dot product, 6 roundings on 3 products."""
    low0, high0, largest0 = _range(start, axis)
    low1, high1, largest1 = _range(end, axis)
    error = 20.0 * UNIT_ROUNDOFF * max(largest0, largest1) * max_norm(axis)
    return min(low0, low1) > error or max(high0, high1) < -error


@helper
def _range(points, axis):
    a, b, c, d = dot(points[0], axis), dot(points[1], axis), dot(points[2], axis), dot(points[3], axis)
    largest = max(max(max_norm(points[0]), max_norm(points[1])), max(max_norm(points[2]), max_norm(points[3])))
    return min(min(a, b), min(c, d)), max(max(a, b), max(c, d)), largest


def flips(options: Options) -> None:
    """Section 7.2: what is found where only cells that turn inside out count as self-collision."""
    report = Report(
        "volumes",
        "The flip test: steps, those with contacts within one object, with flips, and with such contacts but no flip; "
        "contacts within one object, and of these\nwithin one solid, which is what the test sees; milliseconds of all "
        "steps, of the test and of ccd, one thread, run once",
        "scene, steps, self-contact, flips, missed, contacts, seen, flip test, ccd",
        options.save,
    )
    for name in PAPER_004:
        steps = volume_steps(name, options.triangles, every=True)
        if steps[0].mesh.solid_count == 0:
            continue
        totals, times = np.zeros(5, np.int64), np.zeros(2)
        for step in steps:
            clock = time.process_time()
            flipped = run_volume("flips", step.mesh, step.x0, step.x1, threads=1)
            times[0] += time.process_time() - clock
            clock = time.process_time()
            contacts = pliant.ccd(step.mesh, step.x0, step.x1, threads=1)
            times[1] += time.process_time() - clock
            one_object = step.objects[contacts.vertices[:, 0]] == step.objects[contacts.vertices[:, 3]]
            own, seen = int(one_object.sum()), len(flipped)
            totals += own > 0, seen > 0, own > 0 and seen == 0, own, seen
        report.add(
            name, str(len(steps)), *(f"{int(total):,}" for total in totals), *(f"{1e3 * t:.0f}" for t in times),
            scene=name, totals=totals.tolist(), times=times.tolist(),
        )  # fmt: skip
    report.show()
