"""CSAT between cells (paper 004, section 4.4): two cells that one axis keeps apart during the whole motion.

The paper picks the normal of a random face, and names the choice as its limit. We take the line between the centres
halfway through the motion, and what is left of it across the relative velocity; see ``bench volumes`` for what each of
them culls. An axis that keeps two cells apart keeps each vertex and each edge of the one apart from the other:
Corollaries 2 and 4, which the paper tries one by one, and 1 and 3 for single features come after the bounds of features.
"""

from __future__ import annotations

import numpy as np

from pliant._arrays import New
from pliant._jit import helper, kernel
from pliant._threads import ALONE, Crew
from pliant.filters.csat import across
from pliant.mesh.cell_features import cells_adjacent
from pliant.vec3 import UNIT_ROUNDOFF, add, dot, scale, sub

# Dot products of coordinates up to M with L are wrong by 3 u M |L|_1, and ends of a motion cut off at a horizon by 8 u M
# in each coordinate: 22 u for a difference of two.
_ERROR = 32 * UNIT_ROUNDOFF


def gather_cells(cells, x0: np.ndarray, x1: np.ndarray, horizon: float, factor: float, crew: Crew = ALONE,
                 new: New = np.empty) -> np.ndarray:  # fmt: skip
    """(c, 2 w, 3) positions of the corners of every cell at the start, then at the end; w: most corners of a cell.

    factor: a power of two that brings the largest coordinate near 1.
    """
    width = int(cells.count.max(initial=1))
    out = new((len(cells.corners), 2 * width, 3))
    crew.run_range(lambda a, b: _gather(cells.corners, x0, x1, horizon, factor, out, a, b), len(cells.corners))
    return out


@kernel
def _gather(corners, x0, x1, horizon, factor, out, begin, end_of_range):
    width = out.shape[1] // 2
    for i in range(begin, end_of_range):
        for c in range(width):
            v = corners[i, c]
            for k in range(3):
                start, end = x0[v, k] * factor, x1[v, k] * factor
                out[i, c, k] = start
                out[i, width + c, k] = end if horizon == 1.0 else (1.0 - horizon) * start + horizon * end


@kernel
def cull_cells(cells, points, largest, reach, pairs, count):
    """Keep the pairs of cells that no axis separates, in place and in order; returns how many.

    points: from gather_cells; largest: their largest coordinate; reach: (c,) how far around it a cell goes, or none.
    Adjacent cells touch, now and always.
    """
    corners, corner_count, kept = cells.corners, cells.count, 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        gap = reach[i] + reach[j] if len(reach) > 0 else 0.0
        if cells_adjacent(corners, corner_count, i, j) or not _surely_apart(
            points, i, corner_count[i], j, corner_count[j], largest, gap
        ):
            pairs[kept, 0], pairs[kept, 1] = i, j
            kept += 1
    return kept


@helper
def _surely_apart(points, i, n, j, m, largest, gap):
    width = points.shape[1] // 2
    start = sub(_centre(points, j, 0, m), _centre(points, i, 0, n))
    end = sub(_centre(points, j, width, m), _centre(points, i, width, n))
    between = add(start, end)
    if _apart_along(points, i, n, j, m, between, largest, gap):
        return True
    return start != end and _apart_along(points, i, n, j, m, across(between, sub(end, start)), largest, gap)


@helper
def _centre(points, i, first, n):
    x = y = z = 0.0
    for c in range(first, first + n):
        x, y, z = x + points[i, c, 0], y + points[i, c, 1], z + points[i, c, 2]
    return scale((x, y, z), 1.0 / n)


@helper
def _apart_along(points, i, n, j, m, axis, largest, gap):
    """Cell j is beyond cell i along the axis by more than the gap, at the start and at the end of the motion."""
    width = points.shape[1] // 2
    slack = _ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290
    least = _lowest(points, j, 0, m, axis) - _highest(points, i, 0, n, axis) - slack
    if not least > 0.0:
        return False
    least = min(least, _lowest(points, j, width, m, axis) - _highest(points, i, width, n, axis) - slack)
    if gap > 0.0:
        return least > 0.0 and least * least > gap * gap * dot(axis, axis) * (1.0 + 1e-14)
    return least > 0.0


@helper
def _highest(points, i, first, n, axis):
    best = -np.inf
    for c in range(first, first + n):
        best = max(best, points[i, c, 0] * axis[0] + points[i, c, 1] * axis[1] + points[i, c, 2] * axis[2])
    return best


@helper
def _lowest(points, i, first, n, axis):
    best = np.inf
    for c in range(first, first + n):
        best = min(best, points[i, c, 0] * axis[0] + points[i, c, 1] * axis[1] + points[i, c, 2] * axis[2])
    return best
