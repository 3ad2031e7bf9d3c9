"""What every filter shares: it never discards what the exact test accepts, and it does discard."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.filters.sieve import FILTERS
from tests.reference import queries
from tests.shapes.feature_pairs import FEATURES, KINDS, TESTS, kept_by, mixed_queries, near_misses

SETS = {"mixture": mixed_queries, "near misses": near_misses}


@pytest.fixture(scope="module", params=[(kind, name) for kind in KINDS for name in SETS], ids="-".join)
def tried(request):
    kind, name = request.param
    x0, x1 = SETS[name](kind, 10_000, 1)
    return kind, name, x0, x1, TESTS[kind](x0, x1)


# How many of the queries without contact each discards at least, in percent; vertex-face and edge-edge.
LEAST = {
    "mixture": {"csat": (15, 10), "dnf": (10, 10), "ncf": (30, 30), "plane": (15, 10), "circle": (15, 10)},
    "near misses": {"csat": (50, 40), "dnf": (70, 70), "ncf": (80, 80), "plane": (80, 80), "circle": (50, 30)},
}


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_discards_a_contact(tried, name):
    kind, source, x0, x1, answer = tried
    kept = kept_by(name, kind, x0, x1)
    assert kept[answer.hit].all()
    share = 100 * (1 - kept[~answer.hit].mean())
    assert share > LEAST[source][name][KINDS[kind]], share
    assert 0.3 < answer.hit.mean() < 0.7


@pytest.mark.parametrize("horizon", [0.75, 0.3, 1e-3])
@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_discards_a_contact_up_to_the_horizon(tried, name, horizon):
    kind, _, x0, x1, answer = tried
    kept = kept_by(name, kind, x0, x1, horizon)
    early = answer.hit & (answer.toi <= horizon)
    assert kept[early].all()
    # What is too late for the horizon is discarded, or the horizon is good for nothing.
    assert not kept[answer.hit & ~early].all()
    assert early.sum() > (50 if horizon > 0.01 else 0)


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_discards_a_contact_at_just_the_horizon(name):
    # toi is rounded down: the contact itself may be later by the width of the bracket, so the horizon is its upper end.
    for kind in KINDS:
        x0, x1 = mixed_queries(kind, 400, 3)
        answer = TESTS[kind](x0, x1)
        for i in np.flatnonzero(answer.hit):
            assert kept_by(name, kind, x0[i : i + 1], x1[i : i + 1], answer.toi_upper[i])[0]


@pytest.fixture(scope="module", params=[1e-3, 1e-9, 4 * 2.0**-53])
def moved_a_little(request, tried):
    """Queries of ordinary size, and which of them meet in each of four copies whose vertices are off by so much."""
    kind, _, x0, x1, _ = tried
    size, rng = np.abs(x0).max(axis=(1, 2)), np.random.default_rng(9)
    fine = (size > 1e-3) & (size < 1e3)
    x0, x1 = x0[fine], x1[fine]
    hits = []
    for _ in range(4):
        a, b = (x + request.param * rng.choice([-1.0, 1.0], x.shape) for x in (x0, x1))
        hits.append(TESTS[kind](a, b).hit)
    return request.param, x0, x1, hits


@pytest.mark.parametrize("name", FILTERS)
def test_what_is_discarded_stays_apart_if_every_vertex_is_off_a_little(tried, moved_a_little, name):
    (kind, source, *_), (position_error, x0, x1, hits) = tried, moved_a_little
    kept = kept_by(name, kind, x0, x1, position_error=position_error)
    assert not kept.all() or (source, name) == ("mixture", "csat")
    for hit in hits:
        assert kept[hit].all()


@pytest.mark.parametrize("name", FILTERS)
def test_order_of_the_vertices_is_no_loophole(name):
    rng = np.random.default_rng(4)
    for kind, features in FEATURES.items():
        x0, x1 = mixed_queries(kind, 3000, 5)
        hit = TESTS[kind](x0, x1).hit
        for _ in range(3):
            rows = [row for feature in features for row in rng.permutation(feature)]
            if kind == "edge_edge" and rng.random() < 0.5:
                rows = rows[2:] + rows[:2]
            assert kept_by(name, kind, x0[:, rows], x1[:, rows])[hit].all()


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_at_any_scale(name, kind):
    """From where products of three coordinates vanish to where they overflow."""
    x0, x1 = mixed_queries(kind, 300, 6)
    names = np.array(queries.family_names(300, 6))
    normal = ~np.isin(names, ["denormal", "huge", "tiny", "mixed"])
    x0, x1 = x0[normal], x1[normal]
    hit = TESTS[kind](x0, x1).hit
    assert 0.3 < hit.mean() < 0.7
    culled_somewhere = False
    for exponent in range(-1060, 1010, 10):
        a, b = np.ldexp(x0, exponent), np.ldexp(x1, exponent)
        # Only where scaling is exact is the answer the same.
        exact = ((np.ldexp(a, -exponent) == x0) & (np.ldexp(b, -exponent) == x1)).all(axis=(1, 2))
        kept = kept_by(name, kind, a, b)
        assert kept[hit & exact].all(), exponent
        culled_somewhere |= not kept.all()
    assert culled_somewhere


@pytest.mark.bounds
@pytest.mark.unit
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_queries(name, kind):
    x0, x1 = near_misses(kind, 60, 2)
    answer = TESTS[kind](x0, x1, threads=1)
    kept = kept_by(name, kind, x0, x1)
    assert kept[answer.hit].all()
    assert 0.3 < answer.hit.mean() < 0.7
    assert not kept.all()


def test_an_empty_block():
    assert len(kept_by("dnf", "vertex_face", np.empty((0, 4, 3)), np.empty((0, 4, 3)))) == 0
