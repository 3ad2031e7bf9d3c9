"""What the methods for pairs of triangles share: loading them, running them on threads, and what comes back.

A pair is six points, a0 a1 a2 b0 b1 b2, that move straight from x0 to x1. Its corners are loaded into tuples, once.
Loops over features turn the corners of a triangle round instead of indexing them, so that they can stay in tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, max_norm, scale, sub
from pliant.runtime.jit import helper
from pliant.runtime.threads import ThreadPool

_CHUNK = 20_000
NEVER = np.inf
STEPS = 1000  # of one advancement, after which it counts as a contact
ROUNDED_DOWN = 1.0 - 4.0 * UNIT_ROUNDOFF
_ERROR = 128 * UNIT_ROUNDOFF  # of a distance, as in elementary/advance


class FirstContacts(NamedTuple):
    """Which pairs of triangles touch, and when first."""

    hit: np.ndarray  # (k,) bool
    toi: np.ndarray  # (k,) nan where they do not
    steps: int  # distances computed, or polynomials examined, for all pairs together


# x0, x1, tolerance, first pair, end of the pairs, toi (NEVER where there is no contact): returns the steps.
Kernel = Callable[[np.ndarray, np.ndarray, float, int, int, np.ndarray], int]


def run_kernel(kernel: Kernel, x0: np.ndarray, x1: np.ndarray, tolerance: float, threads: int) -> FirstContacts:
    """All pairs, in parts that threads take one by one."""
    toi, steps = np.empty(len(x0)), []

    def work(_: int, start: int) -> None:
        steps.append(kernel(x0, x1, tolerance, start, min(start + _CHUNK, len(x0)), toi))

    ThreadPool(threads).run(work, range(0, len(x0), _CHUNK))
    hit = toi < NEVER
    toi[~hit] = np.nan
    return FirstContacts(hit, toi, sum(steps))


@helper
def corners(x, p):
    """The corners of both triangles of pair p."""
    return (_point(x, p, 0), _point(x, p, 1), _point(x, p, 2)), (_point(x, p, 3), _point(x, p, 4), _point(x, p, 5))


@helper
def _point(x, p, i):
    return x[p, i, 0], x[p, i, 1], x[p, i, 2]


@helper
def velocities(start, end):
    return sub(end[0], start[0]), sub(end[1], start[1]), sub(end[2], start[2])


@helper
def moved(x, v, t):
    return add(x, scale(v, t))


@helper
def rotated(x):
    """The corners of a triangle, the next one first."""
    return x[1], x[2], x[0]


@helper
def closeness(a, b, a_end, b_end, tolerance):
    """(the distance at which a pair counts as touching, and what distances may be off by): the first relative to the
    extent of the twelve points, the second to their largest coordinate."""
    lower, upper = _smallest(_smallest3(a), _smallest3(b)), _largest(_largest3(a), _largest3(b))
    lower = _smallest(lower, _smallest(_smallest3(a_end), _smallest3(b_end)))
    upper = _largest(upper, _largest(_largest3(a_end), _largest3(b_end)))
    extent = sub(upper, lower)
    error = _ERROR * max(max_norm(lower), max_norm(upper)) + 1e-300
    return tolerance * max(extent[0], max(extent[1], extent[2])), error


@helper
def _smallest(p, q):
    return min(p[0], q[0]), min(p[1], q[1]), min(p[2], q[2])


@helper
def _largest(p, q):
    return max(p[0], q[0]), max(p[1], q[1]), max(p[2], q[2])


@helper
def _smallest3(x):
    return _smallest(x[0], _smallest(x[1], x[2]))


@helper
def _largest3(x):
    return _largest(x[0], _largest(x[1], x[2]))
