"""The stages in a row: what happens to one chunk of the hierarchy, block by block, in one thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pliant._tally import Tally
from pliant._threads import Crew, Stopped
from pliant.bounds.kdops import bound_elements, bound_union
from pliant.culling.cones import fit_cones
from pliant.culling.contours import FREE, free_patches
from pliant.elementary.certified import HIT
from pliant.elementary.exact import decide
from pliant.filters.bernstein import unit_factor
from pliant.filters.csat import cull_elements, gather_corners
from pliant.filters.sieve import FILTERS, sieve
from pliant.hierarchy.build import Tree, centres_of, fit_nodes, label_ranges, split_elements
from pliant.hierarchy.discs import split_into_patches
from pliant.hierarchy.traverse import INTER, STACK_SIZE, every_pair, seed_chunks, traverse
from pliant.mesh.features import EDGE_EDGE, VERTEX_FACE, Elements, Owned, assign_features, elements_of
from pliant.mesh.orphans import Incidence, incidence_of, orphan_pairs
from pliant.mesh.patches import Patches, patches_of, twins_of
from pliant.mesh.triangles import TriMesh
from pliant.pairs.dynamic import drop_adjacent, expand_dynamic, expand_orphans
from pliant.pairs.static import expand_static

# Element pairs of a block: 8192 pairs make some 20,000 feature pairs, which stay in the second-level cache from the
# expansion to the elementary test, and the calls from Python (5 us each) stay below a percent of the time.
BLOCK = 8192
CHUNKS = 256  # per query: enough for an even load on many threads, few enough that their start does not count


class Plan(NamedTuple):
    """What the user asked for."""

    bounds: str
    filters: tuple[str, ...]
    culling: str
    wanted: int
    assignment: str


class Found(NamedTuple):
    """Contacts of one block."""

    kind: int
    pairs: np.ndarray  # (k, 2) element ids
    toi: np.ndarray
    toi_upper: np.ndarray


class Prepared(NamedTuple):
    """A scene with its tree: what does not change while the end of the motion comes closer."""

    x0: np.ndarray
    x1: np.ndarray
    faces: np.ndarray
    edges: np.ndarray
    leaves: Elements  # in the order of places
    owned: Owned  # by place
    tree: Tree
    largest: float  # coordinate of the scene
    factor: float  # a power of two that brings it near 1
    labels: np.ndarray  # object of each place
    label_range: np.ndarray  # of each node
    patches: Patches | None  # for normal cones
    incidence: Incidence | None  # for dynamic assignment
    orphans: tuple[np.ndarray, np.ndarray]  # the pairs that dynamic assignment does not come by: VF, EE


class Fitted(NamedTuple):
    """What depends on the motion that is left: bounds of everything up to some horizon."""

    nodes: np.ndarray  # by heap index
    free: np.ndarray  # by heap index, not 0: nothing below this node meets anything else below it
    bounds: tuple[np.ndarray, np.ndarray, np.ndarray]  # of owned vertices, owned edges, elements by place
    points: np.ndarray  # corners of the elements by place, for the separating axis test


def prepare(
    mesh: TriMesh, x0: np.ndarray, x1: np.ndarray, objects: np.ndarray | None, plan: Plan, crew: Crew, tally: Tally
) -> Prepared:
    """Topology and hierarchy."""
    clock = time.perf_counter()
    elements = elements_of(mesh)
    labels = np.zeros(len(x0), np.int32) if objects is None else objects
    clock = tally.lap("topology", clock)
    element_bounds = bound_elements(x0, x1, elements.corners, plan.bounds)[1]
    clock = tally.lap("bounds", clock)
    with_cones = "cones" in plan.culling
    if with_cones:
        twin = twins_of(elements.sides, len(mesh.edges))
        tree = split_into_patches(centres_of(element_bounds), twin, crew)
    else:
        tree = split_elements(element_bounds, crew)
    leaves = Elements(*(np.take(a, tree.order, axis=0) for a in elements))
    labels = np.ascontiguousarray(labels[leaves.corners[:, 0]], np.int32)
    owned = assign_features(leaves, mesh.edges, len(x0))
    # At least so much that a rounding error of the denormals, 5e-324, is a small part of its rounding error too.
    largest = max((float(np.abs(x).max()) for x in (x0, x1) if x.size), default=0.0)
    largest = max(largest, 1e-300)
    scene = Prepared(
        x0, x1, mesh.faces, mesh.edges, leaves, owned, tree,
        largest, unit_factor((largest, largest, largest)), labels, label_ranges(labels, tree.begin),
        patches_of(leaves, tree.begin, len(mesh.edges), len(x0)) if with_cones else None,
        *_dynamic(mesh, leaves, owned, plan),
    )  # fmt: skip
    tally.lap("hierarchy", clock)
    return scene


def _dynamic(
    mesh: TriMesh, leaves: Elements, owned: Owned, plan: Plan
) -> tuple[Incidence | None, tuple[np.ndarray, np.ndarray]]:
    """Incidence and orphans where assignment is dynamic; orphans are connected, so none are between objects."""
    none = np.empty((0, 2), np.int32)
    if plan.assignment == "static":
        return None, (none, none)
    incidence = incidence_of(mesh, leaves, owned)
    return incidence, (none, none) if plan.wanted == INTER else orphan_pairs(mesh, leaves)


def fit(scene: Prepared, bounds: str, horizon: float, room: float, tally: Tally) -> Fitted:
    """Bounds of features and nodes for the motion up to the horizon, with some room around."""
    clock = time.perf_counter()
    vertex_bounds, place_bounds = bound_elements(scene.x0, scene.x1, scene.leaves.corners, bounds, horizon, room)
    nodes = fit_nodes(place_bounds, scene.tree.begin)
    fitted = Fitted(
        nodes,
        np.zeros(len(nodes), np.int8),
        (vertex_bounds[scene.owned.vertex], bound_union(vertex_bounds, scene.owned.ends), place_bounds),
        gather_corners(scene.leaves.corners, scene.x0, scene.x1, horizon, scene.factor),
    )
    tally.lap("fit", clock)
    return fitted


def mark_free_patches(scene: Prepared, fitted: Fitted, fuzz: float, tally: Tally) -> None:
    """Normal cones and contours: which nodes surely do not meet themselves, for vertices off by at most fuzz."""
    if scene.patches is None:
        return
    clock = time.perf_counter()
    start, loop, turned = scene.patches
    cones = fit_cones(scene.x0, scene.x1, scene.leaves.corners, turned, scene.tree.begin, fuzz)
    clock = tally.lap("cones", clock)
    tests, _ = free_patches(scene.x0, scene.x1, fitted.nodes, cones, start, loop, fuzz, 1, 2, fitted.free)
    tally.add("contours", tests, tests - int(np.count_nonzero(fitted.free == FREE)), time.perf_counter() - clock)


def chunks_of(scene: Prepared, fitted: Fitted, plan: Plan) -> list:
    """What the threads take one by one: pairs of nodes that overlap (None: all elements), then slices of orphans."""
    if len(scene.tree.order) < 2:
        return []
    step = 6 * BLOCK
    orphans = [slice(begin, begin + step) for begin in range(0, max(map(len, scene.orphans)), step)]
    if plan.culling == "brute":
        return [None, *orphans]
    seeds = seed_chunks(fitted.nodes, fitted.bounds[2], scene.tree.begin, fitted.free, scene.label_range, plan.wanted, CHUNKS)
    return [*seeds, *orphans]


def run_all(workers: Sequence[Worker], crew: Crew, scene: Prepared, fitted: Callable[[], Fitted], chunks: list) -> None:
    """All chunks, then what is left waiting in the workers' blocks; fitted gives the bounds to use now."""
    crew.run(lambda worker, chunk: workers[worker].run(scene, fitted(), chunk), chunks)
    Crew(crew.threads).run(lambda _, worker: worker.finish(scene, fitted()), workers)


class Worker:
    """One thread's buffers, and the contacts it has found so far."""

    def __init__(self, plan: Plan, crew: Crew) -> None:
        self.plan, self.crew, self.tally = plan, crew, Tally()
        self.horizon = 1.0  # contacts later than this are not wanted
        self.fuzz = 0.0  # what is discarded stays free of contact if vertices are off by this much
        self.found: list[Found] = []
        self._stack = np.empty((STACK_SIZE, 2), np.int32)
        self._element_pairs = np.empty((BLOCK, 2), np.int32)
        self._waiting = (
            0  # element pairs of chunks that did not fill the block: a call for a few pairs is mostly overhead
        )
        # An element owns at most three vertices and three edges: 6 vertex-face and 9 edge-edge pairs of two elements.
        self._feature_pairs = np.empty((6 * BLOCK, 2), np.int32), np.empty((9 * BLOCK, 2), np.int32)
        self._toi, self._toi_upper = np.empty(9 * BLOCK), np.empty(9 * BLOCK)
        self._status = np.empty(9 * BLOCK, np.int8)

    def run(self, scene: Prepared, fitted: Fitted, chunk) -> None:
        """All contacts below one pair of nodes; or of all elements by brute force; or of a slice of the orphans."""
        if chunk is None:
            self._run_brute(scene, fitted)
        elif isinstance(chunk, slice):
            self._run_orphans(scene, fitted, chunk)
        else:
            self._run_nodes(scene, fitted, chunk)

    def _run_brute(self, scene: Prepared, fitted: Fitted) -> None:
        i, j, count = every_pair(len(scene.tree.order), 0, 0, self._element_pairs)
        while count:
            self._expand(scene, fitted, count)
            i, j, count = every_pair(len(scene.tree.order), i, j, self._element_pairs)

    def _run_orphans(self, scene: Prepared, fitted: Fitted, chunk: slice) -> None:
        clock = time.perf_counter()
        vertex_face, edge_edge, compared = expand_orphans(
            scene.incidence, fitted.bounds, scene.orphans[0][chunk], scene.orphans[1][chunk], *self._feature_pairs
        )
        self.tally.add("orphans", compared, vertex_face + edge_edge, time.perf_counter() - clock)
        self._test(scene, VERTEX_FACE, scene.faces, vertex_face)
        self._test(scene, EDGE_EDGE, scene.edges, edge_edge)

    def _run_nodes(self, scene: Prepared, fitted: Fitted, chunk: np.ndarray) -> None:
        self._stack[0] = chunk
        top = 1
        while top:
            clock = time.perf_counter()
            top, count, compared = traverse(
                fitted.nodes, fitted.bounds[2], scene.tree.begin, fitted.free, scene.label_range, self.plan.wanted,
                len(fitted.nodes), self._stack, top, self._element_pairs, self._waiting,
            )  # fmt: skip
            self.tally.add("traversal", compared, count - self._waiting, time.perf_counter() - clock)
            self._waiting = count
            if top or 2 * count > BLOCK:
                self.flush(scene, fitted)

    def flush(self, scene: Prepared, fitted: Fitted) -> None:
        """Expand and test the element pairs that are waiting; the last ones wait until this is called."""
        count, self._waiting = self._waiting, 0
        if count:
            self._expand(scene, fitted, count)

    def finish(self, scene: Prepared, fitted: Fitted) -> None:
        """After the last chunk: whatever is still waiting."""
        self.flush(scene, fitted)

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        if self.crew.stop.is_set():
            raise Stopped
        if scene.incidence is not None:
            count = drop_adjacent(scene.leaves.corners, self._element_pairs, count)
        if "csat" in self.plan.filters:
            clock = time.perf_counter()
            kept = cull_elements(
                scene.leaves.corners, fitted.points, scene.largest * scene.factor, self._element_pairs, count
            )
            self.tally.add("csat of elements", count, kept, time.perf_counter() - clock)
            count = kept
        clock = time.perf_counter()
        arguments = fitted.bounds, scene.labels, self.plan.wanted, self._element_pairs, count, *self._feature_pairs
        if scene.incidence is None:
            vertex_face, edge_edge, compared = expand_static(scene.leaves, scene.owned, *arguments)
        else:
            vertex_face, edge_edge, compared = expand_dynamic(scene.leaves, scene.owned, scene.incidence, *arguments)
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
        for name in self.plan.filters:
            clock = time.perf_counter()
            kept = sieve(kind, FILTERS.index(name), scene.x0, scene.x1, table, pairs, count, self.horizon, self.fuzz)
            self.tally.add(name, count, kept, time.perf_counter() - clock)
            count = kept
        return count

    def _decide(self, scene: Prepared, kind: int, table: np.ndarray, pairs: np.ndarray) -> None:
        toi, toi_upper, status = self._answers(len(pairs))
        if decide(kind, scene.x0, scene.x1, table, pairs, toi, toi_upper, status, self.tally):
            self._keep(kind, pairs, toi, toi_upper, status)

    def _answers(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """toi, toi_upper and status to be filled in for so many pairs."""
        return self._toi[:count], self._toi_upper[:count], self._status[:count]

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        hit = np.flatnonzero(status == HIT)
        self.found.append(Found(kind, pairs[hit], toi[hit], toi_upper[hit]))
