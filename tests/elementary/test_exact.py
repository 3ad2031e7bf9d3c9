"""The exact test against the rational reference, on queries most of which are degenerate on purpose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import pliant
from bench.fingerprints import columns_of
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.elementary.exact_integers import decide_in_integers
from tests.reference import queries, rational
from tests.shapes.tables import assert_identical

COUNT, SEED = 10_000, 1
TESTS = {"vertex_face": pliant.vertex_face, "edge_edge": pliant.edge_edge}
FEATURES = {"vertex_face": queries.VERTEX_FACE, "edge_edge": queries.EDGE_EDGE}


def make(kind, count, seed):
    return {"vertex_face": queries.vertex_face_queries, "edge_edge": queries.edge_edge_queries}[kind](count, seed)


def first_times(kind, x0, x1):
    return [getattr(rational, kind)(a, b) for a, b in zip(x0, x1)]


class Mixture(NamedTuple):
    kind: str
    family: np.ndarray
    x0: np.ndarray
    x1: np.ndarray
    truths: list
    answer: Any


@pytest.fixture(scope="module", params=TESTS)
def mixture(request) -> Mixture:
    kind = request.param
    x0, x1 = make(kind, COUNT, SEED)
    family = np.array(queries.family_names(COUNT, SEED))
    return Mixture(kind, family, x0, x1, first_times(kind, x0, x1), TESTS[kind](x0, x1))


def assert_agrees(answer, truths):
    hit = np.array([truth is not None for truth in truths])
    np.testing.assert_array_equal(answer.hit, hit)
    assert np.isnan(answer.toi[~hit]).all()
    assert np.isnan(answer.toi_upper[~hit]).all()
    for i in np.flatnonzero(hit):
        assert 0 <= answer.toi[i] <= answer.toi_upper[i] <= 1, i
        assert answer.toi_upper[i] - answer.toi[i] <= 1e-12, i
        assert answer.toi[i] <= truths[i].upper, i
        assert answer.toi_upper[i] >= truths[i].lower, i


def test_hits_and_times(mixture):
    assert_agrees(mixture.answer, mixture.truths)
    assert 0.3 < mixture.answer.hit.mean() < 0.7
    for name in np.unique(mixture.family):
        assert mixture.answer.hit[mixture.family == name].mean() > 0, name


def test_contact_at_the_start_has_time_zero_and_no_other_has(mixture):
    hits = np.flatnonzero(mixture.answer.hit)
    at_start = np.array([mixture.truths[i] == (0, 0) for i in hits])
    assert at_start.sum() > 500
    np.testing.assert_array_equal(mixture.answer.toi_upper[hits] == 0.0, at_start)
    assert (mixture.answer.toi[hits][at_start] == 0.0).all()
    # Only denormals make times that no double is below.
    for i in hits[(mixture.answer.toi[hits] == 0.0) & ~at_start]:
        magnitudes = np.abs((mixture.x0[i], mixture.x1[i]))
        assert ((magnitudes > 0) & (magnitudes < 1e-307)).any()


def test_contact_at_the_end_is_contact(mixture):
    at_end = [i for i, truth in enumerate(mixture.truths) if truth == (1, 1)]
    assert len(at_end) > 100
    assert mixture.answer.hit[at_end].all()
    assert (mixture.answer.toi_upper[at_end] == 1.0).all()


def test_every_tier_takes_part(mixture):
    stages = {stage.name: stage for stage in mixture.answer.stages}
    assert stages["exact"].pairs_in == COUNT
    assert stages["exact"].pairs_out == mixture.answer.hit.sum()
    tiers = [stages[f"exact: {name}"] for name in ("doubles", "double-doubles", "integers")]
    assert sum(tier.pairs_out for tier in tiers) == COUNT
    assert tiers[0].pairs_out > 2000
    assert tiers[1].pairs_out > 100
    assert tiers[2].pairs_out > 2000


def unscaled(x):
    """The query with its largest coordinate near 1, exactly: sums of denormals would be mostly rounding."""
    exponent = np.frexp(np.abs(x).max(axis=(0, 2, 3)))[1][None, :, None, None]
    return np.ldexp(np.ldexp(x, -exponent // 2), -exponent - -exponent // 2)


def residual(mixture):
    """Of the hits: |weighted sum of the moving vertices at toi|, relative to the size of the query."""
    hit = mixture.answer.hit
    x0, x1 = unscaled(np.stack([mixture.x0[hit], mixture.x1[hit]]))
    t = mixture.answer.toi[hit][:, None, None]
    x = (1 - t) * x0 + t * x1
    return np.abs((mixture.answer.weights[hit][:, :, None] * x).sum(axis=1)).max(axis=1)


def test_weights_name_a_point_of_both_features(mixture):
    hit = mixture.answer.hit
    weights = mixture.answer.weights
    assert np.isnan(weights[~hit]).all()
    a, b = (weights[hit][:, list(rows)] for rows in FEATURES[mixture.kind])
    assert a.min() >= 0
    assert b.max() <= 0
    np.testing.assert_allclose(a.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(b.sum(axis=1), -1, rtol=1e-14)


def test_weighted_points_agree(mixture):
    # toi is up to 1e-12 early, and features move by many times their size in that unit.
    assert residual(mixture).max() < 1e-10


def test_weighted_points_agree_where_the_face_collapses():
    """One side of the face vanishes at t = 1/2; at toi, 2e-13 earlier, it is so short that its parameter is noise."""
    x0 = [[0, 2, 1], [0, -2, -2], [1, 0, 1], [2, 0, -2]]
    x1 = [[2, -1, -1], [1, 3, 5], [0, 1, 2], [0, 1, 2]]
    answer = pliant.vertex_face([x0], [x1])
    t = answer.toi[0]
    assert t == pytest.approx(0.5)
    gap = answer.weights[0] @ ((1 - t) * np.array(x0) + t * np.array(x1))
    assert np.abs(gap).max() < 1e-10


def test_normals_are_unit_vectors(mixture):
    hit = mixture.answer.hit
    np.testing.assert_allclose(np.linalg.norm(mixture.answer.normal[hit], axis=1), 1, rtol=1e-14)
    assert np.isnan(mixture.answer.normal[~hit]).all()


def test_normals_stand_on_the_features(mixture):
    # Generic contacts only: of a degenerate one, any separating normal is fine.
    chosen = np.isin(mixture.family, ["generic", "inner"]) & mixture.answer.hit
    assert chosen.sum() > 400
    t = mixture.answer.toi[chosen][:, None, None]
    x, normal = (1 - t) * mixture.x0[chosen] + t * mixture.x1[chosen], mixture.answer.normal[chosen]
    sides = [(1, 2), (1, 3)] if mixture.kind == "vertex_face" else [(0, 1), (2, 3)]
    for i, j in sides:
        along = x[:, j] - x[:, i]
        assert np.abs((along * normal).sum(axis=1) / np.linalg.norm(along, axis=1)).max() < 1e-6
    # The first feature comes from where the normal points to.
    moved = (mixture.answer.weights[chosen][:, :, None] * (mixture.x1 - mixture.x0)[chosen]).sum(axis=1)
    assert ((moved * normal).sum(axis=1) <= 0).all()


def test_order_of_the_vertices_does_not_matter(mixture):
    rng = np.random.default_rng(5)
    for _ in range(3):
        rows = [row for feature in FEATURES[mixture.kind] for row in rng.permutation(feature)]
        if mixture.kind == "edge_edge" and rng.random() < 0.5:
            rows = rows[2:] + rows[:2]
        other = TESTS[mixture.kind](mixture.x0[:, rows], mixture.x1[:, rows])
        np.testing.assert_array_equal(other.hit, mixture.answer.hit)
        hit = other.hit
        assert (other.toi[hit] <= mixture.answer.toi_upper[hit]).all()
        assert (mixture.answer.toi[hit] <= other.toi_upper[hit]).all()


def test_direction_of_time_does_not_matter(mixture):
    np.testing.assert_array_equal(TESTS[mixture.kind](mixture.x1, mixture.x0).hit, mixture.answer.hit)


def test_threads_do_not_matter(mixture):
    repeated = [np.concatenate([x] * 3) for x in (mixture.x0, mixture.x1)]  # several chunks
    answers = [TESTS[mixture.kind](*repeated, threads=threads) for threads in (1, 3)]
    assert_identical(*answers)
    for name, column in columns_of(mixture.answer):
        np.testing.assert_array_equal(getattr(answers[0], name)[-COUNT:], column)


@pytest.mark.parametrize("kind", TESTS)
def test_times_do_not_depend_on_the_other_queries(kind):
    """Seen in 22 of 1000 queries: of the scales 1e150 and 1e-150, when queries of ordinary size were among them.

    One power of two used to bring the whole array near 1; then a query's own size decided about the tier.
    """
    x0, x1 = make(kind, 1000, 7)
    together = TESTS[kind](x0, x1)
    for i in np.flatnonzero(np.isin(queries.family_names(1000, 7), ["huge", "tiny", "denormal", "mixed", "generic"])):
        alone = TESTS[kind](x0[i : i + 1], x1[i : i + 1])
        for name, column in columns_of(together):
            np.testing.assert_array_equal(getattr(alone, name), column[i : i + 1])


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("seed", [2, 3])
def test_generic_queries_in_single_precision(kind, seed):
    # Short mantissas: another distribution of exact ties than that of the mixture. float32 is converted, exactly.
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, 1500, 4, 3)).astype(np.float32)
    x[:, ::2] = np.round(x[:, ::2] * 4) / 4
    answer = TESTS[kind](*x)
    assert_agrees(answer, first_times(kind, *x.astype(np.float64)))
    assert 0.05 < answer.hit.mean() < 0.7


@pytest.mark.bounds
@pytest.mark.unit
@pytest.mark.parametrize("kind", TESTS)
def test_a_few_of_every_family(kind):
    x0, x1 = make(kind, 60, 4)
    answer = TESTS[kind](x0, x1, threads=1)
    assert_agrees(answer, first_times(kind, x0, x1))
    assert 0.3 < answer.hit.mean() < 0.7


@pytest.mark.bounds
@pytest.mark.parametrize("kind", TESTS)
def test_many_of_every_family_within_bounds(kind):
    x0, x1 = make(kind, 1500, 6)
    answer = TESTS[kind](x0, x1)
    assert_agrees(answer, first_times(kind, x0, x1))
    assert 0.3 < answer.hit.mean() < 0.7


# ---- input


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("empty", [[], np.empty((0, 4, 3)), np.empty((0, 4, 3), np.float32), np.empty((0, 4, 3), int)])
def test_no_queries(kind, empty):
    answer = TESTS[kind](empty, empty)
    assert len(answer) == 0
    assert repr(answer) == "PairContacts(0 of 0 hit)"
    assert answer.hit.dtype == bool
    assert (answer.weights.shape, answer.normal.shape) == ((0, 4), (0, 3))


@pytest.mark.parametrize("kind", TESTS)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 3), (2, 4, 2), (2, 4, 3, 1), (12,)])
def test_wrong_shapes(kind, shape):
    with pytest.raises(pliant.MeshError, match=r"x0 must have shape \(k, 4, 3\)"):
        TESTS[kind](np.zeros(shape), np.zeros(shape))


def test_different_numbers_of_queries():
    with pytest.raises(pliant.MeshError, match="x0 holds 2 queries, but x1 holds 3"):
        pliant.vertex_face(np.zeros((2, 4, 3)), np.zeros((3, 4, 3)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_named(bad):
    x = np.zeros((3, 4, 3))
    x[2, 1, 0] = bad
    with pytest.raises(pliant.MeshError, match=r"x1\[2, 1, 0\] is"):
        pliant.edge_edge(np.zeros((3, 4, 3)), x)


def test_complex_text_and_ragged_input():
    for bad in (np.zeros((1, 4, 3), complex), np.full((1, 4, 3), "a"), [[[1, 2, 3], [4, 5]]], [None]):
        with pytest.raises(pliant.MeshError):
            pliant.vertex_face(bad, bad)


def test_integers_are_taken_as_they_are():
    x0 = [[(1, 1, 1), (0, 0, 0), (4, 0, 0), (0, 4, 0)]]
    x1 = [[(1, 1, -2), (0, 0, 0), (4, 0, 0), (0, 4, 0)]]
    answer = pliant.vertex_face(x0, x1)
    assert answer.hit.tolist() == [True]
    assert answer.toi[0] <= 1 / 3 <= answer.toi_upper[0]
    np.testing.assert_allclose(answer.weights, [[1, -0.5, -0.25, -0.25]], atol=1e-11)
    np.testing.assert_allclose(answer.normal, [[0, 0, 1]], atol=1e-15)
    with pytest.raises(pliant.MeshError, match=r"above 2\*\*53"):
        pliant.vertex_face(np.full((1, 4, 3), 2**53 + 1), np.zeros((1, 4, 3)))


def test_input_is_not_changed():
    x0, x1 = make("vertex_face", 50, 8)
    before = x0.copy(), x1.copy()
    x0.flags.writeable = x1.flags.writeable = False
    pliant.vertex_face(x0, x1)
    np.testing.assert_array_equal((x0, x1), before)


def test_strided_input():
    x0, x1 = make("edge_edge", 200, 9)
    strided = [np.asfortranarray(np.repeat(x, 2, axis=0))[::2] for x in (x0, x1)]
    np.testing.assert_array_equal(pliant.edge_edge(*strided).toi, pliant.edge_edge(x0, x1).toi)


def test_a_denormal_axis_proves_nothing():
    """Found in review: v starts exactly on the edge f0 f1 and moves by a denormal.

    The separating axis across that motion was denormal too, its dot products were nothing but underflow, and the
    error bound was zero: the contact at t = 0 was lost.
    """
    p, q = float.fromhex("0x1.b12b595p-1"), float.fromhex("0x1.1d6d4428p-1")
    x0 = np.array([[p / 2, q / 2, 0], [0, 0, 0], [p, q, 0], [-q / 2, p / 2, 0]])
    x1 = x0.copy()
    x1[0, 2] = 5.735709494025e-311
    assert pliant.vertex_face([x0], [x1]).toi[0] == 0.0
    assert pliant.vertex_face([x0 * 2.0**1000], [x1 * 2.0**1000]).toi[0] == 0.0


def test_the_normal_of_parallel_edges_that_nearly_touch():
    """Found in review: a gap far smaller than the motion made the normal an axis that separates nothing."""
    x0 = [[0, 0, 0], [1, 0, 0], [0, 0, 1e-13], [1, 0, 1e-13]]
    x1 = [[0, 0, 0], [1, 0, 0], [0, 0, -1], [1, 0, -1]]
    np.testing.assert_allclose(pliant.edge_edge([x0], [x1]).normal, [[0, 0, -1]], atol=1e-12)


@pytest.mark.parametrize("kind", [VERTEX_FACE, EDGE_EDGE])
def test_integers_return_after_some_work(kind):
    """Ctrl-C waits for a kernel: a block of numbers with exponents over the whole range took hours in one call."""
    rng = np.random.default_rng(7)
    wide = np.ldexp(rng.uniform(-1, 1, (2, 12, 3)), rng.integers(-1000, 1000, (2, 12, 3)))
    quads, toi, upper = np.arange(12).reshape(3, 4), np.empty(3), np.empty(3)
    ends = [decide_in_integers(kind, wide[0], wide[1], quads, first, toi, upper) for first in range(3)]
    assert ends == [1, 2, 3]
    usual, many = rng.uniform(-1, 1, (2, 4, 3)), np.tile(np.arange(4), (5000, 1))
    toi, upper = np.empty(5000), np.empty(5000)
    end = decide_in_integers(kind, usual[0], usual[1], many, 0, toi, upper)
    assert 500 < end < 5000
    assert decide_in_integers(kind, usual[0], usual[1], many, 4999, toi, upper) == 5000
