"""What papers 000, 002 and 004 compare with: methods that share our kernels and differ in one stage.

In place of normal cones, the stage that marks patches as free of self-contact:

    contacts = bench.baselines.run("continuous_contours", faces, x0, x1)
    detector = bench.baselines.Baseline("dynamic_clusters", faces)  # used as a pliant.Detector

Every proof is certified as ours are, so that results are the same, bit for bit, and only times differ.

In place of the sequence of culling conditions for pairs of triangles:

    found = bench.baselines.run_triangles("triangle_advancement", x0, x1)  # (k, 6, 3) each

In place of the culling between the cells of a volume mesh:

    contacts = bench.baselines.run_volume("naive_cells", cells, x0, x1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.baselines import (
    boxes,
    continuous_contours,
    cubic_solver,
    dynamic_clusters,
    feature_advancement,
    flips,
    naive_cells,
    printed_contours,
    spatial_hashing,
    star_contours,
    triangle_advancement,
)
from bench.baselines.all_features import Moving
from bench.baselines.triangle_pairs import FirstContacts
from pliant.bounds.kdops import AXES
from pliant.elementary.advance import TOLERANCE
from pliant.engine.plan import Tuning
from pliant.engine.scene import Fitted, Scene, topology_of
from pliant.engine.sinks import Found
from pliant.engine.tables import tabulate
from pliant.engine.travel import travel_of
from pliant.mesh.volumes import as_volume
from pliant.queries.detector import Detector
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.runtime.arrays import ShapeError, as_floats, as_number, as_positions, choose, thread_count
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

Mark = Callable[[Scene, Fitted, ThreadPool, Tally], None]

# Each fills in fitted.pair_tree.free; star contours for intersections, at one instant, only.
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

# NavCCD, also with our filters; HashCCD; and what each cell by itself tells, which is the contacts that are inversions.
VOLUME_METHODS: dict[str, Callable[[Moving, str, ThreadPool, Tally], list[Found]]] = {
    "naive_cells": naive_cells.find,
    "naive_cells_after_filters": naive_cells.find_after_filters,
    "spatial_hashing": spatial_hashing.find,
    "flips": flips.find,
}


class Baseline(Detector):
    """A ``pliant.Detector`` with another method in place of our normal cones and contours.

    name : of METHODS
    mesh, options : as for ``pliant.Detector``; culling is "cones" or "cones+front", since all methods need patches
    """

    def __init__(self, name: str, mesh: Any, *, tuning: Tuning | None = None, **options: Any) -> None:
        choose(name, "name", tuple(METHODS))
        tuning = Tuning(culling="cones") if tuning is None else tuning
        choose(tuning.culling, "culling", ("cones", "cones+front"))
        super().__init__(mesh, tuning=tuning, **options)
        self._name = name
        self._engine.mark = lambda scene, fitted, _, pool, tally: METHODS[name](scene, fitted, pool, tally)

    def __repr__(self) -> str:
        return f"Baseline({self._name!r}, {self.mesh!r})"


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


def run_volume(
    name: str, mesh: Any, x0: Any, x1: Any, *, bounds: str = "16-dop", threads: int | None = None
) -> Contacts:
    """What ``pliant.ccd`` finds in a volume mesh, by another method, with its tests and times in ``stages``; of
    "flips", only the contacts within one solid.

    name : of VOLUME_METHODS
    mesh, x0, x1 : as for ``pliant.ccd``
    bounds : of the cells, where there is a hierarchy
    """
    choose(name, "name", tuple(VOLUME_METHODS))
    choose(bounds, "bounds", tuple(AXES))
    volume = as_volume(mesh)
    topology, x0 = topology_of(volume), as_positions(x0, "x0")
    travel = travel_of(x0, as_positions(x1, "x1", len(x0)))
    topology.require(len(x0))
    tally, pool = Tally(), ThreadPool(thread_count(threads))
    found = VOLUME_METHODS[name](Moving(volume, topology, travel), bounds, pool, tally)
    return tabulate(topology.tested, travel, found, tally, pool)
