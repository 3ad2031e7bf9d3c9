"""Which contacts a query keeps, and how many: what responses ask for."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE


class TooManyContacts(Exception):
    """More contacts than were asked for."""


class FeatureMasks(NamedTuple):
    """Some of the features of a mesh: (n,) bool for each sort of them."""

    vertices: np.ndarray
    edges: np.ndarray
    faces: np.ndarray

    def have_both(self, kind: int, pairs: np.ndarray) -> np.ndarray:
        """(k,) which pairs of features, (k, 2) ids, are of two of them."""
        if kind == VERTEX_FACE:
            return self.vertices[pairs[:, 0]] & self.faces[pairs[:, 1]]
        return self.edges[pairs[:, 0]] & self.edges[pairs[:, 1]]


class ListedPairs(Protocol):
    """Pairs of features that are left out one by one."""

    def have_features(self, kind: int, pairs: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of features, (k, 2) ids, are among them."""
        ...


class Wanted:
    """What the sinks of a walk keep together.

    Pairs of two exempt features are counted and not kept. Whether there are too many of the others depends on these
    contacts alone: a sum that is read too early is too small, and every contact is followed by a sum.

    exempt : None for no features
    most : None for no limit
    listed : pairs that are not even tested; None for no pairs
    """

    def __init__(
        self, exempt: FeatureMasks | None, most: int | None, sinks: int, listed: ListedPairs | None = None
    ) -> None:
        self._exempt, self._most, self._listed = exempt, most, listed
        self._kept, self._left_out = [0] * sinks, [0] * sinks  # each sink has its own

    @property
    def left_out(self) -> int:
        """How many contacts of exempt features were found."""
        return sum(self._left_out)

    def unlisted(self, kind: int, pairs: np.ndarray) -> np.ndarray:
        """The pairs, (k, 2) ids of features, without those that are left out one by one."""
        if self._listed is None or not len(pairs):
            return pairs
        listed = self._listed.have_features(kind, pairs)
        return pairs[~listed] if listed.any() else pairs

    def select(self, sink: int, kind: int, pairs: np.ndarray, hit: np.ndarray) -> np.ndarray:
        """Of the rows hit of pairs, those that are kept; raises TooManyContacts."""
        if self._exempt is not None:
            exempt = self._exempt.have_both(kind, pairs[hit])
            self._left_out[sink] += int(np.count_nonzero(exempt))
            hit = hit[~exempt]
        self.charge(sink, len(hit))
        return hit

    def charge(self, sink: int, count: int) -> None:
        """So many contacts more count; raises TooManyContacts."""
        self._kept[sink] += count
        if self._most is not None and sum(self._kept) > self._most:
            raise TooManyContacts
