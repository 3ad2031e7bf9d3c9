"""Points inside of closed surfaces, against fractions, and what users can ask for."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.arrays import OpenSurfaceError
from tests.reference import insides as truth
from tests.shapes.cube import CUBE, CUBE_FACES
from tests.shapes.solids import grid
from tests.shapes.tables import assert_identical

TETRA_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def assert_true(faces, x, points, **options):
    found = pliant.inside(faces, x, points=points, depth=False, **options)
    expected = truth.enclosed(np.asarray(faces), x, points)
    assert found.vertices.tolist() == sorted(expected)
    on = [expected[v] is None for v in found.vertices.tolist()]
    assert found.on_surface.tolist() == on
    assert found.winding.tolist() == [expected[v] or 0 for v in found.vertices.tolist()]
    return found


def cubes_on_a_lattice(rng, count=3):
    """Closed surfaces whose corners are small integers: rays through edges and corners, and coplanar faces, abound."""
    faces, x = [], []
    for i in range(count):
        corners = CUBE * rng.integers(1, 4, 3) + rng.integers(0, 3, 3)
        turned = CUBE_FACES[:, ::-1] if rng.random() < 0.3 else CUBE_FACES
        faces.append(turned + 8 * i)
        x.append(corners)
    return np.concatenate(faces), np.concatenate(x)


@pytest.mark.bounds
@pytest.mark.unit
def test_boxes_on_a_lattice_with_points_on_it():
    hits = on = count = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        faces, x = cubes_on_a_lattice(rng)
        points = rng.integers(0, 9, (40, 3)) / 2.0
        found = assert_true(faces, x, points)
        hits, on, count = hits + len(found), on + found.on_surface.sum(), count + len(points)
    assert 0.2 < hits / count < 0.8
    assert on > 20


def test_random_closed_surfaces_that_intersect_themselves():
    """Any tetrahedra with common vertices: flat ones, doubled ones, of both orientations."""
    hits = count = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = rng.integers(-4, 5, (9, 3)) * (1.0 if seed % 2 else 0.1)
        cells = rng.integers(0, 9, (6, 4))  # corners may repeat: faces without area
        faces = cells[:, TETRA_FACES].reshape(-1, 3)
        points = np.concatenate((rng.uniform(-0.3, 0.3, (20, 3)), x, (x[:5] + x[3:8]) / 2, (x[:6] + x[3:]) / 3))
        points[:20] *= 10.0 if seed % 2 else 1.0
        hits, count = hits + len(assert_true(faces, x, points)), count + len(points)
    assert 0.2 < hits / count < 0.9


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-80, 1e80, 1e300])
def test_sizes_of_any_magnitude(size):
    rng = np.random.default_rng(4)
    faces, x = cubes_on_a_lattice(rng, 2)
    points = rng.integers(0, 11, (30, 3)) / 2.0
    assert len(assert_true(faces, x * size, points * size)) > 5


def test_a_point_one_step_of_a_double_off_the_surface():
    top = np.nextafter(1.0, 2.0)
    points = [(0.25, 0.5, 1.0), (0.25, 0.5, top), (0.25, 0.5, np.nextafter(1.0, 0.0)), (1.0, 1.0, 1.0), (top, 1.0, 1.0)]
    found = assert_true(CUBE_FACES, CUBE, np.array(points))
    assert found.vertices.tolist() == [0, 2, 3]
    assert found.on_surface.tolist() == [True, False, True]


@pytest.mark.parametrize("turned", [1, -1])
def test_either_way_round_counts_as_inside(turned):
    found = pliant.inside(CUBE_FACES[:, ::turned], CUBE, points=[[0.5, 0.4, 0.3], [2, 0, 0]])
    assert found.vertices.tolist() == [0]
    assert abs(found.winding[0]) == 1
    assert found.depth[0] == pytest.approx(0.3)
    np.testing.assert_allclose(found.direction[0], (0, 0, -1), atol=1e-12)


def test_a_hollow_is_outside_and_an_overlap_is_inside():
    hollow = np.concatenate((CUBE_FACES, CUBE_FACES[:, ::-1] + 8))
    x = np.concatenate((3 * CUBE, CUBE + 1))
    points = [[0.5, 0.5, 0.5], [1.5, 1.5, 1.5]]
    assert pliant.inside(hollow, x, points=points).vertices.tolist() == [0]
    overlap = np.concatenate((CUBE_FACES, CUBE_FACES + 8))
    found = pliant.inside(overlap, x, points=points)
    assert np.abs(found.winding).tolist() == [1, 2]


def test_split_vertices_are_closed_all_the_same():
    soup = CUBE[CUBE_FACES].reshape(-1, 3)
    faces = np.arange(len(soup)).reshape(-1, 3)
    assert pliant.inside(faces, soup, points=[[0.5, 0.4, 0.3]]).vertices.tolist() == [0]


def test_an_open_surface_is_an_error_that_says_where():
    two = np.concatenate((CUBE_FACES[1:], CUBE_FACES[:-2] + 8))
    x = np.concatenate((CUBE, CUBE + 10))
    with pytest.raises(OpenSurfaceError, match="not closed") as error:
        pliant.inside(two, x, points=CUBE)
    assert "7 edges on its boundary, 3 in the part with face 4, 4 in the part with face 11" in str(error.value)
    assert "from vertex 0 to vertex 1 at (0, 0, 0.5)" in str(error.value)


def test_a_face_that_is_turned_is_an_error_that_says_where():
    faces = CUBE_FACES.copy()
    faces[4] = faces[4][::-1]
    with pytest.raises(OpenSurfaceError, match=r"turned the same way round.*3 edges along which faces disagree"):
        pliant.inside(faces, CUBE, points=CUBE)


def test_three_faces_at_an_edge_are_open_and_four_may_be_closed():
    fin = np.concatenate((CUBE_FACES, [[0, 1, 8]]))
    x = np.concatenate((CUBE, [[-1, -1, 0.5]]))
    with pytest.raises(OpenSurfaceError, match="not closed"):
        pliant.inside(fin, x, points=CUBE)
    both = np.concatenate((fin, [[1, 0, 8]]))  # a fin of two faces, back to back: it encloses nothing
    assert_true(both, x, np.array([[-0.5, -0.5, 0.5], [-0.5, -0.4, 0.5], [0.5, 0.5, 0.25]]))


def test_of_a_volume_mesh_the_surface_counts():
    volume, x = grid((2, 2, 2), (0, 0, 0), (1, 1, 1), split=True)
    points = np.array([[0.1, 0.2, 0.3], [-1.0, 0.0, 0.0], x[volume["tetra"][0]].mean(axis=0)])
    found = pliant.inside(volume, x, points=points)
    assert found.vertices.tolist() == [0, 2]
    shells = volume | {"triangle": [[0, 1, 2]]}
    assert pliant.inside(shells, x, points=points).vertices.tolist() == [0, 2]


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    faces, x = cubes_on_a_lattice(rng, 5)
    points = rng.uniform(0, 6, (5000, 3))
    one, two = (pliant.inside(faces, x, points=points, threads=n) for n in (1, 2))
    assert_identical(one, two)
    assert 500 < len(one) < 4500


def test_nothing_to_look_at():
    for faces, points in ((CUBE_FACES, np.empty((0, 3))), (np.empty((0, 3), int), CUBE)):
        found = pliant.inside(faces, CUBE, points=points)
        assert len(found) == 0
        assert repr(found) == "InsideSurface(none)"
        assert found.direction.shape == (0, 3)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"points": [[0.0, 1.0]]}, r"points must have shape \(n, 3\)"),
        ({"points": [[0.0, 1.0, np.inf]]}, r"points\[0, 2\] is inf"),
        ({"points": CUBE, "pairs": "inter"}, "the mesh is one object then"),
        ({"points": CUBE, "x": CUBE[:4]}, "face 2 refers to vertex 7"),
    ],
)
def test_wrong_input_is_named(given, text):
    with pytest.raises(pliant.MeshError, match=text):
        pliant.inside(**({"mesh": CUBE_FACES, "x": CUBE} | given))


def test_the_table_has_rows_and_columns():
    pytest.importorskip("pandas")
    found = pliant.inside(CUBE_FACES, CUBE, points=[[0.5, 0.5, 0.4], [1, 1, 1], [3, 3, 3]])
    assert repr(found) == "InsideSurface(1 points inside, 1 on the surface, deepest 0.4)"
    table = found.to_pandas()
    assert table["vertex"].tolist() == [0, 1]
    assert table["on_surface"].tolist() == [False, True]
    assert "points inside" in found._repr_html_()
    assert len(found[found.on_surface]) == 1


def test_the_way_out_is_outward_far_from_the_origin():
    """Which way a surface is turned was told by volumes from the origin, of which far away only rounding is left."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        faces = CUBE_FACES
        x = CUBE + 0.01 * rng.random(CUBE.shape) + rng.uniform(-6e6, 6e6, 3)
        found = pliant.inside(faces, x, points=x[faces].mean(axis=1), depth=True)
        outward = found.direction * (x[faces].mean(axis=1)[found.vertices] - x.mean(axis=0))
        assert (outward.sum(axis=1) > 0.0).all()


@pytest.mark.parametrize("size", [2.0**-1070, 2.0**1000])
def test_depths_of_any_magnitude(size):
    found = pliant.inside(CUBE_FACES, CUBE * size, points=[[0.25 * size, 0.5 * size, 0.5 * size]], depth=True)
    assert found.depth.tolist() == [0.25 * size]
    np.testing.assert_allclose(found.direction, [[-1.0, 0.0, 0.0]])
