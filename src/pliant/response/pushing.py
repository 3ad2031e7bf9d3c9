"""The table of contacts that pushed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.mesh.tested import TestedMesh
from pliant.response.rows import Rows, selected
from pliant.results.contacts import STATUS, Contacts
from pliant.results.proximity import Proximity

AT_THE_START = STATUS.index("at the start")


class Source(NamedTuple):
    """What rows were made of; size : how many; contacts : some of them, by their numbers"""

    size: int
    contacts: Callable[[np.ndarray], Contacts]


def as_contacts(near: Proximity, tested: TestedMesh) -> Contacts:
    """Pairs that are near at x0, as contacts that begin there.

    tested : what the pairs are of
    """
    count = len(near)
    elements, cells, inversion = np.empty((count, 2), np.int32), np.empty((count, 2), np.int32), np.empty(count, bool)
    for kind in KINDS:
        rows = np.flatnonzero(near.kind == kind)
        elements[rows], cells[rows], inversion[rows] = tested.sides(kind, near.elements[rows])
    zero, status = np.zeros(count), np.full(count, AT_THE_START, np.int8)
    return Contacts(
        near.kind, elements, near.vertices, zero, zero, near.weights, near.normal, near.distance, status, cells,
        inversion,
    )  # fmt: skip


def pushing(sources: list[Source], rows: Rows | None) -> tuple[Contacts, np.ndarray]:
    """The contacts whose rows pushed, in canonical order, and what they did to their first features (k, 3).

    sources : that the rows were made of, one after the other
    """
    pushed = np.empty(0, np.int64) if rows is None else np.flatnonzero(rows.push > 0.0)
    if rows is None or not len(pushed):
        return NO_CONTACTS, np.empty((0, 3))
    rows, tables, first = selected(rows, pushed), [], 0
    for source in sources:  # numbers of rows ascend
        begin, end = np.searchsorted(rows.source, (first, first + source.size))
        tables.append(source.contacts(rows.source[begin:end] - first))
        first += source.size

    def of_rows(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])

    kind, elements = of_rows("kind"), of_rows("elements")
    contacts = Contacts(
        kind, elements, of_rows("vertices"), of_rows("toi"), of_rows("toi_upper"), rows.weights, rows.normal,
        of_rows("gap"), of_rows("status"), of_rows("cells"), of_rows("inversion"),
    )  # fmt: skip
    order = np.lexsort((elements[:, 1], elements[:, 0], kind))
    return contacts[order], (rows.push[:, None] * rows.normal + rows.drag)[order]


def _no_contacts() -> Contacts:
    ints, floats = np.empty(0, np.int8), np.empty(0)
    pairs, four = np.empty((0, 2), np.int32), np.empty((0, 4), np.int32)
    weights, normal = np.empty((0, 4)), np.empty((0, 3))
    return Contacts(ints, pairs, four, floats, floats, weights, normal, floats, ints, pairs, np.empty(0, bool))


NO_CONTACTS = _no_contacts()
