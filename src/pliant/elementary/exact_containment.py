"""Whether a vertex is in a cell, in integers: decides every finite input, as ``containment`` defines it."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.orientation import ROWS, WIDTH, set_corners, turn_sign, volume_sign
from pliant.elementary.certified import HIT, MISS
from pliant.elementary.containment import triangle_count, triangle_of
from pliant.runtime.jit import helper, kernel, out_of_line

POINT = 3  # in the points of the machine; 0, 1, 2 are the triangle


@kernel
def contain_in_integers(x, shapes, pairs, undecided, status):
    """Decide the pairs that undecided names, in place; returns how many cells hold their vertex."""
    hits = 0
    m, points = np.empty((ROWS, WIDTH), np.int64), np.zeros((6, 3))
    for p in undecided:
        v, cell = pairs[p, 0], pairs[p, 1]
        for k in range(3):
            points[POINT, k] = x[v, k]
        winding, on_surface = 0, False
        for i in range(triangle_count(shapes, cell)):
            f = triangle_of(shapes, cell, i)
            for j in range(3):
                for k in range(3):
                    points[j, k] = x[f[j], k]
            turn, on_surface = turn_in_integers(m, points)
            if on_surface:
                break
            winding += turn
        status[p] = HIT if on_surface or winding != 0 else MISS
        hits += status[p] == HIT
    return hits


@helper
def turn_in_integers(m, points):
    """What a triangle, points 0 to 2, adds to the winding number around point 3; and whether it holds that point."""
    out_of_line()
    set_corners(m, points)
    s = volume_sign(m, points, POINT, 0, 1, 2)
    if s == 0:
        return 0, _on_triangle(m, points)
    turn = _turn(m, points)
    return (turn if turn * s > 0 else 0), False


@helper
def _turn(m, x):
    """How often the triangle turns around the ray from the point upwards (see ``containment``)."""
    out_of_line()
    turn = 0
    for i in range(3):
        j = (i + 1) % 3
        if (x[i, 1] <= x[POINT, 1]) != (x[j, 1] <= x[POINT, 1]):
            upwards = 1 if x[i, 1] <= x[POINT, 1] else -1
            turn += upwards if turn_sign(m, x, 2, POINT, i, j) == upwards else 0
    return turn


@helper
def _on_triangle(m, x):
    """The point, which is in a plane with the triangle, is on it.

    Seen along an axis that sees an area, the point turns the same way with all sides. A triangle that shows none along
    any axis is the union of its sides.
    """
    out_of_line()
    for k in range(3):
        if turn_sign(m, x, k, 0, 1, 2) != 0:
            lowest, highest = 1, -1
            for i in range(3):
                sign = turn_sign(m, x, k, POINT, i, (i + 1) % 3)
                lowest, highest = min(lowest, sign), max(highest, sign)
            return lowest * highest >= 0
    return _on_segment(m, x, 0, 1) or _on_segment(m, x, 1, 2) or _on_segment(m, x, 2, 0)


@helper
def _on_segment(m, x, i, j):
    out_of_line()
    for k in range(3):
        if x[POINT, k] < min(x[i, k], x[j, k]) or x[POINT, k] > max(x[i, k], x[j, k]):
            return False
        if turn_sign(m, x, k, POINT, i, j) != 0:
            return False
    return True
