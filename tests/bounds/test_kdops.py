"""Bounds contain the motion, as rational arithmetic sees it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pliant.bounds.kdops import AXES, STEP_PADDING, bound_union, bound_vertices

DIRECTIONS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1)]
DIRECTIONS += [(1, 1, -1), (1, -1, 1), (-1, 1, 1)]
LARGEST = np.finfo(np.float64).max


def motions(count, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, count, 3)) * 10.0 ** rng.integers(-3, 4, (2, count, 1))
    x[:, ::5] = np.round(x[:, ::5])
    x[1, ::7] = x[0, ::7]
    return x


def project(point, axis):
    return sum(Fraction(c) * a for c, a in zip(point.tolist(), axis))


def bounds_up_to(x0, x1, name, horizon):
    # Positions at a horizon before the end are rounded: there, and only there, bounds need room.
    return bound_vertices(x0, x1, name, horizon, STEP_PADDING if horizon < 1.0 else 0.0)


def assert_contain(bounds, x0, x1, horizon=1.0):
    """Exactly at both ends, so for all times between: the motion is linear."""
    assert bounds.shape[1] % 2 == 0
    end = [[(1 - Fraction(horizon)) * Fraction(a) + Fraction(horizon) * Fraction(b) for a, b in zip(*rows)]
           for rows in zip(x0.tolist(), x1.tolist())]  # fmt: skip
    for i, (start, last) in enumerate(zip(x0, end)):
        for k, axis in enumerate(DIRECTIONS[: bounds.shape[1] // 2]):
            lower, upper = bounds[i, 2 * k], bounds[i, 2 * k + 1]
            for value in (project(start, axis), sum(c * a for c, a in zip(last, axis))):
                assert np.isneginf(lower) or Fraction(lower) <= value
                assert np.isposinf(upper) or value <= Fraction(upper)


@pytest.mark.bounds
@pytest.mark.unit
@pytest.mark.parametrize("horizon", [1.0, 0.7, 1e-9, 0.0])
@pytest.mark.parametrize("name", AXES)
def test_vertices_stay_inside(name, horizon):
    x0, x1 = motions(60, 1)
    bounds = bounds_up_to(x0, x1, name, horizon)
    assert bounds.shape == (60, 2 * AXES[name])
    assert_contain(bounds, x0, x1, horizon)


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("exponent", [-1074, -1060, -900, 900, 1010])
def test_from_denormals_to_overflow(name, exponent):
    x0, x1 = np.ldexp(motions(40, 2), exponent)
    assert np.isfinite([x0, x1]).all()
    for horizon in (1.0, 0.4):
        bounds = bounds_up_to(x0, x1, name, horizon)
        assert not np.isnan(bounds).any()
        assert_contain(bounds, x0, x1, horizon)


def test_where_sums_overflow():
    x0 = np.array([(LARGEST, LARGEST, LARGEST), (-LARGEST, LARGEST, 1.0), (LARGEST, -LARGEST, 0.0)])
    for horizon in (1.0, 0.5):
        bounds = bounds_up_to(x0, -x0, "24-dop", horizon)
        assert not np.isnan(bounds).any()
        assert_contain(bounds, x0, -x0, horizon)


@pytest.mark.parametrize("name", AXES)
def test_rounded_positions_on_the_way_stay_inside(name):
    """The safe step ends at rounded positions, and looks only at pairs whose bounds overlap."""
    x0, x1 = motions(300, 6)
    for horizon in (1.0, 0.6, 1e-7):
        bounds = bound_vertices(x0, x1, name, horizon, STEP_PADDING)
        for share in (1.0, 1 - 2.0**-36, 0.5):
            s = horizon * share
            assert_contain(bounds, (1.0 - s) * x0 + s * x1, x0)


@pytest.mark.parametrize("name", AXES)
def test_bounds_are_tight(name):
    x0, x1 = motions(200, 3)
    bounds = bound_vertices(x0, x1, name)
    for k, axis in enumerate(DIRECTIONS[: AXES[name]]):
        ends = np.stack([x0 @ axis, x1 @ axis])
        tolerance = 1e-14 * (np.abs(x0).sum(axis=1) + np.abs(x1).sum(axis=1)) + 1e-300
        assert (bounds[:, 2 * k] >= ends.min(axis=0) - tolerance).all()
        assert (bounds[:, 2 * k + 1] <= ends.max(axis=0) + tolerance).all()
    np.testing.assert_array_equal(bounds[:, 0:6:2], np.minimum(x0, x1))
    np.testing.assert_array_equal(bounds[:, 1:6:2], np.maximum(x0, x1))


@pytest.mark.bounds
@pytest.mark.unit
def test_union():
    bounds = bound_vertices(*motions(30, 4), "16-dop")
    groups = np.random.default_rng(5).integers(0, 30, (20, 3)).astype(np.int32)
    union = bound_union(bounds, groups)
    np.testing.assert_array_equal(union[:, 0::2], bounds[groups][:, :, 0::2].min(axis=1))
    np.testing.assert_array_equal(union[:, 1::2], bounds[groups][:, :, 1::2].max(axis=1))
