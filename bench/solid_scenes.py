"""Simulated solids at the sizes of paper 004: what steps cost, fresh queries on some of them; frames are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

import pliant
from bench.measure import Options, Report
from pliant.runtime.caches import user_cache
from pliant.simulate import Frame, Solid
from pliant.simulated.recording import NotFreeError, Recording, require_free
from pliant.simulated.solid_plan import SolidSetup

SCENES = ("octopi", "airbag", "car_crash")  # whose cells stay as they are
LIMIT = 300.0  # s of the clock, for each scene
TESTED = 50  # one of so many explicit steps, besides the last one of each frame
WARM = 2  # steps that do not count
SMALL = 760  # cells


class Taken(NamedTuple):
    """A time step: positions of the scene before it, the frame after it, CPU seconds, and whether it ends a frame."""

    before: np.ndarray
    frame: Frame
    cpu: float
    is_last: bool


@dataclass
class Run:
    """What is known of a simulation so far.

    times : s, of frames; x : positions of the scene then; before : one time step before them
    cpu : s, of each step; spent : s of the clock, of detection, and of all
    """

    times: list[float] = field(default_factory=list)
    x: list[np.ndarray] = field(default_factory=list)
    before: list[np.ndarray] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    spent: np.ndarray = field(default_factory=lambda: np.zeros(2))
    tested: int = 0
    not_free: int = 0
    stretch: float = 1.0

    def keep(self, before: np.ndarray, frame: Frame) -> None:
        self.times.append(frame.time)
        self.x.append(frame.scene)
        self.before.append(before)
        if frame.stats is not None:
            self.stretch = max(self.stretch, frame.stats.stretch)

    def save(self, path: Path) -> None:
        np.savez(path, times=self.times, x=self.x, before=self.before)


def solid_scenes(options: Options) -> None:
    report = Report(
        "solid_scenes",
        f"Simulated solids, {options.threads} threads: CPU milliseconds of a step; of the clock, what detection takes "
        "(near pairs, ends made free);\nsteps tested by fresh queries, and those that were not free",
        "scene, cells, frames, t ms, steps, CPU ms, detection, stretch, tested, not free",
        options.save,
    )
    for name in options.only or SCENES:
        setup = setup_of(name, options.triangles)
        run = simulate(setup, options, folder_of(options) / f"{name}-{options.triangles or 'paper'}.npz")
        cpu, share = float(np.mean(run.cpu[WARM:])), run.spent[0] / run.spent[1]
        report.add(
            name, f"{setup.cell_count:,}", f"{len(run.times) - 1} of {setup.frames - 1}", f"{1e3 * run.times[-1]:.4g}",
            f"{len(run.cpu):,}", f"{1e3 * cpu:.0f}", f"{share:.0%}", f"{run.stretch:.3f}", f"{run.tested:,}",
            f"{run.not_free}", scene=name, cells=setup.cell_count, steps=len(run.cpu), cpu=cpu, detection=share,
        )  # fmt: skip
    report.show()


def penalty_scenes(options: Options) -> None:
    """What impact forces leave, in scenes at a small size: the same ones as ``solid_scenes``, all explicit."""
    report = Report(
        "penalty_scenes",
        'contact="penalty": the most at the end of a frame, and what is left at the '
        "end (parts of a wheel\nintersect each other); the same with contact resolved: steps that fresh queries test",
        "scene, cells, frames, steps, pushing, intersections, inverted, depth / edge, at the end, resolved, faults",
        options.save,
    )
    for name in options.only or SCENES:
        setup = setup_of(name, options.triangles or SMALL)
        steps, most, last, edge = _pushed(setup, options)
        recording = Recording(setup, threads=options.threads)
        found = 0
        try:
            recording.run(options.frames or setup.frames, setup.rate, verify=True)
        except NotFreeError as error:
            found = 1
            print(f"{name}: {error}", flush=True)
        report.add(
            name, f"{setup.cell_count:,}", str(options.frames or setup.frames), f"{steps:,}", f"{most[0]:.0f}",
            f"{most[1]:.0f}", f"{most[2]:.0f}", f"{most[3] / edge:.3f}", " ".join(f"{one:.0f}" for one in last[:3]),
            f"{recording.verified:,}", str(found), scene=name, steps=steps, most=most.tolist(), last=last.tolist(),
        )  # fmt: skip
    report.show()


def _pushed(setup: SolidSetup, options: Options) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Steps; pairs that push, intersections, inverted cells and the largest depth, the most of
    frames, and of the last one."""
    given = {key: value for key, value in setup.options.items() if key != "settings"}
    explicit = replace(setup, options=given | {"contact": "penalty", "scheme": "explicit"})
    solid, steps, most, last = explicit.begin(threads=options.threads), 0, np.zeros(4), np.zeros(4)
    for frame in solid.frames((options.frames or setup.frames) - 1, setup.rate):
        stats = frame.stats
        assert stats is not None
        steps += stats.steps
        last = np.array((stats.active, stats.intersections, stats.inverted, stats.deepest))
        most = np.maximum(most, last)
    return steps, most, last, float(solid._stepper.model.edge)


def setup_of(name: str, cells: int | None) -> SolidSetup:
    setup = pliant.simulated.setup(name, cells)
    assert isinstance(setup, SolidSetup)
    return setup


def folder_of(options: Options) -> Path:
    """Where frames are kept: what a user names, or the cache."""
    folder = options.out or user_cache("simulated")
    if folder is None:
        raise SystemExit("there is no folder for frames: --out FOLDER names one")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def simulate(setup: SolidSetup, options: Options, path: Path) -> Run:
    """Frames until time is up, at least one of them; the file is written after each."""
    solid, start, run = setup.begin(threads=options.threads), perf_counter(), Run()
    assert isinstance(solid, Solid)
    run.keep(solid.frame().scene, solid.frame())
    for step in time_steps(solid, (options.frames or setup.frames) - 1, setup.rate):
        run.cpu.append(step.cpu)
        if step.frame.times is not None and len(run.cpu) > WARM:
            near, solve, resolve = step.frame.times
            run.spent += (near + resolve, near + solve + resolve)
        if step.is_last or len(run.cpu) % TESTED == 0:
            run.tested += 1
            try:
                require_free(solid, step.before, step.frame.scene, options.threads)
            except NotFreeError as error:
                run.not_free += 1
                print(f"{setup.name}: {error}", flush=True)
        if step.is_last:
            run.keep(step.before, step.frame)
            run.save(path)
            _tell(setup.name, step.frame, len(run.cpu), perf_counter() - start)
            if perf_counter() - start > (options.limit or LIMIT):
                break
    return run


def time_steps(solid: Solid, frames: int, rate: float) -> Iterator[Taken]:
    """The steps of so many frames, one by one: without stats, but for the last one of each."""
    for _ in range(frames):
        for seconds, is_last in solid._stepper.lengths(lambda: solid._state, 1.0 / rate):
            before, clock = solid._state.x, process_time()
            frame = solid._step_by(seconds, is_last)
            yield Taken(before, frame, process_time() - clock, is_last)


def _tell(name: str, frame: Frame, steps: int, seconds: float) -> None:
    stats = frame.stats
    assert stats is not None
    assert stats.balance is not None
    energies = " ".join(f"{k} {v:.4g}" for k, v in (stats.energies._asdict() | stats.balance._asdict()).items())
    print(
        f"{name}: t = {1e3 * frame.time:.4g} ms, {steps:,} steps, {seconds:.0f} s, stretch {stats.stretch:.3f}, "
        f"{energies}", flush=True,
    )  # fmt: skip
