"""Discrete detection: from pairs of elements to pairs of intersecting triangles, in one thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elementary.certified import MISS
from pliant.elementary.segments import FLAT
from pliant.elementary.triangles import decide_triangles
from pliant.engine.pipeline import BLOCK, SHARE, Walker, chunks_of, run_all
from pliant.engine.prepare import Fitted, Plan, Prepared
from pliant.hierarchy.front import Front
from pliant.hierarchy.traverse import ALL, SELF
from pliant.runtime.jit import kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew


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
    run_all(inspectors, crew, scene, lambda: fitted, chunks_of(scene, fitted, plan, crew.threads, front, SHARE))
    tally.merge(i.tally for i in inspectors)
    return [f for i in inspectors for f in i.found]


class Inspector(Walker):
    """Looks at pairs of faces at one instant; loose edges and points take no part."""

    def __init__(self, plan: Plan, crew: Crew, front: Front | None = None) -> None:
        super().__init__(plan, crew, front)
        self.found: list[Crossing] = []
        self._face_pairs = np.empty((BLOCK, 2), np.int32)
        self._status = np.empty(BLOCK, np.int8)
        self._segments = np.empty((BLOCK, 2, 3))

    def _expand(self, scene: Prepared, fitted: Fitted, count: int) -> None:
        count = _name_faces(
            scene.leaves.face, scene.labels, self.plan.wanted, self._element_pairs, count, self._face_pairs
        )
        if count == 0:
            return
        faces, status, segments = self._face_pairs[:count], self._status[:count], self._segments[:count]
        if decide_triangles(scene.x0, scene.faces, faces, status, segments, self.tally):
            hit = np.flatnonzero(status != MISS)
            self.found.append(Crossing(faces[hit], segments[hit], status[hit] == FLAT))

    def _run_orphans(self, scene: Prepared, fitted: Fitted, chunk: slice) -> None:
        """Orphans are pairs of features: nothing to do."""


@kernel
def _name_faces(face, labels, wanted, pairs, count, out):
    """Face ids of the wanted pairs of places, the smaller first: so segments are rounded alike, whatever the tree."""
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = face[i], face[j]
        same = labels[i] == labels[j]
        if a >= 0 and b >= 0 and (wanted == ALL or same == (wanted == SELF)):
            out[kept, 0], out[kept, 1] = min(a, b), max(a, b)
            kept += 1
    return kept
