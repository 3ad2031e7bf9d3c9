"""Distances of pairs of features at an instant, for arrays of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE, quad
from pliant.arithmetic.vec3 import add, dot, max_norm, row, scale, sub
from pliant.elementary.distance import shortest, shortest_level, spread_of
from pliant.elementary.paths import Paths, position
from pliant.runtime.jit import helper, in_line, kernel

_NO_RADII = (0.0, 0.0, 0.0, 0.0)


class Closest(NamedTuple):
    """Where features are closest, row by row: to be filled in."""

    distance: np.ndarray  # (k,)
    weights: np.ndarray  # (k, 4)
    normal: np.ndarray  # (k, 3), 0 where the features touch


class Near(NamedTuple):
    """Pairs of features at rest, row by row: to be filled in."""

    elements: np.ndarray  # (k, 2) int32
    vertices: np.ndarray  # (k, 4) int32
    distance: np.ndarray  # (k,)
    points: np.ndarray  # (k, 2, 3) the closest point of either feature
    weights: np.ndarray  # (k, 4)
    normal: np.ndarray  # (k, 3), 0 where the features touch


class Encounter(NamedTuple):
    """Contacts of features with radii, row by row."""

    x0: np.ndarray  # (n, 3) where the distance at the start is taken
    paths: Paths
    radii: np.ndarray  # (n,)
    quads: np.ndarray  # (k, 4)
    split: int  # rows before are of a vertex and a face, the others of two edges
    toi: np.ndarray  # (k,)
    from_start: bool  # the paths start at x0


def empty_closest(count: int) -> Closest:
    return Closest(np.empty(count), np.empty((count, 4)), np.empty((count, 3)))


def empty_near(count: int) -> Near:
    return Near(
        np.empty((count, 2), np.int32), np.empty((count, 4), np.int32), np.empty(count),
        np.empty((count, 2, 3)), np.empty((count, 4)), np.empty((count, 3)),
    )  # fmt: skip


@kernel
def closest_points(kind, points, distance, weights, normal):
    """distance (k,), weights (k, 4) and normal (k, 3) where features are closest; points (k, 4, 3).

    The normal is 0 where the features touch.
    """
    for p in range(len(points)):
        q = row(points[p], 0), row(points[p], 1), row(points[p], 2), row(points[p], 3)
        s, t, r, length, factor = _measured(kind, q, (0.0, 0.0, 0.0, 0.0))
        distance[p] = length / factor
        _note(kind, weights, normal, p, s, t, r, length)


@kernel
def measure_in_doubles(kind, x, table, pairs, count, within):
    """Keep the pairs (rows 0 .. count - 1) that are within a distance, in place and in order; returns how many."""
    kept = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        _, _, _, length, factor = _measured_level(kind, _rows(x, q))
        if length / factor <= within:
            pairs[kept, 0], pairs[kept, 1] = pairs[p, 0], pairs[p, 1]
            kept += 1
    return kept


@kernel
def measure_gaps(x, quads, split, distance, begin, end):
    """Fill in the distance (k,) of pairs with vertices quads (k, 4), rows begin .. end; from split on, of two edges."""
    for p in range(begin, end):
        q = quads[p, 0], quads[p, 1], quads[p, 2], quads[p, 3]
        distance[p] = gap_at(VERTEX_FACE if p < split else EDGE_EDGE, x, q)


@helper
def gap_at(kind, x, q):
    """Distance of the features with vertices q."""
    _, _, _, length, factor = _measured_level(kind, _rows(x, q))
    return length / factor


@kernel
def measure_at_rest(kind, x, table, pairs, order, out, begin, end):
    """Fill in rows begin .. end of out, each for the pair that the order says; returns how many touch."""
    touching = 0
    for p in range(begin, end):
        i, j = pairs[order[p], 0], pairs[order[p], 1]
        vertices = quad(kind, table, i, j)
        q = _rows(x, vertices)
        s, t, r, length, factor = _measured_level(kind, q)
        touching += not length > 0.0
        out.elements[p, 0], out.elements[p, 1] = i, j
        for k in range(4):
            out.vertices[p, k] = vertices[k]
        out.distance[p] = length / factor
        first, second = _sides(kind, q, _note(kind, out.weights, out.normal, p, s, t, r, length))
        for k in range(3):
            out.points[p, 0, k], out.points[p, 1, k] = first[k], second[k]
    return touching


@kernel
def measure_contacts(encounter, out, begin, end):
    """Fill in rows begin .. end of out: weights and normal at the time of contact, where the gap is least, and the
    distance at the start; returns how many have no normal."""
    quads, radii, paths, touching = encounter.quads, encounter.radii, encounter.paths, 0
    for p in range(begin, end):
        kind = VERTEX_FACE if p < encounter.split else EDGE_EDGE
        q, t = (quads[p, 0], quads[p, 1], quads[p, 2], quads[p, 3]), encounter.toi[p]
        u, v, r, length, factor = _measured_level(kind, _rows(encounter.x0, q))
        out.distance[p] = length / factor
        r0, r1, r2, r3 = radii[q[0]], radii[q[1]], radii[q[2]], radii[q[3]]
        level = (r1 == r2 and r1 == r3) if kind == VERTEX_FACE else (r0 == r1 and r2 == r3)
        if not (level and t == 0.0 and encounter.from_start):  # or the closest points are those at the start
            now = position(paths, q[0], t), position(paths, q[1], t), position(paths, q[2], t), position(paths, q[3], t)
            u, v, r, length, _ = _measured(kind, now, (r0, r1, r2, r3))
        touching += not length > 0.0
        _note(kind, out.weights, out.normal, p, u, v, r, length)
    return touching


@helper
def _rows(x, q):
    return row(x, q[0]), row(x, q[1]), row(x, q[2]), row(x, q[3])


@helper
def _note(kind, weights, normal, p, s, t, r, length):
    """Write row p; returns the weights."""
    n = (r[0] / length, r[1] / length, r[2] / length) if length > 0.0 else (0.0, 0.0, 0.0)
    w = (1.0, min(0.0, s + t - 1.0), 0.0 - s, 0.0 - t) if kind == VERTEX_FACE else (1.0 - s, s, t - 1.0, 0.0 - t)
    normal[p, 0], normal[p, 1], normal[p, 2] = n
    weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = w
    return w


@helper
def _sides(kind, p, w):
    """The weighted point on either feature."""
    if kind == VERTEX_FACE:
        return p[0], add(add(scale(p[1], -w[1]), scale(p[2], -w[2])), scale(p[3], -w[3]))
    return add(scale(p[0], w[0]), scale(p[1], w[1])), add(scale(p[2], -w[2]), scale(p[3], -w[3]))


@helper
def _measured(kind, p, radii):
    """(s, t, r, |r|, factor): what is closest, in units of 1 / factor: a power of two, by the size of the pair."""
    in_line()
    p, factor = _near_unit_size(p)
    radii = radii[0] * factor, radii[1] * factor, radii[2] * factor, radii[3] * factor
    s, t, _, r, _ = shortest(kind, spread_of(kind, p, radii))
    return s, t, r, np.sqrt(dot(r, r)), factor


@helper
def _measured_level(kind, p):
    """The same without radii: half of the code, which every first query compiles."""
    in_line()
    p, factor = _near_unit_size(p)
    spread = spread_of(kind, p, _NO_RADII)
    s, t, _, r = shortest_level(kind, spread.w, spread.a, spread.b)
    return s, t, r, np.sqrt(dot(r, r)), factor


@helper
def _near_unit_size(p):
    """The pair times a factor; by 1 where that does as well: a power of two changes no bit, but takes 40 ns to find."""
    in_line()
    m, factor = _extent(p), 1.0
    if not (m > 1e-30 and m < 1e30):
        p = scale(p[0], 0.25), scale(p[1], 0.25), scale(p[2], 0.25), scale(p[3], 0.25)  # differences cannot overflow
        m = _extent(p)
        unit = unit_factor((m, m, m))
        p = scale(p[0], unit), scale(p[1], unit), scale(p[2], unit), scale(p[3], unit)
        factor = 0.25 * unit
    return p, factor


@helper
def _extent(p):
    return max(max_norm(sub(p[1], p[0])), max(max_norm(sub(p[2], p[0])), max_norm(sub(p[3], p[0]))))
