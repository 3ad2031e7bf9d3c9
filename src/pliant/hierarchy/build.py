"""A binary tree without pointers: build, refit, and when to build it again.

All leaves are on one level. Node i of the level with 2^d nodes (heap index 2^d + i) holds the elements at the places of
the leaves below it: the tree *is* a permutation of the elements, and where in it the leaves begin. Elements are split
at the median along the widest axis of their centres, which gives tighter nodes than a space-filling curve for the same
shape of tree, and refitting is one pass from the bottom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.hierarchy.medians import centres_of, rows_of, split_below
from pliant.runtime.arrays import New
from pliant.runtime.jit import kernel
from pliant.runtime.threads import SERIAL, ThreadPool

# Elements of a leaf: from half of it up to it. One by one, for what is searched for a point, and for patches.
LEAF_SIZE = 4
LARGEST_LEAF = 2 * LEAF_SIZE  # where patches are kept whole
# For walks over pairs, which compare eight of them at once: see bench/README.
LEAF_OF_PAIRS = 24
LARGEST_OF_PAIRS = 2 * LEAF_OF_PAIRS  # of a mesh that has changed
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


def depth_for(count: int, leaf_size: int) -> int:
    """Levels below the root, such that leaves have from leaf_size / 2 to leaf_size elements."""
    depth = 0
    while (count >> depth) >= leaf_size:
        depth += 1
    return depth


def split_elements(element_bounds: np.ndarray, pool: ThreadPool, leaf_size: int = LEAF_SIZE) -> Tree:
    """The tree over elements with the given bounds, (k, 2 axes)."""
    alone = np.arange(len(element_bounds), dtype=np.int32)[:, None]
    return split_centres(centres_of(element_bounds, alone, pool), pool, leaf_size)


def split_centres(centres: np.ndarray, pool: ThreadPool, leaf_size: int) -> Tree:
    """The tree over elements with these centres, (k, 3)."""
    count = len(centres)
    depth = depth_for(count, leaf_size)
    rows, top = rows_of(centres, pool), top_levels(count, depth)
    words = rows.view(np.int64)
    for level in range(top):
        pool.run(lambda _, i, level=level: split_below(rows, words, level, i, level + 1), range(1 << level))
    pool.run(lambda _, i: split_below(rows, words, top, i, depth), range(1 << top))
    begin = (np.arange((1 << depth) + 1, dtype=np.int64) * count) >> depth
    return Tree(rows[:, 3].copy(), begin, depth)


def top_levels(count: int, depth: int) -> int:
    """How many levels the threads share before each takes a subtree of its own."""
    return min(depth, TOP_LEVELS) if count >= SHARED_FROM else 0


@kernel
def tree_cost(nodes):
    """Sum of the half perimeters of all nodes, in units of the root's: what a traversal has to look at, roughly."""
    total = 0.0
    for node in range(1, len(nodes)):
        for c in range(0, 6, 2):
            total += max(0.0, nodes[node, c + 1] - nodes[node, c])  # inverted without elements
    size = 0.0
    for c in range(0, 6, 2):
        size += max(0.0, nodes[1, c + 1] - nodes[1, c])
    return total / size if size > 0.0 else 0.0


def fit_nodes(
    place_bounds: np.ndarray, begin: np.ndarray, pool: ThreadPool = SERIAL, new: New = np.empty
) -> np.ndarray:
    """(2**(depth + 1), 2 axes) bounds of all nodes by heap index, 1 is the root, from those of the elements by place.

    Bounds of a node without elements are inverted (lower above upper), and overlap nothing.
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
