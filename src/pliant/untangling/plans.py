"""Ways to a state that is free of intersections, whatever else becomes of it: regions that are pushed out, and
fairing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.rings import grow
from pliant.queries.enclosures import enclosed
from pliant.runtime.clocks import Clock
from pliant.untangling.pushing import GAP, Push, push_contours, push_flat, push_regions
from pliant.untangling.sides import Enclosure
from pliant.untangling.spreading import smooth, spread
from pliant.untangling.window import Tangle, Window

_ROUNDS_OUT = 8  # of pushing out of closed objects
_STALE = 5  # steps without fewer pairs than ever, before another way is tried
_WORSE = 1.5  # times the fewest pairs: back to where they were
_STEPS = 60
_LARGE = 0.3  # sizes: a step of contour minimisation that has to get somewhere
_SMALL = 0.1
_RINGS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40)  # that fairing smooths, one try after the other


class Whole(NamedTuple):
    """What a window has to know of the whole mesh: positions, and closed objects that are told about."""

    x: np.ndarray
    enclosures: list[Enclosure]


class Reached(NamedTuple):
    """Where a plan came to: positions, and how many pairs are left."""

    x: np.ndarray
    pairs: int


def push_out(window: Window, whole: Whole, x: np.ndarray, clock: Clock) -> np.ndarray:
    """Vertices inside of objects that they belong outside of go to the closest point of the surface, and a little
    further; their surroundings follow."""
    place = np.full(len(whole.x), -1)
    place[window.ids] = np.arange(len(window.ids))
    for _ in range(_ROUNDS_OUT):
        push, around = Push(len(x)), whole.x.copy()
        around[window.ids] = x
        for one in whole.enclosures:
            mine = place[one.outside]
            mine = mine[mine >= 0]
            mine = mine[~window.held[mine]]
            found = enclosed(one.faces, around, x[mine], threads=window.threads)
            rows = mine[found.vertices]
            far = np.where(np.isnan(found.depth), 0.0, found.depth) + GAP * window.size[rows]
            push.wanted[rows] = far[:, None] * np.nan_to_num(found.direction)
            push.weight[rows] = 1.0
        if not push.weight.any() or clock.is_over:
            break
        x = x + spread(window.rings, push.wanted, 10.0 * push.weight, window.held)
    return x


def by_regions(window: Window, whole: Whole, clock: Clock) -> Reached:
    """Regions are pushed out, contours without a region are shortened; where that is stuck, other ways in turn."""
    x = push_out(window, whole, window.x, clock) if whole.enclosures else window.x
    best, fewest, stale, way, x_best_tangle = x, np.inf, 0, 0, None
    for _ in range(_STEPS):
        tangle = window.tangle(x)
        if len(tangle) < fewest:
            best, fewest, stale, x_best_tangle = x, len(tangle), 0, tangle
        else:
            stale += 1
        if not len(tangle) or clock.is_over:
            break
        if len(tangle) > _WORSE * fewest + 10:
            x, tangle, stale = best, x_best_tangle, _STALE
        if stale >= _STALE:
            way, stale = way + 1, 0
        x = x + _step(window, x, tangle, way)
    return Reached(best, int(fewest))


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
    """Neighbourhoods of what intersects are smoothed, larger ones in every try, until nothing does; where sides are
    known, what is left is pushed."""
    mask = np.zeros(len(window.x), bool)
    best, fewest, x = window.x, np.inf, window.x
    for rings in _RINGS:
        for _ in range(2):
            tangle = window.tangle(x)
            if len(tangle) < fewest:
                best, fewest = x, len(tangle)
            if not len(tangle) or clock.is_over:
                return Reached(best, int(fewest))
            mask[window.mesh._faces[tangle.pairs].ravel()] = True
            x = _faired_within(window, window.x, mask, rings)
            if whole.enclosures:
                x = push_out(window, whole, x, clock)
    return Reached(best, int(fewest))
