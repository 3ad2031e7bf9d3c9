"""Matrices of the coarser levels, summed from that of the finest one."""

from __future__ import annotations

from pliant.runtime.jit import bare_kernel, helper
from pliant.runtime.simd import gather_blocks, mirror_block
from pliant.runtime.threads import ThreadPool
from pliant.simulate.levels import Level
from pliant.simulate.linear import System, invert_block

LEAST = 4096  # blocks that are worth a thread of their own


def prepare_levels(system: System, levels: tuple[Level, ...], pool: ThreadPool) -> None:
    """Matrices of all levels, and the inverses of their diagonals."""
    below = system.blocks
    for number, level in enumerate(levels):
        products = level.products.start, level.products.columns, level.products.values
        bending = (level.bend, level.viscous, system.per_second) if number == 0 else (level.bend, level.viscous, -1.0)
        pool.run_range(
            lambda first, last, out=(products, bending, below, level.blocks): _sum_blocks(*out, first, last),
            len(level.blocks), LEAST,
        )  # fmt: skip
        _finish(system.links, system.free, level, number == 0)
        below = level.blocks


@bare_kernel
def _sum_blocks(products, bending, below, out, first, last):
    """Blocks first .. last - 1 from those of the level below; bending is part of it from the first level on, so that it
    is added there alone (per_second is negative elsewhere)."""
    start, columns, weights = products
    bend, viscous, per_second = bending
    for k in range(first, last):
        gather_blocks(columns, weights, below, start[k], start[k + 1], out, k)
        if per_second >= 0.0:
            d = bend[k] + per_second * viscous[k]
            out[k, 0] += d
            out[k, 5] += d
            out[k, 10] += d


@bare_kernel
def _finish(links, free, level, is_first):
    if is_first:
        _add_links(links, free, level)
    _mirror(level)
    out, blocks = level.inverse, level.blocks
    for v in range(len(out)):
        k = level.rows.diagonal[v]
        out[v, 0], out[v, 1], out[v, 2] = blocks[k, 0], blocks[k, 4], blocks[k, 8]
        out[v, 3], out[v, 4], out[v, 5] = blocks[k, 5], blocks[k, 9], blocks[k, 10]
        invert_block(out, v)


@helper
def _mirror(level):
    """The lower half of the matrix from the upper one."""
    out, start, diagonal, mirror = level.blocks, level.rows.start, level.rows.diagonal, level.mirror
    for v in range(len(diagonal)):
        for k in range(start[v], diagonal[v]):
            mirror_block(out, mirror[k], k)


@helper
def _find(rows, i, j):
    """Where column j is in row i, or -1."""
    lower, upper = rows.start[i], rows.start[i + 1]
    while lower < upper:
        middle = (lower + upper) // 2
        if rows.columns[middle] < j:
            lower = middle + 1
        else:
            upper = middle
    return lower if lower < rows.start[i + 1] and rows.columns[lower] == j else -1


@helper
def _add_links(links, free, level):
    """Links of the first level, in the upper half: between what a link moves there. Pairs that share no place in its
    rows count as if they were held, which makes the matrix larger, and keeps it positive."""
    rows, out, m, touched, shares = level.rows, level.blocks, links.matrix, level.touched, level.shares
    for e in range(len(links.vertices)):
        count = _touch(links, e, len(free), level.hats, touched, shares)
        for a in range(count):
            for b in range(count):
                if touched[a] > touched[b]:
                    continue
                c = shares[a] * shares[b]
                k = _find(rows, touched[a], touched[b])
                if k >= 0:
                    _add_matrix(out, k, c, m, e)
                else:
                    _add_matrix(out, rows.diagonal[touched[a]], abs(c), m, e)
                    _add_matrix(out, rows.diagonal[touched[b]], abs(c), m, e)


@helper
def _touch(links, e, n, hats, touched, shares):
    """Which vertices of the first level move link e, and how much; their number."""
    count = 0
    for i in range(4):
        v, w = links.vertices[e, i], links.weights[e, i]
        if v >= n or w == 0.0:
            continue
        for k in range(hats.start[v], hats.start[v + 1]):
            at = 0
            while at < count and touched[at] != hats.columns[k]:
                at += 1
            if at == count:
                touched[at], shares[at] = hats.columns[k], 0.0
                count += 1
            shares[at] += w * hats.values[k]
    return count


@helper
def _add_matrix(out, k, c, m, e):
    out[k, 0] += c * m[e, 0]
    out[k, 1] += c * m[e, 1]
    out[k, 2] += c * m[e, 2]
    out[k, 4] += c * m[e, 1]
    out[k, 5] += c * m[e, 3]
    out[k, 6] += c * m[e, 4]
    out[k, 8] += c * m[e, 2]
    out[k, 9] += c * m[e, 4]
    out[k, 10] += c * m[e, 5]
