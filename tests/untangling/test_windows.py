"""Windows know what intersects in them, and ways back are shared by what meets."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import icosphere
from pliant.untangling.sides import sides_of
from pliant.untangling.window import part_around, windows_of
from tests.shapes.untangling import given_of


def balls(*shifts):
    """Faces and positions of balls of radius 1, moved."""
    faces, x = icosphere(8)
    count = range(len(shifts))
    return np.concatenate([faces + k * len(x) for k in count]), np.concatenate([x + shift for shift in shifts])


def test_pairs_of_windows_are_those_that_a_query_finds():
    faces, x = balls((0, 0, 0), (1.8, 0.03, 0.02), (9, 0, 0), (9.2, 1.75, 0.1))
    fixed = np.arange(len(x)) % 7 == 0
    given = given_of(faces, x, fixed)
    found = pliant.check(faces, x).faces
    found = found[~fixed[faces[found]].all(axis=(1, 2))]
    windows = windows_of(given.mesh, x, fixed, lambda: sides_of(given), found, 1)
    assert len(windows) == 2
    for window in windows:
        asked = window.movable(window.detector.intersections(x[window.ids]).faces)
        assert window.given_pairs is not None
        assert sorted(map(tuple, np.sort(window.given_pairs).tolist())) == sorted(map(tuple, np.sort(asked).tolist()))
        assert window.count(window.x) == len(asked) > 0
        assert window.sides.solid.all()  # the balls are closed, and so are both of a window


@pytest.mark.parametrize("near", [0.75, np.inf])
def test_part_of_a_window_has_all_that_is_near_or_all(near):
    faces, x = balls((0, 0, 0), (1.8, 0.03, 0.02))
    given = given_of(faces, x)
    found = pliant.check(faces, x).faces
    window = windows_of(given.mesh, x, given.fixed, lambda: sides_of(given), found, 1)[0]
    mask = np.zeros(len(window.x), bool)
    mask[window.mesh.faces[found[0, 0] % len(window.mesh.faces)]] = True
    part, rows, kept = part_around(window, window.x, mask, near)
    assert mask[rows].sum() == mask.sum()
    assert len(kept) == len(part.mesh.faces)
    assert (len(kept) == len(window.mesh.faces)) == (near == np.inf)


@pytest.mark.parametrize("depth", [0.1, 0.3])
def test_what_is_pressed_into_each_other_shares_the_way(depth):
    faces, x = balls((0, 0, 0), (2 - depth, 0.03, 0.02))
    done = pliant.untangle(faces, x)
    moved = np.linalg.norm(done.displacement, axis=1).reshape(2, -1).max(axis=1)
    assert done.clean
    assert moved.max() < 1.5 * moved.min()
    deepest = max(pliant.inside(faces[: len(faces) // 2], x, points=x[len(x) // 2 :]).depth)
    assert 0.5 * deepest <= moved.max() < 1.0 * deepest  # half of it is the least
