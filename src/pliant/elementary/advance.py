"""Conservative advancement (paper 002): the first time within a distance, without polynomials, on any path.

Two features whose closest points lie along the unit vector n are separated along n by their distance, and stay so for
as long as no vertex of one comes past a vertex of the other along n: the separation of two vertices is linear in time
(for curved paths, bounded from below by a parabola), so the time until then is one division for each of three or four
pairs of vertices. That time is safe whatever n is, so rounding in n costs a step, never a contact. Then look again.

The papers divide the distance by the largest speed, in any direction or along n at the start. Along n, where the
features do not turn, a step is Newton's, from the safe side, on the distance itself. Where they turn, a far end comes
along n faster than the closest points do, and the steps creep: so from the third one on the axis turns with them,
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

from pliant._jit import announce_compilation, helper, kernel
from pliant._tally import Tally
from pliant.elementary.certified import HIT, MISS
from pliant.elementary.distance import shortest, spread_of, turning_of
from pliant.elementary.paths import STRAIGHT, Paths, coefficients, largest_of, place
from pliant.mesh.features import VERTEX_FACE, quad
from pliant.vec3 import UNIT_ROUNDOFF, dot, scale, sub

# How a pair ended, beside MISS and HIT (within the tolerance): it began within its radii; or it got no further before
# it was within the tolerance, and counts as a contact there.
BEGAN, STALLED = 3, 4

# What becomes of pairs that begin within their radii: they stop at t = 0; have no radii; keep a part of their distance.
STOP, IGNORE, RELATIVE = 0, 1, 2
INITIAL = ("stop", "ignore", "relative")

TOLERANCE = 1e-9  # by default, relative to the extent of what is looked at
_STEPS = 200  # far more than are ever needed: most pairs end after 3, grazing ones after 40
# Positions are off by 16 u of the largest coefficient, 1, and a difference of two along a unit vector by three times
# that.
_ERROR = 128 * UNIT_ROUNDOFF


class Approach(NamedTuple):
    """What the elementary test needs to know of a scene: paths, radii, and what to do with pairs that begin close."""

    paths: Paths
    radii: np.ndarray  # (n,)
    tolerance: np.ndarray  # (n,) of a pair: that of its first vertex
    factor: float  # a power of two that brings the largest coefficient of a path near 1, such that all are below 1
    initial: int = STOP
    keep: float = 0.0  # of the distance at the start, for RELATIVE


def approach_of(
    paths: Paths, radii: np.ndarray, tolerance: np.ndarray, initial: int = STOP, keep: float = 0.0
) -> Approach:
    """The paths, with a scale at which nothing overflows."""
    factor = math.ldexp(1.0, max(-1025, min(1023, -math.frexp(largest_of(paths))[1])))
    return Approach(paths, radii, tolerance, factor, initial, keep)


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
    paths, factor = approach.paths, approach.factor
    c = (
        coefficients(paths, q[0], factor),
        coefficients(paths, q[1], factor),
        coefficients(paths, q[2], factor),
        coefficients(paths, q[3], factor),
    )
    radii = _radii(approach, q, factor)
    bend = _bend(kind, paths, q) * factor
    error = _ERROR * (1.0 + radii[0] + radii[1] + radii[2] + radii[3])
    tolerance = approach.tolerance[q[0]] * factor
    t = 0.0
    for step in range(_STEPS):
        x, v = _places(paths.mode, c, t)
        spread = spread_of(kind, x, radii)
        _, _, side, r, gap = shortest(kind, spread)
        if step == 0:
            if gap <= error:
                radii, gap = _begin_within(approach, radii, r, gap)
                if gap <= error:
                    return BEGAN, 0.0, 1
            tolerance = min(tolerance, 0.5 * gap)
        if gap <= tolerance + error:
            return HIT, t, step + 1
        n = scale(r, 1.0 / np.sqrt(dot(r, r)))
        reserve = error + 0.5 * tolerance
        ahead = _time_along(kind, x, v, radii, n, bend, reserve)
        if step > 0:
            turning = turning_of(spread, spread_of(kind, v, radii), side, n)
            ahead = max(ahead, _time_turning(kind, x, v, radii, n, turning, 2.0 * bend, reserve))
        later = t + ahead * (1.0 - 4.0 * UNIT_ROUNDOFF)
        if later > horizon:
            return MISS, horizon, step + 1
        if not later > t:
            return STALLED, t, step + 1
        t = later
    return STALLED, t, _STEPS


@helper
def _radii(approach, q, factor):
    r = approach.radii
    return r[q[0]] * factor, r[q[1]] * factor, r[q[2]] * factor, r[q[3]] * factor


@helper
def _bend(kind, paths, q):
    """The largest |x''| of one feature against the other."""
    if paths.mode == STRAIGHT:
        return 0.0
    b = paths.bend
    if kind == VERTEX_FACE:
        return b[q[0]] + max(b[q[1]], max(b[q[2]], b[q[3]]))
    return max(b[q[0]], b[q[1]]) + max(b[q[2]], b[q[3]])


@helper
def _places(mode, c, t):
    """Positions and velocities of the four vertices at time t."""
    x0, v0 = place(mode, c[0], t)
    x1, v1 = place(mode, c[1], t)
    x2, v2 = place(mode, c[2], t)
    x3, v3 = place(mode, c[3], t)
    return (x0, x1, x2, x3), (v0, v1, v2, v3)


@helper
def _begin_within(approach, radii, r, gap):
    """What becomes of a pair that begins within its radii: its radii from now on, and its gap."""
    distance = np.sqrt(dot(r, r))
    if approach.initial == STOP:
        return radii, gap
    kept = 0.0
    if approach.initial == RELATIVE and distance - gap > 0.0:
        kept = approach.keep * distance / (distance - gap)
    return (radii[0] * kept, radii[1] * kept, radii[2] * kept, radii[3] * kept), distance - kept * (distance - gap)


@helper
def _time_along(kind, x, v, radii, n, bend, reserve):
    """How long all vertices of the first feature stay beyond those of the second along the axis n."""
    s = dot(n, x[0]), dot(n, x[1]), dot(n, x[2]), dot(n, x[3])
    d = dot(n, v[0]), dot(n, v[1]), dot(n, v[2]), dot(n, v[3])
    r, down = radii, -0.5 * bend
    if kind == VERTEX_FACE:
        kept = s[0] - r[0] - reserve
        return min(
            _first_zero(kept - s[1] - r[1], d[0] - d[1], down),
            min(_first_zero(kept - s[2] - r[2], d[0] - d[2], down), _first_zero(kept - s[3] - r[3], d[0] - d[3], down)),
        )
    first, second = s[0] - r[0] - reserve, s[1] - r[1] - reserve
    return min(
        min(_first_zero(first - s[2] - r[2], d[0] - d[2], down), _first_zero(first - s[3] - r[3], d[0] - d[3], down)),
        min(_first_zero(second - s[2] - r[2], d[1] - d[2], down), _first_zero(second - s[3] - r[3], d[1] - d[3], down)),
    )


@helper
def _time_turning(kind, x, v, radii, n, turning, bend, reserve):
    """The same along an axis that turns, n + t turning, until it is twice as long or has turned by half a right angle.

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
                dot(turning, away) - 0.5 * (kept * m_squared + bend),
            )
            soonest = min(soonest, zero)
    return soonest


@helper
def _first_zero(c0, c1, c2):
    """The first t >= 0 with c0 + c1 t + c2 t^2 <= 0."""
    if c0 <= 0.0:
        return 0.0
    if c2 == 0.0:
        return -c0 / c1 if c1 < 0.0 else np.inf
    discriminant = c1 * c1 - 4.0 * c0 * c2
    if discriminant < 0.0:
        return np.inf
    down = np.sqrt(discriminant) - c1
    return 2.0 * c0 / down if down > 0.0 else np.inf


def advance_pairs(kind, approach, table, pairs, horizon, toi, toi_upper, status, tally: Tally) -> int:
    """Conservative advancement of a block of feature pairs, in place: status and toi; returns the hits."""
    announce_compilation("advance_in_doubles", 8)
    clock = time.perf_counter()
    hits, steps = advance_in_doubles(kind, approach, table, pairs, len(pairs), horizon, toi, status)
    toi_upper[:] = toi
    tally.add("advancement", len(pairs), hits, time.perf_counter() - clock)
    tally.add("advancement: steps", steps, steps, 0.0)
    return hits
