"""Conservative advancement: no contact is lost, no time is late, and where it stops the features are near."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import queries
from tests.reference.distances import distance
from tests.reference.thickness import first_within, size
from tests.reference.thickness_queries import DISTANCES, FAMILIES, FEATURES, thick_queries
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical

TESTS = {"vertex_face": pliant.vertex_face, "edge_edge": pliant.edge_edge}
TOLERANCE = 1e-6
# Rounding of positions at toi, and of the reference itself; relative to the size of the query.
ROUNDING = 1e-11


def unscaled(x0, x1):
    """Queries with their largest coordinate near 1, exactly but for what becomes denormal."""
    exponent = np.frexp(np.maximum(np.abs(x0), np.abs(x1)).max(axis=(1, 2)))[1][:, None, None]
    return tuple(np.ldexp(np.ldexp(x, -exponent // 2), -exponent - -exponent // 2) for x in (x0, x1))


def distance_at(kind, x0, x1, t):
    t = t[:, None, None]
    return distance(FEATURES[kind], (1 - t) * x0 + t * x1)


def by_distance(kind, thick, **options):
    """hit, toi, gap of all queries, asked in one call for each distance."""
    columns = {name: np.empty(len(thick.d), dtype) for name, dtype in (("hit", bool), ("toi", float), ("gap", float))}
    for d in DISTANCES:
        rows = thick.d == d
        answer = TESTS[kind](thick.x0[rows], thick.x1[rows], min_distance=d, **options)
        for name, column in columns.items():
            column[rows] = getattr(answer, name)
    return columns["hit"], columns["toi"], columns["gap"]


# ---- contact


@pytest.fixture(scope="module", params=TESTS)
def contacts(request):
    """10,000 of each kind: every family of exact queries, and the families of thickness at distance zero."""
    kind = request.param
    x0, x1 = getattr(queries, f"{kind}_queries")(7000, 11)
    thick = thick_queries(kind, 3000, 11)
    x0, x1 = np.concatenate([x0, thick.x0]), np.concatenate([x1, thick.x1])
    return kind, x0, x1, TESTS[kind](x0, x1), TESTS[kind](x0, x1, accuracy=pliant.Accuracy("advance"))


def test_every_contact_is_found_and_none_is_late(contacts):
    _, _, _, exact, found = contacts
    assert 0.3 < exact.hit.mean() < 0.7
    assert found.hit[exact.hit].all()
    assert (found.toi[exact.hit] <= exact.toi_upper[exact.hit]).all()
    assert (found.toi[found.hit] >= 0).all()
    assert (found.toi[found.hit] <= 1).all()
    assert np.isnan(found.toi[~found.hit]).all()


def test_features_are_near_where_it_stops(contacts):
    kind, x0, x1, _, found = contacts
    x0, x1 = unscaled(x0[found.hit], x1[found.hit])
    apart = distance_at(kind, x0, x1, found.toi[found.hit])
    assert (apart <= (TOLERANCE + ROUNDING) * size(x0, x1)).all()


def test_a_smaller_tolerance_is_kept(contacts):
    kind, x0, x1, exact, _ = contacts
    x0, x1 = unscaled(x0[7000:8000], x1[7000:8000])
    for tolerance in (1e-3, 1e-9):
        found = TESTS[kind](x0, x1, accuracy=pliant.Accuracy("advance", tolerance))
        assert found.hit[exact.hit[7000:8000]].all()
        apart = distance_at(kind, x0[found.hit], x1[found.hit], found.toi[found.hit])
        assert (apart <= (tolerance + ROUNDING) * size(x0, x1)[found.hit]).all()


def test_the_table_has_all_columns(contacts):
    _, x0, _, _, found = contacts
    assert found.status.shape == found.gap.shape == (len(x0),)
    assert found.status.dtype == np.int8
    assert found.weights.shape == (len(x0), 4)
    np.testing.assert_allclose(np.linalg.norm(found.normal[found.hit], axis=1), 1, rtol=1e-12)
    assert (found.toi_upper[found.hit] >= found.toi[found.hit]).all()


# ---- thickness


@pytest.fixture(scope="module", params=TESTS)
def thickness(request):
    kind = request.param
    thick = thick_queries(kind, 2000, 12)
    return kind, thick, by_distance(kind, thick)


def test_never_later_than_the_truth(thickness):
    kind, thick, (hit, toi, _) = thickness
    truth = first_within(FEATURES[kind], thick.x0, thick.x1, thick.d)
    assert 0.3 < truth.surely.mean() < 0.7
    for name in FAMILIES:
        assert 0.2 < truth.surely[thick.family == name].mean() < 0.8, name
    assert hit[truth.surely].all()
    assert (toi[truth.surely] <= truth.upper[truth.surely]).all()


def test_within_the_distance_and_the_tolerance_where_it_stops(thickness):
    kind, thick, (hit, toi, _) = thickness
    apart = distance_at(kind, thick.x0[hit], thick.x1[hit], toi[hit])
    assert (apart <= thick.d[hit] + (TOLERANCE + ROUNDING) * size(thick.x0, thick.x1)[hit]).all()


def test_no_report_where_they_stay_farther_apart(thickness):
    kind, thick, (hit, _, _) = thickness
    farther = thick.d + 2 * TOLERANCE * size(thick.x0, thick.x1)
    never = first_within(FEATURES[kind], thick.x0, thick.x1, farther).never
    assert 0.3 < never.mean() < 0.7
    assert not hit[never].any()


def test_gap_is_the_distance_at_the_start(thickness):
    kind, thick, (hit, toi, gap) = thickness
    apart = distance(FEATURES[kind], thick.x0)
    np.testing.assert_allclose(gap, apart, rtol=0, atol=1e-11)
    within = apart < thick.d - 1e-9
    assert 0.1 < within.mean() < 0.5
    assert (hit & (toi == 0))[within].all()


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400])
def test_scale_and_distance_together_change_nothing(kind, scale):
    thick = thick_queries(kind, 300, 13)
    thick = thick.rows(thick.d == DISTANCES[1])
    plain = TESTS[kind](thick.x0, thick.x1, min_distance=DISTANCES[1])
    scaled = TESTS[kind](thick.x0 * scale, thick.x1 * scale, min_distance=DISTANCES[1] * scale)
    np.testing.assert_array_equal(scaled.hit, plain.hit)
    np.testing.assert_allclose(scaled.toi[plain.hit], plain.toi[plain.hit], rtol=0, atol=1e-9)


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("d", [0.25, 1.0])
def test_a_vertex_that_falls_on_a_face(d):
    x0 = np.array([[(0, 0, 2), (-2, -2, 0), (2, -2, 0), (0, 2, 0)]], dtype=np.float64)
    x1 = x0 - np.array([(0, 0, 4), (0, 0, 0), (0, 0, 0), (0, 0, 0)])
    answer = pliant.vertex_face(x0, x1, min_distance=d)
    truth = (2 - d) / 4
    assert answer.hit.all()
    assert truth - 1e-5 <= answer.toi[0] <= truth
    assert answer.gap[0] == 2
    np.testing.assert_allclose(answer.normal[0], (0, 0, 1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(answer.weights[0], (1, -0.25, -0.25, -0.5), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", TESTS)
def test_distance_zero_is_the_exact_test(kind):
    x0, x1 = getattr(queries, f"{kind}_queries")(300, 14)
    plain, zero = TESTS[kind](x0, x1), TESTS[kind](x0, x1, min_distance=0.0)
    assert_identical(zero, plain)


BAD_OPTIONS = [
    {"min_distance": -1.0},
    {"min_distance": np.nan},
    {"min_distance": np.inf},
    {"min_distance": "wide"},
    {"solver": "newton"},
    {"solver": "advance", "tolerance": 0.0},
    {"solver": "advance", "tolerance": -1e-6},
    {"solver": "advance", "tolerance": np.nan},
]


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("options", BAD_OPTIONS, ids=str)
def test_wrong_options(kind, options):
    with pytest.raises(pliant.MeshError):
        TESTS[kind](np.zeros((1, 4, 3)), np.ones((1, 4, 3)), **grouped(**options))
