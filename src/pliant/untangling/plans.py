"""Ways to a state that is free of intersections, whatever else becomes of it: regions that are pushed out, and
fairing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.edges import unite
from pliant.mesh.rings import balls, grow
from pliant.runtime.clocks import Clock
from pliant.untangling.judging import areas
from pliant.untangling.lifting import Whole, lifted
from pliant.untangling.pushing import push_flat, push_regions
from pliant.untangling.shortening import push_contours
from pliant.untangling.spreading import smooth, spread
from pliant.untangling.window import Tangle, Window

# Sizes: so far above a closed object everything is lifted, at first, at least and at most.
_LIFT, _LEAST_LIFT, _MOST_LIFT = 0.15, 0.01, 1.0
_RAISE = 1.5  # times as far, where it still intersects what is held
_STALE = 5  # steps without fewer pairs than ever, before another way is tried
_WORSE = 1.5  # times the fewest pairs: back to where they were
_STEPS = 120
_LARGE = 0.3  # sizes: a step of contour minimisation that has to get somewhere
_SMALL = 0.1
_RINGS = (1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40)  # that fairing smooths, each for two tries
_TRIES = 40  # of fairing, at most: clusters that meet count together
_SHRUNK = 0.1  # of the area: what is smoothed to less collapses, and nothing leads back from there


class Reached(NamedTuple):
    """Where a plan came to: positions, and how many pairs are left."""

    x: np.ndarray
    pairs: int


def by_regions(window: Window, whole: Whole, clock: Clock, start: np.ndarray | None = None) -> Reached:
    """Regions are pushed out, contours without a region are shortened; where that is stuck, other ways in turn.

    start : (n, 3) where it begins; default: as given
    """
    gap = np.full(len(window.x), _LIFT)
    x = lifted(window, whole, window.x if start is None else start, gap, clock)
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
        _raise(window, tangle.pairs, gap)
        x = lifted(window, whole, x + _step(window, x, tangle, way), gap, clock, 1)
    return Reached(best, int(fewest))


def _raise(window: Window, pairs: np.ndarray, gap: np.ndarray) -> None:
    """Larger gaps around what intersects something that is held; smaller ones where what is lifted meets, as in a
    narrow cleft."""
    corners = window.mesh._faces[pairs]
    against = np.asarray(window.held[corners].all(axis=2)).any(axis=-1)
    among, rows = np.unique(corners[~against]), np.unique(corners[against])
    gap[among] = np.maximum(gap[among] / _RAISE, _LEAST_LIFT)
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
    near = grow(window.rings, mask, rings)
    # Pulled back by 1 / rings^2: what is smoothed away is shorter than the neighbourhood.
    return smooth(window.rings, x, np.full(len(x), 1.0 / rings**2), window.held | ~near)


def by_fairing(window: Window, whole: Whole, clock: Clock) -> Reached:
    """Neighbourhoods of what intersects are smoothed, larger ones in every second try, until nothing does."""
    tries, gap = np.zeros(len(window.x), np.int32), np.full(len(window.x), _LIFT)
    base = x = lifted(window, whole, window.x, gap, clock)
    best, fewest = window.x, np.inf
    radius_of = np.repeat((0, *_RINGS), 2)[1:]
    least_area = _SHRUNK * areas(window.mesh._faces, window.x).sum()
    for _ in range(_TRIES):
        pairs = window.pairs(x)
        if len(pairs) < fewest:
            best, fewest = x, len(pairs)
        if not len(pairs) or clock.is_over:
            break
        _count_tries(window, pairs, tries)
        if tries.max() >= len(radius_of):
            break
        _raise(window, pairs, gap)
        radius = balls(window.rings, radius_of[tries])
        x = smooth(window.rings, base, 1.0 / np.maximum(radius, 1) ** 2.0, window.held | (radius == 0))
        if areas(window.mesh._faces, x).sum() < least_area:
            break
        x = lifted(window, whole, x, gap, clock)
    return Reached(best, int(fewest))


def _count_tries(window: Window, pairs: np.ndarray, tries: np.ndarray) -> None:
    """One more for each vertex of a cluster of intersecting faces than the most that any of them had; tries : (n,)"""
    faces = window.mesh._faces
    label = np.arange(len(tries))
    tangled = faces[np.unique(pairs)]
    links = np.concatenate(
        (tangled[:, :2], tangled[:, 1:], np.stack((faces[pairs[:, 0], 0], faces[pairs[:, 1], 0]), 1))
    )
    unite(links, label)
    rows = np.unique(tangled)
    most = np.zeros(len(tries), np.int32)
    np.maximum.at(most, label[rows], tries[rows])
    tries[rows] = most[label[rows]] + 1
