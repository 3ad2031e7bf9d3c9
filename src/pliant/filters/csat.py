"""Continuous separating axis test (CSAT; paper 004, Corollaries 1 and 3; Corollary 4.3 and Lemma 5.1 of paper 002).

If all points of one feature are on the same side of all points of the other along some axis L, at t = 0 and at
t = 1, the features never meet: every difference is linear in t, so it keeps its sign in between. Here L is the
normal at the start, rounded. A rounded L is still *an* axis, but differences that vanish for the exact normal do not vanish
for it: all 6 (8) of them are evaluated (errata 14).

Error: a difference of dot products has 1 + 1 + 2 + 2 roundings on 3 products of a coordinate up to m and one of L, and
3 more where the motion is cut off at a horizon.
"""

from __future__ import annotations

from pliant._jit import helper
from pliant.filters.bernstein import UNIT_ROUNDOFF
from pliant.mesh.features import VERTEX_FACE
from pliant.vec3 import dot, max_norm

_ERROR = 1.05 * 3 * 9 * UNIT_ROUNDOFF


@helper
def separated_by(kind, start, end, m, axis):
    """The features are apart along the axis during the whole motion."""
    error = _ERROR * (m[0] + m[1] + m[2]) * max_norm(axis)
    low0, high0 = _range(kind, start, axis)
    low1, high1 = _range(kind, end, axis)
    return min(low0, low1) > error or max(high0, high1) < -error


@helper
def _range(kind, vectors, axis):
    """Smallest and largest difference of a point of one feature and a point of the other, along the axis."""
    d1, d2, dw = dot(vectors[0], axis), dot(vectors[1], axis), dot(vectors[2], axis)
    if kind == VERTEX_FACE:  # v minus f0, f1, f2
        return dw - max(0.0, max(d1, d2)), dw - min(0.0, min(d1, d2))
    return dw - max(0.0, d1) + min(0.0, d2), dw - min(0.0, d1) + max(0.0, d2)  # b0, b1 minus a0, a1
