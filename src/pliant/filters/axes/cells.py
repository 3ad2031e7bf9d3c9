"""Axes between cells (CSAT; paper 004, section 4.4): two cells that one axis keeps apart during the whole motion.

The paper picks the normal of a random face, and names the choice as its limit. We take the line between the centres
halfway through the motion, and correct it with over-relaxation (``separation``). Of the pairs of separate cells with
overlapping bounds that leaves 12 to 17 % on octopi and 0.2 to 0.4 % on liver; that line and what
is left of it across the relative velocity leave 26 to 34 and 18 to 23 %. An axis that keeps two cells apart keeps each
vertex and each edge of the one apart from the other: Corollaries 2 and 4, which the paper tries one by one. Corollaries
1 and 3, of single features, come after their bounds.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import sub
from pliant.filters.axes.separation import over_relaxed, surely_above
from pliant.mesh.cell_features import cells_adjacent
from pliant.runtime.jit import helper, in_line, kernel

_CORRECTIONS = 3


@kernel
def cull_cells(cells, points, largest, padding, pairs, count, separate):
    """Keep the pairs of cells that no axis separates, in place and in order; returns how many.

    points: (n, 6) start and end of the vertices, with coordinates near 1; largest: of them; padding: (c,) how far
    around it a cell goes, or none; separate: no two of them are adjacent. Those touch, now and always.
    """
    corners, corner_count, kept = cells.corners, cells.corner_count, 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        gap = padding[i] + padding[j] if len(padding) > 0 else 0.0
        if (not separate and cells_adjacent(corners, corner_count, i, j)) or not _surely_apart(
            corners, points, (i, corner_count[i]), (j, corner_count[j]), largest, gap
        ):
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@helper
def _surely_apart(corners, points, a, b, largest, gap):
    """a, b : cells, each with how many corners it has."""
    axis = sub(_centre(corners, points, b), _centre(corners, points, a))
    for _ in range(_CORRECTIONS + 1):
        least, between = _closest(corners, points, a, b, axis)
        if surely_above(least, gap, axis, largest):
            return True
        axis = over_relaxed(axis, least, between)
    return False


@helper
def _centre(corners, points, a):
    """Halfway through the motion, twice."""
    in_line()
    x = y = z = 0.0
    for c in range(a[1]):
        v = np.uint32(corners[a[0], c])
        x, y, z = (
            x + (points[v, 0] + points[v, 3]),
            y + (points[v, 1] + points[v, 4]),
            z + (points[v, 2] + points[v, 5]),
        )
    return x / a[1], y / a[1], z / a[1]


@helper
def _closest(corners, points, a, b, axis):
    """(how far cell b is beyond cell a along the axis, at the start or at the end of the motion, where it is less; the
    vector between the corners that say so)."""
    away = -axis[0], -axis[1], -axis[2]
    high, low = _furthest(corners, points, a, 0, axis), _furthest(corners, points, b, 0, away)
    later_high, later_low = _furthest(corners, points, a, 3, axis), _furthest(corners, points, b, 3, away)
    least, at = -low[0] - high[0], 0
    if -later_low[0] - later_high[0] < least:
        high, low, least, at = later_high, later_low, -later_low[0] - later_high[0], 3
    v, w = high[1], low[1]
    return least, (
        points[w, at] - points[v, at],
        points[w, at + 1] - points[v, at + 1],
        points[w, at + 2] - points[v, at + 2],
    )


@helper
def _furthest(corners, points, a, at, axis):
    """(how far, the vertex) of the corner that is furthest along the axis, at the start (0) or at the end (3)."""
    best, which = -np.inf, np.uint32(corners[a[0], 0])
    for c in range(a[1]):
        v = np.uint32(corners[a[0], c])  # unsigned: without a look at its sign
        d = points[v, at] * axis[0] + points[v, at + 1] * axis[1] + points[v, at + 2] * axis[2]
        which = v if d > best else which
        best = d if d > best else best
    return best, which
