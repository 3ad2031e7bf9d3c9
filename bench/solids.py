"""Simulated solids: against closed forms and an independent solver of finite elements, and what steps cost."""

from __future__ import annotations

from time import process_time

import numpy as np

from bench.measure import Options, Report
from bench.solid_blocks import DENSITY, block, elastic
from bench.solid_peers import against_peers
from pliant.simulate import Obstacle, Settings, Solid

YOUNG = 1e7
SIZES = (2, 4, 8, 16)


def solids(options: Options) -> None:
    """A cantilever, a swinging bar and a turning block against closed forms; other solvers, where they are installed; a
    block of rubber that bounces."""
    report = Report(
        "solids", "Simulated solids: error as cells or steps get finer, relative", "problem, varied, value, error",
        options.save,
    )  # fmt: skip
    for kind in ("hexahedron", "tetra"):
        for cells in SIZES:
            _line(report, f"cantilever, {kind}", "cells in its height", cells, cantilever(cells, kind, options.threads))
    for steps in (50, 100, 200, 400):
        _line(report, "bar along its axis", "steps in a period", steps, bar(steps, options.threads))
    for step in (0.01, 0.005, 0.0025, 0.00125):
        _line(report, "angular momentum", "step ms", 1e3 * step, turning(step, options.threads))
    for peer, problem, value, error in against_peers(options.threads):
        _line(report, peer, problem, value, error)
    report.show()
    _bounces(options)


def _line(report: Report, problem: str, varied: str, value: float, error: float) -> None:
    report.add(problem, varied, f"{value:g}", f"{error:.2e}", problem=problem, value=value, error=error)


def _exact(step: float) -> Settings:
    return Settings(newton=50, tolerance=1e-7, linear_tolerance=1e-8, step=step)


def cantilever(cells: int, kind: str, threads: int) -> float:
    """Deflection of the tip under its own weight, against Timoshenko's beam."""
    length, height, g = 1.0, 0.1, 0.05
    mesh, x = block((10 * cells, 1, cells), (length, 0.02, height), kind)
    held = np.flatnonzero(x[:, 0] == 0.0)
    solid = Solid(
        mesh, x, materials=elastic(YOUNG), pins=held, gravity=(0, 0, -g), settings=_exact(1.0), threads=threads
    )  # fmt: skip
    solid.step(10.0)  # so long that nothing swings any more
    tip = (x - solid.step(10.0).positions)[x[:, 0] == length, 2].mean()
    load, second = DENSITY * g * height, height**3 / 12
    expected = load * length**4 / (8 * YOUNG * second) + load * length**2 / (5 / 6 * YOUNG * height)
    return abs(tip / expected - 1.0)


def bar(steps: int, threads: int) -> float:
    """Period of a bar that is held at one end and swings along its axis."""
    length, young = 0.5, 1e6
    period = 4 * length / np.sqrt(young / DENSITY)
    mesh, x = block((24, 1, 1), (length, 0.05, 0.05), "hexahedron")
    held = np.flatnonzero(x[:, 0] == 0.0)
    solid = Solid(
        mesh, x, materials=elastic(young), pins=held, gravity=(0, 0, 0), settings=_exact(period / steps),
        threads=threads,
    )  # fmt: skip
    solid.set_velocities(np.outer(np.sin(np.pi * x[:, 0] / (2 * length)), (0.01, 0, 0)))
    before = 0.0
    for k in range(steps):
        away = (solid.step(period / steps).positions - x)[x[:, 0] == length, 0].mean()
        if away < 0.0:
            return abs(2 * (k + before / (before - away)) / steps - 1.0)
        before = away
    return np.inf


def turning(step: float, threads: int) -> float:
    """Angular momentum that a soft block which turns and shakes has lost after 0.1 s."""
    mesh, x = block((2, 2, 3), (0.2, 0.2, 0.3), "tetra")
    solid = Solid(mesh, x, materials=elastic(2e3, 0.3), gravity=(0, 0, 0), settings=_exact(step), threads=threads)
    v = np.cross((1.0, 2.0, 3.0), x - x.mean(axis=0)) + 0.3 * np.sin(20 * x)
    solid.set_velocities(v)
    for frame in solid.frames(1, 10.0):
        before, after = solid.mass @ np.cross(x, v), solid.mass @ np.cross(frame.positions, frame.velocities)
        return float(np.linalg.norm(after - before) / np.linalg.norm(before))
    return np.inf


def _bounces(options: Options) -> None:
    """A block of rubber that falls onto a floor: CPU time of a step, and what of it is detection."""
    report = Report(
        "solids steps", f"A block of rubber onto a floor, {options.threads} threads, means of 60 steps of 1/120 s",
        "cells, CPU ms, us a cell, Newton, linear, detection, interior / boundary", options.save,
    )  # fmt: skip
    for n in (4, 8, 12):
        mesh, x = block((n, n, n), (0.2, 0.2, 0.2), "tetra")
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
        x = x @ (turn * np.linalg.det(turn)).T
        x[:, 2] += 0.02 - x[:, 2].min()
        runs = [_bounce(mesh, x, interior, options.threads) for interior in (True, False)]
        cpu, stats, times = runs[0]
        count = len(mesh["tetra"])
        detection = (times[0] + times[2]) / sum(times)
        report.add(
            f"{count:,}", f"{1e3 * cpu:.1f}", f"{1e6 * cpu / count:.1f}", f"{stats[0]:.1f}", f"{stats[1]:.0f}",
            f"{detection:.0%}", f"{cpu / runs[1][0]:.2f}", cells=count, cpu=cpu, detection=detection,
        )  # fmt: skip
    report.show()


def _bounce(mesh: dict, x: np.ndarray, interior: bool, threads: int) -> tuple[float, np.ndarray, np.ndarray]:
    corners = np.array([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float)
    floor = Obstacle([(0, 1, 2), (0, 2, 3)], corners)
    solid = Solid(mesh, x, materials="rubber", obstacles=floor, interior=interior, threads=threads)
    solid.set_velocities(np.tile((0.0, 0.0, -2.0), (len(x), 1)))
    solid.step(1 / 120)
    clock = process_time()
    frames = [solid.step(1 / 120) for _ in range(60)]
    cpu = (process_time() - clock) / len(frames)
    stats = np.mean([(f.stats.newton, f.stats.linear) for f in frames if f.stats is not None], axis=0)
    return cpu, stats, np.mean([f.times for f in frames if f.times is not None], axis=0)
