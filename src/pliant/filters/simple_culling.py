"""The culling conditions of paper 002 for one pair of features: against the plane, and against a circle in it.

All of them are separating axis tests (``csat``) along one axis each, which the configuration at the start gives:
  plane   Corollary 4.3 and Lemma 5.1: the normal n_P of the face, or of the plane that two edges span
  circle  Lemmas 4.4 and 5.2: n_C, in that plane, from the centre of one feature to the centre of the other
The paper bounds what is to be covered along the axis by d_P, or by d_C less the radii of bounding circles, and the
motion by its largest part along it. Both come down to the differences of the vertices along the axis at t = 0 and at
t = 1, and those are what is evaluated here, every one of them (errata 14), with strict signs (errata 13).

Why this is at least as strong as the circles: a vertex is within r of its circle's centre c, so its part along a unit
n_C is within r of that of c. If d_C > r1 + r2 + max(0, g) - the Lemmas as they have to be, outside at the start
(errata 11), g the largest relative motion over the vertices of one and of the other (errata 12) - then every
difference is at least d_C - r1 - r2 > 0 at t = 0, and at least d_C - r1 - r2 - g > 0 at t = 1. Neither n_C nor the
radii need to be rounded with care, and n_C need not be a unit vector: it is only an axis.
"""

from __future__ import annotations

from pliant.arithmetic.vec3 import cross, dot
from pliant.filters.csat import across, between_centres, separated_by
from pliant.runtime.jit import helper


@helper
def apart_by_plane(kind, start, end, m, loose, fuzz, gap):
    """Separated along the normal at the start; by more than the gap, for vectors as in ``separated_by``.

    Of a degenerate face, or parallel edges, there is none: the paper's d_P = 0, which separates nothing.
    """
    return separated_by(kind, start, end, m, cross(start[0], start[1]), loose, fuzz, gap)


@helper
def apart_by_circle(kind, start, end, m, loose, fuzz, gap):
    """Separated along the line between the centres at the start, as far as it lies in the plane at the start."""
    normal = cross(start[0], start[1])
    axis = between_centres(kind, start)
    if dot(normal, normal) > 0.0:  # else there are planes through both, and one of them holds the centres
        axis = across(axis, normal)
    return separated_by(kind, start, end, m, axis, loose, fuzz, gap)
