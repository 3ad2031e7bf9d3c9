"""Paths that are not straight: contacts that only they have, and those that they do not have."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.elementary.paths import positions_at
from tests.reference.distances import distance
from tests.reference.thickness import first_within_on_path
from tests.reference.thickness_queries import FEATURES

TRIANGLE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
TWO = np.array([[0, 1, 2], [3, 4, 5]])
ONE = TWO[:1]


def rotated(angle, axis=(0, 0, 1), shift=(0, 0, 0)):
    """A 4 x 4 rotation about an axis through the origin, then a shift."""
    n = np.array(axis) / np.linalg.norm(axis)
    skew = np.array([(0, -n[2], n[1]), (n[2], 0, -n[0]), (-n[1], n[0], 0)])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    matrix[:3, 3] = shift
    return matrix


def end_of(motion, x):
    """Where a motion of one object takes positions."""
    return motion.paths(np.asarray(x, float), None, np.zeros(len(x), int)).x1


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("back", [0.3, 0.5, 0.9])
def test_what_leaves_and_comes_back_is_caught(gap, back):
    """A vertex thrown up from a face that it nearly touches: the difference of two nearly equal numbers in the time of
    a step had lost all digits, and the way back was missed."""
    x0 = np.vstack((10 * TRIANGLE - (3, 3, 0), [(0.0, 0.0, gap)]))
    acceleration = np.zeros((4, 3))
    acceleration[3, 2] = -2.0 * (1.0 + gap / back) / back  # up at speed 1, back at the face at that time
    x1 = x0.copy()
    x1[3, 2] += 1.0 + 0.5 * acceleration[3, 2]
    mesh = pliant.TriMesh([[0, 1, 2]], points=[3])
    found = pliant.ccd(mesh, x0, x1, motion=pliant.Accelerated(acceleration))
    assert len(found) == 1
    assert found.toi[0] <= back + 1e-9
    assert found.toi[0] == pytest.approx(back, abs=1e-6)


def test_random_parabolas_and_turns_against_small_steps():
    rng = np.random.default_rng(5)
    hits = 0
    for k in range(60):
        x0 = rng.uniform(-1, 1, (4, 3))
        if k % 2:
            motion, x1 = pliant.Accelerated(rng.uniform(-6, 6, (4, 3))), x0 + rng.uniform(-1, 1, (4, 3))
            lipschitz = 4 * (np.abs(x1 - x0).max() + 6)
        else:
            centre, axis, angle = rng.uniform(-1, 1, 3), rng.normal(size=3), rng.uniform(0.5, 4)
            motion, x1 = pliant.Screw(centre, axis, angle, 0.3, objects=[0, -1, -1, -1]), None
            lipschitz = 8 * angle + 1
        paths = motion.paths(x0, x1, np.zeros(4, int))
        truth = first_within_on_path(
            FEATURES["vertex_face"], lambda t, paths=paths: positions_at(paths, t), lipschitz, 0.4
        )
        found = pliant.ccd(pliant.TriMesh([[1, 2, 3]], points=[0]), x0, x1, motion=motion, min_distance=0.4)
        if truth.surely:
            hits += 1
            assert found.toi[0] <= truth.upper
            assert distance(FEATURES["vertex_face"], positions_at(paths, found.toi[0])) <= 0.4 + 1e-7
        elif truth.never:
            assert len(found) == 0
    assert 15 < hits < 55


@pytest.mark.parametrize(("gap", "angle"), [(1e-4, np.pi), (1e-3, 2 * np.pi), (1e-2, 10 * np.pi)])
def test_a_turning_body_does_not_meet_itself(gap, angle):
    x = np.vstack((TRIANGLE, TRIANGLE + (0, 0, gap)))
    assert len(pliant.ccd(TWO, x, motion=pliant.Screw((0, 0, 0), (0.3, 0.2, 1), angle))) == 0


def test_what_falls_together_does_not_meet():
    x = np.vstack((TRIANGLE, TRIANGLE + (0, 0, 1e-8)))
    fall = np.array((0.0, 0.0, -9.81 / 900))
    assert len(pliant.ccd(TWO, x, x + 0.5 * fall, motion=pliant.Accelerated(fall))) == 0


def test_objects_are_numbered_as_the_user_does():
    """Labels were renumbered from 0 before a motion examined them, and object 2 moved as object 1 was told to."""
    x = np.vstack((TRIANGLE, TRIANGLE + (0, 0, 1), TRIANGLE + (5, 0, 0)))
    objects, faces = np.repeat((1, 2, -1), 3), np.arange(9).reshape(3, 3)
    motion = pliant.Screw(np.zeros((3, 3)), (0, 0, 1), 0.0, along=[0.0, 2.0, 0.0])
    found = pliant.ccd(faces, x, motion=motion, objects=objects)
    again = pliant.ccd(faces, x, motion=pliant.Screw((0, 0, 0), (0, 0, 1), 0.0, 2.0, objects=np.repeat((0, -1, -1), 3)))
    assert len(found) == len(again) > 0
    np.testing.assert_array_equal(found.toi, again.toi)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-3, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-9, np.pi])
def test_rigid_ends_where_its_transform_takes_it(angle):
    """Axes far away (a small angle and a shift) and turns near half a turn had lost half of the digits."""
    x = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    matrix = rotated(angle, (1, 2, -0.5), (1.0, 0.5, -2.0))
    expected = x @ matrix[:3, :3].T + matrix[:3, 3]
    np.testing.assert_allclose(end_of(pliant.Rigid(matrix), x), expected, atol=1e-11)
    np.testing.assert_allclose(end_of(pliant.Affine(matrix), x), expected, atol=1e-14)
    np.testing.assert_allclose(end_of(pliant.Rigid(matrix.astype(np.float32)), x), expected, atol=1e-5)


def test_a_vertex_far_away_that_nobody_uses_does_not_matter():
    x = np.vstack((TRIANGLE, TRIANGLE + (0, 0, 1e-4), [(1e12, 0, 0)]))
    assert len(pliant.ccd(TWO, x, x, accuracy=pliant.Accuracy(solver="advance"))) == 0
    far = x[:6] + 1e6
    assert len(pliant.ccd(TWO, far, far, min_distance=1e-9)) == 0


@pytest.mark.parametrize("size", [2.0**-565, 2.0**-330, 2.0**330, 2.0**500])
def test_any_scale(size):
    x = np.vstack((TRIANGLE, TRIANGLE + (0.1, 0.1, 0.5)))
    moving = [-1, -1, -1, 0, 0, 0]
    expected = pliant.ccd(TWO, x, motion=pliant.Screw((0, 0, 0), (0, 1, 0), np.pi, objects=moving))
    found = pliant.ccd(TWO, x * size, motion=pliant.Screw((0, 0, 0), (0, size, 0), np.pi, objects=moving))
    assert len(found) == len(expected) > 0
    np.testing.assert_allclose(found.toi, expected.toi, atol=1e-6)


def test_trailing_vertices_without_a_face():
    x = np.vstack((TRIANGLE, [(5.0, 5, 5), (6, 6, 6)]))
    for motion in (pliant.Screw((0, 0, 0), (0, 0, 1), 1.0), pliant.Rigid(rotated(1.0)), pliant.Affine(rotated(1.0))):
        assert len(pliant.ccd(ONE, x, motion=motion)) == 0


@pytest.mark.parametrize("initial", ["ignore", "relative"])
def test_what_begins_within_unequal_radii_may_leave(initial):
    x0 = np.vstack((TRIANGLE, [(0.3, 0.3, 0.05)]))
    x1 = x0.copy()
    x1[3, 2] = 1.0
    mesh = pliant.TriMesh(ONE, points=[3])
    assert pliant.safe_step(mesh, x0, x1, radii=[0.6, 0, 0, 0], initial=initial).t == 1.0
    assert pliant.safe_step(mesh, x0, x1, radii=[0.6, 0, 0, 0]).t == 0.0


def turning(objects):
    return pliant.Screw((0, 0, 0), (0, 0, 1), 1.0, objects=objects)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pliant.Accelerated(np.zeros((2, 2))), "shape"),
        (lambda: pliant.Screw((0, 0, 0), (0, 0, 0), 1.0), "axis 0 is zero"),
        (lambda: pliant.Screw(np.zeros((2, 3)), np.ones((3, 3)), 1.0), "does not go with"),
        (lambda: pliant.Screw((0, 0, 0), (0, 0, 1), np.zeros((2, 2))), "does not go with"),
        (lambda: pliant.Rigid(np.eye(3)), "shape"),
        (lambda: pliant.Rigid(np.empty((0, 4, 4))), "shape"),
        (lambda: pliant.Rigid(2 * np.eye(4)), "transform 0 is not rigid"),
        (lambda: pliant.Affine(np.eye(3)), "shape"),
        (lambda: pliant.ccd(ONE, TRIANGLE), "x1 is missing"),
        (lambda: pliant.ccd(ONE, TRIANGLE, TRIANGLE, motion=pliant.Rigid(np.eye(4))), "leave it out"),
        (lambda: pliant.ccd(ONE, TRIANGLE, motion=pliant.Accelerated((0, 0, 1))), "needs x1"),
        (lambda: pliant.ccd(ONE, TRIANGLE, motion="fast"), "choose pliant.Accelerated"),
        (lambda: pliant.ccd(ONE, TRIANGLE, motion=turning([0, 0, -2])), "-2"),
        (lambda: pliant.ccd(ONE, TRIANGLE, motion=turning([0, 0, 1])), "only 1"),
    ],
)
def test_wrong_motions_are_named(make, message):
    with pytest.raises(pliant.MeshError, match=message):
        make()


def test_vertices_without_a_past():
    x1, velocity = np.arange(12.0).reshape(4, 3), np.ones((4, 3))
    np.testing.assert_array_equal(pliant.trace_back(x1, velocity, 0.5), x1 - 0.5)
    known = np.array([(7.0, 7.0, 7.0), (np.nan, 0.0, 0.0)])
    start = pliant.trace_back(x1, velocity, 0.5, known)
    assert start[0].tolist() == [7.0, 7.0, 7.0]
    np.testing.assert_array_equal(start[1:], x1[1:] - 0.5)
    with pytest.raises(pliant.MeshError, match="velocity must have shape"):
        pliant.trace_back(x1, velocity[:2], 0.5)
    with pytest.raises(pliant.MeshError, match="with m at most 4"):
        pliant.trace_back(x1, velocity, 0.5, np.zeros((5, 3)))


@pytest.mark.parametrize("angle", [1e-11, 1e-12, 9e-13, 1e-13, 1e-16, 1e-18, 1e-20, 1e-100, 1e-300])
@pytest.mark.parametrize("shift", [(0, 0, 0), (0.5, 0.25, 1.0)])
def test_small_rotations_of_long_arms(angle, shift):
    """Angles below 1e-12 were dropped: at the end of an arm of 1e6, a contact was missed."""
    arm = 1e-6 / angle
    matrix = np.eye(4)
    matrix[0, 1], matrix[1, 0] = -angle, angle
    matrix[:3, 3] = shift
    x = np.array([(arm, 0, 0), (arm, 0, 1), (0, -arm, 1), (1, 2, 3)], np.float64)
    expected = np.array(shift) + [(0, 1e-6, 0), (0, 1e-6, 0), (1e-6, 0, 0), (-2 * angle, angle, 0)]
    paths = pliant.Rigid(matrix).paths(x, None, np.zeros(len(x), int))
    half = positions_at(paths, 0.5)
    tolerance = 1e-9 * 1e-6 + 8 * np.spacing(np.abs(x)) + 8 * np.spacing(1.0)
    assert (np.abs(paths.x1 - x - expected) <= tolerance).all()
    assert (np.abs(half - x - 0.5 * expected) <= tolerance + angle).all()
    assert np.isfinite(paths.bend).all()


def test_a_contact_at_the_end_of_a_long_arm():
    """The tip of an arm of 1e6 moves by 5e-7 and meets a wall that is 1e-7 away."""
    angle, arm = 5e-13, 1e6
    matrix = np.tile(np.eye(4), (2, 1, 1))
    matrix[0, 0, 1], matrix[0, 1, 0] = -angle, angle
    tip = np.array([(arm, 0, 0), (arm - 1, 0, -1), (arm - 1, 0, 1)])
    wall = np.array([(arm - 1, 1e-7, -9), (arm + 9, 1e-7, 0), (arm - 1, 1e-7, 9)])
    x = np.concatenate((tip, wall))
    contacts = pliant.ccd(
        [(0, 1, 2), (3, 4, 5)], x, motion=pliant.Rigid(matrix), accuracy=pliant.Accuracy(tolerance=1e-9)
    )
    assert len(contacts) > 0
    assert contacts.toi.min() == pytest.approx(0.2, abs=0.05)
