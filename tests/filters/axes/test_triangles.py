"""Axes in single precision: what they let go is apart in double precision, whatever its size and place.

By ``triangles`` and, for elements of a hierarchy, by ``elements``.
"""

import numpy as np
import pytest

import pliant
from pliant.culling.stars import NONE_FREE
from pliant.filters.axes.elements import cull_elements, cull_resting_elements, scaled, scaled_ends
from pliant.filters.axes.triangles import CENTRES, EDGES, IN_TURN, ODD, PLANES, keep_inseparable
from pliant.runtime.arrays import NonFiniteError
from pliant.scenes.triangle_pairs import random_pairs

ALL = CENTRES | PLANES | EDGES | IN_TURN
PAIRS = 512


def grazing(rng, scale, offset):
    """Triangles (k, 6, 3) at both ends, which touch in a corner at one time, b on one side of a."""
    a0 = rng.uniform(-1, 1, (PAIRS, 3, 3))
    a1 = a0 + rng.uniform(-1, 1, (PAIRS, 3, 3)) * 10.0 ** rng.uniform(-3, 0.5)
    t = rng.uniform(0, 1, PAIRS)[:, None, None]
    at = a0 + (a1 - a0) * t
    normal = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    corner = np.einsum("ki,kij->kj", rng.dirichlet([1, 1, 1], PAIRS), at)
    b = rng.uniform(-1, 1, (PAIRS, 3, 3))
    b *= np.sign(np.einsum("kij,kj->ki", b, normal))[..., None]
    b[:, 0] = 0.0
    b += corner[:, None]
    motion = rng.uniform(-1, 1, (PAIRS, 3, 3)) * 10.0 ** rng.uniform(-3, 0.5)
    x0, x1 = np.concatenate([a0, b - motion * t], axis=1), np.concatenate([a1, b + motion * (1 - t)], axis=1)
    return (x0 + offset) * scale, (x1 + offset) * scale


def apart(rng, gap):
    """Triangles (k, 6, 3) of which the lowest corner of b is that far above the middle of a."""
    a, b = rng.uniform(-1, 1, (PAIRS, 3, 3)), rng.uniform(-1, 1, (PAIRS, 3, 3))
    normal = np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    lowest = b[np.arange(PAIRS), np.einsum("kij,kj->ki", b, normal).argmin(axis=1)]
    return np.concatenate([a, b + (a.mean(axis=1) + gap * normal - lowest)[:, None]], axis=1)


def kept(x0, x1, tolerance=1e-12, radii=0.0, which=ALL):
    culled = np.zeros(5, np.int64)
    count = keep_inseparable(x0, x1, (tolerance, radii), which, np.arange(len(x0), dtype=np.int32), culled)
    assert count + culled[:ODD].sum() == len(x0)
    return count


@pytest.mark.bounds
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("which", [CENTRES, PLANES, EDGES, IN_TURN, ALL])
def test_triangles_that_touch_are_kept(scale, offset, which):
    rng = np.random.default_rng(0)
    for _ in range(20):
        # Positions are rounded: the tolerance is what that moves them by.
        assert kept(*grazing(rng, scale, offset), tolerance=1e-12, which=which) == PAIRS


def test_each_kind_of_axis_takes_its_part():
    """Alone and in a row; each pair is counted once, and is the same pair whatever was tried before."""
    x0, x1, _ = random_pairs(4000, "large")
    left = [kept(x0, x1, which=which) for which in (0, CENTRES, CENTRES | PLANES, CENTRES | PLANES | EDGES, ALL)]
    assert left[0] == 4000
    assert left == sorted(set(left), reverse=True)
    assert left[1] < 400
    assert left[-1] < 40
    alone = [kept(x0, x1, which=which) for which in (PLANES, EDGES, IN_TURN)]
    assert all(left[-1] <= count < 2000 for count in alone)


def test_how_close_is_told_apart():
    """1e-4 of the size apart is seen to be; 1e-7 is too little for single precision, and is kept."""
    rng = np.random.default_rng(1)
    for gap, count in ((1e-2, 0), (1e-4, 0), (1e-7, PAIRS)):
        x = apart(rng, gap)
        assert kept(x, x.copy()) == count


@pytest.mark.bounds
def test_radii_keep_what_comes_within_them():
    rng = np.random.default_rng(2)
    for gap in (0.01, 0.1):
        x = apart(rng, gap)
        assert kept(x, x.copy(), radii=1.001 * gap) == PAIRS
        assert kept(x, x.copy(), radii=0.9 * gap) == 0


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
def test_what_single_precision_cannot_hold_is_kept(size):
    x = size * apart(np.random.default_rng(3), 0.1)
    with np.errstate(over="ignore"):
        assert kept(x, x.copy()) == PAIRS
    assert not pliant.triangle_triangle(x, x).hit.any()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named(wrong):
    """It is searched for where the triangles are loaded, and told with the row in all of the input."""
    x0 = np.tile(apart(np.random.default_rng(4), 0.1), (40, 1, 1))
    x1 = x0.copy()
    x1[20_000, 4, 2] = wrong
    with pytest.raises(NonFiniteError, match=r"x1\[20000, 4, 2\]"):
        pliant.triangle_triangle(x0, x1)
    x0[20_001, 1, 0] = wrong
    with pytest.raises(NonFiniteError, match=r"x0\[20001, 1, 0\]"):
        pliant.triangle_triangle(x0, x1)


# ---- elements of a hierarchy


def kept_elements(x0, x1, gap=0.0):
    """How many of these pairs, as elements 2 p and 2 p + 1, no axis keeps apart; x1 is None where they rest."""
    corners = np.arange(6 * len(x0), dtype=np.int32).reshape(-1, 3)
    pairs = np.arange(2 * len(x0), dtype=np.int32).reshape(-1, 2)
    largest = max(abs(x).max() for x in (x0, x1) if x is not None)
    factor = 2.0 ** -np.frexp(largest)[1]
    padding = np.full(2 * len(x0), 0.5 * gap * factor) if gap else np.empty(0)
    x0, x1 = x0.reshape(-1, 3), None if x1 is None else x1.reshape(-1, 3)
    if x1 is None:
        points = scaled(x0, factor)
        count = cull_resting_elements(corners, points, largest * factor, padding, pairs, len(pairs), False)
    else:
        points = scaled_ends(x0, x1, 1.0, factor)
        count = cull_elements(corners, points, largest * factor, padding, NONE_FREE, pairs, len(pairs), False)
    assert len(np.unique(pairs[:count, 0])) == count
    return count


@pytest.mark.bounds
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_elements_that_touch_are_kept(scale, offset):
    rng = np.random.default_rng(5)
    for _ in range(20):
        # Rounded positions may be this far apart.
        assert kept_elements(*grazing(rng, scale, offset), gap=1e-12 * (1.0 + offset) * scale) == PAIRS


@pytest.mark.bounds
def test_elements_within_reach_are_kept():
    rng = np.random.default_rng(6)
    for gap in (0.01, 0.1):
        x = apart(rng, gap)
        assert kept_elements(x, None, 1.001 * gap) == kept_elements(x, x.copy(), 1.001 * gap) == PAIRS
        assert kept_elements(x, None, 0.9 * gap) == kept_elements(x, x.copy(), 0.9 * gap) == 0


def test_most_elements_that_never_touch_are_let_go():
    for motion, left in (("small", 0.08), ("medium", 0.08), ("large", 0.08)):
        x0, x1, _ = random_pairs(2000, motion)
        assert 0 < kept_elements(x0, x1) < left * 2000
        assert kept_elements(x0, None) < 0.2 * 2000  # where axes do not lean
