"""The box of a cell at rest, and what is in it: coordinates as they are, so no rounding."""

from __future__ import annotations

from pliant.runtime.jit import helper


@helper
def box_of_cell(x, corners, cell, count):
    """x0, x1, y0, y1, z0, z1 of a cell of so many corners."""
    a, b, c, d = corners[cell, 0], corners[cell, 1], corners[cell, 2], corners[cell, 3]
    x0, x1 = min(min(x[a, 0], x[b, 0]), min(x[c, 0], x[d, 0])), max(max(x[a, 0], x[b, 0]), max(x[c, 0], x[d, 0]))
    y0, y1 = min(min(x[a, 1], x[b, 1]), min(x[c, 1], x[d, 1])), max(max(x[a, 1], x[b, 1]), max(x[c, 1], x[d, 1]))
    z0, z1 = min(min(x[a, 2], x[b, 2]), min(x[c, 2], x[d, 2])), max(max(x[a, 2], x[b, 2]), max(x[c, 2], x[d, 2]))
    for k in range(4, count):
        v = corners[cell, k]
        x0, x1 = min(x0, x[v, 0]), max(x1, x[v, 0])
        y0, y1 = min(y0, x[v, 1]), max(y1, x[v, 1])
        z0, z1 = min(z0, x[v, 2]), max(z1, x[v, 2])
    return x0, x1, y0, y1, z0, z1


@helper
def box_holds(b, x, v):
    """Without a branch: which of the six fails first cannot be predicted, and that made half of the time."""
    inside_xy = (x[v, 0] >= b[0]) & (x[v, 0] <= b[1]) & (x[v, 1] >= b[2]) & (x[v, 1] <= b[3])
    return inside_xy & (x[v, 2] >= b[4]) & (x[v, 2] <= b[5])
