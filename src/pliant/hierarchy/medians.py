"""Elements sorted into the nodes of a tree: halves along the widest axis of their centres, level by level.

Centres are integers, steps of a 2^30th of the extent of all of them, four of which are a row: three coordinates and the
number of the element. Rows move as two words, and where a row goes is a sum, not a branch: a processor would be
mistaken about every second of them. That takes a third of the time of doubles and branches.
"""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

_STEPS = 2.0**30  # coordinates are below this, and a row's number is of any size
_LARGE = 64  # rows from which on nine of them are sampled to guess the median
_SAMPLE = 128  # rows of a node that tell its widest axis
_GUESSES = 12  # after so many halving of the interval is surer: 31 steps at most


def centres_of(bounds: np.ndarray, groups: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """(k, 3) middle of boxes that are nowhere written down: each unites those of a group.

    bounds : (n, 2 axes); groups : (k, members) int32 rows of bounds
    """
    out = np.empty((len(groups), 3))
    pool.run_range(lambda begin, end: _write_centres(bounds, groups, out, begin, end), len(groups))
    return out


@kernel
def _write_centres(bounds, groups, out, begin, end):
    for i in range(begin, end):
        for k in range(3):
            v = np.uint32(groups[i, 0])  # unsigned: without a look at the sign
            lower, upper = bounds[v, 2 * k], bounds[v, 2 * k + 1]
            for j in range(1, groups.shape[1]):
                v = np.uint32(groups[i, j])
                lower, upper = min(lower, bounds[v, 2 * k]), max(upper, bounds[v, 2 * k + 1])
            out[i, k] = 0.5 * lower + 0.5 * upper  # halved first: the sum could overflow


def rows_of(centres: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """(k, 4) int32 centres and the number of each; 0 where they are not finite."""
    extent, rows = np.empty((3, 2)), np.empty((len(centres), 4), np.int32)
    _widen(centres, extent)
    pool.run_range(lambda begin, end: _write_rows(centres, extent, rows, begin, end), len(centres))
    return rows


@kernel
def _widen(centres, extent):
    """Smallest and largest coordinates."""
    lower_x = lower_y = lower_z = np.inf
    upper_x = upper_y = upper_z = -np.inf
    for i in range(len(centres)):
        x, y, z = centres[i, 0], centres[i, 1], centres[i, 2]
        lower_x, lower_y, lower_z = min(lower_x, x), min(lower_y, y), min(lower_z, z)
        upper_x, upper_y, upper_z = max(upper_x, x), max(upper_y, y), max(upper_z, z)
    extent[0, 0], extent[1, 0], extent[2, 0] = lower_x, lower_y, lower_z
    extent[0, 1], extent[1, 1], extent[2, 1] = upper_x, upper_y, upper_z


@kernel
def _write_rows(centres, extent, rows, begin, end):
    widest = 0.0
    for k in range(3):
        widest = max(widest, 0.5 * extent[k, 1] - 0.5 * extent[k, 0])
    per_length = (_STEPS - 1.0) / widest if widest > 1e-290 and widest < np.inf else 0.0
    for i in range(begin, end):
        for k in range(3):
            steps = (0.5 * centres[i, k] - 0.5 * extent[k, 0]) * per_length
            rows[i, k] = np.int32(steps) if steps >= 0.0 and steps < _STEPS else 0  # not where it is no number
        rows[i, 3] = i


@kernel
def split_below(rows, words, level, i, depth):
    """Sort the rows below node i of a level into the nodes of the level ``depth``; words: the same memory, (k, 2)."""
    count = len(rows)
    for below in range(depth - level):
        for node in range(i << below, (i + 1) << below):
            at = level + below
            begin, end = (node * count) >> at, ((node + 1) * count) >> at
            _halve(rows, words, begin, ((2 * node + 1) * count) >> (at + 1), end)


@helper
def _halve(rows, words, begin, middle, end):
    """Quickselect: the smallest middle - begin of rows begin .. end - 1, along the widest axis, come first."""
    axis, guesses = _widest_axis(rows, begin, end), 0
    while end - begin > 1:
        pivot = _guess(rows, axis, begin, end) if guesses < _GUESSES else _half_way(rows, axis, begin, end)
        guesses += 1
        border = _part(rows, words, axis, begin, end, pivot)
        if middle < border:
            end = border
        elif border > begin:
            begin = border
            if middle == border:
                return
        else:  # none is less: those that are equal come first, and there are some
            begin = _part(rows, words, axis, begin, end, pivot + 1)
            if middle <= begin:
                return


@helper
def _widest_axis(rows, begin, end):
    """Along which some of the rows extend furthest: to look at all of them took a fifth of the time."""
    lower_x = lower_y = lower_z = np.int32(2**31 - 1)
    upper_x = upper_y = upper_z = np.int32(0)
    for i in range(begin, end, max(1, (end - begin) // _SAMPLE)):
        x, y, z = rows[i, 0], rows[i, 1], rows[i, 2]
        lower_x, lower_y, lower_z = min(lower_x, x), min(lower_y, y), min(lower_z, z)
        upper_x, upper_y, upper_z = max(upper_x, x), max(upper_y, y), max(upper_z, z)
    x, y, z = upper_x - lower_x, upper_y - lower_y, upper_z - lower_z
    return 0 if x >= y and x >= z else 1 if y >= z else 2


@helper
def _part(rows, words, axis, begin, end, pivot):
    """Rows that are less than the pivot come first; returns where the others begin.

    Each row changes places with the first that is not less, also where it is not less itself, and then it stays the
    first of them.
    """
    border = begin
    for i in range(begin, end):
        is_less = rows[i, axis] < pivot
        a, b = words[i, 0], words[i, 1]
        c, d = words[border, 0], words[border, 1]
        words[border, 0], words[border, 1] = a, b
        words[i, 0], words[i, 1] = c, d
        border += is_less
    return border


@helper
def _guess(rows, axis, begin, end):
    """A row's coordinate that is near the median, and not the smallest where it is one of several."""
    last, middle = end - 1, (begin + end) >> 1
    if end - begin < _LARGE:
        return _median_of_three(rows[begin, axis], rows[middle, axis], rows[last, axis])
    step = (end - begin) >> 3
    return _median_of_three(
        _median_of_three(rows[begin, axis], rows[begin + step, axis], rows[begin + 2 * step, axis]),
        _median_of_three(rows[middle - step, axis], rows[middle, axis], rows[middle + step, axis]),
        _median_of_three(rows[last - 2 * step, axis], rows[last - step, axis], rows[last, axis]),
    )


@helper
def _median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@helper
def _half_way(rows, axis, begin, end):
    """A number above the smallest coordinate, where there is another one."""
    lower = upper = rows[begin, axis]
    for i in range(begin, end):
        lower, upper = min(lower, rows[i, axis]), max(upper, rows[i, axis])
    return lower + ((upper - lower + 1) >> 1)
