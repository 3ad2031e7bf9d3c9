"""The conditions of paper 002 on pairs of features and of elements: never a contact lost, and as strong as the paper's.

What all filters share is in test_filters; here is what only these have: a distance to keep, and what they are called.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import pliant
from pliant.filters.sieve import FILTERS, sieve
from tests.shapes.feature_pairs import FEATURES, KINDS, TESTS, kept_by, mixed_queries, near_misses
from tests.shapes.meshes import motions
from tests.shapes.tables import assert_identical

SIMPLE = ("plane", "circle")
MOTIONS = {name: motion for name, motion in motions().items() if name in ("crumpled_sheet", "ball_heap", "soup 0")}


def whole(kind, count, seed):
    """Small integers: contact at both ends of the motion, in planes and on lines, nothing rounded."""
    rng = np.random.default_rng([seed, KINDS[kind]])
    x0, x1 = rng.integers(-3, 4, (2, count, 4, 3)).astype(np.float64)
    x1[::2] = x0[::2] + rng.integers(-1, 2, x1[::2].shape)
    return x0, x1


@pytest.mark.parametrize("kind", KINDS)
def test_never_a_contact(kind):
    for make, seed, least in ((mixed_queries, 21, 1000), (near_misses, 22, 3000), (whole, 23, 200)):
        x0, x1 = make(kind, 20_000, seed)
        hit = TESTS[kind](x0, x1).hit
        assert hit.sum() > 500
        for name in SIMPLE:
            kept = kept_by(name, kind, x0, x1)
            assert kept[hit].all()
            assert (~kept).sum() > least


def kept_with_padding(name, kind, x0, x1, padding):
    """(k,) bool: the queries that a filter passes on where each vertex reaches so far around it."""
    count = len(x0)
    quads = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    if kind == "vertex_face":
        table, pairs = quads[:, 1:].copy(), np.column_stack((quads[:, 0], np.arange(count, dtype=np.int32)))
    else:
        table, pairs = quads.reshape(-1, 2), np.arange(2 * count, dtype=np.int32).reshape(count, 2)
    first, flat = pairs[:, 0].copy(), (x0.reshape(-1, 3), x1.reshape(-1, 3))
    kept = sieve(KINDS[kind], FILTERS.index(name), *flat, np.full(4 * count, padding), table, pairs, count, 1.0, 0.0)
    return np.isin(first, pairs[:kept, 0])


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("gap", [1e-4, 0.3])
def test_never_what_comes_within_a_distance(name, gap):
    for kind in KINDS:
        for make in (near_misses, whole):
            x0, x1 = make(kind, 4000, 24)
            near = TESTS[kind](x0, x1, min_distance=gap, accuracy=pliant.Accuracy(tolerance=1e-12)).hit
            kept = kept_with_padding(name, kind, x0, x1, gap / 2 * (1 + 1e-9))
            assert kept[near].all()
            assert (~kept).sum() > 50
        # Without the gap it would have been lost.
        x0, x1 = near_misses(kind, 4000, 24)
        near = TESTS[kind](x0, x1, min_distance=0.3).hit
        assert not kept_by(name, kind, x0, x1)[near].all()


def circles(kind, x0, x1):
    """d_C - (r1 + r2) and the largest relative motion along n_C: Lemmas 4.4 and 5.2, as they have to be, in doubles."""
    a, b = (list(rows) for rows in FEATURES[kind])
    spanned = ((1, 2), (1, 3)) if kind == "vertex_face" else ((0, 1), (2, 3))
    normal = np.cross(*(x0[:, q] - x0[:, p] for p, q in spanned))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    centres = [x0[:, rows].mean(axis=1) for rows in (a, b)]
    radius = sum(np.linalg.norm(x0[:, r] - c[:, None], axis=2).max(axis=1) for r, c in zip((a, b), centres))
    between = centres[0] - centres[1]
    between -= np.einsum("ij,ij->i", between, normal)[:, None] * normal
    distance = np.linalg.norm(between, axis=1)
    velocity = np.einsum("ikj,ij->ik", x1 - x0, between / distance[:, None])
    return distance - radius, velocity[:, b].max(axis=1) - velocity[:, a].min(axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_extents_cull_whatever_circles_cull(kind):
    """Features along n_C go no further than their circles: nothing that the Lemmas cull is left, and more is culled."""
    x0, x1 = near_misses(kind, 10_000, 25)
    outside, motion = circles(kind, x0, x1)
    culled = outside > np.maximum(0, motion) + 1e-9
    kept = kept_by("circle", kind, x0, x1)
    assert culled.sum() > 100
    assert not kept[culled].any()
    assert (~kept).sum() > 1.2 * culled.sum()


# ---- in the pipeline


@pytest.fixture(scope="module", params=MOTIONS)
def run(request):
    motion = MOTIONS[request.param]
    return motion, pliant.ccd(*motion, tuning=pliant.Tuning(filters=()))


SUBSETS = [order for size in (1, 2, 3) for order in permutations(("plane", "circle", "triangle"), size)]
SUBSETS += [("dnf", "triangle", "csat"), ("circle", "csat", "plane", "dnf"), ("triangle", "ncf", "plane")]
SUBSETS += [("csat", "dnf", "ncf", "plane", "circle", "triangle")]


@pytest.mark.parametrize("filters", SUBSETS, ids="-".join)
def test_contacts_are_the_same(run, filters):
    motion, contacts = run
    found = pliant.ccd(*motion, tuning=pliant.Tuning(filters=filters))
    assert_identical(found, contacts)
    stages = {stage.name: stage for stage in found.stages}
    assert all(stages[name].pairs_in >= stages[name].pairs_out for name in filters)
    assert pliant.safe_step(*motion, tuning=pliant.Tuning(filters=filters)).t == contacts.toi.min(initial=1.0)


def test_the_first_contact_among_pairs_that_doubles_cannot_decide():
    """Without filters, a block of ball_heap holds contacts and pairs that wait for integers, with no time yet: their
    0.0 was taken for the first contact."""
    motion = MOTIONS["ball_heap"]
    for filters in ((), ("plane",)):
        assert pliant.safe_step(*motion, tuning=pliant.Tuning(filters=filters)).t == pliant.ccd(*motion).toi.min()


@pytest.mark.parametrize("assignment", ["static", "dynamic"])
def test_assignment_and_triangles(run, assignment):
    motion, contacts = run
    filters = ("triangle", "plane")
    assert_identical(
        pliant.ccd(*motion, tuning=pliant.Tuning(filters=filters, assignment=assignment, bounds="18-dop")), contacts
    )
    assert_identical(
        pliant.ccd(*motion, tuning=pliant.Tuning(filters=filters, assignment=assignment, culling="brute")), contacts
    )


@pytest.mark.parametrize("filters", [*SUBSETS[:3], SUBSETS[-1]], ids="-".join)
def test_contacts_within_a_distance_are_the_same(run, filters):
    motion, _ = run
    extent = float(np.ptp(motion.x0, axis=0).max())
    for distance in (1e-4 * extent, 0.02 * extent):
        expected = pliant.ccd(*motion, tuning=pliant.Tuning(filters=()), min_distance=distance)
        assert len(expected) > 0
        assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(filters=filters), min_distance=distance), expected)
        step = pliant.safe_step(*motion, tuning=pliant.Tuning(filters=filters), min_distance=distance, initial="ignore")
        assert (
            step.t
            == pliant.safe_step(*motion, tuning=pliant.Tuning(filters=()), min_distance=distance, initial="ignore").t
        )


def test_each_of_them_culls():
    for name, least in (("plane", 0.3), ("circle", 0.1), ("triangle", 0.1)):
        stages = pliant.ccd(*MOTIONS["ball_heap"], tuning=pliant.Tuning(filters=(name,))).stages
        stage = next(s for s in stages if s.name == name)
        assert stage.pairs_out < (1 - least) * stage.pairs_in, (name, stage)


@pytest.mark.bounds
@pytest.mark.unit
def test_a_tiny_soup():
    from tests.shapes.meshes import soup

    motion = soup(5, faces=8, vertices=9, span=3)
    expected = pliant.ccd(*motion, tuning=pliant.Tuning(filters=()), threads=1)
    assert_identical(
        pliant.ccd(*motion, tuning=pliant.Tuning(filters=("triangle", "plane", "circle")), threads=1), expected
    )
    assert len(expected) > 3
