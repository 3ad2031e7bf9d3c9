"""What all tests along an axis have in common."""

from __future__ import annotations

from pliant.arithmetic.rounding import DOT, LERP, POSITION_ERROR, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import dot, scale, sub
from pliant.runtime.jit import helper, in_line

# How far axes are leaned: 1 makes them perpendicular to the vector between the closest points, 2 mirrors them (Chung
# and Wang, Quick collision detection of polytopes in virtual environments, 1996). What it leaves is in ``lanes.lean``.
LEAN = 1.2

# A difference of two points along an axis L, in units of u M |L|_1, M the largest coordinate of the scene. Each of
# the two has 3 roundings of the dot product, 3 of the end of a motion that is cut off at a horizon, and room for 4:
# positions that are rounded once more have to be apart too (``engine/step``), and get no other room than this. The
# difference, at most 2 M |L|_1, has one rounding, the sum with the slack another two at most: 2 (3 + 3 + 4) + 4 = 24.
SLACK = (2 * (DOT + LERP) * UNIT_ROUNDOFF + 2 * POSITION_ERROR + 4 * UNIT_ROUNDOFF) * 4 / 3
_UNDERFLOW = 1e-290  # of products of an axis below 1e-250, each 5e-324 at most

# Squares are compared: 2 roundings of the gap, 2 each in its square, 3 of the squared length, 2 products, and 1 of the
# square on the other side make 12.
_SQUARED = 1.0 + 8 * 12 * UNIT_ROUNDOFF  # margin 8
_SHORTEST_SQUARED = 1e-240

# What conservative advancement allows for rounding: 128 u of the size of a pair and of its four radii
# (DISTANCE_ERROR of ``elementary/advance``), which are up to 3 times the sum of the largest radius of either feature.
# What a filter leaves out has to be further apart than that, or advancement would have reported it. In units of the
# largest coordinate and of that sum.
ALLOWED = 2048 * UNIT_ROUNDOFF  # 3 * 128, margin 5

# A gap is the sum of two radii, rounded up: one rounding.
GAP = 1.0 + 4 * UNIT_ROUNDOFF  # margin 4


@helper
def slack_along(axis, largest):
    """What a difference along the axis of two points with coordinates up to largest may be off by."""
    in_line()
    return SLACK * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + _UNDERFLOW


@helper
def exceeds(least, gap, axis):
    """A difference along the axis is above the gap.

    In squares: a root for each axis would make the whole test half as slow again. The axes of very small triangles are
    so short that squares have few digits left; coordinates are near 1, so above 1e-120 they have all of them.
    """
    in_line()
    length_squared = dot(axis, axis)
    return least > 0.0 and (
        gap == 0.0 or (length_squared > _SHORTEST_SQUARED and least * least > gap * gap * length_squared * _SQUARED)
    )


@helper
def leaned(axis, gap, between):
    """The axis, leaned away from the vector between the points that are closest along it, or furthest behind each
    other; gap is how far they are apart along it. Any axis is good for a proof: nothing depends on how this is rounded.
    """
    length_squared = dot(between, between)
    return sub(axis, scale(between, LEAN * gap / length_squared)) if length_squared > 0.0 else axis
