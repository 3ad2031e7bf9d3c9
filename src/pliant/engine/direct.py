"""Small meshes: pairs of features whose boxes overlap come from a grid; no tree is built, and there is no walk.

A walk, with its bounds, chunks, blocks and threads, is some thirty calls of 3 to 10 us each, whatever there is to do.
Here contacts on straight paths take three calls: one lists pairs, one finds contacts among them
(``elementary/small.py``), one fills in the table. Distances and curved paths go through the sinks of a walk. Where so
many boxes overlap that a tree with its filters of elements takes less time, the listing gives up, and a tree is built.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.bounds.kdops import NO_PADDING, STEP_PADDING, bound_vertices
from pliant.elementary.certified import MISS
from pliant.elementary.exact import LEEWAY, decide_if_hard, quads_of
from pliant.elementary.small import (
    IDS,
    NUMBERS,
    Counts,
    fill_contacts,
    find_contacts,
    space_for_found,
)
from pliant.engine.plan import Plan
from pliant.engine.scene import Topology
from pliant.engine.sinks import AllContacts, Features, Near
from pliant.engine.travel import Travel
from pliant.engine.verified import Meeting, meeting_among, verified_positions
from pliant.engine.walk import BLOCK
from pliant.filters.sieve import CSAT, DNF, sieve
from pliant.hierarchy.traverse import ALL
from pliant.pairs.grid import Space, most_pairs, pairs_in_grid, space_for
from pliant.results.contacts import Contacts, packed_contacts
from pliant.results.steps import Step
from pliant.runtime.processes import expect_small
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

# Elements. Built-in scenes in one thread, against a tree: where pairs are listed, 250 to 4,000 triangles take 0.35 to
# 0.85 of the time; where the listing gives up, 1.0 to 1.1. With distances, 500 take 0.7 to 1.1, 1,000 0.9 to 1.2, 4,000
# 0.9 to 1.5.
SMALL, FEW = 4096, 800
CHUNKS = 4  # for each thread
HARD = 64  # pairs that only integers decide, for a thread
LEAST = 256  # pairs of features that are worth a thread of their own

_NO_LABELS, _NOWHERE = np.zeros(0, np.int32), np.empty((0, 3))

Pairs = tuple[np.ndarray, ...]  # (k, 2) ids of features, of each kind


class Hits(NamedTuple):
    """Contacts, in any order."""

    rows: np.ndarray  # (k, 3) int32, kind and ids
    times: np.ndarray  # (k, 2) toi, toi_upper

    @staticmethod
    def none() -> Hits:
        return Hits(np.empty((0, 3), np.int32), np.empty((0, 2)))

    def with_more(self, *others: Hits) -> Hits:
        every = self, *others
        return Hits(np.concatenate([one.rows for one in every]), np.concatenate([one.times for one in every]))

    @property
    def earliest(self) -> float:
        """toi; infinite where there is none."""
        return float(self.times[:, 0].min(initial=np.inf))

    def first(self) -> Hits:
        """Of the earliest contacts, that which comes first in canonical order."""
        ties = np.flatnonzero(self.times[:, 0] == self.earliest)
        if len(ties) > 1:
            ties = ties[np.lexsort(self.rows[ties].T[::-1])]
        return Hits(self.rows[ties[:1]], self.times[ties[:1]])


class Direct:
    """Queries about a small surface."""

    def __init__(self, topology: Topology, plan: Plan) -> None:
        expect_small()  # before the tables are made, with the first kernels
        self._topology, self._plan = topology, plan
        self._is_crowded = False  # there were too many pairs: a motion like it is left to a tree from then on
        self._features = topology.tested.features._vertices.reshape(-1, 1), *topology.tables
        labels = None if plan.wanted == ALL else topology.labels(plan.wanted)
        self._selection = _NO_LABELS if labels is None else labels, plan.wanted
        self._space: Space | None = None
        self._found = space_for_found(0)
        self._pairs = np.empty((most_pairs(self._features), 2), np.int32)

    @staticmethod
    def serves(topology: Topology) -> bool:
        return topology.tested.cells is None and 0 < _elements_of(topology) <= SMALL

    def finds(self, travel: Travel) -> bool:
        """Contacts of this motion, without sinks."""
        return travel.approach is None and self._topology.tested.volume is None and not self._is_crowded

    @property
    def lists(self) -> bool:
        """Pairs for sinks."""
        return _elements_of(self._topology) <= FEW

    # ---- contacts on straight paths

    def contacts(self, travel: Travel, pool: ThreadPool, tally: Tally) -> Contacts | None:
        """Every contact of a motion; None where there are too many pairs."""
        counts, found = self._find(travel, pool, tally), self._found
        if counts is None:
            return None
        hits = Hits(found.hits[: counts.kept], found.times[: counts.kept])
        if counts.unsure:
            hits = hits.with_more(self._decided(travel, found.unsure[: counts.unsure], pool.threads, tally))
        return self._table(travel, hits, tally)

    def step(self, travel: Travel, pool: ThreadPool, tally: Tally) -> Step | None:
        """How far a motion can go, and the contact that ends it; None where there are too many pairs."""
        positions = np.empty_like(travel.x0)
        counts, found = self._find(travel, pool, tally, positions), self._found
        if counts is None:
            return None
        first = Hits(found.hits[: counts.kept], found.times[: counts.kept])
        if counts.unsure:
            first = self._with_earliest(travel, found.unsure[: counts.unsure], first, pool.threads, tally).first()
        if not len(first.rows):
            return Step(1.0, None, travel.x1.copy(), tally.stages())
        t = float(first.times[0, 0])
        contact = self._table(travel, first, tally)
        if not counts.is_free:
            near = [Near(int(rows[0, 0]), rows[:, 1:].copy()) for rows in _by_kind(found.near[: counts.after_csat])]
            meeting = self.meeting(near, ThreadPool(pool.threads))
            positions = verified_positions(travel, self._topology.vertices, t, meeting, tally)
        return Step(t, contact, positions, tally.stages())

    def _find(
        self, travel: Travel, pool: ThreadPool, tally: Tally, positions: np.ndarray | None = None
    ) -> Counts | None:
        """As far as doubles decide; None where there are too many pairs. positions: to be filled in, where only the
        first contact is wanted."""
        answers: list[Counts] = []

        def find(_begin: int, _end: int) -> None:
            first = positions is not None
            listed = self._list(travel, tally, STEP_PADDING if first else 0.0)
            if listed is None:
                self._is_crowded = True
                return
            clock, (vf, count) = time.perf_counter(), listed
            if count > len(self._found.hits):
                self._found = space_for_found(count)
            given = travel.x0, travel.x1, self._features, self._pairs, vf, count, first, self._found
            counts = Counts(*find_contacts(*given, _NOWHERE if positions is None else positions))
            counts.note(count, time.perf_counter() - clock, tally)
            answers.append(counts)

        pool.run_range(find, 1)
        return answers[0] if answers else None

    def _decided(self, travel: Travel, unsure: np.ndarray, threads: int, tally: Tally) -> Hits:
        """What integers decide about rows of kind and ids."""
        chunks = [one[i : i + HARD] for one in _by_kind(unsure) for i in range(0, len(one), HARD)]
        tallies, hits = [Tally() for _ in chunks], [Hits.none() for _ in chunks]

        def decide(_worker: int, number: int) -> None:
            rows = chunks[number]
            kind, pairs, toi, toi_upper = int(rows[0, 0]), rows[:, 1:].copy(), np.empty(len(rows)), np.empty(len(rows))
            status = np.empty(len(rows), np.int8)
            given = kind, travel.x0, travel.x1, self._topology.tables[kind], pairs, toi, toi_upper, status
            if decide_if_hard(*given, tallies[number]):
                hits[number] = Hits(rows[status != MISS], np.column_stack((toi, toi_upper))[status != MISS])

        ThreadPool(threads).run(decide, range(len(chunks)))
        tally.merge(tallies)
        return Hits.none().with_more(*hits)

    def _with_earliest(self, travel: Travel, unsure: np.ndarray, hits: Hits, threads: int, tally: Tally) -> Hits:
        """The same, of those that may meet before what was found so far."""
        some, earliest = HARD * threads, np.inf
        while len(unsure):
            if hits.earliest < earliest:
                earliest = hits.earliest
                unsure = self._before(travel, unsure, earliest)
            hits = hits.with_more(self._decided(travel, unsure[:some], threads, tally))
            unsure = unsure[some:]
        return hits

    def _before(self, travel: Travel, unsure: np.ndarray, t: float) -> np.ndarray:
        """Rows of kind and ids that filters cannot discard for the motion up to t."""
        horizon, kept = min(1.0, t + LEEWAY), [np.empty((0, 3), np.int32)]
        for rows in _by_kind(unsure):
            kind, pairs = int(rows[0, 0]), rows[:, 1:].copy()
            given = travel.x0, travel.x1, NO_PADDING, self._topology.tables[kind], pairs
            count = len(pairs)
            for which in (DNF, CSAT):
                count = sieve(kind, which, *given, count, horizon, 0.0)
            kept.append(np.insert(pairs[:count], 0, kind, axis=1))
        return np.concatenate(kept)

    def _table(self, travel: Travel, hits: Hits, tally: Tally) -> Contacts:
        count = len(hits.rows)
        numbers, ids, split = np.empty(NUMBERS * count), np.empty(IDS * count, np.int32), 0
        if count:
            split = fill_contacts(travel.x0, travel.x1, self._topology.tables, *hits, count, numbers, ids)
        return packed_contacts(numbers, ids, split, tally.stages())

    # ---- what goes through sinks

    def few_pairs(self, travel: Travel, tally: Tally, relative_padding: float) -> Pairs | None:
        """Those whose boxes overlap during a motion; None where they are too many. relative_padding: as for
        ``bound_vertices``."""
        if self._is_crowded and travel.approach is None:
            return None
        listed = self._list(travel, tally, relative_padding)
        return None if listed is None else self._by_kinds(*listed)

    def _all_pairs(self, travel: Travel) -> Pairs:
        """The same, however many they are."""
        while (listed := self._list(travel, Tally(), 0.0, gives_up=False)) is None:
            self._pairs = np.empty((2 * len(self._pairs), 2), np.int32)
        return self._by_kinds(*listed)

    def _by_kinds(self, vf: int, count: int) -> Pairs:
        return self._pairs[:vf], self._pairs[vf:count]

    def _list(
        self, travel: Travel, tally: Tally, relative_padding: float, gives_up: bool = True
    ) -> tuple[int, int] | None:
        """The pairs whose boxes overlap, into memory: how many are of a vertex and a face, and how many in all; None
        where they do not fit, or, if it gives up then, where a tree takes less time."""
        clock, space, is_straight = time.perf_counter(), self._space_for(len(travel.x0)), travel.approach is None
        if not is_straight:
            bound_vertices(
                travel.x0, travel.x1, relative_padding=relative_padding, padding=travel.contact_radius,
                new=lambda _: space.of_vertices,
            )  # fmt: skip
        vf, ee, compared = pairs_in_grid(
            travel.x0, travel.x1, is_straight, relative_padding, self._features, self._selection, space, self._pairs,
            gives_up,
        )  # fmt: skip
        if vf + ee > len(self._pairs):
            return None
        tally.add("feature boxes", compared, vf + ee, time.perf_counter() - clock)
        return vf, vf + ee

    def meeting(self, near: list[Near], pool: ThreadPool) -> Meeting:
        """near: the pairs of features that could not be proved apart"""

        def where_drawn(there: Travel, _drawn: np.ndarray) -> tuple[int, np.ndarray]:
            plan = self._plan if there.approach is None else self._plan.at_distance()
            sinks = [AllContacts(plan) for _ in range(pool.threads)]
            pairs, tables = self._all_pairs(there), self._topology.tables
            examine(travel=there, topology=self._topology, pairs=pairs, sinks=sinks, pool=pool)
            quads = [quads_of(f.kind, tables[f.kind], f.pairs) for sink in sinks for f in sink.found]
            return sum(map(len, pairs)), np.concatenate([np.empty((0, 4), np.int32), *quads])

        return meeting_among(near, self._topology.tables, where_drawn)

    def _space_for(self, vertex_count: int) -> Space:
        if self._space is None or len(self._space.of_vertices) != vertex_count:
            self._space = space_for(vertex_count, self._features)
        return self._space


def _elements_of(topology: Topology) -> int:
    mesh = topology.tested.features
    return len(mesh._faces) + len(mesh._loose_edges) + len(mesh._loose_points)


def _by_kind(rows: np.ndarray) -> list[np.ndarray]:
    """Rows of kind and ids, those of either kind that has any."""
    some = (rows[rows[:, 0] == kind] for kind in KINDS)
    return [one for one in some if len(one)]


def examine(travel: Travel, topology: Topology, pairs: Pairs, sinks: Sequence[Features], pool: ThreadPool) -> None:
    """Given pairs of features, (k, 2) of each kind, into the sinks, one for each thread; they may be overwritten."""
    total = sum(map(len, pairs))
    size = min(BLOCK, max(LEAST, total // (CHUNKS * pool.threads)))
    chunks = [(kind, begin) for kind in KINDS for begin in range(0, len(pairs[kind]), size)]

    def test(worker: int, chunk: tuple[int, int]) -> None:
        kind, begin = chunk
        some = pairs[kind][begin : begin + size]
        sinks[worker].test(travel, kind, topology.tables[kind], some, len(some))

    pool.run(test, chunks, most=max(1, total // LEAST))
    for sink in sinks:
        sink.finish(travel, topology)
