"""Adjacent elements that move, side by side: those with a vertex in common, and those with a side.

The tests are those of ``adjacent``, in single precision and with the error bound of ``lanes``: everything that is
compared is a difference of two corners along an axis, and corners are relative to one of them. In meshes where little
happens nearly all pairs with overlapping boxes are adjacent, three for each triangle.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, dot, max_norm, scale, sub
from pliant.filters.axes.adjacent import TILT
from pliant.filters.axes.lanes import (
    ABOVE,
    ALWAYS,
    AT_ONCE,
    BEST,
    LANES,
    NEVER,
    ONE,
    RADII,
    THRESHOLD,
    groups_of,
    least_of,
    load_corner,
    lower,
    set_thresholds,
)
from pliant.runtime.jit import helper, in_line, one_copy

_TILT = np.float32(TILT)


@helper
def keep_fans(corners, points, padding, held, block, pairs, kept):
    """Note those of some pairs with a vertex in common that no axis separates but for it after the pairs that are kept;
    returns how many these are then.

    held : (k, 4) the elements, and which corner of either is the common one
    """
    _load(corners, points, padding, held, block)
    _mark_fans(block, groups_of(len(held)))
    return _keep_unmarked(block, held, pairs, kept)


@helper
def keep_hinges(corners, points, padding, held, block, pairs, kept):
    """The same for pairs with a side in common; held : (k, 4) the elements, and the corner of either that is not on
    it."""
    _load(corners, points, padding, held, block)
    _mark_hinges(block, groups_of(len(held)))
    return _keep_unmarked(block, held, pairs, kept)


@helper
def _keep_unmarked(block, held, pairs, kept):
    for lane in range(len(held)):
        pairs[kept, 0], pairs[kept, 1] = held[lane, 0], held[lane, 1]
        kept += block[BEST + lane] < ONE
    return kept


@helper
def _load(corners, points, padding, held, block):
    """Coordinates relative to the named corner of the first element, which comes first of either, in place of the
    threshold how far away it is, and how far both elements go around themselves."""
    one_copy()
    for lane in range(len(held)):
        i, j, of_i, of_j = held[lane, 0], held[lane, 1], held[lane, 2], held[lane, 3]
        v = np.uint32(corners[i, of_i])
        origin = points[v, 0], points[v, 1], points[v, 2]
        for c in range(3):
            p, q = of_i + c, of_j + c
            p, q = p - 3 if p > 2 else p, q - 3 if q > 2 else q
            load_corner(points, np.uint32(corners[i, p]), origin, block, 3 * c * LANES + lane, 18 * LANES)
            load_corner(points, np.uint32(corners[j, q]), origin, block, (9 + 3 * c) * LANES + lane, 18 * LANES)
        gap = padding[i] + padding[j] if len(padding) > 0 else 0.0
        block[BEST + lane], block[RADII + lane] = NEVER, np.float32(gap) * ABOVE
        block[THRESHOLD + lane] = np.float32(max_norm(origin))
    set_thresholds(block, len(held), 0.0)


@helper
def _mark_fans(block, groups):
    """Mark the pairs that have all corners of one beyond the common one along an axis, and those of the other before
    it."""
    one_copy()
    for i in range(AT_ONCE * groups):
        axis = add(_fan_axis(block, i), _fan_axis(block, 18 * LANES + i))
        now, later = _fan_gap(block, i, axis), _fan_gap(block, 18 * LANES + i, axis)
        gap = now if now < later else later
        block[BEST + i] = ALWAYS if gap > least_of(block, i, axis) else block[BEST + i]


@helper
def _fan_axis(block, i):
    in_line()
    of_i = add(_corner(block, 3 * LANES + i), _corner(block, 6 * LANES + i))
    return sub(of_i, add(_corner(block, 12 * LANES + i), _corner(block, 15 * LANES + i)))


@helper
def _fan_gap(block, i, axis):
    in_line()
    middle = dot(_corner(block, i), axis)
    b, c = dot(_corner(block, 3 * LANES + i), axis), dot(_corner(block, 6 * LANES + i), axis)
    d, e = dot(_corner(block, 12 * LANES + i), axis), dot(_corner(block, 15 * LANES + i), axis)
    beyond, before = (b if b < c else c) - middle, middle - (d if d > e else e)
    return beyond if beyond < before else before


@helper
def _mark_hinges(block, groups):
    """Mark the pairs c a b and d a b that have d, a, b, c in a row along one axis, and d, b, a, c along another one."""
    one_copy()
    for i in range(AT_ONCE * groups):
        way = add(_way(block, i), _way(block, 18 * LANES + i))
        side = add(_side(block, i), _side(block, 18 * LANES + i))
        way = sub(way, scale(side, dot(way, side) / dot(side, side)))  # not finite without a side: proves nothing
        tilt = scale(side, _TILT)
        axis, back = add(way, tilt), sub(way, tilt)
        now, later = _in_a_row(block, i, axis), _in_a_row(block, 18 * LANES + i, axis)
        gap = now if now < later else later
        now, later = _in_a_row_back(block, i, back), _in_a_row_back(block, 18 * LANES + i, back)
        other = now if now < later else later
        apart = (gap > least_of(block, i, axis)) & (other > least_of(block, i, back))
        block[BEST + i] = ALWAYS if apart else block[BEST + i]


@helper
def _way(block, i):
    """From d to c."""
    in_line()
    return sub(_corner(block, i), _corner(block, 9 * LANES + i))


@helper
def _side(block, i):
    """From a to b."""
    in_line()
    return sub(_corner(block, 6 * LANES + i), _corner(block, 3 * LANES + i))


@helper
def _in_a_row(block, i, axis):
    """The least of how far a is beyond d, b beyond a, and c beyond b along the axis."""
    in_line()
    a, b = dot(_corner(block, 3 * LANES + i), axis), dot(_corner(block, 6 * LANES + i), axis)
    return lower(a - dot(_corner(block, 9 * LANES + i), axis), b - a, dot(_corner(block, i), axis) - b)


@helper
def _in_a_row_back(block, i, axis):
    """The same with a and b exchanged."""
    in_line()
    a, b = dot(_corner(block, 3 * LANES + i), axis), dot(_corner(block, 6 * LANES + i), axis)
    return lower(b - dot(_corner(block, 9 * LANES + i), axis), a - b, dot(_corner(block, i), axis) - a)


@helper
def _corner(block, i):
    """The corner whose rows begin at i: offsets that the compiler knows, or it works on one pair after the other."""
    in_line()
    return block[i], block[LANES + i], block[2 * LANES + i]
