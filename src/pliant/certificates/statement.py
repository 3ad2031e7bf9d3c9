"""What a certificate states, and what it is about: nothing here is believed, and nothing is proved.

This module imports nothing but Python's own library; what is proved is in `verifier`.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = 1
MOST_BYTES = 1 << 28
KINDS = ("vertex-face", "edge-edge")
PARTS = ("pliant certificate", "version", "query", "pairs", "inputs", "counts", "contacts", "reasons")
Names = dict[str, list[int]]  # "vertices", "faces", "edges": numbers of features


class CertificateError(ValueError):
    """Why a certificate cannot be checked, or what it says that is not true."""


class DisprovedError(CertificateError):
    """Something that a certificate says is not true."""


class Inputs(NamedTuple):
    """The mesh and its positions, as plain lists."""

    faces: Sequence[Sequence[int]]
    loose_edges: Sequence[Sequence[int]]
    loose_points: Sequence[int]
    x0: Sequence[Sequence[float]]
    x1: Sequence[Sequence[float]]


class Features(NamedTuple):
    """All features as vertices: lists of tuples, in the order of their numbers."""

    vertices: list[tuple[int, ...]]
    faces: list[tuple[int, ...]]
    edges: list[tuple[int, ...]]
    named: list[int]  # vertices that take part, ascending

    def sides(self, kind: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        return (self.vertices, self.faces) if kind == 0 else (self.edges, self.edges)

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


def require_inputs(inputs: Inputs) -> None:
    """Indices of vertices that there are, and finite coordinates."""
    count = len(inputs.x0)
    rows = [*((face, 3) for face in inputs.faces), *((edge, 2) for edge in inputs.loose_edges)]
    rows += [((point,), 1) for point in inputs.loose_points]
    if not all(len(row) == size and all(type(v) is int and 0 <= v < count for v in row) for row, size in rows):
        raise CertificateError("faces, edges and points are indices of vertices that there are")
    points = [*inputs.x0, *inputs.x1]
    are_points = all(len(p) == 3 and all(type(c) is float and isfinite(c) for c in p) for p in points)
    if len(inputs.x1) != count or not are_points:
        raise CertificateError("positions are three finite coordinates, of as many vertices at the start as at the end")


def digests(inputs: Inputs) -> dict[str, Any]:
    """Hashes of the inputs: whole numbers of 8 bytes, doubles, little endian; one row after the other."""

    def digest(kind: str, values: list[Any]) -> str:
        return hashlib.sha256(struct.pack(f"<{len(values)}{kind}", *values)).hexdigest()

    rows = [inputs.faces, inputs.loose_edges, [[v] for v in inputs.loose_points]]
    indices = [len(part) for part in rows] + [v for part in rows for row in part for v in row]
    # 0.0 and -0.0 are one number.
    positions = {name: digest("d", [c + 0.0 for p in getattr(inputs, name) for c in p]) for name in ("x0", "x1")}
    return {"vertices": len(inputs.x0), "mesh": digest("q", indices), **positions}


class Statement(NamedTuple):
    contacts: list[tuple[int, int, int, Fraction, Fraction]]
    order: Names
    streams: list[list[Any]] | None


def part_of(whole: Any, *names: str) -> list[Any]:
    """The parts of an object of JSON, which has these and no others."""
    if not isinstance(whole, dict) or whole.keys() != set(names):
        raise CertificateError(f"a part is missing, or one too many: there should be {', '.join(names)}")
    return [whole[name] for name in names]


def contact_of(row: Any) -> tuple[int, int, int, Fraction, Fraction]:
    is_row = isinstance(row, list) and len(row) == 5 and all(type(i) is int for i in row[:3]) and row[0] in (0, 1)
    if not is_row or not all(type(t) is float and 0 <= t <= 1 for t in row[3:]):
        raise CertificateError("a contact is [kind, feature, feature, toi, toi_upper], times from 0.0 to 1.0")
    return row[0], row[1], row[2], Fraction(row[3]), Fraction(row[4])


def statement_of(certificate: Any, inputs: Inputs) -> Statement:
    """The parts of a certificate, each of which is what it should be, and about these inputs."""
    if not isinstance(certificate, dict) or certificate.get("pliant certificate") != FORMAT:
        raise CertificateError(f"this is no certificate of format {FORMAT}")
    _, version, query, pairs, about, counts, rows, reasons = part_of(certificate, *PARTS)
    if (query, pairs) != ("ccd", "all") or not isinstance(version, str):
        raise CertificateError("certificates are of ccd, and of all pairs, and name a version")
    own = digests(inputs)
    stated = dict(zip(own, part_of(about, *own), strict=True))
    if other := [name for name in own if stated[name] != own[name]]:
        swapped = " (the start is the end)" if (stated["x0"], stated["x1"]) == (own["x1"], own["x0"]) else ""
        raise CertificateError(f"it is about other inputs: not the same {', '.join(other)}{swapped}")
    if not isinstance(rows, list):
        raise CertificateError("contacts are a list")
    contacts = [contact_of(row) for row in rows]
    if any(a[:3] >= b[:3] for a, b in pairwise(contacts)):
        raise CertificateError("contacts are sorted, and each is listed once")
    numbers = [sum(row[0] == kind for row in contacts) for kind in (0, 1)]
    if part_of(counts, *KINDS) != numbers:
        raise CertificateError("it does not list as many contacts as it counts")
    if reasons is None:
        return Statement(contacts, {}, None)
    orders, *streams = part_of(reasons, "order", *KINDS)
    order: Names = {}
    order.update(zip(("vertices", "faces", "edges"), part_of(orders, "vertices", "faces", "edges"), strict=True))
    for ids in order.values():
        if not isinstance(ids, list) or not all(type(i) is int for i in ids):
            raise CertificateError("an order is a list of whole numbers")
    if not all(isinstance(stream, list) for stream in streams):
        raise CertificateError("reasons are lists")
    return Statement(contacts, order, streams)


def read(path: str | Path, most_bytes: int = MOST_BYTES) -> Any:
    """A certificate from a file, which is not believed to be one."""
    with Path(path).open("rb") as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise CertificateError(f"the file is larger than {most_bytes} bytes")
        content = file.read()

    def no(name: str) -> Any:
        raise CertificateError(f"{name} is no number of a certificate")

    def once(parts: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(parts)
        if len(whole) < len(parts):
            raise CertificateError("a part has the name of another one")
        return whole

    try:
        return json.loads(content, parse_constant=no, object_pairs_hook=once)
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"this is no JSON that can be read: {str(error)[:200]}") from None
