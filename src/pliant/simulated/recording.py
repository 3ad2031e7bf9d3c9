"""Running a simulation: its frames on disk, what happened in them, and fresh queries that test every step."""

from __future__ import annotations

import tempfile
from time import perf_counter
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.engine.plan import Tuning
from pliant.frames.sequence import Frames, Sequence
from pliant.mesh.space import Space
from pliant.queries.detect import ccd, check
from pliant.runtime.arrays import MeshError
from pliant.runtime.threads import Progress
from pliant.simulate.cloth import Cloth
from pliant.simulate.frames import Frame, StepTimes
from pliant.simulated.plan import Setup


class NotFreeError(MeshError):
    """A fresh query found a contact or an intersection in a step: a fault of pliant."""


class Row(NamedTuple):
    """What happened on the way to a frame: sums over its time steps, but for what is said to be the worst of them.

    time : s, at the end
    near, contacts, rounds : sums; newton, linear : iterations
    stretch, lag, displacement : the largest
    kinetic : J, at the end
    """

    frame: int
    time: float
    steps: int = 0
    newton: int = 0
    linear: int = 0
    near: int = 0
    contacts: int = 0
    rounds: int = 0
    stretch: float = 1.0
    lag: float = 0.0
    displacement: float = 0.0
    kinetic: float = 0.0

    @staticmethod
    def of(values: list[float]) -> Row:
        """From an array, in which all are floats."""
        frame, time, *counts = values[:8]
        return Row(int(frame), time, *(int(one) for one in counts), *values[8:])

    def after(self, frame: Frame) -> Row:
        """With one more time step."""
        stats = frame.stats
        assert stats is not None
        return self._replace(
            time=frame.time, steps=self.steps + 1, newton=self.newton + stats.newton, linear=self.linear + stats.linear,
            near=self.near + stats.near, contacts=self.contacts + stats.contacts, rounds=self.rounds + stats.rounds,
            stretch=max(self.stretch, stats.stretch), lag=max(self.lag, stats.lag),
            displacement=max(self.displacement, stats.displacement), kinetic=stats.energies.kinetic,
        )  # fmt: skip


class Spool:
    """Frames in a file without a name, which is gone with this object: memory holds the one that is asked for."""

    def __init__(self, vertices: int) -> None:
        self._file = tempfile.TemporaryFile(prefix="pliant-")  # noqa: SIM115 (as long as this object)
        self._shape, self._count = (vertices, 3), 0

    def append(self, x: np.ndarray) -> None:
        self._file.seek(self._count * 24 * self._shape[0])
        self._file.write(np.ascontiguousarray(x, "<f8").tobytes())
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, frame: int) -> np.ndarray:
        place = range(self._count)[frame]
        self._file.seek(place * 24 * self._shape[0])
        content = self._file.read(24 * self._shape[0])
        return np.frombuffer(content, "<f8").astype(np.float64).reshape(self._shape)


class Recording:
    """A simulation that runs frame by frame and is kept: ``run`` may be interrupted, and what is done stays.

    cloth : Cloth; rows : of the frames that are done, the first of them the start; times : of detection and solving,
    summed; seconds : of the clock
    """

    def __init__(self, setup: Setup, *, tuning: Tuning | None = None, threads: int | None = None) -> None:
        self.setup, self.cloth = setup, setup.begin(tuning=tuning, threads=threads)
        self._threads = threads
        self._spool = Spool(len(self.cloth.frame().scene))
        self.rows: list[Row] = []
        self.times, self.seconds, self.verified = StepTimes(0.0, 0.0, 0.0), 0.0, 0

    def run(self, frames: int, rate: float, *, verify: bool = False, progress: Progress | None = None) -> None:
        """Frames up to so many, the start included; with `verify`, every step is tested by fresh queries."""
        clock = perf_counter()
        if not self.rows:
            self._keep(self.cloth.frame(), Row(0, self.cloth.time))
        row = Row(len(self.rows), 0.0)

        def watch(before: np.ndarray, frame: Frame) -> None:
            nonlocal row
            row = row.after(frame)
            if verify:
                require_free(self.cloth, before, frame.scene, self._threads)
                self.verified += 1

        try:
            for frame in self.cloth.frames(frames - len(self.rows), rate, watch=watch):
                self._keep(frame, row)
                row = Row(len(self.rows), 0.0)
                if frame.times is not None:
                    self.times = StepTimes(*(a + b for a, b in zip(self.times, frame.times)))
                if progress is not None:
                    progress(len(self.rows), frames)
        finally:
            self.seconds += perf_counter() - clock

    def _keep(self, frame: Frame, row: Row) -> None:
        x = frame.scene
        if self.setup.copy_of is not None:
            x = np.array(x)
            x[: self.cloth.vertex_count] = x[self.setup.copy_of]
        self._spool.append(x)
        self.rows.append(row)

    @property
    def steps(self) -> int:
        """Time steps in all frames that are done."""
        return sum(row.steps for row in self.rows)

    def sequence(self) -> Sequence:
        """The frames of cloth and obstacles."""
        setup = self.setup
        space = Space(setup.settings.up, 1.0 / setup.settings.scale)
        return Sequence(
            self.cloth.mesh.faces, self._spool, times=[row.time for row in self.rows], name=setup.name,
            parts=setup.parts(), space=space,
        )  # fmt: skip


def cloth_alone(setup: Setup, whole: Sequence) -> Sequence:
    """Frames without the obstacles."""
    frames = _First(whole, len(setup.x))
    return Sequence(setup.faces, frames, times=whole.times, name=whole.name, space=whole.space)


class _First:
    """The first vertices of other frames."""

    def __init__(self, frames: Frames, count: int) -> None:
        self._frames, self._count = frames, count

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._frames[frame][: self._count]


def require_free(cloth: Cloth, before: np.ndarray, after: np.ndarray, threads: int | None = None) -> None:
    """Test a step by queries that share nothing with the simulation.

    Pairs of features that belong to driven faces only are no part of the proof: an obstacle may pass through itself.
    """
    mesh = cloth.mesh
    faces = np.atleast_1d(cloth.free[mesh.faces].any(axis=1))
    vertices, edges = np.zeros(len(cloth.free), bool), np.zeros(len(mesh.edges), bool)
    vertices[mesh.faces[faces]], edges[mesh.face_edges[faces]] = True, True
    found = ccd(mesh, before, after, threads=threads)
    is_vf = np.asarray(found.kind == VERTEX_FACE)
    (vertex, face), (one, other) = found.elements[is_vf].T, found.elements[~is_vf].T
    left = int((vertices[vertex] | faces[face]).sum()) + int((edges[one] | edges[other]).sum())
    left += int(faces[check(mesh, after, threads=threads).faces].any(axis=1).sum())
    if left:
        raise NotFreeError(f"t = {cloth.time:g} s: {left} contacts and intersections in a step that is to be free")
