"""From a state that is free of intersections back towards the one that was given, free all the way."""

from __future__ import annotations

import numpy as np

from pliant.response.resolver import Resolver
from pliant.runtime.arrays import TangledError
from pliant.runtime.clocks import Clock
from pliant.untangling.spreading import restore_lengths, smooth
from pliant.untangling.window import Window

THICKNESS = 0.05  # of the median size of a vertex: what resolve aims at
_STEPS = 30  # at most
_GAIN = 0.1  # in three steps, below which it ends
_SMOOTH_EVERY = 3
_HOME = 0.01  # sizes: what is so near to where it was goes there
_SWEEPS = 3  # over all edges, in each step
_POLISH, _POLISH_SWEEPS = 4, 5  # steps at the end, every second one smooths


def bring_back(window: Window, x: np.ndarray, clock: Clock, keeps: bool = False) -> np.ndarray:
    """(n, 3) as near to what was given as steps get that are proven free of contact; what is tangled at x stays where
    it is, if so wanted.

    Each step goes straight towards what was given, or smooths what is left of the way; then edges get back towards the
    lengths that they had. So what is blocked slides along what blocks it, and neither ledges nor stretched faces stay.
    """
    steps = _Steps(window, keeps)
    left = [_length(window, x)]
    for step in range(_STEPS):
        if clock.is_over or left[-1] == 0.0:
            break
        aim = _smoothed(window, x) if step % _SMOOTH_EVERY == _SMOOTH_EVERY - 1 else _nearer(window, x)
        x = steps.towards(x, aim, _SWEEPS)
        left.append(_length(window, x))
        if len(left) > _SMOOTH_EVERY and left[-1] > (1.0 - _GAIN) * left[-1 - _SMOOTH_EVERY]:
            break
    for step in range(_POLISH):
        if clock.is_over or left[-1] == 0.0:
            break
        x = steps.towards(x, x if step % 2 else _smoothed(window, x), _POLISH_SWEEPS)
    return x


class _Steps:
    """Steps that are proven free of contact."""

    def __init__(self, window: Window, keeps: bool) -> None:
        self._window = window
        self._resolver = Resolver(
            window.mesh, inverse_mass=np.where(window.held, 0.0, 1.0), tangled="keep" if keeps else "raise",
            thickness=THICKNESS * float(np.median(window.size)), threads=window.threads,
        )  # fmt: skip
        self._resolver._is_quiet = True

    def towards(self, x: np.ndarray, aim: np.ndarray, sweeps: int) -> np.ndarray:
        """From x to near aim, with edges restored in so many sweeps."""
        window, aim = self._window, np.array(aim)
        restore_lengths(aim, window.edges, window.lengths, window.held, sweeps)
        near = np.linalg.norm(aim - window.x, axis=1) < _HOME * window.size
        aim[near] = window.x[near]
        try:
            return np.array(self._resolver.resolve(x, aim).positions)
        except TangledError:  # it touches, which only a step finds out
            return x


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
