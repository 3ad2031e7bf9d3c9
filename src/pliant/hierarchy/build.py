"""A binary tree without pointers: build, refit, and when to build anew.

All leaves are on one level. Node i of the level with 2^d nodes (heap index 2^d + i) holds the elements at the places of
the leaves below it: the tree *is* a permutation of the elements, and where in it the leaves begin. Elements are split
at the median along the widest axis of their centres, which gives tighter nodes than a space-filling curve for the same
shape of tree, and refitting is one pass from the bottom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.arrays import New
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

# Elements of a leaf: from LEAF_SIZE / 2 to LEAF_SIZE. Measured on cloth-ball, traversal with 2, 4, 8: see bench/README.
LEAF_SIZE = 4
LARGEST_LEAF = 2 * LEAF_SIZE  # where patches are kept whole
# A refitted tree is rebuilt when its cost has grown so much against what it was built with: from there on, walks in
# it have half as many comparisons again (scenes of 20,000 triangles: cloth in the wind 1.6 times at a ratio of 1.2, an
# explosion 1.7 at 1.23, sheets that pass each other 2.5 at 1.26), which is what building costs.
REBUILD_RATIO = 1.25
TOP_LEVELS = 3  # levels that are split before the threads take one subtree each
SHARED_FROM = 2048  # elements: fewer are left to one thread, since to hand work over takes 20 us each time


class Tree(NamedTuple):
    order: np.ndarray  # (k,) int32 the element at each place
    begin: np.ndarray  # (2**depth + 1,) int64 leaf i holds places begin[i] up to begin[i + 1]
    depth: int


def depth_for(count: int) -> int:
    """Levels below the root, such that leaves have from LEAF_SIZE / 2 to LEAF_SIZE elements."""
    depth = 0
    while (count >> depth) >= LEAF_SIZE:
        depth += 1
    return depth


def split_elements(element_bounds: np.ndarray, pool: ThreadPool) -> Tree:
    """The tree over elements with the given bounds, (k, 2 axes)."""
    return split_centres(centres_of(element_bounds), pool)


def split_centres(centres: np.ndarray, pool: ThreadPool) -> Tree:
    """The tree over elements with these centres, from ``centres_of``, which are put into its order."""
    count = len(centres)
    depth = depth_for(count)
    top = top_levels(count, depth)
    for level in range(top):
        pool.run(lambda _, i, level=level: split_below(centres, level, i, level + 1), range(1 << level))
    pool.run(lambda _, i: split_below(centres, top, i, depth), range(1 << top))
    begin = (np.arange((1 << depth) + 1, dtype=np.int64) * count) >> depth
    return Tree(centres[:, 3].astype(np.int32), begin, depth)


def top_levels(count: int, depth: int) -> int:
    """How many levels the threads share before each takes a subtree of its own."""
    return min(depth, TOP_LEVELS) if count >= SHARED_FROM else 0


@kernel
def tree_cost(nodes):
    """Sum of the half perimeters of all nodes, in units of the root's: what a traversal has to look at, roughly."""
    total = 0.0
    for node in range(1, len(nodes)):
        for c in range(0, 6, 2):
            total += max(0.0, nodes[node, c + 1] - nodes[node, c])  # turned inside out without elements
    size = 0.0
    for c in range(0, 6, 2):
        size += max(0.0, nodes[1, c + 1] - nodes[1, c])
    return total / size if size > 0.0 else 0.0


def centres_of(bounds: np.ndarray) -> np.ndarray:
    """(k, 4) middle of the boxes, halved before the sum so that it cannot overflow, and the number of the row."""
    out = np.empty((len(bounds), 4))
    _write_centres(bounds, out)
    return out


@kernel
def _write_centres(bounds, out):
    for i in range(len(bounds)):
        for k in range(3):
            out[i, k] = 0.5 * bounds[i, 2 * k] + 0.5 * bounds[i, 2 * k + 1]
        out[i, 3] = i


def centres_of_unions(bounds: np.ndarray, groups: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """The same for boxes of groups of bounded things, (k, members) ids, which are nowhere written down."""
    out = np.empty((len(groups), 4))
    pool.run_range(lambda begin, end: _write_union_centres(bounds, groups, out, begin, end), len(groups))
    return out


@kernel
def _write_union_centres(bounds, groups, out, begin, end):
    for g in range(begin, end):
        for k in range(3):
            lower, upper = bounds[groups[g, 0], 2 * k], bounds[groups[g, 0], 2 * k + 1]
            for j in range(1, groups.shape[1]):
                lower = min(lower, bounds[groups[g, j], 2 * k])
                upper = max(upper, bounds[groups[g, j], 2 * k + 1])
            out[g, k] = 0.5 * lower + 0.5 * upper
        out[g, 3] = g


@kernel
def split_below(centres, level, i, depth):
    """Sort the rows below node i of a level into the nodes of the level ``depth``.

    Whole rows move, so that each pass reads memory in order: twice as fast as a permutation of row numbers.
    """
    count = len(centres)
    for below in range(depth - level):
        for node in range(i << below, (i + 1) << below):
            at = level + below
            begin, end = (node * count) >> at, ((node + 1) * count) >> at
            middle = ((2 * node + 1) * count) >> (at + 1)
            select(centres, _widest_axis(centres, begin, end), begin, middle, end)


@helper
def _widest_axis(centres, begin, end):
    lower_x = lower_y = lower_z = np.inf
    upper_x = upper_y = upper_z = -np.inf
    for i in range(begin, end):
        x, y, z = centres[i, 0], centres[i, 1], centres[i, 2]
        lower_x, lower_y, lower_z = min(lower_x, x), min(lower_y, y), min(lower_z, z)
        upper_x, upper_y, upper_z = max(upper_x, x), max(upper_y, y), max(upper_z, z)
    x, y, z = upper_x - lower_x, upper_y - lower_y, upper_z - lower_z
    return 0 if x >= y and x >= z else 1 if y >= z else 2


@helper
def select(centres, axis, begin, middle, end):
    """Quickselect: the smallest middle - begin of rows begin .. end - 1 come first."""
    left, right = begin, end - 1
    while left < right:
        pivot = _median_of_three(centres[left, axis], centres[(left + right) >> 1, axis], centres[right, axis])
        i, j = left, right
        while i <= j:  # equal keys stop both scans, so many equal centres still split evenly
            while centres[i, axis] < pivot:
                i += 1
            while centres[j, axis] > pivot:
                j -= 1
            if i <= j:
                for k in range(4):
                    centres[i, k], centres[j, k] = centres[j, k], centres[i, k]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@helper
def _median_of_three(a, b, c):
    return max(min(a, b), min(max(a, b), c))


def fit_nodes(
    place_bounds: np.ndarray, begin: np.ndarray, pool: ThreadPool = SERIAL, new: New = np.empty
) -> np.ndarray:
    """(2**(depth + 1), 2 axes) bounds of all nodes by heap index, 1 is the root, from those of the elements by place.

    Bounds of a node without elements are turned inside out, and overlap nothing.
    """
    leaves = len(begin) - 1
    out, top = new((2 * leaves, place_bounds.shape[1])), 1 << top_levels(len(place_bounds), leaves.bit_length() - 1)
    out[0] = 0.0  # there is no such node
    pool.run(lambda _, node: _fit_below(place_bounds, begin, out, node), range(top, 2 * top))
    _unite_children(out, 1, top)
    return out


@kernel
def _fit_below(place_bounds, begin, out, node):
    """Bounds of a node and of all below it."""
    leaves = len(begin) - 1
    first, last = node, node + 1
    while first < leaves:
        first, last = 2 * first, 2 * last
    for leaf in range(first, last):
        for c in range(0, out.shape[1], 2):
            lower, upper = np.inf, -np.inf
            for i in range(begin[leaf - leaves], begin[leaf - leaves + 1]):
                lower = min(lower, place_bounds[i, c])
                upper = max(upper, place_bounds[i, c + 1])
            out[leaf, c], out[leaf, c + 1] = lower, upper
    while first > node:
        first, last = first >> 1, last >> 1
        _unite_children(out, first, last)


@kernel
def _unite_children(out, first, last):
    """Bounds of nodes first .. last - 1, from the last to the first, from those of their children."""
    for node in range(last - 1, first - 1, -1):
        for c in range(0, out.shape[1], 2):
            out[node, c] = min(out[2 * node, c], out[2 * node + 1, c])
            out[node, c + 1] = max(out[2 * node, c + 1], out[2 * node + 1, c + 1])


def label_ranges(labels: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """(2**(depth + 1), 2) smallest and largest label of the elements below each node; labels in order of places."""
    out = np.empty((2 * (len(begin) - 1), 2), np.int32)
    _find_ranges(labels, begin, out)
    return out


@kernel
def _find_ranges(labels, begin, out):
    leaves = len(begin) - 1
    for leaf in range(leaves):
        lower, upper = np.int32(2**31 - 1), np.int32(-1)
        for i in range(begin[leaf], begin[leaf + 1]):
            lower, upper = min(lower, labels[i]), max(upper, labels[i])
        out[leaves + leaf, 0], out[leaves + leaf, 1] = lower, upper
    for node in range(leaves - 1, 0, -1):
        out[node, 0] = min(out[2 * node, 0], out[2 * node + 1, 0])
        out[node, 1] = max(out[2 * node, 1], out[2 * node + 1, 1])
