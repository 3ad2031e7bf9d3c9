"""Solid angles, of which generalised winding numbers are made up: those of triangles, and those of open edges.

The solid angle W of a triangle seen from a point, with unit vectors a, b, c towards its corners (van Oosterom and
Strackee 1983): tan(W / 2) = a . (b x c) / (1 + a . b + b . c + c . a).
"""

from __future__ import annotations

import math

from pliant.arithmetic.vec3 import cross, dot, max_norm, row, scale, sub
from pliant.runtime.jit import helper, kernel

# Where the numerator is smaller than this, and the denominator is so too or negative, the point is nearly on the
# triangle, and rounding might decide on which side. Both have errors of some 1e-15: other angles are right to 1e-6.
_THIN = 1e-9


@kernel
def angles_below(x, ends, turns, points, rows, out):
    """Half the solid angles of the triangles between each edge and the far end of a ray straight down, summed up.

    x : (n, 3). ends : (e, 2) vertices of edges. turns : (e,) how often each counts. points : (k, 3); rows : (r,) those
    that are meant. out : (r,) radians; NaN where an edge is straight above a point, or nearly so.
    """
    for r in range(len(rows)):
        p, total = row(points, rows[r]), 0.0
        for e in range(len(ends)):
            a, b = _towards(row(x, ends[e, 0]), p), _towards(row(x, ends[e, 1]), p)
            numerator, denominator = a[1] * b[0] - a[0] * b[1], 1.0 + dot(a, b) - a[2] - b[2]
            if denominator < _THIN and abs(numerator) < _THIN:
                total = math.nan
                break
            total += turns[e] * math.atan2(numerator, denominator)
        out[r] = total


@kernel
def angles_of_faces(x, faces, points, rows, out):
    """Half the solid angles of all faces, summed up: plainly, for points that are on none of them."""
    for r in range(len(rows)):
        p, total = row(points, rows[r]), 0.0
        for f in range(len(faces)):
            a, b = _towards(row(x, faces[f, 0]), p), _towards(row(x, faces[f, 1]), p)
            c = _towards(row(x, faces[f, 2]), p)
            total += math.atan2(dot(a, cross(b, c)), 1.0 + dot(a, b) + dot(b, c) + dot(c, a))
        out[r] = total


@helper
def _towards(a, p):
    """A unit vector; no square underflows."""
    v = sub(a, p)
    largest = max_norm(v)
    if largest == 0.0:
        return 0.0, 0.0, 0.0
    v = v[0] / largest, v[1] / largest, v[2] / largest
    return scale(v, 1.0 / math.sqrt(dot(v, v)))
