"""Conservative advancement of triangles (local advancement; Tang, Kim and Manocha 2010): one loop for a pair.

Each step looks for the closest points of the two triangles, those of one of nine edge-edge and six vertex-face pairs,
and divides the distance by the largest speed at which two of their vertices approach each other along it.

As in PQP, from which that distance is usually taken, edges come first, and the search ends as soon as two features are
found that the rest of the triangles is not between: then no two others are closer. The next step begins with what was
closest. Triangles that cross each other have no distance: they count as touching, whether their features do or not.
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
from pliant.arithmetic.vec3 import dot, scale
from pliant.elementary.distance import shortest, spread_of
from pliant.runtime.jit import helper, kernel

_NO_RADII = (0.0, 0.0, 0.0, 0.0)
_WIDEST = 1.0 - 1e-6  # of a distance: what is so far apart is not tested again for a better one


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
    t, steps, vertex_first = 0.0, 0, False
    for step in range(STEPS):
        at = moved(a[0], va[0], t), moved(a[1], va[1], t), moved(a[2], va[2], t)
        bt = moved(b[0], vb[0], t), moved(b[1], vb[1], t), moved(b[2], vb[2], t)
        n, gap, (of_vertex, swapped, i, j), taken = _distance(at, bt, vertex_first)
        steps += taken
        if step == 0:
            tolerance = min(tolerance, 0.5 * max(gap, 0.0))
        if gap <= tolerance + error:
            return t, steps
        speed = -_separation(va, vb, n)
        if speed <= 0.0:
            return NEVER, steps
        later = t + (gap - (error + 0.5 * tolerance)) / speed * ROUNDED_DOWN
        if later > 1.0:
            return NEVER, steps
        if not later > t:
            return t, steps
        t = later
        # What is closest now comes first in the next step, and mostly is enough.
        a, va, b, vb, vertex_first = (
            _rotated_by(a, i),
            _rotated_by(va, i),
            _rotated_by(b, j),
            _rotated_by(vb, j),
            of_vertex,
        )
        if swapped:
            a, va, b, vb = b, vb, a, va
    return t, steps


@helper
def _distance(a, b, vertex_first):
    """(unit vector between the closest points, from b to a; how far the triangles are apart along it, at most 0 where
    they cross; which features these are; distances computed).

    Features: whether a vertex and a face, whether the vertex is one of b, and the number of their corner in a and in b.
    """
    best, closest, apart, features, taken = np.inf, (0.0, 0.0, 0.0), -1.0, (False, False, 0, 0), 0
    if vertex_first:
        best, closest = _between(VERTEX_FACE, (a[0], b[0], b[1], b[2]))
        apart, features, taken = _separation(a, b, closest), (True, False, 0, 0), 1
        if apart >= _WIDEST * best:
            return closest, apart, features, taken
    for i in range(3):
        for j in range(3):
            gap, n = _between(EDGE_EDGE, (a[0], a[1], b[0], b[1]))
            taken += 1
            if gap < best:
                best, closest, apart, features = gap, n, _separation(a, b, n), (False, False, i, j)
                if apart >= _WIDEST * best:
                    return closest, apart, features, taken
            b = rotated(b)
        a = rotated(a)
    for i in range(3):
        gap, n = _between(VERTEX_FACE, (a[0], b[0], b[1], b[2]))
        taken += 1
        if gap < best:
            best, closest, apart, features = gap, n, _separation(a, b, n), (True, False, i, 0)
            if apart >= _WIDEST * best:
                return closest, apart, features, taken
        a = rotated(a)
    for j in range(3):
        gap, n = _between(VERTEX_FACE, (b[0], a[0], a[1], a[2]))
        taken += 1
        if gap < best:
            n = scale(n, -1.0)
            best, closest, apart, features = gap, n, _separation(a, b, n), (True, True, 0, j)
            if apart >= _WIDEST * best:
                return closest, apart, features, taken
        b = rotated(b)
    return closest, apart, features, taken


@helper
def _between(kind, x):
    """(distance of two features, unit vector between their closest points from the second to the first)."""
    _, _, _, r, gap = shortest(kind, spread_of(kind, x, _NO_RADII))
    return gap, scale(r, 1.0 / gap)


@helper
def _rotated_by(x, corner):
    return x if corner == 0 else rotated(x) if corner == 1 else rotated(rotated(x))


@helper
def _separation(a, b, n):
    """How far all of a is beyond all of b along n."""
    return min(dot(a[0], n), min(dot(a[1], n), dot(a[2], n))) - max(dot(b[0], n), max(dot(b[1], n), dot(b[2], n)))
