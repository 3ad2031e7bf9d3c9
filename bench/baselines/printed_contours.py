"""The contour test of paper 000 as it is printed, Algorithm 3: around a centre that stays where it is.

From the paper: o is the mean of the contour (here of both ends of the motion, the best place for one that rests), no
other is tried, and the side of every edge is a quadratic with three coefficients of one sign. Corrected as in our own
test, or results would change: k2 is Side at t = 1 (errata 1), patches are discs (errata 2), signs clear an error
bound, and the winding number is counted once, at t = 0 (errata 3). What it differs in is the centre.
"""

from __future__ import annotations

from bench.baselines.patches import axis_of, extent_of, mark_with_cones, next_patch
from pliant.arithmetic.vec3 import add, scale
from pliant.culling.contours import FREE, centres, winds_once
from pliant.engine.scene import Fitted, Scene
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


def mark(scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Mark the nodes that surely do not meet themselves in ``fitted.pair_tree.free``."""
    mark_with_cones(_mark_below, scene, fitted, pool, tally)


@kernel
def _mark_below(sheet, free, top, end):
    tests = 0
    node, level = next_patch(sheet, free, top, end, 0, 0)
    while node > 0:
        begin, stop = sheet.start[node], sheet.start[node + 1]
        size = extent_of(sheet.nodes, node)
        if star_around_rest(sheet.x0, sheet.x1, sheet.loop, begin, stop, axis_of(sheet.cones, node), size):
            free[node] = FREE
        tests += 1
        node, level = next_patch(sheet, free, top, end, node, level)
    return tests


@helper
def star_around_rest(x0, x1, loop, begin, end, axis, size):
    """The contour loop[begin:end] winds once around its mean over the motion; size: at least every difference of
    coordinates of the swept contour, 0 where there is none that serves."""
    if size == 0.0:
        return False
    o0, o1 = centres(x0, x1, loop, begin, end)
    o = scale(add(o0, o1), 0.5)
    return winds_once(x0, x1, loop, begin, end, o, o, axis, size, 0.0) > 0
