"""How far a thick mesh can move: the step, what it does with pairs that start too near, and the way to its end."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import proximity
from tests.reference.distances import EDGE_EDGE, VERTEX_FACE, distance
from tests.reference.thickness import first_within, size
from tests.shapes.meshes import Motion, motions

TOLERANCE = 1e-6
FACE_AND_POINT = pliant.TriMesh([(0, 1, 2)], points=[3])
FACE = [(-4, -4, 0), (4, -4, 0), (0, 4, 0)]
SCENES = {"twisted_cloth": 150, "ball_heap": 160, "flowing_cloth": 150, "crumpled_sheet": 150, "passing_sheets": 160}
POLICIES = ("stop", "ignore", "relative")


def falling(height, depth):
    x0 = np.array([*FACE, (0, 0, height)], dtype=np.float64)
    x1 = np.array([*FACE, (0, 0, depth)], dtype=np.float64)
    return FACE_AND_POINT, x0, x1


def scene(name, width):
    made = pliant.scenes.load(name, triangles=SCENES[name], frames=2)
    edge = np.linalg.norm(made.x0[made.faces[:, 0]] - made.x0[made.faces[:, 1]], axis=1).mean()
    return Motion(pliant.TriMesh(made.faces), made.x0, made.x1), float(width * edge)


def thresholds(gap, d, initial, keep):
    """(k,): how near each pair may come, by its distance at the start."""
    kept = {"stop": np.full(len(gap), d), "ignore": 0 * gap, "relative": keep * gap}[initial]
    return np.where(gap > d, d, kept)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("width", [0.002, 0.3])
@pytest.mark.parametrize("initial", POLICIES)
def test_scenes(name, width, initial):
    motion, d = scene(name, width)
    keep = 0.5
    step = pliant.safe_step(*motion, min_distance=d, initial=initial)
    assert 0 <= step.t <= 1
    assert step.t == float(step)
    scale = np.ptp(motion.x0, axis=0).max()
    motion_length = np.abs(motion.x1 - motion.x0).max()
    expected = motion.x0 + step.t * (motion.x1 - motion.x0)
    assert np.abs(step.positions - expected).max() <= 1e-5 * motion_length + 1e-12 * scale
    reached = step.t == 1
    pairs = proximity.candidates(motion.mesh.faces, motion.x0, motion.x1, d)
    for features, (_, quads) in zip((VERTEX_FACE, EDGE_EDGE), pairs):
        gap = distance(features, motion.x0[quads])
        least = thresholds(gap, d, initial, keep)
        sure = np.abs(gap - d) > 1e-9 * scale
        x0, end = motion.x0[quads], step.positions[quads]
        if step.t > 0:
            # Nothing comes nearer than it may, at no time on the way to the rounded positions.
            nearer = first_within(features, x0[sure], end[sure], least[sure] * (1 - 1e-6) - 1e-10 * scale)
            assert nearer.never.all()
        at_end = distance(features, (1 - step.t) * x0 + step.t * motion.x1[quads])
        reached |= bool((at_end <= least + 2 * TOLERANCE * size(x0, motion.x1[quads]) + 1e-10 * scale).any())
    assert reached, "nothing is in the way"
    assert len(pliant.ccd(motion.mesh, motion.x0, step.positions)) == 0 or step.t == 0


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_step_stops_at_the_first_contact(name, threads):
    motion, d = scene(name, 0.05)
    contacts = pliant.ccd(*motion, min_distance=d)
    step = pliant.safe_step(*motion, min_distance=d, initial="stop", threads=threads)
    assert step.t == contacts.toi.min(initial=1.0)
    if step.t == 0:
        np.testing.assert_array_equal(step.positions, motion.x0)
    assert (step.contact is None) == (len(contacts) == 0)


@pytest.mark.parametrize("name", motions())
def test_distance_zero_changes_nothing(name):
    motion = motions()[name]
    plain, zero = pliant.safe_step(*motion), pliant.safe_step(*motion, min_distance=0.0)
    assert zero.t == plain.t
    np.testing.assert_array_equal(zero.positions, plain.positions)


# height and depth of the vertex, distance, policy, part to keep, and the height where it has to stop
FALLS = {
    "not yet within": (2, -2, 0.5, "stop", 0.5),
    "not yet within, ignoring": (2, -2, 0.5, "ignore", 0.5),
    "not yet within, relative": (2, -2, 0.5, 0.5, 0.5),
    "within": (0.25, -2, 0.5, "stop", 0.25),
    "within and leaving": (0.25, 3, 0.5, "stop", 0.25),
    "within, only contact counts": (0.25, -2, 0.5, "ignore", 0),
    "within, half of it kept": (0.25, -2, 0.5, 0.5, 0.125),
    "within, most of it kept": (0.25, -2, 0.5, 0.9, 0.225),
    "within and leaving, ignored": (0.25, 3, 0.5, "ignore", 3),
    "within and leaving, relative": (0.25, 3, 0.5, 0.5, 3),
    "on the face": (0, 3, 0.5, "stop", 0),
    "on the face, ignoring": (0, 3, 0.5, "ignore", 0),
    "on the face, relative": (0, 3, 0.5, 0.5, 0),
    "never within": (2, 1, 0.5, "stop", 1),
}


@pytest.mark.parametrize("name", FALLS)
def test_falls(name):
    height, depth, d, initial, stop = FALLS[name]
    step = pliant.safe_step(*falling(height, depth), min_distance=d, initial=initial)
    expected = (height - stop) / (height - depth)
    assert step.t <= expected
    assert step.t == pytest.approx(expected, abs=2e-5)
    assert abs(step.positions[3, 2] - stop) < 2e-4
    assert (step.contact is None) == (step.t == 1)
    if step.contact is not None:
        assert step.contact.gap[0] == pytest.approx(height, abs=1e-12)
        assert step.contact.vertices.tolist() == [[3, 0, 1, 2]]


def test_many_steps_never_lead_through():
    """A vertex that falls again and again, from where it stopped, may keep half of what is left each time."""
    d = 0.25
    mesh, x, goal = falling(2, -2)
    for _ in range(20):
        step = pliant.safe_step(mesh, x, goal, min_distance=d, initial=0.5)
        assert step.positions[3, 2] > 0
        x = step.positions
    assert x[3, 2] < d + 1e-4


def test_radii_of_the_vertices():
    mesh, x0, x1 = falling(2, -2)
    one = pliant.safe_step(mesh, x0, x1, radii=np.array([0, 0, 0, 0.5]))
    other = pliant.safe_step(mesh, x0, x1, radii=np.array([0.2, 0.2, 0.2, 0.3]))
    assert one.t == pytest.approx(other.t, abs=1e-5) == pytest.approx(1.5 / 4, abs=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"initial": "maybe"},
        {"initial": None},
        {"initial": -0.1},
        {"initial": 1.5},
        {"initial": np.nan},
    ],
    ids=str,
)
def test_wrong_options(options):
    with pytest.raises(pliant.MeshError, match=list(options)[-1]):
        pliant.safe_step(*falling(2, -2), min_distance=0.5, **options)
