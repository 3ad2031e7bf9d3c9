"""Contacts soon after the start: the time is above 0, however early, in every tier."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import pliant
from tests.reference import rational

COUNT = 400
TRIANGLE = np.array([(-1, -1, 0), (3, -1, 0), (-1, 3, 0)], np.float64)


def rotated(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q


def vertices_over_faces(rng):
    return np.concatenate([[(rng.uniform(-0.9, 0.9), rng.uniform(-0.9, 0.9), 0)], TRIANGLE])


def edges_over_edges(rng):
    return np.array([(rng.uniform(-0.5, 0.5), -1, 0), (rng.uniform(-0.5, 0.5), 1, 0), (-1, 0, 0), (1, 0, 0)])


def falling(kind, rng, tilted, shift):
    """A vertex that starts just above a triangle, or an edge above an edge, and goes through soon after the start."""
    x0, x1 = np.empty((COUNT, 4, 3)), np.empty((COUNT, 4, 3))
    above = slice(0, 1 if kind == "vertex_face" else 2)
    for i in range(COUNT):
        start = vertices_over_faces(rng) if kind == "vertex_face" else edges_over_edges(rng)
        start[above, 2] += 10.0 ** rng.uniform(-18, -11)
        end = start + rng.normal(scale=0.1, size=(4, 3)) * tilted
        end[above, 2] -= rng.uniform(0.5, 2)
        turn = rotated(rng) if tilted else np.eye(3)
        x0[i], x1[i] = start @ turn + shift, end @ turn + shift
    return x0, x1


def assert_brackets(answer, truths):
    """toi is 0 exactly for contacts at t = 0; the bracket holds the time and is as narrow as promised."""
    np.testing.assert_array_equal(answer.hit, [truth is not None for truth in truths])
    hits = np.flatnonzero(answer.hit)
    np.testing.assert_array_equal(answer.toi[hits] == 0.0, [truths[i] == (0, 0) for i in hits])
    np.testing.assert_array_equal(answer.toi_upper[hits] == 0.0, [truths[i] == (0, 0) for i in hits])
    for i in hits:
        assert answer.toi[i] <= truths[i].upper
        assert truths[i].lower <= answer.toi_upper[i] <= answer.toi[i] + 1e-12


@pytest.mark.parametrize("tilted", [0.0, 1.0])
@pytest.mark.parametrize("shift", [0.0, 1.0, 1000.0])
@pytest.mark.parametrize("kind", ["vertex_face", "edge_edge"])
def test_contacts_just_after_the_start(kind, tilted, shift):
    """True times up to 5.5e-13 had toi 0, and a safe step then stayed where it was."""
    rng = np.random.default_rng(4)
    x0, x1 = falling(kind, rng, tilted, shift)
    answer = getattr(pliant, kind)(x0, x1)
    truths = [getattr(rational, kind)(a, b) for a, b in zip(x0, x1)]
    assert_brackets(answer, truths)
    early = sum(truth is not None and 0 < truth.upper < 5e-13 for truth in truths)
    assert early > 20


def over_triangle(z, x=0.5, y=0.5):
    return np.concatenate([[(x, y, z)], TRIANGLE])[None]


@pytest.mark.parametrize("y", [0.5, -1.0])  # inside, and over a side, where only integers can tell
@pytest.mark.parametrize("height", [1e-12, 1e-13, 1e-16, 1e-25, 1e-100, 1e-300, 5e-324])
@pytest.mark.parametrize("depth", [1.0, 1e9])
def test_a_vertex_just_above_a_face(height, depth, y):
    answer = pliant.vertex_face(over_triangle(height, y=y), over_triangle(-depth, y=y))
    time = Fraction(height) / (Fraction(height) + Fraction(depth))
    assert answer.hit[0]
    assert Fraction(answer.toi[0]) <= time <= Fraction(answer.toi_upper[0])
    assert answer.toi_upper[0] - answer.toi[0] <= 1e-12
    least = Fraction(5e-324)
    assert answer.toi[0] > 0 or time < 8 * least
    assert answer.toi_upper[0] > 0
    if time > 100 * least:
        assert Fraction(answer.toi[0]) > time / 100


def test_a_time_that_no_double_is_below():
    """toi is rounded down, to 0; toi_upper still tells it from contact at t = 0."""
    answer = pliant.vertex_face(over_triangle(5e-324), over_triangle(-1e300))
    assert answer.hit[0]
    assert answer.toi[0] == 0.0 < answer.toi_upper[0]
    answer = pliant.vertex_face(over_triangle(0.0), over_triangle(-1e300))
    assert answer.toi[0] == answer.toi_upper[0] == 0.0


def test_a_slow_beginning():
    """Coefficients of the cubic that are largest where it is of no help: z = h - t^3 where two corners move away."""
    x0 = np.array([[(0.1, 0.1, 1e-30), (-1, -1, 0), (1, -1, 0), (0, 1, 0)]])
    x1 = x0.copy()
    x1[0, 1:, 2] = 1e-30, 1.0, -0.25
    answer, truth = pliant.vertex_face(x0, x1), rational.vertex_face(x0[0], x1[0])
    assert_brackets(answer, [truth])


@pytest.mark.parametrize("y", [0.5, -1.0])
def test_a_step_advances(y):
    mesh = pliant.TriMesh([(0, 1, 2)], points=[3])
    x0, x1 = (np.concatenate([TRIANGLE, [(0.5, y, z)]]) for z in (2e-13, -1.0))
    step = pliant.safe_step(mesh, x0, x1)
    assert 0 < step.t <= 2e-13
    assert step.t == pliant.ccd(mesh, x0, x1).toi.min()
    assert 0 < step.positions[3, 2] < 2e-13
    assert len(pliant.ccd(mesh, x0, step.positions)) == 0
