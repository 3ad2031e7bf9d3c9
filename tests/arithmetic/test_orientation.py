"""Signs of orientation against fractions, for points that are nearly or exactly in one plane."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

from pliant.arithmetic.orientation import ROWS, WIDTH, set_corners, turn_sign, volume_sign
from pliant.runtime.jit import INTERPRETED


# Helpers run interpreted when Python calls them: to be compiled, they need a kernel around them.
@numba.njit
def _signs(points, signs):
    m = np.empty((ROWS, WIDTH), np.int64)
    for i in range(len(points)):
        x = points[i]
        set_corners(m, x)
        signs[i, 0] = volume_sign(m, x, 0, 1, 2, 3)
        for k in range(3):
            signs[i, 1 + k] = turn_sign(m, x, k, 0, 1, 2)


def _sign(value):
    return (value > 0) - (value < 0)


def _true_signs(x):
    p, q, r, s = ([Fraction(c) for c in corner] for corner in x[:4].tolist())
    e, f, g = ([b - a for a, b in zip(p, other)] for other in (q, r, s))
    n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
    return [_sign(sum(a * b for a, b in zip(n, g))), *map(_sign, n)]


def _points(rng, count):
    """(count, 6, 3): the fourth in the plane of the first three, the third on the line of the first two, or nearly."""
    x = rng.integers(-8, 9, (count, 6, 3)).astype(np.float64)
    x[::2] = rng.normal(size=x[::2].shape)
    weights = rng.integers(-4, 5, (count, 2, 1)) / 4
    x[:, 3] = x[:, 0] + weights[:, 0] * (x[:, 1] - x[:, 0]) + weights[:, 1] * (x[:, 2] - x[:, 0])
    x[1::3, 2] = x[1::3, 0] + weights[1::3, 0] * (x[1::3, 1] - x[1::3, 0])
    x *= 2.0 ** rng.choice([0, 0, 0, -40, 300, -300, 900, -1060], (count, 1, 1))
    wide = rng.random(count) < 0.1
    x[wide] *= 2.0 ** rng.integers(-60, 60, (wide.sum(), 1, 3))
    return x


@pytest.mark.unit
@pytest.mark.bounds
def test_signs_of_volumes_and_turns():
    points = _points(np.random.default_rng(1), 300 if INTERPRETED else 6000)
    signs = np.empty((len(points), 4), np.int64)
    _signs(points, signs)
    truth = np.array([_true_signs(x) for x in points])
    np.testing.assert_array_equal(signs, truth)
    for column in range(4):
        assert np.unique(truth[:, column], return_counts=True)[1].min() > 0.1 * len(points)
