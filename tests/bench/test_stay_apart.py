"""Two moving edges in the plane: what the pairwise contour test proves, against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bench.baselines.continuous_contours import stay_apart

pytestmark = pytest.mark.unit


def side(a, b, c):
    value = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (value > 0) - (value < 0)


def meet(a, b, c, d):
    """Closed segments ab and cd share a point; exact for Fractions."""
    if side(a, b, c) * side(a, b, d) > 0 or side(c, d, a) * side(c, d, b) > 0:
        return False
    return all(max(min(a[k], b[k]), min(c[k], d[k])) <= min(max(a[k], b[k]), max(c[k], d[k])) for k in range(2))


def meet_at_some_time(flat, steps=32):
    """At one of some instants; flat: (4, 4) rows u, v at t = 0, u, v at t = 1."""
    rows = [[Fraction(v) for v in row] for row in flat.tolist()]
    for k in range(steps + 1):
        t = Fraction(k, steps)
        if meet(*([(1 - t) * r[i] + t * r[i + 2] for i in range(2)] for r in rows)):
            return True
    return False


def edges(count, seed, span):
    """Small integers: crossings, touching ends, parallel and collinear edges in numbers."""
    rng = np.random.default_rng(seed)
    flat = rng.integers(-4, 5, (count, 4, 4)).astype(np.float64)
    flat[:, :, 2:] = flat[:, :, :2] + rng.integers(-span, span + 1, (count, 4, 2))
    flat[:, 2:] += rng.integers(0, 7, (count, 1, 1))
    return flat


# Rows 0 to 1 and 2 to 3 are the edges.
@pytest.mark.parametrize("span", [0, 1, 3])
def test_what_is_proved_is_true(span):
    proved = met = missed = 0
    for flat in edges(400, span, span):
        apart, meeting = stay_apart(flat, 0, 2, 20.0), meet_at_some_time(flat)
        assert not (apart and meeting)
        proved, met, missed = proved + apart, met + meeting, missed + (not apart and not meeting)
    assert 100 < proved < 350
    assert met > 50
    assert missed < 0.1 * proved  # those that meet between the instants, or touch nearly


def test_edges_in_one_line_are_apart():
    """No edge is on one side of the other; what separates them is the line between their centres."""
    flat = np.array([(0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 2), (3, 0, 0, 3)], np.float64)
    assert stay_apart(flat, 0, 2, 4.0)
    flat[2] = flat[1]
    assert not stay_apart(flat, 0, 2, 4.0)


def test_edges_that_pass_each_other():
    """Neither one axis nor one side serves for the whole motion: time has to be halved."""
    flat = np.array([(0, 0, 0, 0), (1, 0, 1, 0), (3, 0.1, 0.5, 4), (4, 0.1, 0.5, 3)], np.float64)
    assert stay_apart(flat, 0, 2, 5.0)
    flat[2:, 2:] = (0.5, -3), (0.5, -4)
    assert stay_apart(flat, 0, 2, 5.0) == (not meet_at_some_time(flat, 64))
