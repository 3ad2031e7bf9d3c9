"""Simulations of solids that may break: at the end of a step they become others, with other cells and vertices."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.threads import ThreadPool
from pliant.simulate.checkpoints import read_checkpoint
from pliant.simulate.driven import Obstacle, Pin
from pliant.simulate.frames import Counts, Energies, Frame, StepStats, StepTimes, gravity_energy, kinetic_energy
from pliant.simulate.scene import Scene
from pliant.simulate.settings import Settings
from pliant.simulate.simulation import Simulation
from pliant.simulate.solids.building import Physics
from pliant.simulate.solids.changing.fresh import FreshSplits
from pliant.simulate.solids.changing.saving import NAMES, arrays_of, restored
from pliant.simulate.solids.changing.simulated import Broken, Changing, Moment, apart
from pliant.simulate.solids.schemes import Scheme, model_of, stepper_of
from pliant.simulate.stepping import State, Steps
from pliant.simulate.terms import Memory


class Setup(NamedTuple):
    """What a solid is set up with, beyond its cells; gravity : (3,) in units of length"""

    how: Scheme
    obstacles: list[Obstacle]
    pins: list[Pin]
    friction: float
    thickness: float
    gravity: np.ndarray
    settings: Settings
    pool: ThreadPool


class Breakable(Simulation):
    """What is the same for all that may break; ``Solid`` says what it is made of."""

    cells: VolumeMesh
    _physics: Physics
    _setup: Setup
    _changing: Changing | None = None
    _past: np.ndarray | None = None

    @property
    def fresh(self) -> FreshSplits:
        """Pairs of features that coincide because something split there and that have not been apart since: ``pairs``,
        which contact leaves out, and how many have been ``born`` and ``retired``."""
        return FreshSplits() if self._changing is None else self._changing.breaking.fresh

    @property
    def changes(self) -> Counts:
        """What has broken since the start."""
        return Counts() if self._changing is None else self._changing.breaking.counts

    # ---- a step

    def _advance(self, seconds: float) -> Frame:
        """Steps that make up so many seconds; after a change by another stepper, which has its own lengths."""
        goes_on = False
        while True:
            stepper, left = self._stepper, seconds
            for part, is_last in stepper.lengths(lambda: self._state, seconds, goes_on):
                frame = self._step_by(part, is_last or self._watch is not None)
                if is_last:
                    return frame
                left -= part
                if self._stepper is not stepper:
                    break
            seconds, goes_on = left, True

    def _step_by(self, seconds: float, is_shown: bool = True) -> Frame:
        self._past = None
        if self._changing is None:
            return super()._step_by(seconds, is_shown)
        kept, state = self._kept(), self._state
        try:
            frame = super()._step_by(seconds, is_shown)
            return self._broken(state, frame)
        except BaseException:
            self._be(kept)
            raise

    def _broken(self, start: State, frame: Frame) -> Frame:
        """The frame after what breaks at the end of a step that began at start."""
        changing, now, n = self._changing, self._state, len(self._state.v)
        assert changing is not None
        scene = self._stepper.model.scene
        force = self._stepper.pull_of_contact(start, now) if changing.needs_force else None
        moment = Moment(start.x[:n], now.x[:n], now.v, start.time, now.time, force, ~scene.free[:n])
        self._remember(now)
        broken = changing.at_end(moment, self._physics, self._setup.pool)
        before = None
        if broken is not None:
            before = self._energies()  # of what it was: nothing has changed so far but what changing knows
            self._become(broken.physics, (broken.x, broken.v), (broken.plastic,))
            self._past = np.concatenate((broken.past, start.x[n:]))
            self._part(broken)
        if changing.breaking.fresh.retire(self.cells, self._state.x[: len(self._state.v)]) or broken is not None:
            self._leave_out()
        stats = frame.stats
        if stats is not None:
            stats = dataclasses.replace(stats, fresh=len(self.fresh), changes=self.changes)
        if before is not None:
            after = self._energies()
            changing.made = changing.made._replace(gone=changing.made.gone + before.total - after.total)
            if stats is not None:
                energies = Energies(*(e + b - a for e, a, b in zip(stats.energies, before, after)))
                stats = dataclasses.replace(stats, energies=energies)
        if stats is not None and stats.balance is not None:
            stats = dataclasses.replace(stats, balance=stats.balance._replace(broken=changing.made.gone))
        return self._frame(stats, frame.times)

    def _part(self, broken: Broken) -> None:
        """Move what has just split a little apart, which is contact like any other on the way."""
        n = len(broken.x)
        held = ~self._stepper.model.scene.free[:n]
        x1 = self._state.x.copy()
        x1[:n] = apart(broken, held)
        if np.array_equal(x1, self._state.x):
            return
        self._leave_out()
        resolver = self._stepper.resolver
        if resolver is not None:
            x1 = np.array(resolver.resolve(self._state.x, x1).positions)
        x0 = self._state.x
        self._go_on(self._state._replace(x=x1), self._stepper)
        if self._watch is not None:
            self._watch(x0, self._frame(None, None))

    def _become(self, physics: Physics, now: tuple[np.ndarray, np.ndarray], memory: tuple[Any, ...]) -> None:
        """Go on with what the solid has become, at these positions and velocities."""
        setup, changing, state = self._setup, self._changing, self._state
        assert changing is not None
        made, (x, v), before = changing.made, now, self._stepper
        tested = setup.how.tested(made.mesh)
        scene = Scene.of(tested, made.rest, setup.obstacles, setup.pins, physics.mass, setup.friction)
        model = model_of(physics, (), scene, setup.thickness, setup.gravity, setup.settings)
        self._stepper = stepper_of(setup.how, model, physics, made.mesh, setup.pool)
        self._physics, self.cells = physics, made.mesh
        positions = np.concatenate((x, state.x[len(state.v) :]))
        self._go_on(state._replace(x=positions, v=v.copy()), before, memory)

    def _go_on(self, state: State, before: Steps, memory: tuple[Memory, ...] | None = None) -> None:
        """Be where a state says, of which the stepper before has the memory; memory : of the terms, if it is another"""
        count = len(self._physics.terms)
        self._state = self._stepper.follow(before, state, state.memory[:count] if memory is None else memory)

    def _leave_out(self) -> None:
        self._stepper.leave_out(self.fresh.pairs)

    def _remember(self, state: State) -> None:
        for term, memory in zip(self._physics.terms, state.memory):
            term.memory = memory

    def _energies(self) -> Energies:
        state, setup, mass = self._state, self._setup, self._stepper.model.body.mass
        self._remember(state)
        x, scale = np.ascontiguousarray(state.x[: len(mass)]), setup.settings.scale**-2
        elastic = sum(term.energies(x, 1.0)[0] - term.dissipated for term in self._physics.terms)
        fall = gravity_energy(mass, x, setup.gravity)
        return Energies(scale * kinetic_energy(mass, state.v), scale * elastic, 0.0, scale * fall)

    def _frame(self, stats: StepStats | None, times: StepTimes | None) -> Frame:
        frame = super()._frame(stats, times)
        mesh, changing = self._stepper.model.scene.mesh, self._changing
        if changing is None:
            return dataclasses.replace(frame, mesh=mesh)
        made = changing.made
        parent = np.concatenate((made.parent, changing.counts[1] + np.arange(len(frame.scene) - len(made.parent))))
        return dataclasses.replace(frame, mesh=mesh, parent=parent, origin=made.origin, past=self._past)

    # ---- what it goes back to

    def _kept(self) -> tuple[Any, ...]:
        changing = self._changing
        return self._state, self._stepper, self._physics, self.cells, None if changing is None else changing.kept()

    def _be(self, kept: tuple[Any, ...]) -> None:
        self._state, self._stepper, self._physics, self.cells, changing = kept
        if self._changing is not None:
            self._changing.be(changing)
            self._leave_out()

    def _arrays(self) -> dict[str, np.ndarray]:
        changed = {} if self._changing is None else arrays_of(self._changing, self._physics)
        return super()._arrays() | changed

    def _read(self, path: Any, budget: int | None) -> None:
        if self._changing is None:
            super()._read(path, budget)
            return
        kept = self._kept()
        try:
            physics = restored(self._changing, read_checkpoint(path, budget, NAMES), self._physics, self._setup.pool)
            memory = tuple(term.memory for term in physics.terms)
            rest = self._changing.made.rest
            self._become(physics, (rest, np.zeros_like(rest)), memory)
            super()._read(path, budget)
            self._leave_out()
        except BaseException:
            self._be(kept)
            raise
