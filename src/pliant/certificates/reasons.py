"""Finds the reasons of a certificate: directions that keep ranges of features apart.

Floating point proposes, and the checker of `verifier` decides, in whole numbers: a reason that is written down holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from pliant.certificates.verifier import Checker, Pair, Ranges, Span, pair_of
from pliant.queries.features import edge_edge_distance, vertex_face_distance

# Directions that are tried for two features, in halves of halves, before they are left to the verifier, which takes
# about a millisecond; and the largest number in a direction.
MOST_TRIES, MOST_HALVINGS = 40, 12
COARSE, FINE = 2**6, 2**30


def order_of(x0: np.ndarray, x1: np.ndarray, features: Sequence[tuple[int, ...]], ids: Sequence[int]) -> list[int]:
    """Medians of medians: what is close by during the motion is, mostly, in one half, as `verifier.halves` has them."""
    small = x0 / 8.0, x1 / 8.0  # sums of coordinates of any size are finite
    centres = np.array([small[0][list(features[i])].mean(0) + small[1][list(features[i])].mean(0) for i in ids])
    order, stack = np.arange(len(ids)), [(0, len(ids))]
    while stack:
        low, high = stack.pop()
        if high - low > 1:
            middle, part = (low + high) // 2, order[low:high]
            axis = np.ptp(centres[part], axis=0).argmax()
            order[low:high] = part[np.argpartition(centres[part, axis], middle - low)]
            stack += [(low, middle), (middle, high)]
    return [ids[i] for i in order.tolist()]


class Side:
    """Ranges of features, each with what is asked of it again and again."""

    def __init__(self, ranges: Ranges, x0: np.ndarray, x1: np.ndarray) -> None:
        self.ranges, self.x0, self.x1 = ranges, x0, x1
        self.known: dict[Span, tuple[list[int], list[list[float]], list[list[float]]]] = {}

    def of(self, span: Span) -> tuple[list[int], list[list[float]], list[list[float]]]:
        """Vertices of a range; least and most of their coordinates at the start, then at the end."""
        known = self.known.get(span)
        if known is None:
            vertices = self.ranges.vertices(*span)
            ends = self.x0[vertices], self.x1[vertices]
            known = vertices, [x.min(0).tolist() for x in ends], [x.max(0).tolist() for x in ends]
            self.known[span] = known
        return known


class Reasons:
    """A reason for each pair of ranges that `verifier.uncovered` asks for, kept in that order."""

    def __init__(
        self,
        checker: Checker,
        kind: int,
        x: tuple[np.ndarray, np.ndarray],
        sides: tuple[Ranges, Ranges],
        listed: set[Pair],
    ) -> None:
        self.checker, self.kind, self.x0, self.x1, self.listed = checker, kind, *x, listed
        self.left = 0  # directions that may still be tried
        self.first, self.second = (Side(side, *x) for side in sides)
        self.found: list[Any] = []

    def __call__(self, a: Span, b: Span) -> Any:
        reason = self._along_an_axis(a, b)
        if reason == 0 and a[1] - a[0] == 1 == b[1] - b[0] and not self._is_listed(a, b):
            self.left = MOST_TRIES
            reason = self._of_features(self.first.ranges.single(a), self.second.ranges.single(b))
        self.found.append(reason)
        return reason

    def _is_listed(self, a: Span, b: Span) -> bool:
        i, j = self.first.ranges.order[a[0]], self.second.ranges.order[b[0]]
        return pair_of(self.kind, i, j) in self.listed

    def _along_an_axis(self, a: Span, b: Span) -> Any:
        """Comparing doubles is exact: no need to ask the checker. Then from the one centre to the other."""
        first, low_a, high_a = self.first.of(a)
        second, low_b, high_b = self.second.of(b)
        for axis in range(3):
            for sign, high, low in ((1, high_a, low_b), (-1, high_b, low_a)):
                if high[0][axis] < low[0][axis] and high[1][axis] < low[1][axis]:
                    return [sign if i == axis else 0 for i in range(3)]
        towards = [
            sum((low_b[t][i] - low_a[t][i]) / 8 + (high_b[t][i] - high_a[t][i]) / 8 for t in (0, 1)) for i in range(3)
        ]  # fmt: skip
        direction = in_whole_numbers(towards, COARSE)
        return direction if any(direction) and self.checker.apart(direction, first, second, 0, 0) else 0

    def _of_features(self, first: Sequence[int], second: Sequence[int], m: int = 0, k: int = 0) -> Any:
        t = (m + 0.5) / 2**k
        vertices = [*first, *second]
        rows = ((1.0 - t) * self.x0[vertices] + t * self.x1[vertices])[None]
        found = (vertex_face_distance, edge_edge_distance)[self.kind](rows)
        direction = in_whole_numbers((-found.normal[0]).tolist(), FINE)
        if any(direction) and self.checker.apart(direction, first, second, m, k):
            return direction
        self.left -= 1
        if k == MOST_HALVINGS or self.left <= 0 or found.distance[0] == 0.0:
            return 0
        halves = []
        for place in (2 * m, 2 * m + 1):
            halves.append(self._of_features(first, second, place, k + 1))
            if halves[-1] == 0:
                return 0
        return halves


def in_whole_numbers(vector: Sequence[float], largest: int) -> list[int]:
    size = max(map(abs, vector))
    if not (all(map(isfinite, vector)) and size):
        return [0, 0, 0]
    return [round(c / size * largest) for c in vector]
