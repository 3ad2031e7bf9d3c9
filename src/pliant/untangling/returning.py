"""From a state that is free of intersections back towards the one that was given, free all the way."""

from __future__ import annotations

import numpy as np

from pliant.response.resolver import Resolver
from pliant.runtime.arrays import TangledError
from pliant.runtime.clocks import Clock
from pliant.untangling.spreading import smooth
from pliant.untangling.window import Window

THICKNESS = 0.05  # of the median size of a vertex: what resolve aims at
_STEPS = 30  # at most
_GAIN = 0.05  # in two steps, below which it ends
_SMOOTH_EVERY = 3
_POLISH = 2  # smoothing steps at the end, each followed by one towards what was given


def bring_back(window: Window, x: np.ndarray, clock: Clock, keeps: bool = False) -> np.ndarray:
    """(n, 3) as near to what was given as steps get that are proven free of contact; what is tangled at x stays where
    it is, if so wanted.

    Each step goes straight towards what was given, or smooths what is left of the way: what blocks each other moves
    aside then, and no ledges stay where it does.
    """
    free = np.where(window.held, 0.0, 1.0)
    thickness = THICKNESS * float(np.median(window.size))
    resolver = Resolver(
        window.mesh, inverse_mass=free, thickness=thickness, tangled="keep" if keeps else "raise",
        threads=window.threads,
    )  # fmt: skip
    left = [_length(window, x)]
    for step in range(_STEPS):
        if clock.is_over or left[-1] == 0.0:
            break
        aim = _smoothed(window, x) if step % _SMOOTH_EVERY == _SMOOTH_EVERY - 1 else _nearer(window, x)
        try:
            x = resolver.resolve(x, aim).positions
        except TangledError:
            break
        left.append(_length(window, x))
        if len(left) > _SMOOTH_EVERY + 1 and left[-1] > (1.0 - _GAIN) * left[-1 - _SMOOTH_EVERY]:
            break
    for _ in range(_POLISH):
        for propose in (_smoothed, _nearer):
            if clock.is_over or left[-1] == 0.0:
                break
            try:
                x = resolver.resolve(x, propose(window, x)).positions
            except TangledError:
                break
    return np.array(x)


def _length(window: Window, x: np.ndarray) -> float:
    return float(np.linalg.norm(x - window.x, axis=1).sum())


def _nearer(window: Window, x: np.ndarray) -> np.ndarray:
    """A step towards what was given, of each vertex by its size at most."""
    way = window.x - x
    length = np.linalg.norm(way, axis=1)
    share = np.minimum(1.0, window.size / np.maximum(length, 1e-300))
    return np.where(share[:, None] < 1.0, x + share[:, None] * way, window.x)


def _smoothed(window: Window, x: np.ndarray) -> np.ndarray:
    """What was given, with a displacement that differs less between neighbours."""
    away = x - window.x
    return window.x + smooth(window.rings, away, np.ones(len(x)), window.held)
