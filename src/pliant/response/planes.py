"""Plane certificates: for pairs that impulses do not keep apart.

If a direction n separates two features at t = 0 and at t = 1, it separates them all the time: for any two of their
vertices n . (a(t) - b(t)) is linear in t and positive at both ends. So each pair gets a direction that separates it at
x0 and at the *base*, positions to which the way is known to be free (x0 itself, at the least), and a plane across it
at t = 1 with the base on its two sides. Each vertex then has to be in some half-spaces that hold its base: a convex set
of its own. Moving a vertex towards its base never leaves it, so whatever is settled stays settled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import KINDS, VERTEX_FACE
from pliant.arithmetic.vec3 import add, dot, lerp, row, scale, sub
from pliant.response.rows import closest_at
from pliant.results.contacts import Contacts
from pliant.runtime.jit import helper, kernel

SWEEPS = 8  # projections onto all half-spaces of a vertex
MARGIN = 0.499  # of the gap at the base, on either side of a plane, at most
BEYOND = 2.0**-10  # of the margin, by which projections go further than they must: rounding makes no difference then
WORTH = 0.5  # of the best separation at x0 and at the base that a direction may have


class Planes(NamedTuple):
    """Half-spaces, four for each pair: side n . (x - point) >= margin for its vertices."""

    vertices: np.ndarray  # (k, 4) int32
    side: np.ndarray  # (k, 4) +1 or -1
    normal: np.ndarray  # (k, 3); 0 where no direction was found
    point: np.ndarray  # (k, 3)
    margin: np.ndarray  # (k,)


class Ways(NamedTuple):
    """Where vertices start, where the way is known to be free to, and where they are now."""

    x0: np.ndarray
    base: np.ndarray
    x: np.ndarray


class Driven(NamedTuple):
    """What is moved by somebody else: each object in a straight line from x0 to its goal, or a share of that way."""

    of_vertex: np.ndarray  # (n,) int32 driven object of each vertex, -1 for free ones
    goal: np.ndarray  # (n, 3)
    base_shares: np.ndarray  # (d,) at the base


def planes_of(contacts: Contacts, ways: Ways, is_driven: np.ndarray, distance_kept: float) -> Planes:
    """A plane for each pair, where one of its directions separates it at x0 and at the base; else its normal is 0."""
    count = len(contacts)
    side = np.where(contacts.kind[:, None] == VERTEX_FACE, (1.0, -1.0, -1.0, -1.0), (1.0, 1.0, -1.0, -1.0))
    planes = Planes(
        contacts.vertices.copy(), np.ascontiguousarray(side), np.zeros((count, 3)), np.zeros((count, 3)),
        np.zeros(count),
    )  # fmt: skip
    tried = np.stack([_directions(contacts, x) for x in (ways.x0, ways.base)] + [contacts.normal], axis=1)
    _fill_planes(planes, np.ascontiguousarray(tried), ways, is_driven, distance_kept)
    return planes


def _directions(contacts: Contacts, x: np.ndarray) -> np.ndarray:
    """(k, 3) the shortest direction of each pair at x."""
    normal = np.empty((len(contacts), 3))
    for kind in KINDS:
        some = np.flatnonzero(contacts.kind == kind)
        if len(some):
            normal[some] = closest_at(kind, x, contacts.vertices[some])[2]
    return normal


def joined(planes: Planes, more: Planes) -> Planes:
    return Planes(*(np.concatenate(columns) for columns in zip(planes, more, strict=True)))


def no_planes() -> Planes:
    return Planes(
        np.empty((0, 4), np.int32), np.empty((0, 4)), np.empty((0, 3)), np.empty((0, 3)), np.empty(0)
    )  # fmt: skip


def confine(planes: Planes, ways: Ways, is_held: np.ndarray) -> None:
    """Move the vertices among ways.x that are not held, (n,) bool, into their half-spaces."""
    flat = planes.vertices.ravel()
    order = np.argsort(flat, kind="stable").astype(np.int64)
    named, begin = np.unique(flat[order], return_index=True)
    _confine(planes, ways, is_held, named, np.append(begin, len(order)), order)


def lower_shares(planes: Planes, ways: Ways, driven: Driven, shares: np.ndarray) -> None:
    """Lower the shares of driven objects so that their vertices are in their half-spaces; never below the base's."""
    _lower_shares(planes, ways, driven, shares)


@helper
def _height(n, x, v, origin):
    return dot(n, sub(row(x, v), origin))


@helper
def _separation(n, x, planes, k, origin):
    """(lowest of the first feature, highest of the second) along n."""
    low, high = np.inf, -np.inf
    for i in range(4):
        h = _height(n, x, planes.vertices[k, i], origin)
        if planes.side[k, i] > 0.0:
            low = min(low, h)
        else:
            high = max(high, h)
    return low, high


@kernel
def _fill_planes(planes, tried, ways, is_driven, distance_kept):
    for k in range(len(planes.margin)):
        chosen = _choose(planes, tried, ways, k)
        if chosen < 0:
            continue
        n, origin = row(tried[k], chosen), row(ways.base, planes.vertices[k, 0])
        low, high = _separation(n, ways.base, planes, k, origin)
        margin = MARGIN * min(low - high, distance_kept) if distance_kept > 0.0 else 0.25 * (low - high)
        at = _between(planes, n, ways.x, is_driven, k, origin)
        at = min(max(at, high + (1.0 + 2.0 * BEYOND) * margin), low - (1.0 + 2.0 * BEYOND) * margin)
        point = add(origin, scale(n, at))
        if not np.isfinite(point[0] + point[1] + point[2]):
            continue
        for axis in range(3):
            planes.normal[k, axis], planes.point[k, axis] = n[axis], point[axis]
        planes.margin[k] = margin


@helper
def _choose(planes, tried, ways, k):
    """Which direction separates best at x, of those that are worth it at x0 and at the base; -1: none does there."""
    most = 0.0
    for c in range(tried.shape[1]):
        most = max(most, _least(planes, row(tried[k], c), ways, k))
    chosen, found = -1, -np.inf
    for c in range(tried.shape[1]):
        n = row(tried[k], c)
        least = _least(planes, n, ways, k)
        if least > 0.0 and least >= WORTH * most:
            low, high = _separation(n, ways.x, planes, k, row(ways.x, planes.vertices[k, 0]))
            if chosen < 0 or low - high > found:
                chosen, found = c, low - high
    return chosen


@helper
def _least(planes, n, ways, k):
    v = planes.vertices[k, 0]
    low, high = _separation(n, ways.x0, planes, k, row(ways.x0, v))
    low_b, high_b = _separation(n, ways.base, planes, k, row(ways.base, v))
    return min(low - high, low_b - high_b)


@helper
def _between(planes, n, x, is_driven, k, origin):
    """Height of the plane: midway between the two features at x; where driven vertices are on one side, next to it."""
    low, high = _separation(n, x, planes, k, origin)
    driven_low, driven_high = np.inf, -np.inf
    for i in range(4):
        v = planes.vertices[k, i]
        if is_driven[v]:
            h = _height(n, x, v, origin)
            if planes.side[k, i] > 0.0:
                driven_low = min(driven_low, h)
            else:
                driven_high = max(driven_high, h)
    if driven_low < np.inf and driven_high == -np.inf:
        return driven_low
    if driven_high > -np.inf and driven_low == np.inf:
        return driven_high
    return 0.5 * (low + high)


@helper
def _excess(planes, e, y):
    """How far y is inside of half-space e; negative outside."""
    k = e // 4
    return planes.side[k, e % 4] * dot(row(planes.normal, k), sub(y, row(planes.point, k))) - planes.margin[k]


@kernel
def _confine(planes, ways, is_held, named, begin, order):
    for i in range(len(named)):
        v = named[i]
        if is_held[v]:
            continue
        y, base = row(ways.x, v), row(ways.base, v)
        for _ in range(SWEEPS):
            settled = True
            for j in range(begin[i], begin[i + 1]):
                e = order[j]
                missing = -_excess(planes, e, y)
                if missing > 0.0:
                    settled = False
                    missing += BEYOND * planes.margin[e // 4]
                    y = add(y, scale(row(planes.normal, e // 4), planes.side[e // 4, e % 4] * missing))
            if settled:
                break
        y = _cut_back(planes, base, y, order, begin[i], begin[i + 1])
        for axis in range(3):
            ways.x[v, axis] = y[axis]


@helper
def _cut_back(planes, base, y, order, first, end):
    """The point furthest on the way from the base to y that is in all half-spaces; the base itself at the least."""
    for attempt in range(4):
        share = 1.0
        for j in range(first, end):
            share = min(share, _share(_excess(planes, order[j], base), _excess(planes, order[j], y)))
        if share >= 1.0:
            return y
        if not share > 0.0 or attempt == 3:
            return base
        y = lerp(base, y, share * (1.0 - 1e-9))
    return base


@helper
def _share(inside, there):
    """Of the way from a point inside of a half-space to another one, how much is inside; 0 where that is not known."""
    if there >= 0.0:
        return 1.0
    if not inside > 0.0:
        return 0.0
    part = inside / (inside - there)
    return part if part > 0.0 else 0.0


@kernel
def _lower_shares(planes, ways, driven, shares):
    for e in range(4 * len(planes.margin)):
        v = planes.vertices[e // 4, e % 4]
        d = driven.of_vertex[v]
        if d < 0:
            continue
        goal, least = row(driven.goal, v), driven.base_shares[d]
        if not _excess(planes, e, lerp(row(ways.x0, v), goal, shares[d])) >= 0.0:
            part = _share(_excess(planes, e, row(ways.base, v)), _excess(planes, e, goal))
            shares[d] = min(shares[d], least + (1.0 - least) * part * (1.0 - 1e-9))
