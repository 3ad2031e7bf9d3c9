"""How close rounded results come to their error bounds: the same formulas in floating point and in rationals."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction


class Rational(Fraction):
    """A fraction that stays one among the literals of a formula: 0.5 times a fraction would be a float."""


def _lifted(operator: Callable) -> Callable:
    return lambda self, other: Rational(operator(self, Fraction(other)))


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Rational, f"__{_name}__", _lifted(getattr(Fraction, f"__{_name}__")))


def exact(x):
    """Nested tuples of numbers as rationals."""
    return tuple(map(exact, x)) if isinstance(x, (tuple, list)) else Rational(x)


def coordinate(rng: random.Random) -> float:
    """Just above 1 with any sign: near the largest, to which bounds are relative, and as small in units of its last
    bit as a number can be: its roundings are the largest."""
    return rng.choice((-1.0, 1.0)) * (1.0 + 2.0**-4 * rng.random())


def point(rng: random.Random) -> tuple:
    return coordinate(rng), coordinate(rng), coordinate(rng)


def corners(rng: random.Random, count: int) -> tuple:
    """Points of which the second is near the origin, so that the others as seen from it are as large as they are
    themselves, but rounded."""
    first, second, *others = (point(rng) for _ in range(count))
    return first, tuple(2.0**-8 * c for c in second), *others


def _changed(x, rng: random.Random):
    """One of the numbers in nested tuples is another one: with the other sign, or with other last bits."""
    if not isinstance(x, tuple):
        return -x if rng.random() < 0.1 else x * (1.0 + rng.uniform(-1, 1) * 2.0 ** -rng.randrange(8, 52))
    i = rng.randrange(len(x))
    return (*x[:i], _changed(x[i], rng), *x[i + 1 :])


def worst_share(share: Callable, draw: Callable, tries: int = 1, steps: int = 1200, seed: int = 0) -> float:
    """The largest share(inputs) that is found: from random inputs uphill, one number at a time.

    share: error over bound of inputs, which are nested tuples of floats. draw(rng): random ones.
    """
    rng, best = random.Random(seed), 0.0
    for _ in range(tries):
        inputs = draw(rng)
        value = share(inputs)
        for _ in range(steps):
            other = _changed(inputs, rng)
            new = share(other)
            if new >= value:
                inputs, value = other, new
        best = max(best, value)
    return float(best)
