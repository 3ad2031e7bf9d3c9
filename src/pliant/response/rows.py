"""Constraint rows: what two features that come close must keep between them, n . (w @ x) >= target.

A row is made where it holds at x0, so that there is always a way to meet all of them, and meeting them does no work
that the motion has not done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.arithmetic.vec3 import add, dot, row, scale, sub
from pliant.elementary.measure import closest_points
from pliant.results.contacts import Contacts
from pliant.results.proximity import Proximity
from pliant.runtime.jit import helper, kernel

# Of the squares of weights, that free vertices must have: next to driven ones, the tiny weight of a free vertex is a
# long lever that would throw it far away. Planes keep such pairs apart.
LEAST_FREE = 0.01
LEAST_PART = 0.5  # of the gap at x0 that a normal at the time of contact must separate at x0, too


class Aim(NamedTuple):
    """How far pairs are kept apart."""

    thickness: float
    distance_kept: float  # a pair with a smaller gap comes no nearer
    restitution: float


class Rows(NamedTuple):
    """Constraint rows, and what they have pushed so far."""

    source: np.ndarray  # (k,) int32 row of the table that it comes from
    vertices: np.ndarray  # (k, 4) int32
    weights: np.ndarray  # (k, 4); 0 at the second mention of a vertex
    normal: np.ndarray  # (k, 3)
    start: np.ndarray  # (k, 3) w @ x0
    target: np.ndarray  # (k,)
    friction: np.ndarray  # (k,) coefficient
    mass: np.ndarray  # (k,) multiplier that changes the gap by 1; 0 where nothing can move
    push: np.ndarray  # (k,) multiplier along the normal, mass times length
    drag: np.ndarray  # (k, 3) multiplier of friction, across the normal


class Ends(NamedTuple):
    """A motion that is proposed, and how readily vertices move."""

    x0: np.ndarray
    x1: np.ndarray
    inverse_mass: np.ndarray
    friction: np.ndarray  # (n,) coefficients: those of what is driven count, where a pair has any; the largest of them


def rows_of_near(near: Proximity, chosen: np.ndarray, ends: Ends, aim: Aim) -> Rows:
    """A row for each chosen row of the pairs that are near at x0, along its shortest distance."""
    columns = near.vertices[chosen], near.weights[chosen], near.normal[chosen]
    return _rows(*columns, ends, aim._replace(restitution=0.0))


def rows_of_contacts(contacts: Contacts, ends: Ends, aim: Aim) -> Rows:
    """A row for each contact, with its normal; with the shortest direction at x0 where that does not separate the pair
    there by half of its gap."""
    weights, normal = contacts.weights.copy(), contacts.normal.copy()
    start = np.einsum("ki,kij->kj", weights, ends.x0[contacts.vertices])
    with np.errstate(over="ignore", invalid="ignore"):
        kept = np.einsum("kj,kj->k", start, normal)
    weak = ~(kept >= LEAST_PART * contacts.gap)
    for kind in KINDS:
        some = np.flatnonzero(weak & (contacts.kind == kind))
        if len(some):
            _, weights[some], normal[some] = closest_at(kind, ends.x0, contacts.vertices[some])
    return _rows(contacts.vertices, weights, normal, ends, aim)


def closest_at(kind: int, x: np.ndarray, quads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """distance (k,), weights (k, 4) and normal (k, 3) of pairs with vertices quads (k, 4); 0 where they touch."""
    count = len(quads)
    distance, weights, normal = np.empty(count), np.empty((count, 4)), np.empty((count, 3))
    closest_points(kind, x[quads], distance, weights, normal)
    return distance, weights, normal


def _rows(vertices: np.ndarray, weights: np.ndarray, normal: np.ndarray, ends: Ends, aim: Aim) -> Rows:
    count = len(vertices)
    rows = Rows(
        np.arange(count, dtype=np.int32), np.array(vertices), np.array(weights), np.array(normal),
        np.empty((count, 3)), np.empty(count), np.empty(count), np.empty(count), np.zeros(count), np.zeros((count, 3)),
    )  # fmt: skip
    _fill_rows(rows, ends, aim)
    return rows


def joined(rows: Rows, more: Rows, source: int) -> Rows:
    """One after the other; the sources of the second begin with a number."""
    more = more._replace(source=more.source + np.int32(source))
    return Rows(*(np.concatenate(columns) for columns in zip(rows, more, strict=True)))


def selected(rows: Rows, which: np.ndarray) -> Rows:
    return Rows(*(column[which] for column in rows))


@helper
def relative(vertices, weights, k, x):
    """w @ x of row k."""
    r = scale(row(x, vertices[k, 0]), weights[k, 0])
    r = add(r, scale(row(x, vertices[k, 1]), weights[k, 1]))
    r = add(r, scale(row(x, vertices[k, 2]), weights[k, 2]))
    return add(r, scale(row(x, vertices[k, 3]), weights[k, 3]))


@kernel
def _fill_rows(rows, ends, aim):
    """Start, target, friction and mass of all rows."""
    for k in range(len(rows.target)):
        for i in range(3):
            for j in range(i + 1, 4):
                if rows.vertices[k, i] == rows.vertices[k, j]:  # of a degenerate face
                    rows.weights[k, i] += rows.weights[k, j]
                    rows.weights[k, j] = 0.0
        total, free, all_weights = 0.0, 0.0, 0.0
        of_free, of_driven = 0.0, -1.0
        for i in range(4):
            coefficient = ends.friction[rows.vertices[k, i]]
            if ends.inverse_mass[rows.vertices[k, i]] > 0.0:
                of_free = max(of_free, coefficient)
            else:
                of_driven = max(of_driven, coefficient)
            square = rows.weights[k, i] * rows.weights[k, i]
            total += square * ends.inverse_mass[rows.vertices[k, i]]
            all_weights += square
            free += square if ends.inverse_mass[rows.vertices[k, i]] > 0.0 else 0.0
        n = row(rows.normal, k)
        start = relative(rows.vertices, rows.weights, k, ends.x0)
        gap = dot(n, start)
        target = max(min(gap, aim.distance_kept), min(aim.thickness, 0.5 * gap))
        if aim.restitution > 0.0:
            approach = dot(n, sub(relative(rows.vertices, rows.weights, k, ends.x1), start))
            if approach < 0.0 and gap + approach < target:
                target = max(target, gap - aim.restitution * approach)
        rows.start[k, 0], rows.start[k, 1], rows.start[k, 2] = start
        rows.target[k], rows.friction[k] = target, of_free if of_driven < 0.0 else of_driven
        usable = gap > 0.0 and total > 0.0 and np.isfinite(target) and np.isfinite(1.0 / total)
        usable = usable and free >= LEAST_FREE * all_weights
        rows.mass[k] = 1.0 / total if usable else 0.0
