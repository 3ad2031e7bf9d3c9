"""How much of a limit of seconds is left."""

from __future__ import annotations

import time

from pliant.runtime import jit  # not from it: whoever does is taken for a module with kernels, with all it imports


class Clock:
    """Runs from when it is made, but not while kernels are compiled: a first use is no other than the next one.

    Parameters
    ----------
    seconds : float
        The limit.
    """

    def __init__(self, seconds: float) -> None:
        self._began, self._limit = self._now, seconds
        self.ran_out: bool = False  # somebody stopped for it

    @property
    def _now(self) -> float:
        return time.perf_counter() - jit.COMPILING.seconds

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return self._now - self._began

    @property
    def is_over(self) -> bool:
        """The limit is reached; who asks stops then."""
        if self.elapsed >= self._limit:
            self.ran_out = True
        return self.ran_out
