"""Weights of the corners of a cell that give a point in it.

In a tetrahedron they are barycentric. Any other cell is cut into tetrahedra that have its first corner and one of its
triangles: together, and counted with their signs, they wind around each point as often as the surface does, so a point
that the surface winds around is in one of them. The tetrahedron that gives the point best is taken. Points for
which none will do (slivers, where volumes are mostly rounding, and flat cells, which have none) are given by
the closest triangle of the surface.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.elementary.containment import triangle_count, triangle_of
from pliant.elementary.distance import shortest, spread_of
from pliant.mesh.cells import MOST_CORNERS
from pliant.runtime.jit import helper, kernel

_GOOD = 2.0**-80  # square of the distance between the point and what the weights give, in units of the cell's size
_ORIGIN = (0.0, 0.0, 0.0)
_NO_RADII = (0.0, 0.0, 0.0, 0.0)


@kernel
def weights_in_cells(x, shapes, pairs, out):
    """(k, 8) weights for pairs of a vertex and a cell that holds it: not negative, of sum 1."""
    at = np.empty((MOST_CORNERS, 3))
    for p in range(len(pairs)):
        v, cell = pairs[p, 0], pairs[p, 1]
        _place_corners(at, x, shapes.corners, v, cell)
        for k in range(MOST_CORNERS):
            out[p, k] = 0.0
        best = _by_tetrahedra(at, shapes, cell, out[p])
        if best > _GOOD:
            _by_triangles(at, shapes, cell, out[p], best)


@helper
def _place_corners(at, x, corners, v, cell):
    """The corners as seen from the vertex, in units of the largest distance: a power of two."""
    largest = max_norm(row(x, v))
    for k in range(MOST_CORNERS):
        largest = max(largest, max_norm(row(x, corners[cell, k])))
    quarter = 0.25 if largest > 1.0 else 1.0  # differences cannot overflow, and denormals keep their bits
    origin, size = scale(row(x, v), quarter), 0.0
    for k in range(MOST_CORNERS):
        at[k, 0], at[k, 1], at[k, 2] = sub(scale(row(x, corners[cell, k]), quarter), origin)
        size = max(size, max_norm(row(at, k)))
    factor = unit_factor((size, size, size))
    again = unit_factor((size * factor, size * factor, size * factor))  # 1, unless the first was not enough: denormals
    for k in range(MOST_CORNERS):
        at[k, 0], at[k, 1], at[k, 2] = scale(scale(row(at, k), factor), again)


@helper
def _corner(shapes, cell, v):
    """Which corner of the cell vertex v is."""
    k = 0
    while shapes.corners[cell, k] != v:
        k += 1
    return k


@helper
def _by_tetrahedra(at, shapes, cell, out):
    """Weights by the best tetrahedron, where there is one; returns how far they are off, squared."""
    best = np.inf
    for i in range(triangle_count(shapes, cell)):
        f = triangle_of(shapes, cell, i)
        p, q, r = _corner(shapes, cell, f[0]), _corner(shapes, cell, f[1]), _corner(shapes, cell, f[2])
        if min(p, min(q, r)) == 0:
            continue
        w, off = _barycentric(row(at, 0), row(at, p), row(at, q), row(at, r))
        if off < best:
            best = off
            for k in range(MOST_CORNERS):
                out[k] = 0.0
            out[0], out[p], out[q], out[r] = w
    return best


@helper
def _barycentric(a, b, c, d):
    """Weights that give 0, cut off below 0, and how far they are off, squared; infinite where there is no volume."""
    ab, cd = cross(a, b), cross(c, d)
    p, q, r, s = dot(cd, b), -dot(cd, a), dot(ab, d), -dot(ab, c)
    volume = p + q + r + s
    if volume == 0.0:
        return (1.0, 0.0, 0.0, 0.0), np.inf
    p, q, r, s = max(p / volume, 0.0), max(q / volume, 0.0), max(r / volume, 0.0), max(s / volume, 0.0)
    total = p + q + r + s
    if not (total > 0.0 and total < np.inf):
        return (1.0, 0.0, 0.0, 0.0), np.inf
    p, q, r, s = p / total, q / total, r / total, s / total
    off = add(add(scale(a, p), scale(b, q)), add(scale(c, r), scale(d, s)))
    return (p, q, r, s), dot(off, off)


@helper
def _by_triangles(at, shapes, cell, out, best):
    """Weights by the closest triangle, where that is better."""
    for i in range(triangle_count(shapes, cell)):
        f = triangle_of(shapes, cell, i)
        p, q, r = _corner(shapes, cell, f[0]), _corner(shapes, cell, f[1]), _corner(shapes, cell, f[2])
        spread = spread_of(VERTEX_FACE, (_ORIGIN, row(at, p), row(at, q), row(at, r)), _NO_RADII)
        s, t, _, _, _ = shortest(VERTEX_FACE, spread)
        first = max(0.0, 1.0 - s - t)
        off = add(scale(row(at, p), first), add(scale(row(at, q), s), scale(row(at, r), t)))
        if dot(off, off) < best:
            best = dot(off, off)
            for k in range(MOST_CORNERS):
                out[k] = 0.0
            out[p], out[q], out[r] = first, s, t
