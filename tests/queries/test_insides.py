"""Vertices inside of cells, against fractions, and what users can ask for."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import pliant
from pliant.queries.insides import Choice, find_inside
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool
from tests.reference import insides as truth
from tests.reference.volumes import UNIT_CELLS
from tests.shapes.solids import COLUMNS, SOLIDS, bent_cell, both, grid, pairs_of, random_mix
from tests.shapes.tables import assert_identical


def integers_used(found):
    return sum(stage.pairs_in for stage in found.stages if stage.name == "exact: integers")


def assert_weights(volume, x, found, tolerance=1e-12):
    """Not negative, of sum 1, none beyond the corners there are, and they give the vertex."""
    assert (found.weights >= 0).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, rtol=1e-14)
    beyond = np.arange(8) >= volume.corner_count[found.cells][:, None]
    assert (found.weights[beyond] == 0).all()
    corners = x[volume.corners[found.cells]]
    size = np.ptp(corners, axis=1).max(axis=1, initial=0.0)
    off = np.einsum("ij,ijk->ik", found.weights, corners - x[found.vertices][:, None])
    assert (np.abs(off).max(axis=1, initial=0.0) <= tolerance * size).all()


def assert_true(blocks, x, tolerance=1e-12, **options):
    volume = pliant.VolumeMesh(blocks)
    found = pliant.inside(volume, x, depth=False, **options)
    expected, count = truth.inside(blocks, x)
    assert pairs_of(found) == expected
    assert_weights(volume, x, found, tolerance)
    return found, count


# ---- which vertices are in which cells


@pytest.mark.bounds
@pytest.mark.unit
def test_random_mixes_of_flat_folded_and_inverted_cells():
    hits = count = exact = 0
    for seed in range(8):
        found, boxes = assert_true(*random_mix(seed), tolerance=1e-7)
        hits, count, exact = hits + len(found), count + boxes, exact + integers_used(found)
    assert count > 200
    assert 0.25 < hits / count < 0.75
    assert exact > 0.2 * count


@pytest.mark.parametrize("name", SOLIDS)
def test_random_cells_of_each_type(name):
    hits = count = 0
    for seed in range(12):
        found, boxes = assert_true(*random_mix(seed, (name,), COLUMNS[name] + 6, 6), tolerance=1e-7)
        hits, count = hits + len(found), count + boxes
    assert count > 80
    assert 0.15 < hits / count < 0.85


@pytest.mark.bounds
@pytest.mark.parametrize("name", SOLIDS)
def test_bent_cells_with_points_in_on_and_around_them(name):
    hits = count = 0
    for seed in range(16):
        found, _ = assert_true(*bent_cell(name, np.random.default_rng(seed), (0.0, 0.1, 0.4, 0.9)[seed % 4]))
        hits, count = hits + len(found), count + 30
    assert 0.3 < hits / count < 0.8


@pytest.mark.unit
@pytest.mark.parametrize("name", SOLIDS)
def test_the_boundary_counts_and_one_ulp_beyond_it_does_not(name):
    corners = np.array(UNIT_CELLS[name], float)
    on = np.array([(0.25, 0.5, 0.0), (0.0, 0.25, 0.25), (0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
    beyond = on.copy()
    beyond[[0, 2, 3], 2] = beyond[1, 0] = -5e-324
    beyond[4, 2] = np.nextafter(1.0, 2.0)
    for points, expected in ((on, len(on)), (beyond, 0)):
        x = np.concatenate((corners, points, [(9, 9, 9)]))
        blocks = {name: [range(len(corners))], "triangle": np.arange(len(corners), len(x)).reshape(-1, 3)}
        assert len(pliant.inside(blocks, x, depth=False)) == expected


def test_either_orientation_and_any_order_of_corners():
    for name in SOLIDS:
        blocks, x = bent_cell(name, np.random.default_rng(5), 0.05)
        found, _ = assert_true(blocks, x)
        mirrored, _ = assert_true(blocks, x * (1, 1, -1))
        assert pairs_of(found) == pairs_of(mirrored)
        assert len(found) > 5


def test_a_flat_tetrahedron_holds_what_is_on_it():
    square = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)]
    x = np.array([*square, (1, 1, 0), (2, 1, 0), (1, 1, 5e-324), (3, 1, 0), (0, 0, 0), (0, -1, 0)])
    blocks = {"tetra": [[0, 1, 2, 3]], "triangle": [[4, 5, 6], [7, 8, 9]]}
    found, _ = assert_true(blocks, x)
    assert found.vertices.tolist() == [4, 5, 8]
    line = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (1.5, 0, 0), (1.5, 1, 0), (4, 0, 0)])
    assert assert_true({"tetra": [[0, 1, 2, 3]], "triangle": [[4, 5, 6]]}, line)[0].vertices.tolist() == [4]
    point = np.zeros((7, 3))
    point[6] = 1
    assert assert_true({"tetra": [[0, 1, 2, 3]], "triangle": [[4, 5, 6]]}, point)[0].vertices.tolist() == [4, 5]


def test_sizes_make_no_difference():
    for seed in (3, 7):
        blocks, x = random_mix(seed)
        x = np.round(x * 2**20)
        expected = pairs_of(pliant.inside(blocks, x, depth=False))
        assert len(expected) > 5
        for power in (-1060, -300, 300, 1000):
            found = pliant.inside(blocks, np.ldexp(x, power), depth=False)
            assert pairs_of(found) == expected
            np.testing.assert_allclose(found.weights.sum(axis=1), 1.0)


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "shift"),
    [
        ("ipc_torus.msh", 0.07),
        ("polyfem_hybrid_block.msh", 0.3),
        ("polyfem_hybrid_lshape_L1.msh", 0.4),
        ("polyfem_prism_cantilever.msh", 0.2),
        ("polyfem_pyramid.msh", 0.3),
    ],
)
@pytest.mark.parametrize("bend", [0.0, 0.02])
def test_overlapping_copies_of_real_meshes(data_folder, file, shift, bend):
    meshio = pytest.importorskip("meshio")
    mesh = meshio.read(data_folder / "volume" / file)
    x = mesh.points * 1.0
    cells = {}
    for block in mesh.cells:
        cells.setdefault(block.type, []).append(block.data.astype(np.int64))
    blocks = {name: np.concatenate(parts) for name, parts in cells.items()}
    size = np.ptp(x, axis=0)
    x = x + bend * size * np.random.default_rng(1).uniform(-1, 1, x.shape)
    blocks, x = both((blocks, x), (blocks, x + (shift, 0.0, 0.0) * size))
    found, count = assert_true(blocks, x)
    assert 0.03 < len(found) / count < 0.9
    assert integers_used(found) > 0 or bend > 0


# ---- options


@pytest.fixture(scope="module")
def tangle():
    """A box with two corners folded into it, another box, and shells all over both."""
    blocks, x = both(grid((3, 3, 3), (0, 0, 0), (3, 3, 3)), grid((2, 3, 2), (1.5, 1.2, 1.4), (4, 3.8, 4), split=True))
    rng = np.random.default_rng(3)
    x += rng.normal(0.0, 0.12, x.shape)
    x[[0, 5]] = x[[21, 41]] + 0.2  # folded over
    sheet = np.arange(len(x), len(x) + 30).reshape(-1, 3)
    return blocks | {"triangle": sheet}, np.concatenate((x, rng.uniform(0, 4, (30, 3))))


def test_threads_and_broad_phase_change_nothing(tangle):
    blocks, x = tangle
    found = pliant.inside(blocks, x, threads=1)
    assert len(found) > 20
    assert_identical(pliant.inside(blocks, x, threads=3), found)
    volume = pliant.VolumeMesh(blocks)
    for broad in ("tree", "hash", "brute"):
        rows = find_inside(volume, x, Choice(np.zeros(len(x), np.int32), broad=broad), ThreadPool(2), Tally())
        assert rows.tolist() == [list(pair) for pair in pairs_of(found)]
    assert_true(blocks, x)


def test_counts_do_not_depend_on_threads_and_progress_is_told(tangle):
    told = []
    counts = [
        sorted(stage[:3] for stage in pliant.inside(*tangle, threads=threads, progress=progress).stages)
        for threads, progress in ((1, None), (3, lambda done, total: told.append((done, total))))
    ]
    assert counts[0] == counts[1]
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] > 1


def test_pairs_and_objects(tangle):
    blocks, x = tangle
    volume = pliant.VolumeMesh(blocks)
    found = pliant.inside(volume, x)
    label = volume.components
    same = label[found.vertices] == label[volume.corners[found.cells, 0]]
    assert 0 < same.sum() < len(found)
    assert_identical(pliant.inside(volume, x, pairs="self"), found[same])
    assert_identical(pliant.inside(volume, x, pairs="inter"), found[~same])
    one = np.zeros(len(x), int)
    assert len(pliant.inside(volume, x, objects=one, pairs="inter", depth=False)) == 0
    assert pairs_of(pliant.inside(volume, x, objects=one, pairs="self", depth=False)) == pairs_of(found)
    assert_identical(pliant.inside(volume, x, objects=7 * label - 2), found)


def test_more_vertices_in_one_cell_than_a_block_has_room_for():
    rng = np.random.default_rng(0)
    points = rng.uniform(0.0, 1.0, (30_000, 3))
    x = np.concatenate((UNIT_CELLS["tetra"], points))
    shells = np.arange(4, len(x)).reshape(-1, 3)
    found = pliant.inside({"tetra": [[0, 1, 2, 3], [0, 2, 1, 3]], "triangle": shells}, x, depth=False)
    expected = np.flatnonzero(x[4:].sum(axis=1) <= 1.0) + 4
    assert 4000 < len(expected) < 6000
    np.testing.assert_array_equal(found.vertices, np.repeat(expected, 2))
    np.testing.assert_array_equal(found.cells, np.tile((0, 1), len(expected)))


def test_shells_contain_nothing_and_unused_vertices_take_no_part():
    x = np.array([*UNIT_CELLS["tetra"], (0.1, 0.1, 0.1), (0.2, 0.2, 0.0)])
    assert len(pliant.inside({"tetra": [[0, 1, 2, 3]]}, x)) == 0
    assert len(pliant.inside({"triangle": [[0, 1, 2]], "quad": [[2, 3, 4, 5]]}, x)) == 0


@pytest.mark.parametrize("cells", [{}, {"tetra": []}, {"triangle": [[0, 1, 2]]}, {"tetra": [[0, 1, 2, 3]]}])
def test_nothing_inside(cells):
    found = pliant.inside(cells, UNIT_CELLS["tetra"] if cells else [])
    shapes = [getattr(found, name).shape for name in ("vertices", "cells", "weights", "depth", "direction")]
    assert shapes == [(0,), (0,), (0, 8), (0,), (0, 3)]
    assert repr(found) == "InsideCells(none)"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"x": [[0, 0, np.nan]] * 4}, r"x\[0, 2\] is nan"),
        ({"x": np.zeros((4, 2))}, r"x must have shape \(n, 3\)"),
        ({"x": np.zeros((3, 3))}, "tetra 0 refers to vertex 3, but there are 3"),
        ({"mesh": np.array([[0, 1, 2, 3]])}, r"faces must have shape \(m, 3\)"),
        ({"mesh": np.array([[0, 1, 2]])}, "a surface has no cells: say what may be inside of it, points="),
        ({"pairs": "none"}, "pairs='none' is not known"),
        ({"objects": [0, 1]}, "objects must have one label for each of the 4 vertices"),
        ({"objects": [0, 0, 0, 1]}, "joins vertices of different objects"),
        ({"threads": 0}, "threads=0 must be a positive integer"),
    ],
)
def test_wrong_input_is_named(change, text):
    given = {"mesh": {"tetra": [[0, 1, 2, 3]]}, "x": np.zeros((4, 3))} | change
    with pytest.raises(pliant.MeshError, match=text):
        pliant.inside(**given)


# ---- the table


def test_the_table(tangle):
    found = pliant.inside(*tangle)
    k = len(found)
    types = {"vertices": np.int32, "cells": np.int32, "weights": float, "depth": float, "direction": float}
    assert {name: getattr(found, name).dtype for name in types} == {name: np.dtype(t) for name, t in types.items()}
    assert found.weights.shape == (k, 8)
    assert found.direction.shape == (k, 3)
    np.testing.assert_allclose(np.linalg.norm(found.direction, axis=1), 1.0)
    assert (found.depth >= 0).all()
    assert pairs_of(found) == sorted(set(pairs_of(found)))
    deep = found.depth > np.median(found.depth)
    assert_identical(found[deep], found[np.flatnonzero(deep)])
    assert_identical(found[2], found[2:3])
    vertices, cells = len(set(found.vertices.tolist())), len(set(found.cells.tolist()))
    assert repr(found) == f"InsideCells({vertices} vertices in {cells} cells, deepest {found.depth.max():.6g})"
    stages = {stage.name: stage for stage in found.stages}
    assert stages["exact"].pairs_out == k
    assert stages["boxes"].pairs_out == stages["exact"].pairs_in
    assert "depth" in stages
    with pytest.raises(FrozenInstanceError):
        found.depth = None


def test_without_depth(tangle):
    found, without = pliant.inside(*tangle), pliant.inside(*tangle, depth=False)
    assert pairs_of(found) == pairs_of(without)
    np.testing.assert_array_equal(found.weights, without.weights)
    assert np.isnan(without.depth).all()
    assert np.isnan(without.direction).all()
    assert "deepest" not in repr(without)
    assert "depth" not in {stage.name for stage in without.stages}


def test_to_pandas(tangle):
    pytest.importorskip("pandas")
    found = pliant.inside(*tangle)
    table = found.to_pandas()
    np.testing.assert_array_equal(table["vertex"], found.vertices)
    np.testing.assert_array_equal(table[[f"weight_{i}" for i in range(8)]], found.weights)
    np.testing.assert_array_equal(table[["direction_x", "direction_y", "direction_z"]], found.direction)
