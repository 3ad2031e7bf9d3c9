"""O-sets of volume meshes against their definition, and against Algorithm 3 as the paper prints it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import pliant
from pliant.mesh.o_sets import TooManyOrphans, o_sets
from tests.conftest import find_data_folder
from tests.reference import o_sets as truth
from tests.reference.volumes import ORDER
from tests.shapes.blocks import COLUMNS, fan, grid, random_blocks, ring, tetrahedra
from tests.shapes.tables import assert_identical


def assert_true(mesh):
    """Returns how many orphans of each kind there are."""
    expected = truth.o_sets(mesh)
    for found, pairs in zip(mesh.o_sets, expected):
        assert found.dtype == np.int32
        assert found.tolist() == [list(pair) for pair in sorted(pairs)]
    return len(expected[0]), len(expected[1])


@pytest.mark.unit
@pytest.mark.parametrize("name", ORDER)
def test_one_cell_has_all_pairs_without_a_common_vertex(name):
    mesh = pliant.VolumeMesh({name: np.arange(COLUMNS[name])[None]})
    assert_true(mesh)
    faces, edges = mesh.faces.tolist(), mesh.edges.tolist()
    pairs = [(a, b) for b in range(len(edges)) for a in range(b) if not set(edges[a]) & set(edges[b])]
    assert len(mesh.o_sets[0]) == len(faces) * (COLUMNS[name] - 3)
    assert len(mesh.o_sets[1]) == len(pairs)
    if name == "tetra":
        assert (len(mesh.o_sets[0]), len(mesh.o_sets[1])) == (4, 3)


@pytest.mark.bounds
@pytest.mark.unit
def test_random_mixes():
    orphans, pairs = np.zeros(2, int), np.zeros(2, int)
    for seed in range(10):
        mesh = pliant.VolumeMesh(random_blocks(seed, vertices=40, most=5))
        orphans += assert_true(mesh)
        pairs += len(mesh.vertices) * len(mesh.faces), len(mesh.edges) * (len(mesh.edges) - 1) // 2
    assert (orphans > 0.1 * pairs).all()
    assert (orphans < 0.7 * pairs).all()


SHAPES = {
    "nothing": {},
    "two bodies": {"tetra": [[0, 1, 2, 3], [9, 8, 7, 6]]},
    "apart from a chain": {"tetra": [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]},
    "twice the same": {"tetra": [[0, 1, 2, 3], [3, 2, 1, 0], [0, 4, 5, 6]]},
    "three at a face": {"tetra": [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5], [5, 6, 7, 8]]},
    "shell on a solid": {"tetra": [[0, 1, 2, 3], [1, 2, 3, 4]], "triangle": [[0, 1, 2], [1, 2, 3], [2, 5, 6]]},
    "shell on a hexahedron": {"hexahedron": [range(8)], "quad": [[7, 6, 5, 4], [6, 7, 9, 8]]},
    "sheet": {"quad": [[a + 4 * b, a + 1 + 4 * b, a + 5 + 4 * b, a + 4 + 4 * b] for b in range(3) for a in range(3)]},
    "fan": fan(6, vertex=4),
    "ring": ring(7),
    "closed ring": ring(4),
    "fan with a tail": {"tetra": [*fan(5)["tetra"], [1, 20, 21, 22], [22, 23, 24, 25]]},
    "hexahedra": grid(2, shuffled=1)[0],
    "tetrahedra": tetrahedra(2, shuffled=2),
}


@pytest.mark.bounds
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    assert_true(pliant.VolumeMesh(SHAPES[name]))


@pytest.mark.unit
@pytest.mark.parametrize("name", ["two bodies", "three at a face", "shell on a solid", "ring", "fan with a tail"])
def test_small_shapes(name):
    assert_true(pliant.VolumeMesh(SHAPES[name]))


@pytest.mark.parametrize("count", [61, 62, 63, 64, 130])
def test_more_cells_at_a_vertex_than_a_mask_has_bits(count):
    """The rim of the ring has few cells, its two poles have all: the last ones are asked one by one."""
    blocks = ring(count)
    blocks["tetra"][5] = blocks["tetra"][5, ::-1]
    assert_true(pliant.VolumeMesh(blocks))
    blocks["tetra"] = np.append(blocks["tetra"], [[0, 500, 501, 502], [500, 503, 504, 505], [502, 2, 3, 506]], axis=0)
    assert_true(pliant.VolumeMesh(blocks))


def test_larger_meshes():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        blocks = tetrahedra(4, shuffled=seed) if seed else grid(4, shuffled=seed)[0]
        kept = {name: cells[rng.random(len(cells)) < 0.7] for name, cells in blocks.items()}
        mesh = pliant.VolumeMesh(kept | {"triangle": rng.permutation(120)[:30].reshape(-1, 3)})
        counts = assert_true(mesh)
        assert counts[0] > 100
        assert counts[1] > 100


@pytest.mark.unit
def test_numbers_do_not_matter():
    blocks = random_blocks(3, vertices=30, most=6, names=("tetra", "triangle"))
    name = np.random.default_rng(0).permutation(50)
    renamed = pliant.VolumeMesh({kind: name[cells] for kind, cells in blocks.items()})
    assert assert_true(renamed) == tuple(len(pairs) for pairs in pliant.VolumeMesh(blocks).o_sets)


# ---- many of them


def test_more_orphans_than_usual(monkeypatch):
    mesh = pliant.VolumeMesh(fan(20))
    expected = o_sets(mesh.cell_table)
    monkeypatch.setattr("pliant.mesh.o_sets._USUAL_ORPHANS", 3)
    for first, again in zip(expected, o_sets(mesh.cell_table)):
        np.testing.assert_array_equal(first, again, strict=True)


@pytest.mark.unit
def test_too_many_orphans():
    """A fan of n cells has about 36 n^2: that is said before the memory is gone."""
    mesh = pliant.VolumeMesh(fan(4))
    vertex_face, edge_edge = (len(pairs) for pairs in mesh.o_sets)
    assert vertex_face < edge_edge
    assert len(o_sets(mesh.cell_table, most=edge_edge)[1]) == edge_edge
    for most in (edge_edge - 1, vertex_face - 1, 0):
        with pytest.raises(TooManyOrphans, match="static"):
            o_sets(mesh.cell_table, most=most)


def test_too_many_orphans_to_list_are_looked_at_by_static_assignment(monkeypatch):
    """A volume with 2,000 cells at one vertex was refused, whatever it was asked."""
    cells, x0 = fan(6), np.random.default_rng(5).random((19, 3))
    x1 = x0 + np.random.default_rng(6).random(x0.shape)
    expected = pliant.ccd(cells, x0, x1)
    for module in ("volumes", "prepared"):  # by itself, and before a query
        monkeypatch.setattr(f"pliant.mesh.{module}.o_sets", partial(o_sets, most=50))
    mesh = pliant.VolumeMesh(cells)
    found = pliant.ccd(mesh, x0, x1)
    assert_identical(found, expected)
    assert len(found) > 20
    assert "static assignment: too many orphans" in [stage.name for stage in found.stages]
    assert pliant.safe_step(mesh, x0, x1).t == expected.toi.min()
    with pytest.raises(TooManyOrphans):
        _ = mesh.o_sets


def test_a_huge_fan_is_refused():
    with pytest.raises(TooManyOrphans, match="too many cells"):
        o_sets(pliant.VolumeMesh(fan(3000)).cell_table, most=2**20)


# ---- what the paper prints


@pytest.mark.parametrize("name", ["hexahedra", "tetrahedra", "chain"])
def test_algorithm_3_as_printed_loses_orphans(name):
    """Errata 18: with its return, the search ends at the first pair of features that separate cells contain; and
    errata 19: it finds none within a single cell, not even with the return taken out."""
    chain = {"tetra": [[3 * i, 3 * i + 1, 3 * i + 2, 3 * i + 3] for i in range(6)]}
    mesh = pliant.VolumeMesh({"hexahedra": grid(3, shuffled=1)[0], "chain": chain}.get(name) or SHAPES[name])
    printed, mended = truth.literal_o_sets(mesh), truth.literal_o_sets(mesh, as_printed=False)
    lost = 0
    for kind, pairs in enumerate(mesh.o_sets):
        orphans = {tuple(pair) for pair in pairs.tolist()}
        assert printed[kind] <= mended[kind]
        lost += len(orphans - printed[kind])
    assert lost > 0.5 * sum(len(pairs) for pairs in mesh.o_sets)


def test_algorithm_3_never_looks_inside_a_cell():
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3]]})
    assert truth.literal_o_sets(mesh, as_printed=False) == (set(), set())
    assert [len(pairs) for pairs in mesh.o_sets] == [4, 3]


# ---- real meshes


@pytest.mark.data
def test_a_real_mesh():
    meshio = pytest.importorskip("meshio")
    folder = find_data_folder()
    assert folder is not None
    cells = meshio.read(folder / "volume" / "ipc_sphere1K.msh").cells_dict["tetra"]
    orphans = assert_true(pliant.VolumeMesh({"tetra": cells[:400]}))
    assert min(orphans) > 100
