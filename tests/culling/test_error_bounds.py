"""Error bounds of cones and contours against rationals: none is exceeded, and none is wider than it says."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from pliant.arithmetic.vec3 import cross, dot, max_norm, scale, sub
from pliant.culling import cones, contours, outlines
from tests.reference.rounding import corners, exact, point, worst_share


def unit(v):
    return scale(v, 1.0 / math.sqrt(dot(v, v)))


def test_side_of_an_edge_of_a_contour():
    """a . (b x l), for a and b as seen from a centre, which is where it was computed to be, and the middle one."""

    def value(p, axis):
        a0, b0, a1, b1 = (sub(p[k], p[1]) for k in (0, 2, 3, 4))
        return [dot(a0, cross(b0, axis)), 0.5 * (dot(a0, cross(b1, axis)) + dot(a1, cross(b0, axis)))]

    def share(x):
        p, axis = x[0], unit(x[1])
        size = max(max_norm(sub(p[k], p[1])) for k in (0, 2, 3, 4))
        off = [abs(Fraction(a) - b) for a, b in zip(value(p, axis), value(exact(p), exact(axis)))]
        return max(off) / Fraction(contours.SIDE_ERROR * size * size)

    found = worst_share(share, lambda rng: (corners(rng, 5), point(rng)))
    assert 0.02 < found < 1 / 8  # its margin


def test_passing_a_line_through_the_centre():
    def share(x):
        p, across = x[0], unit(x[1])
        a = sub(p[0], p[1])
        off = abs(Fraction(dot(a, across)) - dot(sub(exact(p[0]), exact(p[1])), exact(across)))
        return off / Fraction(contours.PASS_ERROR * max_norm(a))

    assert 0.05 < worst_share(share, lambda rng: (corners(rng, 2), point(rng))) < 1 / 4


def test_projected_coordinates():
    def share(x):
        p, axis = x[0], unit(x[1])
        v = cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.6 else (0.0, 1.0, 0.0))
        a, true = sub(p[0], p[1]), sub(exact(p[0]), exact(p[1]))
        across = v, cross(axis, v)
        off = max(abs(Fraction(dot(a, w)) - dot(true, exact(w))) for w in across)
        return off / Fraction(outlines.COORDINATE_ERROR * max_norm(a))

    assert 0.15 < worst_share(share, lambda rng: (corners(rng, 2), point(rng))) < 1 / 2.3


def test_cosines_of_computed_unit_vectors():
    """Squared, as rationals have no roots: (a . b)^2 of vectors that are not quite unit vectors."""

    def share(x):
        a, b = unit(x[0]), unit(x[1])
        squared = dot(exact(a), exact(b)) ** 2 / (dot(exact(a), exact(a)) * dot(exact(b), exact(b)))
        return abs(Fraction(dot(a, b)) ** 2 - squared) / 2 / Fraction(cones._COSINE_ERROR)

    assert 0.1 < worst_share(share, lambda rng: (point(rng), point(rng))) < 1


def test_sines_are_rounded_up():
    """Of cosines that are off by their error."""
    rng, least = random.Random(1), 1.0
    for _ in range(3000):
        cosine = 1.0 - 10.0 ** -rng.uniform(0, 16)
        true = Fraction(cosine) - Fraction(cones._COSINE_ERROR)
        sine = Fraction(cones._sine_above(cosine))
        assert sine**2 > 1 - true**2
        least = min(least, float((sine**2 - 1 + true**2) / Fraction(cones._SQUARE_ERROR)))
    assert 0 < least < 0.5
