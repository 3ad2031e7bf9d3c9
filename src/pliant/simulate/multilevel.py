"""Conjugate gradients with a multilevel cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import bare_kernel, helper
from pliant.simulate.cycle import cycle
from pliant.simulate.levels import add_links, sum_level
from pliant.simulate.linear import add_multiple, collect_diagonal, dot, invert_block, multiply


class Room(NamedTuple):
    """Memory of the solver: inverse : (n, 6), of the diagonal; r, z, p, q : (n, 3)"""

    inverse: np.ndarray
    r: np.ndarray
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray


def room_for(vertex_count: int) -> Room:
    return Room(np.empty((vertex_count, 6)), *(np.empty((vertex_count, 3)) for _ in range(4)))


@bare_kernel
def prepare_levels(system, levels):
    """Matrices of all levels, and the inverses of their diagonals."""
    sum_level(system.rows, system.blocks, system.scale, levels[0])
    add_links(system.links, system.free, levels[0])
    _invert_level(levels[0])
    for i in range(1, len(levels)):
        sum_level(levels[i - 1].rows, levels[i - 1].blocks, 0.0, levels[i])
        _invert_level(levels[i])


@helper
def _invert_level(level):
    out, blocks = level.inverse, level.blocks
    for v in range(len(out)):
        k = level.rows.diagonal[v]
        out[v, 0], out[v, 1], out[v, 2] = blocks[k, 0, 0], blocks[k, 0, 1], blocks[k, 0, 2]
        out[v, 3], out[v, 4], out[v, 5] = blocks[k, 1, 1], blocks[k, 1, 2], blocks[k, 2, 2]
        invert_block(out, v)


@bare_kernel
def solve_multilevel(system, levels, gradient, limits, room, out):
    """out = - matrix^-1 gradient for free vertices, by conjugate gradients; the number of iterations.

    limits : (tolerance of the residual, relative; the same, absolute; iterations); residuals are measured with the
    preconditioner, as energies: r' M^-1 r
    """
    _invert_diagonal(system, room.inverse)
    r, z, p, q = room.r, room.z, room.p, room.q
    n = len(system.free)
    for v in range(n):
        for c in range(3):
            out[v, c] = 0.0
            r[v, c] = -gradient[v, c] if system.free[v] else 0.0
    cycle(system, levels, room.inverse, r, z)
    rz = dot(r, z)
    enough = max(limits[0] * limits[0] * rz, limits[1])
    for v in range(n):
        p[v, 0], p[v, 1], p[v, 2] = z[v, 0], z[v, 1], z[v, 2]
    for iteration in range(limits[2]):
        if not rz > enough:
            return iteration
        multiply(system, p, q)
        step = rz / dot(p, q)
        add_multiple(out, step, p)
        add_multiple(r, -step, q)
        cycle(system, levels, room.inverse, r, z)
        before = rz
        rz = dot(r, z)
        k = rz / before
        for v in range(n):
            p[v, 0], p[v, 1], p[v, 2] = z[v, 0] + k * p[v, 0], z[v, 1] + k * p[v, 1], z[v, 2] + k * p[v, 2]
    return limits[2]


@helper
def _invert_diagonal(system, inverse):
    collect_diagonal(system, inverse)
    for v in range(len(system.free)):
        if system.free[v]:
            invert_block(inverse, v)
