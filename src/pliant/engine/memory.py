"""The engine with its memory: tree, patches and fronts that are kept from query to query.

Which tree a query walks changes its time and never its result, so what to keep is decided by costs alone, counted in
comparisons of bounds: a comparison takes about 15 ns, and everything below is measured against that, on built-in scenes
of 20,000 triangles, one thread, CPU time. Counts and not seconds, so that a detector does the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from pliant.bounds.kdops import STEP_PADDING
from pliant.engine.direct import Direct, examine
from pliant.engine.first_contact import FirstContact, Horizon, first_contacts, rounding_of
from pliant.engine.free_patches import mark_free_patches
from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Hierarchy, Scene, Topology, build, fit
from pliant.engine.sinks import AllContacts, Crossing, Crossings, Features, Found, Near, NearFeatures
from pliant.engine.tables import tabulate
from pliant.engine.travel import Travel
from pliant.engine.verified import Meeting, meeting_in, verified_positions
from pliant.engine.walk import SEEDS, Sink, walk
from pliant.engine.wanted import Wanted
from pliant.hierarchy.build import LARGEST_OF_PAIRS, REBUILD_RATIO, tree_cost
from pliant.hierarchy.carrying import carried
from pliant.hierarchy.front import ABOVE_LEAVES, Front
from pliant.hierarchy.traverse import ALL
from pliant.results.contacts import Contacts
from pliant.results.steps import Step
from pliant.runtime.arrays import Buffers
from pliant.runtime.processes import expect
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

# Comparisons that take as long as ...
BUILDING = 16  # ... to build the tree, for each element,
PATCHES = 75  # ... a tree of patches with their contours,
CONES = 10  # ... the cones and contours of a frame,
EMITTED = 15  # ... what becomes of a pair of elements that comes out of the walk.

# Elements from which on cones are tried. Of five scenes, 12 frames each, with cones from the first frame on: at 1,000
# and 2,000 triangles they save at most 0.16 ms of a frame, and cost 0.05 to 0.35 in four of the five; at 4,000 they
# save at most 0.75 of 6.1, at 20,000 0.4 to 4.0. To load their kernels takes 60 to 77 ms, to compile them ten seconds.
FEWEST_FOR_CONES = 5_000

# As REBUILD_RATIO, for patches: they are cut along the surface, so that a new tree is about the same.
PATCH_REBUILD_RATIO = 1.6


class Query(Enum):
    """What is asked; each has a front of its own, but for STEP, whose horizon is another one every time."""

    CONTACTS = "contacts"
    STEP = "step"
    NEAR = "near"
    INTERSECTIONS = "intersections"

    @property
    def has_features(self) -> bool:
        """Pairs of vertices, edges and faces are wanted, not only of elements."""
        return self is not Query.INTERSECTIONS

    @property
    def padding(self) -> float:
        """Around bounds: a step ends at positions that are rounded."""
        return STEP_PADDING if self is Query.STEP else 0.0


class _Tree:
    """A tree that is kept, and what walks through it have cost."""

    def __init__(self, hierarchy: Hierarchy, query: Query, nodes: np.ndarray) -> None:
        """nodes : bounds in the first frame, that of a query"""
        self.hierarchy, self.size = hierarchy, len(hierarchy.tree.order)
        self.fronts: dict[Query, Front] = {}
        self._first = query, nodes  # measured when there is a second frame
        self._costs: dict[Query, float] = {}
        self.excess = _Excess()

    def with_elements(self, hierarchy: Hierarchy, keep_fronts: bool) -> _Tree:
        """The same nodes, with other elements."""
        new = _Tree(hierarchy, *self._first)
        new.fronts = {query: front.copy() for query, front in self.fronts.items()} if keep_fronts else {}
        new._costs, new.excess = dict(self._costs), deepcopy(self.excess)
        return new

    @property
    def building(self) -> int:
        """Comparisons that take as long as to build it."""
        return self.size * (BUILDING if self.hierarchy.patches is None else PATCHES)

    def has_grown(self, query: Query, nodes: np.ndarray) -> bool:
        """Its nodes are so much larger than they were that it has to be rebuilt."""
        if not self._costs:
            first, before = self._first
            self._costs[first] = tree_cost(before)
            self._first = query, nodes[:0]
        limit = REBUILD_RATIO if self.hierarchy.patches is None else PATCH_REBUILD_RATIO
        cost = tree_cost(nodes)
        return cost > limit * self._costs.setdefault(query, cost)

    @property
    def has_degraded(self) -> bool:
        """To rebuild it would have cost less than it has cost to walk through it as it is."""
        return self.excess.count > self.excess.patience * self.building


class _Excess:
    """Comparisons beyond those of the first walk through a tree: what it costs not to rebuild it.

    Where a scene itself has more to compare from frame to frame, a new tree saves nothing, and the next one has to wait
    longer.
    """

    def __init__(self) -> None:
        self.count: int = 0
        self.patience: int = 1  # times the cost of building
        self._first: dict[Query, int] = {}  # comparisons in the first walk of each query
        self._last: dict[Query, int] = {}
        self._replaced: dict[Query, int] = {}  # the last ones through the tree before this one

    def note(self, query: Query, compared: int) -> None:
        """After a walk."""
        self.count += max(0, compared - self._first.setdefault(query, compared))
        before = self._replaced.pop(query, None)
        if before is not None:
            self.patience = 4 * self.patience if compared > 0.9 * before else 1
            self._replaced.clear()
        self._last[query] = compared

    def after_rebuild(self) -> _Excess:
        """Of the new tree."""
        new = _Excess()
        new.patience, new._replaced = self.patience, dict(self._last)
        return new


class Engine:
    """Queries about one mesh, one after the other; each result is that of a fresh engine.

    Every query is a scene, a walk over its pairs, and sinks that keep what is wanted.
    """

    above_leaves = ABOVE_LEAVES  # levels at which fronts end; 0 for the conventional front

    def __init__(
        self, topology: Topology, plan: Plan, threads: int, *, adapts: bool = False, is_tuned: bool = True
    ) -> None:
        """adapts: change to cones where they pay; is_tuned: the user has said how to go about it."""
        self.topology, self.plan, self.threads = topology, plan, threads
        # Marks the nodes that are free of self-contact; methods that are compared with ours differ in this.
        self.mark: Callable[[Scene, Fitted, float, ThreadPool, Tally], None] = mark_free_patches
        self._tree: _Tree | None = None
        self._buffers = Buffers()
        self._cones = _Trial() if adapts and topology.tested.cells is None else None
        self._jumps = _Jumps()
        self._is_tuned = is_tuned
        self._direct = None if is_tuned or not Direct.serves(topology) else Direct(topology, plan)

    # ---- queries

    def table(self, travel: Travel, pool: ThreadPool, tally: Tally, wanted: Wanted | None = None) -> Contacts:
        """Every contact during a motion, or those that are wanted."""
        if self._direct is not None and wanted is None and self._direct.finds(travel):
            table = self._direct.contacts(travel, pool, tally)
            if table is not None:
                return table
        found = self.contacts(travel, pool, tally, wanted)
        return tabulate(self.topology.tested, travel, found, tally, ThreadPool(self.threads))

    def step(self, travel: Travel, pool: ThreadPool, tally: Tally) -> Step:
        """How far a motion can go, the contact that ends it, and verified positions before that."""
        if self._direct is not None and self._direct.finds(travel):
            step = self._direct.step(travel, pool, tally)
            if step is not None:
                return step
        first = self.first_contacts(travel, pool, tally)
        if not first.found:
            return Step(1.0, None, travel.x1.copy(), tally.stages())
        contacts = tabulate(self.topology.tested, travel, first.found, tally)
        contact = contacts[int(np.argmin(contacts.toi))]
        t = float(contact.toi[0])
        positions = verified_positions(travel, self.topology.vertices, t, first.meeting, tally)
        return Step(t, contact, positions, tally.stages())

    def contacts(self, travel: Travel, pool: ThreadPool, tally: Tally, wanted: Wanted | None = None) -> list[Found]:
        """Every contact during a motion, or those that are wanted, for as many sinks as the pool has threads; raises
        TooManyContacts where that has a limit."""
        plan = self._plan_for(travel)
        sinks = [AllContacts(plan, wanted=wanted and (wanted, number)) for number in range(pool.threads)]
        self._walk(Query.CONTACTS, travel, plan, sinks, pool, tally)
        return [found for sink in sinks for found in sink.found]

    def contacts_among(
        self, travel: Travel, pairs: tuple[np.ndarray, ...], pool: ThreadPool, tally: Tally
    ) -> list[Found]:
        """The contacts of given pairs of features, (k, 2) of each kind: no walk."""
        sinks = [AllContacts(self._plan_for(travel)) for _ in range(pool.threads)]
        self._examine(travel, tuple(some.copy() for some in pairs), sinks, pool, tally)
        return [found for sink in sinks for found in sink.found]

    def near(
        self, travel: Travel, within: float, pool: ThreadPool, tally: Tally, wanted: Wanted | None = None
    ) -> list[Near]:
        """Pairs of features within a distance, for vertices whose contact radius is half of it; raises TooManyContacts
        where there are more than wanted."""
        plan = replace(self._plan_for(travel), filters=(), element_filters=("csat",))
        sinks = [NearFeatures(plan, within, wanted and (wanted, number)) for number in range(pool.threads)]
        self._walk(Query.NEAR, travel, plan, sinks, pool, tally)
        return [found for sink in sinks for found in sink.found]

    def intersections(self, travel: Travel, pool: ThreadPool, tally: Tally) -> list[Crossing]:
        """Every pair of faces that intersect at rest."""
        plan = self._plan_for(travel)
        sinks = [Crossings(plan) for _ in range(pool.threads)]
        self._walk(Query.INTERSECTIONS, travel, plan, sinks, pool, tally)
        return [found for sink in sinks for found in sink.found]

    def first_contacts(self, travel: Travel, pool: ThreadPool, tally: Tally) -> First:
        """The first contact of a motion, and what it takes to verify positions before it."""
        plan = self._plan_for(travel)
        pairs = self._few_pairs(Query.STEP, travel, tally)
        if self._direct is not None and pairs is not None:
            horizon, position_error = Horizon(), rounding_of(travel)
            sinks = [FirstContact(plan, horizon, position_error) for _ in range(pool.threads)]
            self._examine(travel, pairs, sinks, pool, tally)
            found, near = [one for sink in sinks for one in sink.found], [one for sink in sinks for one in sink.near]
            return First(found, self._direct.meeting(near, ThreadPool(self.threads)))
        scene, fitted = self._scene(Query.STEP, travel, plan, tally)
        self._mark(scene, fitted, plan, rounding_of(travel), tally)
        found, near = first_contacts(scene, fitted, plan, pool, tally)
        return First(found, meeting_in(scene, plan, near, self.threads))

    # ---- memory

    def changed(self, topology: Topology, old_of_new: np.ndarray, vertex_count: int) -> Engine:
        """Another engine, for a mesh that has changed: what stays keeps its place in the tree.

        old_of_new : (k,) int32, ids of its elements before, -1 for new ones
        """
        new, tree = Engine(topology, self.plan, self.threads, is_tuned=self._is_tuned), self._tree
        new.mark, new._cones = self.mark, copy(self._cones)
        moved = None
        if tree is not None:
            of_old = tree.hierarchy.tree, old_of_new
            moved = carried(*of_old, topology.elements.corners, vertex_count, LARGEST_OF_PAIRS)
        if tree is not None and moved is not None:
            # A front leaves out what was not wanted, and labels are others now.
            new._tree = tree.with_elements(
                Hierarchy(topology, moved, tree.hierarchy.plan, vertex_count), keep_fronts=self.plan.wanted == ALL
            )
        return new

    @property
    def front_size(self) -> int:
        """Pairs of nodes in the fronts that are kept."""
        return 0 if self._tree is None else sum(map(len, self._tree.fronts.values()))

    def _plan_for(self, travel: Travel) -> Plan:
        if travel.approach is not None:
            return self.plan.at_distance()
        return self.plan if self._cones is None else replace(self.plan, has_cones=self._cones.is_on)

    def _walk(
        self, query: Query, travel: Travel, plan: Plan, sinks: Sequence[Sink], pool: ThreadPool, tally: Tally
    ) -> None:
        pairs = self._few_pairs(query, travel, tally)
        if pairs is not None:
            self._examine(travel, pairs, [sink for sink in sinks if isinstance(sink, Features)], pool, tally)
            return
        scene, fitted = self._scene(query, travel, plan, tally)
        self._mark(scene, fitted, plan, 0.0, tally)
        with self._front(query, fitted, plan) as front:
            walk(scene, lambda: fitted, plan, sinks, pool, tally, front)
        compared, emitted = tally.pairs_of("traversal")
        if self._tree is not None:
            self._tree.excess.note(query, compared)
            if self._cones is not None and travel.approach is None:
                self._cones.learn(query, compared + EMITTED * emitted, self._tree.size)
                if self._tree.hierarchy.patches is not None and not self._cones.is_on:
                    self._tree = None  # walks through patches take longer

    def _few_pairs(self, query: Query, travel: Travel, tally: Tally) -> tuple[np.ndarray, ...] | None:
        """Those of a small mesh, without a tree; None where a tree is better."""
        if self._direct is None or not self._direct.lists or not query.has_features:
            return None
        return self._direct.few_pairs(travel, tally, query.padding)

    def _examine(
        self, travel: Travel, pairs: tuple[np.ndarray, ...], sinks: Sequence[Features], pool: ThreadPool, tally: Tally
    ) -> None:
        """Pairs of features, (k, 2) of each kind."""
        examine(travel, self.topology, pairs, sinks, pool)
        tally.merge(sink.tally for sink in sinks)

    def _mark(self, scene: Scene, fitted: Fitted, plan: Plan, position_error: float, tally: Tally) -> None:
        """Normal cones and contours."""
        if plan.has_cones:
            self.mark(scene, fitted, position_error, ThreadPool(self.threads), tally)

    def _scene(self, query: Query, travel: Travel, plan: Plan, tally: Tally) -> tuple[Scene, Fitted]:
        """The scene of a query with its bounds; a tree that is no longer good is rebuilt."""
        tree = self._tree
        if (
            tree is None
            or tree.has_degraded
            or self._jumps.expected()
            or (plan.has_cones and tree.hierarchy.patches is None)
        ):
            return self._build(query, travel, plan, tally)
        scene, pool = Scene(self.topology, tree.hierarchy, travel), ThreadPool(self.threads)
        fitted = fit(
            scene, plan, pool, tally, relative_padding=query.padding, features=query.has_features, buffers=self._buffers
        )
        if tree.has_grown(query, fitted.pair_tree.nodes):
            self._jumps.note()
            if self._cones is not None and self._cones.is_on:
                self._cones.give_up(tree.size)
                plan = replace(plan, has_cones=False)
            return self._build(query, travel, plan, tally)
        self._jumps.forget()
        if self._cones is not None:
            self._cones.saved += tree.size * BUILDING
        return scene, fitted

    def _build(self, query: Query, travel: Travel, plan: Plan, tally: Tally) -> tuple[Scene, Fitted]:
        """With a new tree; what was kept for the old one is of no use (errata 23)."""
        old, self._tree, pool = self._tree, None, ThreadPool(self.threads)
        scene, fitted = build(
            self.topology, travel, plan, pool, tally, relative_padding=query.padding, features=query.has_features
        )
        self._tree = _Tree(scene.hierarchy, query, fitted.pair_tree.nodes)
        if old is not None and old.has_degraded:
            self._tree.excess = old.excess.after_rebuild()
        return scene, fitted

    @contextmanager
    def _front(self, query: Query, fitted: Fitted, plan: Plan) -> Iterator[Front | None]:
        """The front of a query, renewed if the walk comes to its end, and forgotten if it does not."""
        if not plan.has_front or self._tree is None:
            yield None
            return
        fronts = self._tree.fronts
        front = fronts.pop(query, None) or Front(fitted.pair_tree, plan.wanted, SEEDS, self.above_leaves)
        yield front
        front.renew()
        fronts[query] = front


class First(NamedTuple):
    """Contacts among which is the first one, and who tells what meets on the way to positions before it."""

    found: list[Found]
    meeting: Meeting


class _Trial:
    """Whether normal cones pay: tried when keeping the tree has saved what they cost, so that no sequence of queries,
    long or short, takes longer than single queries would; never where little can be saved."""

    def __init__(self) -> None:
        self.is_on: bool = False
        self.saved: float = 0.0  # comparisons that did not have to be made, and have not been spent
        self._work: dict[Query, int] = {}  # of the last walk of each query without cones
        self._failures = 0

    def learn(self, query: Query, work: int, size: int) -> None:
        """After a walk: work in comparisons, through a tree of so many elements."""
        if self.is_on:
            before = self._work.pop(query, None)  # judged once
            if before is not None and work + CONES * size > before:
                self.give_up(size)
            return
        self._work[query] = work
        if size >= FEWEST_FOR_CONES and self.saved > PATCHES * size and work > 2 * CONES * size:
            self.is_on, self.saved = True, 0.0
            expect("cones")

    def give_up(self, size: int) -> None:
        """Not so soon again."""
        self._failures += 1
        self.is_on, self.saved = False, -float(PATCHES * size * 4**self._failures)


class _Jumps:
    """Frames that have little to do with the one before: to refit the tree for them is a waste of time."""

    def __init__(self) -> None:
        self._in_a_row = self._coming = 0

    def note(self) -> None:
        """A tree that was refitted was of no use."""
        self._in_a_row = min(self._in_a_row + 1, 4)
        self._coming = 2**self._in_a_row - 2

    def forget(self) -> None:
        self._in_a_row = 0

    def expected(self) -> bool:
        """The next frame is a jump, after some that were; each time this is asked for another one."""
        self._coming -= self._coming > 0
        return self._coming > 0
