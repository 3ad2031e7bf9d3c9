"""How flesh follows its bones in a frame: where it is drawn to, and where it would go by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, dot, row, scale, sub
from pliant.characters.rig.blending import product
from pliant.runtime.jit import helper, kernel

_MOST_GROWTH = 40  # of a joint in a step, as a power of two


class Motion(NamedTuple):
    """Of all joints from the last frame to this one."""

    now: np.ndarray  # (j, 4, 4) transforms
    turn: np.ndarray  # (j, 3, 3) what takes directions of the last frame to this one
    scale: np.ndarray  # (j,) how much longer than as bound; negative in a mirror
    dt: float


class Carried(NamedTuple):
    """What is known of each vertex from frame to frame."""

    x: np.ndarray  # (n, 3) where it is
    target: np.ndarray  # (n, 3) where linear blending has it
    speed: np.ndarray  # (n, 3) of the target
    drift: np.ndarray  # (n, 3) speed of the vertex relative to its target
    offset: np.ndarray  # (n, 3) from the target to where it would be if it had only been carried along
    spread: np.ndarray  # (n,) root mean square of how far its joints disagree about the target
    scale: np.ndarray  # (n,) of its joints


def at_rest(x: np.ndarray) -> Carried:
    """Nothing moves yet; x (n, 3) is kept and written to."""
    target, speed, drift, offset = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    return Carried(x, target, speed, drift, offset, np.zeros(len(x)), np.ones(len(x)))


def motion_of(before: np.ndarray, now: np.ndarray, dt: float) -> Motion:
    """before, now : (j, 4, 4) transforms of two frames."""
    (a, size_a), (b, size_b) = _unit(before[:, :3, :3]), _unit(now[:, :3, :3])
    turn = np.tile(np.eye(3), (len(now), 1, 1))
    # Of what was flat, or has grown so much, no direction says anything.
    upright = (np.abs(np.linalg.det(a)) > 1e-12 * np.abs(a).max(axis=(1, 2)) ** 3) & (size_b - size_a < _MOST_GROWTH)
    turn[upright] = np.ldexp(b[upright] @ np.linalg.inv(a[upright]), (size_b - size_a)[upright, None, None])
    return Motion(now, turn, np.ldexp(np.cbrt(np.linalg.det(b)), size_b), dt)


def _unit(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(j, 3, 3) scaled by powers of two to sizes near 1, and (j,) their exponents: determinants can be told."""
    exponents = np.frexp(np.abs(matrices).max(axis=(1, 2)))[1]
    return np.ldexp(matrices, -exponents[:, None, None]), exponents


@kernel
def follow(rest, joints, weights, motion, carried, inertia):
    """New targets, spread and scale, and x where nothing but inertia would take it.

    A vertex keeps its place relative to its joints, whatever they do together, goes on drifting, and stays behind by
    what its target speeds up.

    inertia : (n,) how far each vertex yields to it, 0 at the bone and 1 where it is free; and how far it may lead
    """
    yielding, limit = inertia
    for v in range(len(rest)):
        before = row(carried.target, v)
        target, spread = _target(rest, joints, weights, motion, carried, v)
        offset = _rotated(joints, weights, motion, v, sub(row(carried.x, v), before))
        drift = _rotated(joints, weights, motion, v, row(carried.drift, v))
        speed = scale(sub(target, before), 1.0 / motion.dt)
        stray = sub(drift, sub(speed, row(carried.speed, v)))
        stray = scale(stray, motion.dt * yielding[v])
        length = np.sqrt(dot(stray, stray))
        if length > limit:
            stray = scale(stray, limit / length)
        place = add(add(target, offset), stray)
        for k in range(3):
            carried.x[v, k], carried.target[v, k] = place[k], target[k]
            carried.offset[v, k], carried.speed[v, k] = offset[k], speed[k]
        carried.spread[v] = spread


@helper
def _target(rest, joints, weights, motion, carried, v):
    """Where linear blending takes vertex v, and the spread; its scale is set."""
    p, mean, size, spread = row(rest, v), (0.0, 0.0, 0.0), 0.0, 0.0
    for i in range(joints.shape[1]):
        w, j = weights[v, i], joints[v, i]
        if w > 0.0:
            mean = add(mean, scale(_moved(motion.now, j, p), w))
            size += w * motion.scale[j]
    for i in range(joints.shape[1]):
        w, j = weights[v, i], joints[v, i]
        if w > 0.0 and w < 1.0:
            d = sub(_moved(motion.now, j, p), mean)
            spread += w * dot(d, d)
    carried.scale[v] = size
    return mean, np.sqrt(spread)


@helper
def _rotated(joints, weights, motion, v, d):
    mean = (0.0, 0.0, 0.0)
    for i in range(joints.shape[1]):
        w = weights[v, i]
        if w > 0.0:
            mean = add(mean, scale(product(motion.turn, joints[v, i], d), w))
    return mean


@helper
def _moved(m, j, p):
    return add(product(m, j, p), (m[j, 0, 3], m[j, 1, 3], m[j, 2, 3]))


@kernel
def measure_drift(carried, dt, keep, held, calm):
    """Ends a step: each vertex goes the part ``calm`` of its way. What is left of its speed relative to its target is
    ``keep``; nothing where it is in contact."""
    for v in range(len(carried.x)):
        factor = 0.0 if held[v] else keep / dt
        for k in range(3):
            before = carried.target[v, k] + carried.offset[v, k]
            way = calm[v] * (carried.x[v, k] - before)
            if calm[v] < 1.0:
                carried.x[v, k] = before + way
            carried.drift[v, k] = factor * way
