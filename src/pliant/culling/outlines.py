"""The other contour test: the contour, seen along the axis of the cone, does not meet itself, edge against edge.

A star-shaped contour is simple, but few simple contours are star-shaped: on irregular meshes edges jut out at every
angle, and are seen from behind wherever the centre is. Where the linear test (``contours``) proves nothing, comparing
all pairs of edges, n^2 / 2 boxes and a few axes for those that overlap, still costs a tenth of what the pairs of faces
inside of the patch would. (The theorem only asks for a simple contour. Its winding number is then 1: faces that keep
their orientation cover nothing a negative number of times.)

Edges that share no vertex are apart if an axis separates them at both ends of the motion, as in ``filters/axes``.
Neighbours need no test: where one turns straight back on the other, the far end of one lies on the other, and so does
the next edge, which starts there and has no vertex in common with it. (In a triangle, the faces have positive areas
that add up to its own.)

Rounding. Points are p = (a . v, a . w), a seen from the first vertex as it moves, v and w of length 1 or less across
the axis; the direction of projection is v x w of the numbers as they are, off the cone's axis by some u, which the
margin at the cone's edge (1e-9) makes up for. With M the extent, coordinates are at most |v|_1 M <= sqrt(3) M, and have
1 + 3 roundings; vertices off by the position error p make 2 p |v|_1 more. A difference of two along an axis (x, y) is
off by twice that, and by 2 roundings of each product and 1 of the sum with the threshold, on sqrt(3) M: 5 more, in
units of |x| + |y|.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import DOT, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import cross, dot, row, sub
from pliant.runtime.jit import helper, in_line

MOST_EDGES = 512
_FOUND = 4 * MOST_EDGES  # after the rows of boxes: which of them overlap one
COORDINATE_ERROR = 2.3 * 3**0.5 * (1 + DOT) * UNIT_ROUNDOFF  # times M
_OF_POSITION_ERROR = 2.0 * 3  # sqrt(3) rounded up: margin 1.7
_ALONG = 4.0  # 2, and 5 / 4 / 2.3 for the roundings: margin 1.5


@helper
def new_outline():
    """Buffers for one contour: (x, y) at t = 0 and at t = 1; and boxes of the edges, each coordinate a row."""
    return np.empty((MOST_EDGES + 1, 4)), np.empty(5 * MOST_EDGES)


@helper
def surely_simple(x0, x1, loop, begin, end, axis, size, position_error, outline):
    """The contour does not meet itself during the motion, as seen along the axis."""
    count = end - begin
    points, boxes = outline
    if count > MOST_EDGES or not (size > 1e-100 and size < 1e100):
        return False
    error = COORDINATE_ERROR * size + _OF_POSITION_ERROR * position_error
    _project(x0, x1, loop, begin, end, axis, points)
    for i in range(count):
        for k in range(2):
            boxes[k * MOST_EDGES + i] = (
                min(min(points[i, k], points[i, k + 2]), min(points[i + 1, k], points[i + 1, k + 2])) - error
            )
            boxes[(k + 2) * MOST_EDGES + i] = (
                max(max(points[i, k], points[i, k + 2]), max(points[i + 1, k], points[i + 1, k + 2])) + error
            )
    for i in range(2, count):
        if _mark_overlapping(boxes, i, i - 1) > 0:  # side by side: few have any
            for j in range(1 if i == count - 1 else 0, i - 1):
                if boxes[_FOUND + j] > 0.0 and not _apart(points, i, j, error):
                    return False
    return True


@helper
def _mark_overlapping(boxes, i, count):
    """Which of the first boxes overlap box i; returns how many."""
    in_line()
    left, low = boxes[i], boxes[MOST_EDGES + i]
    right, high = boxes[2 * MOST_EDGES + i], boxes[3 * MOST_EDGES + i]
    total = 0
    for j in range(count):
        together = (
            (left <= boxes[2 * MOST_EDGES + j]) & (boxes[j] <= right)
            & (low <= boxes[3 * MOST_EDGES + j]) & (boxes[MOST_EDGES + j] <= high)
        )  # fmt: skip
        boxes[_FOUND + j] = 1.0 if together else 0.0
        total += together
    return total


@helper
def _project(x0, x1, loop, begin, end, axis, points):
    """Both ends of the way of each vertex as seen along the axis; the first again after the last."""
    v = cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.6 else (0.0, 1.0, 0.0))
    w = cross(axis, v)
    o0, o1 = row(x0, loop[begin]), row(x1, loop[begin])
    count = end - begin
    for k in range(count):
        a0, a1 = sub(row(x0, loop[begin + k]), o0), sub(row(x1, loop[begin + k]), o1)
        points[k, 0], points[k, 1], points[k, 2], points[k, 3] = dot(a0, v), dot(a0, w), dot(a1, v), dot(a1, w)
    for c in range(4):
        points[count, c] = points[0, c]


@helper
def _apart(points, i, j, error):
    """Edges i and j are separated by an axis across one of them, or along the first, as they are halfway."""
    ax = points[i + 1, 0] + points[i + 1, 2] - points[i, 0] - points[i, 2]
    ay = points[i + 1, 1] + points[i + 1, 3] - points[i, 1] - points[i, 3]
    bx = points[j + 1, 0] + points[j + 1, 2] - points[j, 0] - points[j, 2]
    by = points[j + 1, 1] + points[j + 1, 3] - points[j, 1] - points[j, 3]
    return (
        _separated_by(points, i, j, -ay, ax, error)
        or _separated_by(points, i, j, -by, bx, error)
        or _separated_by(points, i, j, ax, ay, error)
    )


@helper
def _separated_by(points, i, j, x, y, error):
    """Along (x, y) one edge is beyond the other at both ends of the motion."""
    threshold = _ALONG * error * (abs(x) + abs(y))
    below = above = True
    for c in range(0, 4, 2):
        a, b = points[i, c] * x + points[i, c + 1] * y, points[i + 1, c] * x + points[i + 1, c + 1] * y
        d, e = points[j, c] * x + points[j, c + 1] * y, points[j + 1, c] * x + points[j + 1, c + 1] * y
        below = below and max(a, b) + threshold < min(d, e)
        above = above and max(d, e) + threshold < min(a, b)
    return below or above
