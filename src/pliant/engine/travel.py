"""The motion of a query: where vertices start and end, on which paths, and how close counts as contact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.bounds.kdops import NO_PADDING
from pliant.elementary.advance import Approach, approach_of, tolerance_of
from pliant.elementary.paths import largest_of, straight_paths
from pliant.filters.axes.separation import ALLOWED


@dataclass(frozen=True)
class Travel:
    """Positions at both ends of a motion, and what is derived from them once."""

    x0: np.ndarray
    x1: np.ndarray
    is_resting: bool  # nothing moves: x1 is x0
    approach: Approach | None  # where features need not touch to be in contact, or paths are curved

    @cached_property
    def contact_radius(self) -> np.ndarray:
        """(n,) how far from its chord a vertex can be in contact; of length 0 where it must touch."""
        return NO_PADDING if self.approach is None else contact_radius(self.approach)

    @cached_property
    def largest(self) -> float:
        """Coordinate of the scene."""
        # At least so much that a rounding error of the denormals, 5e-324, is a small part of its rounding error too.
        return max(1e-300, _largest(self.x0), 0.0 if self.is_resting else _largest(self.x1))

    @cached_property
    def factor(self) -> float:
        """A power of two that brings the largest coordinate near 1."""
        return unit_factor((self.largest, self.largest, self.largest))


def travel_of(x0: np.ndarray, x1: np.ndarray, approach: Approach | None = None) -> Travel:
    """From x0 to x1; approach: None where contact is at distance 0 and on straight paths."""
    return Travel(x0, x1, False, approach)


def rest_at(x: np.ndarray, approach: Approach | None = None) -> Travel:
    """No motion: what is at x."""
    return Travel(x, x, True, approach)


def rest_within(x: np.ndarray, distance: float) -> Travel:
    """No motion; contact is where two features are within a distance."""
    return rest_at(x, approach_of(straight_paths(x, x), np.full(len(x), 0.5 * distance), np.zeros(len(x))))


def shortened(travel: Travel, x1: np.ndarray, vertices: np.ndarray) -> Travel:
    """What a query would ask of the straight motion to x1 instead; vertices : those that take part."""
    if travel.approach is None:
        return travel_of(travel.x0, x1)
    old, paths = travel.approach, straight_paths(travel.x0, x1)
    tolerance = tolerance_of(paths, vertices, old.relative)
    return travel_of(travel.x0, x1, approach_of(paths, old.radii, tolerance, old.initial, old.keep, old.relative))


def contact_radius(approach: Approach) -> np.ndarray:
    """(n,) how far from its chord a vertex can be in contact: radius, tolerance and bend of the path.

    Including what advancement allows for rounding, half of it for each of two vertices: what a filter leaves out,
    advancement would not have reported.
    """
    rounding = 0.5 * ALLOWED * largest_of(approach.paths) + 0.5 * ALLOWED * float(approach.radii.max(initial=0.0))
    radius = approach.radii + (0.5 * approach.tolerance + rounding)
    return radius + 0.126 * approach.paths.bend if len(approach.paths.bend) else radius


def _largest(x: np.ndarray) -> float:
    return max(float(x.max()), -float(x.min())) if x.size else 0.0
