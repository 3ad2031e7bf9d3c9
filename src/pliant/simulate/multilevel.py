"""Conjugate gradients with a multilevel cycle: a Gauss-Seidel sweep, the coarser levels, and the sweep backwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel
from pliant.simulate.levels import add_links, sum_level
from pliant.simulate.linear import System, add_multiple, collect_diagonal, dot, invert_blocks, multiply

COARSEST_SWEEPS = 2


class Room(NamedTuple):
    """Memory of the solver: inverse : (n, 6); work : (6, n, 3); at : (n + 1,) and of : (4 links,) links at each
    vertex; sums : (links, 3)"""

    inverse: np.ndarray
    work: np.ndarray
    at: np.ndarray
    of: np.ndarray
    sums: np.ndarray


def room_for(system: System) -> Room:
    n, links = len(system.free), len(system.links.vertices)
    return Room(
        np.empty((n, 6)), np.empty((6, n, 3)), np.empty(n + 1, np.int64), np.empty(4 * links, np.int32),
        np.empty((links, 3)),
    )  # fmt: skip


@kernel
def solve_multilevel(system, levels, gradient, limits, room, out):
    """out = - matrix^-1 gradient for free vertices, by conjugate gradients; the number of iterations.

    limits : (tolerance of the residual, relative, measured with the preconditioner; iterations)
    """
    _prepare(system, levels, room)
    r, z, p, q = room.work[0], room.work[1], room.work[2], room.work[3]
    n = len(system.free)
    for v in range(n):
        for c in range(3):
            out[v, c] = 0.0
            r[v, c] = -gradient[v, c] if system.free[v] else 0.0
    _cycle(system, levels, room, r, z)
    rz = dot(r, z)
    enough = limits[0] * limits[0] * rz
    p[:] = z
    for iteration in range(limits[1]):
        if not rz > enough:
            return iteration
        multiply(system, p, q)
        step = rz / dot(p, q)
        add_multiple(out, step, p)
        add_multiple(r, -step, q)
        _cycle(system, levels, room, r, z)
        before = rz
        rz = dot(r, z)
        for v in range(n):
            for c in range(3):
                p[v, c] = z[v, c] + rz / before * p[v, c]
    return limits[1]


@helper
def _prepare(system, levels, room):
    """Matrices of all levels, and the inverses of their diagonals."""
    collect_diagonal(system, room.inverse)
    invert_blocks(room.inverse, system.free)
    _index_links(system.links, len(system.free), room.at, room.of)
    sum_level(system.rows.start, system.rows.columns, system.blocks, system.scale, levels[0])
    add_links(system.links, system.free, levels[0])
    _invert_level(levels[0])
    for i in range(1, len(levels)):
        below = levels[i - 1]
        sum_level(below.rows.start, below.rows.columns, below.blocks, 0.0, levels[i])
        _invert_level(levels[i])


@helper
def _invert_level(level):
    for v in range(len(level.inverse)):
        d, out = level.blocks[level.rows.diagonal[v]], level.inverse
        out[v, 0], out[v, 1], out[v, 2] = d[0, 0], d[0, 1], d[0, 2]
        out[v, 3], out[v, 4], out[v, 5] = d[1, 1], d[1, 2], d[2, 2]
    invert_blocks(level.inverse, np.ones(len(level.inverse), np.bool_))


@helper
def _index_links(links, n, at, of):
    """Links at each vertex, in their order."""
    at[:] = 0
    for e in range(len(links.vertices)):
        for i in range(4):
            if links.vertices[e, i] < n and links.weights[e, i] != 0.0:
                at[links.vertices[e, i] + 1] += 1
    for v in range(n):
        at[v + 1] += at[v]
    for e in range(len(links.vertices)):
        for i in range(4):
            v = links.vertices[e, i]
            if v < n and links.weights[e, i] != 0.0:
                of[at[v]] = 4 * e + i
                at[v] += 1
    for v in range(n, 0, -1):
        at[v] = at[v - 1]
    at[0] = 0


@helper
def _cycle(system, levels, room, r, z):
    """z = preconditioner r: a sweep, what it leaves on the coarser levels, and the same sweep backwards."""
    rest = room.work[4]
    _sweep_forward(system, room, r, z)
    _leave(system, room, z, rest)
    _restrict(levels[0].hats, rest, levels[0].r)
    last = len(levels) - 1
    for i in range(last):
        _level_forward(levels[i])
        _level_leave(levels[i], levels[i + 1])
    _end_coarsest(levels[last])
    for i in range(last - 1, -1, -1):
        _extend(levels[i + 1].hats, levels[i + 1].x, levels[i].x)
        _level_backward(levels[i])
    _extend(levels[0].hats, levels[0].x, z)
    _sweep_backward(system, room, r, z)


@helper
def _restrict(hats, fine, coarse):
    coarse[:] = 0.0
    for v in range(len(fine)):
        for a in range(hats.start[v], hats.start[v + 1]):
            c, w = hats.columns[a], hats.values[a]
            coarse[c, 0] += w * fine[v, 0]
            coarse[c, 1] += w * fine[v, 1]
            coarse[c, 2] += w * fine[v, 2]


@helper
def _extend(hats, coarse, fine):
    for v in range(len(fine)):
        for a in range(hats.start[v], hats.start[v + 1]):
            c, w = hats.columns[a], hats.values[a]
            fine[v, 0] += w * coarse[c, 0]
            fine[v, 1] += w * coarse[c, 1]
            fine[v, 2] += w * coarse[c, 2]


@helper
def _divide(inverse, v, a, b, c, z):
    z[v, 0] = inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
    z[v, 1] = inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
    z[v, 2] = inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c


@helper
def _row(system, v, first, last, bend_first, bend_last, z):
    """Part of a row of the matrix, without links, times z."""
    columns, blocks = system.rows.columns, system.blocks
    a = b = c = 0.0
    for k in range(bend_first, bend_last):
        j, w = system.bend_rows.columns[k], system.bend_values[k]
        a += w * z[j, 0]
        b += w * z[j, 1]
        c += w * z[j, 2]
    a, b, c = system.scale * a, system.scale * b, system.scale * c
    for k in range(first, last):
        j = columns[k]
        p0, p1, p2 = z[j, 0], z[j, 1], z[j, 2]
        a += blocks[k, 0, 0] * p0 + blocks[k, 0, 1] * p1 + blocks[k, 0, 2] * p2
        b += blocks[k, 1, 0] * p0 + blocks[k, 1, 1] * p1 + blocks[k, 1, 2] * p2
        c += blocks[k, 2, 0] * p0 + blocks[k, 2, 1] * p1 + blocks[k, 2, 2] * p2
    return a, b, c


@helper
def _pull(system, room, v):
    """What the links at a vertex take from it."""
    links, m = system.links, system.links.matrix
    a = b = c = 0.0
    for t in range(room.at[v], room.at[v + 1]):
        e, i = room.of[t] // 4, room.of[t] % 4
        w, s0, s1, s2 = links.weights[e, i], room.sums[e, 0], room.sums[e, 1], room.sums[e, 2]
        a += w * (m[e, 0] * s0 + m[e, 1] * s1 + m[e, 2] * s2)
        b += w * (m[e, 1] * s0 + m[e, 3] * s1 + m[e, 4] * s2)
        c += w * (m[e, 2] * s0 + m[e, 4] * s1 + m[e, 5] * s2)
    return a, b, c


@helper
def _note(system, room, v, a, b, c):
    for t in range(room.at[v], room.at[v + 1]):
        e, i = room.of[t] // 4, room.of[t] % 4
        w = system.links.weights[e, i]
        room.sums[e, 0] += w * a
        room.sums[e, 1] += w * b
        room.sums[e, 2] += w * c


@helper
def _sweep_forward(system, room, r, z):
    """From 0: only what comes before a vertex counts. What links took is noted in work[5]."""
    start, bend_start = system.rows.start, system.bend_rows.start
    diagonal, bend_diagonal, taken = system.rows.diagonal, system.bend_rows.diagonal, room.work[5]
    room.sums[:] = 0.0
    for v in range(len(system.free)):
        if not system.free[v]:
            z[v, 0] = z[v, 1] = z[v, 2] = 0.0
            continue
        a, b, c = _row(system, v, start[v], diagonal[v], bend_start[v], bend_diagonal[v], z)
        if room.at[v + 1] > room.at[v]:
            d, e, f = _pull(system, room, v)
            _divide(room.inverse, v, r[v, 0] - a - d, r[v, 1] - b - e, r[v, 2] - c - f, z)
            taken[v, 0], taken[v, 1], taken[v, 2] = r[v, 0] - a, r[v, 1] - b, r[v, 2] - c
            _note(system, room, v, z[v, 0], z[v, 1], z[v, 2])
        else:
            _divide(room.inverse, v, r[v, 0] - a, r[v, 1] - b, r[v, 2] - c, z)


@helper
def _leave(system, room, z, rest):
    """What the forward sweep left: what comes after each vertex."""
    start, bend_start = system.rows.start, system.bend_rows.start
    diagonal, bend_diagonal, taken = system.rows.diagonal, system.bend_rows.diagonal, room.work[5]
    blocks = system.blocks
    for v in range(len(system.free)):
        if not system.free[v]:
            rest[v, 0] = rest[v, 1] = rest[v, 2] = 0.0
            continue
        a, b, c = _row(system, v, diagonal[v] + 1, start[v + 1], bend_diagonal[v] + 1, bend_start[v + 1], z)
        rest[v, 0], rest[v, 1], rest[v, 2] = -a, -b, -c
        if room.at[v + 1] > room.at[v]:
            d, e, f = _pull(system, room, v)
            k, bend = diagonal[v], system.scale * system.bend_values[bend_diagonal[v]]
            z0, z1, z2 = z[v, 0], z[v, 1], z[v, 2]
            d += (blocks[k, 0, 0] + bend) * z0 + blocks[k, 0, 1] * z1 + blocks[k, 0, 2] * z2
            e += blocks[k, 1, 0] * z0 + (blocks[k, 1, 1] + bend) * z1 + blocks[k, 1, 2] * z2
            f += blocks[k, 2, 0] * z0 + blocks[k, 2, 1] * z1 + (blocks[k, 2, 2] + bend) * z2
            rest[v, 0] += taken[v, 0] - d
            rest[v, 1] += taken[v, 1] - e
            rest[v, 2] += taken[v, 2] - f


@helper
def _sweep_backward(system, room, r, z):
    start, bend_start = system.rows.start, system.bend_rows.start
    room.sums[:] = 0.0
    for v in range(len(system.free)):
        _note(system, room, v, z[v, 0], z[v, 1], z[v, 2])
    inverse = room.inverse
    for v in range(len(system.free) - 1, -1, -1):
        if not system.free[v]:
            continue
        a, b, c = _row(system, v, start[v], start[v + 1], bend_start[v], bend_start[v + 1], z)
        if room.at[v + 1] > room.at[v]:
            d, e, f = _pull(system, room, v)
            a, b, c = a + d, b + e, c + f
        a, b, c = r[v, 0] - a, r[v, 1] - b, r[v, 2] - c
        d = inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
        e = inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
        f = inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c
        z[v, 0] += d
        z[v, 1] += e
        z[v, 2] += f
        _note(system, room, v, d, e, f)


@helper
def _level_row(level, first, last):
    columns, blocks, x = level.rows.columns, level.blocks, level.x
    a = b = c = 0.0
    for k in range(first, last):
        j = columns[k]
        p0, p1, p2 = x[j, 0], x[j, 1], x[j, 2]
        a += blocks[k, 0, 0] * p0 + blocks[k, 0, 1] * p1 + blocks[k, 0, 2] * p2
        b += blocks[k, 1, 0] * p0 + blocks[k, 1, 1] * p1 + blocks[k, 1, 2] * p2
        c += blocks[k, 2, 0] * p0 + blocks[k, 2, 1] * p1 + blocks[k, 2, 2] * p2
    return a, b, c


@helper
def _level_forward(level):
    r, start, diagonal = level.r, level.rows.start, level.rows.diagonal
    for v in range(len(r)):
        a, b, c = _level_row(level, start[v], diagonal[v])
        _divide(level.inverse, v, r[v, 0] - a, r[v, 1] - b, r[v, 2] - c, level.x)


@helper
def _level_leave(level, coarser):
    """What the forward sweep left, on the next level."""
    start, diagonal, hats = level.rows.start, level.rows.diagonal, coarser.hats
    coarser.r[:] = 0.0
    for v in range(len(level.r)):
        a, b, c = _level_row(level, diagonal[v] + 1, start[v + 1])
        for t in range(hats.start[v], hats.start[v + 1]):
            i, w = hats.columns[t], hats.values[t]
            coarser.r[i, 0] -= w * a
            coarser.r[i, 1] -= w * b
            coarser.r[i, 2] -= w * c


@helper
def _level_backward(level):
    r, x, start, inverse = level.r, level.x, level.rows.start, level.inverse
    for v in range(len(r) - 1, -1, -1):
        _correct(level, v, r, x, start, inverse)


@helper
def _correct(level, v, r, x, start, inverse):
    a, b, c = _level_row(level, start[v], start[v + 1])
    a, b, c = r[v, 0] - a, r[v, 1] - b, r[v, 2] - c
    x[v, 0] += inverse[v, 0] * a + inverse[v, 1] * b + inverse[v, 2] * c
    x[v, 1] += inverse[v, 1] * a + inverse[v, 3] * b + inverse[v, 4] * c
    x[v, 2] += inverse[v, 2] * a + inverse[v, 4] * b + inverse[v, 5] * c


@helper
def _end_coarsest(level):
    _level_forward(level)
    _level_backward(level)
    for _ in range(COARSEST_SWEEPS - 1):
        for v in range(len(level.r)):
            _correct(level, v, level.r, level.x, level.rows.start, level.inverse)
        _level_backward(level)
