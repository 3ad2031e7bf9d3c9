"""The BVTT front from frame to frame (paper 000, section 4, Algorithm 4).

A front is where a traversal stopped: pairs of nodes that are apart, pairs of leaves, and patches that are free of
self-collision. The next frame is much like this one, so it starts there: a pair that overlaps by now is followed down
(descending), one that is apart together with its siblings goes up (ascending). A patch that normal cones cull holds one
pair of the front instead of all pairs below.

The front is one array, in the order of a walk through the tree of all pairs, so that the pairs below any pair are next
to each other. Threads take parts of it, and each leaves a part of the next one. Restructuring the tree makes a front
worthless (errata 23).
"""

from __future__ import annotations

from copy import copy

import numpy as np

from pliant.hierarchy.traverse import PairTree, cut_through

# Levels above the leaves at which the front ends: from there, pairs that overlap are followed down in every frame. Each
# pair of nodes has four below it, so three quarters of all comparisons are those of the last level, and a front cannot
# save them. To write it down to the leaves and read it again makes the traversal of hanging_cloth 1.7 times slower;
# with 4 levels it costs as much as without a front, and the front is 20 times smaller. (Of leaves with LEAF_SIZE
# elements. Those of trees for pairs are as large as four of them: two levels less.)
ABOVE_LEAVES = 2


class Front:
    pairs: np.ndarray  # (f, 2) int32
    lowest: int  # first node of its lowest level

    def __init__(self, pair_tree: PairTree, wanted: int, most: int, above_leaves: int = ABOVE_LEAVES) -> None:
        """most: about how many pairs that overlap there are to be in the first one."""
        self.pairs, level = cut_through(pair_tree, wanted, most)
        depth = (len(pair_tree.begin) - 1).bit_length() - 1
        self.lowest = 1 << max(level, depth - above_leaves)
        self._parts: dict[int, list[np.ndarray]] = {}

    def copy(self) -> Front:
        """Another one, that starts from here."""
        new = copy(self)
        new._parts = {}
        return new

    def __len__(self) -> int:
        return len(self.pairs)

    def keep(self, first: int, stops: list[np.ndarray]) -> None:
        """What the walk from pair ``first`` on noted."""
        self._parts[first] = stops

    def renew(self) -> None:
        """After a frame: the parts are the front of the next one."""
        noted = [stops for first in sorted(self._parts) for stops in self._parts[first]]
        self.pairs = np.concatenate([np.empty((0, 2), np.int32), *noted])
        self._parts.clear()
