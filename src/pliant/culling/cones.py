"""Normal cones: for every node, a cone around the normals of its faces during the whole motion.

The normal of a moving triangle, n = e1 x e2, is a quadratic with Bernstein vectors n0, (e1 at 0 x e2 at 1 + e1 at 1 x
e2 at 0) / 2, n1, and a positive combination of them at every time: a cone (of less than a right angle to its axis, so
convex) around the three holds it. A face that is degenerate, or may become so, has no normal: its cone is everything
(errata 4). Faces are flipped where they do not agree with their neighbours (``mesh/patches``).

A cone is a row of axis (unit to rounding) and the cosine of its half angle; EVERYTHING where there is none, NOTHING for
a node without faces.

Rounding. Computed control vectors are off by N_ERROR m1 m2 in each coordinate (``arithmetic/bernstein``), and by
the position error p: 2 p in each coordinate of e1 and e2, so 4 p (m1 + m2) + 8 p^2 in n. A vector off by d, relative to
its length, is off in direction by an angle of sine d: a face for which that is more than OFF counts as degenerate, and
1.01 OFF is taken off the cosines of the others (cos(a + d) >= cos a - d, asin d <= 1.001 d): the margin of 1 % is that
of N_ERROR too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import N_ERROR
from pliant.arithmetic.rounding import DOT, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.hierarchy.build import LARGEST_OF_PAIRS
from pliant.runtime.jit import helper, kernel

EVERYTHING, NOTHING = -1.0, 2.0
_OFF = 1e-8
# The cosine between two vectors that are unit to rounding: 5 roundings of each (the square of its length 3, halved by
# the root; the root, the quotient, the product), 3 of the dot product: 13, in units of 1.
_COSINE_ERROR = (5 + 5 + DOT) * UNIT_ROUNDOFF
# Its square, 2 errors and 2 roundings, of which 1 - c^2 is rounded up by that.
_SQUARE_ERROR = (2 * _COSINE_ERROR + 2 * UNIT_ROUNDOFF) * 1.3
# All cosines get so much off: their error, and 6 roundings of what is made of them. For a narrow cone that is an
# angle of 1e-6, at every level: no smaller one would change what passes.
_COSINE_MARGIN = 500 * (_COSINE_ERROR + 6 * UNIT_ROUNDOFF)
_NARROW = 1e-9


class Faces(NamedTuple):
    """The faces of a scene in motion, by place."""

    corners: np.ndarray  # (k, 3) vertices
    x0: np.ndarray  # (n, 3)
    x1: np.ndarray  # (n, 3)
    at_rest: bool  # x0 and x1 are the same
    factor: float  # a power of two that brings the largest coordinate near 1
    flipped: np.ndarray  # (k,) bool
    begin: np.ndarray  # (2**depth + 1,) places where the leaves begin
    position_error: float  # vertices, times the factor, are off by at most this


@kernel
def fit_cones(faces, cones, top):
    """Fill in (nodes, 4) the cones of a node ``top`` and of all below, by heap index."""
    leaves = len(faces.begin) - 1
    first, last = top, top + 1
    while first < leaves:
        first, last = 2 * first, 2 * last
    controls = np.empty((3 * LARGEST_OF_PAIRS, 3))
    for leaf in range(first, last):
        _store(cones, leaf, _leaf_cone(faces, faces.begin[leaf - leaves], faces.begin[leaf - leaves + 1], controls))
    while first > top:
        first, last = first >> 1, last >> 1
        for node in range(first, last):
            _store(cones, node, _merge(_load(cones, 2 * node), _load(cones, 2 * node + 1)))


@kernel
def merge_cones(cones, end):
    """Fill in the cones of nodes 1 .. end - 1 from those of the nodes below."""
    for node in range(end - 1, 0, -1):
        _store(cones, node, _merge(_load(cones, 2 * node), _load(cones, 2 * node + 1)))


@helper
def merged(cones, i, j):
    """The cone of two nodes together."""
    return _merge(_load(cones, i), _load(cones, j))


@helper
def _store(cones, i, cone):
    for k in range(4):
        cones[i, k] = cone[k]


@helper
def _load(cones, i):
    return cones[i, 0], cones[i, 1], cones[i, 2], cones[i, 3]


@helper
def _leaf_cone(faces, begin, end, controls):
    """The cone around the control vectors of a few faces: their sum is its axis, the one farthest off its width."""
    if begin == end:
        return 0.0, 0.0, 0.0, NOTHING
    axis, position_error, count = (0.0, 0.0, 0.0), faces.position_error, 0
    for i in range(begin, end):
        v = row(faces.corners, i)
        a0, b0 = _edges(faces.x0, v, faces.factor)
        m1, m2 = max_norm(a0), max_norm(b0)
        sign = -1.0 if faces.flipped[i] else 1.0
        first = scale(cross(a0, b0), sign)
        shortest = dot(first, first)
        axis = add(axis, first)
        count = _note(controls, count, first)
        if not faces.at_rest:
            a1, b1 = _edges(faces.x1, v, faces.factor)
            m1, m2 = max(m1, max_norm(a1)), max(m2, max_norm(b1))
            last = scale(cross(a1, b1), sign)
            middle = scale(add(cross(a0, b1), cross(a1, b0)), 0.5 * sign)
            shortest = min(min(shortest, dot(middle, middle)), dot(last, last))
            axis = add(axis, add(middle, last))
            count = _note(controls, _note(controls, count, middle), last)
        off = N_ERROR * m1 * m2 + 4.0 * position_error * (m1 + m2) + 8.0 * position_error * position_error
        # Products of four areas are compared below: neither they nor their parts may come near underflow.
        in_range = m1 < 1e30 and m2 < 1e30 and shortest > 1e-140
        if not (in_range and _OFF * _OFF * shortest > 3.0 * off * off):
            return 0.0, 0.0, 0.0, EVERYTHING
    length = math.sqrt(dot(axis, axis))
    if not length > 0.0:
        return 0.0, 0.0, 0.0, EVERYTHING
    axis = scale(axis, 1.0 / length)
    # The smallest cosine, compared by squares: a root and a division for all of them.
    along_squared, length_squared = 1.0, 1.0
    for i in range(count):
        v = row(controls, i)
        along, squared = dot(axis, v), dot(v, v)
        if along <= 0.0:
            return 0.0, 0.0, 0.0, EVERYTHING
        if along * along * length_squared < along_squared * squared:
            along_squared, length_squared = along * along, squared
    cosine = math.sqrt(along_squared / length_squared) - 1.01 * _OFF - _COSINE_MARGIN
    return (axis[0], axis[1], axis[2], cosine) if cosine > _NARROW else (0.0, 0.0, 0.0, EVERYTHING)


@helper
def _edges(x, v, factor):
    """From the first of three vertices to the others."""
    a = scale(row(x, v[0]), factor)
    return sub(scale(row(x, v[1]), factor), a), sub(scale(row(x, v[2]), factor), a)


@helper
def _note(controls, count, v):
    controls[count, 0], controls[count, 1], controls[count, 2] = v
    return count + 1


@helper
def _merge(a, b):
    """The smallest cone around two cones, to rounding."""
    if a[3] == EVERYTHING or b[3] == NOTHING:
        return a
    if b[3] == EVERYTHING or a[3] == NOTHING:
        return b
    cos_between = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if _cosine_of_sum(cos_between, b[3]) >= a[3]:
        return a
    if _cosine_of_sum(cos_between, a[3]) >= b[3]:
        return b
    axis = _middle_axis(a, b, cos_between)
    cosine = min(
        _cosine_of_sum(axis[0] * a[0] + axis[1] * a[1] + axis[2] * a[2], a[3]),
        _cosine_of_sum(axis[0] * b[0] + axis[1] * b[1] + axis[2] * b[2], b[3]),
    )
    if cosine <= _NARROW:
        return 0.0, 0.0, 0.0, EVERYTHING
    return axis[0], axis[1], axis[2], cosine


@helper
def _cosine_of_sum(cos_a, cos_b):
    """At most the cosine of the sum of two angles, the second below a right one; EVERYTHING unless both are."""
    if cos_a <= 0.0:
        return EVERYTHING
    return cos_a * cos_b - _sine_above(cos_a) * _sine_above(cos_b) - _COSINE_MARGIN


@helper
def _sine_above(cosine):
    return math.sqrt(max(0.0, 1.0 - cosine * cosine) + _SQUARE_ERROR)


@helper
def _middle_axis(a, b, cos_between):
    """Halfway between the outermost directions of two cones, that of a away from b and that of b away from a.

    In the plane of the two axes these are cos a - sin p, p the unit vector across a towards b, and likewise for b. Any
    axis would do: what it holds is computed from it.
    """
    sin_between = math.sqrt(max(0.0, 1.0 - cos_between * cos_between))
    if sin_between < 1e-6:
        return a[0], a[1], a[2]
    sin_a, sin_b = math.sqrt(max(0.0, 1.0 - a[3] * a[3])), math.sqrt(max(0.0, 1.0 - b[3] * b[3]))
    share_a = a[3] + (sin_a * cos_between - sin_b) / sin_between
    share_b = b[3] + (sin_b * cos_between - sin_a) / sin_between
    axis = share_a * a[0] + share_b * b[0], share_a * a[1] + share_b * b[1], share_a * a[2] + share_b * b[2]
    length = math.sqrt(dot(axis, axis))
    return scale(axis, 1.0 / length) if length > 1e-6 else (a[0], a[1], a[2])
