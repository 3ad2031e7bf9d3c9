"""Intersecting triangles against the rational reference, on pairs most of which are degenerate on purpose."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

from pliant.elementary.certified import HIT, MISS
from pliant.elementary.segments import FLAT
from pliant.elementary.triangles import decide_triangles
from pliant.runtime.tally import Tally
from tests.reference import triangles
from tests.reference.triangle_pairs import FAMILIES, random_pairs

COUNT, SEED = 20_150, 1


class Pairs(NamedTuple):
    x: np.ndarray  # (6 k, 3), six vertices for each pair
    corners: np.ndarray  # (2 k, 3)
    family: np.ndarray  # (k,)


class Answer(NamedTuple):
    status: np.ndarray
    segments: np.ndarray
    stages: dict[str, Any]


def make(count, seed) -> Pairs:
    x, corners, family = [], [], []
    for k, (positions, a, b, name) in enumerate(random_pairs(np.random.default_rng(seed), count)):
        x.append(positions)
        corners.append(np.array([a, b]) + 6 * k)
        family.append(name)
    return Pairs(np.concatenate(x), np.concatenate(corners).astype(np.int32), np.array(family))


def decide(x, corners) -> Answer:
    """Rows 2 k and 2 k + 1 of corners are a pair."""
    count = len(corners) // 2
    pairs = np.arange(2 * count, dtype=np.int32).reshape(count, 2)
    status, segments, tally = np.empty(count, np.int8), np.full((count, 2, 3), np.nan), Tally()
    hits = decide_triangles(x, corners, pairs, status, segments, tally)
    assert hits == np.count_nonzero(status)
    return Answer(status, segments, {stage.name: stage for stage in tally.stages()})


def truth_of(x, corners):
    """What the status should be, of every pair."""
    truths = np.empty(len(corners) // 2, np.int8)
    for k, (a, b) in enumerate(zip(corners[0::2], corners[1::2])):
        hit = triangles.intersect(x[a], x[b], a.tolist(), b.tolist())
        truths[k] = MISS if not hit else FLAT if triangles.coplanar(x[a], x[b]) else HIT
    return truths


@pytest.fixture(scope="module")
def mixture() -> Pairs:
    return make(COUNT, SEED)


@pytest.fixture(scope="module")
def answer(mixture) -> Answer:
    return decide(mixture.x, mixture.corners)


def test_every_pair_is_decided_as_rationals_do(mixture, answer):
    np.testing.assert_array_equal(answer.status, truth_of(mixture.x, mixture.corners))
    assert 0.3 < (answer.status != MISS).mean() < 0.7
    assert 0.2 < (answer.status == FLAT).mean() < 0.5
    hit_families = np.unique(mixture.family[answer.status != MISS])
    never = {"coplanar apart", "shared vertex missing", "shared edge spread flat"}
    assert set(FAMILIES) - set(hit_families) == never


@pytest.mark.unit
@pytest.mark.bounds
def test_a_few_of_each_kind():
    few = make(6 * len(FAMILIES), 2)
    found = decide(few.x, few.corners)
    np.testing.assert_array_equal(found.status, truth_of(few.x, few.corners))
    assert 0.3 < (found.status != MISS).mean() < 0.7


def test_both_tiers_take_part(answer):
    assert answer.stages["exact"].pairs_in == COUNT
    assert answer.stages["exact"].pairs_out == np.count_nonzero(answer.status)
    tiers = [answer.stages[f"exact: {name}"] for name in ("doubles", "integers")]
    assert sum(tier.pairs_out for tier in tiers) == COUNT
    assert min(tier.pairs_out for tier in tiers) > 5000


def test_order_of_triangles_and_corners_does_not_matter(mixture, answer):
    rng = np.random.default_rng(5)
    for _ in range(4):
        corners = rng.permuted(mixture.corners, axis=1).reshape(-1, 2, 3)
        swapped = rng.random(COUNT) < 0.5
        corners[swapped] = corners[swapped, ::-1]
        other = decide(mixture.x, corners.reshape(-1, 3))
        np.testing.assert_array_equal(other.status, answer.status)
        # Of several extents that are equally long, any one is right: compare those of planes that cross. A rounding
        # error can turn the order of the ends around.
        across = answer.status == HIT
        size = np.abs(mixture.x.reshape(COUNT, -1)[across]).max(axis=1)[:, None]
        far = [
            np.abs(other.segments - ends)[across].max(axis=2) for ends in (answer.segments, answer.segments[:, ::-1])
        ]
        assert (np.minimum(*(d.max(axis=1, keepdims=True) for d in far)) <= 2e-11 * size + 2e-323).all()


# --- segments ------------------------------------------------------------------------------------------------------


def distance_squared(p, q):
    return sum((a - b) ** 2 for a, b in zip(p, q))


def test_segments_are_what_is_shared(mixture, answer):
    """Each end is an extreme point of the true intersection, and no two of those are farther apart."""
    doubled = 0
    hits = np.flatnonzero(answer.status)[::4]
    assert len(hits) > 2000
    for k in hits:
        a, b = mixture.corners[2 * k], mixture.corners[2 * k + 1]
        points = triangles.overlap(mixture.x[a], mixture.x[b])
        ends = [tuple(map(Fraction, end)) for end in answer.segments[k].tolist()]
        assert ends[0] <= ends[1], k
        doubled += ends[0] == ends[1]
        tolerance = Fraction(np.abs(mixture.x[[*a, *b]]).max()) / 10**11 + Fraction(1e-323)
        for end in ends:
            assert min(distance_squared(end, p) for p in points) <= tolerance**2, k
        longest = max((distance_squared(p, q) for p, q in combinations(points, 2)), default=0)
        length = distance_squared(*ends)
        # (l - e)^2 >= l^2 - 2 l e with l the longest and e what both ends are off by.
        assert length >= longest or (longest - length) ** 2 <= 16 * longest * tolerance**2, k
    assert doubled > 300


def test_segments_of_misses_are_not_touched(answer):
    assert np.isnan(answer.segments[answer.status == MISS]).all()
    assert np.isfinite(answer.segments[answer.status != MISS]).all()


@pytest.mark.unit
def test_the_whole_range_of_doubles_has_finite_segments():
    largest, least = np.finfo(np.float64).max, 5e-324
    x = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1], [1, 1, 1]]) * largest
    for positions in (x, x * (1, 1, least), x * (least, 1, 1e-300), np.ldexp(x, -2097)):
        found = decide(positions, np.array([[0, 1, 2], [3, 4, 5]], np.int32))
        assert found.status[0] == HIT
        assert np.isfinite(found.segments).all()
        assert (found.segments[0, 0] == 0).all()


# --- single cases, each with its picture -----------------------------------------------------------------------------


@pytest.mark.unit
@pytest.mark.parametrize(
    ("b", "ids_b", "status"),
    [
        ([(0, 0, 1), (4, 0, 1), (0, 4, 1)], (3, 4, 5), MISS),  # parallel
        ([(1, 1, -1), (1, 1, 1), (5, 5, 0)], (3, 4, 5), HIT),  # an edge through the face
        ([(1, 1, 0), (1, 1, 1), (5, 5, 1)], (3, 4, 5), HIT),  # standing on the face
        ([(2, 2, 0), (4, 4, 1), (4, 4, -1)], (3, 4, 5), HIT),  # a vertex on an edge
        ([(0, 0, 0), (-4, 0, 0), (0, -4, 0)], (3, 4, 5), FLAT),  # a vertex on a vertex, not merged
        ([(0, 0, 0), (-4, 0, 0), (0, -4, 0)], (0, 4, 5), MISS),  # the same, merged
        ([(0, 0, 0), (2, 0, 0), (0, -4, 0)], (0, 4, 5), FLAT),  # merged, but along an edge too
        ([(0, 0, 0), (2, 2, 1), (2, 2, -1)], (0, 4, 5), HIT),  # one vertex shared, and through the face
        ([(0, 0, 0), (-2, -2, 1), (-2, -2, -1)], (0, 4, 5), MISS),  # through its plane on the other side
        ([(0, 0, 0), (4, 0, 0), (0, 0, 4)], (0, 1, 5), MISS),  # hinged
        ([(0, 0, 0), (4, 0, 0), (0, -4, 0)], (0, 1, 5), MISS),  # hinged and spread flat
        ([(0, 0, 0), (4, 0, 0), (9, 4, 0)], (0, 1, 5), FLAT),  # folded flat
        ([(0, 0, 0), (4, 0, 0), (2, 0, 0)], (0, 1, 5), MISS),  # no more than the shared edge
        ([(0, 0, 0), (4, 0, 0), (6, 0, 0)], (0, 1, 5), MISS),  # reaches beyond it, but not within the other
        ([(0, 4, 0), (0, 0, 0), (4, 0, 0)], (2, 0, 1), FLAT),  # a duplicate
        ([(1, 1, -1), (1, 1, 1), (1, 1, 1)], (3, 4, 4), HIT),  # a segment through the face
        ([(1, 1, 0), (1, 1, 0), (1, 1, 0)], (3, 4, 5), FLAT),  # a point in the face
        ([(0, 0, 0), (0, 0, 0), (0, 0, 0)], (0, 0, 0), MISS),  # a shared point
        ([(-1, -1, 0), (0, 0, 0), (1, 1, 0)], (3, 0, 5), FLAT),  # a segment through a shared vertex, into the face
        ([(0, 0, -1), (0, 0, 0), (0, 0, 1)], (3, 0, 5), MISS),  # a segment through a shared vertex, and off
    ],
)
def test_single_cases(b, ids_b, status):
    x = np.zeros((6, 3))
    x[list(ids_b)] = b
    x[:3] = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
    corners = np.array([(0, 1, 2), ids_b], np.int32)
    assert truth_of(x, corners)[0] == status
    assert decide(x, corners).status[0] == status


@pytest.mark.unit
def test_no_pairs():
    assert decide(np.zeros((3, 3)), np.empty((0, 3), np.int32)).stages["exact"].pairs_out == 0
