"""Topology of volume meshes against plain loops over sets."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import pliant
from pliant.elementary.inversion import inverted, warn_inverted
from pliant.mesh.changed.cells import CellIndexError
from pliant.mesh.volumes import CellTypeError, RepeatedVertexError, as_volume
from tests.conftest import find_data_folder
from tests.reference import volumes as truth
from tests.shapes.blocks import COLUMNS, grid, random_blocks

SOLIDS = [name for name in truth.ORDER if name not in truth.SHELLS]


def lists(rows):
    return [rows.items[a:b].tolist() for a, b in itertools.pairwise(rows.start)]


def assert_true(mesh, blocks):
    """Everything that the mesh says is what the reference says."""
    expected = truth.topology(blocks)
    assert [mesh.type_names[t] for t in mesh.types] == [name for name, _ in expected.cells]
    assert mesh.corner_count.tolist() == [len(cell) for _, cell in expected.cells]
    assert mesh.corners.tolist() == [[*cell, *[cell[-1]] * 8][:8] for _, cell in expected.cells]
    assert mesh.faces.tolist() == [list(face) for face in expected.faces]
    assert mesh.edges.tolist() == [list(edge) for edge in expected.edges]
    assert lists(mesh.cell_faces) == expected.cell_faces
    assert lists(mesh.cell_edges) == [sorted(edges) for edges in expected.cell_edges]
    assert lists(mesh.face_cells) == expected.face_cells
    assert lists(mesh.edge_cells) == expected.edge_cells
    assert lists(mesh.vertex_cells) == [expected.vertex_cells.get(v, []) for v in range(mesh.vertex_limit)]
    assert mesh.boundary.tolist() == expected.boundary
    assert mesh.vertices.tolist() == sorted(expected.vertex_cells)
    assert mesh.vertex_limit == max(expected.vertex_cells, default=-1) + 1
    used = mesh.components[mesh.vertices]
    assert (np.delete(mesh.components, mesh.vertices) == -1).all()
    assert {frozenset(mesh.vertices[used == k].tolist()) for k in set(used.tolist())} == truth.groups_of(expected.cells)
    assert_views_agree(mesh)


def assert_views_agree(mesh):
    """Surface and features are the mesh's own faces and edges under other ids."""
    surface, features = mesh.surface(), mesh.features()
    assert surface.volume_faces.tolist() == np.flatnonzero(mesh.boundary).tolist()
    assert surface.faces.tolist() == mesh.faces[mesh.boundary].tolist()
    np.testing.assert_array_equal(surface.edges, mesh.edges[surface.volume_edges], strict=True)
    plain = pliant.TriMesh(surface.faces)
    np.testing.assert_array_equal(surface.edges, plain.edges, strict=True)
    np.testing.assert_array_equal(surface.face_edges, plain.face_edges, strict=True)
    first = [cells[0] for cells in lists(mesh.face_cells)]
    assert surface.cells.tolist() == [first[f] for f in surface.volume_faces]
    np.testing.assert_array_equal(features.faces, mesh.faces)
    np.testing.assert_array_equal(pliant.TriMesh(mesh.faces).edges, mesh.edges)
    np.testing.assert_array_equal(features.vertices, mesh.vertices)


def assert_same(a, b):
    for name in a.type_names:
        np.testing.assert_array_equal(a.cells[name], b.cells[name], strict=True)
    for name in ("types", "corners", "faces", "edges", "face_edges", "boundary", "vertices", "components"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for name in ("cell_faces", "cell_edges", "vertex_cells", "edge_cells", "face_cells"):
        for one, other in zip(getattr(a, name), getattr(b, name)):
            np.testing.assert_array_equal(one, other, strict=True)


# ---- what cells have


@pytest.mark.unit
@pytest.mark.parametrize("name", truth.ORDER)
def test_one_cell(name):
    blocks = {name: np.arange(COLUMNS[name])[None, ::-1]}
    mesh = pliant.VolumeMesh(blocks)
    assert_true(mesh, blocks)
    counts = {"tetra": (4, 6), "hexahedron": (12, 18), "wedge": (8, 12), "pyramid": (6, 9)}
    assert (len(mesh.faces), len(mesh.edges)) == (counts | {"triangle": (1, 3), "quad": (2, 5)})[name]
    assert mesh.boundary.all()


@pytest.mark.unit
@pytest.mark.parametrize("name", SOLIDS)
def test_faces_look_outward(name):
    x = np.array(truth.UNIT_CELLS[name], float)
    for order in ([*range(len(x))], [*range(len(x))][::-1], np.random.default_rng(3).permutation(len(x)).tolist()):
        mesh = pliant.VolumeMesh({name: [order]})
        at = np.empty_like(x)
        at[order] = x
        a, b, c = np.moveaxis(at[mesh.faces], 1, 0)
        normal = np.cross(b - a, c - a)
        assert (np.einsum("ij,ij->i", normal, a - x.mean(axis=0)) > 0).all()
        sides = [(v, w) for f in mesh.faces.tolist() for v, w in zip(f, f[1:] + f[:1])]
        assert sorted(sides) == sorted((w, v) for v, w in sides)  # closed
        assert len(set(sides)) == len(sides) == 2 * len(mesh.edges)


@pytest.mark.bounds
@pytest.mark.unit
def test_random_mixes():
    kinds, many, glued = set(), 0, 0
    for seed in range(12):
        blocks = random_blocks(seed)
        mesh = pliant.VolumeMesh(blocks)
        assert_true(mesh, blocks)
        kinds |= {name for name, cells in blocks.items() if len(cells)}
        solids = [sum(i < mesh.solid_count for i in cells) for cells in lists(mesh.face_cells)]
        many += sum(count > 2 for count in solids)
        glued += sum(0 < s < len(cells) for s, cells in zip(solids, lists(mesh.face_cells)))
    assert kinds == set(truth.ORDER)
    assert many > 0
    assert glued > 0


@pytest.mark.parametrize("seed", range(4))
def test_crowded_mixes(seed):
    """So many cells at few vertices that most faces have several."""
    blocks = random_blocks(100 + seed, vertices=12, most=20)
    mesh = pliant.VolumeMesh(blocks)
    assert_true(mesh, blocks)
    shared = np.diff(mesh.face_cells.start) > 1
    assert 0.3 < shared.mean() < 1.0


def test_a_grid_of_hexahedra():
    for seed in (None, 5):
        blocks, x = grid(3, seed)
        mesh = pliant.VolumeMesh(blocks)
        assert_true(mesh, blocks)
        # Six sides of nine squares; every square inside and outside is two triangles, and has one diagonal.
        squares = 3 * 4 * 9
        assert (mesh.boundary.sum(), len(mesh.faces), len(mesh.edges)) == (2 * 54, 2 * squares, 3 * 3 * 16 + squares)
        assert len(inverted(mesh, x)) == 0


@pytest.mark.unit
def test_two_hexahedra_share_a_square_in_every_position():
    """Four turns of the neighbour, and its mirror images: one diagonal, and the square is no boundary."""
    for names in ([0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 0, 1]):
        for turn, mirrored in itertools.product(range(4), (False, True)):
            square = [*names[turn:], *names[:turn]]
            square = square[::-1] if mirrored else square
            blocks = {"hexahedron": [[4, 5, 6, 7, *names], [*square, 8, 9, 10, 11]]}
            mesh = pliant.VolumeMesh(blocks)
            assert_true(mesh, blocks)
            inside = mesh.faces[~mesh.boundary]
            assert len(inside) == 2
            opposite = names[(names.index(0) + 2) % 4]
            assert all({0, opposite} <= set(face) for face in inside.tolist())
            diagonals = [e for e in mesh.edges.tolist() if set(e) in ({0, opposite}, set(names) - {0, opposite})]
            assert diagonals == [[0, opposite]]


def test_a_square_split_by_a_shell_and_by_tetrahedra():
    """Tetrahedra on a square of a hexahedron fit where they use the diagonal at its smallest vertex, else not."""
    cube = {"hexahedron": [[0, 1, 2, 3, 4, 5, 6, 7]]}
    fits = cube | {"tetra": [[4, 5, 6, 8], [4, 6, 7, 8]]}
    crosses = cube | {"tetra": [[4, 5, 7, 8], [5, 6, 7, 8]]}
    for blocks, inside in ((fits, 3), (crosses, 1)):
        mesh = pliant.VolumeMesh(blocks)
        assert_true(mesh, blocks)
        assert (~mesh.boundary).sum() == inside
    blocks = cube | {"quad": [[7, 6, 5, 4]], "triangle": [[0, 2, 1]]}
    mesh = pliant.VolumeMesh(blocks)
    assert_true(mesh, blocks)
    assert len(mesh.faces) == 12
    assert (mesh.surface().cells == 0).all()


@pytest.mark.unit
def test_duplicates_non_manifold_and_shells_between_solids():
    twice = {"tetra": [[0, 1, 2, 3], [1, 0, 3, 2]]}
    mesh = pliant.VolumeMesh(twice)
    assert_true(mesh, twice)
    assert mesh.boundary.all()  # one solid, listed twice
    closed = {"tetra": [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 3, 4], [0, 2, 3, 4], [1, 2, 3, 4]]}
    mesh = pliant.VolumeMesh(closed)
    assert_true(mesh, closed)
    assert not mesh.boundary.any()
    assert mesh.surface().vertex_limit == 0
    fan = {"tetra": [[0, 1, 2, 3], [0, 2, 1, 4], [0, 1, 2, 5]]}
    mesh = pliant.VolumeMesh(fan)
    assert_true(mesh, fan)
    assert lists(mesh.face_cells)[0] == [0, 1, 2]
    between = {"tetra": [[0, 1, 2, 3], [0, 2, 1, 4]], "triangle": [[0, 1, 2]]}
    mesh = pliant.VolumeMesh(between)
    assert_true(mesh, between)
    assert mesh.boundary.all()


@pytest.mark.unit
def test_an_empty_mesh():
    for cells in (None, {}, {"tetra": []}, {"quad": np.empty((0, 4), np.uint8), "wedge": np.empty((0, 6))}):
        mesh = pliant.VolumeMesh(cells)
        assert_true(mesh, {})
        assert mesh.faces.shape == (0, 3)
        assert mesh.corners.shape == (0, 8)
        assert len(inverted(mesh, np.empty((0, 3)))) == 0
    assert_same(pliant.VolumeMesh().changed(), pliant.VolumeMesh())


def test_vertices_that_no_cell_names_take_no_part():
    mesh = pliant.VolumeMesh({"tetra": [[2, 5, 7, 11]]})
    assert mesh.vertices.tolist() == [2, 5, 7, 11]
    assert mesh.components.tolist() == [-1, -1, 0, -1, -1, 0, -1, 0, -1, -1, -1, 0]
    x = np.random.default_rng(0).normal(size=(12, 3))
    assert len(pliant.ccd(mesh.features(), x, x)) == 0


def test_an_inversion_is_a_contact_of_features():
    """A vertex passes through the opposite face of its own tetrahedron (errata 20); the same positions serve all."""
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3]]})
    x0 = np.array(truth.UNIT_CELLS["tetra"], float)
    x1 = x0.copy()
    x1[3] = 0.25, 0.25, -1.0
    for view in (mesh.features(), mesh.surface()):
        contacts = pliant.ccd(view, x0, x1)
        assert contacts.vf.elements.tolist() == [[3, 0]]
    assert inverted(mesh, x1).tolist() == [0]


# ---- input


def test_integers_of_any_type_in_any_order_of_types():
    blocks = random_blocks(4)
    for dtype in (np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        cells = {name: cells.astype(dtype) for name, cells in reversed(blocks.items())}
        assert_same(pliant.VolumeMesh(cells), pliant.VolumeMesh(blocks))


def test_cells_are_copied():
    cells = np.array([[0, 1, 2, 3]], np.int32)
    mesh = pliant.VolumeMesh({"tetra": cells})
    cells[0, 0] = 9
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3]]
    assert mesh.cells["tetra"].dtype == np.int32


def test_a_mesh_says_what_it_is():
    mesh = pliant.VolumeMesh({"quad": [[0, 1, 2, 3]], "tetra": [[0, 1, 2, 3], [1, 2, 3, 4]]})
    assert repr(mesh) == "VolumeMesh(2 tetra, 1 quad)"
    assert repr(pliant.VolumeMesh()) == "VolumeMesh(0 cells)"


@pytest.mark.parametrize(
    ("cells", "error", "text"),
    [
        ({"tetra": [[0, 1, 2]]}, "ShapeError", r"tetra must have shape \(m, 4\), but has \(1, 3\)"),
        ({"tetra": [0, 1, 2, 3]}, "ShapeError", r"tetra must have shape \(m, 4\), but has \(4,\)"),
        ({"wedge": [[0, 1, 2], [3]]}, "ShapeError", "wedge is not a rectangular array"),
        ({"quad": np.ones((2, 4))}, "DtypeError", "quad must hold integers, but has dtype float64"),
        ({"quad": np.ones((2, 4), bool)}, "DtypeError", "quad must hold integers, but has dtype bool"),
        ({"tetra": [[0, 1, 2, 3], [0, 1, -2, 3]]}, "VertexIndexError", "tetra 1 refers to vertex -2, which cannot"),
        ({"tetra": [[0, 1, 2, 2**31]]}, "VertexIndexError", "tetra 0 refers to vertex 2147483648, which cannot"),
        ({"tetra": [[0, 1, 2, 3]], "quad": [[0, 1, 2, 1]]}, "RepeatedVertexError", r"quad 0 \(cell 1\) names vertex 1"),
        (
            {"tetra": [[0, 1, 2, 3]] * 12 + [[7, 1, 2, 7]]},
            "RepeatedVertexError",
            r"^tetra 12 \(cell 12\) names vertex 7 t",
        ),
        (
            {"tetra10": [[*range(10)]]},
            "CellTypeError",
            "type tetra10 are not supported; supported are tetra, hexahedron",
        ),
        ({"line": [[0, 1]]}, "CellTypeError", "type line are not supported"),
    ],
)
def test_wrong_cells_are_named(cells, error, text):
    with pytest.raises(pliant.MeshError, match=text) as raised:
        pliant.VolumeMesh(cells)
    assert type(raised.value).__name__ == error


def test_a_vertex_without_a_position_is_named():
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [4, 1, 2, 9]]})
    with pytest.raises(pliant.MeshError, match="tetra 1 refers to vertex 9, but there are 9"):
        inverted(mesh, np.zeros((9, 3)))


class Block:
    def __init__(self, kind, data):
        self.type, self.data = kind, data


class Blocks:
    def __init__(self, *cells):
        self.cells = list(cells)


def test_blocks_of_a_type_are_joined_in_their_order():
    blocks = [
        ("line", np.array([[0, 1]])),
        ("tetra", np.array([[0, 1, 2, 3]], np.uint64)),
        ("vertex", np.array([[0]])),
        ("quad", np.array([[0, 1, 2, 3]])),
        ("tetra", np.array([[1, 2, 3, 4], [2, 3, 4, 5]], np.int64)),
        ("tetra", np.empty((0, 4))),
    ]
    expected = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]], "quad": [[0, 1, 2, 3]]})
    assert_same(as_volume(Blocks(*blocks)), expected)
    assert_same(as_volume(Blocks(*(Block(*block) for block in blocks))), expected)
    assert_same(as_volume(expected.cells), expected)
    assert as_volume(expected) is expected


@pytest.mark.parametrize(
    ("mesh", "error", "text"),
    [
        (
            Blocks(("tetra", [[0, 1, 2, 3]]), ("polygon", [[0, 1, 2]])),
            CellTypeError,
            "type polygon are not supported; sup",
        ),
        (
            Blocks(("line", [[0, 1]]), ("tetra", [[0, 1, 2]])),
            pliant.MeshError,
            r"block 1: tetra must have shape \(m, 4\)",
        ),
        (Blocks(("tetra", [[0, 1, 2, 3]]), ("tetra", [[0, 1, 2, 0]])), RepeatedVertexError, r"tetra 1 \(cell 1\)"),
        (np.zeros((3, 4), int), pliant.MeshError, "a volume mesh is a dict of cells or has blocks of them; ndarray is"),
        (None, pliant.MeshError, "NoneType is neither"),
    ],
)
def test_wrong_blocks_are_named(mesh, error, text):
    with pytest.raises(error, match=text):
        as_volume(mesh)


# ---- changes


@pytest.mark.unit
def test_a_changed_mesh_is_what_is_built_anew():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mesh = pliant.VolumeMesh(random_blocks(seed, most=9))
        add = random_blocks(50 + seed, vertices=18, most=4)
        remove = rng.permutation(len(mesh.types))[: len(mesh.types) // 3]
        cells = [(mesh.type_names[t], cell) for t, cell in zip(mesh.types, mesh.corners[:].tolist())]
        anew = {name: [] for name in mesh.type_names}
        for i, (name, cell) in enumerate(cells):
            if i not in remove:
                anew[name].append(cell[: COLUMNS[name]])
        for name, more in add.items():
            anew[name] += more.tolist()
        before = mesh.faces.copy()
        changed = mesh.changed(add=add, remove=remove)
        assert_same(changed, pliant.VolumeMesh(anew))
        assert_true(changed, anew)
        assert_same(mesh.changed(remove=[*range(len(mesh.types))] * 2), pliant.VolumeMesh())
        assert_same(mesh.changed(), mesh)
        np.testing.assert_array_equal(mesh.faces, before)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"remove": [0, 5]}, CellIndexError, "remove names cell 5, but there are 1"),
        ({"remove": [-1]}, CellIndexError, "remove names cell -1, but there are 1"),
        ({"remove": [True]}, pliant.MeshError, "remove must hold integers, but has dtype bool"),
        ({"remove": 0}, pliant.MeshError, r"remove must have shape \(k,\), but has \(\)"),
        ({"add": {"tetra": [[0, 1, 2, 2]]}}, RepeatedVertexError, "names vertex 2 twice"),
        ({"add": {"tet": [[0, 1, 2, 2]]}}, CellTypeError, "type tet are not supported"),
    ],
)
def test_wrong_changes_are_named(change, error, text):
    with pytest.raises(error, match=text):
        pliant.VolumeMesh({"tetra": [[0, 1, 2, 3]]}).changed(**change)


# ---- inverted cells


@pytest.mark.parametrize("name", SOLIDS)
def test_upright_cells_and_their_mirror_images(name):
    x = np.array(truth.UNIT_CELLS[name], float)
    mesh = pliant.VolumeMesh({name: [[*range(len(x))]]})
    assert inverted(mesh, x).tolist() == []
    assert inverted(mesh, -x).tolist() == [0]
    for scale in ((1, 1, 0), (1e-200, 1e-200, 1e-200), (1e200, 1e200, -1e200)):
        assert inverted(mesh, x * scale).tolist() == ([] if scale[2] > 0 else [0])


def test_one_corner_is_enough():
    """A corner of a cube pushed through the opposite one: the volume stays positive, the corner does not."""
    mesh = pliant.VolumeMesh({"hexahedron": [[*range(8)]]})
    for corner in range(8):
        x = np.array(truth.UNIT_CELLS["hexahedron"], float)
        x[corner] = x[corner] + 0.8 * (0.5 - x[corner])
        assert inverted(mesh, x).tolist() == [0]


@pytest.mark.bounds
@pytest.mark.parametrize("span", [2, 1e-9, 1e-30])
def test_signs_are_exact(span):
    """Small integers and positions that are almost flat, against fractions."""
    found = total = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        blocks = random_blocks(seed, vertices=16, most=5)
        if span == 2:
            x = rng.integers(-2, 3, (16, 3)).astype(float)
        else:
            x = rng.uniform(-1, 1, (16, 2)) @ rng.uniform(-1, 1, (2, 3))
            x[:, 2] += span * rng.uniform(-1, 1, 16)
        names = {name: cells for name, cells in blocks.items() if name in ("tetra", "pyramid", "quad")}
        mesh = pliant.VolumeMesh(names)
        assert inverted(mesh, x).tolist() == truth.inverted(names, x)
        found, total = found + len(inverted(mesh, x)), total + mesh.solid_count
    assert 0.3 * total < found < total


def test_one_warning_counts_the_inverted_cells():
    x = np.array(truth.UNIT_CELLS["tetra"], float)
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3]] + [[1, 0, 2, 3]] * 7})
    with pytest.warns(
        UserWarning, match="^7 of 8 solid cells are inverted or flat: 1, 2, 3, 4, 5 and 2 more$"
    ) as given:
        assert warn_inverted(mesh, x).tolist() == [*range(1, 8)]
    assert len(given) == 1
    assert given[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_inverted(pliant.VolumeMesh({"tetra": [[0, 1, 2, 3]], "quad": [[3, 2, 1, 0]]}), x)


# ---- real files

FILES = {  # cells, faces, edges, boundary faces, inverted cells
    "bullet_banana.vtk": (2395, 5340, 3669, 1100, 0),
    "ipc_Armadillo13K.msh": (54985, 118618, 76862, 17296, 0),
    "ipc_erleben_cliff.obj": (12, 12, 18, 12, 0),
    "ipc_erleben_spike.msh": (2, 7, 9, 6, 0),
    "ipc_hammer.msh": (9683, 21411, 14432, 4090, 0),
    "ipc_torus.msh": (491, 1182, 891, 400, 0),
    "polyfem_bimetal.msh": (16275, 34866, 22471, 4632, 0),
    "polyfem_cube-hex.msh": (1, 12, 18, 12, 0),
    "polyfem_hybrid_block.msh": (40, 136, 126, 48, 0),
    "polyfem_hybrid_lshape_L1.msh": (120, 392, 346, 112, 0),
    "polyfem_prism_cantilever.msh": (16, 88, 98, 48, 0),
    "polyfem_pyramid.msh": (72, 254, 233, 76, 0),
    "sofa_Armadillo_Tetra_4406.vtu": (4406, 10078, 7118, 2532, 0),
}


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_real_files(name):
    meshio = pytest.importorskip("meshio")
    folder = find_data_folder()
    assert folder is not None
    read = meshio.read(folder / "volume" / name)
    mesh = as_volume(read)
    surface = mesh.surface()
    counts = (len(mesh.types), len(mesh.faces), len(mesh.edges), len(surface.faces), len(inverted(mesh, read.points)))
    assert counts == FILES[name]
    if len(mesh.types) < 10_000:
        assert_true(mesh, mesh.cells)
    # A solid has a closed surface: as many sides run along an edge in one direction as in the other.
    a = surface.faces[:, [0, 1, 2]].ravel().astype(np.int64)
    b = surface.faces[:, [1, 2, 0]].ravel().astype(np.int64)
    if mesh.solid_count:
        np.testing.assert_array_equal(np.sort(a << 32 | b), np.sort(b << 32 | a))
