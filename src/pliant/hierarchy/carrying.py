"""A tree for a mesh that has changed: elements that stay keep their leaves, new ones join those of their neighbours.

A cut or a remeshed region touches few elements, and to build a tree takes longer than to refit it. Nodes stay the same
ranges of leaves, so a front stays a front; what has become of the bounds, a refit finds out.
"""

from __future__ import annotations

import numpy as np

from pliant.hierarchy.build import Tree

# Of all elements, that may have been added before it is rebuilt: their leaves are larger than they need be.
MOST_ADDED = 0.25


def carried(
    tree: Tree, old_of_new: np.ndarray, corners: np.ndarray, vertex_count: int, largest_leaf: int
) -> Tree | None:
    """The tree of the changed mesh; None where it had better be rebuilt.

    old_of_new : (k,) int32, ids before, -1 for new elements; corners : (k, c) int32, vertices of the elements now;
    largest_leaf : elements that kernels have space for
    """
    added = np.flatnonzero(old_of_new < 0)
    if len(added) > MOST_ADDED * max(len(old_of_new), 1):
        return None
    leaf_of_old = np.empty(len(tree.order), np.int64)
    leaf_of_old[tree.order] = np.repeat(np.arange(len(tree.begin) - 1), np.diff(tree.begin))
    leaf = np.where(old_of_new >= 0, leaf_of_old[old_of_new], -1)
    if len(added) and not _join_neighbours(leaf, added, corners, vertex_count):
        return None
    counts = np.bincount(leaf, minlength=len(tree.begin) - 1)
    if counts.max(initial=0) > largest_leaf:
        return None
    order = np.argsort(leaf, kind="stable").astype(tree.order.dtype)
    begin = np.concatenate(([0], np.cumsum(counts))).astype(tree.begin.dtype)
    return tree._replace(order=order, begin=begin)


def _join_neighbours(leaf: np.ndarray, added: np.ndarray, corners: np.ndarray, vertex_count: int) -> bool:
    """Give added elements the leaf of one that has a vertex in common; False where some have no such neighbour."""
    at_vertex = np.full(vertex_count, -1, np.int64)
    known = leaf >= 0
    at_vertex[corners[known]] = leaf[known][:, None]
    while len(added):
        found = at_vertex[corners[added]].max(axis=1)
        new = found >= 0
        if not new.any():
            return False
        leaf[added[new]] = found[new]
        at_vertex[corners[added[new]]] = found[new][:, None]
        added = added[~new]
    return True
