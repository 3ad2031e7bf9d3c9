"""Room around bounds against rationals: what they have to hold is inside, and the room is no wider than it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pliant.bounds import kdops
from pliant.bounds.kdops import STEP_PADDING, bound_vertices, distance_to_box

COUNT = 600


def vertices(seed):
    """Both ends of the motion of vertices, with coordinates just above 1, which are rounded the most."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], (2, COUNT, 3)) * (1.0 + rng.random((2, COUNT, 3)) / 16)


def between(a, b, t):
    return (1 - Fraction(t)) * Fraction(a) + Fraction(t) * Fraction(b)


@pytest.mark.parametrize("horizon", [0.3, 0.7])
def test_room_for_what_is_cut_off_and_rounded_again(horizon):
    """The exact end, and positions on the way to it that are rounded once more, towards the outside."""
    x0, x1 = vertices(1)
    bounds = bound_vertices(x0, x1, "aabb", horizon, STEP_PADDING)
    s = np.nextafter(horizon, 0.0)
    rounded = (1 - s) * x0 + s * x1
    most = Fraction(0)
    for v in range(COUNT):
        room = Fraction(STEP_PADDING * max(np.abs(x0[v]).max(), np.abs(x1[v]).max()))
        for k in range(3):
            a, b = float(x0[v, k]), float(x1[v, k])
            end, there = between(a, b, horizon), between(a, b, s)
            off = abs(Fraction(rounded[v, k]) - there)
            for upper, sign in ((0, -1), (1, 1)):
                furthest = max(sign * Fraction(a), sign * end, sign * there + off)
                left = sign * Fraction(bounds[v, 2 * k + upper]) - furthest
                assert left > 0
                most = max(most, 1 - left / room)
    assert 0.3 < most < 1


def test_sums_of_coordinates():
    x0, x1 = vertices(2)
    bounds, most = bound_vertices(x0, x1, "24-dop"), Fraction(0)
    for v in range(COUNT):
        p, q = ([Fraction(c) for c in x[v].tolist()] for x in (x0, x1))
        for i, axis in enumerate(kdops._OBLIQUE):
            along = [sum(c * int(k) for c, k in zip(x, axis)) for x in (p, q)]
            size = min(sum(map(abs, x)) for x in (p, q))
            low, high = (Fraction(c) for c in bounds[v, 2 * (3 + i) : 2 * (3 + i) + 2].tolist())
            left = min(min(along) - low, high - max(along))
            assert left > 0
            most = max(most, 1 - left / (Fraction(kdops._OBLIQUE_ERROR) * size))
    assert 0.3 < most < 1


def test_distances_to_boxes_are_rounded_down():
    rng, most = np.random.default_rng(3), Fraction(0)
    for _ in range(2000):
        p, low = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        box = np.stack((low, low + rng.uniform(0, 1, 3)), axis=1).reshape(1, 6)
        found = Fraction(distance_to_box(tuple(p.tolist()), box, 0))
        ends = [[Fraction(c) for c in side] for side in box.reshape(3, 2).tolist()]
        true = sum(max(0, a - Fraction(c), Fraction(c) - b) ** 2 for c, (a, b) in zip(p.tolist(), ends))
        assert found < true or true == 0
        most = max(most, 1 - found / true if true else 0)
    assert most < 2 * (1 - Fraction(kdops._ROUNDED_DOWN))
