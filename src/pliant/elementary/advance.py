"""Conservative advancement (paper 002): the first time within a distance, without polynomials, on any path.

Two features whose closest points lie along the unit vector n are separated along n by their distance, and stay so for
as long as no vertex of one comes past a vertex of the other along n: the separation of two vertices is linear in time
(for curved paths, bounded from below by a parabola), so the time until then is one division for each of three or four
pairs of vertices. That time is safe whatever n is, so rounding in n costs a step, never a contact. Then look again.

The papers divide the distance by the largest speed, in any direction or along n at the start. Along n, where the
features do not turn, a step is Newton's, from the safe side, on the distance itself. Where they turn, a far end comes
along n faster than the closest points do, and the steps creep: so from the second one on the axis turns with them,
n + t m (the proof holds for any m), and the steps converge quadratically again. Near a grazing contact they still
halve the gap each time.

A pair that comes within its radii plus ``tolerance`` is reported, at a time that is not later than the first at which
it comes within its radii. The tolerance never swallows the gap that a pair starts with.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE, quad
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, dot, lerp, max_norm, row, scale, sub
from pliant.elementary.certified import HIT, MISS
from pliant.elementary.distance import shortest, shortest_level, spread_of, turning_of
from pliant.elementary.paths import ACCELERATED, STRAIGHT, Paths, coefficients, largest_of, place, size_of
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally

# How a pair ended, beside MISS and HIT (within the tolerance): it began within its radii; or it got no further before
# it was within the tolerance, and counts as a contact there.
BEGAN, STALLED = 3, 4

# What becomes of pairs that begin within their radii: they stop at t = 0; have no radii; keep a part of their distance.
STOP, IGNORE, RELATIVE = 0, 1, 2
INITIAL = ("stop", "ignore", "relative")

TOLERANCE = 1e-9  # by default, relative to the extent of what is examined
_STEPS = 200  # far more than are ever needed: most pairs end after 3, grazing ones after 40
# Of a distance, in units of the size of its pair: positions are off by 16 u (``paths.place``), and a difference of two
# along a unit vector by 2 sqrt(3) < 4 times that.
DISTANCE_ERROR = 2 * 4 * 16 * UNIT_ROUNDOFF  # margin 2
_UNDERFLOW = 1e-300
# Of an axis along which no step can be made; nearly always one or two are enough. Done where no vertex is further
# behind than this part of the gap.
_CORRECTIONS, _HARDLY_BEHIND = 16, 1e-3
# A time that is rounded down: 3 roundings of what is left of the distance over the speed, and this product.
_ROUNDED_DOWN = 1.0 - 4 * UNIT_ROUNDOFF


_NO_BENDS = (0.0, 0.0, 0.0, 0.0)


class Approach(NamedTuple):
    """What the elementary test needs to know of a scene: paths, radii, and what to do with pairs that begin close."""

    paths: Paths
    radii: np.ndarray  # (n,)
    tolerance: np.ndarray  # (n,) of a pair: that of its first vertex
    factor: float  # a power of two that brings the largest coordinate near 1
    initial: int = STOP
    keep: float = 0.0  # of the distance at the start, for RELATIVE
    relative: float = 0.0  # the tolerance, as a part of the extent of the scene


def approach_of(
    paths: Paths,
    radii: np.ndarray,
    tolerance: np.ndarray,
    initial: int = STOP,
    keep: float = 0.0,
    relative: float = 0.0,
) -> Approach:
    """The paths, with a scale at which nothing overflows."""
    factor = math.ldexp(1.0, max(-1025, min(1023, -math.frexp(largest_of(paths))[1])))
    return Approach(paths, radii, tolerance, factor, initial, keep, relative)


def tolerance_of(paths: Paths, vertices: np.ndarray, relative: float) -> np.ndarray:
    """(n,) the tolerance of a scene, of which only these vertices count: a part of its extent."""
    ends = np.concatenate((0.25 * paths.x0[vertices], 0.25 * paths.x1[vertices]))
    extent = 4.0 * float(np.ptp(ends, axis=0).max()) if len(ends) else 1.0
    return np.full(len(paths.x0), min(relative * extent, 1e300))


@kernel
def advance_in_doubles(kind, approach, table, pairs, count, horizon, toi, status):
    """First time within the radii of rows 0 .. count - 1 of pairs, up to the horizon; returns hits and steps taken."""
    hits = steps = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        ended, t, taken = advance(kind, approach, q, horizon)
        status[p], toi[p] = ended, t
        hits += ended != MISS
        steps += taken
    return hits, steps


@helper
def advance(kind, approach, q, horizon):
    """(how the pair with vertices q ended, when, after how many steps)."""
    if approach.paths.mode == STRAIGHT and approach.initial == STOP and _are_level(kind, approach.radii, q):
        return _advance_straight(kind, approach, q, horizon)
    return _advance_along_any(kind, approach, q, horizon)


@helper
def _are_level(kind, r, q):
    """All radii of a feature are equal."""
    if kind == VERTEX_FACE:
        return r[q[1]] == r[q[2]] and r[q[1]] == r[q[3]]
    return r[q[0]] == r[q[1]] and r[q[2]] == r[q[3]]


@helper
def _advance_straight(kind, approach, q, horizon):
    """The same, step for step and to the bit, for straight paths and one radius a feature: in half the time."""
    x0, x1, factor = approach.paths.x0, approach.paths.x1, approach.factor
    o = scale(row(x0, q[0]), factor)
    start = _relative(x0, q, factor, o)
    end = _relative(x1, q, factor, o)
    v = sub(end[0], start[0]), sub(end[1], start[1]), sub(end[2], start[2]), sub(end[3], start[3])
    radii = _radii(approach, q, factor)
    size = max(_size(start), _size(end))
    error = DISTANCE_ERROR * (size + radii[0] + radii[1] + radii[2] + radii[3]) + _UNDERFLOW
    radius = radii[0] + radii[1 if kind == VERTEX_FACE else 2]
    tolerance, t, x = approach.tolerance[q[0]] * factor, 0.0, start
    for step in range(_STEPS):
        if step > 0:
            x = (
                lerp(start[0], end[0], t),
                lerp(start[1], end[1], t),
                lerp(start[2], end[2], t),
                lerp(start[3], end[3], t),
            )
        w, a, b = _vectors(kind, x)
        _, _, side, r = shortest_level(kind, w, a, b)
        length = np.sqrt(dot(r, r))
        gap = length - radius
        if step == 0:
            if gap <= error:
                return BEGAN, 0.0, 1
            tolerance = min(tolerance, 0.5 * gap)
        if gap <= tolerance + error:
            return HIT, t, step + 1
        n = scale(r, 1.0 / length)
        kept = radius + (error + 0.5 * tolerance)
        ahead = _time_along_straight(kind, x, v, n, kept)
        later = t + ahead * _ROUNDED_DOWN
        if step > 0 and not later > horizon:
            turning = turning_of(spread_of(kind, x, radii), spread_of(kind, v, radii), side, n)
            ahead = max(ahead, _time_turning_straight(kind, x, v, n, turning, kept))
            later = t + ahead * _ROUNDED_DOWN
        if not later > t:
            r, _ = _better_axis(kind, x, radii, r, radius)
            length = np.sqrt(dot(r, r))
            if length - radius <= tolerance + error:
                return HIT, t, step + 1
            later = t + _time_along_straight(kind, x, v, scale(r, 1.0 / length), kept) * _ROUNDED_DOWN
        if later > horizon:
            return MISS, horizon, step + 1
        if not later > t:
            return STALLED, t, step + 1
        t = later
    return STALLED, t, _STEPS


@helper
def _relative(x, q, factor, o):
    return (
        sub(scale(row(x, q[0]), factor), o),
        sub(scale(row(x, q[1]), factor), o),
        sub(scale(row(x, q[2]), factor), o),
        sub(scale(row(x, q[3]), factor), o),
    )


@helper
def _size(x):
    return max(max(max_norm(x[0]), max_norm(x[1])), max(max_norm(x[2]), max_norm(x[3])))


@helper
def _vectors(kind, x):
    if kind == VERTEX_FACE:
        return sub(x[0], x[1]), sub(x[1], x[2]), sub(x[1], x[3])
    return sub(x[0], x[2]), sub(x[1], x[0]), sub(x[2], x[3])


@helper
def _time_along_straight(kind, x, v, n, kept):
    """``_time_along`` without bends."""
    s = dot(n, x[0]), dot(n, x[1]), dot(n, x[2]), dot(n, x[3])
    d = dot(n, v[0]), dot(n, v[1]), dot(n, v[2]), dot(n, v[3])
    soonest = min(_zero(s[0] - s[2] - kept, d[0] - d[2]), _zero(s[0] - s[3] - kept, d[0] - d[3]))
    if kind == VERTEX_FACE:
        return min(soonest, _zero(s[0] - s[1] - kept, d[0] - d[1]))
    return min(soonest, min(_zero(s[1] - s[2] - kept, d[1] - d[2]), _zero(s[1] - s[3] - kept, d[1] - d[3])))


@helper
def _zero(c0, c1):
    """The first t >= 0 with c0 + c1 t <= 0, or so late that it makes no difference: branches would cost more."""
    return max(0.0, c0) / max(-c1, 1e-300)


@helper
def _time_turning_straight(kind, x, v, n, turning, kept):
    """The same along an axis that turns, n + t turning, until it has turned by half a right angle."""
    m_squared, growing = dot(turning, turning), dot(n, turning)
    soonest = 1.0 / np.sqrt(m_squared) if m_squared > 0.0 else np.inf
    axis = n, turning, kept, kept * growing, kept * m_squared
    soonest = min(
        soonest, min(_zero_turning(axis, x[0], x[2], v[0], v[2]), _zero_turning(axis, x[0], x[3], v[0], v[3]))
    )
    if kind == VERTEX_FACE:
        return min(soonest, _zero_turning(axis, x[0], x[1], v[0], v[1]))
    return min(soonest, min(_zero_turning(axis, x[1], x[2], v[1], v[2]), _zero_turning(axis, x[1], x[3], v[1], v[3])))


@helper
def _zero_turning(axis, xi, xj, vi, vj):
    n, turning, kept, kept_growing, kept_turned = axis
    apart, away = sub(xi, xj), sub(vi, vj)
    return _first_zero(
        dot(n, apart) - kept,
        dot(n, away) + dot(turning, apart) - kept_growing,
        dot(turning, away) + 0.5 * (0.0 - kept_turned),
    )


@helper
def _advance_along_any(kind, approach, q, horizon):
    paths, factor = approach.paths, approach.factor
    o = scale(row(paths.x0, q[0]), factor)
    c = (
        coefficients(paths, q[0], o, factor),
        coefficients(paths, q[1], o, factor),
        coefficients(paths, q[2], o, factor),
        coefficients(paths, q[3], o, factor),
    )
    radii = _radii(approach, q, factor)
    size = max(
        max(size_of(paths.mode, c[0]), size_of(paths.mode, c[1])),
        max(size_of(paths.mode, c[2]), size_of(paths.mode, c[3])),
    )
    error = DISTANCE_ERROR * (size + radii[0] + radii[1] + radii[2] + radii[3]) + _UNDERFLOW
    tolerance = approach.tolerance[q[0]] * factor
    bend, as_one = _bend_bounds(paths, q, factor), _move_as_one(paths, q)
    t = 0.0
    for step in range(_STEPS):
        x, v = _places(paths.mode, c, t)
        spread = spread_of(kind, x, radii)
        along_a, along_b, side, r, gap = shortest(kind, spread)
        if step == 0:
            if gap <= error and approach.initial != STOP:
                # Its radii no longer count: it keeps a part of its distance, everywhere the same, or has to touch.
                distance = shortest(kind, spread_of(kind, x, (0.0, 0.0, 0.0, 0.0)))[4]
                kept = 0.5 * approach.keep * distance if approach.initial == RELATIVE else 0.0
                radii, error = (kept, kept, kept, kept), DISTANCE_ERROR * (size + 4.0 * kept) + _UNDERFLOW
                spread = spread_of(kind, x, radii)
                along_a, along_b, side, r, gap = shortest(kind, spread)
            if gap <= error:
                return BEGAN, 0.0, 1
            if as_one:
                return MISS, horizon, 1
            tolerance = min(tolerance, 0.5 * gap)
        if gap <= tolerance + error:
            return HIT, t, step + 1
        n = scale(r, 1.0 / np.sqrt(dot(r, r)))
        reserve = error + 0.5 * tolerance
        ahead = _time_along(kind, x, v, radii, n, _bends(kind, paths.mode, c, bend, n, False), reserve)
        if step > 0:
            turning = turning_of(spread, spread_of(kind, v, radii), side, n)
            bends = _bends(kind, paths.mode, c, bend, n, True)
            ahead = max(ahead, _time_turning(kind, x, v, radii, n, turning, bends, reserve))
        later = t + ahead * _ROUNDED_DOWN
        if not later > t:
            radius = spread.radius + along_a * spread.slope_s + along_b * spread.slope_t
            r, radius = _better_axis(kind, x, radii, r, radius)
            length = np.sqrt(dot(r, r))
            if length - radius <= tolerance + error:
                return HIT, t, step + 1
            n = scale(r, 1.0 / length)
            ahead = _time_along(kind, x, v, radii, n, _bends(kind, paths.mode, c, bend, n, False), reserve)
            later = t + ahead * _ROUNDED_DOWN
        if later > horizon:
            return MISS, horizon, step + 1
        if not later > t:
            return STALLED, t, step + 1
        t = later
    return STALLED, t, _STEPS


@helper
def _better_axis(kind, x, radii, r, radius):
    """A vector from the second feature to the first and the radius there, as the given ones are, with a smaller gap: an
    axis along which no vertices are behind it by more than a small part of the gap.

    Of nearly parallel edges, which of their points are closest is known to some ulps of their length. Where they are
    much closer than they are long, the axis is off by so much that far ends are behind each other along it. Each
    correction goes on a line towards the vertices that are furthest behind to where the gap is least: by so little
    that its rounding does not matter. Any axis will do for the proof.
    """
    split = 1 if kind == VERTEX_FACE else 2
    for _ in range(_CORRECTIONS):
        length = np.sqrt(dot(r, r))
        gap, way, growing = length - radius, r, 0.0
        hardly = most = _HARDLY_BEHIND * gap
        for i in range(split):
            for j in range(split, 4):
                apart, kept = sub(x[i], x[j]), radii[i] + radii[j]
                behind = gap - (dot(r, apart) / length - kept)
                if behind > most:
                    most, way, growing = behind, sub(apart, r), kept - radius
        if not (gap > 0.0 and most > hardly):
            break
        part = min(1.0, length * most / dot(way, way))
        r, radius = add(r, scale(way, part)), radius + part * growing
    return r, radius


@helper
def _radii(approach, q, factor):
    r = approach.radii
    return r[q[0]] * factor, r[q[1]] * factor, r[q[2]] * factor, r[q[3]] * factor


@helper
def _move_as_one(paths, q):
    """All four vertices are of one rigid body."""
    b = paths.body
    return len(b) > 0 and b[q[0]] == b[q[1]] and b[q[0]] == b[q[2]] and b[q[0]] == b[q[3]]


@helper
def _bends(kind, mode, c, bend, n, turning):
    """What the paths of the four vertices add to straight ones along the axis, over t^2 / 2: for the first feature at
    least so much, for the second at most.

    A parabola adds its acceleration, and where the axis turns (by at most half a right angle) its length to the worse,
    for what is of third order; accelerations relative to the first, since only differences count. Of other curves there
    is a bound.
    """
    if mode == STRAIGHT:
        return 0.0, 0.0, 0.0, 0.0
    of_first = kind != VERTEX_FACE
    if mode == ACCELERATED:
        o = c[0][2]
        a, b, d = sub(c[1][2], o), sub(c[2][2], o), sub(c[3][2], o)
        if not turning:
            return 0.0, dot(n, a), dot(n, b), dot(n, d)
        return 0.0, _third_order(n, a, of_first), _third_order(n, b, False), _third_order(n, d, False)
    twice = 2.0 if turning else 1.0
    return -twice * bend[0], (-twice if of_first else twice) * bend[1], twice * bend[2], twice * bend[3]


@helper
def _third_order(n, acceleration, of_first):
    length = np.sqrt(dot(acceleration, acceleration)) * (1.0 + 1e-15)
    return dot(n, acceleration) - length if of_first else dot(n, acceleration) + length


@helper
def _bend_bounds(paths, q, factor):
    if len(paths.bend) == 0:
        return 0.0, 0.0, 0.0, 0.0
    b = paths.bend
    return b[q[0]] * factor, b[q[1]] * factor, b[q[2]] * factor, b[q[3]] * factor


@helper
def _places(mode, c, t):
    """Positions and velocities of the four vertices at time t."""
    x0, v0 = place(mode, c[0], t)
    x1, v1 = place(mode, c[1], t)
    x2, v2 = place(mode, c[2], t)
    x3, v3 = place(mode, c[3], t)
    return (x0, x1, x2, x3), (v0, v1, v2, v3)


@helper
def _time_along(kind, x, v, radii, n, bends, reserve):
    """How long all vertices of the first feature stay beyond those of the second along the axis n."""
    s = dot(n, x[0]), dot(n, x[1]), dot(n, x[2]), dot(n, x[3])
    d = dot(n, v[0]), dot(n, v[1]), dot(n, v[2]), dot(n, v[3])
    soonest, split = np.inf, 1 if kind == VERTEX_FACE else 2
    for i in range(split):
        for j in range(split, 4):
            kept = radii[i] + radii[j] + reserve
            soonest = min(soonest, _first_zero(s[i] - s[j] - kept, d[i] - d[j], 0.5 * (bends[i] - bends[j])))
    return soonest


@helper
def _time_turning(kind, x, v, radii, n, turning, bends, reserve):
    """The same along an axis that turns, n + t turning, until it has turned by half a right angle.

    Radii count along the unit axis: its length is at most 1 + t n . m + (t m)^2 / 2, since sqrt(1 + y) <= 1 + y / 2.
    """
    m_squared, growing = dot(turning, turning), dot(n, turning)
    soonest = 1.0 / np.sqrt(m_squared) if m_squared > 0.0 else np.inf
    split = 1 if kind == VERTEX_FACE else 2
    for i in range(split):
        for j in range(split, 4):
            apart, away = sub(x[i], x[j]), sub(v[i], v[j])
            kept = radii[i] + radii[j] + reserve
            zero = _first_zero(
                dot(n, apart) - kept,
                dot(n, away) + dot(turning, apart) - kept * growing,
                dot(turning, away) + 0.5 * (bends[i] - bends[j] - kept * m_squared),
            )
            soonest = min(soonest, zero)
    return soonest


@helper
def _first_zero(c0, c1, c2):
    """The first t >= 0 with c0 + c1 t + c2 t^2 <= 0."""
    if c2 == 0.0:
        return 0.0 if c0 <= 0.0 else (-c0 / c1 if c1 < 0.0 else np.inf)
    root = np.sqrt(c1 * c1 - 4.0 * c0 * c2)  # not a number where there is no zero: not above 0 either
    falling = c1 <= 0.0  # where it is not, root - c1 would have no correct digit
    above, below = (2.0 * c0, root - c1) if falling else (c1 + root, -2.0 * c2)
    zero = above / below
    zero = zero if below > 0.0 else np.inf
    return 0.0 if c0 <= 0.0 else zero


def advance_pairs(kind, approach, table, pairs, horizon, toi, toi_upper, status, tally: Tally) -> int:
    """Conservative advancement of a block of feature pairs, in place: status and toi; returns the hits."""
    clock = time.perf_counter()
    hits, steps = advance_in_doubles(kind, approach, table, pairs, len(pairs), horizon, toi, status)
    toi_upper[:] = toi
    tally.add("advancement", len(pairs), hits, time.perf_counter() - clock)
    tally.add("advancement: steps", steps, steps, 0.0)
    return hits
