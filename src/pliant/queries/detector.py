"""The detector: hierarchy, patches and front that are kept from frame to frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.engine.discrete import find_intersections
from pliant.engine.pipeline import SEEDS, find_contacts
from pliant.engine.prepare import Fitted, Prepared, fit, mark_free_patches, moved, prepare
from pliant.hierarchy.build import WORN_OUT, tree_cost
from pliant.hierarchy.front import ABOVE_LEAVES, Front
from pliant.mesh.subjects import subject_of
from pliant.queries.detect import CULLINGS, DEFAULT_FILTERS, gate, plan_for, tabulate, tabulate_intersections
from pliant.results.contacts import Contacts, Intersections
from pliant.runtime.arrays import Kept, OptionError, ShapeError, as_positions, choose, thread_count
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew, Progress


class Detector:
    """Contacts and intersections frame after frame, with what the frames have in common kept.

        detector = pliant.Detector(faces)
        for x in frames:
            contacts = detector.advance(x)        # while moving here from the frame before; none in the first
            crossing = detector.intersections(x)  # at rest here

    mesh, objects, pairs, bounds, filters, assignment, threads : as in ``pliant.ccd``
    culling : "boxes", "front", "cones" or "cones+front"; changes the time, never the result

    The hierarchy is built in the first frame, refitted in every other, and built anew when motion has worn it out.
    Each result is what ``pliant.ccd`` or ``pliant.dcd`` would give. One detector serves one thread at a time.
    """

    above_leaves = ABOVE_LEAVES  # levels at which fronts end; 0 for the conventional front

    def __init__(
        self,
        mesh: Any,
        *,
        objects: Any = None,
        pairs: str = "all",
        culling: str = "cones",
        bounds: str = "aabb",
        filters: Sequence[str] = DEFAULT_FILTERS,
        assignment: str = "static",
        threads: int | None = None,
    ) -> None:
        self._subject, self._pairs = subject_of(mesh), pairs
        if self._subject.volume is not None:
            raise OptionError(
                "a Detector keeps surfaces: give it VolumeMesh(cells).surface(), or use pliant.ccd for all of the cells"
            )
        self._mesh = self._subject.features
        self._objects = None if objects is None else np.array(objects)  # a copy: read again when the tree is built anew
        choose(culling, "culling", CULLINGS[:4])  # brute force has nothing to keep
        self._plan = plan_for(pairs, culling, bounds, filters, assignment)
        self._threads = thread_count(threads)
        self._x: np.ndarray | None = None
        self._vertex_count: int | None = None
        self._scene: Prepared | None = None
        self._fronts: dict[str, Front] = {}
        self._kept = Kept()
        self._cost: dict[str, float] = {}  # of the tree, in the first frame of each query

    def __repr__(self) -> str:
        return f"Detector({self._mesh!r}, culling={self._plan.culling!r})"

    @property
    def front_size(self) -> int:
        """Pairs of nodes in the fronts that are kept; 0 without "front"."""
        return sum(map(len, self._fronts.values()))

    def advance(self, x: Any, *, progress: Progress | bool | None = None) -> Contacts:
        """Every contact while the vertices move from the positions of the last call to x, (n, 3); then be there.

        The first call has nothing to move from, and gives an empty table.
        """
        tally, crew = Tally(), Crew(self._threads, progress)
        start = self._x
        x = self._checked(x)
        if start is None:
            self._x = x.copy()
            return tabulate(self._subject, None, [], tally)
        scene, fitted = self._fitted("ccd", start, x, tally)
        with self._front("ccd") as front:
            found = find_contacts(scene, fitted, self._plan, crew, tally, front)
        self._x = x.copy()
        return logged("advance", self, tabulate(self._subject, scene, found, tally), tally)

    def intersections(self, x: Any, *, progress: Progress | bool | None = None) -> Intersections:
        """Every pair of triangles that intersect at positions x, (n, 3); ``advance`` still starts where it did."""
        tally, crew = Tally(), Crew(self._threads, progress)
        x = self._checked(x)
        scene, fitted = self._fitted("dcd", x, x, tally)
        with self._front("dcd") as front:
            found = find_intersections(scene, fitted, self._plan, crew, tally, front)
        return logged("intersections", self, tabulate_intersections(found, tally), tally)

    @contextmanager
    def _front(self, query: str) -> Iterator[Front | None]:
        """The front of a query, renewed if the frame comes to its end, and forgotten if it does not."""
        front = self._fronts.pop(query, None)
        yield front
        if front is not None:
            front.renew()
            self._fronts[query] = front

    def _checked(self, x: Any) -> np.ndarray:
        if self._vertex_count is None:
            x = gate(self._mesh, x, x, self._objects, self._pairs, ("x", "x"))[1]
            self._vertex_count = len(x)
            return x
        x = as_positions(x, "x")
        if len(x) != self._vertex_count:
            raise ShapeError(f"x has {len(x)} rows, but the frames before had {self._vertex_count}")
        return x

    def _fitted(self, query: str, x0: np.ndarray, x1: np.ndarray, tally: Tally) -> tuple[Prepared, Fitted]:
        """The scene in this frame with its bounds and free patches; a tree that is worn out is built anew."""
        scene = self._built(x0, x1, tally) if self._scene is None else moved(self._scene, x0, x1)
        fitted = self._fit(query, scene, tally)
        cost = tree_cost(fitted.forest.nodes)
        if cost > WORN_OUT * self._cost.get(query, np.inf):
            scene = self._built(x0, x1, tally)
            fitted = self._fit(query, scene, tally)
            cost = tree_cost(fitted.forest.nodes)
        self._cost.setdefault(query, cost)
        self._scene = scene
        self._mark_free(scene, fitted, tally)
        if "front" in self._plan.culling and query not in self._fronts:
            self._fronts[query] = Front(fitted.forest, self._plan.wanted, SEEDS, self.above_leaves)
        return scene, fitted

    def _fit(self, query: str, scene: Prepared, tally: Tally) -> Fitted:
        features, crew = query == "ccd", Crew(self._threads)
        return fit(scene, self._plan.bounds, 1.0, 0.0, tally, crew, features, self._kept)

    def _mark_free(self, scene: Prepared, fitted: Fitted, tally: Tally) -> None:
        """Normal cones and contours; the stage in which the baselines of bench/ differ."""
        mark_free_patches(scene, fitted, 0.0, Crew(self._threads), tally)

    def _built(self, x0: np.ndarray, x1: np.ndarray, tally: Tally) -> Prepared:
        """A new tree; what was kept for the old one is of no use (errata 23)."""
        self._fronts.clear()
        self._cost.clear()
        labels = gate(self._mesh, x0, x1, self._objects, self._pairs)[3]
        return prepare(self._mesh, x0, x1, labels, self._plan, Crew(self._threads), tally)
