"""Running a simulation: its frames on disk, what happened in them, and fresh queries that test every step."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.elementary.inversion import inverted
from pliant.engine.motion import trace_back
from pliant.engine.plan import Tuning
from pliant.frames.changing import ChangingSequence
from pliant.frames.sequence import Sequence
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detect import ccd, check
from pliant.response.fresh import no_fresh_pairs
from pliant.results.contacts import Contacts
from pliant.runtime.arrays import MeshError
from pliant.runtime.threads import Progress
from pliant.simulate.frames import Frame, StepTimes
from pliant.simulate.simulation import Simulation
from pliant.simulate.solid import Solid
from pliant.simulated.plan import Run, Setup


class NotFreeError(MeshError):
    """A fresh query found a contact or an intersection in a step: a fault of pliant."""


class Row(NamedTuple):
    """What happened on the way to a frame: sums over its time steps, but for what is said to be the worst of them.

    time : s, at the end
    near, contacts, rounds : sums; newton, linear : iterations
    stretch, lag, displacement : the largest
    kinetic : J, at the end
    inverted : solid cells, the most at the end of a step
    fresh, copies, divided, eroded, merged : of what breaks, at the end, as in ``StepStats`` and ``Counts``
    active, intersections : of impact forces, the most at the end of a step that was counted; deepest : the largest
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
    fresh: int = 0
    copies: int = 0
    divided: int = 0
    eroded: int = 0
    merged: int = 0
    active: int = 0
    intersections: int = 0
    deepest: float = 0.0

    @staticmethod
    def of(values: list[float]) -> Row:
        """From an array, in which all are floats."""
        known = zip(Row._fields, values)
        return Row(**{name: value if name in _OF_FLOATS else int(value) for name, value in known})  # pyright: ignore

    def after(self, frame: Frame) -> Row:
        """With one more time step."""
        stats = frame.stats
        assert stats is not None
        return self._replace(
            time=frame.time, steps=self.steps + stats.steps,
            newton=self.newton + stats.newton, linear=self.linear + stats.linear,
            near=self.near + stats.near, contacts=self.contacts + stats.contacts, rounds=self.rounds + stats.rounds,
            stretch=max(self.stretch, stats.stretch), lag=max(self.lag, stats.lag),
            displacement=max(self.displacement, stats.displacement), kinetic=stats.energies.kinetic,
            inverted=max(self.inverted, stats.inverted), active=max(self.active, stats.active),
            intersections=max(self.intersections, stats.intersections), deepest=max(self.deepest, stats.deepest),
        )  # fmt: skip

    def with_changes(self, frame: Frame) -> Row:
        """With what has broken up to the frame, where something may."""
        if frame.stats is None or frame.stats.changes is None:
            return self
        return self._replace(fresh=frame.stats.fresh, **frame.stats.changes._asdict())


_OF_FLOATS = ("time", "stretch", "lag", "displacement", "kinetic", "deepest")


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


class _Spooled(NamedTuple):
    """A run of frames with the same mesh; see ``Run``."""

    first: Frame
    cells: VolumeMesh | None
    positions: Spool
    times: list[float]
    data: dict[str, Spool]
    past: np.ndarray | None


class Recording:
    """A simulation that runs frame by frame and is kept: ``run`` may be interrupted, and what is done stays.

    simulation : Cloth or Solid; rows : of the frames that are done, the first of them the start; times : of detection
    and solving, summed; seconds : of the clock; verified : steps that were tested by fresh queries
    """

    def __init__(self, setup: Setup, *, tuning: Tuning | None = None, threads: int | None = None) -> None:
        self.setup, self.simulation = setup, setup.begin(tuning=tuning, threads=threads)
        self._threads = threads
        self._runs: list[_Spooled] = []
        self._cells: VolumeMesh | None = None
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
            if frame.stats is not None:
                begun = row if frame.stats.steps == 1 else begun
                row = begun.after(frame)  # an explicit scheme says what happened in all of its steps so far
            if frame.times is not None:
                self.times = StepTimes(*(a + b for a, b in zip(self.times, frame.times)))
            if verify:
                require_free(self.simulation, before, frame.scene, self._threads)
                self.verified += frame.stats is not None

        try:
            for frame in self.simulation.frames(frames - len(self.rows), rate, watch=watch):
                self._keep(frame, row.with_changes(frame))
                row = Row(len(self.rows), 0.0)
                if progress is not None:
                    progress(len(self.rows), frames)
        finally:
            self.seconds += perf_counter() - clock

    def _keep(self, frame: Frame, row: Row) -> None:
        x = frame.scene
        if self.setup.copy_of is not None:
            x = np.array(x)
            x[: len(self.setup.copy_of)] = x[self.setup.copy_of]
        cells, numbers = self.setup.cells_of(self.simulation), self.setup.numbers(self.simulation)
        if not self._runs or cells is not self._cells:
            data = {name: Spool(values.shape) for name, values in numbers.items()}
            # Without all that has been derived of the mesh: hundreds of them would fill the memory.
            alone = None if cells is None else VolumeMesh(cells.cells, ranks=cells.ranks)
            first = replace(frame, mesh=None)
            self._runs.append(_Spooled(first, alone, Spool(x.shape), [], data, self._past_of(frame)))
            self._cells = cells
        run = self._runs[-1]
        run.positions.append(x)
        for name, values in numbers.items():
            run.data[name].append(values)
        run.times.append(row.time)
        self.rows.append(row)

    def _past_of(self, frame: Frame) -> np.ndarray | None:
        """Where its vertices were in the frame before, as ``Run`` has it."""
        if not self._runs:
            return None
        run, x = self._runs[-1], frame.positions
        before, count = run.positions[len(run.times) - 1], len(run.first.positions)
        past = trace_back(x, frame.velocities, frame.time - run.times[-1], before[:count])
        return np.concatenate((past, before[count:]))

    @property
    def steps(self) -> int:
        """Time steps in all frames that are done."""
        return sum(row.steps for row in self.rows)

    def sequence(self) -> Sequence | ChangingSequence:
        """The frames of everything, obstacles included."""
        runs = [self.setup.sequence(self.simulation, Run(*run)) for run in self._runs]
        return runs[0] if len(runs) == 1 else ChangingSequence(runs)


def require_free(simulation: Simulation, before: np.ndarray, after: np.ndarray, threads: int | None = None) -> None:
    """Test a step by queries that share nothing with the simulation.

    Pairs of features that belong to driven elements only are no part of the proof: an obstacle may pass through itself.
    Where contact inside of solids is left to itself, what is tested is their boundary. Pairs that a split has made are
    left out, until they have been apart.
    """
    mesh, fresh = simulation.mesh, simulation.fresh.pairs if isinstance(simulation, Solid) else no_fresh_pairs()
    found = ccd(mesh, before, after, threads=threads)
    left = int((_matter(mesh, simulation.free, found) & ~fresh.among(found)).sum())
    surface = mesh if isinstance(mesh, TriMesh) else mesh.surface()
    crossed = check(surface, after, threads=threads)
    matters = simulation.free[surface.faces[crossed.faces]].any(axis=(1, 2))
    left += int((matters & ~fresh.among_intersections(crossed, surface.faces)).sum())
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
