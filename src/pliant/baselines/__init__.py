"""What paper 000 compares its normal cones with: methods that share our kernels, hierarchy and exact test, and differ
in one stage, the one that marks patches as free of self-contact.

    contacts = pliant.baselines.run("continuous_contours", faces, x0, x1)
    detector = pliant.baselines.Baseline("dynamic_clusters", faces)  # used as a pliant.Detector

Every proof is certified as ours are, so that results are the same, bit for bit, and only times differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant._arrays import choose
from pliant._tally import Tally
from pliant._threads import Crew
from pliant.baselines import boxes, continuous_contours, dynamic_clusters, printed_contours, star_contours
from pliant.contacts import Contacts, Intersections
from pliant.detector import Detector
from pliant.prepare import Fitted, Prepared

Mark = Callable[[Prepared, Fitted, Crew, Tally], None]

# Each fills in fitted.forest.free; star contours for intersections, at one instant, only.
METHODS: dict[str, Mark] = {
    "boxes": boxes.mark,
    "star_contours": star_contours.mark,
    "continuous_contours": continuous_contours.mark,
    "printed_contours": printed_contours.mark,
    "dynamic_clusters": dynamic_clusters.mark,
}


class Baseline(Detector):
    """A ``pliant.Detector`` with another method in place of our normal cones and contours.

    name : of METHODS
    mesh, options : as for ``pliant.Detector``; culling is "cones" or "cones+front", since all methods need patches
    """

    def __init__(self, name: str, mesh: Any, **options: Any) -> None:
        choose(name, "name", tuple(METHODS))
        choose(options.setdefault("culling", "cones"), "culling", ("cones", "cones+front"))
        super().__init__(mesh, **options)
        self._name = name

    def __repr__(self) -> str:
        return f"Baseline({self._name!r}, {self._mesh!r})"

    def _mark_free(self, scene: Prepared, fitted: Fitted, tally: Tally) -> None:
        METHODS[self._name](scene, fitted, Crew(self._threads), tally)


def run(name: str, mesh: Any, x0: Any, x1: Any = None, *, threads: int | None = None) -> Contacts | Intersections:
    """What ``pliant.ccd`` (``pliant.dcd`` where no x1 is given) finds, by another method, with its times in
    ``stages``."""
    baseline = Baseline(name, mesh, threads=threads)
    if x1 is None:
        return baseline.intersections(x0)
    baseline.advance(x0)
    return baseline.advance(x1)
