"""What all tests along an axis have in common."""

from __future__ import annotations

from pliant.arithmetic.vec3 import UNIT_ROUNDOFF, dot, scale, sub
from pliant.runtime.jit import helper, in_line

# How far axes are leaned: 1 makes them perpendicular to the vector between the closest points, 2 mirrors them (Chung
# and Wang, Quick collision detection of polytopes in virtual environments, 1996). What it leaves is in ``lanes.lean``.
LEAN = 1.2

# Dot products of coordinates up to M with an axis L are wrong by 3 u M |L|_1, and ends of a motion that is cut off at a
# horizon by 8 u M in each coordinate: 22 u for a difference of two, and at most 4 u for the subtractions.
_ERROR = 32 * UNIT_ROUNDOFF


@helper
def slack_along(axis, largest):
    """What a difference along the axis of two points with coordinates up to largest may be wrong by."""
    in_line()
    return _ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + 1e-290


@helper
def exceeds(least, gap, axis):
    """A difference along the axis is above the gap.

    In squares: a root for each axis would make the whole test half as slow again. The axes of very small triangles are
    so short that squares have few digits left; coordinates are near 1, so above 1e-120 they have all of them.
    """
    in_line()
    length_squared = dot(axis, axis)
    return least > 0.0 and (
        gap == 0.0 or (length_squared > 1e-240 and least * least > gap * gap * length_squared * (1.0 + 1e-14))
    )


@helper
def leaned(axis, gap, between):
    """The axis, leaned away from the vector between the points that are closest along it, or furthest behind each
    other; gap is how far they are apart along it. Any axis is good for a proof: nothing depends on how this is rounded.
    """
    length_squared = dot(between, between)
    return sub(axis, scale(between, LEAN * gap / length_squared)) if length_squared > 0.0 else axis
