"""One time step: what is near, a proposal by implicit integration, and its end made free of contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np

from pliant.response.driven import PinchedError
from pliant.response.fresh import FreshPairs
from pliant.response.resolver import Resolver
from pliant.results.resolved import Resolved
from pliant.runtime.threads import ThreadPool
from pliant.simulate.accounts import Account, Ended
from pliant.simulate.air import Air
from pliant.simulate.contacts import impact_links, near_links
from pliant.simulate.driven import Driven
from pliant.simulate.frames import StepStats, StepTimes, kinetic_energy
from pliant.simulate.links import Links, joined, no_links
from pliant.simulate.model import Model
from pliant.simulate.newton import Minimiser, Outcome, Step, Tolerances
from pliant.simulate.pacing import next_step
from pliant.simulate.settings import GRAVITY
from pliant.simulate.terms import Memory

# What the resolver moves further than this part of the mean edge, or what gains more than this part of the kinetic
# energy in elastic energy by it, is solved again with its contacts. Without the second, small scraps that met gained up
# to a quarter of their energy in a step: one corner was pushed back by a tenth of an edge.
IMPACT, STRAINED = 0.1, 0.01
SLIGHT = 0.01  # of the mean edge: what is moved less strains nothing
MOST_LINEAR = 2000  # iterations of the linear solver
# What is looked for in the way, in motions by inertia. Rows let a pair use up half of its gap in a step, and inertia
# takes the other half in the next one: such motions end exactly in contact, which only integers decide (their kernels
# take 2.4 s to compile). A little further they go through it.
AHEAD = 1.0 + 2.0**-20
_HALVINGS = 4  # of a time step that Newton's method does not come to an end in


class State(NamedTuple):
    """Where a simulation is: with it, it goes on with the same bits.

    x : (N, 3) positions, obstacles after the n vertices of the body; v : (n, 3) velocities; time : s
    steps : so far; pace : (groups,) of what is driven, see ``Driven``
    memory : of the lasting terms of the body, in their order; spent : of the account, see ``Account``
    """

    x: np.ndarray
    v: np.ndarray
    time: float
    steps: int
    pace: np.ndarray
    memory: tuple[Memory, ...]
    spent: np.ndarray


class Made(NamedTuple):
    """A step that is done; stats : None where nobody asks; stretch : (m,) of the elements, 1 at rest, with them"""

    state: State
    stats: StepStats | None
    times: StepTimes
    stretch: np.ndarray


class Steps(Protocol):
    """What makes time steps: a ``Stepper``, or one that has its methods."""

    model: Model

    @property
    def growing(self) -> frozenset[int]: ...

    @property
    def resolver(self) -> Resolver | None: ...

    def first(self) -> State: ...

    def lengths(
        self, now: Callable[[], State], seconds: float, goes_on: bool = False
    ) -> Iterator[tuple[float, bool]]: ...

    def begin(self, state: State, seconds: float) -> None: ...

    def steps(self, state: State, seconds: float, is_shown: bool = True) -> Iterator[Made]: ...

    def leave_out(self, fresh: FreshPairs) -> None: ...

    def follow(self, before: Steps, state: State, plastic: tuple[Memory, ...]) -> State: ...

    def pull_of_contact(self, start: State, end: State) -> np.ndarray: ...


class Stepper:
    """Makes steps of a model; keeps memory between them, and nothing that they depend on: terms with a past have that
    of the state.

    growing : which parts of the memory of a state have any number of rows
    air : drag
    wind : a function of the time, (3,) or (n, 3)
    account : what it says of the end of a step
    """

    def __init__(
        self, model: Model, air: tuple[Air, Callable[[float], np.ndarray]], account: Account, resolver: Resolver,
        pool: ThreadPool,
    ) -> None:  # fmt: skip
        self.model, self.resolver, self.account = model, resolver, account
        self.growing: frozenset[int] = frozenset()
        self._air, self._wind = air
        self._minimiser = Minimiser(model.body, pool)
        self._driven = Driven(model.scene.groups, list(model.scene.names.values()))

    def first(self) -> State:
        """Everything at rest, where the simulation starts."""
        model = self.model
        return State(
            model.scene.x.copy(), np.zeros((len(model.body.mass), 3)), 0.0, 0, np.ones(len(model.scene.groups)),
            tuple(term.memory for term in model.body.lasting), self.account.spent,
        )  # fmt: skip

    def leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no contact from now on, and no others."""
        self.resolver._leave_out(fresh)

    def follow(self, before: Steps, state: State, plastic: tuple[Memory, ...]) -> State:
        """Go on with a solid that has changed: the state, with this past of the terms."""
        return state._replace(memory=plastic)

    def pull_of_contact(self, start: State, end: State) -> np.ndarray:
        """(n, 3) N on each vertex in a step, by what is neither cells nor gravity."""
        body, seconds = self.model.body, end.time - start.time
        mass, n = body.mass[:, None], len(body.mass)
        gradient, x0, x1 = np.zeros((n, 3)), *(np.ascontiguousarray(one.x[:n]) for one in (start, end))
        for term, memory in zip(body.lasting, start.memory):
            term.memory = memory
        for term in body.terms:
            term.begin(x0)
            term.energies(x1, seconds)
            term.add(gradient, np.empty((0, 12)))
        return mass * ((end.v - start.v) / seconds - self.model.gravity) + gradient

    def lengths(self, now: Callable[[], State], seconds: float, goes_on: bool = False) -> Iterator[tuple[float, bool]]:
        """Of the steps of a frame, and whether each is the last one; now : the state before the next step; goes_on :
        whether it is a frame that another stepper has begun. They depend on nothing else, so that a simulation that is
        restored takes the same ones."""
        model, part = self.model, 0.0
        while part < seconds:
            seconds -= part
            part = next_step(seconds, model.settings.step, now().v, model.gravity, model.edge)
            yield part, part >= seconds

    def begin(self, state: State, seconds: float) -> None:
        """One step of so many seconds follows, by itself: it may be of any length."""

    def steps(self, state: State, seconds: float, is_shown: bool = True) -> Iterator[Made]:
        """One step, or parts of it, where Newton's method does not come to an end; all with stats."""
        return self._parts(state, seconds, 0)

    def _parts(self, state: State, seconds: float, depth: int) -> Iterator[Made]:
        made = self._made(state, seconds, depth < _HALVINGS)
        if made is not None:
            yield made
            return
        for _ in range(2):
            for part in self._parts(state, 0.5 * seconds, depth + 1):
                state = part.state
                yield part

    def _made(self, state: State, seconds: float, may_fail: bool) -> Made | None:
        """None where a shorter step is needed."""
        model, x0, v, end = self.model, state.x, state.v, state.time + seconds
        n, clock = len(v), [perf_counter()]
        for load in model.body.loads:
            load.at(end)
        for term, memory in zip(model.body.lasting, state.memory):
            term.memory = memory
        x1 = x0.copy()
        self._driven.aim(x1, end, state.pace)
        movable = model.scene.free[:n]
        x1[:n][movable] += seconds * v[movable]
        near = self.resolver.near(x0)
        links = [model.joints, near_links(near, model.rubbing), self._in_the_way(x0, x1)]
        clock.append(perf_counter())
        aim = x0[:n] + seconds * v + seconds**2 * model.gravity
        self._air.blow(x0[:n], v, self._wind(state.time))
        outcome = self._solve(state, aim, links, seconds, x1)
        used = outcome.links
        if may_fail and not outcome.is_solved and outcome.moved > model.edge:
            return None
        clock.append(perf_counter())
        resolved = self._resolve(x0, x1)
        if len(resolved.contacts) and self._is_impact(state, x1, resolved):
            x1[:n] = resolved.positions[:n]
            links = [*links, impact_links(resolved.contacts, model.rubbing, x0)]
            again = self._solve(state, aim, links, seconds, x1)
            # Where it diverges, what was resolved before is free, and nearer to any solution.
            if again.is_solved or again.moved <= model.edge:
                second = self._resolve(x0, x1)
                if self._is_better(resolved, second, n):
                    resolved, used = second, again.links
            outcome = _both(outcome, again)
        clock.append(perf_counter())
        ended = Ended(seconds, x0, v, resolved, (resolved.positions[:n] - x0[:n]) / seconds, used, state.spent)
        return self._made_of(ended, state, (len(near), outcome), StepTimes(*np.diff(clock).tolist()))

    def _is_impact(self, state: State, x1: np.ndarray, resolved: Resolved) -> bool:
        """Whether the resolver changed the proposal x1 so much that it is to be solved again."""
        n, model = len(state.v), self.model
        moved = _largest(resolved.displacement[:n])
        if moved > IMPACT * model.edge or moved <= SLIGHT * model.edge:
            return moved > IMPACT * model.edge
        before, after = (model.body.elastic(x[:n]) for x in (x1, resolved.positions))
        return after - before > STRAINED * kinetic_energy(model.body.mass, state.v)

    def _is_better(self, one: Resolved, two: Resolved, n: int) -> bool:
        """Whether the second of two free ends is: unless the resolver moved it further and strained it more."""
        moved = [_largest(end.displacement[:n]) for end in (one, two)]
        if moved[1] <= max(moved[0], SLIGHT * self.model.edge):
            return True
        elastic = self.model.body.elastic
        return elastic(two.positions[:n]) <= elastic(one.positions[:n])

    def _in_the_way(self, x0: np.ndarray, x1: np.ndarray) -> Links:
        """Of what the body would run into by inertia, where it is fast: what is near is not all that it meets.

        Without them, steps of cloth that falls onto a ball were solved and resolved only to learn what they run into,
        and once more with that: at 100,000 triangles 7.1 Newton steps and 1.4 s each, with them 4.6 and 0.98.
        """
        model = self.model
        if _largest((x1 - x0)[: len(model.body.mass)]) <= model.rubbing.thickness:
            return no_links()
        found = self.resolver.contacts(x0, x0 + AHEAD * (x1 - x0))
        return no_links() if found is None else impact_links(found, model.rubbing, x0)

    def _solve(self, state: State, aim: np.ndarray, links: list[Links], seconds: float, x: np.ndarray) -> Outcome:
        model, settings, effort, n = self.model, self.model.settings, self.model.effort, len(aim)
        step = Step(
            seconds, state.x, aim, joined(links), settings.slip_speed * settings.scale * seconds,
            model.scene.free[:n].copy(),
        )  # fmt: skip
        mass, fall = float(model.body.mass.sum()), GRAVITY * settings.scale * seconds
        # Less than a fall of one step brings; and what hardly moves comes to rest, since little is wrong with it.
        speed = np.sqrt(2.0 * kinetic_energy(model.body.mass, state.v) / mass)
        speed = min(effort.tolerance * model.edge / seconds, 0.5 * fall, 0.2 * speed + 0.02 * fall)
        gain = mass * speed**2
        tolerances = Tolerances(int(effort.newton), model.edge, gain, effort.linear_tolerance, MOST_LINEAR)
        return self._minimiser.solve(step, self._air, tolerances, x)

    def _resolve(self, x0: np.ndarray, x1: np.ndarray) -> Resolved:
        try:
            return self.resolver.resolve(x0, x1)
        except PinchedError as error:
            raise PinchedError(error.objects, error.shares, self.model.scene.names) from None

    def _made_of(self, ended: Ended, state: State, found: tuple[int, Outcome], times: StepTimes) -> Made:
        n, (near, outcome), resolved = len(state.v), found, ended.resolved
        x, end = np.array(resolved.positions), state.time + ended.seconds
        shares = dict(zip(np.asarray(resolved.driven_objects).tolist(), np.asarray(resolved.shares).tolist()))
        pace = self._driven.next_pace(
            state.pace, np.array([shares.get(label, 1.0) for label in self.model.scene.names])
        )
        closed = self.account.close(ended)
        for term in self.model.body.lasting:
            term.accept(x[:n])
        stats = StepStats(
            ended.seconds, outcome.newton, outcome.linear, near, len(resolved.contacts), resolved.rounds,
            _largest(resolved.displacement[:n]), self._driven.lag(x, end), closed.energies,
            float(closed.stretch.max(initial=1.0)), closed.balance, closed.inverted,
        )  # fmt: skip
        memory = tuple(term.memory for term in self.model.body.lasting)
        after = State(x, ended.v, end, state.steps + 1, pace, memory, closed.spent)
        return Made(after, stats, times, closed.stretch)


def _largest(vectors: np.ndarray) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))


def _both(one: Outcome, two: Outcome) -> Outcome:
    return Outcome(one.newton + two.newton, one.linear + two.linear, two.moved, two.is_solved, two.links)
