"""Where a vertex is at a time, how fast it moves, and how much its path bends.

Straight lines are the fast path of everything. The other paths come as a chord, from x0 to x1, from which they are
never further away than bend / 8, at the same time t: for any curve with |x''| <= bend the difference to its chord is at
most bend t (1 - t) / 2. So what holds for thick things on straight lines culls curved ones, and only the elementary
test follows the curve itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, lerp, max_norm, row, scale, sub
from pliant.runtime.jit import helper

STRAIGHT, ACCELERATED, TURNING = 0, 1, 2


class Paths(NamedTuple):
    """The motion of every vertex while t goes from 0 to 1.

    STRAIGHT: from x0 to x1. ACCELERATED: from x0 to x1 with a constant acceleration, x0 + t (x1 - x0) - t (1 - t) / 2
    acceleration. TURNING: x0 - (1 - cos(angle t)) arm + sin(angle t) across + t along; arm is from the axis to x0.
    """

    mode: int
    x0: np.ndarray  # (n, 3)
    x1: np.ndarray  # (n, 3)
    bend: np.ndarray  # (n,) bound of |x''|; of length 0 where all is straight
    acceleration: np.ndarray  # (n, 3)
    angle: np.ndarray  # (n,)
    arm: np.ndarray  # (n, 3) and so are the next two
    across: np.ndarray
    along: np.ndarray
    body: np.ndarray  # (n,) int32, those that move as one: distances between them stay what they are


def straight_paths(x0: np.ndarray, x1: np.ndarray) -> Paths:
    none, nowhere = np.empty(0), np.empty((0, 3))
    return Paths(STRAIGHT, x0, x1, none, nowhere, none, nowhere, nowhere, nowhere, np.empty(0, np.int32))


def largest_of(paths: Paths) -> float:
    """The largest coordinate on the way: of the ends, and of what curved paths add to them."""
    largest = max((float(np.abs(x).max()) for x in (paths.x0, paths.x1, paths.along) if x.size), default=0.0)
    if len(paths.bend):
        largest += float(paths.bend.max())
    return largest


def positions_at(paths: Paths, t: float | np.ndarray, vertices: Any = slice(None)) -> np.ndarray:
    """Where vertices are at time t, or each at its own; by default (n, 3), of all of them."""
    v, t = vertices, np.asarray(t)[..., None]
    if paths.mode == TURNING:
        angle = paths.angle[v][..., None] * t
        rotated = np.sin(angle) * paths.across[v] - 2.0 * np.sin(0.5 * angle) ** 2 * paths.arm[v]
        return paths.x0[v] + (rotated + t * paths.along[v])
    straight = (1.0 - t) * paths.x0[v] + t * paths.x1[v]
    return straight if paths.mode == STRAIGHT else straight - 0.5 * t * (1.0 - t) * paths.acceleration[v]


def resting(paths: Paths) -> np.ndarray:
    """(n, 3) bool: coordinates that stay what they are during the whole motion."""
    if paths.mode == TURNING:
        is_turning = (paths.angle != 0.0)[:, None] & ((paths.arm != 0.0) | (paths.across != 0.0))
        return ~is_turning & (paths.along == 0.0)
    is_straight = True if paths.mode == STRAIGHT else paths.acceleration == 0.0
    return (paths.x0 == paths.x1) & is_straight


@helper
def position(paths, v, t):
    """``positions_at`` for vertex v in a kernel: the same operations in the same order."""
    x0 = row(paths.x0, v)
    if paths.mode == TURNING:
        angle = paths.angle[v] * t
        half = np.sin(0.5 * angle)
        rotated = sub(scale(row(paths.across, v), np.sin(angle)), scale(row(paths.arm, v), 2.0 * (half * half)))
        return add(x0, add(rotated, scale(row(paths.along, v), t)))
    straight = lerp(x0, row(paths.x1, v), t)
    if paths.mode == STRAIGHT:
        return straight
    return sub(straight, scale(row(paths.acceleration, v), 0.5 * t * (1.0 - t)))


@helper
def coefficients(paths, v, o, factor):
    """Everything needed to follow vertex v, in units of 1 / factor and relative to o: four vectors and an angle."""
    start, nothing = sub(scale(row(paths.x0, v), factor), o), (0.0, 0.0, 0.0)
    if paths.mode == STRAIGHT:
        return start, sub(scale(row(paths.x1, v), factor), o), nothing, nothing, 0.0
    if paths.mode == ACCELERATED:
        end = sub(scale(row(paths.x1, v), factor), o)
        return start, end, scale(row(paths.acceleration, v), factor), nothing, 0.0
    return (
        start,
        scale(row(paths.arm, v), factor),
        scale(row(paths.across, v), factor),
        scale(row(paths.along, v), factor),
        paths.angle[v],
    )


@helper
def place(mode, c, t):
    """Position and velocity at time t of a vertex with coefficients c; off by less than 16 u of its ``size_of``."""
    if mode == TURNING:
        cosine, sine, half = np.cos(c[4] * t), np.sin(c[4] * t), np.sin(0.5 * c[4] * t)
        rotated = sub(scale(c[2], sine), scale(c[1], 2.0 * half * half))
        speed = sub(scale(c[2], c[4] * cosine), scale(c[1], c[4] * sine))
        return add(c[0], add(rotated, scale(c[3], t))), add(speed, c[3])
    position, velocity = lerp(c[0], c[1], t), sub(c[1], c[0])
    if mode == ACCELERATED:
        position = sub(position, scale(c[2], 0.5 * t * (1.0 - t)))
        velocity = sub(velocity, scale(c[2], 0.5 - t))
    return position, velocity


@helper
def size_of(mode, c):
    """How large the terms of a vertex's position become, to which its rounding errors are relative.

    The angle is rounded too: angle t is off by u of itself, and moves the end of the arm by as much of its length.
    """
    if mode == TURNING:
        turn = abs(c[4])
        path_extent = (min(2.0, 0.5 * turn * turn) + turn) * max(max_norm(c[1]), max_norm(c[2]))
        return max_norm(c[0]) + path_extent + max_norm(c[3])
    return max(max_norm(c[0]), max_norm(c[1])) + max_norm(c[2])
