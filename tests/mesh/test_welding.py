from __future__ import annotations

import numpy as np
import pytest

from pliant.mesh.welding import first_at_place, weld

pytestmark = pytest.mark.unit


def test_the_first_vertex_of_a_place_stands_for_all():
    x = np.array([[1.0, 0, 0], [0, 0, 0], [1.0, 0, 0], [0, 0, 0], [2.0, 0, 0]])
    assert first_at_place(x).tolist() == [0, 1, 0, 1, 4]


def test_zero_has_no_sign_and_neighbouring_numbers_are_apart():
    x = np.array([[0.0, 1.0, 0.0], [-0.0, 1.0, -0.0], [0.0, np.nextafter(1.0, 2.0), 0.0]])
    assert first_at_place(x).tolist() == [0, 0, 2]


def test_labels_keep_vertices_apart():
    x = np.zeros((4, 3))
    assert first_at_place(x, np.array([7, -1, 7, -1])).tolist() == [0, 1, 0, 1]


def test_against_all_pairs():
    random = np.random.default_rng(5)
    x = random.integers(0, 3, (60, 3)).astype(float)
    expected = [min(j for j in range(60) if (x[i] == x[j]).all()) for i in range(60)]
    assert first_at_place(x).tolist() == expected
    assert len(set(expected)) < 50


def test_welded_faces_keep_their_number_and_order():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [9, 9, 9], [0, 0, 0]])
    faces = np.array([[0, 1, 2], [3, 5, 4], [3, 1, 4]], np.int32)
    welded = weld(faces, x)
    assert welded.tolist() == [[0, 1, 2], [1, 5, 2], [1, 1, 2]]
    assert welded.dtype == np.int32


def test_vertices_of_no_face_stand_for_nobody():
    x = np.array([[0.0, 0, 0], [0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert weld(np.array([[1, 2, 3]]), x).tolist() == [[1, 2, 3]]


def test_nothing_to_weld():
    assert first_at_place(np.empty((0, 3))).tolist() == []
    assert weld(np.empty((0, 3), np.int32), np.empty((0, 3))).shape == (0, 3)
