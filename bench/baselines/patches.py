"""What the baselines share: cones and contours for one frame, the way from patch to patch, and a plane to see them in.

A projection is onto two rounded vectors e and f across the axis of a cone. What they span is seen exactly along e x f,
not along the axis: off by some 1e-15, which the cone allows, since its half angle stays 1e-9 below a right one
(``culling/cones``). So the proof is about e x f, and only the coordinates are rounded: with differences of coordinates
up to M a projected one has 3 products and 1 + 3 roundings, 4 u sqrt(3) M < 7 u M.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, row, scale, sub
from pliant.culling.contours import BELOW_FREE, FREE, extent
from pliant.engine.free_patches import first_subtree, fit_all_cones
from pliant.engine.scene import Fitted, Scene
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


class Sheet(NamedTuple):
    """One frame as the contour tests see it; nodes by heap index."""

    x0: np.ndarray  # (n, 3)
    x1: np.ndarray  # (n, 3)
    nodes: np.ndarray  # (nodes, 2 axes) bounds
    cones: np.ndarray  # (nodes, 4) axis and cosine
    start: np.ndarray  # (nodes + 1,) contour of node i: loop[start[i]:start[i + 1]]
    loop: np.ndarray  # int32 vertex ids
    longest: int  # contour


# A kernel that marks the patches below a node, from the node on up to another, and returns how many it tested.
MarkBelow = Callable[[Sheet, np.ndarray, int, int], int]


def sheet_of(scene: Scene, fitted: Fitted, cones: np.ndarray) -> Sheet:
    assert scene.hierarchy.patches is not None
    start = scene.hierarchy.patches.start
    longest = int(np.diff(start).max(initial=0))
    return Sheet(
        scene.travel.x0, scene.travel.x1, fitted.pair_tree.nodes, cones, start, scene.hierarchy.patches.loop, longest
    )


def mark_with_cones(mark_below: MarkBelow, scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Cones, then a contour test from the top down, as our own culling does it; only the test differs."""
    if scene.hierarchy.patches is None:
        return
    sheet = sheet_of(scene, fitted, fit_all_cones(scene, 0.0, pool, tally))
    clock = time.perf_counter()
    free, top = fitted.pair_tree.free, first_subtree(scene)
    tests, below = mark_below(sheet, free, 1, top), []
    pool.run(lambda _, node: below.append(mark_below(sheet, free, node, len(free))), range(top, 2 * top))
    count_tests(tests + sum(below), free, clock, tally)


def count_tests(tests: int, free: np.ndarray, since: float, tally: Tally) -> None:
    culled = int(np.count_nonzero(free == FREE))
    tally.add("contours", tests, tests - culled, time.perf_counter() - since)


@helper
def next_patch(sheet, free, top, end, node, level):
    """The next patch to test, and its level below ``top``: level by level, ``top`` itself after node 0; node 0 at the
    end.

    Marks what is part of a free patch on the way.
    """
    node = top if node == 0 else node + 1
    while True:
        if node == (top + 1) << level:
            level += 1
            node = top << level
        if node >= end:
            return 0, level
        if node > 1 and free[node >> 1] != 0:
            free[node] = BELOW_FREE
        elif sheet.cones[node, 3] > 0.0 and sheet.start[node + 1] > sheet.start[node]:
            return node, level
        node += 1


@kernel
def spread_free(free):
    """Mark what is below a free node, whatever was noted there."""
    for node in range(2, len(free)):
        if free[node >> 1] != 0:
            free[node] = BELOW_FREE


@helper
def is_below_free(free, node):
    """The node is part of a free patch."""
    while node > 1:
        node >>= 1
        if free[node] != 0:
            return True
    return False


@helper
def axis_of(cones, node):
    return cones[node, 0], cones[node, 1], cones[node, 2]


@helper
def extent_of(nodes, node):
    """At least every difference of coordinates below a node, also those to the mean of its contour; 0 where its square
    would leave the range in which errors are relative."""
    size = extent(nodes, node)
    return size if size > 1e-100 and size < 1e100 else 0.0


@helper
def across(axis):
    """Two unit vectors, to rounding, that make a right-handed frame with the axis."""
    r = (0.36, 0.48, 0.8) if abs(0.36 * axis[0] + 0.48 * axis[1] + 0.8 * axis[2]) < 0.8 else (0.8, -0.36, 0.48)
    e = cross(axis, r)
    e = scale(e, 1.0 / math.sqrt(dot(e, e)))
    return e, cross(axis, e)


@helper
def project(x, loop, begin, end, o, e, f, out, column):
    """Write a contour as seen from o in the plane of e and f into two columns of ``out``, from row 0 on."""
    for k in range(begin, end):
        v = sub(row(x, loop[k]), o)
        out[k - begin, column] = dot(v, e)
        out[k - begin, column + 1] = dot(v, f)
