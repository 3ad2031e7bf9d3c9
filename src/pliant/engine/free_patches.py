"""Patches that surely do not meet themselves: normal cones and contours (paper 000, section 3), for a scene."""

from __future__ import annotations

import time

import numpy as np

from pliant.culling.cones import Faces, fit_cones, merge_cones
from pliant.culling.contours import FREE, free_joined, free_patches
from pliant.engine.scene import Fitted, Scene
from pliant.hierarchy.build import TOP_LEVELS
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


def mark_free_patches(scene: Scene, fitted: Fitted, position_error: float, pool: ThreadPool, tally: Tally) -> None:
    """Marks the nodes that surely do not meet themselves, for vertices off by position_error; none without patches."""
    travel, patches = scene.travel, scene.hierarchy.patches
    if patches is None:
        return
    cones = fit_all_cones(scene, position_error, pool, tally)
    clock = time.perf_counter()
    free, top = fitted.pair_tree.free, first_subtree(scene)
    given = travel.x0, travel.x1, fitted.pair_tree.nodes, cones, patches.start, patches.loop, position_error, free
    tests = [free_patches(*given, 1, top)]
    pool.run(lambda _, node: tests.append(free_patches(*given, node, len(cones))), range(top, 2 * top))
    beside, chunks = fitted.pair_tree.beside, len(patches.joined.begin) - 1
    of_pairs: list[tuple[int, int]] = []
    given = travel.x0, travel.x1, fitted.pair_tree.nodes, cones, patches.joined, position_error, free, beside.free
    pool.run_range(lambda first, end: of_pairs.append(free_joined(*given, (first, end))), chunks, least=256)
    tested = sum(tests) + sum(count for count, _ in of_pairs)
    culled = int(np.count_nonzero(free == FREE)) + sum(found for _, found in of_pairs)
    tally.add("contours", tested, tested - culled, time.perf_counter() - clock)


def fit_all_cones(scene: Scene, position_error: float, pool: ThreadPool, tally: Tally) -> np.ndarray:
    """(nodes, 4) the normal cone of every node, for vertices off by at most position_error."""
    hierarchy, travel = scene.hierarchy, scene.travel
    assert hierarchy.patches is not None
    clock = time.perf_counter()
    cones, top = np.empty((2 * (len(hierarchy.tree.begin) - 1), 4)), first_subtree(scene)
    faces = Faces(
        hierarchy.leaves.corners, travel.x0, travel.x1, travel.is_resting, travel.factor,
        hierarchy.patches.flipped, hierarchy.tree.begin, travel.factor * position_error,
    )  # fmt: skip
    pool.run(lambda _, node: fit_cones(faces, cones, node), range(top, 2 * top))
    merge_cones(cones, top)
    tally.lap("cones", clock)
    return cones


def first_subtree(scene: Scene) -> int:
    """Nodes from this one up to twice its number have the subtrees that threads take."""
    return 1 << min(TOP_LEVELS, scene.hierarchy.tree.depth)
