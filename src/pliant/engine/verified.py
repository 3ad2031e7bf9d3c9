"""Positions that stay clear of the first contact after rounding."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from pliant.elementary.advance import advance_pairs
from pliant.elementary.certified import MISS
from pliant.elementary.exact import decide, quads_of
from pliant.elementary.paths import STRAIGHT, positions_at, resting
from pliant.elementary.small import BACK, go_on_to
from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Scene, fit
from pliant.engine.sinks import AllContacts, Near
from pliant.engine.travel import Travel, shortened
from pliant.engine.walk import walk
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

# Positions stay back by a part of the step, BACK, and what meets nevertheless by so many times as much in each round:
# the sixth takes it back to x0. Each round looks at all pairs of what was drawn back, so that few are better than many.
_FURTHER = 64.0
# What was drawn back can be in the way of others. Six rounds for each in a row of some that push each other are enough;
# whoever needs more stays at x0 as a whole.
_ROUNDS = 60


# Of a shorter motion and the vertices that were drawn back, (n,) bool: how many pairs were examined, and (k, 4)
# vertices of the pairs of features that meet.
Meeting = Callable[[Travel, np.ndarray], tuple[int, np.ndarray]]


def verified_positions(travel: Travel, vertices: np.ndarray, t: float, meeting: Meeting, tally: Tally) -> np.ndarray:
    """Positions just before x0 + t (x1 - x0) such that the motion from x0 to them is free of contact after rounding.

    Rounding moves each vertex by an ulp, which can close the gap that is left a moment before the contact, or that of
    features which move along with each other at a distance of some ulps. So step back a little and look whether the
    rounded motion is free. At first only near pairs have to be examined. What is not near has been proved apart for
    all positions that are off by at most POSITION_ERROR: bounds are padded by it (STEP_PADDING), filters of features
    and culled patches get it as an argument (position_error), and the error bounds of stars (``culling/stars``: OFF)
    and of the filters of elements include it (``filters/axes/separation``: AXIS_ERROR, ALLOWED). Their proofs are for
    the motion up to a horizon, and along an axis a difference that is above the bound at both ends is so on the way to
    t, as is a turn whose three coefficients are. The vertices of pairs that meet are drawn back further, and no others;
    all of their pairs are tested again, since they no longer move in step with the rest. It ends, for a vertex never
    moves on again, and nothing meets at x0.

    vertices : ids of those that take part
    """
    x0, x1 = travel.x0, travel.x1
    if travel.approach is not None and travel.approach.paths.mode != STRAIGHT:
        paths = travel.approach.paths
        return np.where(resting(paths), x0, positions_at(paths, t))
    if not t > 0.0:
        return x0.copy()
    back, is_moving = np.full(len(x0), BACK), (x0 != x1).any(axis=1)
    for _ in range(_ROUNDS):
        positions = np.empty_like(x0)
        go_on_to(x0, x1, t * (1.0 - back), positions)
        there = shortened(travel, positions, vertices)
        clock = time.perf_counter()
        looked_at, quads = meeting(there, back > BACK)
        tally.add("verification", looked_at, len(quads), time.perf_counter() - clock)
        if len(quads) == 0:
            return positions
        furthest = np.where(is_moving[quads], back[quads], 0.0).max(axis=1)
        np.maximum.at(back, quads, np.minimum(1.0, _FURTHER * furthest)[:, None])
        back[~is_moving] = BACK  # or whoever meets them next would be drawn back as far
    return x0.copy()


def meeting_in(scene: Scene, plan: Plan, near: list[Near], threads: int) -> Meeting:
    """near: the pairs of features that could not be proved apart"""
    return meeting_among(near, scene.topology.tables, partial(_meeting_where_drawn, scene, plan, threads))


def meeting_among(near: list[Near], tables: tuple[np.ndarray, np.ndarray], where_drawn: Meeting) -> Meeting:
    """Of near pairs of features; and where vertices were drawn back, of all of theirs."""

    def meeting(there: Travel, drawn: np.ndarray) -> tuple[int, np.ndarray]:
        if drawn.any():
            return where_drawn(there, drawn)
        return sum(len(one.pairs) for one in near), _meeting(tables, near, there)

    return meeting


def _meeting(tables: tuple[np.ndarray, np.ndarray], near: list[Near], there: Travel) -> np.ndarray:
    """(k, 4) vertices of the near pairs of features that meet during a motion."""
    quads = [np.empty((0, 4), np.int32)]
    for kind, pairs in near:
        toi, toi_upper, status = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), np.int8)
        table = tables[kind]
        if there.approach is None:
            hits = decide(kind, there.x0, there.x1, table, pairs, toi, toi_upper, status, Tally())
        else:
            hits = advance_pairs(kind, there.approach, table, pairs, 1.0, toi, toi_upper, status, Tally())
        if hits:
            quads.append(quads_of(kind, table, pairs[status != MISS]))
    return np.concatenate(quads)


class _Touched(AllContacts):
    """Contacts of the pairs of elements one of which is marked."""

    def __init__(self, plan: Plan, is_marked: np.ndarray) -> None:
        """is_marked : (places,) bool"""
        super().__init__(plan)
        self._is_marked, self.looked_at = is_marked, 0

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        some = pairs[:count][self._is_marked[pairs[:count]].any(axis=1)]
        pairs[: len(some)] = some
        self.looked_at += len(some)
        super().take(scene, fitted, pairs, len(some))


def _meeting_where_drawn(
    scene: Scene, plan: Plan, threads: int, there: Travel, drawn: np.ndarray
) -> tuple[int, np.ndarray]:
    """How many pairs of elements with a vertex that is drawn back, (n,) bool, were examined, and (k, 4) vertices of
    the pairs of features that meet during a motion."""
    moved = Scene(scene.topology, scene.hierarchy, there)
    fitted = fit(moved, plan, ThreadPool(threads), Tally())
    at_places: np.ndarray = np.any(drawn[scene.hierarchy.leaves.corners], axis=1)
    sinks = [_Touched(plan, at_places) for _ in range(threads)]
    walk(moved, lambda: fitted, plan, sinks, ThreadPool(threads), Tally())
    quads = [quads_of(f.kind, scene.topology.tables[f.kind], f.pairs) for sink in sinks for f in sink.found]
    return sum(sink.looked_at for sink in sinks), np.concatenate([np.empty((0, 4), np.int32), *quads])
