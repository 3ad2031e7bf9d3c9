"""The flip test (Erleben et al. 2005; paper 004, section 7.2): self-collision only where a cell turns inside out.

A tetrahedron flips when its four corners become coplanar, and four points in a plane have either one of them in the
triangle of the others or two segments that cross (Radon): a flip at some time is a contact of two features of one
cell, exactly. So the signs of the Bernstein coefficients of its volume prove that it does not flip, and the exact test
decides the rest. For other solids, a contact of two features of one cell is what we call an inversion. Shells have no
inside. What different cells do to each other is not looked at, which is what the test misses. Pairs that stay coplanar,
as the corners of a flat quadrilateral do, are left to separating axes first, as in our pipeline.
"""

from __future__ import annotations

from bench.baselines.all_features import (
    NO_FILTERS,
    NOT_FITTED,
    Moving,
    Tester,
    cells_alone,
    features_of,
    run_testers,
    scene_of,
)
from pliant.engine.pipeline import Found
from pliant.queries.detect import DEFAULT_FILTERS
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew


def find(moving: Moving, bounds: str, crew: Crew, tally: Tally) -> list[Found]:
    """The contacts of features of one solid; bounds are not used."""
    plan = NO_FILTERS._replace(filters=DEFAULT_FILTERS)
    features = features_of(moving.mesh)
    workers = [Tester(features, plan, crew) for _ in range(crew.threads)]
    return run_testers(workers, scene_of(moving), NOT_FITTED, cells_alone(moving.mesh.solid_count), crew, tally)
