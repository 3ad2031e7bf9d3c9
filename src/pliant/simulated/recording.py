"""Running a simulation: its frames on disk, what happened in them, and fresh queries that test every step."""

from __future__ import annotations

import math
import tempfile
from time import perf_counter
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.elementary.inversion import inverted
from pliant.engine.plan import Tuning
from pliant.frames.sequence import Sequence
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detect import ccd, check
from pliant.results.contacts import Contacts
from pliant.runtime.arrays import MeshError
from pliant.runtime.threads import Progress
from pliant.simulate.frames import Frame, StepTimes
from pliant.simulate.simulation import Simulation
from pliant.simulated.plan import Setup


class NotFreeError(MeshError):
    """A fresh query found a contact or an intersection in a step: a fault of pliant."""


class Row(NamedTuple):
    """What happened on the way to a frame: sums over its time steps, but for what is said to be the worst of them.

    time : s, at the end
    near, contacts, rounds : sums; newton, linear : iterations
    stretch, lag, displacement : the largest
    kinetic : J, at the end
    inverted : solid cells, the most at the end of a step
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
    inverted: int = 0

    @staticmethod
    def of(values: list[float]) -> Row:
        """From an array, in which all are floats."""
        frame, time, *counts = values[:8]
        return Row(int(frame), time, *(int(one) for one in counts), *values[8:-1], inverted=int(values[-1]))

    def after(self, frame: Frame) -> Row:
        """With one more time step."""
        stats = frame.stats
        if stats is None:  # one of many of an explicit scheme, which are summed up at the end of a frame
            return self
        return self._replace(
            time=frame.time, steps=self.steps + stats.steps,
            newton=self.newton + stats.newton, linear=self.linear + stats.linear,
            near=self.near + stats.near, contacts=self.contacts + stats.contacts, rounds=self.rounds + stats.rounds,
            stretch=max(self.stretch, stats.stretch), lag=max(self.lag, stats.lag),
            displacement=max(self.displacement, stats.displacement), kinetic=stats.energies.kinetic,
            inverted=max(self.inverted, stats.inverted),
        )  # fmt: skip


class Spool:
    """Frames in a file without a name, which is gone with this object: memory holds the one that is asked for."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._file = tempfile.TemporaryFile(prefix="pliant-")  # noqa: SIM115 (as long as this object)
        self._shape, self._bytes, self._count = shape, 8 * math.prod(shape), 0

    def append(self, x: np.ndarray) -> None:
        self._file.seek(self._count * self._bytes)
        self._file.write(np.ascontiguousarray(x, "<f8").tobytes())
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, frame: int) -> np.ndarray:
        place = range(self._count)[frame]
        self._file.seek(place * self._bytes)
        return np.frombuffer(self._file.read(self._bytes), "<f8").astype(np.float64).reshape(self._shape)


class Recording:
    """A simulation that runs frame by frame and is kept: ``run`` may be interrupted, and what is done stays.

    simulation : Cloth or Solid; rows : of the frames that are done, the first of them the start; times : of detection
    and solving, summed; seconds : of the clock
    """

    def __init__(self, setup: Setup, *, tuning: Tuning | None = None, threads: int | None = None) -> None:
        self.setup, self.simulation = setup, setup.begin(tuning=tuning, threads=threads)
        self._threads = threads
        self._spool = Spool((len(self.simulation.frame().scene), 3))
        self._data = {name: Spool(values.shape) for name, values in setup.numbers(self.simulation).items()}
        self.rows: list[Row] = []
        self.times, self.seconds, self.verified = StepTimes(0.0, 0.0, 0.0), 0.0, 0

    def run(self, frames: int, rate: float, *, verify: bool = False, progress: Progress | None = None) -> None:
        """Frames up to so many, the start included; with `verify`, every step is tested by fresh queries."""
        clock = perf_counter()
        if not self.rows:
            self._keep(self.simulation.frame(), Row(0, self.simulation.time))
        row = begun = Row(len(self.rows), 0.0)

        def watch(before: np.ndarray, frame: Frame) -> None:
            nonlocal row, begun
            if frame.stats is None or frame.stats.steps == 1:
                begun = row
            row = begun.after(frame)  # an explicit scheme says what happened in all of its steps so far
            if frame.times is not None:
                self.times = StepTimes(*(a + b for a, b in zip(self.times, frame.times)))
            if verify:
                require_free(self.simulation, before, frame.scene, self._threads)
                self.verified += 1

        try:
            for frame in self.simulation.frames(frames - len(self.rows), rate, watch=watch):
                self._keep(frame, row)
                row = Row(len(self.rows), 0.0)
                if progress is not None:
                    progress(len(self.rows), frames)
        finally:
            self.seconds += perf_counter() - clock

    def _keep(self, frame: Frame, row: Row) -> None:
        x = frame.scene
        if self.setup.copy_of is not None:
            x = np.array(x)
            x[: self.simulation.vertex_count] = x[self.setup.copy_of]
        self._spool.append(x)
        for name, values in self.setup.numbers(self.simulation).items():
            self._data[name].append(values)
        self.rows.append(row)

    @property
    def steps(self) -> int:
        """Time steps in all frames that are done."""
        return sum(row.steps for row in self.rows)

    def sequence(self) -> Sequence:
        """The frames of everything, obstacles included."""
        return self.setup.sequence(self.simulation, self._spool, [row.time for row in self.rows], dict(self._data))


def require_free(simulation: Simulation, before: np.ndarray, after: np.ndarray, threads: int | None = None) -> None:
    """Test a step by queries that share nothing with the simulation.

    Pairs of features that belong to driven elements only are no part of the proof: an obstacle may pass through itself.
    Where contact inside of solids is left to itself, what is tested is their boundary.
    """
    mesh = simulation.mesh
    found = ccd(mesh, before, after, threads=threads)
    left = int(_matter(mesh, simulation.free, found).sum())
    surface = mesh if isinstance(mesh, TriMesh) else mesh.surface()
    crossing = surface.faces[check(surface, after, threads=threads).faces]
    left += int(simulation.free[crossing].any(axis=(1, 2)).sum())
    if isinstance(mesh, VolumeMesh):
        left += len(inverted(mesh, after))
    if left:
        raise NotFreeError(f"t = {simulation.time:g} s: {left} contacts and intersections in a step that is to be free")


def _matter(mesh: TriMesh | VolumeMesh, free: np.ndarray, found: Contacts) -> np.ndarray:
    """(k,) bool, contacts of a feature that an element has which is free to move."""
    faces = np.atleast_1d(free[mesh.faces].any(axis=1))
    vertices, edges = np.zeros(len(free), bool), np.zeros(len(mesh.edges), bool)
    vertices[mesh.faces[faces]], edges[mesh.face_edges[faces]] = True, True
    a, b = found.elements.T
    is_vf = np.asarray(found.kind == VERTEX_FACE)
    out = np.empty(len(a), bool)
    out[is_vf] = vertices[a[is_vf]] | faces[b[is_vf]]
    out[~is_vf] = edges[a[~is_vf]] | edges[b[~is_vf]]
    return out
