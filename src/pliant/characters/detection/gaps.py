"""How far a vertex in the box of a tetrahedron surely is from the tetrahedron itself, by the planes of its faces."""

from __future__ import annotations

from pliant.arithmetic.orientation import AXIS_ERROR, TINY
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, sub
from pliant.runtime.jit import helper


@helper
def surely_apart_by(x, corners, v, cell):
    """How far all coordinates of the vertex may move, together with those of the corners, before they can touch; 0
    where they may touch now.

    With any axis n, taken as it is, and w from the vertex to the corners, the least n . w is what lies between them.
    It changes by at most |n0| + |n1| + |n2| times what coordinates change by. The axes are the normals of the faces.
    """
    at = row(x, v)
    a, b = sub(row(x, corners[cell, 0]), at), sub(row(x, corners[cell, 1]), at)
    c, d = sub(row(x, corners[cell, 2]), at), sub(row(x, corners[cell, 3]), at)
    size = max(max(max_norm(a), max_norm(b)), max(max_norm(c), max_norm(d)))
    ab, ac, ad, bc, bd = sub(b, a), sub(c, a), sub(d, a), sub(c, b), sub(d, b)
    first = max(_along(cross(ab, ac), a, b, (c, d), size), _along(cross(ab, ad), a, b, (c, d), size))
    return max(first, max(_along(cross(ac, ad), a, b, (c, d), size), _along(cross(bc, bd), a, b, (c, d), size)))


@helper
def _along(n, a, b, others, size):
    p, q, r, s = dot(n, a), dot(n, b), dot(n, others[0]), dot(n, others[1])
    low, high = min(min(p, q), min(r, s)), max(max(p, q), max(r, s))
    gap = max(low, -high) - (AXIS_ERROR * size * max_norm(n) + TINY)
    return gap / (abs(n[0]) + abs(n[1]) + abs(n[2])) if gap > 0.0 else 0.0
