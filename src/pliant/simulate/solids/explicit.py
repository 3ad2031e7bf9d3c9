"""Central differences: steps so short that nothing has to be solved.

Velocities are half of a step ahead of positions while those move, and are given at the same time as they are: with
forces f at both ends, v' = v + h f(x) / 2m, x1 = x + h v', v1 = v' + h f(x1) / 2m. Momentum is what external forces
make it, to rounding, and so is angular momentum, since forces of elements neither push nor turn the whole; energy
oscillates about what it is by the square of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pliant.runtime.arrays import MeshError
from pliant.runtime.threads import ThreadPool
from pliant.simulate.solids.explicit_bounds import Stiff, longest_step

# Of the longest stable step. Elements get stiffer within some steps, where they are compressed; and where a front of
# plastic flow passes through cells, steps make energy, by the square of their length: of bars of steel and copper that
# hit a wall at 20 to 300 m/s, up to 1.5 % of what they had with 0.9, 0.9 with this, 0.4 with 0.45.
SAFETY = 0.65
_CHECKED = 64  # steps after which the longest one is computed again: it takes as long as some ten of them


class StepTooLongError(MeshError):
    """A step that central differences are not stable in.

    stable : s, the longest one that is proved to be
    """

    def __init__(self, seconds: float, stable: float) -> None:
        super().__init__(
            f"a step of {seconds:.4g} s is too long for the explicit scheme: it is stable up to {stable:.4g} s"
        )
        self.stable = stable


class Elastic(Stiff, Protocol):
    """A term of the explicit scheme: forces without a Hessian."""

    def begin(self, x: np.ndarray) -> None: ...

    def add_gradient(self, x: np.ndarray, step: float, gradient: np.ndarray) -> None:
        """Add the gradient of its energy at x, (n, 3), at the end of a step of so many seconds."""
        ...

    def accept(self, x: np.ndarray) -> None: ...


class Moving(NamedTuple):
    """Where a body is: x, v, (n, 3); gradient, (n, 3), of all terms at x."""

    x: np.ndarray
    v: np.ndarray
    gradient: np.ndarray


# Positions at the end of a step, from those at its start, those proposed, and its seconds: free of contact, say.
Meet = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


class Explicit:
    """Central differences of terms.

    Parameters
    ----------
    terms : sequence of Elastic
    inverse_mass : (n,) float64
        1/kg; 0 of vertices that are driven, and of those that take no part.
    pool : ThreadPool
    drag : float
        1/s: what moves loses this part of its speed in a second, if nothing else acts.
    meet : callable, optional
        Called in every step, with positions at its start, those that it would end at, and its length: positions that it
        ends at. What they differ by is made up for in velocities, as by impacts.
    """

    def __init__(
        self, terms: Sequence[Elastic], inverse_mass: np.ndarray, pool: ThreadPool, *, drag: float = 0.0,
        meet: Meet | None = None,
    ) -> None:  # fmt: skip
        self._terms, self._inverse, self._pool = tuple(terms), inverse_mass[:, None], pool
        self._drag, self._meet = drag, meet
        self.damped = np.empty(0)  # (n, 3), the part of damping in the last gradient

    def stable_step(self, x: np.ndarray) -> float:
        """Seconds up to which steps are stable at x, (n, 3): a bound that is proved for small vibrations about x."""
        return longest_step(self._terms, self._inverse[:, 0], x, self._pool)

    def start(self, x: np.ndarray, v: np.ndarray) -> Moving:
        """At rest as it was so far: damping resists to nothing at the very start."""
        gradient = np.zeros_like(x)
        for term in self._terms:
            term.begin(x)
            term.add_gradient(x, np.inf, gradient)
        return Moving(x, v, gradient)

    def steps(
        self, at: Moving, seconds: float, push: np.ndarray, *, path: Callable[[float, np.ndarray], None] | None = None,
        step: float | None = None,
    ) -> Iterator[tuple[float, Moving]]:  # fmt: skip
        """Equal steps that make up so many seconds, or more of them where elements have become stiffer on the way.

        Parameters
        ----------
        at : Moving
        seconds : float
        push : (n, 3) float64
            N, external forces, the same in all of these steps.
        path : callable, optional
            ``path(time, x)`` writes where driven vertices are, so many seconds after the start, into x.
        step : float, optional
            Length of the steps, at most; 0.65 of the longest stable one where none is given.

        Yields
        ------
        float, Moving
            Seconds since the start, and where everything is, after each step.

        Raises
        ------
        StepTooLongError
            Where the given step is longer than a stable one, at the start or after every 64 steps.
        """
        for length, time, _ in lengths(lambda: self.stable_step(at.x), seconds, step):  # noqa: B023, of where it is
            at = self.step(at, length, push, None if path is None else lambda x, t=time: path(t, x))
            yield time, at

    def step(
        self, at: Moving, seconds: float, push: np.ndarray, drive: Callable[[np.ndarray], None] | None = None
    ) -> Moving:
        """One step, whose length is not examined; drive writes where driven vertices end into positions, (n, 3)."""
        half = at.v + 0.5 * seconds * (self._inverse * (push - at.gradient) - self._drag * at.v)
        x1 = at.x + seconds * half
        fixed = self._inverse[:, 0] == 0.0
        x1[fixed] = at.x[fixed]
        if drive is not None:
            goal = x1.copy()
            drive(goal)
            x1[fixed] = goal[fixed]
        half[fixed] = (x1[fixed] - at.x[fixed]) / seconds
        if self._meet is not None:
            met = self._meet(at.x, x1, seconds)
            half += (met - x1) / seconds
            x1 = met
        gradient, self.damped = np.zeros_like(x1), np.zeros_like(x1)
        for term in self._terms:
            term.begin(at.x)
            if term.damping > 0.0:
                both, elastic = np.zeros_like(x1), np.zeros_like(x1)
                term.add_gradient(x1, seconds, both)
                term.add_gradient(x1, np.inf, elastic)
                gradient += both
                self.damped += both - elastic
            else:
                term.add_gradient(x1, seconds, gradient)
            term.accept(x1)
        v1 = half + 0.5 * seconds * self._inverse * (push - gradient)
        v1[~fixed] /= 1.0 + 0.5 * seconds * self._drag
        return Moving(x1, v1, gradient)


def lengths(stable: Callable[[], float], seconds: float, step: float | None) -> Iterator[tuple[float, float, bool]]:
    """Equal steps that make up so many seconds; what is stable is asked for again after some of them.

    stable : s, the longest stable step where everything is when the next length is asked for
    step : s, of the steps, at most; 0.65 of the longest stable one where none is given

    Yields
    ------
    float, float, bool
        Length of a step, seconds from the start to its end, and whether it is the last one.
    """
    time, is_done = 0.0, False
    while not is_done:
        longest = stable()
        if step is not None and step > longest:
            raise StepTooLongError(step, longest)
        most = SAFETY * longest if step is None else step
        count = max(1, int(np.ceil((seconds - time) / most * (1.0 - 1e-12))))
        length, first = (seconds - time) / count, time
        is_done = count <= _CHECKED
        for k in range(min(count, _CHECKED)):
            time = first + (k + 1) * length
            yield length, time, is_done and k == count - 1
