"""Where a vertex is at a time, how fast it moves, and how much its path bends.

Straight lines are the fast path of everything. The other paths come as a chord, from x0 to x1, from which they are
never further away than bend / 8, at the same time t: for any curve with |x''| <= bend the difference to its chord is at
most bend t (1 - t) / 2. So what holds for thick things on straight lines culls curved ones, and only the elementary
test follows the curve itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant._jit import helper
from pliant.vec3 import add, lerp, row, scale, sub

STRAIGHT, ACCELERATED, TURNING = 0, 1, 2


class Paths(NamedTuple):
    """The motion of every vertex while t goes from 0 to 1.

    STRAIGHT: from x0 to x1. ACCELERATED: from x0 to x1 with a constant acceleration, x0 + t (x1 - x0) - t (1 - t) / 2
    acceleration. TURNING: resting + cos(angle t) arm + sin(angle t) across + t along, where x0 = resting + arm.
    """

    mode: int
    x0: np.ndarray  # (n, 3)
    x1: np.ndarray  # (n, 3)
    bend: np.ndarray  # (n,) bound of |x''|; of length 0 where all is straight
    acceleration: np.ndarray  # (n, 3)
    angle: np.ndarray  # (n,)
    resting: np.ndarray  # (n, 3) and so are the rest
    arm: np.ndarray
    across: np.ndarray
    along: np.ndarray


def straight_paths(x0: np.ndarray, x1: np.ndarray) -> Paths:
    none, nowhere = np.empty(0), np.empty((0, 3))
    return Paths(STRAIGHT, x0, x1, none, nowhere, none, nowhere, nowhere, nowhere, nowhere)


def largest_of(paths: Paths) -> float:
    """The largest coordinate of anything that describes the paths."""
    return max((float(np.abs(a).max()) for a in paths[1:] if a.ndim == 2 and a.size), default=0.0)


def positions_at(paths: Paths, t: float | np.ndarray, vertices: Any = slice(None)) -> np.ndarray:
    """Where vertices are at time t, or each at its own; by default (n, 3), of all of them."""
    v, t = vertices, np.asarray(t)[..., None]
    if paths.mode == TURNING:
        angle = paths.angle[v][..., None] * t
        return paths.resting[v] + np.cos(angle) * paths.arm[v] + np.sin(angle) * paths.across[v] + t * paths.along[v]
    straight = (1.0 - t) * paths.x0[v] + t * paths.x1[v]
    return straight if paths.mode == STRAIGHT else straight - 0.5 * t * (1.0 - t) * paths.acceleration[v]


@helper
def coefficients(paths, v, factor):
    """Everything needed to follow vertex v, in units of 1 / factor: four vectors and an angle."""
    nothing = (0.0, 0.0, 0.0)
    if paths.mode == STRAIGHT:
        return scale(row(paths.x0, v), factor), scale(row(paths.x1, v), factor), nothing, nothing, 0.0
    if paths.mode == ACCELERATED:
        ends = scale(row(paths.x0, v), factor), scale(row(paths.x1, v), factor)
        return ends[0], ends[1], scale(row(paths.acceleration, v), factor), nothing, 0.0
    return (
        scale(row(paths.resting, v), factor),
        scale(row(paths.arm, v), factor),
        scale(row(paths.across, v), factor),
        scale(row(paths.along, v), factor),
        paths.angle[v],
    )


@helper
def place(mode, c, t):
    """Position and velocity at time t of a vertex with coefficients c; off by less than 16 u of the largest of them."""
    if mode == TURNING:
        cosine, sine = np.cos(c[4] * t), np.sin(c[4] * t)
        turned = add(scale(c[1], cosine), scale(c[2], sine))
        speed = sub(scale(c[2], c[4] * cosine), scale(c[1], c[4] * sine))
        return add(add(c[0], turned), scale(c[3], t)), add(speed, c[3])
    position, velocity = lerp(c[0], c[1], t), sub(c[1], c[0])
    if mode == ACCELERATED:
        position = sub(position, scale(c[2], 0.5 * t * (1.0 - t)))
        velocity = sub(velocity, scale(c[2], 0.5 - t))
    return position, velocity
