"""A hierarchy whose nodes are patches of surface, discs as far as possible: what normal cones can cull.

A patch is cut across its long way, measured along the surface: between its two ends, at the tiles that are as near to
the one as to the other (``tiles``). Both sides of such a cut hang together but for splinters, which go to the other
side. If the patch is a disc and both ends are at its boundary, so are both halves. Distances count tiles, and do not
change when the surface bends: a patch that is compact now stays so, while boxes around what is near by chance come
apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.hierarchy.build import Tree, top_levels
from pliant.hierarchy.tiles import Tiles, tiles_of
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

MOST_TILES = 2  # of a leaf; with the size of tiles, this is what LARGEST_OF_PAIRS has to hold
_FULL = 0.7  # tiles for each leaf at most, on average: what is kept whole needs some play


class _Work(NamedTuple):
    """What the splits of all threads work on, each on its own range."""

    tiles: Tiles
    node: np.ndarray  # (t,) int32 the node that has a tile, by heap index; minus that on the way. No other thread has
    # marks of the same node, so that none spreads into what another is working on.
    rows: np.ndarray  # (t, 2) a range of tiles: key, tile
    queue: np.ndarray  # (t,) int32
    distance: np.ndarray  # (t, 2) int32 by tile, from the two ends


def split_into_patches(centres: np.ndarray, twin: np.ndarray, pool: ThreadPool) -> Tree:
    """The tree over elements with the given centres; leaves have one or two tiles.

    twin : (3 k,) the side of the neighbour, 3 * element + corner, at each side; < 0 where there is none
    """
    tiles = tiles_of(centres, twin // 3)
    count = len(tiles.centres)
    depth = 0
    while count > max(1.0, _FULL * (1 << depth)):
        depth += 1
    work = _Work(
        tiles, np.ones(count, np.int32), np.empty((count, 2)), np.empty(count, np.int32), np.empty((count, 2), np.int32)
    )
    work.rows[:, 1] = np.arange(count)
    begin = np.zeros((1 << depth) + 1, np.int64)
    begin[-1] = count
    top = top_levels(len(centres), depth)
    for level in range(top):
        pool.run(lambda _, i, level=level: split_patches(work, begin, depth, level, i, level + 1), range(1 << level))
    pool.run(lambda _, i: split_patches(work, begin, depth, top, i, depth), range(1 << top))
    return _of_elements(tiles.of, work.rows[:, 1].astype(np.int32), begin)


def _of_elements(tile: np.ndarray, order: np.ndarray, begin: np.ndarray) -> Tree:
    """The tree over elements, from that over tiles; tile : (k,) that has each element."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(place[tile], minlength=len(order)))))
    elements = np.argsort(place[tile], kind="stable").astype(np.int32)
    return Tree(elements, starts[begin].astype(np.int64), (len(begin) - 1).bit_length() - 1)


@kernel
def split_patches(work, begin, depth, level, i, until):
    """Sort the tiles below node i of a level into the nodes of the level ``until``; begin: of the leaves, in tiles."""
    for at in range(level, until):
        for node in range(i << (at - level), (i + 1) << (at - level)):
            first, end = begin[node << (depth - at)], begin[(node + 1) << (depth - at)]
            capacity = MOST_TILES << (depth - at - 1)
            begin[(2 * node + 1) << (depth - at - 1)] = _split(work, first, end, (1 << at) + node, capacity)


@helper
def _split(work, begin, end, node, capacity):
    """Halve one node; returns where its second half begins."""
    if end - begin < 2:
        for k in range(begin, end):
            work.node[np.int64(work.rows[k, 1])] = 2 * node
        return end
    tail = _spread(work, np.int64(work.rows[begin, 1]), node, -node, begin, 0)
    if tail == end:
        return _cut_across(work, begin, end, node, capacity)
    return _part_pieces(work, begin, end, node, tail, capacity)


@helper
def _spread(work, root, old, new, begin, which):
    """Breadth first from a tile through those marked ``old``, which become ``new``, into the queue from ``begin``
    on.

    Returns where the queue ends; distance[:, which] is filled in.
    """
    node, queue, distance = work.node, work.queue, work.distance
    start, neighbour = work.tiles.start, work.tiles.neighbour
    node[root] = new
    distance[root, which] = 0
    queue[begin] = root
    head, tail = begin, begin + 1
    while head < tail:
        i = queue[head]
        head += 1
        further = distance[i, which] + 1
        for s in range(start[i], start[i + 1]):
            j = neighbour[s]
            if node[j] == old:
                node[j] = new
                distance[j, which] = further
                queue[tail] = j
                tail += 1
    return tail


@helper
def _cut_across(work, begin, end, node, capacity):
    """A connected patch: cut it between its ends. All its tiles are marked -node, and queue[end - 1] is one end."""
    rows, queue = work.rows, work.queue
    a = queue[end - 1]
    _spread(work, a, -node, node, begin, 0)
    b = queue[end - 1]
    _spread(work, b, node, -node, begin, 1)
    way = (
        work.tiles.centres[b, 0] - work.tiles.centres[a, 0],
        work.tiles.centres[b, 1] - work.tiles.centres[a, 1],
        work.tiles.centres[b, 2] - work.tiles.centres[a, 2],
    )
    length = 1e-300 + way[0] * way[0] + way[1] * way[1] + way[2] * way[2]
    for k in range(begin, end):
        i = queue[k]
        along = 0.0
        for c in range(3):
            along += way[c] * (work.tiles.centres[i, c] - work.tiles.centres[a, c])
        # Where tiles are equally far, by their place on the straight way.
        tie = max(0.0, min(0.9, 0.9 * along / length))
        rows[k, 0] = work.distance[i, 0] - work.distance[i, 1] + tie
        rows[k, 1] = i
    middle = (begin + end) >> 1
    _select(rows, begin, middle, end)
    for k in range(begin, end):
        work.node[np.int64(rows[k, 1])] = 2 * node + (k >= middle)
    left = middle - begin
    left -= _give_splinters(work, begin, middle, 2 * node, 2 * node + 1)
    left += _give_splinters(work, begin, end, 2 * node + 1, 2 * node)
    left += _give_teeth(work, begin, end, 2 * node)
    if left > capacity or end - begin - left > capacity:
        for k in range(begin, end):
            work.node[np.int64(rows[k, 1])] = 2 * node + (k >= middle)
        return middle
    return _sort_by_node(work, begin, end, 2 * node)


@helper
def _select(rows, begin, middle, end):
    """Quickselect: the middle - begin of rows begin .. end - 1 with the smallest keys come first."""
    left, right = begin, end - 1
    while left < right:
        a, b, c = rows[left, 0], rows[(left + right) >> 1, 0], rows[right, 0]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:  # equal keys stop both scans, so many of them still split evenly
            while rows[i, 0] < pivot:
                i += 1
            while rows[j, 0] > pivot:
                j -= 1
            if i <= j:
                for k in range(2):
                    rows[i, k], rows[j, k] = rows[j, k], rows[i, k]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@helper
def _give_splinters(work, begin, end, mine, other):
    """Of the tiles marked ``mine`` all but the largest piece become ``other``; returns how many."""
    rows, queue, node = work.rows, work.queue, work.node
    tail = begin
    best_begin, best_end = begin, begin
    for k in range(begin, end):
        i = np.int64(rows[k, 1])
        if node[i] == mine:
            piece = tail
            tail = _spread(work, i, mine, -mine, piece, 0)
            if tail - piece > best_end - best_begin:
                best_begin, best_end = piece, tail
    for k in range(begin, tail):
        node[queue[k]] = mine if best_begin <= k and k < best_end else other
    return tail - begin - (best_end - best_begin)


@helper
def _give_teeth(work, begin, end, left):
    """Straighten the cut: a tile that has more sides in common with the other half goes there. Returns what the left
    side gains.

    A contour is star-shaped if its edges are seen from the middle under one orientation, which teeth are not. Every
    move makes the cut shorter, so this ends.
    """
    rows, node, tiles = work.rows, work.node, work.tiles
    gain = 0
    moved = True
    while moved:
        moved = False
        for k in range(begin, end):
            i = np.int64(rows[k, 1])
            here = across = 0
            for s in range(tiles.start[i], tiles.start[i + 1]):
                side = node[tiles.neighbour[s]]
                here += tiles.sides[s] * (side == node[i])
                across += tiles.sides[s] * (side == (2 * left + 1) - node[i])
            if across > here and here > 0:  # the last one stays
                gain += 1 if node[i] != left else -1
                node[i] = 2 * left + 1 - node[i]
                moved = True
    return gain


@helper
def _sort_by_node(work, begin, end, first):
    """Tiles marked ``first`` to the front, in order; returns where the others begin."""
    rows, queue = work.rows, work.queue
    middle, others = begin, 0
    for k in range(begin, end):
        i = np.int64(rows[k, 1])
        if work.node[i] == first:
            rows[middle, 1] = i
            middle += 1
        else:
            queue[begin + others] = i
            others += 1
    for k in range(others):
        rows[middle + k, 1] = queue[begin + k]
    return middle


@helper
def _part_pieces(work, begin, end, node, tail, capacity):
    """Several pieces: keep them whole where the balance allows, in the order in which they lie along the widest axis.

    The first piece is in the queue up to ``tail`` already.
    """
    rows, queue = work.rows, work.queue
    start = np.empty(end - begin + 1, np.int64)
    start[0], start[1] = begin, tail
    pieces = 1
    for k in range(begin, end):
        i = np.int64(rows[k, 1])
        if work.node[i] == node:
            tail = _spread(work, i, node, -node, tail, 0)
            pieces += 1
            start[pieces] = tail
    centre = np.zeros((pieces, 3))
    for p in range(pieces):
        for k in range(start[p], start[p + 1]):
            for c in range(3):
                centre[p, c] += work.tiles.centres[queue[k], c] / (start[p + 1] - start[p])
    axis, widest = 0, -1.0
    for c in range(3):
        extent = centre[:, c].max() - centre[:, c].min()
        if extent > widest:
            axis, widest = c, extent
    middle, wanted, k = begin, (begin + end) >> 1, begin
    for p in np.argsort(centre[:, axis]):
        for q in range(start[p], start[p + 1]):
            rows[k, 1] = queue[q]
            k += 1
        if abs(k - wanted) < abs(middle - wanted):
            middle = k
    # Leaves that are nearly empty, or too full, cost more than a cut piece.
    if 5 * abs(middle - wanted) > wanted - begin or max(middle - begin, end - middle) > capacity:
        middle = wanted
    for k in range(begin, end):
        work.node[np.int64(rows[k, 1])] = 2 * node + (k >= middle)
    return middle
