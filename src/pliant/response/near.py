"""What is near at the start of a step, and never so much that it takes longer than the step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.engine.wanted import TooManyContacts, Wanted
from pliant.queries.detector import Detector
from pliant.response.fresh import FreshFeatures
from pliant.results.proximity import Proximity
from pliant.runtime.threads import Progress, ThreadPool

MOST_NEAR = 64  # pairs for each edge and face: within an edge there are some 20
HALVINGS = 64


class Near(NamedTuple):
    """Pairs of features near each other at x.

    asked : distance that was wanted
    within : that was searched, not more
    """

    x: np.ndarray
    asked: float
    within: float
    found: Proximity


class NearSearch:
    """Searches for what is near; where that is nearly everything, within less."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.fresh: FreshFeatures | None = None  # pairs that are left out
        features = detector._tested.features
        self._most = 1_000 + MOST_NEAR * (len(features.edges) + len(features.faces))

    def within(self, x: np.ndarray, distance: float, progress: Progress | bool | None) -> Near:
        """The pairs within a distance at x, (n, 3)."""
        self._detector._require_rows(len(x), "x")
        asked, threads = distance, self._detector._threads
        for _ in range(HALVINGS):
            try:  # twice: that ``few`` decides by distances in the table, which are rounded, makes no difference then
                wanted = Wanted(None, 2 * self._most, threads, self.fresh)
                found = self._detector._near(x, distance, ThreadPool(threads, progress), wanted)
                return Near(x.copy(), asked, distance, found)
            except TooManyContacts:
                distance *= 0.5
        wanted = Wanted(None, None, threads, self.fresh)
        return Near(x.copy(), asked, 0.0, self._detector._near(x, 0.0, ThreadPool(threads, progress), wanted))

    def few(self, near: Near, distance: float) -> tuple[Proximity, float]:
        """Not too many of them, and within which distance: the given one, or half of it, and so on."""
        found = near.found
        for _ in range(HALVINGS):
            if distance <= near.within and np.count_nonzero(found.distance <= distance) <= self._most:
                return found, distance
            distance *= 0.5
        return found[:0], 0.0
