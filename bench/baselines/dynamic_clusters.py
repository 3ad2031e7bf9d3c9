"""Dynamic clusters (DC; He, Ortiz, Enquobahrie and Manocha 2015): recomputed in each frame, free of self-contact.

From the papers, as 000 describes it: a cluster is guaranteed to be free by an observation point, from which it is seen
all the time from one side, and once (``baselines/observation``).

Clusters grow greedily, in the hierarchy: from seeds of some 25 faces upwards, a cluster and what is beside it become
one if that is a disc and passes the test; a seed that fails is examined in parts. So clusters are nodes, and the
traversal can use them. Simplified: the papers grow clusters across the surface and build a hierarchy over them.
"""

from __future__ import annotations

import time

import numpy as np

from bench.baselines.observation import Cloud, corners_at, seen_once
from bench.baselines.patches import count_tests, spread_free
from pliant.arithmetic.vec3 import cross, sub
from pliant.culling.contours import BELOW_FREE, FREE
from pliant.engine.free_patches import first_subtree
from pliant.engine.scene import Fitted, Scene
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

_SEEDS_ABOVE_LEAVES = 3


def mark(scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Mark the nodes that surely do not meet themselves in ``fitted.pair_tree.free``."""
    if scene.hierarchy.patches is None:
        return
    clock = time.perf_counter()
    free, top = fitted.pair_tree.free, first_subtree(scene)
    travel, patches = scene.travel, scene.hierarchy.patches
    corners = scene.hierarchy.leaves.corners
    points = travel.factor * np.concatenate((travel.x0[corners], travel.x1[corners]), axis=1).reshape(-1, 18)
    cloud = Cloud(
        travel.x0, travel.x1, travel.factor, points, patches.flipped, scene.hierarchy.tree.begin,
        fitted.pair_tree.nodes, patches.start, patches.loop, np.empty((len(free), 6)),
    )  # fmt: skip
    below: list[int] = []
    pool.run(lambda _, node: below.append(_grow(cloud, free, node)), range(top, 2 * top))
    tests = _grow_on(cloud, free, top)
    spread_free(free)
    count_tests(tests + sum(below), free, clock, tally)


@kernel
def _grow(cloud, free, node):
    """Clusters below a node, and there; returns how many were tested."""
    leaves = len(cloud.begin) - 1
    first, last = node, node + 1
    while first < leaves:
        first, last = 2 * first, 2 * last
    for leaf in range(first, last):
        _lean(cloud, leaf)
    above = 0
    while first > node:
        first, last, above = first >> 1, last >> 1, above + 1
        for i in range(first, last):
            _add_lean(cloud, i)
    # Now first is the node, and so many levels are above the leaves.
    seeds = max(0, above - _SEEDS_ABOVE_LEAVES)
    tests = 0
    for level in range(seeds, above + 1):  # what is too large for a cluster is examined in parts
        for i in range(node << level, (node + 1) << level):
            if level > seeds and free[i >> 1] != 0:
                free[i] = BELOW_FREE
            else:
                tests += _try_cluster(cloud, free, i)
    for level in range(seeds - 1, -1, -1):
        for i in range(node << level, (node + 1) << level):
            tests += _try_union(cloud, free, i)
    return tests


@kernel
def _grow_on(cloud, free, end):
    """The same for nodes 1 .. end - 1, once all below are done."""
    tests = 0
    for node in range(end - 1, 0, -1):
        _add_lean(cloud, node)
        tests += _try_union(cloud, free, node)
    return tests


@helper
def _try_union(cloud, free, node):
    """Two clusters become one, or one takes in what is beside it."""
    if free[2 * node] == 0 and free[2 * node + 1] == 0:
        return False
    return _try_cluster(cloud, free, node)


@helper
def _try_cluster(cloud, free, node):
    """Mark a node if it is a cluster; returns whether that was tested."""
    if cloud.start[node + 1] == cloud.start[node]:
        return False
    begin, end = _places(cloud.begin, node)
    if seen_once(cloud, node, begin, end):
        free[node] = FREE
    return True


@helper
def _places(begin, node):
    """The places below a node: from where to where."""
    leaves = len(begin) - 1
    first, last = node, node + 1
    while first < leaves:
        first, last = 2 * first, 2 * last
    return begin[first - leaves], begin[last - leaves]


@helper
def _add_lean(cloud, node):
    for c in range(6):
        cloud.lean[node, c] = cloud.lean[2 * node, c] + cloud.lean[2 * node + 1, c]


@helper
def _lean(cloud, node):
    """Sum up the normals of the faces of a leaf, at both ends of the motion."""
    begin, end = _places(cloud.begin, node)
    for c in range(6):
        cloud.lean[node, c] = 0.0
    for i in range(begin, end):
        for side in range(2):
            a, b, c = corners_at(cloud, i, side)
            n = cross(sub(b, a), sub(c, a))
            for k in range(3):
                cloud.lean[node, 3 * side + k] += n[k]
