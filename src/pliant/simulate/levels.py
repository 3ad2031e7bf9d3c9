"""Coarser levels of a linear system: what a sweep over vertices cannot spread far enough is solved for on them.

Vertices are put together into aggregates, these into larger ones, and so on. A level moves the one below it by smooth
hats (tentative hats of aggregates, averaged once over neighbours: smoothed aggregation), the same for each coordinate,
so that hats depend on the topology and on what is driven alone and are kept; hats of space move with the cloth as it
folds. Matrices of the levels are summed again for every system (``coarse.py``): with the hats h of the level below,
h' A h. Mass makes coarse levels easy: their stiffness grows less than what they carry, so that a few sweeps end it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import kernel
from pliant.runtime.simd import BLOCK, WIDTH
from pliant.simulate.rows import Rows

LEVELS = 3  # below the finest; always as many, so that kernels are compiled once
SMOOTHING = 2.0 / 3.0  # of the tentative hats


class Weights(NamedTuple):
    """Sparse rows of numbers: row v has columns[start[v] : start[v + 1]].

    start : (n + 1,) int64; columns : (k,) uint32; values : (k,) float64
    """

    start: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Level(NamedTuple):
    """A coarser level of c vertices.

    hats : how it moves the level below: a row for each vertex of that one; back : the same by its own vertices
    rows, blocks : its matrix, (k, 12) float32: a preconditioner needs no more
    bend, viscous : (k,) what bending adds to the diagonals of blocks, and what its damping adds in a step of a second
    products : of each block of the upper half, which blocks of the level below it is the sum of, and their weights
    mirror : (k,) int32, of each block, the one across the diagonal
    inverse : (c, 6), of the diagonal; x, r, left : (c, 4), buffers
    touched, shares : (t,) int64 and float64, buffers: of four vertices of the level below, what moves them
    """

    hats: Weights
    back: Weights
    rows: Rows
    blocks: np.ndarray
    bend: np.ndarray
    viscous: np.ndarray
    products: Weights
    mirror: np.ndarray
    inverse: np.ndarray
    x: np.ndarray
    r: np.ndarray
    left: np.ndarray
    touched: np.ndarray
    shares: np.ndarray


def levels_of(rows: Rows, bend_rows: Rows, bend: tuple[np.ndarray, np.ndarray], free: np.ndarray) -> tuple[Level, ...]:
    """rows : neighbours; bend_rows, bend : rows of bending, with values (k,) of it and of its damping; free : (n,)"""
    levels = []
    bend_of = bend_rows
    for _ in range(LEVELS):
        hats, count = _hats(rows, free)
        coarse, products, mirror, bend = _coarse_rows(rows, bend_of, bend, hats, count)
        blocks, inverse = np.zeros((len(coarse.columns), BLOCK), np.float32), np.zeros((count, 6))
        x, r, left = np.zeros((3, count, WIDTH))
        most = 4 * int(np.diff(hats.start).max(initial=0))
        levels.append(
            Level(
                hats, _transposed(hats, count), coarse, blocks, bend[0], bend[1], products, mirror, inverse, x, r, left,
                np.empty(most, np.int64), np.empty(most),
            )
        )  # fmt: skip
        rows = bend_of = coarse
        free = np.ones(count, bool)
    return tuple(levels)


def _hats(rows: Rows, free: np.ndarray) -> tuple[Weights, int]:
    n = len(free)
    aggregate = np.full(n, -1, np.int64)
    count = int(_aggregate(rows.start, rows.columns, free, aggregate))
    degree = np.diff(rows.start)
    row = np.repeat(np.arange(n), degree)
    weight = np.repeat(SMOOTHING / np.maximum(degree - 1, 1), degree)
    weight[rows.diagonal] = 1.0 - SMOOTHING
    column = aggregate[rows.columns]
    kept = (column >= 0) & free[row]
    keys, place = np.unique(row[kept] * max(count, 1) + column[kept], return_inverse=True)
    values = np.bincount(place.reshape(-1), weight[kept], minlength=len(keys))
    owner, column = np.divmod(keys, max(count, 1))
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=n), out=start[1:])
    return Weights(start, column.astype(np.uint32), values), count


@kernel
def _aggregate(start, columns, free, out):
    """Vertices and all of their neighbours, as long as none of these belongs to others; then what is left joins."""
    count = 0
    for v in range(len(free)):
        if not free[v] or out[v] >= 0:
            continue
        taken = False
        for k in range(start[v], start[v + 1]):
            taken = taken or out[columns[k]] >= 0
        if taken:
            continue
        for k in range(start[v], start[v + 1]):
            if free[columns[k]]:
                out[columns[k]] = count
        count += 1
    first = count
    for v in range(len(free)):
        if not free[v] or out[v] >= 0:
            continue
        for k in range(start[v], start[v + 1]):
            if 0 <= out[columns[k]] < first:
                out[v] = -2 - out[columns[k]]  # not yet: neighbours that are left do not join through it
                break
        if out[v] == -1:
            out[v] = count
            count += 1
    for v in range(len(free)):
        if out[v] < -1:
            out[v] = -2 - out[v]
    return count


def _transposed(weights: Weights, count: int) -> Weights:
    """The same numbers by columns, of which there are so many."""
    order = np.argsort(weights.columns, kind="stable")
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(weights.columns, minlength=count), out=start[1:])
    row = np.repeat(np.arange(len(weights.start) - 1), np.diff(weights.start))
    return Weights(start, row[order].astype(np.uint32), weights.values[order])


def _coarse_rows(
    rows: Rows, bend_rows: Rows, bend: tuple[np.ndarray, np.ndarray], hats: Weights, count: int
) -> tuple[Rows, Weights, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Rows of the coarser level, what its blocks are sums of, their mirror images, and the bending of its matrix."""
    keys, block, weight = _products(rows, hats, count)
    bend_keys, bend_block, bend_weight = (
        (keys, block, weight) if bend_rows is rows else _products(bend_rows, hats, count)
    )
    own = np.arange(count, dtype=np.int64) * (count + 1)
    upper = np.unique(np.concatenate((own, keys, bend_keys)))
    row, column = np.divmod(upper, max(count, 1))
    unique = np.unique(np.concatenate((upper, column * count + row)))
    row, column = np.divmod(unique, max(count, 1))
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=count), out=start[1:])
    mirror = np.searchsorted(unique, column * count + row).astype(np.int32)
    slots = np.searchsorted(unique, bend_keys)

    def summed(values: np.ndarray) -> np.ndarray:
        upper = np.bincount(slots, bend_weight * values[bend_block], minlength=len(unique))
        upper = upper.astype(np.float64)  # numpy counts in integers where there is nothing to weigh
        return np.where(row <= column, upper, upper[mirror])

    coarse_bend = summed(bend[0]), summed(bend[1])
    slots = np.searchsorted(unique, keys)
    order = np.argsort(slots, kind="stable")
    begin = np.zeros(len(unique) + 1, np.int64)
    np.cumsum(np.bincount(slots, minlength=len(unique)), out=begin[1:])
    products = Weights(begin, block[order].astype(np.uint32), weight[order])
    return Rows(start, column.astype(np.uint32), np.searchsorted(unique, own)), products, mirror, coarse_bend


def _products(rows: Rows, hats: Weights, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each block of the upper half is the sum of (the lower one is its mirror image): keys of the blocks, which
    block of the level below, and with what weight."""
    size = _count_products(rows.start, rows.columns, hats)
    keys, block, weight = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
    _list_products(rows.start, rows.columns, hats, count, (keys, block, weight))
    return keys, block, weight


@kernel
def _count_products(start, columns, hats):
    total = 0
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            for a in range(hats.start[v], hats.start[v + 1]):
                for b in range(hats.start[j], hats.start[j + 1]):
                    total += hats.columns[a] <= hats.columns[b]
    return total


@kernel
def _list_products(start, columns, hats, count, out):
    keys, block, weight = out
    at = 0
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            for a in range(hats.start[v], hats.start[v + 1]):
                for b in range(hats.start[j], hats.start[j + 1]):
                    if hats.columns[a] <= hats.columns[b]:
                        keys[at] = hats.columns[a] * np.int64(count) + hats.columns[b]
                        block[at], weight[at] = k, hats.values[a] * hats.values[b]
                        at += 1
