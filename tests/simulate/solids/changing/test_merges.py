"""Vertices that become one: where they may, with mass and momentum, and where they must not."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.merging import merged, near_vertices, pressed_pairs
from tests.shapes.bodies_that_break import body_of, momentum
from tests.shapes.fresh_meshes import assert_fresh
from tests.shapes.solids import both, grid


def two_blocks(gap=0.01, split=True):
    """One on the other, with vertices above each other."""
    lower = grid((2, 2, 1), (0, 0, 0), (1, 1, 0.5), split)
    return both(lower, grid((2, 2, 1), (0, 0, 0.5 + gap), (1, 1, 1 + gap), split))


def test_near_vertices_as_by_all_pairs():
    rng = np.random.default_rng(0)
    x, some = rng.random((60, 3)), np.sort(rng.permutation(60)[:50])
    found = near_vertices(x, some, 0.2)
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    wanted = {(a, b) for a in some for b in some if a < b and distance[a, b] <= 0.2}
    assert {tuple(pair) for pair in found.tolist()} == wanted
    assert 10 < len(wanted) < 500
    assert (np.diff(distance[tuple(found.T)]) >= 0.0).all()
    assert len(near_vertices(x, some, 0.0)) == 0
    assert len(near_vertices(x, some[:0], 1.0)) == 0


@pytest.mark.parametrize("split", [False, True], ids=["hexahedron", "tetra"])
def test_two_blocks_become_one(split):
    body, points = body_of(*two_blocks(split=split), seed=1)
    breaking, force = Breaking(), np.zeros(len(body.x))
    force[np.abs(body.x[:, 2] - 0.505) < 0.1] = 5.0
    (changed,) = breaking.step(body, Loads(force=force, merging=(4.0, 0.02)))
    after = changed.body
    assert len(changed.renamed) == breaking.counts.merged == 9
    assert len(np.unique(after.mesh.components[after.mesh.vertices])) == 1
    assert_fresh(after.mesh)
    assert after.mass().sum() == pytest.approx(body.mass().sum(), rel=1e-14)
    assert np.allclose(momentum(after), momentum(body), rtol=0.0, atol=1e-11)
    weighted = [(b.mass()[:, None] * b.x).sum(axis=0) for b in (body, after)]
    assert np.allclose(*weighted, rtol=1e-13)
    assert (after.mass()[changed.renamed[:, 0]] == 0.0).all()
    assert np.allclose(np.sort(changed.points(points).volume), np.sort(points.volume), rtol=1e-14)
    assert len(pliant.check(after.mesh, after.x)) == 0
    assert breaking.step(after, Loads(force=force, merging=(6.0, 0.02))) == ()  # too little force


def test_not_of_one_cell_and_not_far():
    body, _ = body_of(*two_blocks())
    force = np.full(len(body.x), 9.0)
    pairs = pressed_pairs(body, force, 1.0, 0.02)
    assert len(pairs) == 9
    assert len(np.unique(pairs)) == 18
    assert len(pressed_pairs(body, force, 1.0, 0.005)) == 0
    assert merged(body, body.mesh.edges[:5]) is None


def test_not_where_a_cell_would_be_inverted():
    """The corner of the upper block would have to go through its own opposite face."""
    body, _ = body_of(*two_blocks())
    top = np.flatnonzero((body.x == (0.0, 0.0, 1.01)).all(axis=1))[0]
    bottom = np.flatnonzero((body.x == (0.0, 0.0, 0.0)).all(axis=1))[0]
    assert merged(body, np.array([[top, bottom]])) is None


def test_not_through_something_between():
    """A sheet of shells lies between the blocks, which was jumped over by a test of the end alone."""
    cells, x = two_blocks(gap=0.1)
    sheet = np.array([(-0.2, -0.2, 0.52), (1.2, -0.2, 0.52), (1.2, 1.2, 0.52), (-0.2, 1.2, 0.52)])
    cells, x = both((cells, x), ({"quad": np.array([[0, 1, 2, 3]])}, sheet))
    body, _ = body_of(cells, x)
    pairs = pressed_pairs(body, np.full(len(x), 1.0), 0.5, 0.11)
    assert len(pairs) >= 9
    found = merged(body, pairs)
    assert found is None or not np.isin(found.pairs, np.flatnonzero(np.abs(x[:, 2] - 0.5) < 1e-9)).any()
    free, _ = body_of(*two_blocks(gap=0.1))
    assert merged(free, pressed_pairs(free, np.full(36, 1.0), 0.5, 0.11)) is not None


def test_not_two_shells_onto_each_other():
    x = np.array([(0, 0, 0), (1, 0, 0), (0.5, 1, 0.01), (0.5, 1, -0.01)], float)
    body, _ = body_of({"triangle": [[0, 1, 2], [1, 0, 3]]}, x)
    assert merged(body, np.array([[2, 3]])) is None
