"""Algebraic times and contacts of the verifier, against the rational reference, with which they share nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pliant.certificates.statement import Inputs
from pliant.certificates.times import Time, roots
from pliant.certificates.touching import meetings
from pliant.certificates.verifier import Checker
from tests.reference import rational

TESTS = (rational.vertex_face, rational.edge_edge)


def test_signs_at_an_irrational_time():
    (time,) = roots([-1, 0, 2])  # the root of one half
    assert time.sign([-1, 0, 2]) == 0
    assert time.sign([-3, 0, 6, 0]) == 0 == time.sign([0, 1, 0, -2])
    assert [time.sign([-7, 10]), time.sign([-8, 10])] == [1, -1]
    assert time.sign([-(2**60), 0, 2**61 + 1]) == 1


def test_roots_that_are_multiple_at_the_ends_or_none():
    assert [float(time.upper) for time in roots([0, 0, 1])] == [0.0]
    assert [float(time.upper) for time in roots([1, -2, 1])] == [1.0]
    assert list(roots([1, 0, 1])) == [] == list(roots([5]))
    thirds = sorted((time for time in roots([1, -6, 9])), key=lambda time: time.upper)
    assert len(thirds) == 1
    assert thirds[0].sign([-1, 3]) == 0
    halves = [time.upper for time in roots([0, 1, -3, 2])]  # 0, 1/2, 1
    assert sorted(halves) == [0, Fraction(1, 2), 1]


def test_a_time_at_which_both_vanish_is_told_from_one_close_by():
    (time,) = roots([-1, 0, 2])
    assert isinstance(time, Time)
    near = [-(10**30), 0, 2 * 10**30 - 1]  # its root is larger by 2e-31
    assert time.sign(near) == -1


def queries(seed: int) -> np.ndarray:
    """(k, 2, 4, 3): coarse whole numbers, where everything is degenerate, and doubles, where nothing is."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(-1, 2, (150, 2, 4, 3)).astype(float)
    flat = rng.integers(-2, 3, (60, 2, 4, 3)) * (1.0, 1.0, 0.0)
    still = rng.integers(-1, 2, (60, 1, 4, 3)).repeat(2, axis=1).astype(float)
    return np.concatenate([coarse, flat, still, rng.normal(size=(100, 2, 4, 3))])


@pytest.mark.parametrize("kind", [0, 1])
def test_contacts_are_those_of_the_reference(kind: int):
    seen = set()
    for x0, x1 in queries(kind):
        truth = TESTS[kind](x0, x1)
        checker = Checker(Inputs([], [], [], x0.tolist(), x1.tolist()))
        found = meetings(kind, checker.points(range(4)))
        assert (
            bool(found)
            == (truth is not None)
            == checker.meet(kind, *((range(1), range(1, 4)), (range(2), range(2, 4)))[kind])
        )
        seen.add(bool(found))
        if truth is not None:
            lower, upper = (float(truth.lower), float(truth.upper))
            lower, upper = min(lower, upper), max(np.nextafter(upper, 1.0), lower)
            lower = max(0.0, np.nextafter(lower, 0.0))
            assert checker.contact(kind, range(4), Fraction(lower), Fraction(min(upper, 1.0))) == ""
            if lower > 1e-3:
                assert checker.contact(kind, range(4), Fraction(0), Fraction(lower - 1e-3)) != ""
            if upper < 0.999:
                late = Fraction(upper + 1e-3)
                assert checker.contact(kind, range(4), late, late) == "begins before its toi"
        else:
            assert checker.contact(kind, range(4), Fraction(0), Fraction(1)) == "is none"
    assert seen == {True, False}
