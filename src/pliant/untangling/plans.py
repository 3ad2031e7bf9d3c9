"""Ways to a state that is free of intersections, whatever else becomes of it: regions that are pushed out, and
fairing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.rings import grow
from pliant.runtime.clocks import Clock
from pliant.untangling.lifting import Whole, lifted
from pliant.untangling.pushing import push_contours, push_flat, push_regions
from pliant.untangling.spreading import smooth, spread
from pliant.untangling.window import Tangle, Window

_LIFT, _MOST_LIFT = 0.15, 1.0  # sizes: so far above a closed object everything is lifted, at first and at most
_RAISE = 1.5  # times as far, where it still intersects
_STALE = 5  # steps without fewer pairs than ever, before another way is tried
_WORSE = 1.5  # times the fewest pairs: back to where they were
_STEPS = 60
_LARGE = 0.3  # sizes: a step of contour minimisation that has to get somewhere
_SMALL = 0.1
_RINGS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40)  # that fairing smooths, one try after the other


class Reached(NamedTuple):
    """Where a plan came to: positions, and how many pairs are left."""

    x: np.ndarray
    pairs: int


def by_regions(window: Window, whole: Whole, clock: Clock) -> Reached:
    """Regions are pushed out, contours without a region are shortened; where that is stuck, other ways in turn."""
    gap = np.full(len(window.x), _LIFT)
    x = lifted(window, whole, window.x, gap, clock)
    best, fewest, stale, way, at_best = x, np.inf, 0, 0, None
    for _ in range(_STEPS):
        tangle = window.tangle(x)
        if len(tangle) < fewest:
            best, fewest, stale, at_best = x, len(tangle), 0, tangle
        else:
            stale += 1
        if not len(tangle) or clock.is_over:
            break
        if at_best is not None and len(tangle) > _WORSE * fewest + 10:
            x, tangle, stale = best, at_best, _STALE
        if stale >= _STALE:
            way, stale = way + 1, 0
        _raise(window, tangle, gap)
        x = lifted(window, whole, x + _step(window, x, tangle, way), gap, clock, 1)
    return Reached(best, int(fewest))


def _raise(window: Window, tangle: Tangle, gap: np.ndarray) -> None:
    """Larger gaps around what intersects something that is held."""
    corners = window.mesh._faces[tangle.pairs]
    against = window.held[corners].all(axis=2).any(axis=1)
    rows = np.unique(corners[against])
    gap[rows] = np.minimum(_RAISE * gap[rows], _MOST_LIFT)


def _step(window: Window, x: np.ndarray, tangle: Tangle, way: int) -> np.ndarray:
    turn = way % 4
    if turn == 3:
        return faired(window, x, tangle, 2 + way // 4 * 2) - x
    if turn == 1:
        push = push_contours(window, x, tangle, _LARGE, np.ones(len(tangle.contour), bool))
    else:
        push, rest = push_regions(window, x, tangle, oriented=turn == 0)
        if rest.any():
            more = push_contours(window, x, tangle, _SMALL if way < 4 else _LARGE, rest)
            lone = push.weight == 0.0
            push.wanted[lone], push.weight[lone] = more.wanted[lone], more.weight[lone]
    push_flat(window, x, tangle, push)
    return spread(window.rings, push.wanted, push.weight, window.held)


def faired(window: Window, x: np.ndarray, tangle: Tangle, rings: int) -> np.ndarray:
    """Positions smoothed within so many rings of what intersects."""
    mask = np.zeros(len(x), bool)
    mask[window.mesh._faces[tangle.pairs].ravel()] = True
    return _faired_within(window, x, mask, rings)


def _faired_within(window: Window, x: np.ndarray, mask: np.ndarray, rings: int) -> np.ndarray:
    near = grow(window.rings, mask, rings)
    # Pulled back by 1 / rings^2: what is smoothed away is shorter than the neighbourhood.
    return smooth(window.rings, x, np.full(len(x), 1.0 / rings**2), window.held | ~near)


def by_fairing(window: Window, whole: Whole, clock: Clock) -> Reached:
    """Neighbourhoods of what intersects are smoothed, larger ones in every try, until nothing does."""
    mask, gap = np.zeros(len(window.x), bool), np.full(len(window.x), _LIFT)
    base = x = lifted(window, whole, window.x, gap, clock)
    best, fewest = window.x, np.inf
    for rings in _RINGS:
        for _ in range(2):
            tangle = window.tangle(x)
            if len(tangle) < fewest:
                best, fewest = x, len(tangle)
            if not len(tangle) or clock.is_over:
                return Reached(best, int(fewest))
            mask[window.mesh._faces[tangle.pairs].ravel()] = True
            _raise(window, tangle, gap)
            x = lifted(window, whole, _faired_within(window, base, mask, rings), gap, clock)
    return Reached(best, int(fewest))
