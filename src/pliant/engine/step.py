"""The safe step: the first contact without all the others, and positions that stay clear of it after rounding."""

from __future__ import annotations

import threading
import time
from functools import cached_property

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.rounding import POSITION_ERROR
from pliant.bounds.kdops import ROOM
from pliant.elementary.advance import Approach, advance_pairs, approach_of, tolerance_of
from pliant.elementary.certified import MISS, UNSURE
from pliant.elementary.exact import decide, decide_if_easy, decide_if_hard, quads_of
from pliant.elementary.paths import STRAIGHT, positions_at, resting, straight_paths
from pliant.engine.pipeline import SHARE, Found, Worker, chunks_of, run_all
from pliant.engine.prepare import Fitted, Plan, Prepared, fit, mark_free_patches, moved, reach_of
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew

# Bounds are fitted anew (some percent of a query) when the motion that is left has become this much shorter ...
_SHORTER = 0.4
# ... unless they are hardly larger than the elements themselves: mean motion against mean extent of an element.
_HARDLY = 0.05
# toi is known to 1e-12: a contact that looks later than the best so far by less may still have the smaller toi.
_LEEWAY = 2e-12

# Positions stay back by this part of the step, and what meets nevertheless by so many times as much in each round: the
# sixth takes it back to x0. Each round looks at all pairs of what was drawn back, so that few are better than many.
_BACK, _FURTHER = 2.0**-36, 64.0
# What was drawn back can be in the way of others. Six rounds for each in a row of some that push each other are enough;
# whoever needs more stays at x0 as a whole.
_ROUNDS = 60

# So many pairs that only integers can decide wait; with 512 the last ones keep one thread busy while others are done.
_HARD = 128

Near = list[tuple[int, np.ndarray]]  # kind and pairs of features


class Race:
    """What the workers share: the end of the motion that is left, and bounds up to there or a little later.

    The earliest contact so far is the end of the motion for everything that comes later: filters see the shorter motion
    at once, bounds with the next chunk. What was looked at with a longer motion is done, so nothing is looked at twice,
    no worker waits for another, and a scene without contact costs what ``ccd`` does.
    """

    def __init__(self, scene: Prepared, plan: Plan, tally: Tally, threads: int) -> None:
        self.horizon: float = 1.0
        self.earliest: float = np.inf  # toi so far
        self._scene, self._bounds, self._tally = scene, plan.bounds, tally
        self._fitted, self._fitted_to = fit(scene, plan.bounds, 1.0, ROOM, tally, Crew(threads)), 1.0
        self._horizon_lock, self._fit_lock = threading.Lock(), threading.Lock()

    def shorten(self, toi: float) -> None:
        with self._horizon_lock:
            self.earliest = min(self.earliest, toi)
            self.horizon = min(self.horizon, toi + _LEEWAY)

    @cached_property
    def _reach(self) -> float:
        """Mean motion of the vertices over the mean extent of the elements along an axis."""
        scene = self._scene
        corners = scene.leaves.corners
        extent = float(np.abs(scene.x0[corners[:, 0]] * scene.factor - scene.x0[corners[:, 1]] * scene.factor).mean())
        motion = float(np.abs(scene.x1 * scene.factor - scene.x0 * scene.factor).mean())
        return motion / extent if extent > 0.0 else np.inf

    def fitted(self) -> Fitted:
        """The bounds for the next chunk; one worker at a time makes tighter ones where that pays."""
        pays = self.horizon < _SHORTER * self._fitted_to and self._fitted_to * self._reach > _HARDLY
        if pays and self._fit_lock.acquire(blocking=False):
            try:
                horizon = self.horizon
                free = self._fitted.forest.free  # during the whole motion, so up to the horizon too
                fitted = fit(self._scene, self._bounds, horizon, ROOM, self._tally)
                self._fitted = fitted._replace(forest=fitted.forest._replace(free=free))
                self._fitted_to = horizon
            finally:
                self._fit_lock.release()
        return self._fitted


class Runner(Worker):
    """A worker that only wants the first contact, and remembers the pairs of features that no filter could discard.

    Pairs that floating point cannot decide wait, the motion that is left may be shorter by the time they are looked at.
    """

    def __init__(self, plan: Plan, crew: Crew, race: Race, fuzz: float) -> None:
        super().__init__(plan, crew)
        self.race, self.fuzz = race, fuzz
        self.near: Near = []
        self._hard: tuple[list[np.ndarray], list[np.ndarray]] = [], []  # pairs, by kind

    def finish(self, scene: Prepared, fitted: Fitted) -> None:
        super().finish(scene, fitted)
        for kind, table in ((VERTEX_FACE, scene.faces), (EDGE_EDGE, scene.edges)):
            self._settle(scene, kind, table)

    def _test(self, scene: Prepared, kind: int, table: np.ndarray, count: int) -> None:
        self.horizon = self.race.horizon
        super()._test(scene, kind, table, count)

    def _decide(self, scene: Prepared, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        if self.race.earliest > 0.0:  # else contact is at t = 0, and positions are x0 itself
            self.near.append((kind, pairs.copy()))
        if scene.approach is not None:
            super()._decide(scene, kind, table, pairs)
            return
        toi, toi_upper, status = self._answers(len(pairs))
        hits, unsure = decide_if_easy(kind, scene.x0, scene.x1, table, pairs, toi, toi_upper, status, self.tally)
        if hits:  # those that are unsure have no time yet
            self._keep(kind, pairs, toi, toi_upper, np.where(status == UNSURE, MISS, status))
        if unsure:
            self._hard[kind].append(pairs[status == UNSURE])
            if sum(map(len, self._hard[kind])) >= _HARD:
                self._settle(scene, kind, table)

    def _settle(self, scene: Prepared, kind: int, table: np.ndarray) -> None:
        """Decide what has been waiting, as far as the shorter motion does not bring it to nothing."""
        if not self._hard[kind]:
            return
        pairs = np.concatenate(self._hard[kind])
        self._hard[kind].clear()
        if self.race.horizon < 1.0:
            self.horizon = self.race.horizon
            pairs = pairs[: self._filter(scene, kind, table, pairs, len(pairs))]
        toi, toi_upper, status = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), np.int8)
        if decide_if_hard(kind, scene.x0, scene.x1, table, pairs, toi, toi_upper, status, self.tally):
            self._keep(kind, pairs, toi, toi_upper, status)

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        earliest = float(toi[status != MISS].min())
        if earliest <= self.race.horizon:
            super()._keep(kind, pairs, toi, toi_upper, np.where(toi == earliest, status, MISS))
            self.race.shorten(earliest)


def first_contacts(scene: Prepared, plan: Plan, crew: Crew, tally: Tally) -> tuple[list[Found], Near]:
    """Contacts among which is the first one, and all pairs of features that no filter could keep apart."""
    fuzz = POSITION_ERROR * scene.largest
    race = Race(scene, plan, tally, crew.threads)
    mark_free_patches(scene, race.fitted(), fuzz, Crew(crew.threads), tally)
    runners = [Runner(plan, crew, race, fuzz) for _ in range(crew.threads)]
    chunks = chunks_of(scene, race.fitted(), plan, crew.threads)
    run_all(runners, crew, scene, race.fitted, chunks)
    tally.merge(r.tally for r in runners)
    return [f for r in runners for f in r.found], [n for r in runners for n in r.near]


def verified_positions(scene: Prepared, plan: Plan, near: Near, t: float, crew: Crew, tally: Tally) -> np.ndarray:
    """Positions just before x0 + t (x1 - x0) such that the motion from x0 to them is free of contact after rounding.

    Rounding moves each vertex by an ulp, which can close the gap that is left a moment before the contact, or that of
    features which move along with each other at a distance of some ulps. So step back a little and look whether the
    rounded motion is free. At first only near pairs have to be looked at. What is not near has been proved apart with
    room for positions that are off by POSITION_ERROR: bounds have it (ROOM), filters of features and culled patches are
    told (fuzz), and the slack of the filters of elements holds it (``filters/axes/separation``: SLACK, ALLOWED).
    Their proofs are for the motion up to a horizon, and along an axis a difference that is above the room at both
    ends is so on the way to t. The vertices of pairs that meet are drawn back further, and no others; all of their
    pairs are looked at again, since they no longer move in step with the rest. It ends, for a vertex never moves on
    again, and nothing meets at x0.
    """
    if scene.approach is not None and scene.approach.paths.mode != STRAIGHT:
        paths = scene.approach.paths
        return np.where(resting(paths), scene.x0, positions_at(paths, t))
    if not t > 0.0:
        return scene.x0.copy()
    back, is_moving = np.full(len(scene.x0), _BACK), (scene.x0 != scene.x1).any(axis=1)
    for _ in range(_ROUNDS):
        positions = _on_the_way(scene, t * (1.0 - back))
        clock, drawn = time.perf_counter(), back > _BACK
        if drawn.any():
            looked_at, meeting = _meeting_where_drawn(scene, plan, positions, drawn, crew)
        else:
            looked_at, meeting = sum(len(pairs) for _, pairs in near), _meeting(scene, near, positions)
        tally.add("verification", looked_at, len(meeting), time.perf_counter() - clock)
        if len(meeting) == 0:
            return positions
        furthest = np.where(is_moving[meeting], back[meeting], 0.0).max(axis=1)
        np.maximum.at(back, meeting, np.minimum(1.0, _FURTHER * furthest)[:, None])
        back[~is_moving] = _BACK  # or whoever meets them next would be drawn back as far
    return scene.x0.copy()


def _on_the_way(scene: Prepared, s: np.ndarray) -> np.ndarray:
    """(n, 3) each vertex at its own time s, (n,), rounded; what rests stays where it is to the bit."""
    x0, x1, s = scene.x0, scene.x1, s[:, None]
    between = np.clip((1.0 - s) * x0 + s * x1, np.minimum(x0, x1), np.maximum(x0, x1))
    return np.where(x0 == x1, x0, between)


def _meeting(scene: Prepared, near: Near, x1: np.ndarray) -> np.ndarray:
    """(k, 4) vertices of the near pairs of features that meet during the motion to x1."""
    approach = None if scene.approach is None else _shorter(scene, scene.approach, x1)
    quads = [np.empty((0, 4), np.int32)]
    for kind, pairs in near:
        toi, toi_upper, status = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), np.int8)
        table = scene.faces if kind == VERTEX_FACE else scene.edges
        if approach is None:
            hits = decide(kind, scene.x0, x1, table, pairs, toi, toi_upper, status, Tally())
        else:
            hits = advance_pairs(kind, approach, table, pairs, 1.0, toi, toi_upper, status, Tally())
        if hits:
            quads.append(quads_of(kind, table, pairs[status != MISS]))
    return np.concatenate(quads)


class Reviewer(Worker):
    """A worker that looks at the pairs of elements one of which has a vertex that was drawn back."""

    def __init__(self, plan: Plan, crew: Crew, drawn: np.ndarray) -> None:
        super().__init__(plan, crew)
        self._drawn, self.looked_at = drawn, 0  # (places,) bool

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        pairs = self._element_pairs[:count]
        pairs = pairs[self._drawn[pairs].any(axis=1)]
        self._element_pairs[: len(pairs)] = pairs
        self.looked_at += len(pairs)
        super()._expand(scene, fitted, len(pairs))


def _meeting_where_drawn(
    scene: Prepared, plan: Plan, x1: np.ndarray, drawn: np.ndarray, crew: Crew
) -> tuple[int, np.ndarray]:
    """How many pairs of elements with a vertex that is drawn back, (n,) bool, were looked at, and (k, 4) vertices of
    the pairs of features that meet during the motion to x1."""
    there = moved(scene, scene.x0, x1)
    if scene.approach is not None:
        approach = _shorter(scene, scene.approach, x1)
        there = there._replace(approach=approach, reach=reach_of(approach))
    fitted = fit(there, plan.bounds, 1.0, 0.0, Tally(), Crew(crew.threads))
    at_places: np.ndarray = np.any(drawn[scene.leaves.corners], axis=1)
    workers = [Reviewer(plan, crew, at_places) for _ in range(crew.threads)]
    run_all(workers, crew, there, lambda: fitted, chunks_of(there, fitted, plan, crew.threads, share=SHARE))
    tables = scene.faces, scene.edges
    quads = [quads_of(f.kind, tables[f.kind], f.pairs) for w in workers for f in w.found]
    return sum(w.looked_at for w in workers), np.concatenate([np.empty((0, 4), np.int32), *quads])


def _shorter(scene: Prepared, approach: Approach, x1: np.ndarray) -> Approach:
    """What ``ccd`` would ask of the motion to x1."""
    paths = straight_paths(scene.x0, x1)
    tolerance = tolerance_of(paths, scene.vertices, approach.relative)
    return approach_of(paths, approach.radii, tolerance, approach.initial, approach.keep, approach.relative)
