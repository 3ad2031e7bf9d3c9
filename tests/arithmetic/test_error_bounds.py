"""Error bounds of the arithmetic against rationals: none is exceeded, and none is wider than it says."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

from pliant.arithmetic import double_double
from pliant.arithmetic.algebraic import COEFFICIENT_ERROR, approximate
from pliant.arithmetic.bernstein import (
    CUT_OFF,
    F_ERROR,
    F_RELATIVE,
    INSIDE_ERROR,
    INSIDE_RELATIVE,
    LARGEST_RELATIVE_ERROR,
    N_ERROR,
    cross_controls,
    cubic,
    magnitudes,
    quartic,
    restrict,
)
from pliant.arithmetic.double_double import DD_ERROR
from pliant.arithmetic.integers import LIMB_BITS, SIZE
from pliant.arithmetic.orientation import AXIS_ERROR, HINGE_ERROR, SIDE_ERROR, TURN_ERROR
from pliant.arithmetic.polynomials import COEFFICIENTS, DEGREES, new_machine
from pliant.arithmetic.rounding import DOT, LERP, POSITION_ERROR, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import cross, dot, lerp, max_norm, sub
from tests.reference.rounding import coordinate, corners, exact, point, worst_share


def vectors(p):
    """e1, e2, w of a vertex-face pair."""
    return sub(p[2], p[1]), sub(p[3], p[1]), sub(p[0], p[1])


def worst(values, rationals, bound):
    return max(abs(Fraction(a) - b) for a, b in zip(values, rationals)) / Fraction(bound)


def test_roundings_of_building_blocks():
    def share_of_lerp(x):
        a, b, t = *x[:2], abs(x[2]) / 2
        largest = max(max_norm(a), max_norm(b))
        return worst(lerp(a, b, t), lerp(exact(a), exact(b), exact(t)), largest * UNIT_ROUNDOFF)

    def share_of_dot(x):
        products = sum(abs(p * q) for p, q in zip(*exact(x)))
        return abs(Fraction(dot(*x)) - dot(*exact(x))) / products / Fraction(UNIT_ROUNDOFF)

    assert 0.5 * LERP < worst_share(share_of_lerp, lambda rng: (point(rng), point(rng), coordinate(rng))) < LERP
    assert POSITION_ERROR > LERP * UNIT_ROUNDOFF
    assert 0.5 * DOT < worst_share(share_of_dot, lambda rng: (point(rng), point(rng))) < DOT


def moving(x, part):
    """The vectors over a part of the motion, and their magnitudes over all of it."""
    start, end = vectors(x[0]), vectors(x[1])
    m = magnitudes(start, end)
    if part is not None:
        start, end = restrict(start, end, part[0]), restrict(start, end, part[1])
    return start, end, m


def normal(x, part):
    start, end, m = moving(x, part)
    return [c for v in cross_controls(start[0], start[1], end[0], end[1]) for c in v], m[0] * m[1]


def coplanarity(x, part):
    start, end, m = moving(x, part)
    return cubic(start[2], end[2], cross_controls(start[0], start[1], end[0], end[1])), m[0] * m[1] * m[2]


def inside(x, part):
    """b = (w x e2) . n."""
    start, end, m = moving(x, part)
    k, n = cross_controls(start[2], start[1], end[2], end[1]), cross_controls(start[0], start[1], end[0], end[1])
    return quartic(k, n), m[0] * m[1] * m[1] * m[2]


@pytest.mark.parametrize("part", [None, (0.25, 0.3125)], ids=["all", "part"])
@pytest.mark.parametrize(
    ("formula", "bound", "least"), [(normal, N_ERROR, 0.5), (coplanarity, F_ERROR, 0.1), (inside, INSIDE_ERROR, 0.03)]
)
def test_bernstein_coefficients(formula, bound, least, part):
    def share(x):
        values, magnitude = formula(x, part)
        return worst(values, formula(exact(x), None if part is None else exact(part))[0], bound * magnitude)

    if part is None or formula is not normal:  # which nothing restricts
        assert least < worst_share(share, lambda rng: (corners(rng, 4), corners(rng, 4))) < 1


def test_vectors_of_a_motion_that_is_cut_off():
    """In units of what is left of them: (1 - t) a + t b, where b is much larger than both a and that."""

    def share(x):
        a, rest, t = *x[:2], 2.0**-6 * abs(x[2])
        b = tuple((r - (1 - t) * c) / t for r, c in zip(rest, a))
        there = lerp(a, b, t)
        return worst(there, lerp(exact(a), exact(b), exact(t)), CUT_OFF * max(max_norm(a), max_norm(there)))

    assert 0.4 < worst_share(share, lambda rng: (point(rng), point(rng), coordinate(rng))) < 1


def test_products_of_vectors_that_are_off_by_a_part():
    r = Fraction(LARGEST_RELATIVE_ERROR)
    assert 6 * ((1 + r) ** 3 - 1) < Fraction(F_RELATIVE) * r < 6 * ((1 + r) ** 3 - 1) * Fraction(1.05)
    assert 12 * ((1 + r) ** 4 - 1) < Fraction(INSIDE_RELATIVE) * r < 12 * ((1 + r) ** 4 - 1) * Fraction(1.05)


def side(p):
    e, f, g = vectors(p)
    return dot(cross(e, f), g), max_norm(e) * max_norm(f) * max_norm(g)


def hinge(p):
    e, f, g = vectors(p)
    return dot(cross(e, f), cross(e, g)), max_norm(e) * max_norm(e) * max_norm(f) * max_norm(g)


def along_axis(p):
    w = sub(p[0], p[1])
    return dot(w, p[2]), max_norm(w) * max_norm(p[2])


def turn(p):
    e, f, _ = vectors(p)
    return e[0] * f[1] - e[1] * f[0], max(abs(e[0]), abs(e[1])) * max(abs(f[0]), abs(f[1]))


@pytest.mark.parametrize(
    ("formula", "bound", "least"),
    [(side, SIDE_ERROR, 0.35), (hinge, HINGE_ERROR, 0.3), (along_axis, AXIS_ERROR, 0.5), (turn, TURN_ERROR, 0.5)],
)
def test_orientation(formula, bound, least):
    def share(p):
        value, magnitude = formula(p)
        return worst([value], [formula(exact(p))[0]], bound * magnitude)

    assert least < worst_share(share, lambda rng: corners(rng, 4)) < 1


def test_double_doubles():
    """The bound has a margin of 8, each of its factors is rounded up, and roundings of 106 bits hardly ever add up."""

    def share(x):
        x0, x1 = np.array(x[0]), np.array(x[1])
        c = double_double._coefficients(0, x0, x1, (0, 1, 2, 3), 1.0)
        s = abs(x[2]) / 2
        value = sum(map(Fraction, double_double._value(c, s)))
        f = coplanarity(exact(x[:2]), None)[0]
        r, t = 1 - Fraction(s), Fraction(s)
        true = sum(k * b * r ** (3 - i) * t**i for i, (k, b) in enumerate(zip((1, 3, 3, 1), f)))
        m = magnitudes(vectors(x[0]), vectors(x[1]))
        return abs(value - true) / Fraction(DD_ERROR * m[0] * m[1] * m[2])

    found = worst_share(share, lambda rng: (corners(rng, 4), corners(rng, 4), coordinate(rng)), tries=2, steps=200)
    assert 2e-4 < found < 1


def test_scaled_bernstein_coefficients():
    """They are 1, 3, 3, 1 times the Bernstein coefficients, on small integers without any rounding."""
    rng = np.random.default_rng(1)
    x0, x1 = rng.integers(-9, 10, (2, 4, 3)).astype(float)
    c = double_double._coefficients(0, x0, x1, (0, 1, 2, 3), 1.0)
    rows = exact((x0.tolist(), x1.tolist()))
    f = coplanarity(rows, None)[0]
    assert [Fraction(high) + Fraction(low) for high, low in c] == [k * b for k, b in zip((1, 3, 3, 1), f)]
    for s in (0.0, 0.25, 1.0):
        slope = 3 * sum(
            k * (f[i + 1] - f[i]) * (1 - Fraction(s)) ** (2 - i) * Fraction(s) ** i for i, k in enumerate((1, 2, 1))
        )
        assert double_double._slope(c, s) == slope


@pytest.mark.parametrize("limbs", [(1, 1, 1, 1), (3, 3, 2, 1), (5, 5, 5, 5), (2, 7, 6, 4)])
def test_coefficients_of_wide_integers(limbs):
    rng, found = np.random.default_rng(2), Fraction(0)
    for _ in range(200):
        m = new_machine(64)
        m[DEGREES, 0] = 3
        true = []
        for i, size in enumerate(limbs):
            digits = rng.integers(0, 1 << LIMB_BITS, size)
            digits[-1] = max(1, digits[-1] >> rng.integers(0, LIMB_BITS))
            m[i, SIZE], m[i, 1 : size + 1] = size, digits
            true.append(sum(int(d) << LIMB_BITS * k for k, d in enumerate(digits)))
        assert COEFFICIENTS > 3
        *values, total = plain(m)
        unit = Fraction(1 << LIMB_BITS * (max(limbs) - 1))
        off = sum(abs(Fraction(v) - t / unit) for v, t in zip(values, true))
        found = max(found, off / Fraction(COEFFICIENT_ERROR * total))
    assert found < 1
    assert found > (0.2 if max(limbs) > 1 else -1)


def plain(m):
    """``approximate``, which only compiled code can call."""
    out = np.empty(5)
    _approximate(m, out)
    return out.tolist()


@numba.njit
def _approximate(m, out):
    out[0], out[1], out[2], out[3], out[4] = approximate(m, 0)
