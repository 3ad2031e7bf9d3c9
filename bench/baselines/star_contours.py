"""Star contours (SCT; Schvartzman, Perez and Otaduy 2010) for one instant: projected contours and a line search.

From the paper, as 000 describes it: the contour is projected on the plane of the cone's axis, once per test. Where a
line crosses the half-planes inside all edges, it is in the kernel of the contour, which therefore is star-shaped: one
division per edge. And a self-collision test tree (SCTT), made of topology alone, says which tests there are, so that
the hierarchy itself is not examined: the discs in the order in which they are tested, each with the test that follows
when it holds for all below it. Discs of one or two faces are no tests but decided by their cone: two triangles with
a common edge, both seen from one side, lie on different sides of it.

Simplified: the paper's tree also has tests of two neighbouring regions of different branches, whose union may be a
disc. What such a test proves is no property of a node, and the traversal, which all methods share, could not use it.
Its bounds on contours by those of the regions below are left out as well: every test looks at its own contour.
Added: lines in four directions, each through the best place of the one before, and signs that clear an error bound,
with the winding number counted (the paper takes its numbers as they come).

Rounding. Projected coordinates are off by 7 u M (``baselines/patches``); as seen from the centre that was found, at
most M away from the mean in either coordinate, they are up to 2.8 M, and off by 10 u M. Products of two of them, and
their difference: 2 (2 2.8 10) + 3 2 7.9 = 160 u M^2.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from bench.baselines.patches import (
    across,
    axis_of,
    count_tests,
    extent_of,
    is_below_free,
    project,
    sheet_of,
    spread_free,
)
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.culling.contours import FREE, centres
from pliant.engine.free_patches import first_subtree, fit_all_cones
from pliant.engine.scene import Fitted, Scene
from pliant.runtime.arrays import OptionError
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

_SIDE_ERROR = 256 * UNIT_ROUNDOFF  # times M^2
_PASS_ERROR = 16 * UNIT_ROUNDOFF  # times M
_LINES = ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.8, -0.6))


class SelfTests(NamedTuple):
    """The tests of a hierarchy in the order in which they are made."""

    node: np.ndarray  # (t,) int32, first those above the nodes that threads take, then what is below each of these
    after: np.ndarray  # (t,) int64 the test that follows if this one holds for all below it
    by_cone: np.ndarray  # (t,) bool, the cone decides
    first: np.ndarray  # (top + 1,) int64 where the tests below each node that threads take begin


def mark(scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Mark the nodes that surely do not meet themselves in ``fitted.pair_tree.free``; the scene has to be at rest."""
    if not (scene.travel.is_resting or np.array_equal(scene.travel.x0, scene.travel.x1)):
        raise OptionError("star contours are for one instant: they prove nothing about a motion")
    if scene.hierarchy.patches is None:
        return
    sheet = sheet_of(scene, fitted, fit_all_cones(scene, 0.0, pool, tally))
    clock = time.perf_counter()
    top, free = first_subtree(scene), fitted.pair_tree.free
    tree = _test_tree(sheet.start, scene.hierarchy.tree.begin, top)
    clock = tally.lap("test tree", clock)
    tests, below = _run_tests(sheet, tree, free, 0, tree.first[0]), []
    chunks = [k for k in range(top) if not is_below_free(free, top + k)]
    pool.run(lambda _, k: below.append(_run_tests(sheet, tree, free, tree.first[k], tree.first[k + 1])), chunks)
    spread_free(free)
    count_tests(tests + sum(below), free, clock, tally)


def _test_tree(start: np.ndarray, begin: np.ndarray, top: int) -> SelfTests:
    size = np.zeros(2 * (len(begin) - 1), np.int64)
    _count_tests(start, size)
    tests = SelfTests(
        np.empty(size[1], np.int32), np.empty(size[1], np.int64), np.empty(size[1], np.bool_),
        np.empty(top + 1, np.int64),
    )  # fmt: skip
    _list_tests(start, begin, top, size, tests)
    return tests


@kernel
def _count_tests(start, size):
    """Tests at a node and below."""
    leaves = len(size) // 2
    for node in range(2 * leaves - 1, 0, -1):
        size[node] = (start[node + 1] > start[node]) + (size[2 * node] + size[2 * node + 1] if node < leaves else 0)


@kernel
def _list_tests(start, begin, top, size, tests):
    node_of, after, by_cone, first = tests
    leaves, place = len(size) // 2, np.zeros(len(size), np.int64)
    above, lowest = leaves, 1  # leaves below a node of this level, and its first node
    upper = 0
    for node in range(1, 2 * leaves):
        if node == 2 * lowest:
            above, lowest = above >> 1, node
        is_test = start[node + 1] > start[node]
        if node < top:
            at, upper = upper, upper + is_test
        else:
            if node < 2 * top:
                place[node] = upper if node == top else place[node - 1] + size[node - 1]
                first[node - top] = place[node]
            at = place[node]
            if node < leaves:
                place[2 * node] = at + is_test
                place[2 * node + 1] = at + is_test + size[2 * node]
        if is_test:
            leaf = (node - lowest) * above
            node_of[at], by_cone[at] = node, begin[leaf + above] - begin[leaf] <= 2
            after[at] = at + 1 if node < top else at + size[node]
    first[top] = size[1]


@kernel
def _run_tests(sheet, tree, free, begin, end):
    """Tests from one place in the tree up to another; returns how many patches were examined."""
    flat = np.empty((sheet.longest + 1, 2))
    tests, at = 0, begin
    while at < end:
        node = tree.node[at]
        if sheet.cones[node, 3] > 0.0 and not (at < tree.first[0] and is_below_free(free, node)):
            tests += 1
            if tree.by_cone[at] or _is_star(sheet, node, flat):
                free[node] = FREE
                at = tree.after[at]
                continue
        at += 1
    return tests


@helper
def _is_star(sheet, node, flat):
    begin, end = sheet.start[node], sheet.start[node + 1]
    return star_in_plane(
        sheet.x0, sheet.loop, begin, end, axis_of(sheet.cones, node), extent_of(sheet.nodes, node), flat
    )


@helper
def star_in_plane(x, loop, begin, end, axis, size, flat):
    """The contour loop[begin:end], projected along the axis, winds once around a point that a line search finds.

    size: at least every difference of coordinates, 0 where there is none that serves; flat: (n + 1, 2) a buffer.
    """
    if size == 0.0:
        return False
    e, f = across(axis)
    project(x, loop, begin, end, centres(x, x, loop, begin, end)[0], e, f, flat, 0)
    count = end - begin
    flat[count, 0], flat[count, 1] = flat[0, 0], flat[0, 1]
    o = 0.0, 0.0
    for line in _LINES:
        lower, upper = _inside_on_line(flat, count, o, line)
        # Where no part of the line is inside all edges, the next one goes through the middle of what is missing.
        middle = 0.5 * (lower + upper)
        o = o[0] + middle * line[0], o[1] + middle * line[1]
        if not (abs(o[0]) < size and abs(o[1]) < size):
            return False
        if lower < upper:
            return _winds_once(flat, count, o, size)
    return False


@helper
def _inside_on_line(flat, count, o, line):
    """From where to where the line through o is inside all edges; from a larger to a smaller place if nowhere."""
    lower, upper = -np.inf, np.inf
    a = flat[0, 0] - o[0], flat[0, 1] - o[1]
    for k in range(1, count + 1):
        b = flat[k, 0] - o[0], flat[k, 1] - o[1]
        side = a[0] * b[1] - a[1] * b[0]  # of o; s further along the line it is side - s slope
        slope = line[0] * (b[1] - a[1]) - line[1] * (b[0] - a[0])
        if slope > 0.0:
            upper = min(upper, side / slope)
        elif slope < 0.0:
            lower = max(lower, side / slope)
        a = b
    return lower, upper


@helper
def _winds_once(flat, count, o, size):
    """Forward at every edge, and once around o."""
    side_error, pass_error = _SIDE_ERROR * size * size, _PASS_ERROR * size
    a = flat[0, 0] - o[0], flat[0, 1] - o[1]
    passes = 0
    for k in range(1, count + 1):
        b = flat[k, 0] - o[0], flat[k, 1] - o[1]
        if not (a[0] * b[1] - a[1] * b[0] > side_error and abs(b[1]) > pass_error):
            return False
        passes += a[1] < 0.0 and b[1] > 0.0
        a = b
    return passes == 1
