"""Error bounds of the separating axis tests against rationals: none is exceeded, and none is wider than it says."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

import pliant
from pliant.arithmetic.bernstein import magnitudes
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.arithmetic.rounding import POSITION_ERROR, SINGLE_ROUNDOFF, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import cross, dot, lerp, max_norm, sub
from pliant.bounds.kdops import NO_PADDING
from pliant.culling.stars import NONE_FREE
from pliant.elementary.advance import DISTANCE_ERROR
from pliant.filters.axes import features, lanes, triangle_features, triangles
from pliant.filters.axes.cell_lanes import cull_small_cells
from pliant.filters.axes.cells import cull_cells
from pliant.filters.axes.elements import cull_elements, scaled_ends
from pliant.filters.axes.separation import ALLOWED, AXIS_ERROR, length_above
from tests.reference.rounding import coordinate, corners, exact, point, worst_share


def norm_1(axis):
    return abs(axis[0]) + abs(axis[1]) + abs(axis[2])


def test_slack_along_an_axis():
    """How much too large a difference of two points is that are cut off, and that positions may be off once more."""

    def share(x):
        (a, b), axis, t = x[:2], x[2], abs(x[3]) / 2
        largest = max(max_norm(p) for p in (*a, *b))
        error = AXIS_ERROR * largest * norm_1(axis)
        least = dot(lerp(*b, t), axis) - (dot(lerp(*a, t), axis) + error)
        start, end = (lerp(*exact(p), exact(t)) for p in (a, b))
        off = Fraction(least + error) - (dot(end, exact(axis)) - dot(start, exact(axis)))
        return (off + Fraction(2 * POSITION_ERROR * largest * norm_1(axis))) / Fraction(error)

    def draw(rng):
        return (point(rng), point(rng)), (point(rng), point(rng)), point(rng), coordinate(rng)

    assert 0.4 < worst_share(share, draw) < 1


@numba.njit
def difference(kind, vectors, axis):
    return features._range(kind, vectors, axis)


@pytest.mark.parametrize("kind", [VERTEX_FACE, EDGE_EDGE])
def test_differences_of_features(kind):
    def share(x):
        p, axis = x
        vectors = [sub(p[2], p[1]), sub(p[3], p[1]), sub(p[0], p[1])]
        first, second = [p[1], p[2], p[3]], [p[0]]
        if kind == EDGE_EDGE:  # a0 is the one near the origin
            vectors = [sub(p[0], p[1]), sub(p[3], p[2]), sub(p[2], p[1])]
            first, second = [p[1], p[0]], [p[2], p[3]]
        low, high = difference(kind, tuple(vectors), axis)
        true = [dot(sub(exact(b), exact(a)), exact(axis)) for a in first for b in second]
        bound = features._ERROR * sum(magnitudes(vectors, vectors)) * max_norm(axis)
        return max(abs(Fraction(low) - min(true)), abs(Fraction(high) - max(true))) / Fraction(bound)

    assert 0.2 < worst_share(share, lambda rng: (corners(rng, 4), point(rng))) < 1


def test_room_for_vectors_and_points_that_are_off():
    """Differences along an axis of equal coordinates, where every error counts in full."""
    assert 3 < features._OF_RELATIVE_ERROR <= 3 * 3  # each of e1, e2, w, by a part of its size
    assert 2 * 3 < features._OF_POSITION_ERROR <= 2 * 3 * 7 / 6  # each of two points


def test_lengths_are_rounded_up():
    def share(axis):
        above = Fraction(float(length_above(axis)))
        true = sum(c * c for c in exact(axis))
        assert above * above > true
        return 1 - (above * above / true - 1) / (16 * Fraction(UNIT_ROUNDOFF))  # twice the 8 u of a length

    assert 0.1 < worst_share(share, point) < 1


def test_differences_of_corners_of_triangles():
    """Relative to one corner, as in ``triangle_features``; the error is added to one side."""

    def share(x):
        p, axis = x
        a, b = sub(p[0], p[1]), sub(p[2], p[1])
        error = triangle_features._ERROR * max(max_norm(a), max_norm(b)) * norm_1(axis)
        excess = Fraction(dot(b, axis)) - Fraction(dot(a, axis) + error)
        true = dot(sub(exact(p[2]), exact(p[0])), exact(axis))
        return (excess + Fraction(error) - true) / Fraction(error)

    assert 0.25 < worst_share(share, lambda rng: (corners(rng, 3), point(rng))) < 1


def test_what_advancement_allows_for_is_left_to_it():
    """In units of the sum of the larger radii of both features: four radii are up to three times that."""
    assert 3 * DISTANCE_ERROR < ALLOWED < 6 * 3 * DISTANCE_ERROR


# ---- in single precision


@numba.njit
def along(block, axis, out):
    """How far b is beyond a, now and at the end."""
    out[0] = lanes._closest(block, 0, axis)[0]
    out[1] = lanes._closest(block, 18 * lanes.LANES, axis)[0]


@numba.njit
def follow(block):
    triangles._follow(block, 1)


@numba.njit
def needed(block, axis, out):
    out[0] = lanes.least_of(block, 0, axis)


@numba.njit
def relax(block):
    lanes.over_relax(block, 1)


def block_of(points):
    """A block whose lane 0 holds 12 corners, (12, 3): a and b now, a and b at the end, relative to the first."""
    block = np.zeros(lanes.BLOCK, np.float32)
    block[lanes.THRESHOLD : lanes.THRESHOLD + lanes.LANES] = np.inf
    block[: 36 * lanes.LANES : lanes.LANES] = (points - points[0]).astype(np.float32).ravel()
    return block


def gap(points, axis):
    """Of b beyond a along the axis, in rationals."""
    d = [sum(Fraction(c) * Fraction(k) for c, k in zip(p, axis)) for p in points]
    return min(d[3:]) - max(d[:3])


def random_corners(rng):
    return rng.choice([-1.0, 1.0], (12, 3)) * (1.0 + rng.random((12, 3)) / 16)


@pytest.mark.parametrize("steps", [0, lanes.STEPS])
def test_differences_in_single_precision(steps):
    rng, found, out = np.random.default_rng(steps), 0.0, np.empty(2)
    for _ in range(600 if steps else 3000):
        x = random_corners(rng)
        x[0] = 2.0**-20 * x[0]
        axis = (rng.choice([-1, 1], 3) * rng.uniform(1, 1.06, 3)).astype(np.float32)
        block = block_of(x)
        largest = np.abs(block[: 36 * lanes.LANES]).max()
        now, end = ([[Fraction(c) for c in p] for p in part] for part in (x[:6].tolist(), x[6:].tolist()))
        for _ in range(steps):
            block[lanes.BEST] = s = np.float32(rng.uniform(0.0, 0.3))
            s = Fraction(float(s * triangles._SAFE))
            now = [[a + (b - a) * s for a, b in zip(p, q)] for p, q in zip(now, end)]
            follow(block)
        along(block, tuple(axis), out)
        error = float(lanes.AXIS_ERROR) * float(largest) * float(np.abs(axis).sum())
        off = max(abs(Fraction(out[k]) - gap(part, axis.tolist())) for k, part in enumerate((now, end)))
        found = max(found, float(off) / error)
    least = 0.25 * 10 / 110 if steps == 0 else 0.02  # without a step only the first 10 of 110 roundings are made
    assert least < found < (10 / 110 if steps == 0 else 1)


def test_slack_and_radii_are_rounded_up():
    rng, out, most = np.random.default_rng(1), np.empty(1), Fraction(0)
    for _ in range(2000):
        axis = rng.uniform(-1, 1, 3).astype(np.float32)
        radii = rng.uniform(0, 1)
        block = np.zeros(lanes.BLOCK, np.float32)
        block[lanes.RADII] = np.float32(radii) * lanes.ABOVE
        needed(block, tuple(axis), out)
        squared = Fraction(radii) ** 2 * sum(Fraction(c) ** 2 for c in axis.tolist())
        assert Fraction(out[0]) ** 2 > squared
        most = max(most, Fraction(out[0]) ** 2 / squared)
    assert most < 1 + 2 * 40 * Fraction(SINGLE_ROUNDOFF)


def test_one_step_can_make_an_axis_far_longer():
    """Two corners differ in the last bit of x, which is half of the last bit of y, and that half of the last bit of z.

    Their dot products with (1, 1, 1) differ in a last bit of 1, 2^48 times as much as the corners do: over-relaxation
    divides by that distance. It was thought that no step makes an axis more than 4e7 times as long.
    """
    corner = np.float32([2.0**-48, 2.0**-24, 1.0])
    other = corner + np.float32([2.0**-71, 0, 0])
    rows = np.array([(0, 0, -9), (0, 0, -9), corner, other, (0, 0, 9), (0, 0, 9)], np.float32)
    block = block_of(np.zeros((12, 3)))
    block[: 36 * lanes.LANES : lanes.LANES] = np.concatenate((rows, rows)).ravel()
    block[lanes.AXIS : lanes.AXIS + 3 * lanes.LANES : lanes.LANES] = 1.0
    relax(block)
    assert 2.0**48 < -block[lanes.AXIS] < 2.0**51


@pytest.mark.parametrize("length", [1e20, 1e30, 3e38, np.inf, np.nan])
def test_axes_that_overflow_separate_nothing(length):
    """A pair that is apart at the start and meets at the end, along an axis on which only the end overflows: the gap
    there is not a number, and is not the smaller one. It is the square of the axis that says no."""
    a = np.array([(0, 0, 0), (1e-3, 0, 0), (0, 1e-3, 0)])
    b = a + (0, 0, 1e-2)
    end = np.array([(1, 0, 9), (0, 1, 9), (-1, -1, 9)])
    block = block_of(np.concatenate((a, b, 1e4 * end, 1e4 * end)))
    block[lanes.THRESHOLD] = block[lanes.RADII] = 0
    block[lanes.THRESHOLD] = np.float32(1e-5)
    block[lanes.AXIS : lanes.AXIS + 3 * lanes.LANES : lanes.LANES] = (0.0, 0.0, length)
    relax(block)
    assert block[lanes.BEST] == lanes.NEVER


# ---- positions that are rounded once more

PAIRS, HORIZON = 1500, 0.37


def thin_gaps(count):
    """(x0, x1), (2 k, count, 3): bodies 2 i and 2 i + 1 of so many points each, which move together, above each other
    by up to 100 u: three points of one lie in a plane, and so do three of the other."""
    rng = np.random.default_rng(7)
    normal = rng.standard_normal((PAIRS, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    below = 0.01 * rng.standard_normal((2, PAIRS, count, 3))
    below -= np.einsum("ekci,ki->ekc", below, normal)[..., None] * normal[:, None]
    below[0, :, 3:] -= 0.01 * normal[:, None]  # the fourth corners are away from the gap
    below[1, :, 3:] += 0.01 * normal[:, None]
    at = rng.uniform(-0.7, 0.7, (PAIRS, 1, 3))
    gap = 100 * rng.uniform(0, 1, (PAIRS, 1, 1)) ** 3 * UNIT_ROUNDOFF * normal[:, None]
    x0 = np.stack((below[0] + at, below[1] + at + gap), axis=1)
    x1 = x0 + rng.uniform(-0.3, 0.3, (PAIRS, 1, 1, 3))
    return x0.reshape(2 * PAIRS, count, 3), x1.reshape(2 * PAIRS, count, 3)


def meet_once_rounded(x0, x1, pairs):
    """How many of the pairs of triangles, the first three points of each, meet on the way to rounded positions."""
    met = np.zeros(len(pairs), bool)
    for s in (HORIZON * (1 - 2.0**-36), 0.5 * HORIZON):
        start, end = x0[pairs, :3], ((1.0 - s) * x0 + s * x1)[pairs, :3]
        for a, b in ((0, 1), (1, 0)):
            for corner in range(3):
                ends = [np.concatenate((x[:, a, corner : corner + 1], x[:, b]), axis=1) for x in (start, end)]
                met |= pliant.vertex_face(*ends).hit
        for i in range(3):
            for j in range(3):
                ends = [
                    np.stack((x[:, 0, i], x[:, 0, i - 1], x[:, 1, j], x[:, 1, j - 1]), axis=1) for x in (start, end)
                ]
                met |= pliant.edge_edge(*ends).hit
    return int(np.count_nonzero(met))


def gap_along_normals(a, b):
    """How far two triangles are apart along the normal of either, in units of u and of the sum of its coordinates."""
    best = -np.inf
    for p in (a, b):
        axis = cross(sub(p[1], p[0]), sub(p[2], p[0]))
        of_a, of_b = [dot(q, axis) for q in a], [dot(q, axis) for q in b]
        apart = max(min(of_b) - max(of_a), min(of_a) - max(of_b))
        best = max(best, float(apart / norm_1(axis)) / UNIT_ROUNDOFF)
    return best


@pytest.mark.parametrize("filter_of", ["elements", "cells", "lanes"])
def test_element_filters_leave_room_for_positions_that_are_rounded(filter_of):
    """A safe step verifies rounded positions of what its filters leave: what they cull has to stay free as well.

    Filters of features are told how far positions may be off; those of elements have it in their error.
    """
    count = 3 if filter_of == "elements" else 4
    x0, x1 = thin_gaps(count)
    pairs = np.arange(2 * PAIRS, dtype=np.int32).reshape(-1, 2)
    corners = np.arange(count * 2 * PAIRS, dtype=np.int32).reshape(-1, count)
    flat = x0.reshape(-1, 3), x1.reshape(-1, 3)
    largest = float(max(np.abs(flat[0]).max(), np.abs(flat[1]).max()))
    if filter_of == "elements":
        points = scaled_ends(*flat, HORIZON, 1.0)
        kept = cull_elements(corners, points, largest, NO_PADDING, NONE_FREE, pairs, PAIRS, True)
    else:
        cells = pliant.VolumeMesh({"tetra": corners}).cell_table
        points = scaled_ends(*flat, HORIZON, 1.0)
        if filter_of == "cells":
            kept = cull_cells(cells, points, largest, NO_PADDING, pairs, PAIRS, False)
        else:
            kept = cull_small_cells(cells, points, NO_PADDING, pairs, PAIRS, False)
    culled = np.setdiff1d(np.arange(0, 2 * PAIRS, 2), pairs[:kept, 0])
    assert 0.1 * PAIRS < len(culled) < 0.9 * PAIRS
    pairs = np.stack((culled, culled + 1), axis=1)
    assert meet_once_rounded(x0, x1, pairs) == 0
    assert meet_once_rounded(x0, x1, np.arange(2 * PAIRS).reshape(-1, 2)) > 5  # of all, some do
    if filter_of == "elements":  # whose axes are the normals
        least = min(gap_along_normals(exact(x0[i].tolist()), exact(x0[i + 1].tolist())) for i in culled)
        assert least > 2 * largest * POSITION_ERROR / UNIT_ROUNDOFF
