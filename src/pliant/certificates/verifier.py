"""Checks a certificate of contacts, with whole numbers alone.

This module is made to be read. It imports nothing but Python's own library, rounds nothing, and believes nothing that a
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
    [first, second]  a reason for each half of the stretch
    0                none: of two single features, they are decided here; of sets, both are divided

Completeness. Vertices and triangles, edges and edges, are taken in the order that the certificate gives, as two
ranges. A pair of ranges without a reason is divided in halves, down to single features. So reasons are read one after
the other, and every pair of features is below one of them, or listed, or has a vertex in common, or is decided here.
Where only a sample is proved, the features whose pairs with all others are proved follow from a hash of the whole
statement: whoever writes a certificate does not choose them.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from pliant.certificates.times import trimmed
from pliant.certificates.touching import Point, meetings

FORMAT = 1
WIDEST = Fraction(1e-12)  # of the bracket of a time
MOST_BYTES = 1 << 30
MOST_HALVINGS = 60
MOST_DIGITS = 1 << 64  # of a direction
KINDS = ("vertex-face", "edge-edge")


Names = dict[str, list[int]]


class CertificateError(ValueError):
    """What is wrong with a certificate, or what it says that is not true."""


class Verdict(NamedTuple):
    """What was checked, in numbers."""

    contacts: int  # decided, with their times
    features: int  # vertices and edges of which all pairs are proved
    features_in_all: int
    directions: int  # pairs of ranges that a direction, or several in turn, keep apart
    decided: int  # pairs of features without a reason, decided here


class Inputs(NamedTuple):
    """The mesh and its positions, as plain lists."""

    faces: Sequence[Sequence[int]]
    loose_edges: Sequence[Sequence[int]]
    loose_points: Sequence[int]
    x0: Sequence[Sequence[float]]
    x1: Sequence[Sequence[float]]


# ---- what the statement is about


class Features(NamedTuple):
    """All features as vertices: lists of tuples, in the order of their numbers."""

    vertices: list[tuple[int, ...]]
    faces: list[tuple[int, ...]]
    edges: list[tuple[int, ...]]
    named: list[int]  # vertices that take part, ascending

    def all(self) -> Names:
        """Numbers of those that take part, ascending."""
        return {"vertices": self.named, "faces": [*range(len(self.faces))], "edges": [*range(len(self.edges))]}


def features_of(inputs: Inputs) -> Features:
    """Edges are sides of faces and loose ones, sorted, once each, without those from a vertex to itself."""
    faces = [tuple(face) for face in inputs.faces]
    sides = [(f[i], f[j]) for f in faces for i, j in ((0, 1), (1, 2), (2, 0))] + [tuple(e) for e in inputs.loose_edges]
    edges: list[tuple[int, ...]] = sorted({(min(a, b), max(a, b)) for a, b in sides if a != b})
    named = {v for face in faces for v in face} | {v for e in inputs.loose_edges for v in e} | set(inputs.loose_points)
    return Features([(v,) for v in range(len(inputs.x0))], faces, edges, sorted(named))


def digests(inputs: Inputs) -> dict[str, Any]:
    """Hashes of the inputs: whole numbers of 8 bytes, doubles, little endian; one row after the other."""

    def digest(kind: str, values: list[Any]) -> str:
        return hashlib.sha256(struct.pack(f"<{len(values)}{kind}", *values)).hexdigest()

    rows = [inputs.faces, inputs.loose_edges, [[v] for v in inputs.loose_points]]
    sizes = [len(part) for part in rows]
    indices = [v for part in rows for row in part for v in row]
    positions = {name: digest("d", [c for p in getattr(inputs, name) for c in p]) for name in ("x0", "x1")}
    return {"vertices": len(inputs.x0), "mesh": digest("q", sizes + indices), **positions}


def chosen_of(certificate: dict[str, Any], features: Features) -> list[list[int]]:
    """The vertices and the edges whose pairs with all others are proved.

    Of a sample, those with the smallest hashes of their numbers and of all that is stated, but the reasons.
    """
    stated = {name: part for name, part in certificate.items() if name != "reasons"}
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    ids = [(name, features.all()[name]) for name in ("vertices", "edges")]
    if certificate["sample"] is None:
        return [part for _, part in ids]

    def rank(name: str, i: int) -> bytes:
        return hashlib.sha256(f"{digest} {name} {i}".encode()).digest()

    return [sorted(part, key=lambda i, n=name: rank(n, i))[: certificate["sample"]] for name, part in ids]


# ---- the certificate


class Checker:
    """The motion in whole numbers: all coordinates times one power of two."""

    def __init__(self, inputs: Inputs) -> None:
        ratios = [[[c.as_integer_ratio() for c in map(float, p)] for p in x] for x in (inputs.x0, inputs.x1)]
        scale = max((below for x in ratios for p in x for _, below in p), default=1)
        self.x0, self.x1 = ([[above * (scale // below) for above, below in p] for p in x] for x in ratios)
        self.directions = self.decided = 0

    def points(self, vertices: Sequence[int]) -> list[Point]:
        return [
            [trimmed([a, b - a]) for a, b in zip(self.x0[v], self.x1[v], strict=True)] for v in vertices
        ]  # fmt: skip

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

    def holds(self, reason: Any, first: Sequence[int], second: Sequence[int], m: int = 0, k: int = 0) -> bool:
        """Whether a reason keeps two sets of vertices apart from m / 2^k to (m + 1) / 2^k."""
        if not isinstance(reason, list) or k > MOST_HALVINGS:
            raise CertificateError("a reason is neither a direction nor two halves, or has too many halves in halves")
        if len(reason) == 2:
            halves = zip(reason, (2 * m, 2 * m + 1), strict=True)
            return all(self.holds(half, first, second, place, k + 1) for half, place in halves)
        if len(reason) != 3 or not all(type(c) is int and abs(c) < MOST_DIGITS for c in reason):
            raise CertificateError("a direction has three whole numbers below 2^64")
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
            if reason is None:
                raise CertificateError("there are fewer reasons than pairs of ranges")
            if reason != 0:
                if not checker.holds(reason, rows.vertices(*a), columns.vertices(*b)):
                    raise CertificateError(f"a direction does not keep apart what it should (range {a} and {b})")
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
    chosen: Sequence[Sequence[int]],
    listed: set[tuple[int, int, int]],
    reasons_for: Callable[[int, Ranges, Ranges], Callable[[Span, Span], Any]],
) -> None:
    """Prove that the chosen vertices and edges have no contacts but those that are listed.

    order : of vertices, faces and edges, all of them
    reasons_for : what answers, of a kind of pairs and its two sides, each pair of ranges with a reason
    """
    for kind, (row_name, column_name) in enumerate((("vertices", "faces"), ("edges", "edges"))):
        rows, columns = getattr(features, row_name), getattr(features, column_name)
        is_chosen = set(chosen[kind])
        left = Ranges([i for i in order[row_name] if i in is_chosen], rows)
        right = Ranges(order[column_name], columns)
        alike = kind == 1 and len(left.order) == len(right.order)
        for i, j in uncovered(checker, left, right, alike, reasons_for(kind, left, right)):
            first, second = (i, j) if kind == 0 or i < j else (j, i)
            if (kind, first, second) in listed:
                continue
            if meetings(kind, checker.points((*rows[first], *columns[second]))):
                raise CertificateError(f"{KINDS[kind]} {first}, {second} is a contact, and is not listed")
            checker.decided += 1


class Statement(NamedTuple):
    contacts: list[tuple[int, int, int, Fraction, Fraction]]
    sample: int | None
    order: Names
    streams: list[list[Any]]


def times_of(row: Any) -> tuple[int, int, int, Fraction, Fraction]:
    is_row = isinstance(row, list) and len(row) == 5 and all(type(i) is int for i in row[:3])
    if not is_row or not all(type(t) in (int, float) and 0 <= t <= 1 for t in row[3:]):
        raise CertificateError("a contact is [kind, feature, feature, toi, toi_upper], times from 0 to 1")
    return row[0], row[1], row[2], Fraction(row[3]), Fraction(row[4])


def statement_of(certificate: Any, inputs: Inputs) -> Statement:
    """The parts of a certificate, each of which is what it should be, and about these inputs."""
    if not isinstance(certificate, dict) or certificate.get("pliant certificate") != FORMAT:
        raise CertificateError(f"this is no certificate of format {FORMAT}")
    if (certificate.get("query"), certificate.get("pairs")) != ("ccd", "all"):
        raise CertificateError("certificates are of ccd, and of all pairs")
    if certificate.get("inputs") != digests(inputs):
        raise CertificateError("it is about another mesh or other positions: their hashes differ")
    try:
        contacts = [times_of(row) for row in certificate["contacts"]]
        sample, reasons = certificate["sample"], certificate["reasons"]
        order = {name: reasons["order"][name] for name in ("vertices", "faces", "edges")}
        streams = [reasons[name] for name in KINDS]
        counts = certificate["counts"]
    except (KeyError, TypeError) as error:
        raise CertificateError(f"a part is missing, or is none: {error}") from None
    numbers = [sum(row[0] == kind for row in contacts) for kind in (0, 1)]
    if counts != dict(zip(KINDS, numbers, strict=True)) or sum(numbers) < len(contacts):
        raise CertificateError("it does not list as many contacts as it counts")
    if sample is not None and (type(sample) is not int or sample < 0):
        raise CertificateError("the sample is a number of features, or null")
    for ids in order.values():
        if not isinstance(ids, list) or not all(type(i) is int for i in ids):
            raise CertificateError("an order is a list of whole numbers")
    if not all(isinstance(stream, list) for stream in streams):
        raise CertificateError("reasons are lists")
    return Statement(contacts, sample, order, streams)


def check(certificate: Any, inputs: Inputs) -> Verdict:
    """Check that what a certificate states is true of these inputs.

    Raises
    ------
    CertificateError
        Where it is not, or where what is given as a reason is none; the message says which.
    """
    stated, features, checker = statement_of(certificate, inputs), features_of(inputs), Checker(inputs)
    tables, is_named = ((features.vertices, features.faces), (features.edges, features.edges)), set(features.named)
    for kind, i, j, toi, toi_upper in stated.contacts:
        rows, columns = tables[kind]
        if not (0 <= i < len(rows) and 0 <= j < len(columns) and (i < j if kind else i in is_named)):
            raise CertificateError(f"{KINDS[kind]} {i}, {j} is no pair of features")
        if set(rows[i]) & set(columns[j]):
            raise CertificateError(f"{KINDS[kind]} {i}, {j} have a vertex in common")
        if wrong := checker.contact(kind, (*rows[i], *columns[j]), toi, toi_upper):
            raise CertificateError(f"{KINDS[kind]} {i}, {j} {wrong}")
    listed = {row[:3] for row in stated.contacts}
    if len(listed) < len(stated.contacts):
        raise CertificateError("a contact is listed twice")
    everything = features.all()
    for name, ids in everything.items():
        if sorted(stated.order[name]) != ids:
            raise CertificateError(f"the order of {name} does not name each of them once")
    chosen = chosen_of(certificate, features)
    streams = [iter(stream) for stream in stated.streams]
    prove(checker, features, stated.order, chosen, listed, lambda kind, *_: lambda *_: next(streams[kind], None))
    if any(next(stream, None) is not None for stream in streams):
        raise CertificateError("there are more reasons than pairs of ranges")
    in_all = len(everything["vertices"]) + len(everything["edges"])
    return Verdict(len(listed), sum(map(len, chosen)), in_all, checker.directions, checker.decided)


def read(path: Any, most_bytes: int = MOST_BYTES) -> Any:
    """A certificate from a file, which is not believed to be one."""
    with Path(path).open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise CertificateError(f"the file is larger than {most_bytes} bytes")

    def no(name: str) -> Any:
        raise CertificateError(f"{name} is no number of a certificate")

    try:
        return json.loads(content, parse_constant=no)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"this is no JSON that can be read: {error}") from None
