"""The first contact of two triangles: the conditions of paper 002, then advancement or the exact test of what is left.

Features are numbered as in ``filters/axes/triangle_features``: 0 .. 5 a vertex against the face of the other
triangle, 6 .. 14 an edge of the first against an edge of the second. Of contacts at the same time the one with the
smallest number is named, so that the answer does not depend on which conditions were used.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import max_norm, row
from pliant.elementary.advance import Approach, advance
from pliant.elementary.certified import MISS
from pliant.elementary.exact import decide
from pliant.elementary.paths import straight_paths
from pliant.filters.axes.triangle_features import CULL_NAMES, cull_pairs
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally

_CORNERS = ((0, 1, 2), (3, 4, 5))
_SIDES = (((0, 1), (1, 2), (2, 0)), ((3, 4), (4, 5), (5, 3)))

# (15, 4) vertices of the pairs of features, of 0 .. 5: v f0 f1 f2 or a0 a1 b0 b1.
QUADS = np.array(
    [(v, *_CORNERS[1 if v < 3 else 0]) for v in range(6)] + [(*e, *f) for e in _SIDES[0] for f in _SIDES[1]], np.int32
)


class Left(NamedTuple):
    """What no condition takes: numbers of pairs of triangles, and which of their 15 pairs of features, as bits."""

    ids: np.ndarray  # int32
    bits: np.ndarray  # int16
    odd: int  # pairs of triangles among them that may not be finite


class Firsts(NamedTuple):
    """First contacts, row by row of the pairs of triangles that are left."""

    toi: np.ndarray
    toi_upper: np.ndarray
    feature: np.ndarray  # int8, -1 where nothing touches
    status: np.ndarray


def _no_firsts(count: int) -> Firsts:
    return Firsts(np.empty(count), np.empty(count), np.full(count, -1, np.int8), np.empty(count, np.int8))


def cull(x0, x1, radii, tolerance: float, which: int, tally: Tally) -> Left:
    """What the conditions leave; tolerance 0 where features have to touch."""
    clock = time.perf_counter()
    ids, bits, culled, odd = cull_pairs(x0, x1, radii, tolerance, which)
    tally.add("triangle pairs", len(x0), int(np.count_nonzero(bits)), time.perf_counter() - clock)
    entering = 15 * len(x0)
    for number, name in enumerate(CULL_NAMES):
        if which >> number & 1:
            tally.add(name, entering, entering - int(culled[number]), 0.0)
            entering -= int(culled[number])
    return Left(ids, bits, odd)


def first_by_advancement(x0, x1, radii, tolerance: float, left: Left, tally: Tally) -> Firsts:
    """Conservative advancement of the pairs of features that are left."""
    clock, scratch, answer = time.perf_counter(), np.empty((2, 6, 3)), _no_firsts(len(left.ids))
    approach = Approach(straight_paths(scratch[0], scratch[1]), np.empty(6), np.empty(6), 1.0)
    count, steps = _advance_triangles(x0, x1, radii, tolerance, left, approach, QUADS, answer)
    hits = int(np.count_nonzero(answer.feature >= 0))
    tally.add("advancement", count, hits, time.perf_counter() - clock)
    tally.add("advancement: steps", steps, steps, 0.0)
    return answer


@kernel
def _advance_triangles(x0, x1, radii, tolerance, left, approach, quads, answer):
    """Returns pairs of features and steps taken."""
    count = steps = 0
    for i in range(len(left.ids)):
        if left.bits[i] == 0:
            continue
        p, first, soonest, how = left.ids[i], -1, 1.0, MISS
        _load(approach, x0, x1, radii, tolerance, p)
        for f in range(15):
            if not left.bits[i] >> f & 1 or soonest == 0.0:
                continue
            q = quads[f, 0], quads[f, 1], quads[f, 2], quads[f, 3]
            # A pair comes as far whatever the horizon is, so the earliest time so far costs nothing but later ones.
            ended, t, taken = advance(VERTEX_FACE if f < 6 else EDGE_EDGE, approach, q, soonest)
            count += 1
            steps += taken
            if ended != MISS and (first < 0 or t < soonest):
                first, soonest, how = f, t, ended
        if first >= 0:
            answer.toi[i] = answer.toi_upper[i] = soonest
            answer.feature[i], answer.status[i] = first, how
    return count, steps


@helper
def _load(approach, x0, x1, radii, tolerance, p):
    """One pair of triangles by itself, near unit size; and its tolerance, relative to the extent of all its points."""
    largest = 0.0
    for c in range(6):
        largest = max(largest, max(max_norm(row(x0[p], c)), max_norm(row(x1[p], c))))
    factor = unit_factor((largest, largest, largest))
    extent = 0.0
    for k in range(3):
        lower, upper = np.inf, -np.inf
        for c in range(6):
            start, end = x0[p, c, k] * factor, x1[p, c, k] * factor
            approach.paths.x0[c, k], approach.paths.x1[c, k] = start, end
            lower, upper = min(lower, min(start, end)), max(upper, max(start, end))
        extent = max(extent, upper - lower)
    for c in range(6):
        approach.radii[c] = radii[p if len(radii) > 1 else 0, c] * factor
        approach.tolerance[c] = tolerance * extent


def first_by_exact_test(x0, x1, left: Left, tally: Tally) -> Firsts:
    """The exact test of the pairs of features that are left."""
    x0, x1, answer = x0[left.ids].reshape(-1, 3), x1[left.ids].reshape(-1, 3), _no_firsts(len(left.ids))
    found = []
    for kind, features in ((VERTEX_FACE, range(6)), (EDGE_EDGE, range(6, 15))):
        pair, feature = np.nonzero(left.bits[:, None] >> np.array(features) & 1)
        feature = feature + features.start
        table, pairs = _as_mesh(kind, QUADS[feature] + 6 * pair[:, None])
        toi, toi_upper, status = np.empty(len(pair)), np.empty(len(pair)), np.empty(len(pair), np.int8)
        decide(kind, x0, x1, table, pairs, toi, toi_upper, status, tally)
        hit = status != MISS
        found.append([a[hit] for a in (toi, toi_upper, feature, status, pair)])
    *columns, pair = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((columns[2], columns[0], pair))
    pair, first = np.unique(pair[order], return_index=True)
    for out, column in zip(answer, columns, strict=True):
        out[pair] = column[order[first]]
    return answer


def _as_mesh(kind: int, quads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Faces or edges, and pairs of features, for pairs with these four vertices."""
    quads, numbers = quads.astype(np.int32), np.arange(2 * len(quads), dtype=np.int32)
    if kind == VERTEX_FACE:
        return quads[:, 1:].copy(), np.column_stack((quads[:, 0], numbers[: len(quads)]))
    return quads.reshape(-1, 2), numbers.reshape(-1, 2)
