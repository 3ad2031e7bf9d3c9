"""Conjugate gradients with a multilevel cycle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import bare_kernel, helper
from pliant.runtime.simd import WIDTH
from pliant.runtime.threads import ThreadPool
from pliant.simulate.cycle import add_coarser, cycle, divide, extend, restrict
from pliant.simulate.levels import Level
from pliant.simulate.linear import System, collect_diagonal, dot, invert_block, multiply_links, multiply_rows

LEAST = 8192  # vertices that are worth a thread of their own


class Room(NamedTuple):
    """Memory of the solver: inverse : (n, 6), of the diagonal; out, r, z, p, q : (n, 4)"""

    inverse: np.ndarray
    out: np.ndarray
    r: np.ndarray
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray


def room_for(vertex_count: int) -> Room:
    return Room(np.empty((vertex_count, 6)), *(np.zeros((vertex_count, WIDTH)) for _ in range(5)))


def solve_multilevel(
    system: System, levels: tuple[Level, ...], gradient: np.ndarray, limits: tuple[float, float, int], room: Room,
    out: np.ndarray, pool: ThreadPool,
) -> int:  # fmt: skip
    """out = - matrix^-1 gradient for free vertices, by conjugate gradients; the number of iterations.

    limits : (tolerance of the residual, relative; the same, absolute; iterations); residuals are measured with the
    preconditioner, as energies: r' M^-1 r

    Threads share the rows of large systems; sums over all of them are taken by one, so that they do not depend on the
    threads. Small systems are solved in one call: seven for each iteration took as long as 500 vertices do.
    """
    _start(system, gradient, room)
    solve = _solve if len(room.r) < 2 * LEAST else _solve_shared
    iteration = solve(system, levels, limits, room, pool)
    out[:] = room.out[:, :3]
    return iteration


def _solve(
    system: System, levels: tuple[Level, ...], limits: tuple[float, float, int], room: Room, _pool: ThreadPool
) -> int:
    return int(_iterate(system, levels, limits, room))


def _solve_shared(
    system: System, levels: tuple[Level, ...], limits: tuple[float, float, int], room: Room, pool: ThreadPool
) -> int:
    """What ``_iterate`` does, bit for bit."""
    r, z, p, q = room.r, room.z, room.p, room.q
    neighbours = system.rows.start, system.rows.columns, system.blocks
    bending = system.bend_rows.start, system.bend_rows.columns, system.bend
    hats, back, coarse, coarse_r = tuple(levels[0].hats), tuple(levels[0].back), levels[0].x, levels[0].r

    def precondition() -> None:
        pool.run_range(lambda first, last: restrict(back, r, coarse_r, first, last), len(coarse), LEAST)
        cycle(levels)
        pool.run_range(lambda first, last: extend(hats, coarse, z, first, last), len(r), LEAST)

    precondition()
    rz = _turn(r, z, p, 0.0)
    enough = max(limits[0] * limits[0] * rz, limits[1])
    iteration = 0
    while iteration < limits[2] and rz > enough:
        iteration += 1
        pool.run_range(
            lambda first, last: _multiply(neighbours, bending, system.free, p, q, first, last), len(r), LEAST
        )
        step = rz / _add_links(system.links, system.free, p, q)
        pool.run_range(lambda first, last: _go(step, room, first, last), len(r), LEAST)  # noqa: B023
        precondition()
        rz = _turn(r, z, p, rz)
    return iteration


@bare_kernel
def _iterate(system, levels, limits, room):
    r, z, p, q = room.r, room.z, room.p, room.q
    neighbours = system.rows.start, system.rows.columns, system.blocks
    bending = system.bend_rows.start, system.bend_rows.columns, system.bend
    add_coarser(levels, r, z)
    rz = turn(r, z, p, 0.0)
    enough = max(limits[0] * limits[0] * rz, limits[1])
    iteration = 0
    while iteration < limits[2] and rz > enough:
        iteration += 1
        multiply_rows(neighbours, bending, system.free, p, q, 0, len(r))
        multiply_links(system.links, system.free, p, q)
        go(rz / dot(p, q), room, 0, len(r))
        add_coarser(levels, r, z)
        rz = turn(r, z, p, rz)
    return iteration


@bare_kernel
def _start(system, gradient, room):
    """The residual at 0, divided by the diagonal."""
    collect_diagonal(system, room.inverse)
    for v in range(len(system.free)):
        for c in range(3):
            room.out[v, c] = room.p[v, c] = 0.0
            room.r[v, c] = -gradient[v, c] if system.free[v] else 0.0
        if system.free[v]:
            invert_block(room.inverse, v)
            divide(room.inverse, v, room.r[v, 0], room.r[v, 1], room.r[v, 2], room.z)
        else:
            for c in range(6):
                room.inverse[v, c] = 0.0
            room.z[v, 0] = room.z[v, 1] = room.z[v, 2] = 0.0


@bare_kernel
def _multiply(neighbours, bending, free, p, q, first, last):
    multiply_rows(neighbours, bending, free, p, q, first, last)


@bare_kernel
def _add_links(links, free, p, q):
    """What links add to q = matrix p; p' q."""
    multiply_links(links, free, p, q)
    return dot(p, q)


@bare_kernel
def _go(step, room, first, last):
    go(step, room, first, last)


@bare_kernel
def _turn(r, z, p, before):
    return turn(r, z, p, before)


@helper
def go(step, room, first, last):
    """A step along p, and the residual there, divided by the diagonal."""
    out, r, z, p, q = room.out, room.r, room.z, room.p, room.q
    for v in range(first, last):
        out[v, 0] += step * p[v, 0]
        out[v, 1] += step * p[v, 1]
        out[v, 2] += step * p[v, 2]
        r[v, 0] -= step * q[v, 0]
        r[v, 1] -= step * q[v, 1]
        r[v, 2] -= step * q[v, 2]
        divide(room.inverse, v, r[v, 0], r[v, 1], r[v, 2], z)


@helper
def turn(r, z, p, before):
    """The next direction; r' z, which was ``before`` (0 at the start, where p is 0)."""
    rz = dot(r, z)
    k = rz / before if before > 0.0 else 0.0
    for v in range(len(p)):
        p[v, 0], p[v, 1], p[v, 2] = z[v, 0] + k * p[v, 0], z[v, 1] + k * p[v, 1], z[v, 2] + k * p[v, 2]
    return rz
