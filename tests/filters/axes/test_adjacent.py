"""Adjacent elements that are left out: no two of their features without a common vertex come within the gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pliant.bounds.kdops import NO_PADDING
from pliant.culling.stars import NONE_FREE
from pliant.filters.axes.elements import cull_elements, cull_resting_elements, scaled, scaled_ends
from pliant.scenes.shapes import weave
from tests.reference import distances, queries

COUNT = 400


def hinges(seed, shared, digits=None):
    """(corners (2 k, 3), x0, x1): elements 2 i and 2 i + 1 share so many vertices, in any order; five points each."""
    rng = np.random.default_rng([seed, shared])
    x0 = rng.standard_normal((COUNT, 5, 3))
    x1 = x0 + rng.standard_normal((COUNT, 5, 3)) * 10.0 ** rng.uniform(-3, 0, (COUNT, 1, 1))
    if digits is not None:  # on a grid: corners on one line or at one place, zero distances along an axis
        x0, x1 = np.round(x0, digits), np.round(x1, digits)
    first = np.arange(3)
    second = np.concatenate((np.arange(shared), np.arange(3, 6 - shared)))
    rows = [5 * i + rng.permutation(part) for i in range(COUNT) for part in (first, second)]
    return np.array(rows, np.int32), x0.reshape(-1, 3), x1.reshape(-1, 3)


def culled(corners, x0, x1, padding):
    """(k,) bool: the pairs that are left out; at rest where x0 is x1."""
    pairs = np.arange(2 * COUNT, dtype=np.int32).reshape(COUNT, 2)
    largest = float(max(np.abs(x0).max(), np.abs(x1).max()))
    if x0 is x1:
        points = scaled(x0, 1.0)
        kept = cull_resting_elements(corners, points, largest, padding, pairs, COUNT, False)
    else:
        points = scaled_ends(x0, x1, 1.0, 1.0)
        kept = cull_elements(corners, points, largest, padding, NONE_FREE, pairs, COUNT, False)
    out = np.ones(COUNT, bool)
    out[pairs[:kept, 0] // 2] = False
    return out


def feature_quads(a, b):
    """(features, vertices) of all pairs of features of two triangles that have no vertex in common."""
    for one, other in ((a, b), (b, a)):
        yield from ((queries.VERTEX_FACE, [v, *other]) for v in one if v not in other)
    for e, f in itertools.product(itertools.combinations(a, 2), itertools.combinations(b, 2)):
        if not set(e) & set(f):
            yield queries.EDGE_EDGE, [*e, *f]


def least_distance(corners, x0, x1, pair):
    asked = [
        (features, (1 - t) * x0[quad] + t * x1[quad])
        for features, quad in feature_quads(corners[2 * pair].tolist(), corners[2 * pair + 1].tolist())
        for t in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return min(float(np.sqrt(float(distances.distance_squared(features, x)))) for features, x in asked)


@pytest.mark.parametrize("at_rest", [True, False], ids=["rest", "motion"])
@pytest.mark.parametrize("digits", [None, 0], ids=["anywhere", "grid"])
@pytest.mark.parametrize("padding", [0.0, 0.05])
@pytest.mark.parametrize(("shared", "least"), [(1, 0.1), (2, 0.01)])
def test_features_without_a_common_vertex_stay_apart(at_rest, digits, padding, shared, least):
    corners, x0, x1 = hinges(1, shared, digits)
    x1 = x0 if at_rest else x1
    out = culled(corners, x0, x1, np.full(2 * COUNT, padding) if padding else NO_PADDING)
    assert least < out.mean() < 0.7
    assert all(least_distance(corners, x0, x1, pair) > 2 * padding for pair in np.flatnonzero(out)[:60])


@pytest.mark.parametrize(("shared", "least"), [(1, 0.3), (2, 0.03)])
def test_no_gap_at_rest_is_larger_than_the_distance(shared, least):
    """Axes are turned and corrected for the gap that is asked for: half of the distance, or a little more than it."""
    corners, x0, _ = hinges(3, shared)
    distance = np.array([least_distance(corners, x0, x0, pair) for pair in range(COUNT // 8)])
    gap = np.zeros(COUNT)
    gap[: len(distance)] = distance * np.where(np.arange(len(distance)) % 2, 0.5, 1.0 + 1e-9)
    out = culled(corners, x0, x0, np.repeat(0.5 * gap, 2))[: len(distance)]
    assert out[1::2].mean() > least
    assert not out[::2].any()


@pytest.mark.parametrize("shared", [1, 2])
def test_cloth_is_apart_by_a_quarter_of_an_edge(shared):
    """Of neighbours in a slightly rough sheet, seven in ten with a common side were examined further, and so was
    one in five with a common corner."""
    faces, uv = weave(12, 12)
    x = np.column_stack((uv, np.zeros(len(uv)))) + np.random.default_rng(4).normal(size=(len(uv), 3)) * 0.05
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(len(faces)), 2)
        if len(set(faces[a].tolist()) & set(faces[b].tolist())) == shared
    ]
    listed = np.array(pairs, np.int32)
    padding, largest = np.full(len(faces), 0.125), float(np.abs(x).max())
    kept = cull_resting_elements(faces, scaled(x, 1.0), largest, padding, listed, len(listed), False)
    assert kept < 0.05 * len(pairs)


def test_equal_triangles_are_kept():
    corners, x0, x1 = hinges(2, 3)
    assert not culled(corners, x0, x1, NO_PADDING).any()
    assert not culled(corners, x0, x0, NO_PADDING).any()
