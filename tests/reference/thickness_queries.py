"""Seeded queries for tests of thickness: two features that move, and a distance that they reach or not.

Features have about unit size. Of each family, about half come within the distance; what has to be exact is built from
small dyadic numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.reference import queries
from tests.reference.distances import gap_and_difference
from tests.reference.queries import EDGE_EDGE, VERTEX_FACE

FEATURES = {"vertex_face": VERTEX_FACE, "edge_edge": EDGE_EDGE}
DISTANCES = (2.0**-10, 0.0625, 0.25, 1.0)


class Thick(NamedTuple):
    """x0, x1 : (k, 4, 3); d : (k,), one of `DISTANCES` each; family : (k,) names."""

    x0: np.ndarray
    x1: np.ndarray
    d: np.ndarray
    family: np.ndarray

    def rows(self, mask) -> Thick:
        return Thick(*(column[mask] for column in self))


def thick_queries(kind, count, seed) -> Thick:
    """A shuffled mixture of all families."""
    features = FEATURES[kind]
    rng = np.random.default_rng([seed, len(features[0]), 2])
    family = rng.choice(list(FAMILIES), size=count)
    d = rng.choice(DISTANCES, size=count)
    x = np.array([FAMILIES[name](rng, features, each) for name, each in zip(family, d)])
    return Thick(x[:, 0], x[:, 1], d, family)


def random_radii(rng, count, d) -> np.ndarray:
    """(count, 4): unequal, some of them zero, the sum of two about d; d : (count,)."""
    return rng.uniform(0.5, 1.5, (count, 4)) * rng.choice([0.0, 1.0, 1.0, 1.0], (count, 4)) * d[:, None] / 2


# ---- families: x : (2, 4, 3), positions at t = 0 and t = 1


def _parted(features, x, apart):
    """Moves the first feature along the line of the nearest points so that their distance is about `apart`."""
    now, vector = gap_and_difference(features, x, np.zeros(4))
    length = np.linalg.norm(vector)
    if length > 0:
        x[list(features[0])] += (apart - now) * vector / length
    return x


def _generic(rng, features, d):
    """From apart to anywhere: aimed at the other feature, or past it."""
    x = rng.standard_normal((2, 4, 3)) * 0.7
    direction = rng.standard_normal(3)
    direction *= (1 + d + rng.exponential()) / np.linalg.norm(direction)
    x[0, list(features[0])] += direction
    x[1, list(features[0])] -= direction * rng.choice([1.0, 0.3]) + rng.standard_normal(3) * d
    return x


def _approaching(rng, features, d):
    """Straight at each other, a step of about the distance: like the last steps before a contact."""
    x = _driven_together(rng, features, d, rng.standard_normal((4, 3)))
    x[1] += rng.standard_normal((4, 3)) * 0.1 * d
    return x


def _driven_together(rng, features, d, shape):
    """Features of that shape, from beyond the distance to about as near, both carried along by some translation."""
    x = np.array([_parted(features, shape, d * rng.uniform(1.05, 3))] * 2)
    _, vector = gap_and_difference(features, x[0], np.zeros(4))
    x[1, list(features[0])] -= vector / np.linalg.norm(vector) * d * rng.uniform(0.2, 2)
    x[1] += rng.standard_normal(3)
    return x


def _static(rng, features, d):
    """Nothing moves, or both features together."""
    x = _parted(features, rng.standard_normal((4, 3)), d * rng.choice([0.3, 0.9, 1.1, 2.0]))
    return np.array([x, x + rng.choice([0, 1]) * rng.standard_normal(3)])


def _starting_within(rng, features, d):
    """Within the distance at the start, or just outside, and leaving."""
    x = _parted(features, rng.standard_normal((4, 3)), d * rng.choice([0.0, 0.5, 0.99, 1.01, 1.5]))
    _, vector = gap_and_difference(features, x, np.zeros(4))
    away = x.copy()
    away[list(features[0])] += vector * rng.uniform(0.1, 2)
    return np.array([x, away + 0.05 * d * rng.standard_normal((4, 3))])


def _grazing(rng, features, d):
    """Sliding past at a height of the distance, a little more or less: a minimum that is a double root."""
    beside = rng.choice([-1, 1]) * 10.0 ** -rng.integers(1, 8)
    x = np.zeros((2, 4, 3))
    x[:, list(features[0]), 2] = d * (1 + beside)
    if len(features[0]) == 1:
        x[:, 1:, :2] = [[-1, -1], [1, -1], [0, 1]]
        x[:, 0, :2] = rng.uniform(-0.2, 0.2, 2)
    else:
        x[:, :2, 0], x[:, 2:, 1] = [-1, 1], [-1, 1]
    slide = rng.uniform(1, 3, 2) * rng.choice([-1, 1], 2)
    x[0, list(features[0]), :2] -= slide
    x[1, list(features[0]), :2] += slide * rng.uniform(0.5, 1)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return x @ turn


def _exactly_at(rng, features, d):
    """Dyadic: at exactly the distance at the start, at an end, for a while, or never but for an eighth of it."""
    ends = [(1, 3), (3, 1), (2, 0.5), (2, 1.125), (1, 1), (1.125, 1.125)][rng.integers(6)]
    x = np.zeros((2, 4, 3))
    x[:, list(features[0]), 2] = np.array(ends)[:, None] * d
    if len(features[0]) == 1:
        x[:, 1:, :2] = [[0, 0], [4, 0], [0, 4]]
        x[:, 0, :2] = rng.integers(0, 3, 2)
    else:
        x[:, :2, 0] = [-2, 2]
        x[:, 2:, 1] = rng.integers(-2, 1), rng.integers(1, 4)
    return x[:, :, rng.permutation(3)] * rng.choice([-1.0, 1.0], 3) + 0.0


def _flat(rng, features, d):
    """Parallel edges or a triangle that is a segment, all the time or at the start only."""
    shape, share = rng.standard_normal((4, 3)), rng.uniform(-0.5, 1.5)
    if len(features[0]) == 2:
        shape[3] = shape[2] + (0.5 + share) * (shape[1] - shape[0])
    else:
        shape[3] = shape[1] + share * (shape[2] - shape[1])
    return _bent(rng, _driven_together(rng, features, d, shape), d)


def _zero_length(rng, features, d):
    """Edges that are points, one or both; a triangle with two equal corners, or three."""
    shape, more = rng.standard_normal((4, 3)), rng.random() < 0.5
    if len(features[0]) == 2:
        shape[1] = shape[0]
        shape[3] = shape[2] if more else shape[3]
    else:
        shape[3] = shape[2]
        shape[1] = shape[2] if more else shape[1]
    return _bent(rng, _driven_together(rng, features, d, shape), d)


def _bent(rng, x, d):
    x[1] += rng.choice([0, 0, 0.1]) * d * rng.standard_normal((4, 3))
    return x


def _from_exact_queries(rng, features, d):
    """Families of `queries` of unit size, whose features meet or just miss: within any distance at some time."""
    names = (queries._inner, queries._integers, queries._translation, queries._in_plane, queries._in_line)
    x = names[rng.integers(len(names))](rng, features)
    # Every other one is carried off, so that the distance decides.
    x[:, list(features[0])] += rng.choice([0, 1]) * rng.standard_normal(3) * (2 + 2 * d)
    return x


FAMILIES = {
    "generic": _generic,
    "approaching": _approaching,
    "static": _static,
    "starting_within": _starting_within,
    "grazing": _grazing,
    "exactly_at": _exactly_at,
    "flat": _flat,
    "zero_length": _zero_length,
    "from_exact_queries": _from_exact_queries,
}
