"""Where features touch: weights and normal at the time of contact, to rounding.

The normal points from the second feature towards the first, as they come: against the first one's velocity relative to
the second at the point of contact. Where that says nothing, the side on which they start decides.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.bernstein import magnitudes, restrict, scaled, unit_factor, vectors
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, scale, sub
from pliant.elementary.advance import Approach
from pliant.elementary.measure import (
    Closest,
    Encounter,
    Near,
    closest_points,
    empty_closest,
    measure_at_rest,
    measure_contacts,
    measure_gaps,
)
from pliant.pairs.order import canonical_order
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

_PARALLEL = 1e-20  # |n|^2 against |e1|^2 |e2|^2 below which weights from n would have no correct digit

_NOISY = 1e-12  # a gap at toi, relative to the pair, that says that n is mostly rounding: look along the sides instead


def points_of_contact(
    kind: int, x0: np.ndarray, x1: np.ndarray, approach: Approach | None, quads: np.ndarray, toi: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """weights (k, 4), normal (k, 3) at the time of contact, and gap (k,), the distance at the start."""
    out = empty_closest(len(quads))
    note_contacts((x0, x1), approach, quads, _split(kind, quads), toi, out)
    return out.weights, out.normal, out.distance


def note_contacts(
    motion: tuple[np.ndarray, np.ndarray], approach: Approach | None, quads: np.ndarray, split: int, toi: np.ndarray,
    out: Closest, pool: ThreadPool = SERIAL,
) -> None:  # fmt: skip
    """Fill in weights and normal at the time of contact, and the distance at the start.

    split: rows before it are of a vertex and a face, the others of two edges
    """
    x0, x1 = motion
    if approach is None:
        pool.run_range(lambda a, b: measure_gaps(x0, quads, split, out.distance, a, b), len(quads))
        pool.run_range(
            lambda a, b: find_witnesses(x0, x1, quads, split, toi, out.weights, out.normal, a, b), len(quads)
        )
        return
    touching: list[int] = []
    encounter = Encounter(x0, approach.paths, approach.radii, quads, split, toi, x0 is approach.paths.x0)
    pool.run_range(lambda a, b: touching.append(measure_contacts(encounter, out, a, b)), len(quads))
    if any(touching):
        rows = np.flatnonzero(~out.normal.any(axis=1))
        some, count = quads[rows], len(rows)
        weights, normals, before = np.empty((count, 4)), np.empty((count, 3)), int(np.searchsorted(rows, split))
        find_witnesses(x0, x1, some, before, toi[rows], weights, normals, 0, count)
        out.weights[rows], out.normal[rows] = weights, normals


def _split(kind: int, quads: np.ndarray) -> int:
    """Where all rows are of one kind."""
    return len(quads) if kind == VERTEX_FACE else 0


def fill_near(kind: int, x: np.ndarray, table: np.ndarray, pairs: np.ndarray, near: Near, pool: ThreadPool) -> None:
    """Fill in a table of pairs of features at x, (k, 2), in canonical order; table: the mesh's faces or its edges.

    The normal of features that touch is any unit vector that separates them.
    """
    order, touching = canonical_order(pairs), list[int]()
    pool.run_range(lambda a, b: touching.append(measure_at_rest(kind, x, table, pairs, order, near, a, b)), len(pairs))
    if any(touching):
        rows = np.flatnonzero(~near.normal.any(axis=1))
        near.normal[rows] = witness(kind, x, x, near.vertices[rows], np.zeros(len(rows)))[1]


def distance_at_rest(kind: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """distance (k,), weights (k, 4), normal (k, 3) of pairs with their vertices at points, (k, 4, 3).

    The normal of features that touch is any unit vector that separates them.
    """
    count = len(points)
    distance, weights, normal = np.empty(count), np.empty((count, 4)), np.empty((count, 3))
    closest_points(kind, points, distance, weights, normal)
    touching = np.flatnonzero(~normal.any(axis=1))
    if len(touching):
        x, quads = points[touching].reshape(-1, 3), np.arange(4 * len(touching), dtype=np.int32).reshape(-1, 4)
        normal[touching] = witness(kind, x, x, quads, np.zeros(len(touching)))[1]
    return distance, weights, normal


def sides_of(kind: int, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(k, 2, 3) the weighted point on either feature; points (k, 4, 3), weights (k, 4)."""
    split = 1 if kind == VERTEX_FACE else 2
    first = np.einsum("ki,kij->kj", weights[:, :split], points[:, :split])
    second = np.einsum("ki,kij->kj", -weights[:, split:], points[:, split:])
    return np.stack((first, second), axis=1)


def witness(
    kind: int, x0: np.ndarray, x1: np.ndarray, quads: np.ndarray, toi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """weights (k, 4) and unit normals (k, 3) of contacts with vertices quads (k, 4) at times toi (k,)."""
    weights, normals = np.empty((len(quads), 4)), np.empty((len(quads), 3))
    find_witnesses(x0, x1, quads, _split(kind, quads), toi, weights, normals, 0, len(quads))
    return weights, normals


@kernel
def find_witnesses(x0, x1, quads, split, toi, weights, normals, begin, end):
    """Rows begin .. end; from split on, of two edges."""
    for i in range(begin, end):
        q = quads[i, 0], quads[i, 1], quads[i, 2], quads[i, 3]
        w, n = witness_of(VERTEX_FACE if i < split else EDGE_EDGE, x0, x1, q, toi[i])
        normals[i, 0], normals[i, 1], normals[i, 2] = n
        weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3] = w


@helper
def witness_of(kind, x0, x1, q, toi):
    """Weights and unit normal of a contact of the features with vertices q."""
    start, end = _unit_vectors(kind, x0, x1, q)
    now = restrict(start, end, toi)
    n = cross(now[0], now[1])
    if dot(n, n) > _PARALLEL * dot(now[0], now[0]) * dot(now[1], now[1]):
        b, c = _parameters(kind, now, n)
        if max_norm(_gap(kind, now, b, c)) > _NOISY:
            b, c = _closer(kind, now, (b, c), _parameters_on_line(kind, now))
    else:
        b, c = _parameters_on_line(kind, now)
        n = _across(start, end, now)
    velocity = sub(_gap(kind, end, b, c), _gap(kind, start, b, c))
    towards = -dot(n, velocity)
    if towards == 0.0:
        towards = dot(n, _gap(kind, start, b, c))
    n = _unit(n)
    if towards < 0.0:
        n = scale(n, -1.0)
    n = n[0] + 0.0, n[1] + 0.0, n[2] + 0.0  # no minus zeros
    if kind == VERTEX_FACE:
        return (1.0, min(0.0, b + c - 1.0), 0.0 - b, 0.0 - c), n
    return (1.0 - b, b, c - 1.0, 0.0 - c), n


@helper
def _unit_vectors(kind, x0, x1, q):
    """The vectors of the pair scaled by one factor, so that squares neither overflow nor vanish."""
    start, end = vectors(kind, x0, q), vectors(kind, x1, q)
    m = magnitudes(start, end)
    if not np.isfinite(m[0] + m[1] + m[2]):  # differences of coordinates near the largest double
        start, end = vectors(kind, _quarter(x0, q), (0, 1, 2, 3)), vectors(kind, _quarter(x1, q), (0, 1, 2, 3))
        m = magnitudes(start, end)
    factor = unit_factor(m)
    return scaled(start, factor), scaled(end, factor)


@helper
def _quarter(x, q):
    out = np.empty((4, 3))
    for i in range(4):
        for k in range(3):
            out[i, k] = 0.25 * x[q[i], k]
    return out


@helper
def _gap(kind, v, b, c):
    """From the second feature to the first at parameters b, c: v - (f0 + b e1 + c e2), or (a0 + b e1) - (b0 + c e2)."""
    if kind == VERTEX_FACE:
        return sub(v[2], add(scale(v[0], b), scale(v[1], c)))
    return sub(scale(v[0], b), add(v[2], scale(v[1], c)))


@helper
def _closer(kind, v, one, other):
    gap_one, gap_other = _gap(kind, v, one[0], one[1]), _gap(kind, v, other[0], other[1])
    return one if dot(gap_one, gap_one) <= dot(gap_other, gap_other) else other


@helper
def _clamp(x):
    return min(1.0, max(0.0, x))


@helper
def _parameters(kind, v, n):
    norm = dot(n, n)
    b, c = dot(cross(v[2], v[1]), n) / norm, dot(cross(v[0], v[2]), n) / norm
    if kind == VERTEX_FACE:
        b, c = _clamp(b), _clamp(c)
        total = max(1.0, b + c)
        return b / total, c / total
    return _clamp(b), _clamp(-c)


@helper
def _closest_on(s, e):
    """Parameter of the point of segment e closest to s."""
    length = dot(e, e)
    return _clamp(dot(s, e) / length) if length > 0.0 else 0.0


@helper
def _parameters_on_line(kind, v):
    """Features on one line (or shrunk to points): the end point closest to a segment of the other feature."""
    e1, e2, w = v
    best, b, c = np.inf, 0.0, 0.0
    if kind == VERTEX_FACE:
        for case in range(3):
            if case == 0:
                tb, tc = _closest_on(w, e1), 0.0
            elif case == 1:
                tb, tc = 0.0, _closest_on(w, e2)
            else:
                tc = _closest_on(sub(w, e1), sub(e2, e1))
                tb = 1.0 - tc
            gap = _gap(kind, v, tb, tc)
            if dot(gap, gap) < best:
                best, b, c = dot(gap, gap), tb, tc
        return b, c
    for case in range(4):
        end = float(case % 2)
        if case < 2:  # an end of the second edge on the first
            tb, tc = _closest_on(add(w, scale(e2, end)), e1), end
        else:
            tb, tc = end, _closest_on(sub(scale(e1, end), w), e2)
        gap = _gap(kind, v, tb, tc)
        if dot(gap, gap) < best:
            best, b, c = dot(gap, gap), tb, tc
    return b, c


@helper
def _across(start, end, now):
    """A direction across the common line: as much of the start's separation, or of any axis, as is normal to it."""
    line = now[0] if max_norm(now[0]) >= max_norm(now[1]) else now[1]
    separation = start[2]
    motion = sub(end[2], start[2])
    best = _rejected(separation, line)
    if dot(best, best) > 1e-24 * max(1e-300, dot(separation, separation)):
        return best
    best = _rejected(motion, line)
    if dot(best, best) > 1e-24 * max(1e-300, dot(motion, motion)):
        return best
    best = _rejected((1.0, 0.0, 0.0), line)
    for axis in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        other = _rejected(axis, line)
        if dot(other, other) > dot(best, best):
            best = other
    return best


@helper
def _rejected(a, line):
    """a without its part along the line."""
    length = dot(line, line)
    return sub(a, scale(line, dot(a, line) / length)) if length > 0.0 else a


@helper
def _unit(n):
    s = 1.0 / max_norm(n)
    n = scale(n, s)
    return scale(n, 1.0 / np.sqrt(dot(n, n)))
