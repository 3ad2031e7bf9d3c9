"""Contacts of meshes that have a thickness: against every pair asked one by one, and radii against the reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pliant
from tests.reference import proximity
from tests.reference.distances import distance, gap
from tests.reference.thickness import first_within, size
from tests.reference.thickness_queries import FEATURES, random_radii, thick_queries
from tests.shapes.meshes import Motion, as_sets, motions, soup
from tests.shapes.tables import assert_identical

TOLERANCE = 1e-6
ROUNDING = 1e-11
TESTS = {0: ("vertex_face", pliant.vertex_face), 1: ("edge_edge", pliant.edge_edge)}
SCENES = {"twisted_cloth": 150, "ball_heap": 160, "flowing_cloth": 150, "flat_sheets": 98, "crumpled_sheet": 150}
WIDTHS = (0.02, 0.2)
BAD_ARRAYS = {
    "negative": -1.0,
    "NaN": np.nan,
    "infinite": np.inf,
    "text": "thick",
    "too short": np.ones(4),
    "too long": np.ones(7),
    "two columns": np.ones((6, 2)),
    "one negative": np.array([1, 1, 1, -1e-9, 1, 1]),
    "one NaN": np.array([1, 1, np.nan, 1, 1, 1]),
}


class Case(NamedTuple):
    motion: Motion
    d: float


def cases() -> dict[str, Case]:
    """Distances relative to an edge; of soups, in units of their grid."""
    made = {}
    for name, triangles in SCENES.items():
        frames = pliant.scenes.load(name, triangles=triangles, frames=2)
        edge = np.linalg.norm(frames.x0[frames.faces[:, 0]] - frames.x0[frames.faces[:, 1]], axis=1).mean()
        motion = Motion(pliant.TriMesh(frames.faces), frames.x0, frames.x1)
        made |= {f"{name} {width}": Case(motion, float(width * edge)) for width in WIDTHS}
    return made | {f"soup {seed}": Case(soup(seed, faces=20), 0.3) for seed in range(2)}


CASES = cases()


@pytest.fixture(scope="module", params=CASES)
def run(request):
    motion, d = CASES[request.param]
    return motion, d, pliant.ccd(*motion, min_distance=d)


def candidates(motion, within):
    mesh = motion.mesh
    return proximity.candidates(mesh.faces, motion.x0, motion.x1, within, mesh.loose_edges, mesh.loose_points)


def test_every_pair_one_by_one(run):
    """The tolerance of a scene is relative to its extent, that of a query to its own: times agree up to that."""
    motion, d, contacts = run
    for kind, part, pairs in zip((0, 1), (contacts.vf, contacts.ee), candidates(motion, np.inf)):
        answer = TESTS[kind][1](motion.x0[pairs.vertices], motion.x1[pairs.vertices], min_distance=d)
        np.testing.assert_array_equal(part.elements, pairs.elements[answer.hit])
        np.testing.assert_array_equal(part.vertices, pairs.vertices[answer.hit])
        np.testing.assert_array_equal(part.gap, answer.gap[answer.hit])
        np.testing.assert_array_equal(part.toi_upper, part.toi)
        np.testing.assert_allclose(part.toi, answer.toi[answer.hit], rtol=0, atol=1e-5)
    assert len(contacts) > 0


def test_no_pair_is_missed_late_or_far(run):
    motion, d, contacts = run
    for kind, part, pairs in zip((0, 1), (contacts.vf, contacts.ee), candidates(motion, d)):
        features = FEATURES[TESTS[kind][0]]
        truth = first_within(features, motion.x0[pairs.vertices], motion.x1[pairs.vertices], d)
        found = dict(zip(map(tuple, part.elements.tolist()), part.toi.tolist()))
        for key, upper in zip(map(tuple, pairs.elements[truth.surely].tolist()), truth.upper[truth.surely]):
            assert found[key] <= upper
        x0, x1, t = motion.x0[part.vertices], motion.x1[part.vertices], part.toi[:, None, None]
        apart = distance(features, (1 - t) * x0 + t * x1)
        assert (apart <= d + (TOLERANCE + ROUNDING) * size(x0, x1)).all()


def test_gap_and_pairs_that_start_within(run):
    motion, d, contacts = run
    scale = np.ptp(motion.x0, axis=0).max()
    for kind, part in ((0, contacts.vf), (1, contacts.ee)):
        apart = distance(FEATURES[TESTS[kind][0]], motion.x0[part.vertices])
        np.testing.assert_allclose(part.gap, apart, rtol=0, atol=1e-11 * scale)
    assert (contacts.toi[contacts.gap <= d] == 0).all()
    mesh = motion.mesh
    close = proximity.near(mesh.faces, motion.x0, d, mesh.loose_edges, mesh.loose_points)
    keys = set(zip(contacts.kind.tolist(), map(tuple, contacts.elements.tolist())))
    surely = close.rows(~close.borderline)
    assert set(zip(surely.kind.tolist(), map(tuple, surely.elements.tolist()))) <= keys


def test_exact_contacts_are_among_them(run):
    motion, _, contacts = run
    exact = as_sets(pliant.ccd(*motion))
    for thick, thin in zip(as_sets(contacts), exact):
        assert thin.keys() <= thick.keys()
        assert all(thick[key] <= toi + 1e-12 for key, toi in thin.items())


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(run, threads):
    motion, d, contacts = run
    found = pliant.ccd(*motion, min_distance=d, threads=threads)
    assert_identical(found, contacts)
    np.testing.assert_array_equal(found.gap, contacts.gap)


@pytest.mark.parametrize("bounds", ["aabb", "18-dop"])
def test_bounds(run, bounds):
    motion, d, contacts = run
    assert_identical(pliant.ccd(*motion, min_distance=d, tuning=pliant.Tuning(bounds=bounds)), contacts)


@pytest.mark.parametrize("filters", [(), ("csat",), ("csat", "dnf", "ncf")], ids="-".join)
def test_filters_that_prove_less_than_distance_discard_nothing(run, filters):
    motion, d, contacts = run
    assert_identical(pliant.ccd(*motion, min_distance=d, tuning=pliant.Tuning(filters=filters)), contacts)


def test_a_distance_is_two_equal_radii(run):
    motion, d, contacts = run
    found = pliant.ccd(*motion, radii=np.full(len(motion.x0), d / 2))
    for left, right in zip(as_sets(contacts), as_sets(found)):
        assert left.keys() == right.keys()
        np.testing.assert_allclose([left[key] for key in left], [right[key] for key in left], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", motions())
def test_distance_zero_changes_nothing(name):
    motion = motions()[name]
    plain = pliant.ccd(*motion)
    assert_identical(pliant.ccd(*motion, min_distance=0.0), plain)
    assert_identical(pliant.ccd(*motion, min_distance=0), plain)


# ---- radii


def mesh_of_queries(kind, count):
    """One mesh of separate queries, and a label for each: with pairs="self" they have nothing to do with each other."""
    quads = np.arange(4 * count).reshape(count, 4)
    label = np.repeat(np.arange(count), 4)
    if kind == "vertex_face":
        return pliant.TriMesh(quads[:, 1:], points=quads[:, 0]), label
    return pliant.TriMesh(edges=quads.reshape(-1, 2)), label


@pytest.mark.parametrize("kind", FEATURES)
def test_radii_of_vertices_are_interpolated(kind):
    count = 400
    features, thick = FEATURES[kind], thick_queries(kind, count, 21)
    radii = random_radii(np.random.default_rng(21), count, thick.d)
    mesh, label = mesh_of_queries(kind, count)
    x0, x1 = thick.x0.reshape(-1, 3), thick.x1.reshape(-1, 3)
    contacts = pliant.ccd(mesh, x0, x1, radii=radii.ravel(), objects=label, pairs="self")
    query = contacts.vertices[:, 0] // 4
    assert len(set(query.tolist())) == len(query)
    toi = np.full(count, np.nan)
    toi[query] = contacts.toi

    truth = first_within(features, thick.x0, thick.x1, 0.0, radii)
    assert 0.3 < truth.surely.mean() < 0.7
    assert (toi[truth.surely] <= truth.upper[truth.surely]).all()
    hit = np.isfinite(toi)
    t = toi[hit, None, None]
    apart = gap(features, (1 - t) * thick.x0[hit] + t * thick.x1[hit], radii[hit])
    room = size(thick.x0, thick.x1)
    assert (apart <= (TOLERANCE + ROUNDING) * room[hit]).all()
    never = first_within(features, thick.x0, thick.x1, 2 * TOLERANCE * room, radii).never
    assert 0.3 < never.mean() < 0.7
    assert not hit[never].any()


@pytest.mark.parametrize(
    ("radii", "height"),
    [
        ((0, 0, 0, 1), 1),
        ((1, 0, 0, 0), 1),
        ((1, 1, 1, 0.5), 1.5),
        ((0, 1, 1, 0), 0),
        # |(x, 0, z)| - (1 + x / 8) is least at x = z / sqrt(63), and zero there where z sqrt(63) / 8 = 1.
        ((1, 2, 1, 0), 8 / np.sqrt(63)),
    ],
)
def test_a_point_that_falls_on_a_corner(radii, height):
    mesh = pliant.TriMesh([(0, 1, 2)], points=[3])
    x0 = np.array([(0, 0, 0), (8, 0, 0), (0, 8, 0), (0, 0, 4)], dtype=np.float64)
    x1 = x0 - np.array([(0, 0, 0)] * 3 + [(0, 0, 8)])
    contacts = pliant.ccd(mesh, x0, x1, radii=radii)
    assert contacts.vertices.tolist() == [[3, 0, 1, 2]]
    assert (4 - height) / 8 - 1e-5 <= contacts.toi[0] <= (4 - height) / 8


@pytest.mark.parametrize("query", [pliant.ccd, pliant.safe_step])
@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_wrong_distances(query, name):
    x = np.arange(18.0).reshape(6, 3)
    with pytest.raises(pliant.MeshError, match="min_distance"):
        query([(0, 1, 2), (3, 4, 5)], x, x + 1, min_distance=BAD_ARRAYS[name])


@pytest.mark.parametrize("edge", [1e-80, 1e-81, 3e-82])
def test_very_small_triangles(edge):
    """Squares of an axis of 1e-160 have no correct digit: csat took pairs within the distance for apart."""
    rng = np.random.default_rng(0)
    faces, missed = np.array([(0, 1, 2), (3, 4, 5)]), 0
    for _ in range(60):
        small = np.column_stack((edge * rng.uniform(0.5, 1.5, (3, 2)) * rng.choice((-1, 1), (3, 2)), np.zeros(3)))
        large = np.column_stack((0.1 * rng.uniform(-1, 1, (3, 2)), np.full(3, rng.uniform(0.4, 0.6))))
        x = np.vstack((small, large))
        expected = pliant.ccd(faces, x, x, min_distance=0.5, tuning=pliant.Tuning(filters=(), culling="brute"))
        missed += len(expected) == 0
        np.testing.assert_array_equal(pliant.ccd(faces, x, x, min_distance=0.5).elements, expected.elements)
    assert 10 < missed < 50
