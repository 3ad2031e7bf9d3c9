"""Small meshes: all pairs of features whose boxes overlap, found by one sweep along an axis; no tree is built.

A walk through a tree, with its bounds, chunks and threads, is some thirty calls of 3 to 10 us each, whatever there is
to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.bounds.kdops import bound_vertices
from pliant.elementary.exact import quads_of
from pliant.engine.plan import Plan
from pliant.engine.scene import Topology
from pliant.engine.sinks import AllContacts, Features, Near
from pliant.engine.travel import Travel
from pliant.engine.verified import Meeting, meeting_among
from pliant.engine.walk import BLOCK
from pliant.pairs.direct import direct_pairs
from pliant.runtime.arrays import Buffers
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

# Elements: with many more, a tree leaves out more than it costs. On a busy machine 484 still gained a fifth, 2,116 were
# not tried; to be measured on an idle one.
SMALL = 800
CHUNKS = 4  # for each thread
LEAST = 256  # pairs of features that are worth a thread of their own

Pairs = tuple[np.ndarray, ...]  # (k, 2) ids of features, of each kind


class Direct:
    """Pairs of features of a small surface."""

    def __init__(self, topology: Topology, plan: Plan) -> None:
        labels = topology.labels(plan.wanted)
        self._topology, self._plan, self._buffers = topology, plan, Buffers()
        self._features = topology.tested.features._vertices, *topology.tables
        self._selection = np.zeros(0, np.int32) if labels is None else labels, plan.wanted
        self._pairs = tuple(np.empty((4 * len(table), 2), np.int32) for table in topology.tables)

    @staticmethod
    def serves(topology: Topology) -> bool:
        mesh = topology.tested.features
        elements = len(mesh._faces) + len(mesh._loose_edges) + len(mesh._loose_points)
        return topology.tested.cells is None and 0 < elements <= SMALL

    def pairs(self, travel: Travel, tally: Tally, relative_padding: float = 0.0) -> Pairs:
        """Those whose boxes overlap during a motion; relative_padding: as for ``bound_vertices``."""
        clock = time.perf_counter()
        boxes = bound_vertices(
            travel.x0, travel.x1, relative_padding=relative_padding, padding=travel.contact_radius,
            new=self._buffers.named("vertices"),
        )  # fmt: skip
        while True:
            *counts, compared = direct_pairs(boxes, self._features, self._selection, *self._pairs)
            if all(counts[kind] <= len(self._pairs[kind]) for kind in KINDS):
                break
            self._pairs = tuple(np.empty((max(counts[kind], 1), 2), np.int32) for kind in KINDS)
        tally.add("feature boxes", compared, sum(counts), time.perf_counter() - clock)
        return tuple(self._pairs[kind][: counts[kind]] for kind in KINDS)

    def meeting(self, near: list[Near], pool: ThreadPool) -> Meeting:
        """near: the pairs of features that could not be proved apart"""

        def where_drawn(there: Travel, _drawn: np.ndarray) -> tuple[int, np.ndarray]:
            sinks = [AllContacts(self._plan) for _ in range(pool.threads)]
            pairs, tables = self.pairs(there, Tally()), self._topology.tables
            examine(travel=there, topology=self._topology, pairs=pairs, sinks=sinks, pool=pool)
            quads = [quads_of(f.kind, tables[f.kind], f.pairs) for sink in sinks for f in sink.found]
            return sum(map(len, pairs)), np.concatenate([np.empty((0, 4), np.int32), *quads])

        return meeting_among(near, self._topology.tables, where_drawn)


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
