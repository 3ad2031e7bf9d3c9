"""Conservative advancement of triangles (local advancement; Tang, Kim and Manocha 2010): one loop for a pair.

Each step looks for the closest points of the two triangles, which are those of one of nine edge-edge and six vertex-face
pairs, and divides the distance by the largest speed at which two of their vertices approach each other along it.

As in PQP, from which that distance is usually taken, edges come first, and the search ends as soon as two features are
found that the rest of the triangles is not between: then no two others are closer. Triangles that cross each other
have no distance: they count as touching, then, whether any of their features touch or not.
"""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel
from pliant.baselines.triangle_pairs import (
    NEVER,
    ROUNDED_DOWN,
    STEPS,
    FirstContacts,
    closeness,
    corners,
    moved,
    run_kernel,
    turned,
    velocities,
)
from pliant.elementary.distance import shortest, spread_of
from pliant.mesh.features import EDGE_EDGE, VERTEX_FACE
from pliant.vec3 import dot, scale

_NO_RADII = (0.0, 0.0, 0.0, 0.0)
_WIDEST = 1.0 - 1e-6  # of a distance: what is so far apart is not looked at again for a better one


def first_contacts(x0: np.ndarray, x1: np.ndarray, tolerance: float, threads: int) -> FirstContacts:
    """The first time at which triangles (k, 6, 3) come within the tolerance of each other."""
    return run_kernel(_first_contacts, x0, x1, tolerance, threads)


@kernel
def _first_contacts(x0, x1, tolerance, begin, end, toi):
    steps = 0
    for p in range(begin, end):
        a, b = corners(x0, p)
        a_end, b_end = corners(x1, p)
        close = closeness(a, b, a_end, b_end, tolerance)
        toi[p], taken = _advance(a, b, velocities(a, a_end), velocities(b, b_end), close)
        steps += taken
    return steps


@helper
def _advance(a, b, va, vb, close):
    """(first time at which two triangles with corners a and b and velocities va and vb touch, or NEVER; distances)."""
    tolerance, error = close
    t, steps = 0.0, 0
    for step in range(STEPS):
        at = moved(a[0], va[0], t), moved(a[1], va[1], t), moved(a[2], va[2], t)
        bt = moved(b[0], vb[0], t), moved(b[1], vb[1], t), moved(b[2], vb[2], t)
        r, gap, taken = _distance(at, bt)
        steps += taken
        if step == 0:
            tolerance = min(tolerance, 0.5 * max(gap, 0.0))
        if gap <= tolerance + error:
            return t, steps
        speed = -_separation(va, vb, r)
        if speed <= 0.0:
            return NEVER, steps
        later = t + (gap - (error + 0.5 * tolerance)) / speed * ROUNDED_DOWN
        if later > 1.0:
            return NEVER, steps
        if not later > t:
            return t, steps
        t = later
    return t, steps


@helper
def _distance(a, b):
    """(unit vector between the closest points, from b to a; how far the triangles are apart along it, at most 0 where
    they cross; distances computed)."""
    best, closest, apart, taken = np.inf, (0.0, 0.0, 0.0), -1.0, 0
    for _ in range(3):
        for _ in range(3):
            _, _, _, r, gap = shortest(EDGE_EDGE, spread_of(EDGE_EDGE, (a[0], a[1], b[0], b[1]), _NO_RADII))
            taken += 1
            if gap < best:
                best, closest = gap, scale(r, 1.0 / gap)
                apart = _separation(a, b, closest)
                if apart >= _WIDEST * best:
                    return closest, apart, taken
            b = turned(b)
        a = turned(a)
    sign = 1.0
    for _ in range(2):
        for _ in range(3):
            _, _, _, r, gap = shortest(VERTEX_FACE, spread_of(VERTEX_FACE, (a[0], b[0], b[1], b[2]), _NO_RADII))
            taken += 1
            if gap < best:
                best, closest = gap, scale(r, sign / gap)
                apart = _separation(a, b, closest) if sign > 0.0 else _separation(b, a, closest)
                if apart >= _WIDEST * best:
                    return closest, apart, taken
            a = turned(a)
        a, b, sign = b, a, -sign
    return closest, apart, taken


@helper
def _separation(a, b, n):
    """How far all of a is beyond all of b along n."""
    return min(dot(a[0], n), min(dot(a[1], n), dot(a[2], n))) - max(dot(b[0], n), max(dot(b[1], n), dot(b[2], n)))
