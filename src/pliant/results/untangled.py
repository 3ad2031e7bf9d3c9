"""What became of a mesh that was untangled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.results.intersections import Intersections
from pliant.runtime.arrays import freeze


class Phase(NamedTuple):
    """One part of the work: what was done, how many pairs of faces intersected after it, and when it was done."""

    phase: str
    pairs: int
    seconds: float


class AreaChange(NamedTuple):
    """Relative changes of areas: after / before - 1.

    largest : of all faces, the largest absolute change of a face's area, relative to its own before or to the mean area
        of the faces at its corners, whichever is larger: what ``max_distortion`` limits
    whole : of the sum of all areas, with its sign
    """

    largest: float
    whole: float


@dataclass(frozen=True, repr=False, eq=False)
class Untangled:
    """Positions with fewer intersections, and what they cost.

    positions : (n, 3) float64
    clean : an exact ``pliant.check`` of them finds no pair outside of ``unfixable``
    remaining : pairs that still intersect, without ``unfixable``
    unfixable : pairs of faces all of whose vertices are fixed: nothing can separate them
    wrong_side : (k,) int32 vertices that are inside of an object which they have to be outside of, or outside of a
        layer which they have to be inside of; None where no such object was named, so nothing was checked
    moved : (n,) bool
    displacement : (n, 3) float64, positions - x
    edge_change : largest absolute change of an edge's length, relative to the mean length of all edges or to its own
        before, whichever is larger
    area_change : (largest, whole), relative changes of the faces' areas and of their sum; see ``AreaChange``
    method : the plans that led there; "time was up" is in it where seconds ran out
    history : of (phase, pairs, seconds): what was done, how many pairs were left after it, when that was
    sides : "not checked", "checked", which is exact, or "checked, of open layers by a guess": an open layer has sides
        only near to it, away from its rims, and vertices elsewhere are not counted
    """

    positions: np.ndarray
    clean: bool
    remaining: Intersections
    unfixable: Intersections
    wrong_side: np.ndarray | None
    moved: np.ndarray
    displacement: np.ndarray
    edge_change: float
    area_change: AreaChange
    method: str
    history: tuple[Phase, ...] = ()
    sides: str = "not checked"

    __post_init__ = freeze

    def __repr__(self) -> str:
        words = ["clean" if self.clean else f"{len(self.remaining)} pairs remain"]
        if len(self.unfixable):
            words.append(f"{len(self.unfixable)} cannot be fixed")
        words.append(f"{np.count_nonzero(self.moved)} of {len(self.moved)} vertices moved")
        if self.wrong_side is None:
            words.append("sides not checked")
        elif len(self.wrong_side):
            words.append(f"{len(self.wrong_side)} vertices on the wrong side")
        return f"Untangled({', '.join(words)}; {self.method})"
