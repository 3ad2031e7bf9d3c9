"""Error bounds of the elementary test against rationals: none is exceeded, and none is wider than it says."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import dot, max_norm, sub
from pliant.elementary import advance, certified
from pliant.elementary.distance import shortest_level
from pliant.elementary.paths import ACCELERATED, STRAIGHT, place, size_of
from tests.reference import distances
from tests.reference.rounding import coordinate, corners, exact, point, worst_share


def test_a_cubic_from_its_coefficients():
    """As much again as the error of its coefficients, which is 21 u on 6: here in units of the largest of them."""

    def share(x):
        s = abs(x[1]) / 2
        bound = (certified._EVALUATED - 1.0) * 21 * UNIT_ROUNDOFF * max(map(abs, x[0]))
        return abs(Fraction(certified._cubic_at(x[0], s)) - certified._cubic_at(exact(x[0]), exact(s))) / Fraction(
            bound
        )

    found = worst_share(share, lambda rng: (tuple(coordinate(rng) for _ in range(4)), coordinate(rng)))
    assert 0.1 < found < 1


def test_times_are_rounded_outwards():
    rng, least = random.Random(1), 1.0
    for _ in range(5000):
        width = 0.5 ** rng.randrange(6)
        lower, left = width * rng.randrange(round(1 / width)), rng.random()
        early, late = certified._times(lower, width, left, left)
        true = Fraction(lower) + Fraction(width) * Fraction(left)
        assert Fraction(early) < true < Fraction(late) or late == 1.0
        least = min(least, float((true - Fraction(early)) / Fraction(certified._TIME_ERROR)))
    assert 0.2 < least < 0.9


@pytest.mark.parametrize("mode", [STRAIGHT, ACCELERATED])
def test_positions_on_a_path(mode):
    """Less than 16 u of the size; turning paths, by sines and cosines, are what needs most of it."""

    def share(x):
        c, t = (*x[:3], (0.0, 0.0, 0.0), 0.0), abs(x[3]) / 2
        found, true = place(mode, c, t)[0], place(mode, exact(c), exact(t))[0]
        off = max(abs(Fraction(a) - b) for a, b in zip(found, true))
        return off / Fraction(16 * UNIT_ROUNDOFF * size_of(mode, c))

    assert 0.05 < worst_share(share, lambda rng: (point(rng), point(rng), point(rng), coordinate(rng))) < 1


@pytest.mark.parametrize("kind", [VERTEX_FACE, EDGE_EDGE])
def test_distances_of_features(kind):
    """Of positions as they are: of the bound, which is for rounded ones, only a part is used."""
    rng, most = random.Random(2), 0.0
    features = distances.VERTEX_FACE if kind == VERTEX_FACE else distances.EDGE_EDGE
    for _ in range(300):
        x = corners(rng, 4)
        relative = tuple(sub(p, x[0]) for p in x)
        r = shortest_level(kind, *advance._vectors(kind, relative))[3]
        true = Fraction(distances.distance_squared(features, distances.exactly(x)))
        size = max(map(max_norm, relative))
        off = abs(Fraction(float(np.sqrt(dot(r, r)))) ** 2 - true) / 2 / Fraction(max(float(true) ** 0.5, 1e-9))
        most = max(most, float(off) / (advance.DISTANCE_ERROR * size))
    assert 0.002 < most < 0.25
