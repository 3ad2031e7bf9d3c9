"""Coarser levels of a linear system: what a sweep over vertices cannot spread far enough is solved for on them.

Vertices are put together into aggregates, these into larger ones, and so on. A level moves the one below it by smooth
hats (tentative hats of aggregates, averaged once over neighbours: smoothed aggregation), the same for each coordinate,
so that hats depend on the topology and on what is driven alone and are kept; hats of space move with the cloth as it
folds. Matrices of the levels are summed anew for every system: with the hats h of the level below, h' A h. Mass makes
coarse levels easy: their stiffness grows less than what they carry, so that a few sweeps end it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel
from pliant.simulate.rows import Rows

LEVELS = 3  # below the finest; always as many, so that kernels are compiled once
SMOOTHING = 2.0 / 3.0  # of the tentative hats


class Hats(NamedTuple):
    """How a level moves the one below it: rows of the finer one.

    start : (n + 1,) int64; columns : (k,) uint32; values : (k,) float64
    """

    start: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Level(NamedTuple):
    """A coarser level.

    hats : from it to the level below
    rows, blocks : its matrix, (k, 3, 3)
    bend : (k,) what bending adds to the diagonals of blocks, before its scale
    slots : (q,) int32, where products of the hats of both ends of each block of the level below are added, those of
        the upper half; mirror : (k,) int32, of each block, the one across the diagonal
    inverse : (c, 6), of the diagonal; x, r : (c, 3), room
    """

    hats: Hats
    rows: Rows
    blocks: np.ndarray
    bend: np.ndarray
    slots: np.ndarray
    mirror: np.ndarray
    inverse: np.ndarray
    x: np.ndarray
    r: np.ndarray


def levels_of(rows: Rows, bend_rows: Rows, bend_values: np.ndarray, free: np.ndarray) -> tuple[Level, ...]:
    """rows : neighbours; bend_rows, bend_values : as in a System; free : (n,) bool"""
    levels = []
    bend, bend_of = bend_values, bend_rows
    for _ in range(LEVELS):
        hats, count = _hats(rows, free)
        coarse, (slots, mirror), bend = _coarse_rows(rows, bend_of, bend, hats, count)
        room = np.zeros((2, count, 3))
        blocks, inverse = np.zeros((len(coarse.columns), 3, 3)), np.zeros((count, 6))
        levels.append(Level(hats, coarse, blocks, bend, slots, mirror, inverse, room[0], room[1]))
        rows = bend_of = coarse
        free = np.ones(count, bool)
    return tuple(levels)


def _hats(rows: Rows, free: np.ndarray) -> tuple[Hats, int]:
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
    return Hats(start, column.astype(np.uint32), values), count


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


def _coarse_rows(
    rows: Rows, bend_rows: Rows, bend: np.ndarray, hats: Hats, count: int
) -> tuple[Rows, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Rows of the coarser level, where products go and their mirror images, and the bending part of its matrix."""
    keys = _product_keys(rows, hats, count)
    bend_keys = keys if bend_rows is rows else _product_keys(bend_rows, hats, count)
    own = np.arange(count, dtype=np.int64) * (count + 1)
    upper = np.unique(np.concatenate((own, keys, bend_keys)))
    row, column = np.divmod(upper, max(count, 1))
    unique = np.unique(np.concatenate((upper, column * count + row)))
    row, column = np.divmod(unique, max(count, 1))
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=count), out=start[1:])
    weights = np.empty(len(bend_keys))
    _product_weights(bend_rows.start, bend_rows.columns, bend, hats, weights)
    coarse_bend = np.bincount(np.searchsorted(unique, bend_keys), weights, minlength=len(unique))
    slots = np.searchsorted(unique, keys).astype(np.int32)
    mirror = np.searchsorted(unique, column * count + row).astype(np.int32)
    coarse_bend = np.where(row <= column, coarse_bend, coarse_bend[mirror])
    return Rows(start, column.astype(np.uint32), np.searchsorted(unique, own)), (slots, mirror), coarse_bend


def _product_keys(rows: Rows, hats: Hats, count: int) -> np.ndarray:
    """Of the upper half: that of the matrix is its mirror image."""
    size = _count_products(rows.start, rows.columns, hats)
    keys = np.empty(size, np.int64)
    _fill_keys(rows.start, rows.columns, hats, count, keys)
    return keys


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
def _fill_keys(start, columns, hats, count, out):
    at = 0
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            for a in range(hats.start[v], hats.start[v + 1]):
                for b in range(hats.start[j], hats.start[j + 1]):
                    if hats.columns[a] <= hats.columns[b]:
                        out[at] = hats.columns[a] * np.int64(count) + hats.columns[b]
                        at += 1


@kernel
def _product_weights(start, columns, values, hats, out):
    at = 0
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            for a in range(hats.start[v], hats.start[v + 1]):
                for b in range(hats.start[j], hats.start[j + 1]):
                    if hats.columns[a] <= hats.columns[b]:
                        out[at] = values[k] * hats.values[a] * hats.values[b]
                        at += 1


@helper
def sum_level(rows, blocks, scale, level):
    """The matrix of a level from the blocks of the one below; at the finest, bending comes with its scale."""
    start, columns = rows.start, rows.columns
    out, hats, slots = level.blocks, level.hats, level.slots
    for k in range(len(out)):
        d = scale * level.bend[k]
        for i in range(3):
            for j in range(3):
                out[k, i, j] = d if i == j else 0.0
    at = 0
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):
            j = columns[k]
            for a in range(hats.start[v], hats.start[v + 1]):
                for b in range(hats.start[j], hats.start[j + 1]):
                    if hats.columns[a] > hats.columns[b]:
                        continue
                    w, s = hats.values[a] * hats.values[b], slots[at]
                    at += 1
                    out[s, 0, 0] += w * blocks[k, 0, 0]
                    out[s, 0, 1] += w * blocks[k, 0, 1]
                    out[s, 0, 2] += w * blocks[k, 0, 2]
                    out[s, 1, 0] += w * blocks[k, 1, 0]
                    out[s, 1, 1] += w * blocks[k, 1, 1]
                    out[s, 1, 2] += w * blocks[k, 1, 2]
                    out[s, 2, 0] += w * blocks[k, 2, 0]
                    out[s, 2, 1] += w * blocks[k, 2, 1]
                    out[s, 2, 2] += w * blocks[k, 2, 2]
    _mirror(level)


@helper
def _mirror(level):
    """The lower half of the matrix from the upper one."""
    out, start, diagonal, mirror = level.blocks, level.rows.start, level.rows.diagonal, level.mirror
    for v in range(len(diagonal)):
        for k in range(start[v], diagonal[v]):
            for i in range(3):
                for j in range(3):
                    out[k, i, j] = out[mirror[k], j, i]


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
def add_links(links, free, level):
    """Links of the first level: between hats that share a place in its rows; others count as if they were held there,
    which makes the matrix larger, and keeps it positive."""
    n, hats, rows, out, m = len(free), level.hats, level.rows, level.blocks, links.matrix
    for e in range(len(links.vertices)):
        if m[e, 0] + m[e, 3] + m[e, 5] == 0.0:
            continue
        for i in range(4):
            v = links.vertices[e, i]
            if v >= n or links.weights[e, i] == 0.0:
                continue
            for j in range(4):
                u = links.vertices[e, j]
                if u >= n or links.weights[e, j] == 0.0:
                    continue
                w = links.weights[e, i] * links.weights[e, j]
                for a in range(hats.start[v], hats.start[v + 1]):
                    for b in range(hats.start[u], hats.start[u + 1]):
                        c = w * hats.values[a] * hats.values[b]
                        k = _find(rows, hats.columns[a], hats.columns[b])
                        if k >= 0:
                            _add_matrix(out, k, c, m, e)
                        else:
                            c = 0.5 * abs(c)
                            _add_matrix(out, rows.diagonal[hats.columns[a]], c, m, e)
                            _add_matrix(out, rows.diagonal[hats.columns[b]], c, m, e)


@helper
def _add_matrix(out, k, c, m, e):
    out[k, 0, 0] += c * m[e, 0]
    out[k, 0, 1] += c * m[e, 1]
    out[k, 0, 2] += c * m[e, 2]
    out[k, 1, 0] += c * m[e, 1]
    out[k, 1, 1] += c * m[e, 3]
    out[k, 1, 2] += c * m[e, 4]
    out[k, 2, 0] += c * m[e, 2]
    out[k, 2, 1] += c * m[e, 4]
    out[k, 2, 2] += c * m[e, 5]
