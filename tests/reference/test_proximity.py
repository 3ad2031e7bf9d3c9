"""Brute force against its own definition, in Fractions, and against meshes whose distances are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.reference import distances, proximity

TWO_FACES = [(0, 1, 2), (3, 4, 5)]
OVER = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 1), (2, 1, 1), (1, 2, 1)], dtype=np.float64)


def test_one_face_over_another():
    found = proximity.near(TWO_FACES, OVER, 1.0)
    assert found.elements[found.kind == 0].tolist() == [[3, 0], [4, 0], [5, 0]]
    assert found.borderline.all()
    assert (found.distance == 1).all()
    assert len(proximity.near(TWO_FACES, OVER, 0.999).kind) == 0
    # The upper corners are near the lower sides as well, but not nearer.
    assert (proximity.near(TWO_FACES, OVER, 1.5).kind == 1).any()


@pytest.mark.parametrize("seed", range(4))
def test_every_pair_in_fractions(seed):
    rng = np.random.default_rng(seed)
    faces, x = rng.integers(0, 12, (9, 3)), rng.integers(-3, 4, (15, 3)).astype(np.float64)
    edges, points, within = rng.integers(0, 14, (3, 2)), [14], 1.5
    found = proximity.near(faces, x, within, edges, points)
    exact = distances.exactly(x)
    segments = proximity.edges_of(faces, edges).tolist()
    vertices = sorted({*faces.ravel().tolist(), *np.ravel(segments).tolist(), *points})
    expected = {}
    for v in vertices:
        for i, face in enumerate(faces.tolist()):
            if v not in face:
                expected[0, v, i] = distances.distance_squared(distances.VERTEX_FACE, exact[[v, *face]])
    for (i, a), (j, b) in combinations(enumerate(segments), 2):
        if not set(a) & set(b):
            expected[1, i, j] = distances.distance_squared(distances.EDGE_EDGE, exact[[*a, *b]])
    close = {key: float(value) ** 0.5 for key, value in expected.items() if value <= within**2}
    keys = [(int(k), int(a), int(b)) for k, (a, b) in zip(found.kind, found.elements)]
    assert keys == sorted(close)
    np.testing.assert_allclose(found.distance, [close[key] for key in keys], rtol=0, atol=1e-14)
    assert 0.1 < len(close) / len(expected) < 0.8


def test_points_and_loose_edges_take_part():
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 0.1), (5, 0, 0), (5, 1, 0)])
    assert len(proximity.near([(0, 1, 2)], x, 0.5).kind) == 0
    assert proximity.near([(0, 1, 2)], x, 0.5, points=[3]).elements.tolist() == [[3, 0]]
    found = proximity.near([], x, 4.0, edges=[(4, 5), (1, 0)])
    assert found.vertices.tolist() == [[0, 1, 4, 5]]
    assert found.distance.tolist() == [4.0]


def test_distance_between_surfaces():
    face = [(0, 1, 2)]
    assert proximity.distance_between(face, OVER[:3], face, OVER[3:]) == 1.0
    assert proximity.distance_between(face, OVER[:3], face, OVER[3:] - (0, 0, 1)) == 0.0
    # An edge through the face: no vertex and no edge is near.
    through = np.array([(1, 1, -1), (1, 1, 1), (9, 9, 0)], dtype=np.float64)
    assert proximity.distance_between(face, OVER[:3], face, through) == 0.0
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.standard_normal((2, 3, 3))
        b += rng.standard_normal(3) * 2
        expected = distances.triangle_distance(np.array([np.concatenate([a, b])]))[0]
        np.testing.assert_allclose(proximity.distance_between(face, a, face, b), expected, rtol=0, atol=1e-14)
