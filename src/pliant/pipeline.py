"""The stages in a row: what happens to one chunk of the hierarchy, block by block, in one thread."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pliant._tally import Tally
from pliant._threads import Crew, Stopped
from pliant.bounds.kdops import bound_features
from pliant.elementary.certified import HIT
from pliant.elementary.exact import decide
from pliant.filters.sieve import FILTERS, sieve
from pliant.hierarchy.build import Tree, build_tree, label_ranges, refit_tree
from pliant.hierarchy.traverse import STACK_SIZE, every_pair, seed_chunks, traverse
from pliant.mesh.features import EDGE_EDGE, VERTEX_FACE, Elements, elements_of
from pliant.mesh.triangles import TriMesh
from pliant.pairs.static import expand_static

# Element pairs of a block: 8192 pairs make some 20,000 feature pairs, which stay in the second-level cache from the
# expansion to the elementary test, and the calls from Python (5 us each) stay below a percent of the time.
BLOCK = 8192
CHUNKS = 256  # per query: enough for an even load on many threads, few enough that their start does not count


# toi is known to 1e-12: a contact that looks later than the best so far by less may still have the smaller toi.
LEEWAY = 2e-12


class Plan(NamedTuple):
    """What the user asked for."""

    bounds: str
    filters: tuple[str, ...]
    culling: str
    wanted: int


class Found(NamedTuple):
    """Contacts of one block."""

    kind: int
    pairs: np.ndarray  # (k, 2) element ids
    toi: np.ndarray
    toi_upper: np.ndarray


class Prepared(NamedTuple):
    """A scene ready to be traversed."""

    x0: np.ndarray
    x1: np.ndarray
    faces: np.ndarray
    edges: np.ndarray
    corners: np.ndarray  # of the elements in their own order, for refitting
    leaves: Elements  # in the order of places
    tree: Tree
    feature_bounds: tuple[np.ndarray, np.ndarray, np.ndarray]  # vertices, edges, elements by place
    labels: np.ndarray  # object of each place
    label_range: np.ndarray  # of each node


def prepare(
    mesh: TriMesh, x0: np.ndarray, x1: np.ndarray, objects: np.ndarray | None, plan: Plan, tally: Tally
) -> Prepared:
    """Topology, bounds and hierarchy."""
    clock = time.perf_counter()
    elements, edges = elements_of(mesh), mesh.edges
    labels = np.zeros(len(x0), np.int32) if objects is None else objects
    labels = labels[elements.corners[:, 0]]
    tally.add("topology", 0, 0, -clock + (clock := time.perf_counter()))
    vertex_bounds, edge_bounds, element_bounds = bound_features(x0, x1, elements.corners, edges, plan.bounds)
    tally.add("bounds", 0, 0, -clock + (clock := time.perf_counter()))
    tree = build_tree(element_bounds)
    leaves = Elements(*(a[tree.order] for a in elements))
    labels = np.ascontiguousarray(labels[tree.order], np.int32)
    prepared = Prepared(
        x0, x1, mesh.faces, edges, elements.corners, leaves, tree,
        (vertex_bounds, edge_bounds, tree.place_bounds), labels, label_ranges(labels, tree.depth),
    )  # fmt: skip
    tally.add("hierarchy", 0, 0, time.perf_counter() - clock)
    return prepared


def refit(scene: Prepared, bounds: str, horizon: float) -> Prepared:
    """The same scene and the same tree for the motion up to the horizon."""
    vertex_bounds, edge_bounds, element_bounds = bound_features(
        scene.x0, scene.x1, scene.corners, scene.edges, bounds, horizon
    )
    tree = refit_tree(scene.tree.order, scene.tree.depth, element_bounds)
    return scene._replace(tree=tree, feature_bounds=(vertex_bounds, edge_bounds, tree.place_bounds))


def chunks_of(scene: Prepared, plan: Plan) -> list:
    if len(scene.tree.order) < 2:
        return []
    if plan.culling == "brute":
        return [None]
    return list(seed_chunks(scene.tree, scene.label_range, plan.wanted, CHUNKS))


class Worker:
    """One thread's buffers, and the contacts it has found so far."""

    def __init__(self, plan: Plan, crew: Crew) -> None:
        self.plan, self.crew, self.tally = plan, crew, Tally()
        self.horizon = 1.0  # contacts later than this are not wanted
        self.found: list[Found] = []
        self._stack = np.empty((STACK_SIZE, 2), np.int32)
        self._element_pairs = np.empty((BLOCK, 2), np.int32)
        # An element owns at most three vertices and three edges: 6 vertex-face and 9 edge-edge pairs of two elements.
        self._feature_pairs = np.empty((6 * BLOCK, 2), np.int32), np.empty((9 * BLOCK, 2), np.int32)
        self._toi, self._toi_upper = np.empty(9 * BLOCK), np.empty(9 * BLOCK)
        self._status = np.empty(9 * BLOCK, np.int8)

    def run(self, scene: Prepared, chunk) -> None:
        """All contacts below one pair of nodes (None: of the whole scene, by brute force)."""
        if chunk is None:
            state = (0, 0)
            while True:
                i, j, count = every_pair(len(scene.tree.order), *state, self._element_pairs)
                state = (i, j)
                if count == 0:
                    return
                self._expand(scene, count)
        self._stack[0] = chunk
        top = 1
        while top:
            clock = time.perf_counter()
            top, count, compared = traverse(
                scene.tree.bounds, scene.tree.place_bounds, scene.label_range, self.plan.wanted,
                scene.tree.depth, scene.tree.depth + 1, self._stack, top, self._element_pairs,
            )  # fmt: skip
            self.tally.add("traversal", compared, count, time.perf_counter() - clock)
            self._expand(scene, count)

    def _expand(self, scene: Prepared, count: int) -> None:
        if self.crew.stop.is_set():
            raise Stopped
        clock = time.perf_counter()
        vertex_face, edge_edge, compared = expand_static(
            scene.leaves, scene.edges, scene.feature_bounds, scene.labels, self.plan.wanted,
            self._element_pairs, count, *self._feature_pairs,
        )  # fmt: skip
        self.tally.add("feature boxes", compared, vertex_face + edge_edge, time.perf_counter() - clock)
        self._test(scene, VERTEX_FACE, scene.faces, vertex_face)
        self._test(scene, EDGE_EDGE, scene.edges, edge_edge)

    def _test(self, scene: Prepared, kind: int, table: np.ndarray, count: int) -> None:
        """Filters, then the exact test, on a block of feature pairs of one kind."""
        pairs = self._feature_pairs[kind]
        for name in self.plan.filters:
            clock = time.perf_counter()
            kept = sieve(kind, FILTERS.index(name), scene.x0, scene.x1, table, pairs, count, self.horizon)
            self.tally.add(name, count, kept, time.perf_counter() - clock)
            count = kept
        toi, toi_upper, status = self._toi[:count], self._toi_upper[:count], self._status[:count]
        decide(kind, scene.x0, scene.x1, table, pairs[:count], toi, toi_upper, status, self.tally)
        hit = np.flatnonzero(status == HIT)
        if len(hit):
            self._keep(Found(kind, pairs[hit], toi[hit], toi_upper[hit]))

    def _keep(self, found: Found) -> None:
        self.found.append(found)


class FirstContactWorker(Worker):
    """A worker that only wants the first contact: each one it finds shortens the motion that is left to look at."""

    def _keep(self, found: Found) -> None:
        earliest = int(np.argmin(found.toi))
        if found.toi[earliest] <= self.horizon:
            rows = np.flatnonzero(found.toi == found.toi[earliest])
            self.found.append(Found(found.kind, found.pairs[rows], found.toi[rows], found.toi_upper[rows]))
            self.horizon = min(self.horizon, found.toi[earliest] + LEEWAY)
