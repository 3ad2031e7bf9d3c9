"""Deforming non-penetration filter (DNF; papers 001 and 004, with the coefficients of errata 10).

The four vertices of a colliding pair are coplanar at the time of contact. Their coplanarity is a cubic in t; if its
four Bernstein coefficients are all surely positive or all surely negative, it has no root and the pair never meets.
One test serves vertex-face and edge-edge pairs: both ask whether the same four moving points become coplanar.
"""

from __future__ import annotations

from pliant.arithmetic.bernstein import F_ERROR, F_RELATIVE, cubic
from pliant.runtime.jit import helper


@helper
def never_coplanar(start, end, m, normal, relative_error):
    b0, b1, b2, b3 = cubic(start[2], end[2], normal)
    error = (F_ERROR + F_RELATIVE * relative_error) * m[0] * m[1] * m[2]
    return min(min(b0, b1), min(b2, b3)) > error or max(max(b0, b1), max(b2, b3)) < -error
