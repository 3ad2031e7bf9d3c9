"""Cells of up to four corners side by side (``lanes``): tetrahedra and shells, each a triangle and one more corner.

Error bound, range and thresholds are those of triangles: they depend on the largest coordinate, not on how many corners
there are. Corners of a triangle are filled up with its last one, which changes nothing.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import dot, max_norm
from pliant.filters.axes.lanes import (
    ABOVE,
    AT_ONCE,
    AXIS,
    AXIS_ERROR,
    BEST,
    BLOCK,
    LANES,
    NEVER,
    ONE,
    RADII,
    THRESHOLD,
    between_centres,
    correct_axis,
    from_a_to_b,
    furthest,
    groups_of,
    load_corner,
    set_threshold,
    sizes_of,
    upper,
)
from pliant.filters.axes.separation import ALLOWED
from pliant.mesh.cell_features import cells_adjacent
from pliant.runtime.jit import helper, in_line, kernel, one_copy

MOST_IN_LANES = 4  # corners
# The fourth corners of a and of b, now and then at the end, are behind the rows of triangles.
_FOURTH = BLOCK
_BLOCK = BLOCK + 12 * LANES
_CORRECTIONS = 3  # as of larger cells, where the axis between the centres corrected once keeps no pair apart
_OF_EXTENT = np.float32(ALLOWED) + AXIS_ERROR


@kernel
def cull_small_cells(cells, points, padding, pairs, count, separate):
    """Move the pairs of cells that no axis separates to the front; returns how many there are.

    points: (n, 6) start and end of the vertices, with coordinates near 1; padding: (c,) how far around it a cell goes,
    or none; separate: no two of them are adjacent. Those touch, now and always, and come first.
    """
    block, corners, corner_count, adjacent = np.empty(_BLOCK, np.float32), cells.corners, cells.corner_count, 0
    for p in range(0 if separate else count):
        i, j = pairs[p, 0], pairs[p, 1]
        if cells_adjacent(corners, corner_count, i, j):
            pairs[p, 0], pairs[p, 1] = pairs[adjacent, 0], pairs[adjacent, 1]
            pairs[adjacent, 0], pairs[adjacent, 1] = i, j
            adjacent += 1
    for times in (1, _CORRECTIONS):
        kept = adjacent
        for first in range(adjacent, count, LANES):
            some = pairs[first : min(first + LANES, count)]
            _load(corners, points, padding, some, block)
            _relax(block, len(some), times)
            for lane in range(len(some)):
                pairs[kept, 0], pairs[kept, 1] = some[lane, 0], some[lane, 1]
                kept += block[BEST + lane] < ONE
        count = kept
    return count


@helper
def _load(corners, points, padding, pairs, block):
    """As for elements: relative to the first corner of the first cell."""
    one_copy()
    for lane in range(len(pairs)):
        i, j = pairs[lane, 0], pairs[lane, 1]
        v = np.uint32(corners[i, 0])
        origin = points[v, 0], points[v, 1], points[v, 2]
        for c in range(3):
            load_corner(points, np.uint32(corners[i, c]), origin, block, 3 * c * LANES + lane, 18 * LANES)
            load_corner(points, np.uint32(corners[j, c]), origin, block, (9 + 3 * c) * LANES + lane, 18 * LANES)
        load_corner(points, np.uint32(corners[i, 3]), origin, block, _FOURTH + lane, 6 * LANES)
        load_corner(points, np.uint32(corners[j, 3]), origin, block, _FOURTH + 3 * LANES + lane, 6 * LANES)
        gap = padding[i] + padding[j] if len(padding) > 0 else 0.0
        block[BEST + lane], block[RADII + lane] = NEVER, np.float32(gap) * ABOVE
        block[THRESHOLD + lane] = np.float32(max_norm(origin))


@helper
def _relax(block, count, times):
    """Which of the pairs the line between the centres keeps apart, as it is or corrected so many times."""
    groups = groups_of(count)
    for i in range(count):
        largest, total = sizes_of(block, i)
        later, more = sizes_of(block, 18 * LANES + i)
        fourth, still_more = _fourth_sizes(block, i)
        set_threshold(block, i, _OF_EXTENT, upper(largest, later, fourth), (total + more) + still_more)
    for k in range(3):
        for lane in range(AT_ONCE * groups):
            i, f = k * LANES + lane, _FOURTH + k * LANES + lane
            triangles = between_centres(block, i) + between_centres(block, 18 * LANES + i)
            fourth = (block[f + 3 * LANES] - block[f]) + (block[f + 9 * LANES] - block[f + 6 * LANES])
            block[AXIS + i] = triangles + fourth
    for _ in range(times + 1):
        _over_relax(block, groups)


@helper
def _fourth_sizes(block, lane):
    """The largest and the sum of the coordinates of fourth corners."""
    in_line()
    largest = total = np.float32(0.0)
    for c in (0, 3, 6, 9):
        f = _FOURTH + c * LANES + lane
        x, y, z = abs(block[f]), abs(block[LANES + f]), abs(block[2 * LANES + f])
        size = upper(x, y, z)
        largest, total = size if size > largest else largest, total + ((x + y) + z)
    return largest, total


@helper
def _over_relax(block, groups):
    """``over_relax`` of ``lanes``, for four corners."""
    one_copy()
    for i in range(AT_ONCE * groups):
        axis = block[AXIS + i], block[AXIS + LANES + i], block[AXIS + 2 * LANES + i]
        f = _FOURTH + i
        correct_axis(block, i, axis, _closest(block, i, f, axis), _closest(block, 18 * LANES + i, f + 6 * LANES, axis))


@helper
def _closest(block, i, f, axis):
    """As in ``lanes``, with the fourth corners in rows beginning at f."""
    in_line()
    away = -axis[0], -axis[1], -axis[2]
    a = _further(block, f, axis, furthest(block, i, axis))
    return from_a_to_b(a, _further(block, f + 3 * LANES, away, furthest(block, 9 * LANES + i, away)))


@helper
def _further(block, f, axis, found):
    """The corner in rows beginning at f, or what was found where that is further along the axis."""
    in_line()
    x, y, z = block[f], block[LANES + f], block[2 * LANES + f]
    d = dot((x, y, z), axis)
    other = d > found[0]
    return d if other else found[0], x if other else found[1], y if other else found[2], z if other else found[3]
