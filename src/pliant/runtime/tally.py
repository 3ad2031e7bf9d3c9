"""What every stage did: counted by each thread for itself, merged into the result, never kept in globals."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple


class Stage(NamedTuple):
    """What one stage of the pipeline did, summed over all threads."""

    name: str
    pairs_in: int
    pairs_out: int
    seconds: float


class Tally:
    """Pairs in, pairs out and seconds of each stage, in the order in which stages first appear."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, int, float]] = {}
        self._began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._began

    def add(self, name: str, pairs_in: int, pairs_out: int, seconds: float) -> None:
        before = self._rows.get(name, (0, 0, 0.0))
        self._rows[name] = (before[0] + int(pairs_in), before[1] + int(pairs_out), before[2] + seconds)

    def pairs_of(self, name: str) -> tuple[int, int]:
        """Pairs in and out of a stage so far."""
        return self._rows.get(name, (0, 0, 0.0))[:2]

    def lap(self, name: str, since: float) -> float:
        """A stage without pairs, from then to now; returns now."""
        now = time.perf_counter()
        self.add(name, 0, 0, now - since)
        return now

    def merge(self, others: Iterable[Tally]) -> Tally:
        for other in others:
            for name, row in other._rows.items():
                self.add(name, *row)
        return self

    def stages(self) -> tuple[Stage, ...]:
        return tuple(Stage(name, *row) for name, row in self._rows.items())
