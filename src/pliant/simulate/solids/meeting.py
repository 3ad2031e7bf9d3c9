"""What an explicit step meets on its way: contact resolved, or answered with impact forces."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pliant.response.driven import PinchedError
from pliant.response.fresh import FreshPairs
from pliant.response.resolver import Resolver
from pliant.simulate.solids.penalty import STIFFNESS, Penalty
from pliant.simulate.terms import Memory


class Met(NamedTuple):
    """Where a step ends, and what it met.

    positions : (N, 3); contacts, rounds : pairs that pushed, and rounds of the resolver
    shares : of what is driven, by its label, how much of its motion it has made, where that is not all
    deepest : units of length, the largest depth of a pair before it was pushed
    """

    positions: np.ndarray
    contacts: int
    rounds: int
    shares: dict[int, float]
    deepest: float = 0.0


class Left(NamedTuple):
    """What a contact leaves at the end of a step: pairs of boundary faces that intersect, and pairs that push."""

    intersections: int = 0
    active: int = 0


class Meeting(Protocol):
    """Contact of explicit steps.

    memory : its past, arrays with any number of rows
    resolver : that frees motions of contact; None where forces push apart
    part : of the longest step that is stable without contact, up to which steps with it are
    """

    part: float
    resolver: Resolver | None

    @property
    def memory(self) -> Memory: ...

    @memory.setter
    def memory(self, memory: Memory) -> None: ...

    def meet(self, x0: np.ndarray, x1: np.ndarray, seconds: float) -> Met: ...

    def left(self, x: np.ndarray) -> Left:
        """At x, (N, 3), where a step has ended."""
        ...

    def leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no contact from now on, and no others."""
        ...

    def follow(self, before: Memory, changed: tuple[int, int]) -> None:
        """Go on with a past of another mesh, whose body had and now has so many vertices, obstacles after them."""
        ...


class Resolved:
    """Every step ends free of contact. names : of what is driven, by its label"""

    part = 1.0

    def __init__(self, resolver: Resolver, names: dict[int, str]) -> None:
        self.memory: Memory = ()
        self.resolver: Resolver | None = resolver
        self._resolver, self._names = resolver, names

    def meet(self, x0: np.ndarray, x1: np.ndarray, seconds: float) -> Met:
        try:
            resolved = self._resolver.resolve(x0, x1)
        except PinchedError as error:
            raise PinchedError(error.objects, error.shares, self._names) from None
        shares = dict(zip(np.asarray(resolved.driven_objects).tolist(), np.asarray(resolved.shares).tolist()))
        return Met(np.array(resolved.positions), len(resolved.contacts), resolved.rounds, shares)

    def left(self, x: np.ndarray) -> Left:
        """Nothing: that is what resolving is for."""
        return Left()

    def leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no contact from now on, and no others."""
        self._resolver._leave_out(fresh)

    def follow(self, before: Memory, changed: tuple[int, int]) -> None:
        """It has no past."""


class Penalised:
    """Impact forces push apart what is past each other; what remains is counted."""

    # A spring that undoes a part k of a depth in a step, and one with the frequency w: stable while (w h)^2 + k < 4.
    # With damping c, while (w h)^2 + 2 c h + k < 4: this part of the longest step is short enough, whichever it is.
    part = 1.0 - 0.25 * STIFFNESS

    def __init__(self, penalty: Penalty) -> None:
        self._penalty = penalty
        self.resolver: Resolver | None = None

    @property
    def memory(self) -> Memory:
        return self._penalty.memory

    @memory.setter
    def memory(self, memory: Memory) -> None:
        self._penalty.memory = memory

    def meet(self, x0: np.ndarray, x1: np.ndarray, seconds: float) -> Met:
        positions = self._penalty.meet(x0, x1, seconds)
        impact = self._penalty.impact
        assert impact is not None
        return Met(positions, impact.contacts, 0, {}, impact.deepest)

    def left(self, x: np.ndarray) -> Left:
        remaining = self._penalty.remaining(x)
        return Left(remaining.intersections, remaining.active)

    def leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no contact from now on, and no others."""
        self._penalty.fresh = fresh

    def follow(self, before: Memory, changed: tuple[int, int]) -> None:
        """Pairs whose features are gone are forgotten."""
        self._penalty.follow(before, changed)
