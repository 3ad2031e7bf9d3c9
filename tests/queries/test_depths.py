"""Vertices inside of objects are pushed out the way that is known, and as plain loops say."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import insides as truth
from tests.reference.volumes import UNIT_CELLS
from tests.shapes.solids import ball, both, grid, pairs_of


def assert_pushed(found, x, rows, direction, depth):
    assert rows.sum() > 3
    np.testing.assert_allclose(found.direction[rows], np.broadcast_to(direction, (rows.sum(), 3)), atol=1e-9)
    np.testing.assert_allclose(found.depth[rows], depth(x[found.vertices[rows]]), atol=1e-9)


@pytest.mark.parametrize("split", [False, True])
def test_a_cube_pushed_into_a_bigger_one_goes_back_up(split):
    """Also where a side wall is closer than the top, and with several layers of vertices below the top."""
    big = grid((4, 4, 4), (-1, -1, -2), (1, 1, 0), split)
    for layers in (5, 25):
        small = grid((4, 4, layers), (-0.97, -0.4, -0.2), (0.03, 0.6, 0.8), split)
        blocks, x = both(small, big)
        found = pliant.inside(blocks, x)
        mine = found.vertices < len(small[1])
        assert_pushed(found, x, mine, (0, 0, 1), lambda p: -p[:, 2])
        assert found.depth[mine].max() == pytest.approx(0.2)
        assert len(set(found.vertices[mine].tolist())) == 25 * (2 if layers == 5 else 6)


def test_a_wall_in_common_is_no_way_out():
    """Side walls in one plane: edges run along them, vertices are on them."""
    blocks, x = both(grid((2, 2, 10), (-1, -1, -0.2), (1, 1, 0.8)), grid((3, 3, 3), (-1, -1, -2), (1, 1, 0)))
    found = pliant.inside(blocks, x)
    assert_pushed(found, x, found.vertices < 99, (0, 0, 1), lambda p: -p[:, 2])


@pytest.mark.parametrize("split", [False, True])
def test_a_thin_plate_pierced_past_its_middle_lets_go_backwards(split):
    plate = grid((8, 8, 1), (-2, -2, -0.3), (2, 2, 0), split)
    block = grid((3, 3, 30), (-0.5, -0.5, -0.25), (0.6, 0.6, 1.25), split)
    blocks, x = both(block, plate)
    found = pliant.inside(blocks, x)
    mine = found.vertices < len(block[1])
    assert_pushed(found, x, mine, (0, 0, 1), lambda p: -p[:, 2])
    assert found.depth[mine].max() == pytest.approx(0.25)  # the other side is 0.05 away


def test_mirrored_cells_have_the_same_way_out():
    big, small = grid((3, 3, 3), (-1, -1, -2), (1, 1, 0)), grid((3, 3, 6), (-0.4, -0.4, -0.3), (0.4, 0.5, 0.6))
    flipped = [4, 5, 6, 7, 0, 1, 2, 3]
    found = pliant.inside(*both(small, big))
    mirrored = pliant.inside(*both(small, ({"hexahedron": big[0]["hexahedron"][:, flipped]}, big[1])))
    assert len(found) > 20
    assert pairs_of(found) == pairs_of(mirrored)
    np.testing.assert_allclose(mirrored.depth, found.depth, atol=1e-12)
    np.testing.assert_allclose(mirrored.direction, found.direction, atol=1e-12)


def test_balls_go_apart():
    a, b = ball(6, 1.0, split=True), ball(6, 1.0, (1.4, 0.0, 0.0), split=True)
    blocks, x = both(a, b)
    found = pliant.inside(blocks, x, pairs="inter")
    mine = found.vertices < len(a[1])
    assert 10 < mine.sum() < len(found) - 10
    for rows, sign in ((mine, -1), (~mine, 1)):
        assert (sign * found.direction[rows, 0] > 0.6).all()
        assert found.depth[rows].max() == pytest.approx(0.6, abs=0.1)


def test_a_ball_that_is_inside_as_a_whole_leaves_by_the_closest_point():
    small, big = ball(2, 0.3, (0.4, 0.1, 0.0)), ball(6, 1.0)
    blocks, x = both(small, big)
    found = pliant.inside(blocks, x, objects=np.repeat((0, 1), (len(small[1]), len(big[1]))))
    mine = found.vertices < len(small[1])
    assert set(found.vertices[mine].tolist()) == set(range(len(small[1])))
    at = x[found.vertices[mine]]
    distance = np.linalg.norm(at, axis=1)
    off_centre = distance > 0.15
    assert (np.abs(found.depth[mine] - (1.0 - distance)) < 0.1).all()
    assert (np.einsum("ij,ij->i", at, found.direction[mine])[off_centre] > 0.85 * distance[off_centre]).all()


def folded_bar():
    """Along x at z from 0 to 1, up, and back at z from 0.8 to 1.8: it passes through itself by 0.2."""
    stations = [((x, 0.5), (0, 1)) for x in range(11)] + [((12, 0.9), (-1, 0))] + [
        ((x, 1.3), (0, -1)) for x in range(10, -1, -1)
    ]  # fmt: skip
    x = []
    for (at, height), (across, up) in stations:
        for side, y in ((-0.5, 0), (-0.5, 1), (0.5, 1), (0.5, 0)):
            x.append((at + side * across, y, height + side * up))
    cells = [[*range(4 * i, 4 * i + 4), *range(4 * i + 4, 4 * i + 8)] for i in range(len(stations) - 1)]
    return {"hexahedron": np.array(cells)}, np.array(x, float)


def test_a_bar_that_is_folded_into_itself_does_not_leave_by_its_own_side():
    blocks, x = folded_bar()
    found = pliant.inside(blocks, x, pairs="self")
    away = x[found.vertices, 0] < 8
    assert_pushed(found, x, away & (found.vertices > 48), (0, 0, 1), lambda p: 1 - p[:, 2])
    assert_pushed(found, x, away & (found.vertices < 44), (0, 0, -1), lambda p: p[:, 2] - 0.8)


def test_no_surface_to_leave_by():
    """A tetrahedron and the four that its inside is divided into: every face has two solids."""
    x = np.array([*UNIT_CELLS["tetra"], (0.2, 0.3, 0.1), (0.1, 0.1, 0.1), (0.2, 0.2, 0.0), (0.0, 0.0, 0.5)])
    cells = [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 3, 4], [0, 2, 3, 4], [1, 2, 3, 4]]
    found = pliant.inside({"tetra": cells, "triangle": [[5, 6, 7]]}, x)
    assert set(found.vertices) == {4, 5, 6, 7}
    assert np.isnan(found.depth).all()
    assert np.isnan(found.direction).all()
    assert repr(found).startswith("InsideCells(4 vertices in ")
    assert "deepest" not in repr(found)


@pytest.mark.bounds
@pytest.mark.parametrize("split", [False, True])
def test_depths_are_those_of_plain_loops(split):
    """Bodies with bumps, some of them past each other's middle, one inside of another, one in itself."""
    borders = whole = own = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        parts = both(
            grid((3, 3, 3), (0, 0, 0), (3, 3, 3), split), grid((2, 2, 3), (1.7, 0.4, 0.9), (4, 2.2, 2.3), split)
        )
        parts = both(parts, grid((1, 1, 1), (0.5, 1.1, 1.1), (0.9, 1.6, 1.7)))
        blocks, x = parts
        x = x + rng.uniform(-0.13, 0.13, x.shape)
        x[0] = x[21] + 0.2  # a corner folded into its own box
        volume = pliant.VolumeMesh(blocks)
        found = pliant.inside(volume, x)
        label = volume.components
        expected = truth.depths(blocks, x, label.tolist(), pairs_of(found))
        for v, cell, depth, direction in zip(found.vertices.tolist(), found.cells, found.depth, found.direction):
            deep, r = expected[v, label[volume.corners[cell, 0]]]
            assert depth == pytest.approx(deep, abs=1e-8)
            np.testing.assert_allclose(direction, r, atol=1e-7)
        borders += len(found)
        own += (label[found.vertices] == label[volume.corners[found.cells, 0]]).sum()
        whole += (found.vertices >= len(x) - 8).sum()
    assert borders > 60
    assert whole >= 24
    assert own >= 3


def test_depth_scales_with_the_scene():
    blocks, x = both(grid((3, 3, 3), (0, 0, 0), (3, 3, 3)), grid((2, 2, 2), (1.7, 0.4, 0.9), (4, 2.2, 2.3)))
    x = x + np.random.default_rng(2).uniform(-0.1, 0.1, x.shape)
    found = pliant.inside(blocks, x)
    assert len(found) > 5
    for power in (-900, 900):
        other = pliant.inside(blocks, np.ldexp(x, power))
        assert pairs_of(other) == pairs_of(found)
        np.testing.assert_array_equal(other.depth, np.ldexp(found.depth, power))
        np.testing.assert_array_equal(other.direction, found.direction)


def in_first_cell(x, *others):
    """What is found in the first tetrahedron of one that has shrunk to the last position of x."""
    cells = {"tetra": np.array([(0, 1, 2, 3), *others, np.arange(4) + len(x) - 1])}
    found = pliant.inside(cells, np.concatenate((x, x[-1:], x[-1:], x[-1:])))
    mine = (found.cells == 0) & (found.vertices >= len(x) - 1)
    assert mine.sum() == 4
    return found[mine]


@pytest.mark.filterwarnings("ignore:.*inverted or flat")
@pytest.mark.parametrize("scale", [1.0, 1e-150, 2.0**-1050])
def test_a_vertex_on_a_face_without_area_has_a_direction(scale):
    """Its direction was (0, 0, 0), the normal of such a face."""
    found = in_first_cell(np.array([(0, 0, 0), (2, 0, 0), (1, 0, 0), (1, 2, 0), (1, 0, 0)]) * scale)
    np.testing.assert_allclose(np.linalg.norm(found.direction, axis=1), 1.0)
    assert (found.depth == 0.0).all()


@pytest.mark.parametrize("corners", [[(0, 0, 0)] * 4, [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 3, 3)]])
def test_a_cell_without_any_area(corners):
    found = in_first_cell(np.array([*corners, corners[1]], float))
    np.testing.assert_allclose(np.linalg.norm(found.direction, axis=1), 1.0)
    assert np.abs(found.direction @ np.subtract(corners[3], corners[0])).max() < 1e-12


@pytest.mark.parametrize("exponent", [-1071, -1070, -1060, -1045, -1000, 0, 1000, 1020])
def test_weights_and_depth_at_any_size(exponent):
    """Below 2^-1040, weights were those of another corner, and everything counted as on the surface."""
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.125, 0.25, 0.125)])
    found = in_first_cell(np.ldexp(x, exponent))
    np.testing.assert_allclose(found.weights[:, :4], np.tile([0.5, 0.125, 0.25, 0.125], (4, 1)), atol=1e-12)
    np.testing.assert_allclose(np.ldexp(found.depth, -exponent), 0.125, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(found.direction, axis=1), 1.0)
