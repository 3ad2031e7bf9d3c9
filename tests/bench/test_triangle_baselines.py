"""Pairs of triangles by other methods: advancement is never late, cubics are mostly right, and pairs are as asked."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant
from bench.baselines import TRIANGLE_METHODS, run_triangles
from pliant.runtime.arrays import OptionError, ShapeError
from pliant.scenes.triangle_pairs import MOTIONS, random_pairs
from tests.reference import rational

ADVANCEMENTS = ["feature_advancement", "triangle_advancement"]
VERTEX_FACE = [(v, 3, 4, 5) for v in range(3)] + [(v, 0, 1, 2) for v in range(3, 6)]
EDGE_EDGE = [(a, (a + 1) % 3, 3 + b, 3 + (b + 1) % 3) for a in range(3) for b in range(3)]
every_motion = pytest.mark.parametrize("motion", MOTIONS)


def exact(x0, x1):
    """(k,) the first contact of any two features; inf where there is none."""
    first = np.full(len(x0), np.inf)
    for query, quads in ((pliant.vertex_face, VERTEX_FACE), (pliant.edge_edge, EDGE_EDGE)):
        for quad in quads:
            found = query(x0[:, quad], x1[:, quad])
            first = np.minimum(first, np.where(found.hit, found.toi, np.inf))
    return first


def whole(count, seed):
    """Pairs with small integer coordinates: most contacts are degenerate, many at the start."""
    rng = np.random.default_rng(seed)
    x0 = rng.integers(-3, 4, (count, 6, 3)).astype(float)
    return x0, x0 + rng.integers(-3, 4, x0.shape)


@pytest.mark.bounds
@cache
def decided(motion):
    """Random pairs, and their times of contact: to choose them takes longer than all that is done with them."""
    pairs = random_pairs(600, motion, apart=0.5)
    return pairs, exact(pairs.x0, pairs.x1)


@every_motion
@pytest.mark.parametrize("name", TRIANGLE_METHODS)
def test_random_pairs_are_decided_as_by_the_exact_test(name, motion):
    pairs, truth = decided(motion)
    assert ((truth <= 1.0) == pairs.touching).all()
    found = run_triangles(name, pairs.x0, pairs.x1)
    assert (found.hit == pairs.touching).all()
    assert np.isnan(found.toi[~found.hit]).all()
    early = truth[found.hit] - found.toi[found.hit]
    if name in ADVANCEMENTS:
        assert early.min() >= 0.0
        assert early.max() < 1e-5  # an approach of the tolerance, 1e-9, at the slowest
    else:
        assert np.abs(early).max() < 1e-9


@pytest.mark.parametrize("tolerance", [1e-9, 1e-3])
@pytest.mark.parametrize("name", ADVANCEMENTS)
def test_advancement_is_never_late(name, tolerance):
    x0, x1 = whole(3000, seed=1)
    truth, found = exact(x0, x1), run_triangles(name, x0, x1, tolerance=tolerance)
    touching = truth <= 1.0
    assert 0.3 < touching.mean() < 0.9
    assert found.hit[touching].all()
    assert (found.toi[touching] <= truth[touching]).all()
    assert np.isfinite(found.toi[found.hit]).all()


def test_what_feature_advancement_reports_comes_within_the_tolerance():
    x0, x1 = whole(1500, seed=2)
    found = run_triangles("feature_advancement", x0, x1, tolerance=1e-6)
    t = found.toi[found.hit][:, None, None]
    x = (1.0 - t) * x0[found.hit] + t * x1[found.hit]
    gap = np.full(len(x), np.inf)
    for query, quads in ((pliant.vertex_face_distance, VERTEX_FACE), (pliant.edge_edge_distance, EDGE_EDGE)):
        for quad in quads:
            gap = np.minimum(gap, query(x[:, quad]).distance)
    extent = np.ptp(np.concatenate([x0, x1], axis=1)[found.hit], axis=1).max(axis=1)
    assert len(x) > 300
    assert (gap <= 1.001e-6 * extent).all()


def test_triangles_that_cross_at_the_start_have_no_distance():
    """An edge through a face, nothing moving: no features touch, and only the distance of triangles is 0."""
    x = np.array([[(-1, -1, 0), (2, -1, 0), (-1, 2, 0), (0, 0, -1), (0, 0.1, 1), (0.1, 0, 1)]], float)
    assert run_triangles("triangle_advancement", x, x).toi[0] == 0.0
    assert not run_triangles("feature_advancement", x, x).hit[0]
    assert not run_triangles("cubic_solver", x, x).hit[0]


def test_cubic_solver_is_not_certified():
    """Here it happens to be wrong on none; but in a plane the cubic is zero at all times, and it looks at the first
    alone."""
    x0, x1 = whole(3000, seed=3)
    assert np.count_nonzero(run_triangles("cubic_solver", x0, x1).hit != (exact(x0, x1) <= 1.0)) < 5
    x0[..., 2] = x1[..., 2] = 0.0
    touching, found = exact(x0, x1) <= 1.0, run_triangles("cubic_solver", x0, x1)
    assert 0.01 < (touching & ~found.hit).mean() < 0.3


@pytest.mark.unit
@pytest.mark.parametrize("name", TRIANGLE_METHODS)
def test_a_few_pairs_agree_with_rationals(name):
    pairs = random_pairs(6, apart=0.5, seed=4)
    faces = np.array([(0, 1, 2), (3, 4, 5)])
    for x0, x1, touching in zip(*pairs):
        vertex_face, edge_edge = rational.contacts(faces, x0, x1)[:2]
        assert bool(vertex_face or edge_edge) == touching
    assert (run_triangles(name, pairs.x0, pairs.x1, threads=1).hit == pairs.touching).all()


@pytest.mark.parametrize("name", TRIANGLE_METHODS)
def test_threads_and_sizes_change_nothing(name):
    pairs = random_pairs(500, apart=0.5)
    alone = run_triangles(name, pairs.x0, pairs.x1, threads=1)
    many = np.repeat(pairs.x0, 90, axis=0), np.repeat(pairs.x1, 90, axis=0)
    together = run_triangles(name, *many, threads=3)
    np.testing.assert_array_equal(together.toi, np.repeat(alone.toi, 90))
    assert together.steps == 90 * alone.steps
    larger = run_triangles(name, 1024.0 * pairs.x0, 1024.0 * pairs.x1)
    np.testing.assert_array_equal(larger.toi, alone.toi)
    assert len(run_triangles(name, np.empty((0, 6, 3)), np.empty((0, 6, 3))).hit) == 0


def test_bad_input_is_named():
    x = np.zeros((2, 6, 3))
    with pytest.raises(OptionError, match="choose one of 'feature_advancement'"):
        run_triangles("bisection", x, x)
    with pytest.raises(ShapeError, match=r"\(k, 6, 3\)"):
        run_triangles("cubic_solver", x, x[:1])


# ---- the pairs themselves


@every_motion
def test_pairs_are_those_that_were_asked_for(motion):
    pairs = random_pairs(400, motion, apart=0.9, seed=7)
    assert pairs.x0.shape == pairs.x1.shape == (400, 6, 3)
    assert np.count_nonzero(pairs.touching) == 40
    assert 0.0 <= pairs.x0.min() < pairs.x0.max() <= 1.0
    moved = np.linalg.norm((pairs.x1 - pairs.x0).reshape(-1, 2, 3, 3).mean(axis=2), axis=2)
    assert moved.mean() == pytest.approx(0.25 * MOTIONS[motion], rel=0.1)
    assert np.ptp(pairs.x0.reshape(-1, 2, 3, 3), axis=2).max() <= 0.25
    swept = np.stack([pairs.x0, pairs.x1], axis=1).reshape(-1, 2, 2, 3, 3)
    assert (swept.min(axis=(1, 3)).max(axis=1) <= swept.max(axis=(1, 3)).min(axis=1)).all()
    faces = np.arange(6 * 400).reshape(-1, 3)
    crossing = pliant.dcd(faces, pairs.x0.reshape(-1, 3)).faces
    assert not (crossing[:, 0] // 2 == crossing[:, 1] // 2).any()


def test_one_seed_one_set_of_pairs():
    first, again, other = (random_pairs(200, "small", 0.75, seed=seed) for seed in (3, 3, 4))
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.x0, other.x0)
    assert random_pairs(200).touching.sum() == 0
