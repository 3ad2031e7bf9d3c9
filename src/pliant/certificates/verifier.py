"""Checks a certificate of contacts, with whole numbers alone.

This module is made to be read. With `statement`, `touching` and `times`, it imports nothing but Python's own library,
rounds nothing, and believes nothing that a
certificate says: what is proved is proved here, from the mesh and the positions that are given.

The statement. A vertex moves from x0 to x1 in a straight line while t goes from 0 to 1. A contact is a vertex and a
triangle, or two edges, that share a point at some t, both closed, and without a common vertex. The certificate lists
pairs of features, each with a bracket of its first time of contact, and says: these are contacts, at these times, and
there are no others.

A pair that is listed is decided here. Its two features can meet only while their four points are in one plane, which
is at the roots of a cubic polynomial; where that vanishes, only when a point gets onto a line. At each such time, an
algebraic number, signs of polynomials tell whether the features touch (`Time.sign`).

A pair that is not listed needs a reason. Two sets of vertices stay apart if there is a direction along which, at the
start and at the end of a stretch of time, every vertex of the one set comes before every vertex of the other: all of
them move along it at constant speeds, so the order of any two cannot change in between. A reason is

    [x, y, z]        such a direction, in whole numbers
    [first, second]  of two single features, a reason for each half of the stretch
    0                none: of two single features, they are decided here; of sets, both are divided

Completeness. Vertices and triangles, edges and edges, are taken in the order that the certificate gives, as two
ranges. A pair of ranges without a reason is divided in halves, down to single features. So reasons are read one after
the other, and every pair of features is below one of them, or listed, or has a vertex in common, or is decided here.

A certificate without reasons lists contacts, and that is all. Then the reader draws vertices and edges, and what they
have to do with all others is decided here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

from pliant.certificates.statement import (
    KINDS,
    CertificateError,
    DisprovedError,
    Features,
    Inputs,
    Names,
    features_of,
    require_inputs,
    statement_of,
)
from pliant.certificates.times import trimmed
from pliant.certificates.touching import Point, meetings

WIDEST = Fraction(1e-12)  # of the bracket of a time
MOST_HALVINGS = 60
MOST_DIGITS = 1 << 64  # of a direction
Pair = tuple[int, int, int]  # kind, feature, feature


class Verdict(NamedTuple):
    """What was checked.

    contacts : how many, all of them, each with its time
    is_complete : whether it is proved that there are no others; else it is known of the features that were drawn
    features, features_in_all : of how many vertices and edges that is known, and how many there are
    directions : how many pairs of ranges a direction keeps apart, or several in turn
    decided : how many pairs of features had no reason
    """

    contacts: int
    is_complete: bool
    features: int
    features_in_all: int
    directions: int
    decided: int


class Checker:
    """The motion in whole numbers: all coordinates times one power of two."""

    def __init__(self, inputs: Inputs) -> None:
        ratios = [[[c.as_integer_ratio() for c in map(float, p)] for p in x] for x in (inputs.x0, inputs.x1)]
        scale = max((below for x in ratios for p in x for _, below in p), default=1)
        self.x0, self.x1 = ([[above * (scale // below) for above, below in p] for p in x] for x in ratios)
        self.directions = self.decided = 0

    def points(self, vertices: Sequence[int]) -> list[Point]:
        """Moving points, with what all their coordinates are multiples of taken out."""
        unit = gcd(*(c for v in vertices for c in (*self.x0[v], *self.x1[v]))) or 1
        ends = [(zip(self.x0[v], self.x1[v], strict=True)) for v in vertices]
        return [[trimmed([a // unit, (b - a) // unit]) for a, b in pairs] for pairs in ends]

    def meet(self, kind: int, first: Sequence[int], second: Sequence[int]) -> bool:
        """Whether two features touch at all. Most do not even where only their boxes are compared, at both ends."""
        for i in range(3):
            for a, b in ((first, second), (second, first)):
                if all(max(x[v][i] for v in a) < min(x[v][i] for v in b) for x in (self.x0, self.x1)):
                    return False
        return bool(meetings(kind, self.points((*first, *second))))

    def apart(self, axis: Sequence[int], first: Sequence[int], second: Sequence[int], m: int, k: int) -> bool:
        """Whether all vertices of the first set come before all of the second, at m / 2^k and at (m + 1) / 2^k."""
        x, y, z = axis
        for j in (m, m + 1):
            a, b = (1 << k) - j, j
            xa, ya, za, xb, yb, zb = x * a, y * a, z * a, x * b, y * b, z * b
            places = [
                [xa * p[0] + ya * p[1] + za * p[2] + xb * q[0] + yb * q[1] + zb * q[2] for p, q in pairs]
                for pairs in ([(self.x0[v], self.x1[v]) for v in part] for part in (first, second))
            ]
            if max(places[0]) >= min(places[1]):
                return False
        return True

    def holds(
        self, reason: Any, first: Sequence[int], second: Sequence[int], is_single: bool, m: int = 0, k: int = 0
    ) -> bool:
        """Whether a reason keeps two sets of vertices apart from m / 2^k to (m + 1) / 2^k.

        is_single : of one feature each, for which halves are allowed: each takes as long as the sets are large
        """
        if not isinstance(reason, list) or k > MOST_HALVINGS:
            raise CertificateError("a reason is neither 0, nor a direction, nor two halves, or is halved too often")
        if len(reason) == 2 and (k > 0 or is_single):
            halves = zip(reason, (2 * m, 2 * m + 1), strict=True)
            return all(self.holds(half, first, second, True, place, k + 1) for half, place in halves)
        if len(reason) != 3 or not all(type(c) is int and abs(c) < MOST_DIGITS for c in reason):
            raise CertificateError("a direction has three whole numbers below 2^64; halves are for single features")
        return self.apart(reason, first, second, m, k)

    def contact(self, kind: int, vertices: Sequence[int], toi: Fraction, toi_upper: Fraction) -> str:
        """What is wrong with a contact and its bracket; nothing where it is right."""
        found = meetings(kind, self.points(vertices))
        if not found:
            return "is none"
        # Whether a time is before toi is the sign of t - toi there.
        if any(time.sign([-toi.numerator, toi.denominator]) < 0 for time in found):
            return "begins before its toi"
        if all(time.sign([-toi_upper.numerator, toi_upper.denominator]) > 0 for time in found):
            return "begins after its toi_upper"
        return "" if 0 <= toi_upper - toi <= WIDEST else "has a bracket that is wider than 1e-12"


Span = tuple[int, int]


class Ranges(NamedTuple):
    """Features in an order in which those that are close by are, mostly, near each other."""

    order: list[int]
    features: list[tuple[int, ...]]

    def single(self, span: Span) -> tuple[int, ...]:
        return self.features[self.order[span[0]]]

    def vertices(self, low: int, high: int) -> list[int]:
        return list({v for i in self.order[low:high] for v in self.features[i]})


def halves(span: Span) -> list[Span]:
    middle = (span[0] + span[1]) // 2
    return [(span[0], middle), (middle, span[1])] if span[1] - span[0] > 1 else [span]


def divided(a: Span, b: Span, alike: bool) -> list[tuple[Span, Span]]:
    """The pairs of ranges that make up a pair; of a range with itself, each pair of features once."""
    if alike and a == b:
        low, *high = halves(a)
        return [(low, low), (low, high[0]), (high[0], high[0])] if high else []
    return [(low, high) for low in halves(a) for high in halves(b)]


def uncovered(
    checker: Checker, rows: Ranges, columns: Ranges, alike: bool, reason_for: Callable[[Span, Span], Any]
) -> Iterator[tuple[int, int]]:
    """Pairs of single features, one of the rows and one of the columns, that no reason keeps apart."""
    whole = ((0, len(rows.order)), (0, len(columns.order)))
    stack = [whole] if rows.order and columns.order else []
    while stack:
        a, b = stack.pop()
        is_single = a[1] - a[0] == 1 == b[1] - b[0]
        i, j = rows.order[a[0]], columns.order[b[0]]
        if is_single and set(rows.features[i]) & set(columns.features[j]):
            continue
        if not (alike and a == b):
            reason = reason_for(a, b)
            if type(reason) is not int or reason != 0:
                sides = (rows.single(a), columns.single(b)) if is_single else (rows.vertices(*a), columns.vertices(*b))
                if not checker.holds(reason, *sides, is_single):
                    raise DisprovedError(f"a direction does not keep apart what it should (ranges {a} and {b})")
                checker.directions += 1
                continue
            if is_single:
                yield i, j
                continue
        stack += divided(a, b, alike)


def prove(
    checker: Checker,
    features: Features,
    order: Names,
    listed: set[tuple[int, int, int]],
    reasons_for: Callable[[int, Ranges, Ranges], Callable[[Span, Span], Any]],
) -> None:
    """Prove that there are no contacts but those that are listed.

    order : of vertices, faces and edges, all of them
    reasons_for : what answers, of a kind of pairs and its two sides, each pair of ranges with a reason
    """
    for kind, names in enumerate((("vertices", "faces"), ("edges", "edges"))):
        rows, columns = (
            Ranges(order[name], side) for name, side in zip(names, features.sides(kind), strict=True)
        )  # fmt: skip
        for i, j in uncovered(checker, rows, columns, kind == 1, reasons_for(kind, rows, columns)):
            require_free(checker, features, pair_of(kind, i, j), listed)


def pair_of(kind: int, i: int, j: int) -> Pair:
    """As contacts are listed: of two edges the smaller number comes first."""
    return (kind, i, j) if kind == 0 or i < j else (kind, j, i)


def require_free(checker: Checker, features: Features, pair: Pair, listed: set[Pair]) -> None:
    """A pair that is not listed is no contact."""
    if pair in listed:
        return
    kind, i, j = pair
    rows, columns = features.sides(kind)
    checker.decided += 1
    if checker.meet(kind, rows[i], columns[j]):
        raise DisprovedError(f"{KINDS[kind]} {i}, {j} is a contact, and is not listed")


def prove_drawn(checker: Checker, features: Features, listed: set[Pair], drawn: Sequence[Sequence[int]]) -> None:
    """Prove that some vertices and edges have no contacts but those that are listed."""
    for kind, ids in enumerate(drawn):
        rows, columns = features.sides(kind)
        for i in ids:
            for j, column in enumerate(columns):
                if not set(rows[i]) & set(column):
                    require_free(checker, features, pair_of(kind, i, j), listed)


def require_contacts(checker: Checker, features: Features, contacts: Sequence[tuple[Any, ...]]) -> None:
    """They are contacts of features that there are, at these times."""
    is_named = set(features.named)
    for kind, i, j, toi, toi_upper in contacts:
        rows, columns = features.sides(kind)
        if not (0 <= i < len(rows) and 0 <= j < len(columns) and (i < j if kind else i in is_named)):
            raise DisprovedError(f"{KINDS[kind]} {i}, {j} is no pair of features")
        if set(rows[i]) & set(columns[j]):
            raise DisprovedError(f"{KINDS[kind]} {i}, {j} have a vertex in common")
        if wrong := checker.contact(kind, (*rows[i], *columns[j]), toi, toi_upper):
            raise DisprovedError(f"{KINDS[kind]} {i}, {j} {wrong}")


def check(certificate: Any, inputs: Inputs, sample: int = 0, seed: int | None = None) -> Verdict:
    """Check that what a certificate states is true of these inputs.

    Parameters
    ----------
    certificate : dict
        As `read` gives it.
    inputs : Inputs
        Plain lists of whole numbers, and of floats.
    sample : int
        Of one without reasons, so many vertices and so many edges are drawn.
    seed : int, optional
        Draws them; default: one that nobody knows beforehand.

    Returns
    -------
    Verdict

    Raises
    ------
    CertificateError
        Where it cannot be checked; ``DisprovedError`` where something is not true, or is given as a reason and is none.
    """
    require_inputs(inputs)
    stated, features, checker = statement_of(certificate, inputs), features_of(inputs), Checker(inputs)
    require_contacts(checker, features, stated.contacts)
    listed, everything = {row[:3] for row in stated.contacts}, features.all()
    counts = [len(everything[name]) for name in ("vertices", "edges")]
    if stated.streams is None:
        drawing = random.Random(seed) if seed is not None else random.SystemRandom()
        drawn = [drawing.sample(everything[name], min(sample, len(everything[name]))) for name in ("vertices", "edges")]
        prove_drawn(checker, features, listed, drawn)
        done = sum(map(len, drawn))
        return Verdict(len(listed), done == sum(counts), done, sum(counts), 0, checker.decided)
    for name, ids in everything.items():
        if sorted(stated.order[name]) != ids:
            raise CertificateError(f"the order of {name} does not name each of them once")
    streams, none = [iter(stream) for stream in stated.streams], object()

    def next_of(kind: int) -> Any:
        reason = next(streams[kind], none)
        if reason is none:
            raise CertificateError("there are fewer reasons than pairs of ranges")
        return reason

    prove(checker, features, stated.order, listed, lambda kind, *_: lambda *_: next_of(kind))
    if any(next(stream, none) is not none for stream in streams):
        raise CertificateError("there are more reasons than pairs of ranges")
    return Verdict(len(listed), True, sum(counts), sum(counts), checker.directions, checker.decided)
