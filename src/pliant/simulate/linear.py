"""The linear system of a Newton step, and conjugate gradients for it.

The matrix is kept in three parts, each as small as it can be: 3 by 3 blocks between neighbours (membrane, mass, drag),
one number between vertices that bend together, and links. Half of the memory of blocks for all of them, and it is the
memory that multiplication waits for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel
from pliant.simulate.links import Links
from pliant.simulate.rows import Rows


class System(NamedTuple):
    """rows, blocks : (k, 3, 3); bend_rows, bend_values : (k,), scale : of them; links; free : (n,) bool, which vertices
    are unknowns (n counts those of the cloth; links may name others, which do not move)"""

    rows: Rows
    blocks: np.ndarray
    bend_rows: Rows
    bend_values: np.ndarray
    scale: float
    links: Links
    free: np.ndarray


@kernel
def solve_jacobi(system, gradient, tolerance, most, inverse, work, out):
    """out = - matrix^-1 gradient for free vertices, by conjugate gradients; the number of iterations.

    tolerance : of the residual, relative to the gradient, both measured with the inverse of the diagonal
    inverse : (n, 6), work : (4, n, 3), room
    """
    collect_diagonal(system, inverse)
    invert_blocks(inverse, system.free)
    r, z, p, q = work[0], work[1], work[2], work[3]
    n = len(system.free)
    for v in range(n):
        for c in range(3):
            out[v, c] = 0.0
            r[v, c] = -gradient[v, c] if system.free[v] else 0.0
    apply_diagonal(inverse, r, z)
    rz = dot(r, z)
    enough = tolerance * tolerance * rz
    p[:] = z
    for iteration in range(most):
        if not rz > enough:
            return iteration
        multiply(system, p, q)
        step = rz / dot(p, q)
        add_multiple(out, step, p)
        add_multiple(r, -step, q)
        apply_diagonal(inverse, r, z)
        before = rz
        rz = dot(r, z)
        for v in range(n):
            for c in range(3):
                p[v, c] = z[v, c] + rz / before * p[v, c]
    return most


@helper
def dot(a, b):
    total = 0.0
    for v in range(len(a)):
        total += a[v, 0] * b[v, 0] + a[v, 1] * b[v, 1] + a[v, 2] * b[v, 2]
    return total


@helper
def add_multiple(a, k, b):
    for v in range(len(a)):
        a[v, 0] += k * b[v, 0]
        a[v, 1] += k * b[v, 1]
        a[v, 2] += k * b[v, 2]


@helper
def multiply(system, p, q):
    """q = matrix p; both are 0 where a vertex is not free."""
    start, columns, blocks = system.rows.start, system.rows.columns, system.blocks
    bend_start, bend_columns, values = system.bend_rows.start, system.bend_rows.columns, system.bend_values
    n, scale = len(system.free), system.scale
    for v in range(n):
        if not system.free[v]:
            q[v, 0] = q[v, 1] = q[v, 2] = 0.0
            continue
        a = b = c = 0.0
        for k in range(bend_start[v], bend_start[v + 1]):
            j, w = bend_columns[k], values[k]
            a += w * p[j, 0]
            b += w * p[j, 1]
            c += w * p[j, 2]
        a, b, c = scale * a, scale * b, scale * c
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            p0, p1, p2 = p[j, 0], p[j, 1], p[j, 2]
            a += blocks[k, 0, 0] * p0 + blocks[k, 0, 1] * p1 + blocks[k, 0, 2] * p2
            b += blocks[k, 1, 0] * p0 + blocks[k, 1, 1] * p1 + blocks[k, 1, 2] * p2
            c += blocks[k, 2, 0] * p0 + blocks[k, 2, 1] * p1 + blocks[k, 2, 2] * p2
        q[v, 0], q[v, 1], q[v, 2] = a, b, c
    multiply_links(system.links, system.free, p, q)


@helper
def multiply_links(links, free, p, q):
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
    n, links = len(system.free), system.links
    for v in range(n):
        d = system.blocks[system.rows.diagonal[v]]
        bend = system.scale * system.bend_values[system.bend_rows.diagonal[v]]
        out[v, 0], out[v, 1], out[v, 2] = d[0, 0] + bend, d[0, 1], d[0, 2]
        out[v, 3], out[v, 4], out[v, 5] = d[1, 1] + bend, d[1, 2], d[2, 2] + bend
    for k in range(len(links.vertices)):
        for i in range(4):
            v, w = links.vertices[k, i], links.weights[k, i]
            if v < n:
                for c in range(6):
                    out[v, c] += w * w * links.matrix[k, c]


@helper
def invert_blocks(out, free):
    """Symmetric 3 by 3 matrices into their inverses; 0 of vertices that are not free."""
    for v in range(len(out)):
        a, b, c, d, e, f = out[v, 0], out[v, 1], out[v, 2], out[v, 3], out[v, 4], out[v, 5]
        i0, i1, i2 = d * f - e * e, c * e - b * f, b * e - c * d
        scale = 1.0 / (a * i0 + b * i1 + c * i2) if free[v] else 0.0
        out[v, 0], out[v, 1], out[v, 2] = scale * i0, scale * i1, scale * i2
        out[v, 3], out[v, 4], out[v, 5] = scale * (a * f - c * c), scale * (b * c - a * e), scale * (a * d - b * b)


@helper
def apply_diagonal(inverse, r, z):
    for v in range(len(r)):
        a, b, c = r[v, 0], r[v, 1], r[v, 2]
        z[v, 0] = inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
        z[v, 1] = inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
        z[v, 2] = inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c
