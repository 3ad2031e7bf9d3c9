"""Cells side by side in single precision: what they cull is apart, and they cull what doubles do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from pliant.bounds.kdops import NO_PADDING
from pliant.filters.axes.cell_lanes import cull_small_cells
from pliant.filters.axes.cells import cull_cells
from pliant.filters.axes.elements import scaled_ends

COUNT = 300
KINDS = {"tetra": 4, "quad": 4, "triangle": 3}


def moving_pairs(name, seed, scale=1.0, offset=0.0, on_grid=False):
    """A mesh whose cells 2 i and 2 i + 1 are a pair, apart from the others; positions at both ends."""
    rng, corners = np.random.default_rng(seed), KINDS[name]
    x0 = rng.standard_normal((COUNT, 2, corners, 3))
    x0[:, 1] += 1.5 * rng.standard_normal((COUNT, 1, 3))
    x0 += 30.0 * np.stack(np.unravel_index(np.arange(COUNT), (7, 7, 7)), axis=1)[:, None, None]  # away from other pairs
    x1 = x0 + rng.standard_normal((COUNT, 2, 1, 3)) + 0.2 * rng.standard_normal(x0.shape)
    if on_grid:
        x0, x1 = np.round(x0), np.round(x1)
    ids = np.arange(x0.size // 3, dtype=np.int32).reshape(-1, corners)
    return pliant.VolumeMesh({name: ids}), scale * x0.reshape(-1, 3) + offset, scale * x1.reshape(-1, 3) + offset


def kept_by(cull, mesh, x0, x1, padding=NO_PADDING):
    """(COUNT,) bool; cull : one of the two kernels."""
    largest = float(max(np.abs(x0).max(), np.abs(x1).max()))
    factor = 2.0 ** -np.frexp(largest)[1]
    pairs, points = np.arange(2 * COUNT, dtype=np.int32).reshape(-1, 2), scaled_ends(x0, x1, 1.0, factor)
    given = (mesh.cell_table, points) + ((largest * factor,) if cull is cull_cells else ())
    count = cull(*given, padding * factor, pairs, COUNT, True)
    out = np.zeros(COUNT, bool)
    out[pairs[:count, 0] // 2] = True
    assert out.sum() == count
    return out


def that_touch(mesh, x0, x1, distance=0.0):
    contacts = pliant.ccd(mesh, x0, x1, min_distance=distance, tuning=pliant.Tuning(filters=(), culling="boxes"))
    out = np.zeros(COUNT, bool)
    cells = contacts.cells[contacts.cells[:, 0] // 2 == contacts.cells[:, 1] // 2]
    out[cells[cells[:, 0] != cells[:, 1], 0] // 2] = True
    return out


@pytest.mark.bounds
@pytest.mark.filterwarnings("ignore")  # cells are inverted
@pytest.mark.parametrize("on_grid", [False, True])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-3, 1.0), (1e200, 0.0), (1e-200, 0.0)])
@pytest.mark.parametrize("name", KINDS)
def test_cells_that_touch_are_kept(name, scale, offset, on_grid):
    mesh, x0, x1 = moving_pairs(name, 1, scale, offset, on_grid)
    kept, touch = kept_by(cull_small_cells, mesh, x0, x1), that_touch(mesh, x0, x1)
    assert 0.1 < touch.mean() < 0.9
    assert kept[touch].all()
    assert touch.mean() < kept.mean() < 0.95


@pytest.mark.filterwarnings("ignore")
def test_cells_within_a_distance_are_kept():
    mesh, x0, x1 = moving_pairs("tetra", 2)
    distance = 0.5
    kept = kept_by(cull_small_cells, mesh, x0, x1, np.full(2 * COUNT, 0.5 * distance))
    assert kept[that_touch(mesh, x0, x1, distance)].all()
    assert kept_by(cull_small_cells, mesh, x0, x1).sum() < kept.sum() < COUNT


@pytest.mark.parametrize("name", KINDS)
def test_as_many_are_culled_as_by_doubles(name):
    mesh, x0, x1 = moving_pairs(name, 3)
    lanes, doubles = (kept_by(cull, mesh, x0, x1) for cull in (cull_small_cells, cull_cells))
    assert abs(int(lanes.sum()) - int(doubles.sum())) <= 0.02 * COUNT


def test_adjacent_cells_are_kept():
    cells = np.array([(0, 1, 2, 3), (3, 4, 5, 6), (10, 11, 12, 13)], np.int32)
    x = np.random.default_rng(4).random((14, 3))
    x[10:] += 5.0
    pairs = np.array(list(itertools.combinations(range(3), 2)), np.int32)
    table = pliant.VolumeMesh({"tetra": cells}).cell_table
    assert cull_small_cells(table, scaled_ends(x, x, 1.0, 0.125), NO_PADDING, pairs, 3, False) == 1
    assert pairs[0].tolist() == [0, 1]
