"""How often a closed surface winds around a point: in doubles with a proof for most points, in integers for the rest.

The rule is that of ``containment``: a ray upwards from the point moved by (d, e, 0), 0 < e << d, meets no edge, and the
turns of the triangles above the point add up to the winding number. Only triangles count whose shadow on the ground
holds the point: a tree of boxes lists them, the column above the point. A triangle whose box holds the point itself may
hold the point: it is on the surface then, and the winding number is that of no side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.orientation import LARGEST, SIDE_ERROR, TINY, certain_sign
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, sub
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.elementary.containment import box_holds_origin, turn_around_axis
from pliant.runtime.jit import helper, kernel

_STACK = 64  # one sibling stays behind on each of at most 31 levels


class Columns(NamedTuple):
    """A surface, in the order of a tree."""

    x: np.ndarray  # (n, 3) positions
    corners: np.ndarray  # (m, 3) int32 vertices of the triangle at each place
    boxes: np.ndarray  # (m, 6) of the triangles, by place
    nodes: np.ndarray
    begin: np.ndarray


@kernel
def wind_in_doubles(surface, points, first, last, winding, status):
    """Winding number and status (HIT: on the surface, MISS or UNSURE) of points first .. last - 1; returns how many are
    UNSURE."""
    column, unsure = np.empty(len(surface.corners), np.int32), 0
    for i in range(first, last):
        p, total, answer = row(points, i), 0, MISS
        for c in range(list_column(surface, p, column)):
            turn, state = turn_in_doubles(surface, p, column[c])
            if state != MISS:
                answer = state
                break
            total += turn
        status[i], winding[i] = answer, total if answer == MISS else 0
        unsure += answer == UNSURE
    return unsure


@helper
def list_column(surface, p, out):
    """Places of the triangles above p, and of those that may hold it; returns how many."""
    stack, leaves, count, top = np.empty(_STACK, np.int64), len(surface.begin) - 1, 0, 1
    stack[0] = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if not _is_above(surface.nodes, node, p):
            continue
        if node < leaves:
            stack[top], stack[top + 1] = 2 * node, 2 * node + 1
            top += 2
            continue
        for place in range(surface.begin[node - leaves], surface.begin[node - leaves + 1]):
            if _is_above(surface.boxes, place, p):
                out[count] = place
                count += 1
    return count


@helper
def _is_above(boxes, i, p):
    """Some of the box is above p, or at it."""
    if p[0] < boxes[i, 0] or p[0] > boxes[i, 1] or p[1] < boxes[i, 2] or p[1] > boxes[i, 3]:
        return False
    return p[2] <= boxes[i, 5]


@helper
def turn_in_doubles(surface, p, place):
    """What a triangle adds to the winding number; and MISS, HIT where it holds p, or UNSURE."""
    f = surface.corners
    a = sub(row(surface.x, f[place, 0]), p)
    b = sub(row(surface.x, f[place, 1]), p)
    c = sub(row(surface.x, f[place, 2]), p)
    la, lb, lc = max_norm(a), max_norm(b), max_norm(c)
    if min(la, min(lb, lc)) == 0.0:
        return 0, HIT
    if not max(la, max(lb, lc)) < LARGEST:
        return 0, UNSURE
    turn, known = turn_around_axis(a, b, c)
    if not known:
        return 0, UNSURE
    if not box_holds_origin(a, b, c):  # it is in the column: above p, or beside the axis and without a turn
        return turn, MISS
    s = certain_sign(dot(cross(a, b), c), SIDE_ERROR * la * lb * lc + TINY)
    if s == 0:
        return 0, UNSURE
    return (turn if turn * s > 0 else 0), MISS
