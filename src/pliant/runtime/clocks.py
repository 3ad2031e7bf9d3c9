"""How much of a limit of seconds is left."""

from __future__ import annotations

import time


class Clock:
    """Runs from when it is made.

    Parameters
    ----------
    seconds : float
        The limit.
    """

    def __init__(self, seconds: float) -> None:
        self._began, self._limit = time.perf_counter(), seconds
        self.ran_out: bool = False  # somebody stopped for it

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._began

    @property
    def is_over(self) -> bool:
        """The limit is reached; who asks stops then."""
        if self.elapsed >= self._limit:
            self.ran_out = True
        return self.ran_out
