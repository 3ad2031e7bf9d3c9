"""The front from frame to frame (paper 000, section 4, Algorithm 4).

A front is where a traversal stopped: pairs of nodes that are apart, pairs of leaves, and patches that are free of
self-collision. The next frame is much like this one, so it starts there: a pair that overlaps by now is followed down
(sprouting), one that is apart together with its siblings goes up (pruning). A patch that normal cones cull holds one
pair of the front instead of all pairs below.

The front is kept in segments, one for each pair of nodes that a thread takes as a chunk; a chunk that was not looked at
in the frame before starts from its pair of nodes. Restructuring the tree makes a front worthless (errata 23).

The front ends some levels above the leaves, from where pairs that overlap are followed down in every frame. Each pair
of nodes has four below it, so three quarters of all comparisons are those of the last level, which a front cannot
save; to write it down and read it again made the traversal 1.7 times slower.
"""

from __future__ import annotations

import numpy as np

from pliant.hierarchy.traverse import Forest, seed_chunks

ABOVE_LEAVES = 3


class Front:
    def __init__(self, forest: Forest, wanted: int, most: int) -> None:
        """most: about how many segments there are to be."""
        depth = (len(forest.begin) - 1).bit_length() - 1
        seeds = seed_chunks(forest, wanted, most)
        self.seed_level = int(seeds[0, 0]).bit_length() - 1 if len(seeds) else min(8, depth)
        self.levels = 1 << self.seed_level, 1 << max(self.seed_level, depth - ABOVE_LEAVES)  # first and last
        self._segments: dict[tuple[int, int], np.ndarray] = {}

    def __len__(self) -> int:
        return sum(map(len, self._segments.values()))

    def segment(self, seed: np.ndarray) -> np.ndarray:
        """Pairs of nodes to start from."""
        return self._segments.get((int(seed[0]), int(seed[1])), seed[None])

    def keep(self, seed: np.ndarray, stops: list[np.ndarray]) -> None:
        """What the traversal of one chunk noted, for the next frame."""
        self._segments[int(seed[0]), int(seed[1])] = np.concatenate(stops) if stops else np.empty((0, 2), np.int32)

    def keep_only(self, seeds: np.ndarray) -> None:
        """Forget the segments of chunks that are culled by now."""
        wanted = set(map(tuple, seeds.tolist()))
        self._segments = {seed: pairs for seed, pairs in self._segments.items() if seed in wanted}
