"""Distances against obvious answers, against points sampled on the features, and floats against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.reference import triangle_pairs, triangles
from tests.reference.distances import (
    EDGE_EDGE,
    PARTS,
    TRIANGLES,
    VERTEX_FACE,
    distance,
    distance_squared,
    exactly,
    gap,
    gap_and_difference,
    triangle_distance,
)

KINDS = {"vertex_face": VERTEX_FACE, "edge_edge": EDGE_EDGE}
FACE = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
SEGMENT = [(0, 0, 0), (4, 0, 0), (2, 0, 0)]
POINT = [(1, 0, 0)] * 3
EDGE = [(-1, 0, 0), (1, 0, 0)]

# name: features, points, squared distance
KNOWN = {
    "over a face": (VERTEX_FACE, [(1, 1, 3), *FACE], 9),
    "on a face": (VERTEX_FACE, [(1, 1, 0), *FACE], 0),
    "on a corner": (VERTEX_FACE, [(4, 0, 0), *FACE], 0),
    "beside a side": (VERTEX_FACE, [(2, -3, 4), *FACE], 25),
    "beside the long side": (VERTEX_FACE, [(3, 3, 0), *FACE], 2),
    "beyond a corner": (VERTEX_FACE, [(-1, -2, 2), *FACE], 9),
    "over a segment": (VERTEX_FACE, [(3, 0, 2), *SEGMENT], 4),
    "beyond a segment": (VERTEX_FACE, [(6, 1, 2), *SEGMENT], 9),
    "beside a point": (VERTEX_FACE, [(3, 2, 1), *POINT], 9),
    "on a point": (VERTEX_FACE, [(1, 0, 0), *POINT], 0),
    "crossed": (EDGE_EDGE, [*EDGE, (0, -1, 2), (0, 1, 2)], 4),
    "touching": (EDGE_EDGE, [*EDGE, (0, -1, 0), (0, 1, 0)], 0),
    "end over middle": (EDGE_EDGE, [*EDGE, (0, 1, 1), (0, 5, 1)], 2),
    "end to end": (EDGE_EDGE, [*EDGE, (2, 1, 1), (7, 1, 1)], 3),
    "parallel": (EDGE_EDGE, [*EDGE, (0, 3, 0), (5, 3, 0)], 9),
    "parallel and shifted": (EDGE_EDGE, [*EDGE, (4, 4, 0), (6, 4, 0)], 25),
    "in line": (EDGE_EDGE, [*EDGE, (4, 0, 0), (3, 0, 0)], 4),
    "in line, overlapping": (EDGE_EDGE, [*EDGE, (0, 0, 0), (3, 0, 0)], 0),
    "edge and point": (EDGE_EDGE, [*EDGE, (0, 2, 0), (0, 2, 0)], 4),
    "two points": (EDGE_EDGE, [(1, 2, 3)] * 2 + [(1, 2, 5)] * 2, 4),
    "face over face": (TRIANGLES, [*FACE, *np.add(FACE, (1, 1, 2))], 4),
    "face through face": (TRIANGLES, [*FACE, (1, 1, -1), (1, 1, 1), (9, 9, 0)], 0),
    "face in a face": (TRIANGLES, [*FACE, (1, 1, 0), (2, 1, 0), (1, 2, 0)], 0),
    "face beside a face": (TRIANGLES, [*FACE, (-3, 0, 0), (-2, 1, 0), (-3, 2, 0)], 4),
    "face and segment through it": (TRIANGLES, [*FACE, (1, 1, -1), (1, 1, 1), (1, 1, 0)], 0),
    "face and point": (TRIANGLES, [*FACE, *[(1, 2, 3)] * 3], 9),
    "two points again": (TRIANGLES, [(1, 1, 1)] * 3 + [(1, 3, 1)] * 3, 4),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_distances(name):
    features, points, expected = KNOWN[name]
    assert distance_squared(features, exactly(points)) == expected
    if features == TRIANGLES:
        assert triangle_distance(np.array([points])) == np.sqrt(expected)
    else:
        assert distance(features, np.array(points, dtype=np.float64)) == np.sqrt(expected)


@pytest.mark.parametrize("name", [name for name in KNOWN if KNOWN[name][0] != TRIANGLES])
def test_equal_radii_are_subtracted(name):
    features, points, expected = KNOWN[name]
    radii = np.array([0.5 if row in features[0] else 0.25 for row in range(4)])
    assert abs(gap(features, exactly(points), exactly(radii)) + Fraction(3, 4) - Fraction(expected) ** 0.5) < 1e-15


def random_points(kind, rng, count):
    """Generic, small integers, nearly flat, far from the origin; many of them degenerate."""
    x = rng.standard_normal((count, 4, 3))
    x[::4] = rng.integers(-1, 2, x[::4].shape)
    sliver = x[1::4]
    a, b, c = (1, 2, 3) if kind == "vertex_face" else (0, 1, 2)
    sliver[:, 3] = sliver[:, c] + rng.standard_normal((len(sliver), 1)) * (sliver[:, b] - sliver[:, a])
    sliver[:, 3] += rng.standard_normal((len(sliver), 3)) * 10.0 ** -rng.integers(3, 17, (len(sliver), 1))
    x[2::4] += 100 * rng.standard_normal((len(x[2::4]), 1, 3))
    return x


@pytest.mark.parametrize("kind", KINDS)
def test_floats_agree_with_fractions(kind):
    x = random_points(kind, np.random.default_rng(1), 400)
    exact = np.sqrt(distance_squared(KINDS[kind], exactly(x)).astype(np.float64))
    np.testing.assert_allclose(distance(KINDS[kind], x), exact, rtol=0, atol=1e-13)
    assert 0.02 < (exact == 0).mean() < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_floats_agree_with_fractions_where_nearly_flat_features_touch(kind):
    # A point of the feature itself, rounded: the true distance is a rounding error, however thin the feature is.
    rng = np.random.default_rng(2)
    x = random_points(kind, rng, 800)[1::4]
    a, b = KINDS[kind]
    weights = rng.dirichlet(np.ones(len(a)), len(x)), rng.dirichlet(np.ones(len(b)), len(x))
    shift = np.einsum("kj,kjc->kc", weights[1], x[:, list(b)]) - np.einsum("kj,kjc->kc", weights[0], x[:, list(a)])
    x[:, list(a)] += shift[:, None]
    exact = np.sqrt(distance_squared(KINDS[kind], exactly(x)).astype(np.float64))
    assert exact.max() < 1e-14
    np.testing.assert_allclose(distance(KINDS[kind], x), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e150, 2.0**1000])
def test_any_scale(kind, scale):
    x = np.random.default_rng(3).integers(-9, 10, (50, 4, 3)).astype(np.float64)
    np.testing.assert_allclose(distance(KINDS[kind], x * scale), distance(KINDS[kind], x) * scale, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_agree_with_fractions(kind):
    rng = np.random.default_rng(4)
    x = random_points(kind, rng, 300)
    radii = rng.random((300, 4)) * rng.choice([0.01, 0.5, 3.0], (300, 1))
    exact = gap(KINDS[kind], exactly(x), exactly(radii)).astype(np.float64)
    np.testing.assert_allclose(gap(KINDS[kind], x, radii), exact, rtol=0, atol=1e-12)
    assert 0.1 < (exact < 0).mean() < 0.7


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_are_the_least_of_samples(kind):
    # A cone over the features: no sample is below the gap, and the best of many comes near it.
    rng = np.random.default_rng(5)
    a, b = KINDS[kind]
    x, radii = rng.standard_normal((60, 4, 3)), rng.random((60, 4)) * rng.choice([0.3, 2.0], (60, 1))
    shares = np.hstack([rng.dirichlet(np.full(len(side), 0.5), 20_000) for side in (a, b)])
    signs = np.array([1] * len(a) + [-1] * len(b))
    lengths = np.linalg.norm(np.einsum("sj,kjc->skc", shares * signs, x), axis=2)
    least = (lengths - shares @ radii.T).min(axis=0)
    value, vector = gap_and_difference(KINDS[kind], x, radii)
    assert (least >= value - 1e-14).all()
    assert (least <= value + 5e-3).all()
    flat, _ = gap_and_difference(KINDS[kind], x, np.zeros((60, 4)))
    assert (value < flat - radii.min(axis=1)).all()
    assert np.isfinite(vector).all()


def test_triangles_are_as_far_apart_as_their_nearest_parts():
    """Two ways: the hull of all differences, and vertices and edges, with intersection decided by clipping."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((40, 6, 3))
    x[:30] = rng.integers(-1, 2, (30, 6, 3))
    x[:10, 3:] += (3, 0, 0)
    x[20:25, 2] = x[20:25, 1]
    exact = exactly(x)
    whole = distance_squared(TRIANGLES, exact)
    parts = np.min([distance_squared(part, exact) for part in PARTS], axis=0)
    meet = np.array([triangles.intersect(q[:3], q[3:]) for q in x])
    np.testing.assert_array_equal(whole, np.where(meet, 0, parts))
    np.testing.assert_allclose(triangle_distance(x), np.sqrt(whole.astype(np.float64)), rtol=0, atol=1e-14)
    assert 0.2 < meet.mean() < 0.7
    assert (parts[meet] > 0).any()


def test_triangles_of_all_sorts():
    """Pairs that touch, overlap in a plane, or are segments and points: the distance is 0 where they share a point."""
    pairs = triangle_pairs.random_pairs(np.random.default_rng(7), 2 * len(triangle_pairs.FAMILIES))
    x = np.array([points[[*a, *b]] for points, a, b, _ in pairs])
    squared = distance_squared(TRIANGLES, exactly(x))
    meet = np.array([triangles.intersect(q[:3], q[3:]) for q in x])
    np.testing.assert_array_equal(squared == 0, meet)
    assert 0.3 < meet.mean() < 0.9
