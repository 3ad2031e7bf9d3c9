"""First times within a distance against formulas, dense samples, and the exact times of contact."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import queries, rational
from tests.reference.distances import distance, gap
from tests.reference.thickness import first_within, first_within_on_path
from tests.reference.thickness_queries import DISTANCES, FAMILIES, FEATURES, random_radii, thick_queries

FACE = [(-2, -2, 0), (2, -2, 0), (0, 2, 0)]


def falling(height, depth, aside=0.0):
    x0 = np.array([[(aside, 0, height), *FACE]], dtype=np.float64)
    x1 = x0.copy()
    x1[0, 0, 2] = depth
    return x0, x1


@pytest.mark.parametrize(
    ("height", "depth", "d", "expected"),
    [
        (3, -1, 1, 0.5),
        (3, -1, 0, 0.75),
        (1, -1, 1, 0),
        (0.5, 3, 1, 0),
        (2, 1, 1, 1),
        (2, 1.001, 1, None),
        (2, 2, 1, None),
        (1, 1, 1, 0),
        (0, 0, 0, 0),
    ],
)
def test_a_vertex_over_a_face(height, depth, d, expected):
    found = first_within(queries.VERTEX_FACE, *falling(height, depth), d)
    if expected is None:
        assert found.never
    else:
        assert found.surely
        assert found.lower <= expected <= found.upper
        assert found.upper - found.lower < 1e-11


def test_a_minimum_that_rounding_decides_is_undecided():
    # Slides past an edge that it crosses, at a height that is more than the distance by less than rounding.
    x0 = np.array([[(-1, -3, 1), (1, -3, 1), (0, -1, 0), (0, 1, 0)]], dtype=np.float64)
    x1 = x0 + np.array([(0, 5, 0), (0, 6, 0), (0, 0, 0), (0, 0, 0)])
    assert first_within(queries.EDGE_EDGE, x0, x1, 1 - 1e-15).undecided
    assert first_within(queries.EDGE_EDGE, x0, x1, 1 - 1e-10).never
    assert first_within(queries.EDGE_EDGE, x0, x1, 1 + 1e-10).surely


@pytest.mark.parametrize("kind", FEATURES)
def test_mixture_against_samples(kind):
    count = 900
    features, thick = FEATURES[kind], thick_queries(kind, count, 1)
    found = first_within(features, thick.x0, thick.x1, thick.d)
    assert 0.3 < found.surely.mean() < 0.7
    assert found.undecided.mean() < 0.01
    for name in FAMILIES:
        assert 0.2 < found.surely[thick.family == name].mean() < 0.8, name
    for d in DISTANCES:
        assert 0.3 < found.surely[thick.d == d].mean() < 0.7, d
    # 53 steps, so that the samples are not those of the method itself.
    for t in np.linspace(0, 1, 54):
        apart = distance(features, (1 - t) * thick.x0 + t * thick.x1)
        assert (apart[t < found.lower] > thick.d[t < found.lower] - 1e-12).all()
    at = found.upper[found.surely, None, None]
    apart = distance(features, (1 - at) * thick.x0[found.surely] + at * thick.x1[found.surely])
    assert (apart <= thick.d[found.surely] + 1e-13).all()
    assert (found.upper[found.surely] - found.lower[found.surely] < 1e-7).mean() > 0.98


@pytest.mark.parametrize("kind", FEATURES)
def test_radii(kind):
    count = 300
    features, thick = FEATURES[kind], thick_queries(kind, count, 2)
    equal = first_within(features, thick.x0, thick.x1, 0.0, np.repeat(thick.d[:, None] / 2, 4, axis=1))
    plain = first_within(features, thick.x0, thick.x1, thick.d)
    decided = ~equal.undecided & ~plain.undecided
    np.testing.assert_array_equal(equal.never[decided], plain.never[decided])
    hit = plain.surely & decided
    np.testing.assert_allclose(equal.upper[hit], plain.upper[hit], rtol=0, atol=1e-7)
    radii = random_radii(np.random.default_rng(2), count, thick.d)
    found = first_within(features, thick.x0, thick.x1, 0.0, radii)
    assert 0.3 < found.surely.mean() < 0.7
    for t in np.linspace(0, 1, 38):
        apart = gap(features, (1 - t) * thick.x0 + t * thick.x1, radii)
        assert (apart[t < found.lower] > -1e-12).all()


@pytest.mark.parametrize("kind", FEATURES)
def test_distance_zero_is_contact(kind):
    """Rounded distances are seldom exactly 0, but no true contact is ever ruled out, and none is seen too early."""
    x0, x1 = getattr(queries, f"{kind}_queries")(600, 3)
    names = np.array(queries.family_names(600, 3))
    unit = ~np.isin(names, ["denormal", "huge", "tiny", "mixed"])
    x0, x1 = x0[unit], x1[unit]
    truths = [getattr(rational, kind)(a, b) for a, b in zip(x0, x1)]
    contact = np.array([truth is not None for truth in truths])
    time = np.array([np.inf if truth is None else float(truth.lower) for truth in truths])
    found = first_within(FEATURES[kind], x0, x1, 0.0)
    assert 0.3 < contact.mean() < 0.7
    assert not found.never[contact].any()
    assert (found.lower[contact] <= time[contact] + 1e-12).all()
    wider = first_within(FEATURES[kind], x0, x1, 1e-9)
    assert wider.surely[contact].all()
    assert (wider.lower[contact] <= time[contact]).all()
    assert (wider.never[~contact]).mean() > 0.5


def test_a_curved_path():
    """A point on a circle of radius 2 around the end of an edge, from the far side to the near one: a known angle."""
    edge = [(0, 0, 0), (9, 0, 0)]

    def position(t):
        angle = np.pi * (1 - t)
        tip = (2 * np.cos(angle), 2 * np.sin(angle), 0)
        return np.array([tip, tip, *edge], dtype=np.float64)

    for d in (0.5, 1.0, 1.5):
        found = first_within_on_path(queries.EDGE_EDGE, position, 2 * np.pi, d)
        expected = 1 - np.arcsin(d / 2) / np.pi
        assert found.surely
        assert found.lower[0] - 1e-12 <= expected <= found.upper[0] + 1e-12
        assert found.upper[0] - found.lower[0] < 1e-9
    assert first_within_on_path(queries.EDGE_EDGE, position, 2 * np.pi, 2.0).upper[0] < 0.51
    above = np.array([(0, 0, 3), (0, 0, 3), (0, 0, 0), (0, 0, 0)])
    assert first_within_on_path(queries.EDGE_EDGE, lambda t: position(t) + above, 2 * np.pi, 1).never


@pytest.mark.parametrize("kind", FEATURES)
def test_a_straight_path_is_a_path(kind):
    thick = thick_queries(kind, 30, 4)
    straight = first_within(FEATURES[kind], thick.x0, thick.x1, thick.d)
    for i in range(30):
        a, b = thick.x0[i], thick.x1[i]
        speed = np.linalg.norm((b - a)[:, None] - (b - a)[None], axis=2).max()
        found = first_within_on_path(FEATURES[kind], lambda t, a=a, b=b: (1 - t) * a + t * b, speed, thick.d[i])
        if not found.undecided[0]:
            assert found.surely[0] == straight.surely[i]
            assert found.lower[0] <= straight.upper[i]
            assert straight.lower[i] <= found.upper[0]
