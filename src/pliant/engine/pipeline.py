"""The stages in a row: what happens to one chunk of the hierarchy, block by block, in one thread."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.elementary.advance import advance_pairs
from pliant.elementary.certified import MISS
from pliant.elementary.exact import decide
from pliant.elementary.measure import measure_in_doubles
from pliant.engine.prepare import Fitted, Plan, Prepared
from pliant.filters.axes.cells import cull_cells
from pliant.filters.axes.elements import cull_elements, cull_resting_elements
from pliant.filters.sieve import ELEMENT_FILTERS, FILTERS, sieve
from pliant.hierarchy.front import Front
from pliant.hierarchy.traverse import STACK_SIZE, State, Walk, cut_through, every_pair, go_on
from pliant.pairs.dynamic import expand_dynamic, expand_listed, keep_separate
from pliant.pairs.static import expand_static
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew, Stopped

# Element pairs of a block: 8192 pairs make some 20,000 feature pairs, which stay in the second-level cache from the
# expansion to the elementary test, and the calls from Python (5 us each) stay below a percent of the time.
BLOCK = 8192
SEEDS = 1024  # pairs of nodes to start from: more than there are chunks, which take several
# Chunks per thread, if all are as small as the last ones, which make the load even. ``safe_step`` has new bounds with
# each chunk, and is a quarter faster with many; elsewhere a chunk is one part in SHARE, per thread, of what is left,
# since the start of each takes 30 us: all of them were a tenth of a frame with cones.
CHUNKS = 48
SHARE = 4


class Found(NamedTuple):
    """Contacts of one block."""

    kind: int
    pairs: np.ndarray  # (k, 2) element ids
    toi: np.ndarray
    toi_upper: np.ndarray
    status: np.ndarray  # how each was found


def chunks_of(
    scene: Prepared, fitted: Fitted, plan: Plan, threads: int, front: Front | None = None, share: int = CHUNKS
) -> list:
    """What the threads take one by one: parts of the front (None: all elements), then slices of orphans, and ranges of
    elements that are looked at with themselves."""
    step, count = 6 * BLOCK, len(scene.tree.order)
    orphans: list = [slice(begin, begin + step) for begin in range(0, max(map(len, scene.orphans)), step)]
    if scene.is_volume and scene.cells is None:
        orphans += [range(begin, min(begin + BLOCK, count)) for begin in range(0, count, BLOCK)]
    if len(scene.tree.order) < 2:
        return orphans
    if plan.culling == "brute":
        return [None, *orphans]
    parts = CHUNKS * threads
    pairs = _dealt(*cut_through(fitted.forest, plan.wanted, SEEDS), parts) if front is None else front.pairs
    ends = _ends(len(pairs), threads, share)
    return [*(Part(pairs, first, end) for first, end in itertools.pairwise(ends)), *orphans]


def _ends(count: int, threads: int, share: int) -> list[int]:
    """Where parts begin and end: large ones first, small ones last; all small where the share is CHUNKS."""
    ends, least = [0], max(1, count // (CHUNKS * threads))
    while ends[-1] < count:
        left = count - ends[-1]
        ends.append(ends[-1] + min(left, max(least, left // (share * threads))))
    return ends


def _dealt(pairs: np.ndarray, level: int, parts: int) -> np.ndarray:
    """The pairs of a level, dealt out like cards: each part is a sample of the whole.

    So the load is even, and ``safe_step`` meets an early contact soon, wherever it is.
    """
    pairs = pairs[pairs[:, 0] >= 1 << level]  # the others are apart
    return pairs[np.argsort(np.arange(len(pairs)) % parts, kind="stable")]


class Part(NamedTuple):
    """Pairs of nodes to start from: those from first up to end."""

    pairs: np.ndarray
    first: int
    end: int


def run_all(workers: Sequence[Walker], crew: Crew, scene: Prepared, fitted: Callable[[], Fitted], chunks: list) -> None:
    """All chunks, then what is left waiting in the workers' blocks; fitted gives the bounds to use now."""
    crew.run(lambda worker, chunk: workers[worker].run(scene, fitted(), chunk), chunks)
    Crew(crew.threads).run(lambda _, worker: worker.finish(scene, fitted()), workers)


def find_contacts(
    scene: Prepared, fitted: Fitted, plan: Plan, crew: Crew, tally: Tally, front: Front | None = None
) -> list[Found]:
    """Every contact of a scene."""
    workers = [Worker(plan, crew, front) for _ in range(crew.threads)]
    run_all(workers, crew, scene, lambda: fitted, chunks_of(scene, fitted, plan, crew.threads, front, SHARE))
    tally.merge(w.tally for w in workers)
    return [f for w in workers for f in w.found]


def find_near(
    scene: Prepared, fitted: Fitted, plan: Plan, crew: Crew, tally: Tally, within: float
) -> list[tuple[int, np.ndarray]]:
    """Kind and pairs of all features within a distance at x0, for a scene whose vertices reach half as far."""
    surveyors = [Surveyor(plan, crew, within) for _ in range(crew.threads)]
    run_all(surveyors, crew, scene, lambda: fitted, chunks_of(scene, fitted, plan, crew.threads, share=SHARE))
    tally.merge(s.tally for s in surveyors)
    return [f for s in surveyors for f in s.near]


class Walker:
    """One thread's way through the hierarchy, and what it does with the pairs of elements it comes by."""

    plan: Plan
    crew: Crew
    front: Front | None
    tally: Tally

    def __init__(self, plan: Plan, crew: Crew, front: Front | None = None) -> None:
        self.plan, self.crew, self.front, self.tally = plan, crew, front, Tally()
        self._stack = np.empty((STACK_SIZE, 2), np.int32)
        self._stops = np.empty((0 if front is None else BLOCK, 2), np.int32)
        self._element_pairs = np.empty((BLOCK, 2), np.int32)
        self._waiting = 0  # pairs of chunks that did not fill the block: a call for a few pairs is mostly overhead

    def run(self, scene: Prepared, fitted: Fitted, chunk) -> None:
        """Everything below a part of the front; or all elements by brute force; or a slice of the orphans; or a range
        of elements, each with itself."""
        if chunk is None:
            self._run_brute(scene, fitted)
        elif isinstance(chunk, slice):
            self._run_orphans(scene, fitted, chunk)
        elif isinstance(chunk, range):
            self._run_alone(scene, fitted, chunk)
        else:
            self._run_nodes(scene, fitted, chunk)

    def flush(self, scene: Prepared, fitted: Fitted) -> None:
        """Look at the element pairs that are waiting; the last ones wait until this is called."""
        count, self._waiting = self._waiting, 0
        if count:
            if self.crew.stopped:
                raise Stopped
            self._expand(scene, fitted, count)

    def finish(self, scene: Prepared, fitted: Fitted) -> None:
        """After the last chunk: whatever is still waiting."""
        self.flush(scene, fitted)

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        """Look at the first pairs of the block of elements."""
        raise NotImplementedError

    def _run_orphans(self, scene: Prepared, fitted: Fitted, chunk: slice) -> None:
        raise NotImplementedError

    def _run_alone(self, scene: Prepared, fitted: Fitted, chunk: range) -> None:
        raise NotImplementedError

    def _run_brute(self, scene: Prepared, fitted: Fitted) -> None:
        i, j, self._waiting = every_pair(len(scene.tree.order), 0, 0, self._element_pairs)
        while self._waiting:
            self.flush(scene, fitted)
            i, j, self._waiting = every_pair(len(scene.tree.order), i, j, self._element_pairs)

    def _run_nodes(self, scene: Prepared, fitted: Fitted, part: Part) -> None:
        lowest = 1 if self.front is None else self.front.lowest
        walk, noted = Walk(*part, self._stack, self._element_pairs, self._stops), []
        state = State(taken=part.first, emitted=self._waiting)
        while not state.done:
            clock = time.perf_counter()
            state = go_on(fitted.forest, self.plan.wanted, len(fitted.forest.nodes), lowest, walk, state)
            self.tally.add("traversal", state.compared, state.emitted - self._waiting, time.perf_counter() - clock)
            self._waiting = state.emitted
            if state.stopped:
                noted.append(self._stops[: state.stopped].copy())
            if not state.done or 2 * state.emitted > BLOCK:
                self.flush(scene, fitted)
            state = state._replace(emitted=self._waiting, stopped=0)
        if self.front is not None:
            self.front.keep(part.first, noted)


class Worker(Walker):
    """Continuous detection: from pairs of elements to pairs of features, filters, and the exact test."""

    def __init__(self, plan: Plan, crew: Crew, front: Front | None = None) -> None:
        super().__init__(plan, crew, front)
        self.horizon: float = 1.0  # contacts later than this are not wanted
        self.fuzz: float = 0.0  # what is discarded stays free of contact if vertices are off by this much
        self.found: list[Found] = []
        # An element owns at most three vertices and three edges: 6 vertex-face and 9 edge-edge pairs of two elements.
        self._feature_pairs = np.empty((6 * BLOCK, 2), np.int32), np.empty((9 * BLOCK, 2), np.int32)
        self._toi, self._toi_upper = np.empty(9 * BLOCK), np.empty(9 * BLOCK)
        self._status = np.empty(9 * BLOCK, np.int8)

    def _run_orphans(self, scene: Prepared, fitted: Fitted, chunk: slice) -> None:
        clock = time.perf_counter()
        listed = scene.orphans[0][chunk], scene.orphans[1][chunk]
        vertex_face, edge_edge, compared = expand_listed(fitted.features, *listed, *self._feature_pairs)
        self.tally.add("orphans", compared, vertex_face + edge_edge, time.perf_counter() - clock)
        self._test(scene, VERTEX_FACE, scene.faces, vertex_face)
        self._test(scene, EDGE_EDGE, scene.edges, edge_edge)

    def _run_alone(self, scene: Prepared, fitted: Fitted, chunk: range) -> None:
        self.flush(scene, fitted)
        self._element_pairs[: len(chunk)] = np.arange(chunk.start, chunk.stop, dtype=np.int32)[:, None]
        self._expand_features(scene, fitted, len(chunk))

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        if scene.cells is not None:
            clock = time.perf_counter()
            kept = keep_separate(scene.leaves, scene.labels, self.plan.wanted, self._element_pairs, count)
            self.tally.add("separate cells", count, kept, time.perf_counter() - clock)
            count = kept
        for name in (f for f in self.plan.filters if f in ELEMENT_FILTERS):
            if name == "triangle" and scene.is_volume:
                continue
            clock = time.perf_counter()
            kept = self._cull(scene, fitted, count, name == "triangle")
            self.tally.add("csat of elements" if name == "csat" else name, count, kept, time.perf_counter() - clock)
            count = kept
        self._expand_features(scene, fitted, count)

    def _cull(self, scene: Prepared, fitted: Fitted, count: int, by_planes: bool) -> int:
        """Move the pairs of elements that no axis separates to the front; returns how many there are."""
        largest, pairs = scene.largest * scene.factor, self._element_pairs
        if scene.is_volume:
            are_separate = scene.cells is not None
            return cull_cells(scene.leaves, fitted.points, largest, fitted.reach, pairs, count, are_separate)
        cull = cull_resting_elements if fitted.points.shape[1] == 9 else cull_elements
        return cull(scene.leaves.corners, fitted.points, largest, fitted.reach, pairs, count, by_planes)

    def _expand_features(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        """Look at the features of the first pairs of the block."""
        pairs, done, is_first = self._element_pairs, 0, True
        if scene.cells is not None:
            pairs[:count] = scene.tree.order[pairs[:count]]
        while done < count or is_first:
            clock = time.perf_counter()
            if scene.cells is None:
                selection = scene.labels, self.plan.wanted, pairs, count
                counts = expand_static(scene.owned, fitted.features, selection, done, *self._feature_pairs)
            else:
                counts = expand_dynamic(scene.cells, fitted.features, pairs, count, done, *self._feature_pairs)
            vertex_face, edge_edge, compared, done = counts
            is_first = False
            self.tally.add("feature boxes", compared, vertex_face + edge_edge, time.perf_counter() - clock)
            self._test(scene, VERTEX_FACE, scene.faces, vertex_face)
            self._test(scene, EDGE_EDGE, scene.edges, edge_edge)

    def _test(self, scene: Prepared, kind: int, table: np.ndarray, count: int) -> None:
        """Filters, then the exact test, on a block of feature pairs of one kind."""
        count = self._filter(scene, kind, table, self._feature_pairs[kind], count)
        if count:
            self._decide(scene, kind, table, self._feature_pairs[kind][:count])

    def _filter(self, scene: Prepared, kind: int, table: np.ndarray, pairs: np.ndarray, count: int) -> int:
        """Move the pairs that no filter discards to the front; returns how many there are."""
        for name in (f for f in self.plan.filters if f in FILTERS):
            clock = time.perf_counter()
            motion = scene.x0, scene.x1, scene.reach
            kept = sieve(kind, FILTERS.index(name), *motion, table, pairs, count, self.horizon, self.fuzz)
            self.tally.add(name, count, kept, time.perf_counter() - clock)
            count = kept
        return count

    def _decide(self, scene: Prepared, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        toi, toi_upper, status = self._answers(len(pairs))
        if scene.approach is None:
            hits = decide(kind, scene.x0, scene.x1, table, pairs, toi, toi_upper, status, self.tally)
        else:
            hits = advance_pairs(kind, scene.approach, table, pairs, self.horizon, toi, toi_upper, status, self.tally)
        if hits:
            self._keep(kind, pairs, toi, toi_upper, status)

    def _answers(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """toi, toi_upper and status to be filled in for so many pairs."""
        return self._toi[:count], self._toi_upper[:count], self._status[:count]

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        hit = np.flatnonzero(status != MISS)
        self.found.append(Found(kind, pairs[hit], toi[hit], toi_upper[hit], status[hit]))


class Surveyor(Worker):
    """At one instant: pairs of features within a distance. To measure it costs no more than a filter."""

    def __init__(self, plan: Plan, crew: Crew, within: float) -> None:
        super().__init__(plan, crew)
        self.within, self.near = within, []

    def _test(self, scene: Prepared, kind: int, table: np.ndarray, count: int) -> None:
        if count:
            clock, pairs = time.perf_counter(), self._feature_pairs[kind]
            kept = measure_in_doubles(kind, scene.x0, table, pairs, count, self.within)
            self.tally.add("distance", count, kept, time.perf_counter() - clock)
            self.near.append((kind, pairs[:kept].copy()))
