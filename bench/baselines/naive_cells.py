"""NavCCD (paper 004, section 6.1): our hierarchy, then every elementary test of cells whose bounds overlap.

Adjacent cells and each cell against itself are included, and a test is made again for every pair of cells that has it.
The hierarchy is ours, of 16-DOPs as in the paper unless told otherwise; what differs is all that follows it. The second
version has our filters of feature pairs before the exact test: what is left to win there is the culling of cells and
of repeated tests alone, and not that our exact test takes long where features stay in one plane.
"""

from __future__ import annotations

import time

import numpy as np

from bench.baselines.all_features import (
    NO_FILTERS,
    Moving,
    Tester,
    cells_alone,
    features_of,
    fitted_to,
    run_testers,
    scene_of,
)
from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.engine.pipeline import SHARE, Found, chunks_of
from pliant.engine.prepare import Plan
from pliant.hierarchy.build import fit_nodes, split_elements
from pliant.queries.detect import DEFAULT_FILTERS
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew


def find(moving: Moving, bounds: str, crew: Crew, tally: Tally) -> list[Found]:
    return _find(moving, bounds, NO_FILTERS, crew, tally)


def find_after_filters(moving: Moving, bounds: str, crew: Crew, tally: Tally) -> list[Found]:
    return _find(moving, bounds, NO_FILTERS._replace(filters=DEFAULT_FILTERS), crew, tally)


def _find(moving: Moving, bounds: str, plan: Plan, crew: Crew, tally: Tally) -> list[Found]:
    mesh, x0, x1 = moving
    alone = Crew(crew.threads)
    clock = time.perf_counter()
    of_cells = bound_union(bound_vertices(x0, x1, bounds, crew=alone), mesh._corners, alone)
    clock = tally.lap("bounds", clock)
    tree = split_elements(of_cells, alone)
    places = np.take(of_cells, tree.order, axis=0)
    fitted = fitted_to(tree, fit_nodes(places, tree.begin, alone), places)
    tally.lap("hierarchy", clock)
    scene, features = scene_of(moving, tree), features_of(mesh)
    chunks = chunks_of(scene, fitted, plan, crew.threads, share=SHARE)
    workers = [Tester(features, plan, crew) for _ in range(crew.threads)]
    return run_testers(workers, scene, fitted, [*chunks, *cells_alone(len(mesh.corners))], crew, tally)
