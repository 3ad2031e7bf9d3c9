"""The test along one axis: how far two things are apart along it, and how much of that may be rounding.

Elements and cells have coordinates near 1, and one bound for all of them, ``error_along``. Features are differences of
points, with bounds of their own (``features``), and so have triangles side by side in single precision (``lanes``).
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import DOT, LERP, POSITION_ERROR, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import dot, scale, sub
from pliant.runtime.jit import helper, in_line

# How far an axis is corrected: 1 makes it perpendicular to the vector between the closest points, 2 mirrors it (Chung
# and Wang, Quick collision detection of polytopes in virtual environments, 1996). Of random pairs that never touch, 50,
# 43 and 34 % are left by the line between the centres (small, medium and large motion), 17, 14 and 12 % after mirroring
# it twice, and 11, 9 and 8 % with 1.2. Of the pairs of triangles with overlapping boxes of armadillo-rollers,
# cloth-ball and n-body the centres leave 8.8, 28.9 and 9.8 %; corrected twice 2.8, 11.4 and 1.1 %, three times 2.5,
# 10.0 and 0.9 %.
OVER_RELAXATION = 1.2

# A difference of two points along an axis L, in units of u M |L|_1, M the largest coordinate of the scene. Each of
# the two has 3 roundings of the dot product, 3 of the end of a motion that is cut off at a horizon, and POSITION_ERROR,
# 4: positions that are rounded once more have to be apart too (``engine/verified``), which nothing else allows for. The
# difference, at most 2 M |L|_1, has one rounding, the sum with the error another two at most: 2 (3 + 3 + 4) + 4 = 24.
AXIS_ERROR = (2 * (DOT + LERP) * UNIT_ROUNDOFF + 2 * POSITION_ERROR + 4 * UNIT_ROUNDOFF) * 4 / 3
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


# With coordinates above 1e-70, products with a longer axis are far from the denormals, where errors are not relative.
SHORTEST_AXIS = 1e-200
# Length of an axis, rounded up: half of 3 roundings of its square, the root, the product: 3.5. Axes are scaled such
# that squares of all but the useless ones are far from the denormals.
_LENGTH = 1.0 + 8 * UNIT_ROUNDOFF  # margin 2.3
_ROUNDED_AWAY = 1e-150


@helper
def error_along(axis, largest):
    """What a difference along the axis of two points with coordinates up to largest may be off by."""
    in_line()
    return AXIS_ERROR * largest * (abs(axis[0]) + abs(axis[1]) + abs(axis[2])) + _UNDERFLOW


@helper
def surely_above(least, gap, axis, largest):
    """A computed difference along the axis is above the gap, whatever was rounded.

    In squares: a root for each axis would make the whole test half as slow again. The axes of very small triangles are
    so short that squares have few digits left; coordinates are near 1, so above 1e-120 they have all of them.
    """
    in_line()
    least -= error_along(axis, largest)
    length_squared = dot(axis, axis)
    return least > 0.0 and (
        gap == 0.0 or (length_squared > _SHORTEST_SQUARED and least * least > gap * gap * length_squared * _SQUARED)
    )


@helper
def over_relaxed(axis, gap, between):
    """The axis, corrected away from the vector between the points that are closest along it, or furthest behind each
    other; gap is how far they are apart along it. Any axis is good for a proof: nothing depends on how this is rounded.
    """
    length_squared = dot(between, between)
    return sub(axis, scale(between, OVER_RELAXATION * gap / length_squared)) if length_squared > 0.0 else axis


@helper
def across(vector, direction):
    """What is left of a vector without its part along a direction; zero, which separates nothing, where there is
    none."""
    length_squared = dot(direction, direction)
    if length_squared > 0.0:
        return sub(vector, scale(direction, dot(vector, direction) / length_squared))
    return 0.0, 0.0, 0.0


@helper
def length_above(axis):
    """At least the length of the axis."""
    return np.sqrt(dot(axis, axis)) * _LENGTH + _ROUNDED_AWAY
