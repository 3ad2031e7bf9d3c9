"""The first time at which two moving features come within a distance: enclosed by samples that nothing slips between.

Time is cut into cells, which are halved where the gap could get down to the distance in between. Two bounds hold in a
cell. The gap changes no faster than two points move against each other. And features that move straight and are apart
along an axis at both ends of the cell are so in between, since n · (p - q) is linear in time. All is right up to the
rounding of a gap, which is allowed for (`_ROUNDING`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.reference.distances import differences, distance, gap, gap_and_difference, speed_squared

# Relative to the size of a query; the most that was seen is 1.4e-13, where nearly parallel edges touch.
_ROUNDING = 1e-12
_START = 4
_HALVINGS = 38


class FirstTimes(NamedTuple):
    """lower, upper : (k,), enclosures of the first times within the distance; inf, inf where there is none.

    A finite lower and an infinite upper: undecided. They come so close that the difference is a matter of rounding, or
    stay nearly that close for long.
    """

    lower: np.ndarray
    upper: np.ndarray

    @property
    def never(self) -> np.ndarray:
        return np.isinf(self.lower)

    @property
    def surely(self) -> np.ndarray:
        return np.isfinite(self.upper)

    @property
    def undecided(self) -> np.ndarray:
        return ~self.never & ~self.surely


def size(x0, x1) -> np.ndarray:
    """(k,): the diagonal of the box around all points of a query at both ends."""
    both = np.concatenate([x0, x1], axis=-2)
    return np.linalg.norm(both.max(axis=-2) - both.min(axis=-2), axis=-1)


def first_within(features, x0, x1, d, radii=None) -> FirstTimes:
    """Straight motion of queries x0, x1 : (k, 4, 3), floats of about unit size.

    d : scalar or (k,), compared with the distance, or with the gap where there are radii : (k, 4)
    """
    x0, x1 = np.asarray(x0, dtype=np.float64), np.asarray(x1, dtype=np.float64)
    d = np.broadcast_to(np.asarray(d, dtype=np.float64), len(x0))
    radii = np.zeros((len(x0), 4)) if radii is None else np.asarray(radii, dtype=np.float64)
    a, b = features

    def positions(rows, t):
        t = t[:, None, None]
        return (1 - t) * x0[rows] + t * x1[rows]

    def excess(rows, t):
        return gap(features, positions(rows, t), radii[rows]) - d[rows]

    def axis_bound(rows, left, right):
        """How far apart they stay, beyond d, along the axis of the nearest points in the middle of the cell."""
        _, axis = gap_and_difference(features, positions(rows, (left + right) / 2), radii[rows])
        length = np.linalg.norm(axis, axis=1)
        axis /= np.where(length > 0, length, 1)[:, None]
        reach = (radii[rows][:, list(a), None] + radii[rows][:, None, list(b)]).reshape(len(rows), len(a) * len(b))
        ends = (differences(features, positions(rows, t)) @ axis[:, :, None] for t in (left, right))
        return np.minimum(*((end[:, :, 0] - reach).min(axis=1) for end in ends)) - d[rows]

    speed = np.sqrt(speed_squared(features, x0, x1))
    return _enclose(excess, axis_bound, speed, _ROUNDING * (size(x0, x1) + d))


def first_within_on_path(features, position: Callable[[float], np.ndarray], lipschitz: float, d: float) -> FirstTimes:
    """One query on any path: position(t) is (4, 3), and no two points of the two features have a relative speed above
    `lipschitz`."""

    def excess(_, t):
        return distance(features, np.array([position(float(each)) for each in t]).reshape(-1, 4, 3)) - d

    def no_bound(_, left, right):
        return np.full(len(left), -np.inf)

    ends = np.array([position(0.0)]), np.array([position(1.0)])
    return _enclose(excess, no_bound, np.array([lipschitz]), _ROUNDING * (size(*ends) + lipschitz + d), limit=50_000)


def _enclose(excess, axis_bound, speed, rounding, limit=1000) -> FirstTimes:
    # A query with more undecided cells than the limit at one time stays nearly that close for long, and is left so.
    count = len(speed)
    lower, upper = np.full(count, np.inf), np.full(count, np.inf)
    grid = np.linspace(0, 1, _START + 1)
    rows = np.repeat(np.arange(count), _START)
    left, right = np.tile(grid[:-1], count), np.tile(grid[1:], count)
    cells = rows, left, right, excess(rows, left), excess(rows, right)
    for _ in range(_HALVINGS):
        rows, left, right, at_left, at_right = cells
        for times, values in ((left, at_left), (right, at_right)):
            np.minimum.at(upper, rows[values <= 0], times[values <= 0])
        undecided = (at_left + at_right - speed[rows] * (right - left)) / 2 <= rounding[rows]
        undecided &= left < upper[rows]
        undecided[undecided] = axis_bound(*(c[undecided] for c in cells[:3])) <= rounding[rows[undecided]]
        # The cell that holds the first hit so far stays, whatever its bounds say: rounding must not lose it.
        undecided |= (left <= upper[rows]) & (upper[rows] <= right) & ((left < upper[rows]) | (left == 0))
        crowded = np.bincount(rows[undecided], minlength=count)[rows] > limit
        done = undecided & (crowded | (upper[rows] == 0))
        np.minimum.at(lower, rows[done], left[done])
        undecided &= np.isinf(lower[rows])
        rows, left, right, at_left, at_right = (c[undecided] for c in cells)
        middle = (left + right) / 2
        at_middle = excess(rows, middle)
        first, second = (rows, left, middle, at_left, at_middle), (rows, middle, right, at_middle, at_right)
        cells = tuple(np.concatenate(both) for both in zip(first, second))
    np.minimum.at(lower, cells[0], cells[1])
    return FirstTimes(lower, upper)
