"""The walk over the pairs of a scene: chunks for the threads, and what happens to one of them, block by block."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Scene, Topology
from pliant.engine.travel import Travel
from pliant.hierarchy.build import LARGEST_OF_PAIRS
from pliant.hierarchy.front import Front
from pliant.hierarchy.traverse import STACK_SIZE, State, Walk, cut_through, every_pair, go_on
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Stopped, ThreadPool

# Element pairs of a block: 8192 pairs make some 20,000 feature pairs, which stay in the second-level cache from the
# expansion to the elementary test, and the calls from Python (5 us each) stay below a percent of the time.
BLOCK = 8192
# Of small scenes: one thread can take all chunks of them before another has begun, and what it passes on by itself is
# not shared. flat_sheets with 1,000 triangles took 31, 46 or 58 ms, and 33 now. A traversal goes on where all pairs of
# two leaves have space.
FEW, SMALL_BLOCK = 4096, LARGEST_OF_PAIRS**2  # elements, pairs
SEEDS = 1024  # pairs of nodes to start from: more than there are chunks, which take several
# Chunks per thread, if all are as small as the last ones, which make the load even. Elsewhere a chunk is one part in
# SHARE, per thread, of what is left, since the start of each takes 30 us: all of them were a tenth of a frame with
# cones. ``step`` has new bounds with each chunk: it starts with small ones, which most often find an early contact.
CHUNKS = 48
SHARE = 4
LEAST = 128  # elements for each chunk, on average: a query about a few triangles is mostly the start of its chunks
UNEVEN = 512  # pairs that one walker may hold more than another when all chunks are taken


class Part(NamedTuple):
    """Everything below the pairs of nodes from first up to end."""

    pairs: np.ndarray
    first: int
    end: int


class Listed(NamedTuple):
    """Pairs of features that no two elements bring up, from first up to end of either kind."""

    first: int
    end: int


class Alone(NamedTuple):
    """Elements, by place from first up to end, each with itself."""

    first: int
    end: int


class Everything(NamedTuple):
    """All pairs of elements, by brute force."""


Chunk = Part | Listed | Alone | Everything


class Sink(Protocol):
    """What becomes of pairs: each thread has one of its own."""

    tally: Tally

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        """The first pairs of a block of places; may be overwritten."""
        ...

    def take_listed(self, scene: Scene, fitted: Fitted, chunk: Listed) -> None: ...

    def take_alone(self, scene: Scene, fitted: Fitted, chunk: Alone) -> None: ...

    def finish(self, travel: Travel, topology: Topology) -> None:
        """After the last pairs."""
        ...


def walk(
    scene: Scene, fitted: Callable[[], Fitted], plan: Plan, sinks: Sequence[Sink], pool: ThreadPool, tally: Tally,
    front: Front | None = None, starts_small: bool = False,
) -> None:  # fmt: skip
    """All pairs that may meet, each once, into the sinks, one for each thread.

    fitted: gives the bounds to use now, for each chunk; front: where to start, and where the next one is noted;
    starts_small: with small chunks, after which there may be other bounds
    """
    if fitted().features is not None and plan.is_dynamic and not scene.hierarchy.assignment.is_dynamic:
        tally.add("static assignment: too many orphans", 0, 0, 0.0)
    block = SMALL_BLOCK if len(scene.hierarchy.tree.order) <= FEW else BLOCK
    walkers = [Walker(plan, pool, sink, block, front) for sink in sinks]
    chunks = chunks_of(scene, fitted(), plan, pool.threads, front, starts_small)
    pool.run(lambda worker, chunk: walkers[worker].run(scene, fitted(), chunk), chunks)
    share_waiting(walkers)
    ThreadPool(pool.threads).run(lambda _, walker: walker.finish(scene, fitted()), walkers)
    tally.merge(sink.tally for sink in sinks)


def share_waiting(walkers: Sequence[Walker]) -> None:
    """Deal out the pairs that are waiting after the last chunk, where some have many more than others."""
    counts = [walker.waiting for walker in walkers]
    if max(counts) - min(counts) > UNEVEN:
        pairs = np.concatenate([walker.give_up() for walker in walkers])
        for number, walker in enumerate(walkers):
            walker.accept(pairs[number :: len(walkers)])


def chunks_of(
    scene: Scene, fitted: Fitted, plan: Plan, threads: int, front: Front | None = None, starts_small: bool = False
) -> list[Chunk]:
    """What the threads take one by one: parts of the front (None: all elements), then slices of what is listed, and of
    elements that are examined with themselves."""
    listed = _slices(scene, fitted)
    if len(scene.hierarchy.tree.order) < 2:
        return listed
    if plan.is_brute:
        return [Everything(), *listed]
    parts = max(1, min(CHUNKS * threads, len(scene.hierarchy.tree.order) // LEAST))
    pairs = _dealt(*cut_through(fitted.pair_tree, plan.wanted, SEEDS), parts) if front is None else front.pairs
    ends = _ends(len(pairs), parts, SHARE * threads, threads if starts_small else 0)
    return [*(Part(pairs, first, end) for first, end in itertools.pairwise(ends)), *listed]


def _slices(scene: Scene, fitted: Fitted) -> list[Chunk]:
    if fitted.features is None:  # only whole elements are examined
        return []
    assignment, count = scene.hierarchy.assignment, len(scene.hierarchy.tree.order)
    step, most = 6 * BLOCK, max(map(len, assignment.listed))
    slices: list[Chunk] = [Listed(begin, begin + step) for begin in range(0, most, step)]
    if assignment.has_inner_pairs:
        slices += [Alone(begin, min(begin + BLOCK, count)) for begin in range(0, count, BLOCK)]
    return slices


def _ends(count: int, parts: int, share: int, small: int) -> list[int]:
    """Where parts begin and end: one in ``share`` of what is left, and not smaller than if all were alike; so many at
    first are as small as that, and as many each twice as large."""
    ends, least = [0], max(1, count // parts)
    while ends[-1] < count:
        left, most = count - ends[-1], least << ((len(ends) - 1) // small) if small else count
        ends.append(ends[-1] + min(left, max(least, min(left // share, most))))
    return ends


def _dealt(pairs: np.ndarray, level: int, parts: int) -> np.ndarray:
    """The pairs of a level, dealt out like cards: each part is a sample of the whole.

    So the load is even, and ``step`` meets an early contact soon, wherever it is.
    """
    pairs = pairs[pairs[:, 0] >= 1 << level]  # the others are apart
    return pairs[np.argsort(np.arange(len(pairs)) % parts, kind="stable")]


class Walker:
    """One thread's way through the hierarchy; blocks of pairs of elements go to its sink."""

    def __init__(self, plan: Plan, pool: ThreadPool, sink: Sink, block: int, front: Front | None = None) -> None:
        self._plan, self._pool, self._sink, self._front = plan, pool, sink, front
        self._stack = np.empty((STACK_SIZE, 2), np.int32)
        self._stops = np.empty((0 if front is None else BLOCK, 2), np.int32)
        self._block = np.empty((block, 2), np.int32)
        self._waiting = 0  # pairs of chunks that did not fill the block: a call for a few pairs is mostly overhead

    def run(self, scene: Scene, fitted: Fitted, chunk: Chunk) -> None:
        match chunk:
            case Part():
                self._below(scene, fitted, chunk)
            case Listed():
                self._sink.take_listed(scene, fitted, chunk)
            case Alone():
                self._sink.take_alone(scene, fitted, chunk)
            case Everything():
                self._everything(scene, fitted)

    @property
    def waiting(self) -> int:
        """Pairs that wait for more of them."""
        return self._waiting

    def give_up(self) -> np.ndarray:
        """The pairs that wait, (k, 2); none do from then on."""
        count, self._waiting = self._waiting, 0
        return self._block[:count].copy()

    def accept(self, pairs: np.ndarray) -> None:
        """Pairs that another one gave up, at most a block."""
        self._block[: len(pairs)], self._waiting = pairs, len(pairs)

    def finish(self, scene: Scene, fitted: Fitted) -> None:
        """After the last chunk: whatever is still waiting."""
        self._flush(scene, fitted)
        self._sink.finish(scene.travel, scene.topology)

    def _flush(self, scene: Scene, fitted: Fitted) -> None:
        """Pass on the pairs that are waiting."""
        count, self._waiting = self._waiting, 0
        if count:
            if self._pool.stopped:
                raise Stopped
            self._sink.take(scene, fitted, self._block, count)

    def _everything(self, scene: Scene, fitted: Fitted) -> None:
        places = len(scene.hierarchy.tree.order)
        i, j, self._waiting = every_pair(places, 0, 0, self._block)
        while self._waiting:
            self._flush(scene, fitted)
            i, j, self._waiting = every_pair(places, i, j, self._block)

    def _below(self, scene: Scene, fitted: Fitted, part: Part) -> None:
        front, tally = self._front, self._sink.tally
        lowest = 1 if front is None else front.lowest
        buffers, noted = Walk(*part, self._stack, self._block, self._stops), []
        state = State(taken=part.first, emitted=self._waiting)
        while not state.done:
            clock = time.perf_counter()
            state = go_on(fitted.pair_tree, self._plan.wanted, len(fitted.pair_tree.nodes), lowest, buffers, state)
            tally.add("traversal", state.compared, state.emitted - self._waiting, time.perf_counter() - clock)
            self._waiting = state.emitted
            if state.stopped:
                noted.append(self._stops[: state.stopped].copy())
            if not state.done or 2 * state.emitted > len(self._block):
                self._flush(scene, fitted)
            state = state._replace(emitted=self._waiting, stopped=0)
        if front is not None:
            front.keep(part.first, noted)
