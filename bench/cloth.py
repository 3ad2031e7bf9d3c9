"""Simulated cloth: what a time step costs as the mesh grows, and what of it is the solver and what detection."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

import pliant
from bench.measure import Options, Report
from pliant.scenes.shapes import icosphere, weave
from pliant.simulate import Cloth, Obstacle, Settings

SIZES = (5_000, 10_000, 40_000, 100_000)
SECONDS, WARM, STEPS = 0.01, 3, 30


class Run(NamedTuple):
    """Of the steps: CPU ms and iterations, means; by the clock, medians, ms: a step, its parts, and a fresh ``ccd`` of
    the same motion; the largest stretch."""

    cpu: float
    newton: float
    linear: float
    wall: float
    solve: float
    near: float
    resolve: float
    ccd: float
    stretch: float


def cloth(options: Options) -> None:
    """CPU time of a step of cloth that hangs by two corners, and of cloth that falls onto a ball."""
    report = Report(
        "cloth",
        f"A time step of {SECONDS} s of simulated cotton, {options.threads} threads, means of {STEPS} steps",
        "scene, triangles, CPU ms, us a triangle, Newton, linear, wall ms, solve, near, resolve, fresh ccd ms, "
        "step / ccd, detection, stretch",
        options.save,
    )
    for name, make in (("hanging", _hanging), ("dropped", _dropped)):
        for triangles in SIZES:
            if options.triangles and triangles > options.triangles:
                continue
            run = _measured(make(triangles, options.threads), 0 if name == "hanging" else 40, options.threads)
            report.add(
                name, f"{triangles:,}", f"{run.cpu:.0f}", f"{1e3 * run.cpu / triangles:.2f}", f"{run.newton:.1f}",
                f"{run.linear:.0f}", f"{run.wall:.0f}", f"{run.solve:.0f}", f"{run.near:.0f}", f"{run.resolve:.0f}",
                f"{run.ccd:.1f}", f"{run.wall / run.ccd:.1f}", f"{(run.near + run.resolve) / run.wall:.0%}",
                f"{run.stretch:.3f}", cpu=run.cpu, triangles=triangles, ratio=run.wall / run.ccd,
            )  # fmt: skip
    report.show()


def _measured(simulation: Cloth, before: int, threads: int) -> Run:
    for _ in range(WARM + before):
        simulation.step(SECONDS)
    frames, cpu, walls, queries = [], [], [], []
    before = simulation.frame().scene
    for _ in range(STEPS):
        clocks = process_time(), perf_counter()
        frames.append(simulation.step(SECONDS))
        cpu.append(process_time() - clocks[0])
        walls.append(perf_counter() - clocks[1])
        after, start = frames[-1].scene, perf_counter()
        pliant.ccd(simulation.mesh, before, after, threads=threads)
        queries.append(perf_counter() - start)
        before = after
    times = 1e3 * np.median([frame.times for frame in frames], axis=0)
    stats = [frame.stats for frame in frames]
    return Run(
        1e3 * float(np.mean(cpu)), float(np.mean([one.newton for one in stats])),
        float(np.mean([one.linear for one in stats])), 1e3 * float(np.median(walls)), times[1], times[0], times[2],
        1e3 * float(np.median(queries)), max(one.stretch for one in stats),
    )  # fmt: skip


def _square(triangles: int) -> tuple[np.ndarray, np.ndarray, int]:
    """A square metre."""
    cells = round((triangles / 2) ** 0.5)
    faces, uv = weave(cells, cells)
    return faces, np.column_stack((uv / cells, np.zeros(len(uv)))), cells


def _hanging(triangles: int, threads: int) -> Cloth:
    faces, x, cells = _square(triangles)
    return Cloth(faces, x, pins=[0, cells], threads=threads)


def _dropped(triangles: int, threads: int) -> Cloth:
    faces, x, _ = _square(triangles)
    ball, points = icosphere(max(4, round((triangles / 100) ** 0.5)))
    return Cloth(faces, x, obstacles=[Obstacle(ball, 0.25 * points + (0.5, 0.5, -0.27))], threads=threads)


def convergence(options: Options) -> None:
    """A cloth that swings down, held at one side: where its free side is after half a second, as steps and cells get
    finer; each line against the finest one."""
    report = Report(
        "convergence", "Cotton that swings down from level, 0.5 s: the middle of its free side, in mm from the finest",
        "varied, value, mm", options.save,
    )  # fmt: skip
    for name, cases in (
        ("step ms", {1e3 * seconds: (12, seconds) for seconds in (0.02, 0.01, 0.005, 0.0025, 0.00125)}),
        ("cells", {float(cells): (cells, 0.005) for cells in (3, 6, 12, 24, 48)}),
    ):
        ends = {value: _swung(cells, seconds, options.threads) for value, (cells, seconds) in cases.items()}
        *others, finest = ends
        for value in others:
            away = 1e3 * float(np.linalg.norm(ends[value] - ends[finest]))
            report.add(name, f"{value:g}", f"{away:.3f}", value=value, millimetres=away)
    report.show()


def _swung(cells: int, seconds: float, threads: int) -> np.ndarray:
    faces, uv = weave(cells, cells)
    x = np.column_stack((0.3 * uv / cells, np.zeros(len(uv))))
    settings = Settings(newton=20, tolerance=1e-4, linear_tolerance=1e-4, step=seconds)
    simulation = Cloth(faces, x, pins=np.flatnonzero(x[:, 0] == 0), thickness=1e-3, settings=settings, threads=threads)
    for _ in range(round(0.5 / seconds)):
        frame = simulation.step(seconds)
    return frame.positions[x[:, 0] > 0.3 - 1e-9].mean(axis=0)
