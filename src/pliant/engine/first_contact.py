"""The first contact without all the others: a race of the threads for the earliest one."""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.arithmetic.rounding import POSITION_ERROR
from pliant.bounds.kdops import STEP_PADDING
from pliant.elementary.certified import MISS, UNSURE
from pliant.elementary.exact import LEEWAY, decide_if_easy, decide_if_hard
from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Scene, Topology, fit
from pliant.engine.sinks import AllContacts, Found, Near
from pliant.engine.travel import Travel
from pliant.engine.walk import walk
from pliant.hierarchy.front import Front
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

# Bounds are refitted (some percent of a query) when the motion that is left has become this much shorter ...
_SHORTER = 0.4
# ... unless they are hardly larger than the elements themselves: mean motion against mean extent of an element, of so
# many elements and vertices.
_HARDLY, _SAMPLE = 0.05, 1024
# So many pairs that only integers can decide wait; with 512 the last ones keep one thread busy while others are done.
_HARD = 128


class Horizon:
    """The end of the motion that is left, which the threads share."""

    def __init__(self) -> None:
        self.horizon: float = 1.0
        self.earliest: float = np.inf  # toi so far
        self._lock = threading.Lock()

    def shorten(self, toi: float) -> None:
        with self._lock:
            self.earliest = min(self.earliest, toi)
            self.horizon = min(self.horizon, toi + LEEWAY)


class Race(Horizon):
    """The end of the motion that is left, and bounds up to there or a little later.

    The earliest contact so far is the end of the motion for everything that comes later: filters see the shorter motion
    at once, bounds with the next chunk. What was examined with a longer motion is done, so nothing is examined twice,
    no thread waits for another, and a scene without contact costs what ``ccd`` does.
    """

    def __init__(self, scene: Scene, fitted: Fitted, plan: Plan, tally: Tally) -> None:
        """fitted: bounds of the whole motion, with STEP_PADDING."""
        super().__init__()
        self._scene, self._plan, self._tally = scene, plan, tally
        self._fitted, self._fitted_to = fitted, 1.0
        self._fit_lock = threading.Lock()

    @cached_property
    def _motion_per_extent(self) -> float:
        """Mean motion of the vertices over the mean extent of the elements along an axis."""
        travel, corners = self._scene.travel, self._scene.hierarchy.leaves.corners
        some = corners[:: max(1, len(corners) // _SAMPLE)]
        x0, x1, other = (
            x * travel.factor for x in (travel.x0[some[:, 0]], travel.x1[some[:, 0]], travel.x0[some[:, 1]])
        )
        extent, motion = float(np.abs(x0 - other).mean()), float(np.abs(x1 - x0).mean())
        return motion / extent if extent > 0.0 else np.inf

    def fitted(self) -> Fitted:
        """The bounds for the next chunk; one thread at a time makes tighter ones where that pays."""
        pays = self.horizon < _SHORTER * self._fitted_to and self._fitted_to * self._motion_per_extent > _HARDLY
        if pays and self._fit_lock.acquire(blocking=False):
            try:
                horizon = self.horizon
                before = self._fitted  # what is free during the whole motion is so up to the horizon
                fitted = fit(
                    self._scene, self._plan, ThreadPool(1), self._tally, horizon=horizon, relative_padding=STEP_PADDING
                )
                pair_tree = fitted.pair_tree._replace(free=before.pair_tree.free, beside=before.pair_tree.beside)
                self._fitted = Fitted(pair_tree, fitted.of_features._replace(free=before.of_features.free))
                self._fitted_to = horizon
            finally:
                self._fit_lock.release()
        return self._fitted


class FirstContact(AllContacts):
    """Contacts among which is the first one, and the pairs of features that no filter could discard.

    Pairs that floating point cannot decide wait: the motion that is left may be shorter by the time they are examined.
    """

    def __init__(self, plan: Plan, race: Horizon, position_error: float) -> None:
        super().__init__(plan, position_error)
        self._race, self.near = race, list[Near]()
        self._hard: tuple[list[np.ndarray], list[np.ndarray]] = [], []  # pairs, by kind

    def finish(self, travel: Travel, topology: Topology) -> None:
        for kind in KINDS:
            if self._hard[kind]:
                self._settle(travel, kind, topology.tables[kind])

    def test(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> None:
        self.horizon = self._race.horizon
        super().test(travel, kind, table, pairs, count)

    def _decide(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        if self._race.earliest > 0.0:  # else contact is at t = 0, and positions are x0 itself
            self.near.append(Near(kind, pairs.copy()))
        if travel.approach is not None:
            super()._decide(travel, kind, table, pairs)
            return
        toi, toi_upper, status = self._answers(len(pairs))
        hits, unsure = decide_if_easy(kind, travel.x0, travel.x1, table, pairs, toi, toi_upper, status, self.tally)
        if hits:  # those that are unsure have no time yet
            self._keep(kind, pairs, toi, toi_upper, np.where(status == UNSURE, MISS, status))
        if unsure:
            self._hard[kind].append(pairs[status == UNSURE])
            if sum(map(len, self._hard[kind])) >= _HARD:
                self._settle(travel, kind, table)

    def _settle(self, travel: Travel, kind: int, table: np.ndarray) -> None:
        """Decide what has been waiting, as far as the shorter motion does not bring it to nothing."""
        pairs = np.concatenate(self._hard[kind])
        self._hard[kind].clear()
        if self._race.horizon < 1.0:
            self.horizon = self._race.horizon
            pairs = pairs[: self._filter(travel, kind, table, pairs, len(pairs))]
        toi, toi_upper, status = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), np.int8)
        if decide_if_hard(kind, travel.x0, travel.x1, table, pairs, toi, toi_upper, status, self.tally):
            self._keep(kind, pairs, toi, toi_upper, status)

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        earliest = float(toi[status != MISS].min())
        if earliest <= self._race.horizon:
            super()._keep(kind, pairs, toi, toi_upper, np.where(toi == earliest, status, MISS))
            self._race.shorten(earliest)


def rounding_of(travel: Travel) -> float:
    """How far positions on the way may be off, for which what is discarded has to hold too."""
    return POSITION_ERROR * travel.largest


def first_contacts(
    scene: Scene, fitted: Fitted, plan: Plan, pool: ThreadPool, tally: Tally, front: Front | None = None
) -> tuple[list[Found], list[Near]]:
    """Contacts among which is the first one, and all pairs of features that no filter could keep apart.

    fitted: bounds of the whole motion, with STEP_PADDING
    """
    position_error, race = rounding_of(scene.travel), Race(scene, fitted, plan, tally)
    sinks = [FirstContact(plan, race, position_error) for _ in range(pool.threads)]
    walk(scene, race.fitted, plan, sinks, pool, tally, front, starts_small=True)
    return [found for sink in sinks for found in sink.found], [near for sink in sinks for near in sink.near]
