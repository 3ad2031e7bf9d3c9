"""Deforming non-collinear filter (NCF; paper 001, Theorem 2 and its corollaries, with the signs of errata 7 and 8).

In the plane of the moving normal n = e1 x e2, the point of contact has parameters b and c with (see elementary)
b |n|^2 = (w x e2) . n and c |n|^2 = (e1 x w) . n, each a quartic in t with five Bernstein coefficients. If one of the
inside conditions is surely negative for all t, the normal never vanishes and the features never meet: in the terms of
the paper, one edge of the triangle separates (VF), or both ends of one edge stay on one side of the other (EE), with
M - N = |n|^2 making the "same sign for both" of Algorithm 2 automatic.

As printed, for the whole motion at once, that culls 50 to 65 % of what DNF leaves on the truth scenes (35 % at three
times the step): the separating edge changes on the way, and Bernstein coefficients are wide bounds over a long motion.
So the motion is halved, up to four times, where it does not succeed; a part in which the points are never coplanar
needs no proof. Then it culls 93 to 98 %.
"""

from __future__ import annotations

from pliant.arithmetic.bernstein import INSIDE_ERROR, INSIDE_RELATIVE, cross_controls, quartic, restrict
from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.filters.dnf import never_coplanar
from pliant.runtime.jit import helper

_DEEPEST = 4  # halvings; more cull little: 1 / 16 of a motion is short against the features


@helper
def never_meet(kind, start, end, m, relative_error):
    """DNF or NCF succeeds on every part of the motion."""
    level, index = 0, 0
    while True:
        width = 0.5**level
        first, last = start, end
        if level > 0:
            first, last = restrict(start, end, index * width), restrict(start, end, (index + 1) * width)
        normal = cross_controls(first[0], first[1], last[0], last[1])
        if (level > 0 and never_coplanar(first, last, m, normal, relative_error)) or never_inside(
            kind, first, last, m, normal, relative_error
        ):
            index += 1
            while level > 0 and index % 2 == 0:
                level, index = level - 1, index // 2
            if level == 0:
                return True
        elif level == _DEEPEST:
            return False
        else:
            level, index = level + 1, 2 * index


@helper
def never_inside(kind, start, end, m, normal, relative_error):
    """The point of contact would be outside of a feature, for one and the same reason during the whole motion."""
    error = INSIDE_ERROR + INSIDE_RELATIVE * relative_error
    m12 = m[0] * m[1]
    error_b = error * m12 * m[1] * m[2]
    b = quartic(cross_controls(start[2], start[1], end[2], end[1]), normal)
    if _all_below(b, -error_b):
        return True
    error_c = error * m12 * m[0] * m[2]
    c = quartic(cross_controls(start[0], start[2], end[0], end[2]), normal)
    error_n = error * m12 * m12
    if kind == VERTEX_FACE:
        if _all_below(c, -error_c):
            return True
        norm = quartic(normal, normal)
        return _all_below(_minus(_minus(norm, b), c), -(error_n + error_b + error_c))
    if _all_above(c, error_c):  # for edges the parameter is -c
        return True
    norm = quartic(normal, normal)
    return _all_below(_minus(norm, b), -(error_n + error_b)) or _all_below(_plus(norm, c), -(error_n + error_c))


@helper
def _all_below(c, bound):
    return c[0] < bound and c[1] < bound and c[2] < bound and c[3] < bound and c[4] < bound


@helper
def _all_above(c, bound):
    return c[0] > bound and c[1] > bound and c[2] > bound and c[3] > bound and c[4] > bound


@helper
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4]


@helper
def _plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]
