"""Objects that nothing else separates are parted: moved as a whole, without a change of shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.runtime.clocks import Clock
from pliant.untangling.window import Window

_FIRST, _FURTHER, _DISTANCES = 0.25, 1.6, 7  # mean sizes: 0.25 to 4.2; what is further away has lost its place
_HALVINGS = 4  # of the last step, towards the least distance in a direction
_LATTICE = np.stack(np.meshgrid(*[(-1.0, 0.0, 1.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
_DIRECTIONS = np.array([way / np.linalg.norm(way) for way in _LATTICE if way.any()])


def parted(window: Window, x: np.ndarray, furthest: float, clock: Clock) -> np.ndarray:
    """(n, 3) objects that meet others moved away from all of them, one after the other, the one with most pairs first,
    by the shortest way out that is found, none beyond the furthest; those with a vertex that is held stay."""
    label = window.sides.objects
    of_face, stays = label[window.mesh._faces[:, 0]], np.zeros(int(label.max(initial=-1)) + 1, bool)
    stays[label[window.held & (label >= 0)]] = True
    for _ in range(len(stays)):
        met = _pairs_of_objects(window, x, of_face)
        times = np.bincount(met.ravel(), minlength=len(stays))
        times[stays] = 0
        if not times.any() or clock.is_over:
            break
        one = int(times.argmax())
        way = _way_out(window, x, of_face, one, furthest, clock)
        if way is not None:
            x = np.where((label == one)[:, None], x + way, x)
        stays[one] = True  # each has one turn
    return x


def _pairs_of_objects(window: Window, x: np.ndarray, of_face: np.ndarray) -> np.ndarray:
    """(k, 2) labels of different objects, of each pair of faces that intersect."""
    met = of_face[window.detector.intersections(x).faces]
    return met[met[:, 0] != met[:, 1]]


def _way_out(
    window: Window, x: np.ndarray, of_face: np.ndarray, one: int, furthest: float, clock: Clock
) -> np.ndarray | None:
    """(3,) the least translation found after which an object meets no other one; None where none is."""
    mine = window.sides.objects == one
    unit = float(window.size[mine].mean())

    def is_free(way: np.ndarray) -> bool:
        return not (_pairs_of_objects(window, np.where(mine[:, None], x + way, x), of_face) == one).any()

    below = 0.0
    for distance in unit * _FIRST * _FURTHER ** np.arange(_DISTANCES):
        for direction in _DIRECTIONS:
            if clock.is_over or distance > furthest:
                return None
            if is_free(distance * direction):
                return _shortened(is_free, direction, below, float(distance))
        below = float(distance)
    return None


def _shortened(is_free: Callable[[np.ndarray], bool], direction: np.ndarray, low: float, high: float) -> np.ndarray:
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_free(middle * direction) else (middle, high)
    return high * direction
