"""One window, solved: plans one after the other, each brought back, and the best of what they reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.clocks import Clock
from pliant.untangling.judging import Limits, beyond
from pliant.untangling.lifting import Whole
from pliant.untangling.plans import Reached, by_fairing, by_regions
from pliant.untangling.returning import bring_back
from pliant.untangling.sides import wrong_side
from pliant.untangling.window import Window, part_around

PLANS = {"fairing": by_fairing, "regions": by_regions}
NEAR_ENOUGH = 1.5  # sizes: no vertex moved further, so no other plan is tried


class Outcome(NamedTuple):
    """What a plan came to.

    x : (n, 3) positions of the window
    pairs : that intersect, of those that can be moved
    wrong : vertices on the wrong side
    moved : the furthest, in sizes of the vertices
    plan : its name
    """

    x: np.ndarray
    pairs: int
    wrong: int
    moved: float
    plan: str

    @property
    def rank(self) -> tuple[bool, int, int, float]:
        """The smaller the better."""
        return self.pairs > 0, self.wrong, self.pairs, self.moved


def solve(window: Window, whole: Whole, limits: Limits, clock: Clock) -> Outcome:
    """The best of all plans, and what was given where none is better."""
    given = Outcome(window.x, window.count(window.x), _wrong(window, whole, window.x), 0.0, "as given")
    best = given
    for name, plan in PLANS.items():
        if clock.is_over:
            break
        outcome = _tried(window, whole, limits, plan(window, whole, clock), name, clock)
        if outcome is not None and outcome.pairs < given.pairs and outcome.rank < best.rank:
            best = outcome
        if best.pairs == 0 and best.wrong == 0 and best.moved <= NEAR_ENOUGH:
            break
    return best


def _tried(window: Window, whole: Whole, limits: Limits, reached: Reached, plan: str, clock: Clock) -> Outcome | None:
    """What a plan reached, brought back, without what is beyond the limits; None where nothing is left of it."""
    if np.array_equal(reached.x, window.x):
        return None
    part, rows = part_around(window, reached.x)
    x = reached.x.copy()
    x[rows] = bring_back(part, reached.x[rows], clock, keeps=reached.pairs > 0)
    bad = beyond(window.mesh._faces, window.edges, window.x, x, limits)
    if bad.any():
        x = np.where(bad[:, None], window.x, x)
    pairs = window.count(x)
    moved = float((np.linalg.norm(x - window.x, axis=1) / window.size).max(initial=0.0))
    return Outcome(x, pairs, _wrong(window, whole, x), moved, plan)


def _wrong(window: Window, whole: Whole, x: np.ndarray) -> int:
    if not whole.enclosures:
        return 0
    found = wrong_side(whole.enclosures, whole.around(window, x), window.threads)
    return 0 if found is None else len(found)
