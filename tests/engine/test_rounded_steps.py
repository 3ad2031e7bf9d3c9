"""Where a safe step ends once it is rounded: what rests stays, and only what would meet is drawn back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant
from tests.shapes.options import grouped


def sheet(n, size, z, rng=None):
    """(faces, positions) of n by n vertices on a square around the origin."""
    first = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([first[:, None] + (0, 1, n), first[:, None] + (1, n + 1, n)])
    at = np.linspace(-0.5 * size, 0.5 * size, n)
    x = np.stack([*np.meshgrid(at, at), np.full((n, n), z)], axis=2).reshape(-1, 3)
    if rng is not None:
        x += rng.normal(scale=0.02 * size / n, size=x.shape)
    return faces, x


def joined(*parts):
    """One mesh of several (faces, positions), and which vertices are of which part."""
    first = np.cumsum([0, *(len(x) for _, x in parts)])
    faces = np.concatenate([f + start for (f, _), start in zip(parts, first)])
    return faces, np.concatenate([x for _, x in parts]), [slice(a, b) for a, b in pairwise(first)]


def pairs_an_ulp_apart(count):
    """Triangles above each other by one ulp, on heights that make (1 - s) z + s z round up and down."""
    rng, parts = np.random.default_rng(3), []
    for i in range(count):
        corners = np.array([(0, 0, 0), (0.01, 0, 0), (0, 0.01, 0)]) + (i + 20, 0, 0)
        corners[:, 2] = rng.uniform(0.5, 0.9)
        above = corners.copy()
        above[:, 2] = np.nextafter(corners[:, 2], 1.0)
        parts += [(np.array([(0, 1, 2)]), corners), (np.array([(0, 1, 2)]), above)]
    return parts


def ball_through_floor():
    """A vertex that goes through a triangle at t = 0.5."""
    return (np.array([(0, 1, 2)]), np.array([(-1, -1, 0), (1, -1, 0), (0, 1, 0.0)])), (
        np.array([(0, 1, 2)]), np.array([(0, 0, 1), (0.1, 0, 1.5), (0, 0.1, 1.5)])
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"min_distance": 1e-3, "initial": "relative"}], ids=str)
def test_a_floor_rests_to_the_bit_under_a_falling_sheet(options):
    """232 of 900 coordinates of a floor had moved by an ulp: (1 - s) z + s z is rounded where nothing moves."""
    rng = np.random.default_rng(1)
    faces, x, (floor, cloth) = joined(sheet(17, 3.0, -0.3, rng), sheet(7, 1.0, 0.05, rng))
    at_rest, reached = x[floor].copy(), 0
    assert at_rest.size > 850
    for _ in range(1000):
        goal = x.copy()
        goal[cloth] += (1e-3, 0.0, -2e-3)
        step = pliant.safe_step(faces, x, goal, threads=1, **options)
        assert (step.positions[floor] == at_rest).all()
        reached += step.contact is not None
        x = step.positions.copy()
        if step.contact is not None:  # away from what it meets, as a simulator would do
            x[cloth, 2] += 1e-2
    assert reached > 20
    assert len(pliant.dcd(faces, x)) == 0


@pytest.mark.parametrize(
    "options", [{}, {"solver": "advance"}, {"motion": "accelerated"}, {"motion": "screw"}], ids=str
)
def test_zeros_keep_their_sign(options):
    (_, ground), (_, ball) = ball_through_floor()
    x0, x1 = np.concatenate((ground, ball)), np.concatenate((ground, ball))
    x0[:3, 2] = -0.0
    x1[3:, 2] -= 2.0
    faces, rests = [(0, 1, 2), (3, 4, 5)], x0 == x1
    if options.get("motion") == "accelerated":
        options = {"motion": pliant.Accelerated(np.where(rests, 0.0, 0.25))}
    if options.get("motion") == "screw":
        objects = np.repeat([0, 1], 3)
        screw = pliant.Screw([(0, 0, 0), (0, 0, 1)], (0, 0, 1), [0, 0.1], [0, -2], objects=objects)
        step, rests = pliant.safe_step(faces, x0, motion=screw), np.repeat([True, False], 9).reshape(6, 3)
    else:
        step = pliant.safe_step(faces, x0, x1, **grouped(**options))
    assert 0.2 < step.t < 0.8
    assert (step.positions == x0)[rests].all()
    assert (np.signbit(step.positions) == np.signbit(x0))[rests].all()
    assert (step.positions != x0)[3:, 2].all()


@pytest.mark.parametrize("options", [{}, {"culling": "cones"}, {"culling": "brute", "filters": ()}], ids=str)
def test_resting_pairs_an_ulp_apart_stop_nobody(options):
    """Every try failed at one of ten such pairs: positions were x0 although t = 0.5, step after step."""
    faces, x0, parts = joined(*ball_through_floor(), *pairs_an_ulp_apart(10))
    x1 = x0.copy()
    x1[parts[1], 2] -= 2.0
    step = pliant.safe_step(faces, x0, x1, **grouped(**options))
    assert step.t == pytest.approx(0.5, abs=1e-12)
    assert len(pliant.ccd(faces, x0, step.positions)) == 0
    np.testing.assert_array_equal(step.positions[3], [0, 0, step.positions[3, 2]])
    assert 0 < step.positions[3, 2] < 1e-9
    np.testing.assert_array_equal(step.positions[6:], x0[6:])


@pytest.mark.parametrize("threads", [1, 2])
def test_only_what_meets_is_drawn_back(threads):
    """Pairs an ulp apart that rise together to where numbers are coarser: they stay, and everybody else moves on."""
    faces, x0, parts = joined(*ball_through_floor(), *pairs_an_ulp_apart(10), sheet(6, 1.0, 7.0))
    x1 = x0.copy()
    x1[parts[1], 2] -= 2.0
    x1[6:66, 2] += 64.0
    x1[parts[-1]] += (0.1, 0.2, 0.3)
    step = pliant.safe_step(faces, x0, x1, threads=threads)
    assert step.t == pliant.ccd(faces, x0, x1).toi.min() == pytest.approx(0.5)
    assert len(pliant.ccd(faces, x0, step.positions)) == 0
    np.testing.assert_array_equal(step.positions[6:66], x0[6:66])
    others = np.r_[0:6, parts[-1]]
    assert np.abs(step.positions - x0 - step.t * (x1 - x0))[others].max() < 1e-9
    assert step.positions[3, 2] > 0


def test_what_is_drawn_back_is_in_the_way_of_others():
    """A stack that falls together, two layers of it an ulp apart: what comes down on those that stay has to stay."""
    low, high = pairs_an_ulp_apart(1)
    stack = [low, high, *((high[0], high[1] + (0, 0, 0.01 * k)) for k in range(1, 5))]
    faces, x0, parts = joined(*ball_through_floor(), *stack, sheet(6, 1.0, 7.0))
    x1 = x0.copy()
    x1[parts[1], 2] -= 2.0
    x1[6:24, 2] -= 64.0
    x1[parts[-1]] += (0.1, 0.2, 0.3)
    step = pliant.safe_step(faces, x0, x1)
    assert step.t == pytest.approx(0.5)
    assert len(pliant.ccd(faces, x0, step.positions)) == 0
    np.testing.assert_array_equal(step.positions[parts[2]], x0[parts[2]])
    tops = [step.positions[part, 2] for part in parts[2:8]]
    assert all((below < above).all() for below, above in pairwise(tops))
    assert np.abs(step.positions - x0 - step.t * (x1 - x0))[parts[-1]].max() < 1e-9


def thin_gaps(count, rng):
    """(x0, x1), (k, 6, 3): pairs of triangles above each other, askew, by up to 100 u, that move in step and never
    meet, far from each other. Of so many some do, and are left out."""
    normal = rng.standard_normal((count, 1, 3))
    normal /= np.linalg.norm(normal, axis=2)[..., None]
    x0 = 0.01 * rng.standard_normal((count, 6, 3))
    x0 -= (x0 * normal).sum(axis=2)[..., None] * normal
    x0 += np.stack((20 + np.arange(count) % 20, 20 + np.arange(count) // 20, np.zeros(count)), axis=1)[:, None] / 10
    x0 += rng.uniform(0.0, 0.02, (count, 1, 3))
    x0[:, 3:] += 100 * rng.random((count, 1, 1)) ** 3 * 2.0**-53 * normal
    x1 = x0 + rng.uniform(-0.01, 0.01, (count, 1, 3))
    contacts = pliant.ccd(np.arange(6 * count).reshape(-1, 3), x0.reshape(-1, 3), x1.reshape(-1, 3))
    free = np.setdiff1d(np.arange(count), contacts.vertices // 6)
    return x0[free], x1[free]


@pytest.mark.parametrize("options", [{}, {"filters": ("triangle",)}, {"filters": ()}], ids=str)
def test_what_filters_of_elements_cull_is_free_once_rounded(options):
    """Pairs that move in step, a few last bits apart. Filters of features are told how far rounding moves them, and
    those of elements have it in their error bound: what they cull, up to a horizon, is not tested again."""
    thin0, thin1 = thin_gaps(400, np.random.default_rng(5))
    faces, x0, (_, ball, thin) = joined(
        *ball_through_floor(), (np.arange(thin0.size // 3).reshape(-1, 3), thin0.reshape(-1, 3))
    )
    x1 = x0.copy()
    x1[ball, 2] -= 2.0
    x1[thin] = thin1.reshape(-1, 3)
    assert len(x0) > 1000
    assert len(pliant.ccd(faces[2:] - 6, x0[thin], (0.5 * x0 + 0.5 * x1)[thin])) > 0  # rounded, some of them meet
    step = pliant.safe_step(faces, x0, x1, **grouped(**options))
    assert step.t == pytest.approx(0.5)
    assert len(pliant.ccd(faces, x0, step.positions)) == 0
    assert np.abs(step.positions - x0 - step.t * (x1 - x0)).max() < 1e-2


def test_cells_that_meet_once_rounded():
    """The same for a volume mesh, whose pairs come from cells."""
    low = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1)]) * 0.01 + (5, 0, 0.7)
    high = low + (0, 0, 0.02)
    high[:3, 2] = np.nextafter(low[3, 2], 1)
    ball = np.array([(0, 0, 1), (0.1, 0, 1.5), (0, 0.1, 1.5), (0, 0, 1.6)])
    floor = np.array([(1, -1, 0), (-1, -1, 0), (0, 1, 0), (0, 0, -1)])
    x0 = np.concatenate((floor, ball, low, high))
    x1 = x0.copy()
    x1[4:8, 2] -= 2.0
    x1[8:, 2] += 64.0
    cells = {"tetra": np.arange(16).reshape(4, 4)}
    step = pliant.safe_step(cells, x0, x1)
    assert step.t == pytest.approx(0.5)
    assert len(pliant.ccd(cells, x0, step.positions)) == 0
    np.testing.assert_array_equal(step.positions[8:], x0[8:])
    assert 0 < step.positions[4, 2] < 1e-9


def test_positions_are_between_the_ends():
    scene = pliant.scenes.load("crumpled_sheet", triangles=400, frames=2)
    step = pliant.safe_step(scene.faces, scene.x0, scene.x1)
    assert 0 < step.t < 1
    assert (step.positions >= np.minimum(scene.x0, scene.x1)).all()
    assert (step.positions <= np.maximum(scene.x0, scene.x1)).all()
