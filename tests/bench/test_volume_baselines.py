"""NavCCD, HashCCD and the flip test: the contacts of ``pliant.ccd``, and as many tests as the formulas say."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import pliant
from bench.baselines import run_volume
from bench.baselines.spatial_hashing import hashed, meeting
from pliant.runtime.arrays import OptionError
from tests.reference import volumes as truth
from tests.shapes.tables import assert_identical

ALL_FOUND = ["naive_cells", "naive_cells_after_filters", "spatial_hashing"]
UNFILTERED = ["naive_cells", "spatial_hashing"]
# (vertices, triangles, edges with diagonals) of a cell
SIZES = {"tetra": (4, 4, 6), "hexahedron": (8, 12, 18), "wedge": (6, 8, 12), "pyramid": (5, 6, 9)} | {
    "triangle": (3, 1, 3), "quad": (4, 2, 5),
}  # fmt: skip
every_type = pytest.mark.parametrize("name", truth.ORDER)


@pytest.fixture(autouse=True)
def _inverted_cells_are_meant():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def heap(names, count, seed, motion=0.6):
    """Unit cells thrown into a small cube, every second one sharing a vertex with the one before, on the move."""
    rng = np.random.default_rng(seed)
    blocks, points, first = {}, [], 0
    for k in range(count):
        unit = np.array(truth.UNIT_CELLS[names[k % len(names)]], float)
        cell = np.arange(first, first + len(unit))
        if k % 2:
            cell[0] = first - 1
        blocks.setdefault(names[k % len(names)], []).append(cell)
        points.append(unit + rng.uniform(0.0, 2.0, 3))
        first += len(unit)
    x0 = np.concatenate(points)
    return {name: np.array(cells) for name, cells in blocks.items()}, x0, x0 + rng.normal(0.0, motion, x0.shape)


def stage(contacts, name):
    return next(s for s in contacts.stages if s.name == name)


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("method", ALL_FOUND)
@pytest.mark.parametrize("names", [(name,) for name in truth.ORDER] + [truth.ORDER])
def test_the_contacts_are_those_of_ccd(method, names):
    cells, x0, x1 = heap(names, {1: 4, 6: 6}[len(names)] if names[0] not in truth.SHELLS else 12, seed=len(names))
    contacts = pliant.ccd(cells, x0, x1)
    assert len(contacts) > 5
    found = run_volume(method, cells, x0, x1)
    assert_identical(found, contacts)
    assert np.array_equal(found.inversion, contacts.inversion)


@pytest.mark.parametrize("method", ALL_FOUND)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["liver", "car_crash"])
def test_scenes_too(method, name, threads):
    step = pliant.scenes.load_volume(name, cells=300, frames=4).steps[-1]
    contacts = pliant.ccd(step.cells, step.x0, step.x1)
    assert_identical(run_volume(method, step.cells, step.x0, step.x1, threads=threads), contacts)


def test_integer_coordinates_touch_everywhere_and_contacts_still_come_once():
    rng = np.random.default_rng(3)
    cells = {"tetra": np.array([rng.permutation(12)[:4] for _ in range(9)]), "quad": np.array([(0, 1, 2, 3)])}
    x0 = rng.integers(-2, 3, (12, 3)).astype(float)
    x1 = x0 + rng.integers(-1, 2, x0.shape)
    contacts = pliant.ccd(cells, x0, x1)
    assert len(contacts) > 50
    for method in ALL_FOUND:
        assert_identical(run_volume(method, cells, x0, x1), contacts)


@pytest.mark.unit
@every_type
def test_two_separate_cells_make_as_many_tests_as_the_formula_says(name):
    vertices, faces, edges = SIZES[name]
    unit = np.array(truth.UNIT_CELLS[name], float)
    x0 = np.concatenate((unit, unit + 0.1))
    cells = {name: np.arange(2 * vertices).reshape(2, vertices)}
    contacts = run_volume("naive_cells", cells, x0, x0 + 0.2)
    # Of one cell: a vertex and a face it is no corner of, two edges without a common end.
    one = truth.topology({name: cells[name][:1]})
    inner_faces = sum(v not in face for v in range(vertices) for face in one.faces)
    inner_edges = sum(not set(a) & set(b) for a, b in itertools.combinations(one.edges, 2))
    assert (len(one.faces), len(one.edges)) == (faces, edges)
    assert stage(contacts, "vertex-face tests").pairs_in == 2 * vertices * faces + 2 * inner_faces
    assert stage(contacts, "edge-edge tests").pairs_in == edges * edges + 2 * inner_edges
    assert stage(contacts, "exact").pairs_in == 2 * vertices * faces + edges * edges + 2 * (inner_faces + inner_edges)


@pytest.mark.parametrize("method", UNFILTERED)
def test_every_pair_of_overlapping_cells_is_tested_once(method):
    """Adjacent ones less what shares a vertex, each cell with itself; counted in plain loops."""
    cells, x0, x1 = heap(("tetra", "wedge"), 14, seed=4, motion=0.2)
    mesh = truth.topology(cells)
    count = 0
    for i, j in itertools.combinations_with_replacement(range(len(mesh.cells)), 2):
        a, b = mesh.cells[i][1], mesh.cells[j][1]
        xa, xb = np.concatenate((x0[list(a)], x1[list(a)])), np.concatenate((x0[list(b)], x1[list(b)]))
        if (xa.min(0) > xb.max(0)).any() or (xb.min(0) > xa.max(0)).any():
            continue
        for v, other in [(v, j) for v in a] + ([(v, i) for v in b] if i != j else []):
            count += sum(v not in mesh.faces[f] for f in mesh.cell_faces[other])
        pairs = itertools.product(mesh.cell_edges[i], mesh.cell_edges[j])
        apart = sum(not set(mesh.edges[e]) & set(mesh.edges[f]) for e, f in pairs)
        count += apart // 2 if i == j else apart
    found = run_volume(method, cells, x0, x1, bounds="aabb")
    assert stage(found, "exact").pairs_in == count


@pytest.mark.unit
@pytest.mark.parametrize("size", [0.03, 0.4, 5.0])
def test_hashing_finds_each_pair_of_overlapping_boxes_once(size):
    rng = np.random.default_rng(5)
    lower = rng.uniform(-1.0, 1.0, (40, 3))
    lower[:4] = lower[4]  # at one place
    upper = lower + rng.uniform(0.0, 0.5, lower.shape) ** 2
    boxes = np.stack((lower, upper), axis=2).reshape(-1, 6)
    expected = {
        (i, j)
        for i, j in itertools.combinations(range(40), 2)
        if (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()
    }
    table, out, found = hashed(boxes, size), np.empty((7, 2), np.int32), []
    first, second, end = 0, 1, len(table.cells)
    while first < end:
        first, second, count, _ = meeting(table, first, second, end, out)
        found += [tuple(sorted(pair)) for pair in out[:count].tolist()]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert len(expected) > 10


@pytest.mark.unit
def test_flips_are_the_inversions_and_what_changes_sign_flips():
    cells, x0, x1 = heap(("tetra",), 12, seed=6)
    mesh = pliant.VolumeMesh(cells)
    contacts, flips = pliant.ccd(mesh, x0, x1), run_volume("flips", mesh, x0, x1)
    inside = contacts.inversion
    assert 0 < inside.sum() < len(contacts)
    assert np.array_equal(flips.vertices, contacts.vertices[inside])
    assert np.array_equal(flips.toi, contacts.toi[inside])
    signs = [np.sign([np.linalg.det(x[c[1:]] - x[c[0]]) for c in cells["tetra"]]) for x in (x0, x1)]
    turned = np.flatnonzero(signs[0] != signs[1])
    assert 0 < len(turned) < 12
    assert set(turned) <= set(flips.cells[:, 0].tolist())


def test_shells_never_flip_and_the_flip_test_misses_cells_that_pass_through_each_other():
    cells, x0, x1 = heap(("quad", "triangle"), 6, seed=7)
    assert len(pliant.ccd(cells, x0, x1)) > 0
    assert len(run_volume("flips", cells, x0, x1)) == 0
    unit = np.array(truth.UNIT_CELLS["tetra"], float)
    x0 = np.concatenate((unit, unit + (1.5, 0.1, 0.1)))
    x1 = x0 + np.repeat([(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)], 4, axis=0)
    assert len(pliant.ccd({"tetra": np.arange(8).reshape(2, 4)}, x0, x1)) > 0
    assert len(run_volume("flips", {"tetra": np.arange(8).reshape(2, 4)}, x0, x1)) == 0


@pytest.mark.parametrize("method", [*ALL_FOUND, "flips"])
def test_no_cells_no_contacts(method):
    assert len(run_volume(method, {}, np.zeros((3, 3)), np.zeros((3, 3)))) == 0


def test_unknown_names_are_refused():
    with pytest.raises(OptionError, match="naive_cells"):
        run_volume("naive", {}, np.zeros((0, 3)), np.zeros((0, 3)))
