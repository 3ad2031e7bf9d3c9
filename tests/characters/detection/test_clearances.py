"""What the proof of clearances is made of: gaps that hold while coordinates move, and drifts."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.detection.drifts import (
    drift_error,
    drift_of,
    inverse_gram,
    inverse_of,
    middle_of,
    set_drifts,
    undoing,
)
from pliant.characters.detection.gaps import surely_apart_by
from tests.reference import insides as truth


def inside(x):
    """Vertex 4 in the tetrahedron 0 1 2 3, exactly."""
    at = truth.exactly(x)
    return truth.holds("tetra", (0, 1, 2, 3), at, at[4])


@pytest.mark.unit
def test_a_gap_holds_while_coordinates_move_by_less():
    rng, corners = np.random.default_rng(3), np.array([[0, 1, 2, 3]])
    apart = touching = close = 0
    for k in range(400):
        x = rng.normal(size=(5, 3))
        if k % 4 == 0:
            x[3] = x[:3].mean(axis=0) + 1e-3 * rng.normal(size=3)  # flat
        if k % 4 == 1:
            x = np.round(2.0 * x)
        low, high = x[:4].min(axis=0), x[:4].max(axis=0)
        x[4] = low + (high - low) * rng.uniform(size=3) if k % 3 else rng.dirichlet(np.ones(4)) @ x[:4]
        gap = surely_apart_by(x, corners, 4, 0)
        if gap == 0.0:
            touching += 1
            continue
        apart += 1
        assert not inside(x)
        for _ in range(4):
            # The vertex and the corners share what is between them, and go at each other.
            share = rng.uniform()
            moved = x + rng.choice([-1.0, 1.0], x.shape) * np.array([[share]] * 4 + [[1.0 - share]]) * gap * 0.999
            assert not inside(moved)
        towards = x.copy()
        towards[4] += 4.0 * gap * np.sign(x[:4].mean(axis=0) - x[4])
        close += inside(towards)
    assert 100 < apart < 350
    assert touching > 50
    assert close > 10  # gaps are not much too small


@pytest.mark.unit
def test_what_a_linear_map_does_is_no_drift():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(3, 20))
    places -= places.mean(axis=1, keepdims=True)
    for _ in range(10):
        a, shift = np.eye(3) + rng.normal(0.0, 0.4, (3, 3)), 10.0 * rng.normal(size=(3, 1))
        x = a @ places + shift
        c = middle_of(x, 0, 20)
        np.testing.assert_allclose(c, shift[:, 0], atol=1e-12)
        t = undoing(x, places, c, (0, 0, 20), inverse_gram(places, 0, 20))
        np.testing.assert_allclose(np.reshape(t, (3, 3)), np.linalg.inv(a), rtol=1e-9, atol=1e-9)
        drifts = np.empty(20)
        set_drifts(x, places, c, t, drifts)
        assert drifts.max() < 1e-9
        x[:, 7] += a @ [0.1, -0.3, 0.2]
        assert drift_of(x.T, 7, places, 7, c, t) == pytest.approx(0.3, abs=1e-9)


@pytest.mark.unit
def test_maps_without_an_inverse_prove_nothing():
    flat = inverse_of((1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 1.0, 1.0))
    box = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    assert drift_error(box, (0.0, 0.0, 0.0), flat, 1.0) == np.inf
    sound = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    assert 0.0 < drift_error(box, (0.0, 0.0, 0.0), sound, 1.0) < 1e-12
    for bad in (np.nan, np.inf, 1e300):
        assert drift_error(box, (0.0, 0.0, 0.0), (bad, *sound[1:]), 1.0) == np.inf
        assert drift_error(box, (0.0, 0.0, 0.0), (*sound[:8], bad), 1.0) == np.inf
        assert drift_error(box * 1e300, (bad if bad != bad else 0.0, 0.0, 0.0), sound, 1.0) == np.inf
    assert drift_error(box * 1e-300, (0.0, 0.0, 0.0), sound, 1.0) == np.inf
    assert drift_error(box, (0.0, 0.0, 0.0), sound, np.inf) == np.inf
