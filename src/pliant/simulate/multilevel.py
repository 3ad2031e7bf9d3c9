"""Conjugate gradients with a multilevel cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import bare_kernel, helper
from pliant.runtime.threads import ThreadPool
from pliant.simulate.cycle import cycle, divide, extend
from pliant.simulate.levels import Level, add_links, sum_level
from pliant.simulate.linear import System, collect_diagonal, dot, invert_block, multiply_links, multiply_rows

LEAST = 8192  # vertices that are worth a thread of their own


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


def solve_multilevel(
    system: System, levels: tuple[Level, ...], gradient: np.ndarray, limits: tuple[float, float, int], room: Room,
    out: np.ndarray, pool: ThreadPool,
) -> int:  # fmt: skip
    """out = - matrix^-1 gradient for free vertices, by conjugate gradients; the number of iterations.

    limits : (tolerance of the residual, relative; the same, absolute; iterations); residuals are measured with the
    preconditioner, as energies: r' M^-1 r

    Threads share the rows; sums over all of them are taken by one, so that they do not depend on the threads.
    """
    r, z, p, q = room.r, room.z, room.p, room.q
    neighbours = system.rows.start, system.rows.columns, system.blocks
    bending = system.bend_rows.start, system.bend_rows.columns, system.bend_values
    finest, coarse = (levels[0].hats.start, levels[0].hats.columns, levels[0].hats.values), levels[0].x

    def precondition() -> None:
        cycle(system.free, levels, r)
        pool.run_range(lambda first, last: extend(finest, coarse, z, first, last), len(r), LEAST)

    _start(system, gradient, room, out)
    precondition()
    rz = _turn(r, z, p, 0.0)
    enough = max(limits[0] * limits[0] * rz, limits[1])
    for iteration in range(limits[2]):
        if not rz > enough:
            return iteration
        pool.run_range(
            lambda first, last: multiply_rows(neighbours, bending, system.scale, system.free, p, q, first, last),
            len(r), LEAST,
        )  # fmt: skip
        step = rz / _add_links(system.links, system.free, p, q)
        pool.run_range(lambda first, last: _go(step, room, out, first, last), len(r), LEAST)  # noqa: B023
        precondition()
        rz = _turn(r, z, p, rz)
    return limits[2]


@bare_kernel
def _start(system, gradient, room, out):
    """The residual at 0, divided by the diagonal."""
    collect_diagonal(system, room.inverse)
    for v in range(len(system.free)):
        for c in range(3):
            out[v, c] = room.p[v, c] = 0.0
            room.r[v, c] = -gradient[v, c] if system.free[v] else 0.0
        if system.free[v]:
            invert_block(room.inverse, v)
            divide(room.inverse, v, room.r[v, 0], room.r[v, 1], room.r[v, 2], room.z)
        else:
            for c in range(6):
                room.inverse[v, c] = 0.0
            room.z[v, 0] = room.z[v, 1] = room.z[v, 2] = 0.0


@bare_kernel
def _add_links(links, free, p, q):
    """What links add to q = matrix p; p' q."""
    multiply_links(links, free, p, q)
    return dot(p, q)


@bare_kernel
def _go(step, room, out, first, last):
    """A step along p, and the residual there, divided by the diagonal."""
    r, z, p, q = room.r, room.z, room.p, room.q
    for v in range(first, last):
        out[v, 0] += step * p[v, 0]
        out[v, 1] += step * p[v, 1]
        out[v, 2] += step * p[v, 2]
        r[v, 0] -= step * q[v, 0]
        r[v, 1] -= step * q[v, 1]
        r[v, 2] -= step * q[v, 2]
        divide(room.inverse, v, r[v, 0], r[v, 1], r[v, 2], z)


@bare_kernel
def _turn(r, z, p, before):
    """The next direction; r' z, which was ``before`` (0 at the start, where p is 0)."""
    rz = dot(r, z)
    k = rz / before if before > 0.0 else 0.0
    for v in range(len(p)):
        p[v, 0], p[v, 1], p[v, 2] = z[v, 0] + k * p[v, 0], z[v, 1] + k * p[v, 1], z[v, 2] + k * p[v, 2]
    return rz
