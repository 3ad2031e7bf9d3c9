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

from pliant.arithmetic.vec3 import add
from pliant.filters.axes.separation import over_relaxed, surely_above
from pliant.mesh.cell_features import cells_adjacent
from pliant.mesh.features import Elements
from pliant.runtime.arrays import New
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

_CORRECTIONS = 3


def gather_cells(
    cells: Elements, x0: np.ndarray, x1: np.ndarray, horizon: float, factor: float, pool: ThreadPool = SERIAL,
    new: New = np.empty,
) -> np.ndarray:  # fmt: skip
    """(c, 6 w + 6) positions of the corners of every cell, w at most, and their mean: at the start, then at the end.

    factor: a power of two that brings the largest coordinate near 1.
    """
    width = int(cells.corner_count.max(initial=1))
    out = new((len(cells.corners), 6 * width + 6))
    pool.run_range(lambda a, b: _gather(cells, x0, x1, horizon, factor, out, a, b), len(cells.corners))
    return out


@kernel
def _gather(cells, x0, x1, horizon, factor, out, begin, end_of_range):
    corners, corner_count = cells.corners, cells.corner_count
    half = out.shape[1] // 2
    for i in range(begin, end_of_range):
        n = corner_count[i]
        for k in range(3):
            first = last = 0.0
            for c in range(n):
                start, end = x0[corners[i, c], k] * factor, x1[corners[i, c], k] * factor
                end = end if horizon == 1.0 else (1.0 - horizon) * start + horizon * end
                out[i, 3 * c + k], out[i, half + 3 * c + k] = start, end
                first, last = first + start, last + end
            out[i, half - 3 + k], out[i, 2 * half - 3 + k] = first / n, last / n


@kernel
def cull_cells(cells, points, largest, padding, pairs, count, separate):
    """Keep the pairs of cells that no axis separates, in place and in order; returns how many.

    points: from gather_cells; largest: their largest coordinate; padding: (c,) how far around it a cell goes, or none;
    separate: no two of them are adjacent. Those touch, now and always.
    """
    corners, corner_count, kept = cells.corners, cells.corner_count, 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        gap = padding[i] + padding[j] if len(padding) > 0 else 0.0
        if (not separate and cells_adjacent(corners, corner_count, i, j)) or not _surely_apart(
            points, i, corner_count[i], j, corner_count[j], largest, gap
        ):
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@helper
def _surely_apart(points, i, n, j, m, largest, gap):
    half = points.shape[1] // 2
    axis = add(_between(points, i, j, half - 3), _between(points, i, j, 2 * half - 3))
    for _ in range(_CORRECTIONS + 1):
        least, between = _closest(points, i, n, j, m, axis)
        if surely_above(least, gap, axis, largest):
            return True
        axis = over_relaxed(axis, least, between)
    return False


@helper
def _between(points, i, j, at):
    """From the centre of cell i to that of cell j."""
    return points[j, at] - points[i, at], points[j, at + 1] - points[i, at + 1], points[j, at + 2] - points[i, at + 2]


@helper
def _closest(points, i, n, j, m, axis):
    """(how far cell j is beyond cell i along the axis, at the start or at the end of the motion, where it is less; the
    vector between the corners that say so)."""
    half = points.shape[1] // 2
    high, low = _highest(points, i, 0, n, axis), _lowest(points, j, 0, m, axis)
    later_high, later_low = _highest(points, i, half, n, axis), _lowest(points, j, half, m, axis)
    least = low[0] - high[0]
    if later_low[0] - later_high[0] < least:
        high, low, least = later_high, later_low, later_low[0] - later_high[0]
    a, b = high[1], low[1]
    return least, (
        points[j, b] - points[i, a],
        points[j, b + 1] - points[i, a + 1],
        points[j, b + 2] - points[i, a + 2],
    )


@helper
def _highest(points, i, at, n, axis):
    """(how far, the column) of the corner that is furthest along the axis."""
    best, which = -np.inf, at
    for c in range(at, at + 3 * n, 3):
        d = points[i, c] * axis[0] + points[i, c + 1] * axis[1] + points[i, c + 2] * axis[2]
        which = c if d > best else which
        best = d if d > best else best
    return best, which


@helper
def _lowest(points, i, at, n, axis):
    best, which = np.inf, at
    for c in range(at, at + 3 * n, 3):
        d = points[i, c] * axis[0] + points[i, c + 1] * axis[1] + points[i, c + 2] * axis[2]
        which = c if d < best else which
        best = d if d < best else best
    return best, which
