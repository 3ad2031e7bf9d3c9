"""Explicit time steps of a simulation: central differences, and what they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import cast

import numpy as np

from pliant.response.fresh import FreshPairs
from pliant.response.resolver import Resolver
from pliant.runtime.arrays import MeshError
from pliant.runtime.threads import ThreadPool
from pliant.simulate.driven import Driven
from pliant.simulate.frames import StepStats, StepTimes
from pliant.simulate.model import Model, inverse_mass_of
from pliant.simulate.solids.explicit import Elastic, Explicit, Moving, StepTooLongError, lengths
from pliant.simulate.solids.explicit_account import ExplicitAccount, Taken
from pliant.simulate.solids.meeting import Meeting, Met
from pliant.simulate.stepping import Made, State, Steps
from pliant.simulate.terms import Memory


class ExplicitStepper:
    """Makes steps of a model, as ``Stepper`` does.

    The memory of its states is that of the lasting terms, gradients at the end of the last step (of all terms, of the
    loads alone, of damping alone), and that of what it meets.
    """

    def __init__(self, model: Model, account: ExplicitAccount, meeting: Meeting, pool: ThreadPool) -> None:
        self.model, self._account, self._meeting = model, account, meeting
        self._driven, body = Driven(model.scene.groups, list(model.scene.names.values())), model.body
        inverse = inverse_mass_of(model.scene, body.mass)[: len(body.mass)]
        self._scheme = Explicit(cast(Sequence[Elastic], body.terms), inverse, pool, meet=self._meet)
        self._sums = _no_sums()
        self._met: Met | None = None
        self._ends = np.empty(0), np.empty(0)  # of the scene in this step: at its start, and as it is aimed at
        self._clock = 0.0

    @property
    def growing(self) -> frozenset[int]:
        """Which parts of the memory have any number of rows."""
        return frozenset((len(self.model.body.lasting) + 1,))

    def first(self) -> State:
        """Where the simulation starts, at rest."""
        body, scene = self.model.body, self.model.scene
        x, v = scene.x[: len(body.mass)].copy(), np.zeros((len(body.mass), 3))
        gradients = self._scheme.start(x, v).gradient, self._of_loads(x), np.zeros_like(x)
        memory = *(term.memory for term in body.lasting), gradients, self._meeting.memory
        return State(scene.x.copy(), v, 0.0, 0, np.ones(len(scene.groups)), memory, self._account.spent)

    @property
    def resolver(self) -> Resolver | None:
        return self._meeting.resolver

    def leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no contact from now on, and no others."""
        self._meeting.leave_out(fresh)

    def follow(self, before: Steps, state: State, plastic: tuple[Memory, ...]) -> State:
        """Go on with a solid that has changed: the state, whose memory is that of the stepper before, with this past of
        the terms."""
        assert isinstance(before, ExplicitStepper)
        body, x = self.model.body, np.ascontiguousarray(state.x[: len(state.v)])
        self._sums = before._sums
        for term, memory in zip(body.lasting, plastic):
            term.memory = memory
        for load in body.loads:
            load.at(state.time)
        gradients = self._scheme.start(x, state.v).gradient, self._of_loads(x), np.zeros_like(x)
        counts = len(before.model.body.mass), len(body.mass)
        self._meeting.follow(state.memory[len(before.model.body.lasting) + 1], counts)
        return state._replace(memory=(*plastic, gradients, self._meeting.memory))

    def pull_of_contact(self, start: State, end: State) -> np.ndarray:
        """(n, 3) N on each vertex in a step, by what is neither cells nor gravity."""
        mass, place = self.model.body.mass[:, None], len(self.model.body.lasting)
        gradient = 0.5 * (start.memory[place][0] + end.memory[place][0])
        return mass * ((end.v - start.v) / (end.time - start.time) - self.model.gravity) + gradient

    def lengths(self, now: Callable[[], State], seconds: float, goes_on: bool = False) -> Iterator[tuple[float, bool]]:
        """Of the steps of a frame, and whether each is the last one; now : the state before the next step; goes_on :
        whether it is a frame that another stepper has begun"""
        given = self.model.settings.step
        self._sums = self._sums if goes_on else _no_sums()
        step = None if isinstance(given, str) else given
        for length, _, is_last in lengths(lambda: self._stable(now()), seconds, step):
            yield length, is_last

    def begin(self, state: State, seconds: float) -> None:
        """One step of so many seconds follows, by itself."""
        self._sums, stable = _no_sums(), self._stable(state)
        if seconds > stable:
            raise StepTooLongError(seconds, stable)

    def steps(self, state: State, seconds: float, is_shown: bool = True) -> Iterator[Made]:
        """One step; without stats where it is not shown."""
        model, body, end, clock = self.model, self.model.body, state.time + seconds, perf_counter()
        n = len(body.mass)
        self._remember(state)
        for load in body.loads:
            load.at(end)
        gradient, of_loads, damped = state.memory[len(body.lasting)]
        aimed = state.x.copy()
        self._driven.aim(aimed, end, state.pace)
        self._ends, self._clock = (state.x, aimed), 0.0
        before = Moving(state.x[:n], state.v, gradient)
        after = self._scheme.step(
            before, seconds, body.mass[:, None] * model.gravity, lambda x: np.copyto(x, aimed[:n])
        )  # fmt: skip
        met, loads = self._met, self._of_loads(after.x)
        assert met is not None
        gradients = after.gradient, loads, self._scheme.damped
        stored = gradient - of_loads - damped, after.gradient - loads - self._scheme.damped
        ends = (before.x, after.x), (before.v, after.v), stored, (of_loads, loads), (damped, self._scheme.damped)
        spent = self._account.after(state.spent, Taken(seconds, *ends))
        pace = self._driven.next_pace(
            state.pace, np.array([met.shares.get(label, 1.0) for label in model.scene.names])
        )  # fmt: skip
        memory = *(term.memory for term in body.lasting), gradients, self._meeting.memory
        made = State(met.positions, after.v, end, state.steps + 1, pace, memory, spent)
        self._sums += (1, met.contacts, met.rounds, 0.0, 0.0)
        away = met.positions - aimed
        self._sums[3] = max(self._sums[3], float(np.sqrt(np.einsum("ij,ij->i", away, away).max(initial=0.0))))
        self._sums[4] = max(self._sums[4], met.deepest)
        times = StepTimes(0.0, perf_counter() - clock - self._clock, self._clock)
        if is_shown:
            yield self._shown(made, seconds, times)
        else:
            yield Made(made, None, times, np.empty(0))

    def _meet(self, x0: np.ndarray, x1: np.ndarray, seconds: float) -> np.ndarray:
        """Of the body; obstacles are where they are aimed at."""
        if not np.isfinite(x1).all():
            vertex = int(np.argmax(~np.isfinite(x1).all(axis=1)))
            raise MeshError(f"vertex {vertex} has been thrown out of all numbers: the simulation is not stable")
        clock, (start, aimed) = perf_counter(), self._ends
        aimed[: len(x1)] = x1
        self._met = self._meeting.meet(start, aimed, seconds)
        self._clock = perf_counter() - clock
        return self._met.positions[: len(x1)]

    def _shown(self, state: State, seconds: float, times: StepTimes) -> Made:
        x = np.ascontiguousarray(state.x[: len(state.v)])
        closed, left = self._account.close(x, state.v, state.spent), self._meeting.left(state.x)
        count, contacts, rounds, moved, deepest = self._sums.tolist()
        stats = StepStats(
            seconds, 0, 0, 0, int(contacts), int(rounds), moved, self._driven.lag(state.x, state.time),
            closed.energies, float(closed.stretch.max(initial=1.0)), closed.balance, closed.inverted, int(count),
            left.active, deepest, left.intersections,
        )  # fmt: skip
        return Made(state, stats, times, closed.stretch)

    def _stable(self, state: State) -> float:
        """s, the longest stable step."""
        self._remember(state)
        return self._meeting.part * self._scheme.stable_step(state.x[: len(state.v)])

    def _remember(self, state: State) -> None:
        lasting = self.model.body.lasting
        for term, memory in zip(lasting, state.memory):
            term.memory = memory
        for load in self.model.body.loads:
            load.at(state.time)
        self._meeting.memory = state.memory[len(lasting) + 1]

    def _of_loads(self, x: np.ndarray) -> np.ndarray:
        gradient = np.zeros_like(x)
        for load in self.model.body.loads:
            cast(Elastic, load).add_gradient(x, 1.0, gradient)
        return gradient


def _no_sums() -> np.ndarray:
    """Since the start of a frame: steps, contacts, rounds, and the largest displacement and depth."""
    return np.zeros(5)
