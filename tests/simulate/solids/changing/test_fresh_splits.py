"""Pairs that splits make: exactly those that touch then, through all changes, until they are apart."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.response.resolver import Resolver
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.opening import opened
from tests.shapes.bodies_that_break import body_of, mixed
from tests.shapes.solids import grid


def split_block(split, steps=3, seed=3):
    """A bar, of which some vertices have just been split, and what coincides."""
    cells, x = grid((4, 2, 2), (0, 0, 0), (2, 1, 1), split)
    rng = np.random.default_rng(seed)
    body, _ = body_of(cells, x + rng.normal(scale=0.02, size=x.shape))
    breaking, count = Breaking(), len(body.mesh.types)
    stress, failure = rng.random((count, 1, 1)) * np.eye(3), np.full(count, 2.0)
    stress[:, 0, 0] += 3.0
    for _ in range(steps):
        for changed in breaking.step(body, Loads(stress=stress, failure=failure)):
            body, stress = changed.body, changed.of_cells(stress)
    return body, breaking


KINDS = pytest.mark.parametrize("split", [False, True], ids=["hexahedron", "tetra"])


@KINDS
def test_they_are_the_contacts_at_rest(split):
    body, breaking = split_block(split)
    fresh = breaking.fresh
    found = pliant.ccd(body.mesh, body.x, body.x)
    assert len(found) == len(fresh) == fresh.born - fresh.retired > 50
    assert fresh.pairs.among(found).all()
    surface = body.mesh.surface()
    crossed = pliant.check(body.mesh, body.x)
    assert len(crossed) > 20
    assert fresh.pairs.among_intersections(crossed, surface.faces).all()
    assert fresh.retire(body.mesh, body.x) == 0


@KINDS
def test_they_end_when_they_are_apart(split):
    body, breaking = split_block(split)
    fresh, copies = breaking.fresh, np.arange(len(body.x))
    x, born = opened(body, copies[-1:]), len(breaking.fresh)
    some = fresh.retire(body.mesh, x)
    assert 0 < some < born
    assert len(fresh) == born - some
    touching = pliant.ccd(body.mesh, x, x)
    assert fresh.pairs.among(touching).all()
    # A few more are apart, but of faces that still intersect.
    assert len(fresh) - 0.1 * born < len(touching) <= len(fresh)
    # Back again: what has been apart is no exception any more.
    again = pliant.ccd(body.mesh, body.x, body.x)
    assert np.count_nonzero(~fresh.pairs.among(again)) == some
    assert fresh.retire(body.mesh, body.x) == 0


def test_what_has_passed_through_stays():
    """A copy that is pulled through the other side is apart from all features, and its faces are not."""
    body, breaking = split_block(True, steps=1)
    fresh = breaking.fresh
    copies = np.unique(np.concatenate([rows[:, 0] for rows in fresh.pairs.rows.values()]))
    into = 2.0 * body.x - opened(body, copies, 0.3)
    fresh.retire(body.mesh, into)
    crossed = pliant.check(body.mesh, into)
    assert len(crossed) > 10
    assert fresh.pairs.among_intersections(crossed, body.mesh.surface().faces).all()
    before = len(fresh)
    assert fresh.retire(body.mesh, opened(body, copies, 0.05)) == before


def test_all_types_of_cells():
    body, _ = body_of(*mixed(bend=0.02))
    breaking, rng = Breaking(), np.random.default_rng(2)
    stress = rng.normal(size=(len(body.mesh.types), 3, 3))
    stress = 5.0 * stress + 5.0 * stress.transpose(0, 2, 1)
    for _ in range(4):
        for changed in breaking.step(body, Loads(stress=stress, failure=np.ones(len(stress)))):
            body, stress = changed.body, changed.of_cells(stress)
    found = pliant.ccd(body.mesh, body.x, body.x)
    assert len(found) == len(breaking.fresh) > 200


class TestResolver:
    @KINDS
    def test_only_they_are_left_out(self, split):
        """A start that touches itself is tangled; without the fresh pairs it is free, and a step from it ends free of
        all others."""
        body, breaking = split_block(split)
        with pytest.raises(pliant.TangledError):
            pliant.resolve(body.mesh, body.x, body.x)
        rng = np.random.default_rng(0)
        resolver = Resolver(body.mesh)
        resolver._leave_out(breaking.fresh.pairs)
        for scale in (0.0, 0.01, 0.3):
            x1 = body.x + scale * rng.normal(size=body.x.shape)
            resolved = resolver.resolve(body.x, x1)
            left = pliant.ccd(body.mesh, body.x, resolved.positions)
            assert breaking.fresh.pairs.among(left).all()
            assert scale == 0.3 or np.array_equal(resolved.positions, x1)
        assert len(resolved.contacts) > 10

    def test_never_again(self):
        """A crack opens and is pushed shut: the second time it is contact like any other."""
        body, breaking = split_block(True, steps=40)
        resolver = Resolver(body.mesh)
        resolver._leave_out(breaking.fresh.pairs)
        x = resolver.resolve(body.x, opened(body, np.arange(len(body.x)), 0.05)).positions
        assert breaking.fresh.retire(body.mesh, x) > 1000
        assert len(breaking.fresh) == 0
        resolver._leave_out(breaking.fresh.pairs)
        shut = x + 1.5 * (body.x - x)
        assert len(pliant.ccd(body.mesh, x, shut)) > 100
        resolved = resolver.resolve(x, shut)
        assert len(pliant.ccd(body.mesh, x, resolved.positions)) == 0
        assert len(pliant.check(body.mesh, resolved.positions)) == 0

    def test_near_pairs_are_none_of_them(self):
        body, breaking = split_block(True)
        resolver = Resolver(body.mesh, thickness=0.05)
        assert (resolver.near(body.x).distance == 0.0).any()
        resolver._leave_out(breaking.fresh.pairs)
        for within in (None, 0.02):
            near = resolver.near(body.x, within)
            assert not breaking.fresh.pairs.among(near).any()
            assert len(near) == 0 or near.distance.min() > 0.0
