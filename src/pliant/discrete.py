"""Discrete detection: from pairs of elements to pairs of intersecting triangles, in one thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._tally import Tally
from pliant._threads import Crew
from pliant.elementary.certified import MISS
from pliant.elementary.segments import FLAT
from pliant.elementary.triangles import decide_triangles
from pliant.hierarchy.front import Front
from pliant.hierarchy.traverse import INTER, SELF
from pliant.pipeline import BLOCK, Walker, chunks_of, run_all
from pliant.prepare import Fitted, Plan, Prepared


class Crossing(NamedTuple):
    """Intersecting triangles of one block."""

    faces: np.ndarray  # (k, 2) int32, the smaller first
    segments: np.ndarray  # (k, 2, 3)
    coplanar: np.ndarray  # (k,) bool


def find_intersections(
    scene: Prepared, fitted: Fitted, plan: Plan, crew: Crew, tally: Tally, front: Front | None = None
) -> list[Crossing]:
    """Every pair of intersecting triangles of a scene at x0."""
    inspectors = [Inspector(plan, crew, front) for _ in range(crew.threads)]
    run_all(inspectors, crew, scene, lambda: fitted, chunks_of(scene, fitted, plan, crew.threads, front))
    tally.merge(i.tally for i in inspectors)
    return [f for i in inspectors for f in i.found]


class Inspector(Walker):
    """Looks at pairs of faces at one instant; loose edges and points take no part."""

    def __init__(self, plan: Plan, crew: Crew, front: Front | None = None) -> None:
        super().__init__(plan, crew, front)
        self.found: list[Crossing] = []
        self._status = np.empty(BLOCK, np.int8)
        self._segments = np.empty((BLOCK, 2, 3))

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        pairs = self._element_pairs[:count]
        pairs = pairs[(scene.leaves.face[pairs] >= 0).all(axis=1)] if scene.has_loose else pairs
        if self.plan.wanted == SELF or self.plan.wanted == INTER:
            label = scene.labels[pairs]
            pairs = pairs[(label[:, 0] == label[:, 1]) == (self.plan.wanted == SELF)]
        if len(pairs) == 0:
            return
        status, segments = self._status[: len(pairs)], self._segments[: len(pairs)]
        faces = scene.leaves.face[pairs]
        faces.sort(axis=1)  # the smaller first: segments are rounded alike, whatever the tree
        if decide_triangles(scene.x0, scene.faces, faces, status, segments, self.tally):
            hit = np.flatnonzero(status != MISS)
            self.found.append(Crossing(faces[hit], segments[hit], status[hit] == FLAT))
