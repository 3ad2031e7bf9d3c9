"""One window, solved: plans one after the other, each brought back, and the best of what they reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.clocks import Clock
from pliant.untangling.judging import Limits, areas, within_limits
from pliant.untangling.lifting import Whole
from pliant.untangling.parting import parted
from pliant.untangling.plans import Reached, by_fairing, by_regions
from pliant.untangling.returning import FAR, NEAR, Manner, brought_back
from pliant.untangling.sides import wrong_side
from pliant.untangling.window import Window

FAIRING, REGIONS, BOTH, PARTED = "fairing", "regions", "fairing before regions", "objects parted before regions"
NEAR_ENOUGH = 1.5  # sizes: no vertex moved further, so no other plan is tried
MOST_AREA = 0.1  # change of the whole area of a window, as a share of it: what is beyond does not count


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
    best = given = Outcome(window.x, window.count(window.x), _wrong(window, whole, window.x), 0.0, "as given")
    if not areas(window.mesh._faces, window.x).any():  # of what is all in a point or a line nothing can be told
        return given
    partial, tangled_least = None, given.pairs
    faired = window.x
    for plan in (FAIRING, REGIONS, BOTH, PARTED):
        if clock.is_over or (best.pairs == 0 and (_is_good(best) or plan in (BOTH, PARTED))):
            break
        reached = _reached(plan, window, whole, limits, clock, faired)
        if reached is None:
            continue
        if plan == FAIRING:
            faired = reached.x
        if reached.pairs:  # brought back only where nothing else is left: that takes longest of all
            if reached.pairs < tangled_least:
                partial, tangled_least = (reached, plan), reached.pairs
            continue
        best = _better(best, _tried(window, whole, limits, reached, plan, clock), given)
    if best.pairs and partial is not None:
        best = _better(best, _tried(window, whole, limits, *partial, clock), given)
    return best


def _reached(
    plan: str, window: Window, whole: Whole, limits: Limits, clock: Clock, faired: np.ndarray
) -> Reached | None:
    """What a plan comes to; None where it has nothing to do."""
    if plan == FAIRING:
        return by_fairing(window, whole, clock)
    if plan != PARTED:
        return by_regions(window, whole, clock, faired if plan == BOTH else window.x)
    start = parted(window, window.x, limits.max_move, clock)
    return None if np.array_equal(start, window.x) else by_regions(window, whole, clock, start)


def _is_good(outcome: Outcome) -> bool:
    """No other plan needs to be tried."""
    return outcome.pairs == 0 and outcome.wrong == 0 and outcome.moved <= NEAR_ENOUGH


def _better(best: Outcome, outcome: Outcome | None, given: Outcome) -> Outcome:
    """Of two; what is no better than what was given does not count."""
    if outcome is None or outcome.pairs >= given.pairs or outcome.rank >= best.rank:
        return best
    return outcome


def _tried(window: Window, whole: Whole, limits: Limits, reached: Reached, plan: str, clock: Clock) -> Outcome | None:
    """What a plan reached, brought back, without what is beyond the limits; None where nothing is left of it."""
    if np.array_equal(reached.x, window.x):
        return None
    faces, found = window.mesh._faces, []
    for bounded in (False, True):  # bounded, a way is longer, and ends further away
        back = _back(window, limits, reached, clock, bounded)
        x = within_limits(faces, window.x, back, limits)
        if keeps_area(faces, window.x, x):
            moved = float((np.linalg.norm(x - window.x, axis=1) / window.size).max(initial=0.0))
            found.append(Outcome(x, window.count(x), _wrong(window, whole, x), moved, plan))
        if np.array_equal(x, back) or clock.is_over:
            break
    return min(found, key=lambda one: one.rank, default=None)


def _back(window: Window, limits: Limits, reached: Reached, clock: Clock, bounded: bool) -> np.ndarray:
    """What was reached, brought back; bounded: no step takes a face beyond the limits."""
    is_free, back = reached.pairs == 0, reached.x
    for near in (NEAR, FAR, np.inf):  # what is further away is not looked at on the way
        back = brought_back(window, reached.x, limits, clock, Manner(not is_free, bounded, near))
        if not is_free or clock.is_over or not window.count(back):
            break
    # Shrunk on the way back: better further away than that.
    return back if not is_free or keeps_area(window.mesh._faces, window.x, back) else reached.x


def keeps_area(faces: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    """The whole area is much the same."""
    given = float(areas(faces, before).sum())
    return abs(float(areas(faces, after).sum()) - given) <= MOST_AREA * given


def _wrong(window: Window, whole: Whole, x: np.ndarray) -> int:
    if not whole.enclosures:
        return 0
    found = wrong_side(whole.enclosures, whole.around(window, x), window.threads)
    return 0 if found is None else len(found)
