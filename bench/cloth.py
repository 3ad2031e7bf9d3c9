"""Simulated cloth: what a time step costs as the mesh grows, and what of it is the solver and what detection."""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import numpy as np

from bench.measure import Options, Report
from pliant.scenes.shapes import icosphere, weave
from pliant.simulate import Cloth, Obstacle, Settings

SIZES = (5_000, 10_000, 40_000, 100_000)
SECONDS, WARM, STEPS = 0.01, 3, 30


class Run(NamedTuple):
    """Means of the steps: CPU ms, iterations, ms of the clock in each part; the largest stretch."""

    cpu: float
    newton: float
    linear: float
    solve: float
    near: float
    resolve: float
    stretch: float


def cloth(options: Options) -> None:
    """CPU time of a step of cloth that hangs by two corners, and of cloth that falls onto a ball."""
    report = Report(
        "cloth",
        f"A time step of {SECONDS} s of simulated cotton, {options.threads} threads, means of {STEPS} steps",
        "scene, triangles, CPU ms, us a triangle, Newton, linear, solve ms, near ms, resolve ms, stretch",
        options.save,
    )
    for name, make in (("hanging", _hanging), ("dropped", _dropped)):
        for triangles in SIZES:
            if options.triangles and triangles > options.triangles:
                continue
            run = _measured(make(triangles, options.threads), 0 if name == "hanging" else 20)
            report.add(
                name, f"{triangles:,}", f"{run.cpu:.0f}", f"{1e3 * run.cpu / triangles:.2f}", f"{run.newton:.1f}",
                f"{run.linear:.0f}", f"{run.solve:.0f}", f"{run.near:.0f}", f"{run.resolve:.0f}", f"{run.stretch:.3f}",
                cpu=run.cpu, triangles=triangles,
            )  # fmt: skip
    report.show()


def _measured(simulation: Cloth, before: int) -> Run:
    for _ in range(WARM + before):
        simulation.step(SECONDS)
    start, frames = process_time(), []
    for _ in range(STEPS):
        frames.append(simulation.step(SECONDS))
    cpu = 1e3 * (process_time() - start) / STEPS
    times = 1e3 * np.mean([frame.times for frame in frames], axis=0)
    stats = [frame.stats for frame in frames]
    return Run(
        cpu, float(np.mean([one.newton for one in stats])), float(np.mean([one.linear for one in stats])),
        times[1], times[0], times[2], max(one.stretch for one in stats),
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
