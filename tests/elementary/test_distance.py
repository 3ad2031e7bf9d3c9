"""Distances of features and of triangles against the reference, degenerate shapes and all scales included."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import distances, queries, triangle_pairs
from tests.reference.thickness_queries import thick_queries

FEATURES = {"vertex_face": queries.VERTEX_FACE, "edge_edge": queries.EDGE_EDGE, "triangle": distances.TRIANGLES}
COUNT = 3000


def ask(kind, x):
    return getattr(pliant, f"{kind}_distance")(x)


def unscaled(x):
    """Each query with its largest coordinate near 1, exactly."""
    exponent = np.frexp(np.abs(x).max(axis=(1, 2)))[1][:, None, None]
    return np.ldexp(np.ldexp(x, -exponent // 2), -exponent - -exponent // 2)


def expected(kind, x):
    return distances.triangle_distance(x) if kind == "triangle" else distances.distance(FEATURES[kind], x)


def feature_points(kind):
    """Positions from all families of queries, those of mixed scales too, each brought to unit size."""
    if kind == "triangle":
        pairs = triangle_pairs.random_pairs(np.random.default_rng(3), 1200)
        x = unscaled(np.array([points[[*a, *b]] for points, a, b, _ in pairs]))
        # Most of them touch; every other one is carried off, by a little or by more than its size.
        x[::2, 3:] += np.random.default_rng(4).standard_normal((600, 1, 3)) * 10.0 ** -(
            np.arange(600)[:, None, None] % 3
        )
        return x
    x0, x1 = getattr(queries, f"{kind}_queries")(COUNT, 5)
    return unscaled(np.concatenate([x0, x1, thick_queries(kind, COUNT, 5).x0]))


@pytest.fixture(scope="module", params=FEATURES)
def run(request):
    x = feature_points(request.param)
    return request.param, x, ask(request.param, x), expected(request.param, x)


def test_distances_are_those_of_the_reference(run):
    _, _, answer, distance = run
    np.testing.assert_allclose(answer.distance, distance, rtol=0, atol=2e-12)
    assert (answer.distance >= 0).all()
    assert 0.3 < (distance > 1e-12).mean() < 0.97


def test_weights_are_of_points_of_both_features(run):
    kind, x, answer, _ = run
    a, b = (answer.weights[:, list(rows)] for rows in FEATURES[kind])
    assert answer.weights.shape == x.shape[:2]
    assert a.min() >= 0
    assert b.max() <= 0
    np.testing.assert_allclose(a.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(b.sum(axis=1), -1, rtol=1e-14)


def test_points_are_those_of_the_weights(run):
    kind, x, answer, _ = run
    for side, rows in enumerate(FEATURES[kind]):
        point = np.einsum("kj,kjc->kc", np.abs(answer.weights[:, list(rows)]), x[:, list(rows)])
        np.testing.assert_allclose(answer.points[:, side], point, rtol=0, atol=1e-13)


def test_points_are_as_far_apart_as_the_distance_along_the_normal(run):
    _, _, answer, _ = run
    np.testing.assert_allclose(np.linalg.norm(answer.normal, axis=1), 1, rtol=1e-13)
    between = answer.points[:, 0] - answer.points[:, 1]
    np.testing.assert_allclose(between, answer.distance[:, None] * answer.normal, rtol=0, atol=3e-12)


@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_any_scale(kind, scale):
    x = np.random.default_rng(6).standard_normal((200, 6 if kind == "triangle" else 4, 3))
    answer, scaled = ask(kind, x), ask(kind, x * scale)
    np.testing.assert_allclose(scaled.distance, answer.distance * scale, rtol=1e-12)
    # Where triangles intersect, they have more than one point in common.
    apart = answer.distance > 0
    np.testing.assert_allclose(scaled.points[apart], answer.points[apart] * scale, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("kind", FEATURES)
def test_order_of_the_sides_does_not_matter(kind):
    x = np.random.default_rng(7).standard_normal((300, 6 if kind == "triangle" else 4, 3))
    a, b = FEATURES[kind]
    other = x[:, [*a, *reversed(b)]] if kind == "vertex_face" else x[:, [*b, *a]]
    np.testing.assert_allclose(ask(kind, other).distance, ask(kind, x).distance, rtol=0, atol=1e-14)


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize(
    ("kind", "points", "distance"),
    [
        ("vertex_face", [(1, 1, 3), (0, 0, 0), (4, 0, 0), (0, 4, 0)], 3),
        ("vertex_face", [(1, 1, 0), (0, 0, 0), (4, 0, 0), (0, 4, 0)], 0),
        ("vertex_face", [(2, -3, 4), (0, 0, 0), (4, 0, 0), (2, 0, 0)], 5),
        ("vertex_face", [(3, 2, 1), *[(1, 0, 0)] * 3], 3),
        ("edge_edge", [(-1, 0, 0), (1, 0, 0), (0, -1, 2), (0, 1, 2)], 2),
        ("edge_edge", [(-1, 0, 0), (1, 0, 0), (0, 3, 0), (5, 3, 0)], 3),
        ("edge_edge", [(-1, 0, 0), (1, 0, 0), (4, 4, 0), (4, 4, 0)], 5),
        ("edge_edge", [*[(1, 2, 3)] * 2, *[(1, 2, 5)] * 2], 2),
        ("edge_edge", [(0, 0, 0)] * 4, 0),
        ("triangle", [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 2), (5, 1, 2), (1, 5, 2)], 2),
        ("triangle", [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, -1), (1, 1, 1), (9, 9, 0)], 0),
        ("triangle", [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 0), (2, 1, 0), (1, 2, 0)], 0),
        ("triangle", [*[(1, 1, 1)] * 3, *[(1, 3, 1)] * 3], 2),
    ],
)
def test_known_distances(kind, points, distance):
    answer = ask(kind, np.array([points], dtype=np.float64))
    assert answer.distance == pytest.approx([distance], abs=1e-15)
    assert np.linalg.norm(answer.normal) == pytest.approx(1)


def test_intersecting_triangles_have_distance_zero_and_no_others_have():
    x = np.random.default_rng(8).standard_normal((500, 6, 3))
    meet = distances.triangle_distance(x) == 0
    np.testing.assert_array_equal(pliant.triangle_distance(x).distance == 0, meet)
    assert 0.1 < meet.mean() < 0.7


@pytest.mark.parametrize("kind", FEATURES)
def test_empty_and_wrong_input(kind):
    rows = 6 if kind == "triangle" else 4
    empty = ask(kind, np.empty((0, rows, 3)))
    assert empty.distance.shape == (0,)
    assert empty.points.shape == (0, 2, 3)
    assert empty.weights.shape == (0, rows)
    for bad in (np.zeros((2, 5, 3)), np.zeros((rows, 3)), np.full((1, rows, 3), np.nan), np.full((1, rows, 3), "a")):
        with pytest.raises(pliant.MeshError):
            ask(kind, bad)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("height", [0.0, 1e-9, 3e-6])
def test_edges_that_cross_at_a_small_angle(angle, height):
    """Below 1e-5 they had the distance of an end point."""
    a = [(-1.0, 0, 0), (1.0, 0, 0)]
    b = [(-1.0, -angle, height), (1.0, angle, height)]
    assert pliant.edge_edge_distance(np.array([a + b])).distance[0] == pytest.approx(height, abs=1e-14)
