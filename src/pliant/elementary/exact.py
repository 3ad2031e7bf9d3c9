"""The exact elementary test, tier by tier: certified doubles, double-doubles for the time, integers for the rest."""

from __future__ import annotations

import time

import numpy as np

from pliant.arithmetic.bernstein import in_range, magnitudes, scaled, unit_factor, vectors
from pliant.arithmetic.double_double import tighten
from pliant.arithmetic.kinds import VERTEX_FACE, quad
from pliant.elementary.certified import HIT, MISS, UNSURE, first_contact, no_root_before
from pliant.filters.axes.features import apart_though_flat
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally

WIDEST = 1e-12  # promise: toi_upper - toi
# A contact that looks later than the best so far by less may still have the smaller toi.
LEEWAY = 2.0 * WIDEST


@kernel
def decide_in_doubles(kind, x0, x1, table, pairs, count, toi, toi_upper, status):
    """First time of contact of rows 0 .. count - 1 of pairs; returns how many hit, were settled by double-doubles,
    are UNSURE."""
    hits = tightened = unsure = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        answer, lower, upper, was_tightened = decided(kind, x0, x1, q)
        hits += answer == HIT
        tightened += was_tightened
        unsure += answer == UNSURE
        status[p] = answer
        toi[p], toi_upper[p] = lower, upper
    return hits, tightened, unsure


@helper
def decided(kind, x0, x1, q):
    """(HIT | MISS | UNSURE, toi, toi_upper, whether by double-doubles) of the pair of features with vertices q."""
    start, end = vectors(kind, x0, q), vectors(kind, x1, q)
    # Each pair by itself, so that its time does not depend on what else is in the scene.
    factor = unit_factor(magnitudes(start, end))
    start, end = scaled(start, factor), scaled(end, factor)
    m = magnitudes(start, end)
    if not in_range(m):
        return UNSURE, 0.0, 0.0, False
    answer, lower, upper = first_contact(kind, start, end, m)
    tightened = False
    if answer == HIT and upper - lower > WIDEST:
        lower, upper = tighten(kind, x0, x1, q, factor, m, (lower, upper))
        if lower < 0.0:
            answer = UNSURE
        else:
            tightened = True
    if answer == HIT and lower == 0.0:  # rounded outwards: f has a sign at t = 0
        lower = min(no_root_before(start, end, m), upper)
        if lower == 0.0:
            answer = UNSURE
    if answer == UNSURE and apart_though_flat(kind, start, end, m):
        answer = MISS
    return answer, lower, upper, tightened


def quads_of(kind: int, table: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k, 4) vertices of feature pairs: v f0 f1 f2 or a0 a1 b0 b1."""
    if kind == VERTEX_FACE:
        return np.column_stack((pairs[:, 0], table[pairs[:, 1]]))
    return np.column_stack((table[pairs[:, 0]], table[pairs[:, 1]]))


def decide(kind, x0, x1, table, pairs, toi, toi_upper, status, tally: Tally) -> int:
    """The exact test on a block of feature pairs, in place, tier after tier: status HIT or MISS; returns the hits."""
    hits, unsure = decide_if_easy(kind, x0, x1, table, pairs, toi, toi_upper, status, tally)
    if unsure:
        undecided = np.flatnonzero(status == UNSURE)
        lower, upper = np.empty(unsure), np.empty(unsure)
        settled = np.empty(unsure, np.int8)
        hits += decide_if_hard(kind, x0, x1, table, pairs[undecided], lower, upper, settled, tally)
        toi[undecided], toi_upper[undecided], status[undecided] = lower, upper, settled
    return hits


def decide_if_easy(kind, x0, x1, table, pairs, toi, toi_upper, status, tally: Tally) -> tuple[int, int]:
    """In floating point: status HIT, MISS or UNSURE; returns how many hit and how many are unsure."""
    count, clock = len(pairs), time.perf_counter()
    hits, tightened, unsure = decide_in_doubles(kind, x0, x1, table, pairs, count, toi, toi_upper, status)
    note_tiers(count, hits, tightened, unsure, time.perf_counter() - clock, tally)
    return hits, unsure


def note_tiers(count: int, hits: int, tightened: int, unsure: int, seconds: float, tally: Tally) -> None:
    """In the stages of a result: what floating point made of so many pairs."""
    tally.add("exact", count, hits, seconds)
    tally.add("exact: doubles", count, count - tightened - unsure, seconds)
    tally.add("exact: double-doubles", tightened + unsure, tightened, 0.0)


def decide_if_hard(kind, x0, x1, table, pairs, toi, toi_upper, status, tally: Tally) -> int:
    """In integers, for pairs that are UNSURE in floating point; returns how many hit. Compiled when first needed."""
    from pliant.elementary.exact_integers import NO_TIME, decide_in_integers

    clock, quads, done = time.perf_counter(), quads_of(kind, table, pairs), 0
    while done < len(pairs):
        done = decide_in_integers(kind, x0, x1, quads, done, toi, toi_upper)
    status[:] = np.where(toi < NO_TIME, HIT, MISS)
    hits = int(np.count_nonzero(status == HIT))
    seconds = time.perf_counter() - clock
    tally.add("exact", 0, hits, seconds)
    tally.add("exact: integers", len(pairs), len(pairs), seconds)
    return hits
