"""A surface in tiles: some 16 triangles each, that hang together and are about as wide as long.

They are grown one beside the other: a triangle with two sides at a tile joins it first, which leaves no notches, then
those that were found first. What is left between tiles joins one of them. To cut tiles apart instead of triangles is
what makes a tree of patches cheap: there are sixteen times as few, and the last four levels are not there
(``discs``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.hierarchy.build import LEAF_OF_PAIRS, split_centres
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL

SIZE = 16  # triangles of a tile, as it is grown; LEAF_OF_PAIRS at most
_STRAIGHTENED = 3  # times: hardly a triangle changes its tile after that


class Tiles(NamedTuple):
    """What the elements are part of, and which tiles are neighbours."""

    of: np.ndarray  # (k,) int32 tile of each element
    centres: np.ndarray  # (t, 3)
    start: np.ndarray  # (t + 1,) int32, neighbours of tile i: neighbour[start[i]:start[i + 1]]
    neighbour: np.ndarray  # int32
    sides: np.ndarray  # int32 that both have in common


def tiles_of(centres: np.ndarray, neighbour: np.ndarray) -> Tiles:
    """Of elements with these centres; neighbour : (3 k,) int32 the element across each side, < 0 where there is none.

    What has no neighbours, or hardly any, is put together by its place.
    """
    tile = np.full(len(centres), -1, np.int32)
    count = grow_tiles(neighbour, tile)
    size = np.bincount(tile, minlength=count).astype(np.int32)
    into = np.arange(count, dtype=np.int32)
    join_tiles(neighbour, np.argsort(tile, kind="stable").astype(np.int32), tile, size, into)
    straighten(neighbour, tile, size)
    _join_by_place(centres, tile, size)
    return _described(centres, neighbour, np.unique(tile, return_inverse=True)[1].astype(np.int32).reshape(-1))


def _join_by_place(centres: np.ndarray, tile: np.ndarray, size: np.ndarray) -> None:
    """Put tiles that are still small together, whatever is between them."""
    small = (size > 0) & (size <= SIZE // 2)
    elements = np.flatnonzero(small[tile])
    if len(elements) < 2:
        return
    ids, which = np.unique(tile[elements], return_inverse=True)
    counts, middles = np.bincount(which), _means(centres[elements], which, len(ids))
    tree = split_centres(middles, SERIAL, LEAF_OF_PAIRS // int(counts.max()))
    first = np.repeat(tree.order[np.minimum(tree.begin[:-1], len(ids) - 1)], np.diff(tree.begin))
    joined = np.empty(len(ids), np.int64)
    joined[tree.order] = first
    tile[elements] = ids[joined[which]]


def _means(points: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    weight = 1.0 / np.bincount(group, minlength=count)
    return np.column_stack([np.bincount(group, points[:, k] * weight[group], count) for k in range(3)])


def _described(centres: np.ndarray, neighbour: np.ndarray, tile: np.ndarray) -> Tiles:
    count = int(tile.max(initial=-1)) + 1
    across = np.flatnonzero(neighbour >= 0)
    a, b = tile[across // 3].astype(np.int64), tile[neighbour[across]]
    pair, sides = np.unique(a[a != b] * count + b[a != b], return_counts=True)
    start = np.searchsorted(pair, count * np.arange(count + 1, dtype=np.int64)).astype(np.int32)
    return Tiles(
        tile, _means(centres, tile, count), start, (pair % max(count, 1)).astype(np.int32), sides.astype(np.int32)
    )


@kernel
def grow_tiles(neighbour, tile):
    """Give every element a tile, which is < 0 before; returns how many there are."""
    elements, count = len(tile), 0
    waiting, known = np.empty(elements, np.int32), np.zeros(elements, np.bool_)
    found = np.empty(3 * SIZE + 4, np.int32)
    for root in range(elements):
        if tile[root] >= 0:
            continue
        waiting[0], known[root] = root, True
        head, tail = 0, 1
        while head < tail:
            seed = waiting[head]
            head += 1
            if tile[seed] < 0:
                first, end = _grow(neighbour, tile, seed, count, found)
                count += 1
                for k in range(first, end):
                    if not known[found[k]]:
                        known[found[k]] = True
                        waiting[tail] = found[k]
                        tail += 1
    return count


@helper
def _grow(neighbour, tile, seed, number, found):
    """One tile; returns from where to where ``found`` has elements beside it."""
    found[0] = seed
    first, end, size = 0, 1, 0
    while first < end and size < SIZE:
        i = found[first]
        first += 1
        if tile[i] >= 0:
            continue
        tile[i] = number
        size += 1
        for s in range(3 * i, 3 * i + 3):
            j = neighbour[s]
            if j < 0 or tile[j] >= 0:
                continue
            if first > 0 and _sides_at(neighbour, tile, j, number) > 1:
                first -= 1
                found[first] = j
            else:
                found[end] = j
                end += 1
    return first, end


@helper
def _sides_at(neighbour, tile, i, number):
    """How many sides of an element are at a tile."""
    count = 0
    for s in range(3 * i, 3 * i + 3):
        count += neighbour[s] >= 0 and tile[neighbour[s]] == number
    return count


@kernel
def join_tiles(neighbour, order, tile, size, into):
    """Let tiles of at most half the size become part of the neighbour with which they share most sides.

    order: (k,) the elements by tile; size: of each tile; into: the tile that it becomes, itself at first
    """
    begin, elements = 0, len(order)
    while begin < elements:
        number, end = tile[order[begin]], begin
        while end < elements and tile[order[end]] == number:
            end += 1
        best, most = number, 0
        if 2 * size[number] <= SIZE:
            for k in range(3 * begin, 3 * end):
                j = neighbour[3 * order[k // 3] + k % 3]
                if j < 0:
                    continue
                other = _root(into, tile[j])
                if other == _root(into, number) or size[other] + size[number] > LEAF_OF_PAIRS:
                    continue
                shared = 0
                for m in range(3 * begin, 3 * end):
                    n = neighbour[3 * order[m // 3] + m % 3]
                    shared += n >= 0 and _root(into, tile[n]) == other
                if shared > most:
                    best, most = other, shared
        if best != number:
            into[number] = best
            size[best] += size[number]
            size[number] = 0
        begin = end
    for i in range(elements):
        tile[i] = _root(into, tile[i])


@helper
def _root(into, i):
    while into[i] != i:
        i = into[i]
    return i


@kernel
def straighten(neighbour, tile, size):
    """A triangle that has two sides at another tile, and at most one at its own, goes there."""
    for _ in range(_STRAIGHTENED):
        for i in range(len(tile)):
            for s in range(3 * i, 3 * i + 3):
                j = neighbour[s]
                if j < 0 or tile[j] == tile[i] or size[tile[j]] >= LEAF_OF_PAIRS:
                    continue
                if _sides_at(neighbour, tile, i, tile[j]) > 1 and _sides_at(neighbour, tile, i, tile[i]) < 2:
                    size[tile[i]] -= 1
                    size[tile[j]] += 1
                    tile[i] = tile[j]
                    break
