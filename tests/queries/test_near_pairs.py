"""Near pairs: what was near once is all that can meet while nothing moves far, and asking about it gives the same."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.shapes.tables import assert_identical

WITHIN = 0.06


def cloth():
    made = pliant.scenes.load("twisted_cloth", triangles=500)
    return made.faces, made.x0


def nudged(x, rng, size):
    """Every vertex moved by at most so much."""
    step = rng.normal(size=x.shape)
    return x + step / np.linalg.norm(step, axis=1)[:, None] * size * rng.uniform(0, 1, (len(x), 1))


@pytest.mark.parametrize("rule", [{}, {"min_distance": 0.004}, {"radii": True}], ids=["touching", "distance", "radii"])
@pytest.mark.parametrize("tuning", [pliant.Tuning(), pliant.Tuning(assignment="dynamic")], ids=["static", "dynamic"])
def test_what_is_found_among_them_is_what_a_fresh_query_finds(rule, tuning):
    faces, x = cloth()
    rng, found = np.random.default_rng(3), 0
    rule = {"radii": rng.uniform(0, 0.003, len(x))} if "radii" in rule else rule
    detector = pliant.Detector(faces, tuning=tuning, **rule)
    pairs = detector.near_pairs(x, WITHIN)
    for _ in range(5):
        x0, x1 = (nudged(x, rng, 0.99 * pairs.allowance.min()) for _ in range(2))
        assert pairs.valid_for(x0)
        assert pairs.valid_for(x1)
        contacts = detector.contacts(x0, x1, among=pairs)
        assert_identical(contacts, pliant.ccd(faces, x0, x1, **rule))
        found += len(contacts)
    assert found > 100


@pytest.mark.parametrize("name", ["octopi", "liver"])
def test_of_a_volume(name):
    step = pliant.scenes.load_volume(name, 400).steps[0]
    mesh, rng = pliant.VolumeMesh(step.cells), np.random.default_rng(1)
    within = 0.5 * float(np.ptp(step.x0, axis=0).min())
    detector = pliant.Detector(mesh)
    pairs = detector.near_pairs(step.x0, within)
    x1 = nudged(step.x0, rng, 0.9 * pairs.allowance.min())
    contacts = detector.contacts(step.x0, x1, among=pairs)
    assert_identical(contacts, pliant.ccd(mesh, step.x0, x1))
    assert len(contacts) > 10


def test_curved_paths_count_with_their_bend():
    faces, x = cloth()
    detector = pliant.Detector(faces)
    pairs = detector.near_pairs(x, WITHIN)
    gentle, strong = (pliant.Accelerated((0.0, 0.0, g)) for g in (-0.01, -10.0))
    assert_identical(
        detector.contacts(x, x + 1e-3, motion=gentle, among=pairs), pliant.ccd(faces, x, x + 1e-3, motion=gentle)
    )
    with pytest.raises(pliant.StalePairsError):
        detector.contacts(x, x + 1e-3, motion=strong, among=pairs)


def test_a_vertex_that_has_moved_too_far_is_named():
    faces, x = cloth()
    detector, x1 = pliant.Detector(faces), x.copy()
    pairs = detector.near_pairs(x, WITHIN)
    x1[17, 1] += 0.51 * WITHIN
    assert not pairs.valid_for(x1)
    with pytest.raises(pliant.StalePairsError, match=r"at x1 vertex 17 has moved by 0\.0306, and may by 0\.03"):
        detector.contacts(x, x1, among=pairs)


def test_none_are_valid_within_the_distance_that_counts_as_contact():
    faces, x = cloth()
    assert not pliant.Detector(faces, min_distance=0.1).near_pairs(x, 0.1).valid_for(x)


def test_wrong_use():
    faces, x = cloth()
    pairs = pliant.Detector(faces).near_pairs(x, WITHIN)
    with pytest.raises(pliant.MeshError, match="rows"):
        pairs.valid_for(x[:-1])
    with pytest.raises(pliant.MeshError, match="within"):
        pliant.Detector(faces).near_pairs(x, -1.0)
    with pytest.raises(ValueError, match="read-only"):
        pairs.x[0] = 0
    assert repr(pairs).startswith("NearPairs(")


def test_curved_paths_are_followed_by_advancement_and_its_tolerance():
    """Two triangles face to face: what comes within the tolerance is a contact, and must not be left out."""
    faces = [(0, 1, 2), (3, 4, 5)]
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)], np.float64)
    x1 = x + np.array([(0, 0, 0.4999)] * 3 + [(0, 0, -0.4999)] * 3)
    detector = pliant.Detector(faces, accuracy=pliant.Accuracy(tolerance=1e-3))
    motion = pliant.Accelerated((0.0, 0.0, 1e-13))
    assert len(detector.contacts(x, x1, motion=motion)) > 0
    with pytest.raises(pliant.StalePairsError):
        detector.contacts(x, x1, motion=motion, among=detector.near_pairs(x, 1.0 - 1e-12))


def test_pairs_of_others_are_refused():
    faces, x = cloth()
    detector = pliant.Detector(faces)
    pairs = detector.near_pairs(x, WITHIN)
    with pytest.raises(pliant.StalePairsError, match="another detector"):
        pliant.Detector(faces).contacts(x, x, among=pairs)
    detector.update(detector.mesh.changed(remove=[0]))
    with pytest.raises(pliant.StalePairsError, match="before"):
        detector.contacts(x, x, among=pairs)
    with pytest.raises(pliant.MeshError, match="near_pairs"):
        detector.contacts(x, x, among=detector.near(x, WITHIN))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e200])
def test_motions_whose_squares_vanish_or_overflow_are_measured(size):
    """Lengths were roots of sums of squares: at 1e-300 nothing seemed to move, and contacts were missed."""
    faces, x = np.array([(0, 1, 2), (3, 4, 5)]), np.eye(6, 3)
    x[3:] = x[:3] + (0.0, 0.0, 1.0)
    x1 = x.copy()
    x1[3:] -= (0.0, 0.0, 2.0)
    pairs = pliant.Detector(faces).near_pairs(x * size, 0.02 * size)
    assert not pairs.valid_for(x1 * size)
