"""What papers 000 and 002 compare with: methods that share our kernels and differ in one stage.

In place of normal cones, the stage that marks patches as free of self-contact:

    contacts = pliant.baselines.run("continuous_contours", faces, x0, x1)
    detector = pliant.baselines.Baseline("dynamic_clusters", faces)  # used as a pliant.Detector

Every proof is certified as ours are, so that results are the same, bit for bit, and only times differ.

In place of the sequence of culling conditions for pairs of triangles:

    found = pliant.baselines.run_triangles("triangle_advancement", x0, x1)  # (k, 6, 3) each
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant._arrays import ShapeError, as_floats, as_number, choose, thread_count
from pliant._tally import Tally
from pliant._threads import Crew
from pliant.baselines import (
    boxes,
    continuous_contours,
    cubic_solver,
    dynamic_clusters,
    feature_advancement,
    printed_contours,
    star_contours,
    triangle_advancement,
)
from pliant.baselines.triangle_pairs import FirstContacts
from pliant.contacts import Contacts, Intersections
from pliant.detector import Detector
from pliant.elementary.advance import TOLERANCE
from pliant.prepare import Fitted, Prepared

Mark = Callable[[Prepared, Fitted, Crew, Tally], None]

# Each fills in fitted.forest.free; star contours for intersections, at one instant, only.
METHODS: dict[str, Mark] = {
    "boxes": boxes.mark,
    "star_contours": star_contours.mark,
    "continuous_contours": continuous_contours.mark,
    "printed_contours": printed_contours.mark,
    "dynamic_clusters": dynamic_clusters.mark,
}

TRIANGLE_METHODS: dict[str, Callable[[np.ndarray, np.ndarray, float, int], FirstContacts]] = {
    "feature_advancement": feature_advancement.first_contacts,
    "triangle_advancement": triangle_advancement.first_contacts,
    "cubic_solver": cubic_solver.first_contacts,
    "cubic_solver_after_dnf": cubic_solver.first_contacts_after_dnf,
}


class Baseline(Detector):
    """A ``pliant.Detector`` with another method in place of our normal cones and contours.

    name : of METHODS
    mesh, options : as for ``pliant.Detector``; culling is "cones" or "cones+front", since all methods need patches
    """

    def __init__(self, name: str, mesh: Any, **options: Any) -> None:
        choose(name, "name", tuple(METHODS))
        choose(options.setdefault("culling", "cones"), "culling", ("cones", "cones+front"))
        super().__init__(mesh, **options)
        self._name = name

    def __repr__(self) -> str:
        return f"Baseline({self._name!r}, {self._mesh!r})"

    def _mark_free(self, scene: Prepared, fitted: Fitted, tally: Tally) -> None:
        METHODS[self._name](scene, fitted, Crew(self._threads), tally)


def run(name: str, mesh: Any, x0: Any, x1: Any = None, *, threads: int | None = None) -> Contacts | Intersections:
    """What ``pliant.ccd`` (``pliant.dcd`` where no x1 is given) finds, by another method, with its times in
    ``stages``."""
    baseline = Baseline(name, mesh, threads=threads)
    if x1 is None:
        return baseline.intersections(x0)
    baseline.advance(x0)
    return baseline.advance(x1)


def run_triangles(
    name: str, x0: Any, x1: Any, *, tolerance: float = TOLERANCE, threads: int | None = None
) -> FirstContacts:
    """When pairs of triangles first touch, by another method than ``pliant.triangle_triangle``.

    name : of TRIANGLE_METHODS
    x0, x1 : (k, 6, 3) positions of a0 a1 a2 b0 b1 b2 at t = 0 and t = 1
    tolerance : of the two advancements, relative to the extent of the twelve points: what comes so close is in contact
    """
    choose(name, "name", tuple(TRIANGLE_METHODS))
    x0, x1 = as_floats(x0, "x0"), as_floats(x1, "x1")
    if x0.shape[1:] != (6, 3) or x0.shape != x1.shape:
        raise ShapeError(f"x0 and x1 must have one shape (k, 6, 3), but have {x0.shape} and {x1.shape}")
    tolerance = as_number(tolerance, "tolerance", 1e-14, 1.0)
    return TRIANGLE_METHODS[name](x0, x1, tolerance, thread_count(threads))
