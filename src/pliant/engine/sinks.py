"""What is kept of the pairs of a walk: all contacts, the first one, crossings at rest, what is near."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.elementary.advance import advance_pairs
from pliant.elementary.certified import MISS, UNSURE
from pliant.elementary.exact import decide, decide_if_easy, decide_if_hard
from pliant.elementary.measure import measure_in_doubles
from pliant.elementary.segments import FLAT
from pliant.elementary.triangles import decide_triangles
from pliant.engine.assignment import expand_orphans, keep_inseparable
from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Scene, Topology
from pliant.engine.travel import Travel
from pliant.engine.walk import BLOCK, Alone, Listed
from pliant.engine.wanted import Wanted
from pliant.filters.sieve import FILTERS, sieve
from pliant.pairs.faces import name_faces
from pliant.runtime.tally import Tally

PORTION = 256  # pairs for integers, between two looks at a limit
# Contacts that one which integers decide counts as, where there is a limit: it takes 0.1 to 1 ms, others with all that
# is done about them some 0.01. Not where it is at t = 1: that is tested by itself, and takes no longer.
HARD = 50


class Found(NamedTuple):
    """Contacts of one block."""

    kind: int
    pairs: np.ndarray  # (k, 2) element ids
    toi: np.ndarray
    toi_upper: np.ndarray
    status: np.ndarray  # how each was found


class Crossing(NamedTuple):
    """Intersecting triangles of one block."""

    faces: np.ndarray  # (k, 2) int32, the smaller first
    segments: np.ndarray  # (k, 2, 3)
    coplanar: np.ndarray  # (k,) bool


class Near(NamedTuple):
    """Pairs of features of one block."""

    kind: int
    pairs: np.ndarray  # (k, 2) ids


class Features:
    """A sink of pairs of features: of elements that no axis keeps apart, the pairs with overlapping bounds."""

    def __init__(self, plan: Plan) -> None:
        self.tally: Tally = Tally()
        self._plan = plan
        # An element owns at most three vertices and three edges: 6 vertex-face and 9 edge-edge pairs of two elements.
        self._pairs = np.empty((6 * BLOCK, 2), np.int32), np.empty((9 * BLOCK, 2), np.int32)

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        places, assignment = scene.hierarchy.places, scene.hierarchy.assignment
        given = places, assignment.is_dynamic, self._plan, scene.travel, fitted.of_features
        self._expand(scene, fitted, pairs, keep_inseparable(*given, pairs, count, self.tally))

    def take_listed(self, scene: Scene, fitted: Fitted, chunk: Listed) -> None:
        listed = scene.hierarchy.assignment.listed
        self._test_all(scene, expand_orphans(listed, fitted.of_features, *chunk, self._pairs, self.tally))

    def take_alone(self, scene: Scene, fitted: Fitted, chunk: Alone) -> None:
        pairs = np.repeat(np.arange(chunk.first, chunk.end, dtype=np.int32)[:, None], 2, axis=1)
        self._expand(scene, fitted, pairs, len(pairs))

    def _expand(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        expand = scene.hierarchy.assignment.expand
        for counts in expand(self._plan, fitted.of_features, pairs, count, self._pairs, self.tally):
            self._test_all(scene, counts)

    def finish(self, travel: Travel, topology: Topology) -> None:
        pass

    def _test_all(self, scene: Scene, counts: tuple[int, int]) -> None:
        for kind in KINDS:
            if counts[kind]:
                self.test(scene.travel, kind, scene.topology.tables[kind], self._pairs[kind], counts[kind])

    def test(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> None:
        """The first pairs of features of one kind; may be overwritten."""
        raise NotImplementedError


class AllContacts(Features):
    """Every contact: filters, then the exact test, or conservative advancement."""

    horizon = 1.0  # contacts later than this are not wanted

    def __init__(self, plan: Plan, position_error: float = 0.0, wanted: tuple[Wanted, int] | None = None) -> None:
        """position_error: what is discarded stays free of contact if vertices are off by this much; wanted: with which
        sink of it this is, None for all contacts."""
        super().__init__(plan)
        self.found: list[Found] = []
        self._wanted = wanted
        self._filters, self._position_error = tuple(FILTERS.index(name) for name in plan.filters), position_error
        self._toi, self._toi_upper = np.empty(9 * BLOCK), np.empty(9 * BLOCK)
        self._status = np.empty(9 * BLOCK, np.int8)

    def test(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> None:
        count = self._filter(travel, kind, table, pairs, count)
        if count:
            self._decide(travel, kind, table, pairs[:count])

    def _filter(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> int:
        """Move the pairs that no filter discards to the front; returns how many there are."""
        motion = travel.x0, travel.x1, travel.contact_radius
        for which in self._filters:
            clock = time.perf_counter()
            kept = sieve(kind, which, *motion, table, pairs, count, self.horizon, self._position_error)
            self.tally.add(FILTERS[which], count, kept, time.perf_counter() - clock)
            count = kept
        return count

    def _decide(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        if self._wanted is not None:
            pairs = self._wanted[0].unlisted(kind, pairs)
        answers = self._answers(len(pairs))
        if travel.approach is not None:
            hits = advance_pairs(kind, travel.approach, table, pairs, self.horizon, *answers, self.tally)
        elif self._wanted is None:
            hits = decide(kind, travel.x0, travel.x1, table, pairs, *answers, self.tally)
        else:
            self._decide_within_limit(travel, kind, table, pairs, *self._wanted)
            return
        if hits:
            self._keep(kind, pairs, *answers)

    def _decide_within_limit(
        self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, wanted: Wanted, number: int
    ) -> None:
        """The same, in portions: no block of pairs that only integers decide is completed in vain."""
        toi, toi_upper, status = self._answers(len(pairs))
        hits, _ = decide_if_easy(kind, travel.x0, travel.x1, table, pairs, toi, toi_upper, status, self.tally)
        unsure = pairs[status == UNSURE]
        if hits:
            self._keep(kind, pairs, toi, toi_upper, np.where(status == UNSURE, MISS, status))
        for first in range(0, len(unsure), PORTION):
            some = unsure[first : first + PORTION]
            answers = self._answers(len(some))
            if decide_if_hard(kind, travel.x0, travel.x1, table, some, *answers, self.tally):
                self._keep(kind, some, *answers)
                wanted.charge(number, HARD * int(np.count_nonzero(self.found[-1].toi < 1.0)))

    def _answers(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """toi, toi_upper and status to be filled in for so many pairs."""
        return self._toi[:count], self._toi_upper[:count], self._status[:count]

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        hit = np.flatnonzero(status != MISS)
        if self._wanted is not None:
            wanted, number = self._wanted
            hit = wanted.select(number, kind, pairs, hit)
        self.found.append(Found(kind, pairs[hit], toi[hit], toi_upper[hit], status[hit]))


class NearFeatures(Features):
    """At one instant: pairs of features within a distance. To measure it costs no more than a filter."""

    def __init__(self, plan: Plan, within: float, wanted: tuple[Wanted, int] | None = None) -> None:
        """wanted: with which sink of it this is, None for all pairs."""
        super().__init__(plan)
        self.within, self.found, self._wanted = within, list[Near](), wanted

    def test(self, travel: Travel, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> None:
        clock = time.perf_counter()
        kept = measure_in_doubles(kind, travel.x0, table, pairs, count, self.within)
        self.tally.add("distance", count, kept, time.perf_counter() - clock)
        found = pairs[:kept].copy()
        if self._wanted is not None:
            wanted, number = self._wanted
            found = wanted.unlisted(kind, found)
            wanted.charge(number, len(found))
        self.found.append(Near(kind, found))


class Crossings:
    """At one instant: pairs of faces that intersect; loose edges and points take no part."""

    def __init__(self, plan: Plan) -> None:
        self.tally: Tally = Tally()
        self.found: list[Crossing] = []
        self._wanted = plan.wanted
        self._faces, self._status = np.empty((BLOCK, 2), np.int32), np.empty(BLOCK, np.int8)
        self._segments = np.empty((BLOCK, 2, 3))

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        hierarchy = scene.hierarchy
        count = name_faces(hierarchy.leaves.face, hierarchy.labels, self._wanted, pairs, count, self._faces)
        if count == 0:
            return
        faces, status, segments = self._faces[:count], self._status[:count], self._segments[:count]
        table = scene.topology.tested.features._faces
        if decide_triangles(scene.travel.x0, table, faces, status, segments, self.tally):
            hit = np.flatnonzero(status != MISS)
            self.found.append(Crossing(faces[hit], segments[hit], status[hit] == FLAT))

    def take_listed(self, scene: Scene, fitted: Fitted, chunk: Listed) -> None:
        """Pairs of features: no pairs of faces."""

    def take_alone(self, scene: Scene, fitted: Fitted, chunk: Alone) -> None:
        """A face does not intersect itself."""

    def finish(self, travel: Travel, topology: Topology) -> None:
        pass
