"""What need not be examined, since it was far enough away and has not moved enough since: a proof, not an estimate.

Each part has a list, made at some time t0: its **surroundings**, all vertices in the box of its cells grown by
``search_radius``, and where they were; and all pairs of a cell of the part and a vertex that is nearer to it than that.
Distance is along the axis where it is most, from the box of the cell, or along the normal of a face (``gaps``).

**Distance.** Take any matrix B and any point c, and look at y = B (x - c) instead of x. A vertex that is in a
tetrahedron is in it there, too: a mean of corners stays one. Say it was d away from the cell at t0, and since then
y - (x(t0) - c0) is at most e for the vertex and at most f for all corners of the part's cells, in each
coordinate. Then the vertex is still away from the cell along the same line while e + f < d, so it is not in it. B
need not be a rotation, nor what it was computed to be. It is the inverse of the linear map that fits best what happened
to the corners since t0: what a part does as a whole, turning and stretching included, costs nothing.

**What is examined.** Let some of the search radius be spent. Pairs of the list that were less than that apart are
compared again, by boxes. Strays, which are vertices of the surroundings with e + f not below what is spent, and
vertices that do not belong to them, are compared with all cells of the part, if they are in the box of the part: what
is not in that box is in no cell. Every other pair is proved apart. A list is rebuilt when its comparisons have cost
about as much as that.

**Rounding.** u = 2**-53. For a vertex in the box of the part, y is off by at most 5 u |B| |x - c| in each coordinate
(the sum of all |B|, the largest of |x - c|), and x(t0) - c0 by u times its size. 2**-49 of both is added to e and to f,
and what was measured at t0 is reduced by more than the roundings of differences. Where these lengths are not in
1e-250 .. 1e250, or not finite, a list proves nothing, and what is in the box of its part is a stray.
"""

from __future__ import annotations

import numpy as np

from pliant.characters.detection.drifts import drift_error, drift_of, middle_of, set_drifts, undoing
from pliant.characters.detection.surroundings import (
    COMPARED,
    CROWDED,
    FOUND,
    FULL,
    LEVELS,
    PART,
    ROUNDED_DOWN,
    UPDATED,
    has_corner,
    make_list,
)
from pliant.hierarchy.cell_boxes import box_holds, box_of_cell
from pliant.runtime.jit import helper, kernel

_WORTH = 0.5  # what a comparison costs while a list is made, in others: most of it is vectorised


@kernel
def look_again(x, watch, progress, out):
    """Pairs of a vertex and a cell that need the exact test into out, (k, 2) int32, part by part.

    progress : (6,) int64, in and out. Returns UPDATED, or FULL for the next part in out or in the pool, or CROWDED.
    """
    parts, lists = watch.parts, watch.lists
    for b in range(progress[PART], len(lists.owed)):
        progress[PART] = b
        count, known = parts.cell_start[b + 1] - parts.cell_start[b], lists.around[b, 1] - lists.around[b, 0]
        if count == 0:
            continue
        work, lost, level = np.inf, 0, 0
        if known > 0:
            level, lost = _measure(x, watch, b)
            lost = _add_strangers(x, watch, b, lost)
            work = lists.owed[b] + lost * count
        if work > _WORTH * known * count:
            status = make_list(x, watch, b, progress, out)
            if status != UPDATED:
                return status
            continue
        near = lists.near[b, level] - lists.near[b, 0]
        if progress[FOUND] + lost * count + near >= len(out):
            return FULL
        _compare_near(x, watch, (b, level), progress, out)
        if lost > 0:
            _compare_strays(x, watch, (b, lost), progress, out)
        lists.owed[b] += near + lost * count
        progress[COMPARED] += near + lost * count
        if progress[COMPARED] > watch.most:
            return CROWDED
    progress[PART] = len(lists.owed)
    return UPDATED


@helper
def _measure(x, watch, b):
    """The level up to which the search radius is spent, and how many vertices nearby are strays (in the buffers)."""
    parts, lists, pool, buffers = watch.parts, watch.lists, watch.pool, watch.buffers
    at, box = watch.boxes.members, watch.boxes.cells[b]
    first, last = parts.member_start[b], parts.member_start[b + 1]
    (begin, end), members = (lists.around[b, 0], lists.around[b, 1]), last - first
    c, places = middle_of(at, first, last), pool.places
    t = undoing(at, places, c, (first, begin, members), lists.gram[b])
    points = at[0, first:last], at[1, first:last], at[2, first:last]
    set_drifts(
        points, (places[0, begin:end], places[1, begin:end], places[2, begin:end]), c, t, buffers.lengths[:members]
    )
    furthest = 0.0
    for i in range(members):
        furthest = max(furthest, buffers.lengths[i])
    for p in range(begin + members, end):
        buffers.lengths[p - begin] = drift_of(x, pool.around[p], places, p, c, t)
    f = furthest + 2.0 * drift_error(box, c, t, lists.extent[b])
    cells = parts.cell_start[b + 1] - parts.cell_start[b]
    level, lost = _balance(lists, b, buffers.lengths[: end - begin], f, cells), 0
    spent = lists.search_radius[b] * (level / LEVELS) * ROUNDED_DOWN
    for p in range(begin, end):
        if not buffers.lengths[p - begin] + f < spent:
            buffers.vertices[lost] = pool.around[p]
            lost += box_holds((box[0], box[1], box[2], box[3], box[4], box[5]), x, pool.around[p])
    return level, lost


@helper
def _balance(lists, b, lengths, f, cells):
    """The level at which near pairs and strays, together, take the fewest comparisons: the higher it is, the more
    pairs, the lower, the more strays."""
    quarter = lists.search_radius[b] / LEVELS
    below_1 = below_2 = below_3 = below_4 = 0
    for e in lengths:
        total = e + f
        below_1 += total < quarter
        below_2 += total < 2.0 * quarter
        below_3 += total < 3.0 * quarter
        below_4 += total < 4.0 * quarter
    best, least = 0, np.inf
    for level, below in ((1, below_1), (2, below_2), (3, below_3), (4, below_4)):
        work = lists.near[b, level] - lists.near[b, 0] + (len(lengths) - below) * cells
        if work < least:
            best, least = level, work
    return best


@helper
def _add_strangers(x, watch, b, lost):
    """Vertices in the box of the part that are not in its surroundings, after the other strays; how many then."""
    start, known, v = watch.parts.vertex_start, watch.lists.known[b], watch.boxes.vertices
    box, xs, ys, zs = watch.boxes.cells, watch.boxes.columns[0], watch.boxes.columns[1], watch.boxes.columns[2]
    x0, x1, y0, y1, z0, z1 = box[b, 0], box[b, 1], box[b, 2], box[b, 3], box[b, 4], box[b, 5]
    for a in range(len(v)):
        meets = (v[a, 0] <= x1) & (v[a, 1] >= x0) & (v[a, 2] <= y1) & (v[a, 3] >= y0)
        if meets & (v[a, 4] <= z1) & (v[a, 5] >= z0):
            strangers = 0  # counted first, which is vectorised: most often there are none
            for i in range(start[a], start[a + 1]):
                inside = (xs[i] >= x0) & (xs[i] <= x1) & (ys[i] >= y0) & (ys[i] <= y1) & (zs[i] >= z0) & (zs[i] <= z1)
                strangers += inside & (not known[i])
            if strangers > 0:
                for i in range(start[a], start[a + 1]):
                    watch.buffers.vertices[lost] = i
                    lost += box_holds((x0, x1, y0, y1, z0, z1), x, i) & (not known[i])
    return lost


@helper
def _compare_near(x, watch, named, progress, out):
    """Pairs of the list up to a level."""
    (b, level), near, count = named, watch.pool.near, progress[FOUND]
    for p in range(watch.lists.near[b, 0], watch.lists.near[b, level]):
        v, cell = near[p, 0], near[p, 1]
        out[count, 0], out[count, 1] = v, cell
        count += box_holds(box_of_cell(x, watch.parts.corners, cell, 4), x, v)
    progress[FOUND] = count


@helper
def _bound_cells(x, parts, b, boxes):
    """Boxes of the cells of a part, coordinate by coordinate."""
    first = parts.cell_start[b]
    for i in range(parts.cell_start[b + 1] - first):
        t = box_of_cell(x, parts.corners, first + i, 4)
        boxes[0, i], boxes[1, i], boxes[2, i], boxes[3, i], boxes[4, i], boxes[5, i] = t


@helper
def _compare_strays(x, watch, named, progress, out):
    (b, lost), parts, t, count = named, watch.parts, watch.buffers.boxes, progress[FOUND]
    _bound_cells(x, parts, b, t)
    x0, x1, y0, y1, z0, z1 = t[0], t[1], t[2], t[3], t[4], t[5]
    first, cells = parts.cell_start[b], parts.cell_start[b + 1] - parts.cell_start[b]
    for s in range(lost):
        v, found = watch.buffers.vertices[s], 0
        px, py, pz = x[v, 0], x[v, 1], x[v, 2]
        for i in range(cells):  # counted first, which is vectorised
            inside = (px >= x0[i]) & (px <= x1[i]) & (py >= y0[i]) & (py <= y1[i]) & (pz >= z0[i]) & (pz <= z1[i])
            found += inside
        for i in range(cells if found > 0 else 0):
            out[count, 0], out[count, 1] = v, first + i
            count += box_holds((x0[i], x1[i], y0[i], y1[i], z0[i], z1[i]), x, v) & (
                not has_corner(parts.corners, first + i, v)
            )
    progress[FOUND] = count
