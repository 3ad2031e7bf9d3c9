"""What all tests along an axis have in common."""

from __future__ import annotations

from pliant._jit import helper, in_line
from pliant.vec3 import dot


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
