"""Two whole triangles: what the 15 queries say one by one is what they say together, whatever is culled before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import pliant
from pliant.filters.axes.triangle_features import CULL_NAMES, CULLS
from pliant.results.contacts import STATUS
from tests.reference import rational
from tests.reference import triangle_pairs as at_rest
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical
from tests.shapes.triangle_pairs import ALL, FEATURES, degenerate, drifting, left_by, one_by_one, whole

SETS = {"drifting": drifting, "whole": whole, "degenerate": degenerate}


@pytest.fixture(scope="module", params=SETS)
def tried(request):
    x0, x1 = SETS[request.param](2000, 1)
    return request.param, x0, x1, one_by_one(x0, x1)


@pytest.mark.parametrize("which", [1 << k for k in range(len(CULLS))] + [ALL])
def test_no_condition_takes_a_contact(tried, which):
    name, x0, x1, (hit, _, _) = tried
    kept, culled = left_by(x0, x1, which)
    assert kept[hit].all()
    assert 0.3 < hit.any(axis=1).mean() < 0.9
    if not (name == "degenerate" and which == 1):  # whose centres are nearly all in one place
        assert culled.sum() > (1000 if name == "drifting" else 20)
    assert (culled > 0).sum() == bin(which).count("1") or name != "drifting"


def test_random_pairs_in_bulk():
    for make, seed in ((drifting, 11), (whole, 12)):
        x0, x1 = make(20_000, seed)
        kept, _ = left_by(x0, x1)
        hit, _, _ = one_by_one(x0, x1)
        assert kept[hit].all()
        assert not kept.all()


@pytest.mark.parametrize("gap", [1e-3, 0.2])
def test_no_condition_takes_what_comes_within_a_distance(gap):
    for make in (drifting, whole):
        x0, x1 = make(1500, 5)
        hit, _, _ = one_by_one(x0, x1, min_distance=gap)
        kept, culled = left_by(x0, x1, radii=gap / 2, tolerance=1e-9)
        assert kept[hit].all()
        assert culled[:4].min() > 20
        if gap > 0.1:
            assert not left_by(x0, x1)[0][hit].all()  # the gap matters


def test_translation_and_size_are_no_loophole():
    """Coordinates so large that their differences are rounded."""
    rng = np.random.default_rng(6)
    for far in (1e3, 1e9, 2.0**50):
        x0, x1 = whole(3000, 7)
        shift = np.round(far * rng.standard_normal((len(x0), 1, 3)))
        hit, _, _ = one_by_one(x0 + shift, x1 + shift)
        assert left_by(x0 + shift, x1 + shift)[0][hit].all()
        assert hit.any(axis=1).mean() > 0.3


def test_signs_of_rounded_numbers():
    """A corner in the other face, or edges that cross, exactly, with coordinates of 30 bits: products are rounded, and
    which side they are on is noise. Then all move apart along the normal."""
    rng = np.random.default_rng(13)
    x0 = (rng.integers(-(2**26), 2**26, (4000, 6, 3)) * 16).astype(np.float64)
    b = x0[:, 3:]
    in_face = b[:, 0] + (b[:, 1] - b[:, 0]) / 2 + (b[:, 2] - b[:, 0]) / 4
    on_edge = b[:, 0] + (b[:, 1] - b[:, 0]) / 4
    middle = (x0[:, 0] + x0[:, 1]) / 2
    x0[::2, :3] += (in_face - x0[:, 0])[::2, None]
    x0[1::2, :3] += (on_edge - middle)[1::2, None]
    axis = np.where(np.arange(len(x0))[:, None] % 2, np.cross(x0[:, 1] - x0[:, 0], b[:, 1] - b[:, 0]),
                    np.cross(b[:, 1] - b[:, 0], b[:, 2] - b[:, 0]))  # fmt: skip
    x1 = x0.copy()
    way = np.round(axis / np.abs(axis).max(axis=1, keepdims=True) * 2.0 ** rng.integers(0, 30, (len(x0), 1)))
    x1[:, :3] += rng.choice([-1, 1], (len(x0), 1, 1)) * way[:, None]
    hit, _, _ = one_by_one(x0, x1)
    assert hit[::2, 0].all()
    assert hit[1::2, 6].all()
    for which in (1, 2, 4, 8, 16, 32, 64, ALL):
        assert left_by(x0, x1, which)[0][hit].all()


@pytest.mark.parametrize("solver", ["exact", "advance"])
def test_the_first_of_fifteen(tried, solver):
    name, x0, x1, (hit, toi, toi_upper) = tried
    answer = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver=solver))
    first = np.where(hit, toi, np.inf)
    if solver == "exact":
        np.testing.assert_array_equal(answer.hit, hit.any(axis=1))
        feature = first.argmin(axis=1)
        rows = np.arange(len(x0))
        for column, truth in ((answer.toi, toi), (answer.toi_upper, toi_upper)):
            np.testing.assert_array_equal(column, np.where(answer.hit, truth[rows, feature], np.nan))
        np.testing.assert_array_equal(feature_of(answer)[answer.hit], feature[answer.hit])
        return
    sure = hit.any(axis=1)
    assert answer.hit[sure].all()
    assert (answer.toi[sure] <= first.min(axis=1)[sure]).all()
    assert (answer.hit & ~sure).mean() < (0.01 if name == "drifting" else 0.2)
    assert np.quantile(first.min(axis=1)[sure] - answer.toi[sure], 0.9) < 1e-5
    close = distance_at(x0, x1, answer.toi)[answer.hit]
    extent = np.maximum(np.ptp(np.concatenate((x0, x1), axis=1), axis=1).max(axis=1), 1e-300)[answer.hit]
    assert (close <= 1.01e-9 * extent).all()


def feature_of(answer):
    a, b = answer.features.T.astype(int)
    return np.where(answer.kind == 0, a, 6 + 3 * a + b)


def distance_at(x0, x1, times):
    """Least distance of the features at a time (not of the triangles: they may pass through each other)."""
    t = np.where(np.isfinite(times), times, 0.0)[:, None, None]
    x = (1 - t) * x0 + t * x1
    tests = [pliant.vertex_face_distance if f < 6 else pliant.edge_edge_distance for f in range(15)]
    return np.min([test(x[:, list(q)]).distance for test, q in zip(tests, FEATURES)], axis=0)


@pytest.mark.parametrize("solver", ["exact", "advance"])
def test_conditions_change_nothing(tried, solver):
    _, x0, x1, _ = tried
    x0, x1 = x0[:600], x1[:600]
    expected = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver=solver), culls=())
    assert expected.hit.any()
    rng = np.random.default_rng(3)
    subsets = [c for size in (1, 7, 8) for c in combinations(CULLS, size)]
    subsets += [tuple(rng.permutation(CULLS)[: rng.integers(2, 6)]) for _ in range(10)]
    for culls in subsets:
        found = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver=solver), culls=culls)
        assert_identical(found, expected)
        used = [s.name for s in found.stages if s.name in CULL_NAMES]
        assert used == [n for c, n in zip(CULLS, CULL_NAMES) if c in culls]


@pytest.mark.parametrize("distance", [1e-3, 0.3])
def test_within_a_distance(distance):
    x0, x1 = drifting(1500, 8)
    answer = pliant.triangle_triangle(x0, x1, min_distance=distance)
    assert_identical(answer, pliant.triangle_triangle(x0, x1, min_distance=distance, culls=(), threads=3))
    assert_identical(answer, pliant.triangle_triangle(x0, x1, radii=np.full((1500, 6), distance / 2)))
    hit, toi, _ = one_by_one(x0, x1, min_distance=distance)
    np.testing.assert_array_equal(answer.hit, hit.any(axis=1))
    first = np.where(hit, toi, np.inf).min(axis=1)[answer.hit]
    # The tolerance is relative to twelve points there and to eight here.
    np.testing.assert_allclose(answer.toi[answer.hit], first, atol=1e-5)
    began = answer.status == STATUS.index("at the start")
    assert (answer.toi[began] == 0).all()
    assert 0.3 < answer.hit.mean() < 0.9


def test_what_is_told_of_a_contact():
    x0, x1 = drifting(3000, 9)
    for solver in ("exact", "advance"):
        answer = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver=solver))
        hit = answer.hit
        assert 0.2 < hit.mean() < 0.7
        assert set(answer.kind[hit]) == {0, 1}
        t = answer.toi[hit, None, None]
        x, w = (1 - t) * x0[hit] + t * x1[hit], answer.weights[hit]
        assert np.linalg.norm(np.einsum("ki,kij->kj", w, x), axis=1).max() < 1e-7
        np.testing.assert_allclose(w[:, :3].sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(w[:, 3:].sum(axis=1), -1, atol=1e-12)
        assert (w[:, :3] >= -1e-12).all()
        assert (w[:, 3:] <= 1e-12).all()
        # The normal points to the first triangle, against its velocity relative to the second at the point of contact.
        towards = np.einsum("kj,kj->k", np.einsum("ki,kij->kj", w, x1[hit] - x0[hit]), answer.normal[hit])
        assert (towards < 1e-9).mean() > 0.99
        features = np.array(FEATURES)[feature_of(answer)[hit]]
        assert all(set(np.flatnonzero(row)) <= set(q) for row, q in zip(w, features))
        assert np.isnan(answer.weights[~hit]).all()
        assert (answer.features[~hit] == -1).all()


def test_small_cases_agree_with_rationals():
    x0, x1 = whole(60, 10)
    answer = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver="exact"))
    for i in range(len(x0)):
        tests = [rational.vertex_face if f < 6 else rational.edge_edge for f in range(15)]
        truths = [test(x0[i, list(q)], x1[i, list(q)]) for test, q in zip(tests, FEATURES)]
        truths = [t for t in truths if t is not None]
        assert answer.hit[i] == bool(truths)
        if truths:
            assert answer.toi[i] <= min(t.upper for t in truths)
            assert answer.toi_upper[i] >= min(t.lower for t in truths)
    assert 0.3 < answer.hit.mean() < 0.9


@pytest.mark.bounds
@pytest.mark.unit
def test_a_few_pairs():
    x0, x1 = drifting(40, 3)
    exact = pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver="exact"), threads=1)
    np.testing.assert_array_equal(exact.hit, one_by_one(x0, x1, threads=1)[0].any(axis=1))
    assert_identical(
        exact, pliant.triangle_triangle(x0, x1, accuracy=pliant.Accuracy(solver="exact"), culls=(), threads=1)
    )
    advanced = pliant.triangle_triangle(x0, x1, min_distance=0.05, threads=1)
    assert advanced.hit[exact.hit].all()
    assert 0.2 < exact.hit.mean() < 0.8
    distances = pliant.triangle_distance(x0)
    assert (distances.distance > 0).any()


def test_no_pairs():
    none = np.empty((0, 6, 3))
    assert len(pliant.triangle_triangle(none, none)) == 0
    assert len(pliant.triangle_triangle(none, none, accuracy=pliant.Accuracy(solver="exact"))) == 0
    assert len(pliant.triangle_distance(none)) == 0
    assert repr(pliant.triangle_triangle(none, none)) == "TrianglePairs(0 of 0 hit)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"culls": "4.3"}, "sequence of names"),
        ({"culls": ("9.9",)}, "'9.9' is not known"),
        ({"solver": "guess"}, "'guess' is not known"),
        ({"radii": np.zeros((2, 6))}, r"shape \(3, 6\)"),
        ({"min_distance": -1.0}, "must not be negative"),
    ],
)
def test_wrong_options(options, message):
    x = np.zeros((3, 6, 3))
    with pytest.raises(ValueError, match=message):
        pliant.triangle_triangle(x, x, **grouped(**options))
    with pytest.raises(ValueError, match="shape"):
        pliant.triangle_triangle(x[:, :4], x)


# ---- distance


def test_distance_is_the_least_of_fifteen_or_zero():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1500, 6, 3))
    answer = pliant.triangle_distance(x)
    faces = np.arange(6 * len(x)).reshape(-1, 3)
    crossing = np.zeros(len(x), bool)
    hits = pliant.dcd(faces, x.reshape(-1, 3)).faces
    crossing[hits[hits[:, 0] // 2 == hits[:, 1] // 2, 0] // 2] = True
    assert 0.1 < crossing.mean() < 0.7
    expected = np.where(crossing, 0, distance_at(x, x, np.zeros(len(x))))
    np.testing.assert_allclose(answer.distance, expected, rtol=1e-12)
    np.testing.assert_allclose(
        answer.points[:, 0] - answer.points[:, 1], answer.distance[:, None] * answer.normal, atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.norm(answer.normal, axis=1), 1, rtol=1e-12)
    for part, total in ((answer.weights[:, :3], 1), (answer.weights[:, 3:], -1)):
        np.testing.assert_allclose(part.sum(axis=1), total, atol=1e-12)
        assert (part * total >= -1e-12).all()


def test_distance_of_triangles_that_only_just_touch():
    """Zero where they share a point, exactly: degenerate ones, in one plane, corner to corner."""
    rng = np.random.default_rng(2)
    touching = apart = 0
    for x, a, b, _ in at_rest.random_pairs(rng, 600):
        if len({*a, *b}) < 6:
            continue  # these share a vertex by name
        x = x[[*a, *b]]
        distance = pliant.triangle_distance(x[None]).distance[0]
        hit = len(pliant.dcd([(0, 1, 2), (3, 4, 5)], x)) > 0
        assert not hit or distance == 0
        touching += hit
        apart += distance > 0
    assert touching > 50
    assert apart > 50


@pytest.mark.parametrize("exponent", [-1060, -600, 600, 1000])
def test_distance_at_any_scale(exponent):
    x = np.random.default_rng(3).integers(-8, 9, (300, 6, 3)).astype(np.float64)
    expected = pliant.triangle_distance(x)
    found = pliant.triangle_distance(np.ldexp(x, exponent))
    np.testing.assert_allclose(found.distance, np.ldexp(expected.distance, exponent), rtol=1e-12, atol=5e-324)
    # Points of what they share are rounded where they are, next to the denormals by much.
    apart = expected.distance > 0
    np.testing.assert_allclose(found.weights[apart], expected.weights[apart], atol=1e-9)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-3 if exponent == -1060 else 1e-9)
    assert 0.1 < apart.mean() < 0.95
