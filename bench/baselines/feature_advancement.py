"""Conservative advancement of features (paper 002, section 3): six vertex-face and nine edge-edge pairs, one by one.

Each step computes the closest points of the two features and divides their distance by the largest speed at which two
vertices approach each other along the line between these points (equations 9 and 15). No condition discards a pair.
Temporal culling: the earliest contact so far is the end of the motion for the pairs that come after it.

Not in the paper: steps keep half the tolerance and the rounding errors back, as ours do, so that a time is never late.
"""

from __future__ import annotations

import numpy as np

from bench.baselines.triangle_pairs import (
    NEVER,
    ROUNDED_DOWN,
    STEPS,
    FirstContacts,
    closeness,
    corners,
    moved,
    rotated,
    run_kernel,
    velocities,
)
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.vec3 import dot
from pliant.elementary.distance import shortest, spread_of
from pliant.runtime.jit import helper, kernel

_NO_RADII = (0.0, 0.0, 0.0, 0.0)


def first_contacts(x0: np.ndarray, x1: np.ndarray, tolerance: float, threads: int) -> FirstContacts:
    """The first time at which two features of pairs of triangles (k, 6, 3) come within the tolerance."""
    return run_kernel(_first_contacts, x0, x1, tolerance, threads)


@kernel
def _first_contacts(x0, x1, tolerance, begin, end, toi):
    steps = 0
    for p in range(begin, end):
        a, b = corners(x0, p)
        a_end, b_end = corners(x1, p)
        close = closeness(a, b, a_end, b_end, tolerance)
        va, vb = velocities(a, a_end), velocities(b, b_end)
        first, until = NEVER, 1.0
        for _ in range(2):
            for _ in range(3):
                x, v = (a[0], b[0], b[1], b[2]), (va[0], vb[0], vb[1], vb[2])
                t, taken = _advance(VERTEX_FACE, x, v, until, close)
                steps += taken
                if t < first:
                    first = until = t
                a, va = rotated(a), rotated(va)
            a, va, b, vb = b, vb, a, va
        for _ in range(3):
            for _ in range(3):
                t, taken = _advance(EDGE_EDGE, (a[0], a[1], b[0], b[1]), (va[0], va[1], vb[0], vb[1]), until, close)
                steps += taken
                if t < first:
                    first = until = t
                b, vb = rotated(b), rotated(vb)
            a, va = rotated(a), rotated(va)
        toi[p] = first
    return steps


@helper
def _advance(kind, x, v, until, close):
    """(first time up to the end at which two features with vertices x and velocities v touch, or NEVER; steps)."""
    tolerance, error = close
    t = 0.0
    for step in range(STEPS):
        y = moved(x[0], v[0], t), moved(x[1], v[1], t), moved(x[2], v[2], t), moved(x[3], v[3], t)
        _, _, _, r, gap = shortest(kind, spread_of(kind, y, _NO_RADII))
        if step == 0:
            tolerance = min(tolerance, 0.5 * gap)
        if gap <= tolerance + error:
            return t, step + 1
        speed = _approach(kind, v, r)  # times the length of r, which is the gap
        if speed <= 0.0:
            return NEVER, step + 1
        later = t + (gap - (error + 0.5 * tolerance)) * gap / speed * ROUNDED_DOWN
        if later > until:
            return NEVER, step + 1
        if not later > t:
            return t, step + 1
        t = later
    return t, STEPS


@helper
def _approach(kind, v, r):
    """The largest speed along r at which a vertex of the second feature comes towards one of the first."""
    v0, v1, v2, v3 = dot(v[0], r), dot(v[1], r), dot(v[2], r), dot(v[3], r)
    if kind == VERTEX_FACE:
        return max(v1, max(v2, v3)) - v0
    return max(v2, v3) - min(v0, v1)
