"""Winding numbers of closed and of open surfaces, against fractions and against plain sums of solid angles."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import insides as truth
from tests.shapes.cube import CUBE, CUBE_FACES
from tests.shapes.solids import grid
from tests.shapes.tables import assert_identical


def solid_angles(faces, x, points):
    """The plain sum over all faces of the formula of van Oosterom and Strackee, by 4 pi."""
    total = np.zeros(len(points))
    for face in faces:
        a, b, c = (x[v] - points for v in face)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        above = np.einsum("ij,ij->i", a, np.cross(b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        total += np.arctan2(above, below)
    return total / (2.0 * np.pi)


def ball(rng, rings=10, segments=14):
    """A bumpy sphere whose faces look outward."""
    u, v = np.meshgrid(
        np.linspace(0, np.pi, rings + 1)[1:-1], np.arange(segments) * 2 * np.pi / segments, indexing="ij"
    )
    x = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(-1, 3)
    x = np.concatenate((x, [[0, 0, 1], [0, 0, -1]])) * (1.0 + 0.2 * rng.random((len(x) + 2, 1)))
    faces, top, bottom = [], len(x) - 2, len(x) - 1
    for j in range(segments):
        k = (j + 1) % segments
        faces += [(top, j, k), (bottom, (rings - 2) * segments + k, (rings - 2) * segments + j)]
        for i in range(rings - 2):
            a, b, c, d = i * segments + j, i * segments + k, (i + 1) * segments + k, (i + 1) * segments + j
            faces += [(a, d, c), (a, c, b)]
    return np.array(faces), x


def test_closed_surfaces_have_the_numbers_of_inside():
    rng = np.random.default_rng(0)
    faces, x = ball(rng)
    both, doubled = np.concatenate((faces, faces + len(x))), np.concatenate((x, x + 0.5))
    points = np.concatenate((rng.uniform(-1.5, 1.8, (300, 3)), x[:20], x[faces[:10]].mean(axis=1)))
    found, inside = pliant.winding(both, doubled, points), pliant.inside(both, doubled, points=points, depth=False)
    assert found.exact
    assert found.open_edges == 0
    assert np.flatnonzero(found.inside).tolist() == inside.vertices.tolist()
    assert found.number[inside.vertices[~inside.on_surface]].tolist() == inside.winding[~inside.on_surface].tolist()
    assert np.isnan(found.number).tolist() == found.on_surface.tolist()
    assert {0.0, 1.0, 2.0} == set(found.number[~found.on_surface].tolist())


@pytest.mark.bounds
def test_open_surfaces_against_the_plain_sum():
    """Balls with holes from one face to half of all faces, and with faces turned round."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        faces, x = ball(rng)
        faces = faces[rng.random(len(faces)) < (1.0 - 1.0 / len(faces), 0.95, 0.5)[seed % 3]]
        if seed > 4:
            turned = rng.random(len(faces)) < 0.2
            faces[turned] = faces[turned][:, ::-1]
        points = rng.uniform(-1.5, 1.5, (200, 3))
        found = pliant.winding(faces, x, points)
        assert not found.exact
        assert found.open_edges > 2
        assert not found.on_surface.any()
        np.testing.assert_allclose(found.number, solid_angles(faces, x, points), atol=1e-12)


def test_a_small_hole_leaves_sides_clear_away_from_it():
    rng = np.random.default_rng(3)
    faces, x = ball(rng, 20, 30)
    points = rng.uniform(-1.5, 1.5, (400, 3))
    whole, holed = pliant.winding(faces, x, points), pliant.winding(np.delete(faces, [40, 200, 500], axis=0), x, points)
    far = np.abs(np.linalg.norm(points, axis=1) - 1.1) > 0.3
    assert far.sum() > 150
    assert (np.abs(holed.number - whole.number)[far] < 0.05).all()
    assert holed.inside[far].tolist() == whole.inside[far].tolist()
    assert 20 < whole.inside[far].sum() < 120


def test_points_on_a_lattice_below_open_edges_of_a_box():
    """Rays along all three axes run through edges: points take another axis, or the plain sum."""
    points = np.stack(np.meshgrid(*[np.arange(-2, 7) / 4.0] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    triangles = truth.exactly(CUBE)
    for count in (1, 2, 7):
        faces = CUBE_FACES[count:]
        found = pliant.winding(faces, CUBE, points)
        on = [any(truth.on_triangle(p, *(triangles[v] for v in f)) for f in faces) for p in truth.exactly(points)]
        assert found.on_surface.tolist() == on
        off = ~found.on_surface
        # In the plane of a missing face the plain sum is unambiguous; on a face it is not, and these are taken out.
        np.testing.assert_allclose(found.number[off], solid_angles(faces, CUBE, points[off]), atol=1e-7)
        assert 20 < sum(on) < 400


def test_exactly_which_side_of_a_face_of_an_open_box():
    """One step of a double decides, as around a closed surface; the plain sum cannot tell the two."""
    faces = CUBE_FACES[~(CUBE[CUBE_FACES] == 0.0).all(axis=1)[:, 0]]  # without the side x = 0
    assert len(faces) == 10
    above, below = np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)
    found = pliant.winding(faces, CUBE, [[0.7, 0.4, above], [0.7, 0.4, below], [0.7, 0.4, 1.0]])
    assert found.number[1] - found.number[0] == pytest.approx(1.0)
    assert found.on_surface.tolist() == [False, False, True]
    assert abs(found.number[1]) > 0.5 > abs(found.number[0])


def test_near_an_open_edge_numbers_go_round_it():
    """At a distance far below what the ray can tell from the edge: the angle around the edge decides."""
    x, faces = np.array([[0.0, -1, 0], [0, 1, 0], [2, 0, 0]]), np.array([[0, 1, 2]])
    angles = np.radians([30, 90, 180, 270, 330])
    points = 1e-10 * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    expected = np.array([-5 / 12, -1 / 4, 0, 1 / 4, 5 / 12])
    found = pliant.winding(faces, x, points)
    np.testing.assert_allclose(np.abs(found.number), np.abs(expected), atol=1e-4)
    assert (np.sign(found.number)[[0, 1, 3, 4]] == np.sign(found.number[0]) * np.array([1, 1, -1, -1])).all()


@pytest.mark.parametrize("size", [1e-300, 1e-80, 1e80, 1e307])
def test_sizes_of_any_magnitude(size):
    rng = np.random.default_rng(1)
    points = rng.uniform(-0.5, 1.5, (50, 3))
    found, scaled = (pliant.winding(CUBE_FACES[2:], s * CUBE, s * points) for s in (1.0, size))
    np.testing.assert_allclose(scaled.number, found.number, atol=1e-9)


def test_one_object_of_a_volume_mesh_and_split_vertices():
    volume, x = grid((2, 2, 2), (0, 0, 0), (1, 1, 1), split=True)
    points = np.array([[0.1, 0.2, 0.3], [-1.0, 0.0, 0.0]])
    assert pliant.winding(volume, x, points).exact
    assert np.abs(pliant.winding(volume, x, points).number).tolist() == [1.0, 0.0]
    soup = CUBE[CUBE_FACES].reshape(-1, 3)
    assert pliant.winding(np.arange(len(soup)).reshape(-1, 3), soup, points).exact


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    faces, x = ball(rng, 16, 20)
    points = rng.uniform(-1.5, 1.5, (5000, 3))
    one, two = (pliant.winding(faces[9:], x, points, threads=n) for n in (1, 2))
    assert_identical(one, two)


def test_nothing_to_look_at():
    for faces, points in ((CUBE_FACES, np.empty((0, 3))), (np.empty((0, 3), int), CUBE)):
        found = pliant.winding(faces, CUBE, points)
        assert found.number.tolist() == [0.0] * len(points)
        assert not found.inside.any()
    assert len(pliant.winding(CUBE_FACES[1:], CUBE, np.empty((0, 3)))) == 0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"points": [[0.0, 1.0]]}, r"points must have shape \(n, 3\)"),
        ({"points": [[0.0, 1.0, np.nan]]}, r"points\[0, 2\] is nan"),
        ({"points": CUBE, "x": CUBE[:4]}, "face 2 refers to vertex 7"),
        ({"points": CUBE, "threads": 0}, "threads=0"),
    ],
)
def test_wrong_input_is_named(given, text):
    with pytest.raises(pliant.MeshError, match=text):
        pliant.winding(**({"mesh": CUBE_FACES, "x": CUBE} | given))


def test_the_table_has_rows_and_columns():
    pytest.importorskip("pandas")
    points = [[0.5, 0.5, 0.4], [1, 1, 1], [3, 3, 3]]
    assert repr(pliant.winding(CUBE_FACES, CUBE, points)) == "Windings(2 of 3 inside, exact)"
    found = pliant.winding(CUBE_FACES[1:], CUBE, points)
    assert repr(found) == "Windings(2 of 3 inside, generalised: 3 open edges)"
    assert found.to_pandas().columns.tolist() == ["number", "on_surface", "inside", "exact"]
