"""Random fractures, merges, cuts and erosions in sequence: nothing is lost, and the mesh is what it would be built
anew."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.elementary.inversion import inverted
from pliant.mesh.changed import cells as changes
from pliant.response.resolver import Resolver
from pliant.simulate.solids.changing.body import corner_masses
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.merging import near_vertices
from pliant.simulate.solids.changing.opening import opened
from tests.shapes.bodies_that_break import DENSITY, body_of, mixed, momentum
from tests.shapes.fresh_meshes import CHEAP, FIELDS, assert_fresh, computed

STEP = 0.01


@pytest.fixture(autouse=True)
def carried_over_whatever_the_size(monkeypatch):
    monkeypatch.setattr(changes, "MOST_CHANGED", 1000.0)


class Breaker:
    """A body that is broken at random, and what has to stay as it is. reach : about, of the blades that cut it"""

    def __init__(self, seed, tetra, reach):
        self.reach, self.rng = reach, np.random.default_rng(seed)
        self.body, self.points = body_of(*mixed(bend=0.02, tetra=tetra), seed=seed)
        self.past = self.body.x - STEP * self.body.v
        self.breaking, self.made = Breaking(), dict.fromkeys(("fracture", "erosion", "merge", "cut"), 0)
        self.mass, self.momentum = self.body.mass().sum(), momentum(self.body)
        computed(self.body.mesh)

    def loads(self, kind):
        body, rng = self.body, self.rng
        count = len(body.mesh.types)
        if kind == "fracture":
            pulled = rng.integers(0, count, 2)
            stress = np.zeros((count, 3, 3))
            way = rng.normal(size=3)
            stress[np.isin(body.mesh.corners, body.mesh.corners[pulled, 0]).any(axis=1)] = 3 * np.outer(way, way)
            return Loads(stress=stress, failure=np.full(count, 1.0))
        if kind == "erosion":
            gone = np.zeros(count, bool)
            gone[rng.integers(0, count)] = True
            return Loads(gone=gone)
        if kind == "merge":
            return Loads(force=rng.random(len(body.x)), merging=(0.2, 0.05))
        a, way, along = rng.uniform((0, 0, 0), (3, 1, 1)), *self.reach * rng.normal(size=(2, 3))
        return Loads(swept=np.array([[a, a + way, a + along], [a + way, a + along, a + way + along]]))

    def run(self, kind):
        """One change, if it is one; returns whether."""
        done = self.breaking.step(self.body, self.loads(kind))
        for changed in done:
            before, self.points = self.points, changed.points(self.points)
            assert len(self.points.cell) >= 0.9 * len(before.cell)
            computed(changed.body.mesh)
            self.body = changed.body
            known = self.past
            self.past = pliant.trace_back(self.body.x, self.body.v, STEP, known)
            assert np.array_equal(self.past[: len(known)], known)
            assert len(self.past) == len(self.body.x)
        self.made[kind] += len(done) > 0
        return len(done) > 0

    def assert_kept(self, fields):
        body = self.body
        assert_fresh(body.mesh, fields)
        assert abs(body.mass().sum() - self.mass) < 1e-12 * self.mass
        size = (body.mass()[:, None] * np.abs(body.v)).sum()
        assert np.abs(momentum(body) - self.momentum).max() < 1e-12 * size
        solids = body.mesh.solid_count
        part = pliant.VolumeMesh({name: body.mesh.cells[name] for name in pliant.VolumeMesh.type_names[:4]})
        whole = corner_masses(part, self.points, np.full(solids, DENSITY))
        assert np.allclose(whole, body.corner_mass[:solids], rtol=1e-12, atol=0.0)
        assert not len(inverted(body.mesh, body.x))

    def assert_only_fresh_pairs_touch(self):
        """Contacts where nothing moves are exactly these; surfaces intersect there and nowhere else."""
        body, pairs = self.body, self.breaking.fresh.pairs
        found = pliant.ccd(body.mesh, body.x, body.x)
        assert pairs.among(found).all()
        crossed = pliant.check(body.mesh, body.x)
        assert pairs.among_intersections(crossed, body.mesh.surface().faces).all()
        return len(found)

    def part_copies(self):
        """Move all copies of vertices, which are where others are, a little apart."""
        vertices = np.unique(near_vertices(self.body.x, self.body.mesh.vertices.astype(np.int64), 0.0))
        resolver = Resolver(self.body.mesh)
        resolver._leave_out(self.breaking.fresh.pairs)
        x = resolver.resolve(self.body.x, opened(self.body, vertices, 0.02)).positions
        self.body = self.body._replace(x=x)
        return self.breaking.fresh.retire(self.body.mesh, x)


KINDS = ("fracture", "erosion", "merge", "cut")


def run_changes(count, seed, tetra, every, shares, reach=1.0):
    """shares : of the kinds; returns the breaker, contacts that only fresh pairs have, and pairs that came apart"""
    breaker, touching, apart, step = Breaker(seed, tetra, reach), 0, 0, 0
    while step < count:
        if not breaker.run(str(breaker.rng.choice(KINDS, p=shares))):
            continue
        breaker.assert_kept(CHEAP if step % every else ("types", "corners", "vertex_limit", *FIELDS))
        if step % every == 0:
            touching += breaker.assert_only_fresh_pairs_touch()
        if step % 3 == 0:
            apart += breaker.part_copies()
        step += 1
    return breaker, touching, apart


def test_a_few_changes():
    breaker, touching, apart = run_changes(16, seed=1, tetra=2, every=4, shares=(0.4, 0.15, 0.2, 0.25))
    assert min(breaker.made.values()) > 0, breaker.made
    assert min(breaker.breaking.counts) > 0
    assert touching > 100
    assert apart > 100


@pytest.mark.long
def test_a_thousand_changes():
    # With blades as long as the body, cells were divided until there were hundreds of thousands.
    breaker, touching, apart = run_changes(
        1000, seed=2, tetra=5, every=25, shares=(0.4, 0.05, 0.35, 0.2), reach=0.15
    )  # fmt: skip
    assert min(breaker.made.values()) > 30, breaker.made
    assert touching > 1000
    assert apart > 10000
    assert len(breaker.body.mesh.types) > 200
