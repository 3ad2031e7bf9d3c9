"""Whether a vertex is in a cell: with a proof in doubles for most pairs, in integers for the rest.

A cell is what its surface encloses: triangles, with the diagonals of ``VolumeMesh.faces``. A point is in the cell if
the surface winds around it, in whichever direction and how often, or if it is on the surface.

**Signs alone.** Let s be the sign of the volume that a triangle, oriented outward, spans with the point. The solid
angle of the triangle has that sign. If all are positive, so is their sum, 4 pi times the winding number; if all are
negative, likewise. In a tetrahedron the four volumes add up to its own, and are proportional to the weights of its
corners: two opposite signs, and the point is outside. A flat tetrahedron has volume 0: there the point is off the
plane and two signs are opposite, or in the plane, and all are 0.

**A ray upwards.** Move the point by (d, e, 0), 0 < e << d, less than any distance there is: if it was off the surface,
the winding number stays the same, and the ray meets no edge. A triangle turns around the ray, as seen from above, by
the sum over its sides of +1 for one that leads from y <= 0 to y > 0 (seen from the point) and crosses y = 0 at x > 0,
and -1 for one that leads back. A crossing at x = 0 does not count: on the line y = e it is closer to 0 than d. The
turns of the triangles above the point add up to the winding number. Above means that the sign s is that of the turn;
where s = 0 and the turn is not, the triangle would hold the point.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.orientation import LARGEST, SIDE_ERROR, TINY, TURN_ERROR, certain_sign
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, sub
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.mesh.cells import POLYGONS, list_triangles
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally

_TETRA = np.array(POLYGONS[0], np.int64)


class Shapes(NamedTuple):
    """Corners and triangles of the solid cells."""

    corners: np.ndarray  # (c, 8) int32
    tetra_count: int  # cells below this number are tetrahedra
    start: np.ndarray  # (others + 1,) int64 where the triangles begin of cells from there on
    triangles: np.ndarray  # (t, 3) int32 vertices, oriented outward in an upright cell


def shapes_of(volume: VolumeMesh) -> Shapes:
    tetra = len(volume.cells["tetra"])
    others = slice(tetra, volume.solid_count)
    return Shapes(
        volume._corners, tetra, *list_triangles(volume._types[others], volume._corners[others], volume._ranks)
    )


def decide_containment(x, shapes: Shapes, pairs, status, tally: Tally) -> int:
    """Decide pairs of a vertex and a cell in place, tier after tier; returns how many cells hold their vertex.

    x : (n, 3) float64, positions. pairs : (k, 2) int32, vertex and cell. status : (k,) int8, becomes MISS or HIT.
    """
    count, clock = len(pairs), time.perf_counter()
    hits, unsure = contain_in_doubles(x, shapes, pairs, status)
    seconds = time.perf_counter() - clock
    tally.add("exact: doubles", count, count - unsure, seconds)
    if unsure:
        # Compiled when first needed.
        from pliant.elementary.exact_containment import contain_in_integers

        clock = time.perf_counter()
        hits += contain_in_integers(x, shapes, pairs, np.flatnonzero(status == UNSURE), status)
        tally.add("exact: integers", unsure, unsure, time.perf_counter() - clock)
        seconds += time.perf_counter() - clock
    tally.add("exact", count, hits, seconds)
    return hits


@kernel
def contain_in_doubles(x, shapes, pairs, status):
    """MISS, HIT or UNSURE for each pair; returns how many are hits and how many UNSURE."""
    hits = unsure = 0
    for p in range(len(pairs)):
        v, cell = pairs[p, 0], pairs[p, 1]
        answer = _in_tetra(x, shapes.corners, v, cell) if cell < shapes.tetra_count else _in_cell(x, shapes, v, cell)
        status[p] = answer
        hits += answer == HIT
        unsure += answer == UNSURE
    return hits, unsure


@helper
def triangle_count(shapes, cell):
    if cell < shapes.tetra_count:
        return 4
    at = cell - shapes.tetra_count
    return shapes.start[at + 1] - shapes.start[at]


@helper
def triangle_of(shapes, cell, i):
    """Vertices of triangle i of a cell, oriented outward."""
    if cell < shapes.tetra_count:
        c = shapes.corners
        return c[cell, _TETRA[i, 0]], c[cell, _TETRA[i, 1]], c[cell, _TETRA[i, 2]]
    t = shapes.start[cell - shapes.tetra_count] + i
    return shapes.triangles[t, 0], shapes.triangles[t, 1], shapes.triangles[t, 2]


@helper
def _in_tetra(x, corners, v, cell):
    at = row(x, v)
    a, b = sub(row(x, corners[cell, 0]), at), sub(row(x, corners[cell, 1]), at)
    c, d = sub(row(x, corners[cell, 2]), at), sub(row(x, corners[cell, 3]), at)
    la, lb, lc, ld = max_norm(a), max_norm(b), max_norm(c), max_norm(d)
    if min(min(la, lb), min(lc, ld)) == 0.0:
        return HIT  # at a corner: copies of a mesh bring these in crowds
    size = max(max(la, lb), max(lc, ld))
    if not size < LARGEST:
        return UNSURE
    error = SIDE_ERROR * size * size * size + TINY
    ab, cd = cross(a, b), cross(c, d)
    s, t, u, w = -dot(ab, c), dot(ab, d), dot(cd, b), -dot(cd, a)
    lowest, highest = min(min(s, t), min(u, w)), max(max(s, t), max(u, w))
    if lowest < -error and highest > error:
        return MISS
    return HIT if lowest > error or highest < -error else UNSURE


@helper
def _in_cell(x, shapes, v, cell):
    at, count = row(x, v), triangle_count(shapes, cell)
    positive = negative = winding = 0
    sure = True  # that the ray tells: the point is surely on no triangle, and it is sure which ones are above
    for i in range(count):
        f = triangle_of(shapes, cell, i)
        a, b, c = sub(row(x, f[0]), at), sub(row(x, f[1]), at), sub(row(x, f[2]), at)
        la, lb, lc = max_norm(a), max_norm(b), max_norm(c)
        if min(la, min(lb, lc)) == 0.0:
            return HIT
        if not max(la, max(lb, lc)) < LARGEST:
            return UNSURE
        s = certain_sign(dot(cross(a, b), c), SIDE_ERROR * la * lb * lc + TINY)
        positive += s > 0
        negative += s < 0
        turn, known = turn_around_axis(a, b, c)
        sure = sure and known and (s != 0 or (turn == 0 and not box_holds_origin(a, b, c)))
        winding += turn if turn * s > 0 else 0
    if positive == count or negative == count:
        return HIT
    if not sure:
        return UNSURE
    return HIT if winding != 0 else MISS


@helper
def turn_around_axis(a, b, c):
    """How often the triangle turns around the z axis, and whether that is sure."""
    p, q, r = _side(a, b), _side(b, c), _side(c, a)
    return p[0] + q[0] + r[0], p[1] and q[1] and r[1]


@helper
def _side(a, b):
    """What the side from a to b adds to the turn, and whether that is sure."""
    if (a[1] <= 0.0) == (b[1] <= 0.0):
        return 0, True
    error = TURN_ERROR * max(abs(a[0]), abs(a[1])) * max(abs(b[0]), abs(b[1])) + TINY
    sign = certain_sign(a[0] * b[1] - a[1] * b[0], error)
    upwards = 1 if a[1] <= 0.0 else -1
    return (upwards if sign == upwards else 0), sign != 0


@helper
def box_holds_origin(a, b, c):
    for k in range(3):
        if min(a[k], min(b[k], c[k])) > 0.0 or max(a[k], max(b[k], c[k])) < 0.0:
            return False
    return True
