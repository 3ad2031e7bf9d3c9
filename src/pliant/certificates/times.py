"""Algebraic times: roots of polynomials with whole coefficients, told apart without any rounding.

Sturm's theorem counts the roots in an interval. A time is an interval with one root; the sign of another polynomial
there is zero if both have that root in common, and else does not change any more once the interval is short enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import gcd

Polynomial = list[int]  # coefficients, lowest first, the last one is not zero; [] is zero


def trimmed(p: Polynomial) -> Polynomial:
    while p and not p[-1]:
        p.pop()
    return p


def minus(p: Polynomial, q: Polynomial) -> Polynomial:
    longer = max(len(p), len(q))
    return trimmed([a - b for a, b in zip(p + [0] * (longer - len(p)), q + [0] * (longer - len(q)), strict=True)])


def product(p: Polynomial, q: Polynomial) -> Polynomial:
    found = [0] * (len(p) + len(q))
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return trimmed(found)


def total(*terms: Polynomial) -> Polynomial:
    return trimmed([sum(term[i] for term in terms if i < len(term)) for i in range(max(map(len, terms)))])


def primitive(p: Polynomial) -> Polynomial:
    divisor = gcd(*p)
    return [c // divisor for c in p] if divisor > 1 else p


def division(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of p divided by q, the one times a number, the other times a positive one."""
    q, found = [-c for c in q] if q[-1] < 0 else q, [0] * max(len(p) - len(q) + 1, 0)
    while len(p) >= len(q):
        lead, place = p[-1], len(p) - len(q)
        found = [q[-1] * c for c in found]
        found[place] += lead
        p = minus([q[-1] * c for c in p], product([0] * place + [lead], q))
    return primitive(found), primitive(p)


def common(p: Polynomial, q: Polynomial) -> Polynomial:
    while q:
        p, q = q, division(p, q)[1]
    return p


def derivative(p: Polynomial) -> Polynomial:
    return trimmed([i * c for i, c in enumerate(p)][1:])


def simple(p: Polynomial) -> Polynomial:
    """The same roots, each once."""
    shared = common(p, derivative(p))
    return division(p, shared)[0] if len(shared) > 1 else p


def sign_at(p: Polynomial, t: Fraction) -> int:
    value, power = 0, 1
    for c in reversed(p):  # Horner's rule, all of it times a power of the denominator
        value = value * t.numerator + c * power
        power *= t.denominator
    return (value > 0) - (value < 0)


class Sturm:
    """Counts the roots of a polynomial whose roots are simple."""

    def __init__(self, p: Polynomial) -> None:
        self.chain = [p, derivative(p)]
        while self.chain[-1]:
            self.chain.append([-c for c in division(self.chain[-2], self.chain[-1])[1]])

    def between(self, a: Fraction, b: Fraction) -> int:
        """How many there are in (a, b]."""
        return self._changes(a) - self._changes(b)

    def _changes(self, t: Fraction) -> int:
        signs = [s for s in (sign_at(q, t) for q in self.chain) if s]
        return sum(s != r for s, r in pairwise(signs))


class Time:
    """An algebraic number: the only root of p in (lower, upper]; where these are equal, that number itself."""

    def __init__(self, p: Polynomial, sturm: Sturm, lower: Fraction, upper: Fraction) -> None:
        self.p, self.sturm, self.lower, self.upper = p, sturm, lower, upper

    def halve(self) -> None:
        middle = (self.lower + self.upper) / 2
        if self.sturm.between(self.lower, middle):
            self.upper = middle
        else:
            self.lower = middle
        if not sign_at(self.p, self.upper):
            self.lower = self.upper

    def sign(self, g: Polynomial) -> int:
        """Of g at this time: it is zero if p and g have this root in common, else it is that of g close by."""
        if not g or len(g) == 1 or self.lower == self.upper:
            return sign_at(g, self.upper)
        shared = common(self.p, g)
        if len(shared) > 1 and Sturm(simple(shared)).between(self.lower, self.upper):
            return 0
        others = Sturm(simple(g))
        while self.lower != self.upper and others.between(self.lower, self.upper):
            self.halve()
        return sign_at(g, self.upper)


START = Fraction(0)


def roots(p: Polynomial) -> Iterator[Time]:
    """Those from 0 to 1, each once, in no order."""
    p = simple(p)
    sturm = Sturm(p)
    if not sign_at(p, START):
        yield Time(p, sturm, START, START)
    parts = [(START, Fraction(1))]
    while parts:
        a, b = parts.pop()
        count = sturm.between(a, b)
        if count == 1:
            yield Time(p, sturm, b if not sign_at(p, b) else a, b)
        elif count:
            parts += [(a, (a + b) / 2), ((a + b) / 2, b)]
