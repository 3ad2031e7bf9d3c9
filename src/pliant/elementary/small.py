"""The contacts among the pairs of a small mesh: one call for filters and the test in doubles, one for the table.

What doubles cannot decide is listed, for integers to decide. Memory is given from outside: it is kept from query to
query, and arrays that nobody makes or counts cost nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import in_range
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE, quad
from pliant.arithmetic.rounding import POSITION_ERROR
from pliant.arithmetic.vec3 import max_norm, row
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.elementary.exact import LEEWAY, decided, note_tiers
from pliant.elementary.measure import gap_at
from pliant.elementary.witness import witness_of
from pliant.filters.axes.features import apart_by_centres
from pliant.filters.sieve import apart_by_dnf, motion_until
from pliant.pairs.order import in_order
from pliant.runtime.jit import bare_kernel, helper, kernel, one_copy
from pliant.runtime.tally import Tally

BACK = 2.0**-36  # positions before a contact stay back by this part of the step
NUMBERS, IDS = 10, 6  # of a contact: toi, toi_upper, gap, weights, normal; elements, vertices


class Found(NamedTuple):
    """Memory for what is found; rows are kind and the two ids."""

    hits: np.ndarray  # (k, 3) int32; where only the first contact is wanted, one row
    times: np.ndarray  # (k, 2) toi, toi_upper
    unsure: np.ndarray  # (k, 3) int32
    near: np.ndarray  # (k, 3) int32, what no filter could discard, where only the first contact is wanted


class Counts(NamedTuple):
    """What became of the pairs."""

    after_dnf: int
    after_csat: int
    hits: int
    tightened: int
    unsure: int
    kept: int  # hits in the list
    is_free: bool  # the motion to the positions before the first

    def note(self, pairs: int, seconds: float, tally: Tally) -> None:
        """In the stages of the result. One call has one time, which is noted where it begins."""
        if pairs:
            tally.add("dnf", pairs, self.after_dnf, seconds)
        if self.after_dnf:
            tally.add("csat", self.after_dnf, self.after_csat, 0.0)
        if self.after_csat:
            note_tiers(self.after_csat, self.hits, self.tightened, self.unsure, 0.0, tally)
        if self.is_free:
            tally.add("verification", self.after_csat, 0, 0.0)


def space_for_found(count: int) -> Found:
    return Found(
        np.empty((count, 3), np.int32), np.empty((count, 2)), np.empty((count, 3), np.int32),
        np.empty((count, 3), np.int32),
    )  # fmt: skip


@bare_kernel
def find_contacts(x0, x1, features, pairs, vf, count, first, found, positions):
    """Contacts among pairs of features, vf of a vertex and a face and then those of two edges, during a motion on
    straight paths; in any order, as far as doubles decide. Returns Counts.

    first: only the earliest contact is wanted, of several the first in canonical order, and positions just before it
    (``engine/verified.py`` says why they are free of contact), where doubles can decide that. found: has as many rows
    as there are pairs.
    """
    position_error = POSITION_ERROR * _largest(x0, x1, features[0]) if first else 0.0
    after_dnf = after_csat = hits = tightened = unsure = kept = 0
    horizon = earliest = 1.0
    for p in range(count):
        kind = VERTEX_FACE if p < vf else EDGE_EDGE
        table, a, b = features[1] if p < vf else features[2], pairs[p, 0], pairs[p, 1]
        passed = _passed(kind, x0, x1, quad(kind, table, a, b), horizon, position_error)
        after_dnf += passed > 0
        if passed < 2:
            continue
        if first:
            _note(found.near, after_csat, kind, a, b)
        after_csat += 1
        answer, lower, upper, by_double_doubles = _decided(kind, x0, x1, quad(kind, table, a, b))
        tightened += by_double_doubles
        if answer == UNSURE:
            _note(found.unsure, unsure, kind, a, b)
            unsure += 1
        if answer != HIT:
            continue
        hits += 1
        if first:
            if kept and (lower > earliest or (lower == earliest and _is_before(found.hits, kind, a, b))):
                continue
            earliest, horizon, kept = lower, min(1.0, lower + LEEWAY), 0
        _note(found.hits, kept, kind, a, b)
        found.times[kept, 0], found.times[kept, 1] = lower, upper
        kept += 1
    is_free = first and kept > 0 and unsure == 0 and earliest > 0.0
    if is_free:
        for v in range(len(x0)):
            _go_on_to(x0, x1, v, earliest * (1.0 - BACK), positions)
        is_free = _are_apart(x0, positions, features, found.near, after_csat)
    return after_dnf, after_csat, hits, tightened, unsure, kept, is_free


@helper
def _are_apart(x0, x1, features, near, count):
    """None of these pairs, rows of kind and ids, meets during a motion."""
    for p in range(count):
        kind = EDGE_EDGE if near[p, 0] == EDGE_EDGE else VERTEX_FACE  # of one type, or all is compiled twice
        table = features[2] if kind == EDGE_EDGE else features[1]
        if _decided(kind, x0, x1, quad(kind, table, near[p, 1], near[p, 2]))[0] != MISS:
            return False
    return True


@helper
def _note(rows, count, kind, a, b):
    rows[count, 0], rows[count, 1], rows[count, 2] = kind, a, b


@helper
def _is_before(rows, kind, a, b):
    """The first row comes before another one."""
    if rows[0, 0] != kind:
        return rows[0, 0] < kind
    return rows[0, 1] < a or (rows[0, 1] == a and rows[0, 2] < b)


@helper
def _largest(x0, x1, vertices):
    """Coordinate; at least so much that a rounding error of the denormals is a small part of its rounding error too."""
    largest = 1e-300
    for i in range(len(vertices)):
        largest = max(largest, max(max_norm(row(x0, vertices[i, 0])), max_norm(row(x1, vertices[i, 0]))))
    return largest


@helper
def _passed(kind, x0, x1, q, horizon, position_error):
    """How many of the filters "dnf" and "csat", one after the other, could not discard a pair."""
    one_copy()
    start, end, m, factor, relative_error = motion_until(kind, x0, x1, q, horizon)
    if not in_range(m):
        return 2
    if apart_by_dnf(start, end, m, relative_error, position_error * factor):
        return 0
    return 1 if apart_by_centres(kind, start, end, m, relative_error, position_error * factor, 0.0) else 2


@helper
def _decided(kind, x0, x1, q):
    one_copy()
    return decided(kind, x0, x1, q)


@kernel
def fill_contacts(x0, x1, tables, hits, times, count, numbers, ids):
    """The columns of a table of so many contacts in canonical order, one after the other; returns how many are of a
    vertex and a face.

    numbers : (NUMBERS * count,) toi, toi_upper, gap, weights, normal; ids : (IDS * count,) elements, vertices
    """
    order, split = in_order(hits, count, 1 + max(len(x0), max(len(tables[0]), len(tables[1])))), 0
    for i in range(count):
        kind, a, b = hits[order[i], 0], hits[order[i], 1], hits[order[i], 2]
        q = quad(kind, tables[0], a, b) if kind == VERTEX_FACE else quad(kind, tables[1], a, b)
        split += kind == VERTEX_FACE
        toi = times[order[i], 0]
        weights, normal = witness_of(kind, x0, x1, q, toi)
        numbers[i], numbers[count + i], numbers[2 * count + i] = toi, times[order[i], 1], gap_at(kind, x0, q)
        ids[2 * i], ids[2 * i + 1] = a, b
        for k in range(4):
            numbers[3 * count + 4 * i + k] = weights[k]
            ids[2 * count + 4 * i + k] = q[k]
        for k in range(3):
            numbers[7 * count + 3 * i + k] = normal[k]
    return split


@kernel
def go_on_to(x0, x1, times, positions):
    """Each vertex at its own time, (n,), rounded; what rests stays where it is to the bit."""
    for v in range(len(x0)):
        _go_on_to(x0, x1, v, times[v], positions)


@helper
def _go_on_to(x0, x1, v, t, positions):
    for k in range(3):
        start, end = x0[v, k], x1[v, k]
        positions[v, k] = start
        if start != end:
            between = (1.0 - t) * start + t * end
            positions[v, k] = min(max(between, min(start, end)), max(start, end))
