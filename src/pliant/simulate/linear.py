"""The linear system of a Newton step.

The matrix is kept in three parts, each as small as it can be: 3 by 3 blocks between neighbours (membrane, mass, drag),
one number between vertices that bend together, and links. Half of the memory of blocks for all of them, and it is the
memory that multiplication waits for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper
from pliant.runtime.simd import block_row, number_row
from pliant.simulate.links import PullingLinks
from pliant.simulate.rows import Rows


class System(NamedTuple):
    """The matrix of n vertices; links may name others after them, which do not move.

    rows, blocks : (k, 12), columns of the 3 by 3 blocks, each of four numbers, the last of which is 0
    bend_rows, bend : (k,) of them, times the unit matrix, or empty; per_second : how much of the damping is part of it
    links : that pull
    free : (n,) bool, which vertices are unknowns
    """

    rows: Rows
    blocks: np.ndarray
    bend_rows: Rows
    bend: np.ndarray
    per_second: float
    links: PullingLinks
    free: np.ndarray


def no_bending(vertex_count: int) -> tuple[Rows, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Rows of nothing, their values, and those as ``BendingStep.parts`` has them."""
    rows = Rows(np.zeros(vertex_count + 1, np.int64), np.empty(0, np.uint32), np.empty(0, np.int64))
    return rows, np.empty(0), (np.empty(0), np.empty(0))


@helper
def dot(a, b):
    total = 0.0
    for v in range(len(a)):
        total += a[v, 0] * b[v, 0] + a[v, 1] * b[v, 1] + a[v, 2] * b[v, 2]
    return total


@helper
def multiply_rows(neighbours, bending, free, p, q, first, last):
    """q = matrix p without its links, rows first .. last - 1; both are 0 where a vertex is not free.

    neighbours : (start, columns, blocks); bending : (start, columns, values); p, q : (n, 4)
    """
    start, columns, blocks = neighbours
    bend_start, bend_columns, values = bending
    for v in range(first, last):
        if not free[v]:
            q[v, 0] = q[v, 1] = q[v, 2] = 0.0
            continue
        a, b, c = number_row(bend_columns, values, p, bend_start[v], bend_start[v + 1])
        d, e, f = block_row(columns, blocks, p, start[v], start[v + 1])
        q[v, 0], q[v, 1], q[v, 2] = a + d, b + e, c + f


@helper
def multiply_links(links, free, p, q):
    """Adds what links do to q = matrix p."""
    n, m = len(free), links.matrix
    for k in range(len(links.vertices)):
        a = b = c = 0.0
        for i in range(4):
            v, w = links.vertices[k, i], links.weights[k, i]
            if v < n:
                a += w * p[v, 0]
                b += w * p[v, 1]
                c += w * p[v, 2]
        s0 = m[k, 0] * a + m[k, 1] * b + m[k, 2] * c
        s1 = m[k, 1] * a + m[k, 3] * b + m[k, 4] * c
        s2 = m[k, 2] * a + m[k, 4] * b + m[k, 5] * c
        for i in range(4):
            v, w = links.vertices[k, i], links.weights[k, i]
            if v < n and free[v]:
                q[v, 0] += w * s0
                q[v, 1] += w * s1
                q[v, 2] += w * s2


@helper
def collect_diagonal(system, out):
    """The 3 by 3 block of each vertex with itself: 00, 01, 02, 11, 12, 22."""
    n, links, blocks = len(system.free), system.links, system.blocks
    for v in range(n):
        k = system.rows.diagonal[v]
        bend = system.bend[system.bend_rows.diagonal[v]] if len(system.bend) else 0.0
        out[v, 0], out[v, 1], out[v, 2] = blocks[k, 0] + bend, blocks[k, 4], blocks[k, 8]
        out[v, 3], out[v, 4], out[v, 5] = blocks[k, 5] + bend, blocks[k, 9], blocks[k, 10] + bend
    for k in range(len(links.vertices)):
        for i in range(4):
            v, w = links.vertices[k, i], links.weights[k, i]
            if v < n:
                for c in range(6):
                    out[v, c] += w * w * links.matrix[k, c]


@helper
def invert_block(out, v):
    """A symmetric 3 by 3 matrix into its inverse."""
    a, b, c, d, e, f = out[v, 0], out[v, 1], out[v, 2], out[v, 3], out[v, 4], out[v, 5]
    i0, i1, i2 = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * i0 + b * i1 + c * i2)
    out[v, 0], out[v, 1], out[v, 2] = scale * i0, scale * i1, scale * i2
    out[v, 3], out[v, 4], out[v, 5] = scale * (a * f - c * c), scale * (b * c - a * e), scale * (a * d - b * b)
