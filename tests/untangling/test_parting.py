"""Objects moved as a whole, where nothing else separates them; and the area, which stays."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.runtime.clocks import Clock
from pliant.scenes.shapes import icosphere
from pliant.untangling import solving
from pliant.untangling.parting import parted
from pliant.untangling.sides import sides_of
from pliant.untangling.window import whole_window
from tests.shapes.untangling import given_of


def soup(count=5, seed=1):
    """Loose triangles around one point: all of them intersect most others."""
    x = np.random.default_rng(seed).normal(size=(count, 3, 3))
    x -= x.mean(axis=1, keepdims=True)
    return np.arange(3 * count).reshape(-1, 3), x.reshape(-1, 3)


def window_of(faces, x, fixed=None):
    given = given_of(faces, x, fixed)
    return whole_window(given.mesh, given.x, given.fixed, lambda: sides_of(given), 1)


def shapes_of(faces, x):
    """Sides of all faces, which no translation changes."""
    return x[faces] - x[faces][:, :1]


def test_objects_are_parted_without_a_change_of_shape():
    faces, x = soup()
    assert len(pliant.check(faces, x)) > 5
    moved = parted(window_of(faces, x), x, np.inf, Clock(60.0))
    assert len(pliant.check(faces, moved)) == 0
    assert np.allclose(shapes_of(faces, moved), shapes_of(faces, x), atol=1e-14)


def test_the_way_out_is_short():
    """Two balls of radius 1 whose centres are 1.7 apart: the least way is about 0.3, along their line."""
    faces, x = icosphere(4)
    both, at = np.concatenate((faces, faces + len(x))), np.concatenate((x, x + (1.7, 0.0, 0.0)))
    moved = parted(window_of(both, at), at, np.inf, Clock(60.0))
    way = np.linalg.norm(moved - at, axis=1)
    assert len(pliant.check(both, moved)) == 0
    assert 0.1 < way.max() < 0.35
    assert np.count_nonzero(way) == len(x)
    assert np.array_equal(parted(window_of(both, at), at, 0.05, Clock(60.0)), at)  # no further than allowed


def test_what_has_a_fixed_vertex_stays_as_a_whole():
    faces, x = icosphere(3)
    both, at = np.concatenate((faces, faces + len(x))), np.concatenate((x, x + (1.7, 0.0, 0.0)))
    fixed = np.array([0])
    moved = parted(window_of(both, at, fixed), at, np.inf, Clock(60.0))
    assert moved[: len(x)].tobytes() == x.tobytes()
    assert (moved[len(x) :] != at[len(x) :]).any()
    everything = parted(window_of(both, at, np.array([0, len(x)])), at, np.inf, Clock(60.0))
    assert everything.tobytes() == at.tobytes()


def test_loose_triangles_end_clean_and_with_their_area():
    """They used to end clean by shrinking: a soup of 100 triangles lost 23% of its area."""
    faces, x = soup(9, 2)
    result = pliant.untangle(faces, x)
    assert result.clean
    assert len(pliant.check(faces, result.positions)) == 0
    assert abs(result.area_change.whole) <= solving.MOST_AREA


def test_what_loses_its_area_does_not_count(monkeypatch):
    """With no way that keeps the area, everything stays as it was given, and is not called clean."""
    faces, x = soup(9, 2)
    monkeypatch.setattr(solving, "MOST_AREA", -1.0)
    result = pliant.untangle(faces, x)
    assert not result.clean
    assert result.positions.tobytes() == x.tobytes()
    assert len(result.remaining) == len(pliant.check(faces, x))
