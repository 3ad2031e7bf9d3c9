"""A step that ends free of contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.results.contacts import Contacts
from pliant.runtime.arrays import freeze
from pliant.runtime.tally import Stage


@dataclass(frozen=True, repr=False, eq=False)
class Resolved:
    """Positions near those proposed, to which the way is free of contact.

    positions : (n, 3) float64; the motion from x0 to them is proven free, for all pairs of elements that are not both
        driven (all vertices of an element are)
    changed : (n,) bool, which vertices are not where they were proposed to be
    displacement : (n, 3) float64, positions - x1
    rounds : how often impulses were computed after a query
    queries : how often the whole motion was searched for contacts; the last one found none and is the proof
    contacts : those that pushed, in canonical order; pairs that pushed because they were near at x0 have toi 0 and the
        status "at the start", and a pair may come more than once, with another normal
    impulses : (k, 3) float64, what each contact did to its first feature, and the opposite to its second: mass times
        length; divided by the time of the step an impulse, by its square a force
    planes : how many pairs were left to plane certificates, which is where momentum is lost
    driven_objects : (d,) labels of the objects that have driven vertices
    shares : (d,) float64, how much of its motion each of them has made; below 1 where it had to wait
    driven_pairs : how many pairs of features meet that belong to driven elements alone, which are not resolved
    touching_pairs : how many pairs touch at x0 and were left as they are; 0 unless ``tangled="keep"``
    stages : what every stage of all queries did
    """

    positions: np.ndarray
    changed: np.ndarray
    displacement: np.ndarray
    rounds: int
    queries: int
    contacts: Contacts
    impulses: np.ndarray
    planes: int
    driven_objects: np.ndarray
    shares: np.ndarray
    driven_pairs: int
    touching_pairs: int
    stages: tuple[Stage, ...] = ()

    __post_init__ = freeze

    def __repr__(self) -> str:
        words = [f"{np.count_nonzero(self.changed)} of {len(self.changed)} vertices changed"]
        words += [f"{len(self.contacts)} contacts pushed", f"{self.rounds} rounds"]
        if self.planes:
            words.append(f"{self.planes} planes")
        waiting = np.count_nonzero(self.shares < 1.0)
        if waiting:
            words.append(f"{waiting} driven objects wait, least share {self.shares.min():.3g}")
        return f"Resolved({', '.join(words)})"
