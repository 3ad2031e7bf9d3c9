"""The formulas of a query as programs over polynomials.

What a query computes before any decision is straight-line arithmetic, so it is data: rows of (operation, dst, a, b),
which plain Python writes down and one short loop executes. As code, the formulas took most of the time of compilation.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.polynomials import DEGREES, ROWS, add_product, subtract
from pliant.runtime.jit import helper, out_of_line

STOP, DIFFERENCE, PRODUCT, ADD_PRODUCT, SUBTRACT_PRODUCT = range(5)

# Polynomials: three coordinates each for points and vectors.
POINTS, E1, E2, W, NORMAL = (0, 3, 6, 9), 12, 15, 18, 21
F, INSIDE = 24, 25  # four conditions
S, R, CROSS, BETWEEN = 29, 32, 35, 38

# The row that describes the query: its kind, then for each segment whether its point can meet it.
QUERY, KIND = ROWS - 1, 0

# Which end point can meet which segment, as rows of a query: v f0 f1 f2, or a0 a1 b0 b1.
SEGMENTS = np.array(
    [[(0, 1, 2), (0, 2, 3), (0, 3, 1), (0, 0, 0)], [(0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)]], np.int64
)
_ENDS = (((1, 2), (1, 3), (1, 0)), ((0, 1), (2, 3), (0, 2)))  # of e1, e2 and w


def _difference(dst, a, b):
    return [(DIFFERENCE, dst + k, a + k, b + k) for k in range(3)]


def _cross(dst, a, b, k):
    i, j = (k + 1) % 3, (k + 2) % 3
    return [(PRODUCT, dst, a + i, b + j), (SUBTRACT_PRODUCT, dst, a + j, b + i)]


def _dot(dst, a, b):
    return [(PRODUCT, dst, a, b), (ADD_PRODUCT, dst, a + 1, b + 1), (ADD_PRODUCT, dst, a + 2, b + 2)]


def _normal_program(kind):
    """e1, e2, w, n and f."""
    rows = []
    for vector, (start, end) in zip((E1, E2, W), _ENDS[kind]):
        rows += _difference(vector, POINTS[end], POINTS[start])
    for k in range(3):
        rows += _cross(NORMAL + k, E1, E2, k)
    return rows + _dot(F, W, NORMAL)


def _inside_program(kind, k):
    """Component k of b n, c n, (1 - b - c) n, or of b n, c n, (1 - b) n, (1 - c) n."""
    b, c, n = INSIDE, INSIDE + 1, NORMAL + k
    if kind == VERTEX_FACE:
        rest = [(DIFFERENCE, b + 2, n, b), (DIFFERENCE, b + 2, b + 2, c)]
        return _cross(b, W, E2, k) + _cross(c, E1, W, k) + rest
    rest = [(DIFFERENCE, b + 2, n, b), (DIFFERENCE, b + 3, n, c)]
    return _cross(b, W, E2, k) + _cross(c, W, E1, k) + rest


def _segment_program(kind, i):
    """s from the start of segment i to its point, r from the point to the end, s x r and s . r.

    The point lies on the segment exactly if s x r = 0 and s . r >= 0: then s and r do not point in opposite directions,
    and a segment that has shrunk to a point, r = -s, admits only s = 0.
    """
    point, start, end = (POINTS[vertex] for vertex in SEGMENTS[kind, i])
    rows = _difference(S, point, start) + _difference(R, end, point)
    for k in range(3):
        rows += _cross(CROSS + k, S, R, k)
    return rows + _dot(BETWEEN, S, R)


def _table(programs):
    """(kinds, programs, rows, 4): all programs in one array, the shorter ones filled up with STOP, which is 0."""
    longest = max(len(rows) for of_kind in programs for rows in of_kind)
    table = np.full((len(programs), len(programs[0]), longest + 1, 4), STOP, np.int64)
    for kind, program in np.ndindex(table.shape[:2]):
        rows = programs[kind][program]
        table[kind, program, : len(rows)] = rows
    return table


NORMAL_PROGRAM, INSIDE_PROGRAM, SEGMENT_PROGRAM = 0, 1, 4  # one, three and four of them
_PROGRAMS = _table(
    [
        [_normal_program(kind)]
        + [_inside_program(kind, k) for k in range(3)]
        + [_segment_program(kind, i) for i in range(4)]
        for kind in (VERTEX_FACE, EDGE_EDGE)
    ]
)


@helper
def run(m, program):
    """Execute the rows of a program up to its STOP."""
    out_of_line()
    kind = m[QUERY, KIND]
    i = 0
    while _PROGRAMS[kind, program, i, 0] != STOP:
        operation, dst = _PROGRAMS[kind, program, i, 0], _PROGRAMS[kind, program, i, 1]
        a, b = _PROGRAMS[kind, program, i, 2], _PROGRAMS[kind, program, i, 3]
        if operation == DIFFERENCE:
            subtract(m, dst, a, b)
        else:
            if operation == PRODUCT:
                m[DEGREES, dst] = -1
            add_product(m, dst, a, b, -1 if operation == SUBTRACT_PRODUCT else 1)
        i += 1
