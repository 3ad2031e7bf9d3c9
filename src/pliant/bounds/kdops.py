"""Axis-aligned boxes and 16-, 18-, 24-DOPs of swept features, rounded outwards.

Bounds are rows of intervals, lower and upper of axis k in columns 2 k and 2 k + 1; the first three axes are x, y, z.
A vertex that moves in a straight line stays between its two ends along every axis, so the coordinates themselves need
no rounding. Sums of coordinates do.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import LERP, POSITION_ERROR, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import lerp, max_norm, row
from pliant.runtime.arrays import New
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

_OBLIQUE = np.array(
    [(1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0), (1, 0, -1), (0, 1, -1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)],
    np.float64,
)
# 16-DOPs as in papers 001 and 004: the axes of 18-DOPs without the last.
AXES = {"aabb": 3, "16-dop": 8, "18-dop": 9, "24-dop": 12}
# Padding of a motion that is cut off, in units of the largest coordinate: 3 roundings of its end, POSITION_ERROR for
# positions that are rounded once more, and 1 rounding of the bound. (Those positions have 3 roundings: the margin is 8
# / 7.)
STEP_PADDING = LERP * UNIT_ROUNDOFF + POSITION_ERROR + UNIT_ROUNDOFF
# Sums of three coordinates, in units of the sum of their magnitudes: 2 roundings, and 1 of the bound.
_OBLIQUE_ERROR = 3 * UNIT_ROUNDOFF * 4 / 3
# A squared distance: 1 rounding of a difference, twice in its square, which has 1, and 2 sums.
_ROUNDED_DOWN = 1.0 - 5 * UNIT_ROUNDOFF * 1800  # which costs nothing
UNDERFLOW = 1e-320  # what is rounded among the denormals, 5e-324 each
NO_PADDING = np.empty(0)


def bound_vertices(
    x0: np.ndarray, x1: np.ndarray, bounds: str = "aabb", horizon: float = 1.0, relative_padding: float = 0.0,
    padding: np.ndarray = NO_PADDING, pool: ThreadPool = SERIAL, new: New = np.empty,
) -> np.ndarray:  # fmt: skip
    """(n, 2 axes) bounds of vertices moving from x0 towards x1, (n, 3) each, up to t = horizon.

    relative_padding: in units of the largest coordinate of each vertex. A horizon before the end needs STEP_PADDING:
    positions there are rounded. With it, the bounds also hold for the motion to rounded positions anywhere on the way.
    padding: (n,) how far around each vertex the bounds go, or none.
    """
    out, oblique = new((len(x0), 2 * AXES[bounds])), _OBLIQUE[: AXES[bounds] - 3]
    pool.run_range(
        lambda a, b: _bound_vertices(x0, x1, oblique, horizon, relative_padding, padding, out, a, b), len(x0)
    )
    return out


def unbounded(count: int) -> np.ndarray:
    """So many bounds that overlap all others: brute force."""
    return np.tile(np.array([-np.inf, np.inf] * 3), (count, 1))


@kernel
def _bound_vertices(x0, x1, oblique, horizon, relative_padding, padding, out, begin, end_of_range):
    axes = 3 + len(oblique)
    for v in range(begin, end_of_range):
        start, end = row(x0, v), row(x1, v)
        total = relative_padding * max(max_norm(start), max_norm(end)) + UNDERFLOW if relative_padding > 0.0 else 0.0
        if horizon < 1.0:
            end = lerp(start, end, horizon)
        if len(padding) > 0:  # and the rounding of the subtraction
            total += padding[v] + STEP_PADDING * (max(max_norm(start), max_norm(end)) + padding[v])
        for k in range(3):
            out[v, 2 * k] = min(start[k], end[k]) - total
            out[v, 2 * k + 1] = max(start[k], end[k]) + total
        for k in range(3, axes):
            lower0, upper0 = _project(start, oblique[k - 3], 3.0 * total)
            lower1, upper1 = _project(end, oblique[k - 3], 3.0 * total)
            out[v, 2 * k] = min(lower0, lower1)
            out[v, 2 * k + 1] = max(upper0, upper1)


@helper
def _project(p, axis, error):
    """An interval around the exact p . axis, for p exact up to error along the axis; everything where that
    overflows."""
    value = p[0] * axis[0] + p[1] * axis[1] + p[2] * axis[2]
    error += _OBLIQUE_ERROR * (abs(p[0]) + abs(p[1]) + abs(p[2])) + UNDERFLOW
    lower, upper = value - error, value + error
    if np.isfinite(lower) and np.isfinite(upper):
        return lower, upper
    return -np.inf, np.inf


def bound_union(bounds: np.ndarray, groups: np.ndarray, pool: ThreadPool = SERIAL, new: New = np.empty) -> np.ndarray:
    """Bounds of groups of bounded things, (k, members) ids."""
    out = new((len(groups), bounds.shape[1]))
    pool.run_range(lambda begin, end: _bound_union(bounds, groups, out, begin, end), len(groups))
    return out


@kernel
def _bound_union(bounds, groups, out, begin, end):
    for g in range(begin, end):
        for c in range(0, bounds.shape[1], 2):
            lower, upper = bounds[groups[g, 0], c], bounds[groups[g, 0], c + 1]
            for j in range(1, groups.shape[1]):
                lower = min(lower, bounds[groups[g, j], c])
                upper = max(upper, bounds[groups[g, j], c + 1])
            out[g, c], out[g, c + 1] = lower, upper


@helper
def box(bounds, i):
    """The first three intervals of row i: loaded once, compared with many."""
    return bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3], bounds[i, 4], bounds[i, 5]


@helper
def distance_to_box(p, bounds, i):
    """From a point to the box of row i, squared, less a little for rounding; infinite where the row is empty."""
    total = 0.0
    for k in range(3):
        apart = max(0.0, max(bounds[i, 2 * k] - p[k], p[k] - bounds[i, 2 * k + 1]))
        total += apart * apart
    return total * _ROUNDED_DOWN


@helper
def overlap(a_box, a, i, b, j):
    """Row i of bounds a, whose box is given, and row j of bounds b are not separated along any axis.

    Boxes without branches: half of them would be mistaken, which made the traversal 1.6 times slower.
    """
    together = (
        (a_box[0] <= b[j, 1]) & (b[j, 0] <= a_box[1])
        & (a_box[2] <= b[j, 3]) & (b[j, 2] <= a_box[3])
        & (a_box[4] <= b[j, 5]) & (b[j, 4] <= a_box[5])
    )  # fmt: skip
    if a.shape[1] > 6 and together:
        for c in range(6, a.shape[1], 2):
            if a[i, c] > b[j, c + 1] or b[j, c] > a[i, c + 1]:
                return False
    return together
