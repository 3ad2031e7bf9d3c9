"""The preconditioner: the inverse of the diagonal, plus a multilevel cycle on the coarser levels.

Added, not one after the other. With a Gauss-Seidel sweep before and after the coarser levels, conjugate gradients take
half as many iterations, each of which takes three times as long (10,000 triangles: 1.8 ms against 0.6), since every
vertex of a sweep waits for the one before it; and a sum is positive whatever the matrix is.
"""

from __future__ import annotations

from pliant.runtime.jit import bare_kernel, helper
from pliant.runtime.simd import block_row, number_row

COARSEST_SWEEPS = 2


@bare_kernel
def restrict(back, fine, coarse, first, last):
    """A residual of the level below, on vertices first .. last - 1 of a level; back : (start, columns, values)"""
    _weigh(back[0], back[1], back[2], fine, coarse, first, last)


@bare_kernel
def cycle(levels):
    """The corrections x of the coarser levels, for the residual r of the first of them; ``extend`` adds them."""
    _cycle(levels)


@helper
def add_coarser(levels, r, z):
    """All three, serially: adds to z what the coarser levels do about the residual r."""
    back, hats = levels[0].back, levels[0].hats
    _weigh(back.start, back.columns, back.values, r, levels[0].r, 0, len(levels[0].r))
    _cycle(levels)
    _extend(hats.start, hats.columns, hats.values, levels[0].x, z, 0, len(z))


@helper
def _cycle(levels):
    last = len(levels) - 1
    for i in range(last):
        _forward(levels[i])
        back = levels[i + 1].back
        _weigh(back.start, back.columns, back.values, levels[i].left, levels[i + 1].r, 0, len(levels[i + 1].r))
    _end_coarsest(levels[last])
    for i in range(last - 1, -1, -1):
        hats = levels[i + 1].hats
        _extend(hats.start, hats.columns, hats.values, levels[i + 1].x, levels[i].x, 0, len(levels[i].x))
        _backward(levels[i])


@bare_kernel
def extend(hats, coarse, fine, first, last):
    """Adds what a coarser level, (c, 4), does to rows first .. last - 1 of the finer one; hats : (start, columns,
    values)"""
    _extend(hats[0], hats[1], hats[2], coarse, fine, first, last)


@helper
def _weigh(start, columns, values, fine, coarse, first, last):
    for v in range(first, last):
        coarse[v, 0], coarse[v, 1], coarse[v, 2] = number_row(columns, values, fine, start[v], start[v + 1])


@helper
def _extend(start, columns, values, coarse, fine, first, last):
    for v in range(first, last):
        a, b, c = number_row(columns, values, coarse, start[v], start[v + 1])
        fine[v, 0] += a
        fine[v, 1] += b
        fine[v, 2] += c


@helper
def divide(inverse, v, a, b, c, z):
    """z of vertex v = its block of the inverse times (a, b, c)."""
    z[v, 0] = inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
    z[v, 1] = inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
    z[v, 2] = inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c


@helper
def _forward(level):
    """A sweep that starts from 0, and what it leaves of the residual."""
    r, x, left, blocks = level.r, level.x, level.left, level.blocks
    start, columns, diagonal = level.rows.start, level.rows.columns, level.rows.diagonal
    for v in range(len(r)):
        a, b, c = block_row(columns, blocks, x, start[v], diagonal[v])
        divide(level.inverse, v, r[v, 0] - a, r[v, 1] - b, r[v, 2] - c, x)
    for v in range(len(r)):
        a, b, c = block_row(columns, blocks, x, diagonal[v] + 1, start[v + 1])
        left[v, 0], left[v, 1], left[v, 2] = -a, -b, -c


@helper
def _backward(level):
    for v in range(len(level.r) - 1, -1, -1):
        _correct(level, v)


@helper
def _correct(level, v):
    r, x, start, inverse = level.r, level.x, level.rows.start, level.inverse
    a, b, c = block_row(level.rows.columns, level.blocks, x, start[v], start[v + 1])
    a, b, c = r[v, 0] - a, r[v, 1] - b, r[v, 2] - c
    x[v, 0] += inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
    x[v, 1] += inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
    x[v, 2] += inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c


@helper
def _end_coarsest(level):
    _forward(level)
    _backward(level)
    for _ in range(COARSEST_SWEEPS - 1):
        for v in range(len(level.r)):
            _correct(level, v)
        _backward(level)
