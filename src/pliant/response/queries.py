"""The queries of one step, without what is no part of its proof."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import KINDS
from pliant.elementary.inversion import inverted
from pliant.engine.wanted import FeatureMasks, TooManyContacts, Wanted
from pliant.queries.detector import Detector
from pliant.queries.near_pairs import NearPairs
from pliant.response.attempt import keys_of
from pliant.response.fresh import FreshFeatures
from pliant.results.contacts import Contacts
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool


class StepQueries:
    """Questions about motions that start at x0.

    exempt : features, pairs of which are left out
    is_driven : (n,) bool, of vertices
    fresh : pairs that are left out, too
    ignored : keys of pairs that touch at x0 and are left as they are
    among : all pairs that can meet while nothing moves far
    count : of queries so far
    driven_pairs : that meet in the last of them, and are left out
    """

    def __init__(
        self, detector: Detector, x0: np.ndarray, exempt: FeatureMasks | None, is_driven: np.ndarray,
        progress: Progress | bool | None, fresh: FreshFeatures | None = None,
    ) -> None:  # fmt: skip
        self._detector, self._x0, self.progress = detector, x0, progress
        self._exempt, self.is_driven, self._fresh = exempt, is_driven, fresh
        self.tally: Tally = Tally()
        features = detector._tested.features
        # Collapsed meshes have contacts of everything with everything: too many to deal with one by one.
        self._most = 1_000 + 5 * (len(features.edges) + len(features.faces))
        self.ignored: np.ndarray = np.empty(0, np.int64)
        self.among: NearPairs | None = None
        self.count = self.driven_pairs = 0

    def contacts(self, x: np.ndarray) -> Contacts | None:
        """Those on the way from x0 to x of pairs that are not wholly driven; None where there are too many."""
        try:
            return self.all_contacts(x, self._most)
        except TooManyContacts:
            return None

    def all_contacts(self, x: np.ndarray, most: int | None = None) -> Contacts:
        """The same, however many there are; or raises TooManyContacts."""
        self.count += 1
        near = self.among is not None and self.among.valid_for(x)
        found = self._among_near(x) if near else self._among_all(x, most)
        if len(self.ignored):
            ignored = np.isin(keys_of(found), self.ignored)
            found = found[~ignored] if ignored.any() else found
        return found

    def _among_near(self, x: np.ndarray) -> Contacts:
        found = self._detector.contacts(self._x0, x, among=self.among, progress=self.progress)
        for stage in found.stages:
            self.tally.add(*stage)
        self.driven_pairs = 0
        if self._fresh is not None and len(found):
            found = found[~self._fresh.pairs.among(found)]
        if self._exempt is None or not len(found):
            return found
        wanted = np.ones(len(found), bool)
        for kind in KINDS:
            rows = np.flatnonzero(found.kind == kind)
            wanted[rows] = ~self._exempt.have_both(kind, found.elements[rows])
        self.driven_pairs = len(found) - int(np.count_nonzero(wanted))
        return found[wanted] if self.driven_pairs else found

    def _among_all(self, x: np.ndarray, most: int | None) -> Contacts:
        detector = self._detector
        wanted = Wanted(self._exempt, most, detector._threads, self._fresh)
        travel, pool = detector._travel(self._x0, x, None), ThreadPool(detector._threads, self.progress)
        found = detector._contacts(travel, pool, self.tally, wanted)
        self.driven_pairs = wanted.left_out
        return found

    def inverted_corners(self, x: np.ndarray) -> np.ndarray:
        """Vertices of cells that are inverted at x, and were not at x0; of cells other than tetrahedra: those cannot be
        inverted without a contact."""
        volume = self._detector._tested.volume
        if volume is None or not volume._types.any():
            return np.empty(0, np.int64)
        cells = np.setdiff1d(inverted(volume, x), inverted(volume, self._x0))
        cells = cells[~self.is_driven[volume._corners[cells]].all(axis=1)]
        return np.unique(volume._corners[cells])
