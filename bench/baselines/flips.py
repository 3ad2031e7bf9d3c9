"""The flip test (Erleben et al. 2005; paper 004, section 7.2): self-collision only where a cell turns inside out.

A tetrahedron flips when its four corners become coplanar, and four points in a plane have either one of them in the
triangle of the others or two segments that cross (Radon): a flip at some time is a contact of two features of one
cell, exactly. So the signs of the Bernstein coefficients of its volume prove that it does not flip, and the exact test
decides the rest. For other solids, a contact of two features of one cell is what we call an inversion. Shells have no
inside. What different cells do to each other is not examined, which is what the test misses. Pairs that stay coplanar,
as the corners of a flat quadrilateral do, are left to separating axes first, as in our pipeline.
"""

from __future__ import annotations

from dataclasses import replace

from bench.baselines.all_features import NO_FILTERS, EveryTest, Moving, all_of, each_alone
from pliant.engine.plan import DEFAULT_FILTERS
from pliant.engine.sinks import Found
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


def find(moving: Moving, bounds: str, pool: ThreadPool, tally: Tally) -> list[Found]:
    """The contacts of features of one solid; bounds are not used."""
    plan = replace(NO_FILTERS, filters=DEFAULT_FILTERS)
    sinks = [EveryTest(moving, plan) for _ in range(pool.threads)]
    each_alone(sinks, moving.mesh.solid_count, pool)
    tally.merge(sink.tally for sink in sinks)
    return all_of(sinks, tally)
