"""Bad input ends in a named error that says where; odd but valid input is handled."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pliant
from pliant.runtime.arrays import DtypeError, NonFiniteError, OptionError, ShapeError, VertexIndexError
from tests.shapes.meshes import scene
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical

X = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 1), (2, 1, 1), (1, 2, 1)], np.float64)
FACES = np.array([(0, 1, 2), (3, 4, 5)])
DOWN = X - (np.arange(6) > 2)[:, None] * (0, 0, 2)
QUERIES = (pliant.ccd, pliant.safe_step)


def changed(array, where, value):
    array = np.array(array)
    array[where] = value
    return array


def test_errors_are_mesh_errors_and_value_errors():
    for error in (DtypeError, NonFiniteError, OptionError, ShapeError, VertexIndexError):
        assert issubclass(error, pliant.MeshError)
    assert issubclass(pliant.MeshError, ValueError)


BAD_MESHES = {
    "index too large": (changed(FACES, (1, 2), 6), VertexIndexError, "face 1 refers to vertex 6, but there are 6"),
    "negative index": (changed(FACES, (1, 0), -1), VertexIndexError, "face 1 refers to vertex -1"),
    "beyond int32": (changed(FACES, (0, 0), 2**40), VertexIndexError, "face 0 refers to vertex 1099511627776"),
    "unsigned": (np.full((1, 3), 2**64 - 1, np.uint64), VertexIndexError, "face 0 refers to vertex"),
    "quads": (np.zeros((2, 4), int), ShapeError, r"faces must have shape \(m, 3\), but has \(2, 4\)"),
    "one dimension": (np.zeros(6, int), ShapeError, r"faces must have shape \(m, 3\)"),
    "floats": (FACES.astype(float), DtypeError, "faces must hold integers, but has dtype float64"),
    "booleans": (np.ones((2, 3), bool), DtypeError, "faces must hold integers"),
    "text": ([["a", "b", "c"]], DtypeError, "faces must hold integers"),
    "ragged": ([(0, 1, 2), (3, 4)], ShapeError, "faces is not a rectangular array"),
}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", BAD_MESHES)
def test_bad_faces(query, name):
    faces, error, message = BAD_MESHES[name]
    with pytest.raises(error, match=message):
        query(faces, X, DOWN)


@pytest.mark.parametrize(
    ("edges", "points", "message"),
    [
        ([(0, 1), (2, 9)], None, "edge 1 refers to vertex 9, but there are 6"),
        ([(0, 1, 2)], None, r"edges must have shape \(m, 2\)"),
        (None, [0, 7], "point 1 refers to vertex 7, but there are 6"),
        (None, [(0, 1)], r"points must have shape \(m,\)"),
        (None, [-3], "point 0 refers to vertex -3"),
    ],
)
def test_bad_loose_features(edges, points, message):
    with pytest.raises(pliant.MeshError, match=message):
        pliant.ccd(pliant.TriMesh(FACES, edges, points), X, DOWN)


BAD_POSITIONS = {
    "NaN": (changed(X, (4, 1), np.nan), NonFiniteError, r"\[4, 1\] is nan"),
    "infinite": (changed(X, (2, 0), -np.inf), NonFiniteError, r"\[2, 0\] is -inf"),
    "two columns": (X[:, :2], ShapeError, r"must have shape \(n, 3\), but has \(6, 2\)"),
    "one dimension": (X.ravel(), ShapeError, r"must have shape \(n, 3\), but has \(18,\)"),
    "complex": (X.astype(complex), DtypeError, "must hold real numbers"),
    "text": (X.astype(str), DtypeError, "must hold real numbers"),
    "None": (None, pliant.MeshError, ""),
    "large integers": (changed(X.astype(np.int64), (0, 0), 2**53 + 1), DtypeError, r"above 2\*\*53"),
}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("which", ["x0", "x1"])
@pytest.mark.parametrize("name", BAD_POSITIONS)
def test_bad_positions(query, which, name):
    bad, error, message = BAD_POSITIONS[name]
    positions = {"x0": X, "x1": DOWN} | {which: bad}
    with pytest.raises(error, match=rf"^{which}.*{message}"):
        query(FACES, **positions)


def test_positions_of_different_length():
    with pytest.raises(ShapeError, match="x1 has 5 rows, but x0 has 6"):
        pliant.ccd(FACES, X, DOWN[:5])


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "some"}, "pairs='some' is not known; choose one of 'all', 'self', 'inter'"),
        ({"culling": "magic"}, "culling='magic' is not known"),
        ({"bounds": "obb"}, "bounds='obb' is not known; choose one of 'aabb'"),
        ({"assignment": "random"}, "assignment='random' is not known"),
        ({"filters": "dnf"}, "filters='dnf' must be a sequence of names"),
        ({"filters": ("dnf", "dmf")}, "filters='dmf' is not known"),
        ({"threads": 0}, "threads=0 must be a positive integer"),
        ({"threads": -1}, "threads=-1"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"threads": True}, "threads=True"),
        ({"objects": [0] * 5}, "one label for each of the 6 vertices, but has 5"),
        ({"objects": [0, 0, 0, 1, 1, 2]}, r"face 1 joins vertices of different objects \[1, 1, 2\]"),
        ({"objects": [[0] * 6]}, r"objects must have shape"),
        ({"objects": [0.5] * 6}, "objects must hold integers"),
    ],
)
def test_bad_options(query, options, message):
    with pytest.raises(pliant.MeshError, match=message):
        query(FACES, X, DOWN, **grouped(**options))


def test_objects_must_not_part_a_loose_edge():
    mesh = pliant.TriMesh(FACES, [(0, 3)])
    with pytest.raises(pliant.MeshError, match=r"edge .* joins vertices of different objects"):
        pliant.ccd(mesh, X, DOWN, objects=[0, 0, 0, 1, 1, 1])


def test_unknown_keywords_are_errors():
    with pytest.raises(TypeError):
        pliant.ccd(FACES, X, DOWN, speed="fast")
    with pytest.raises(TypeError):
        pliant.ccd(FACES, X, DOWN, None)


# ---- odd but valid


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("mesh", [[], (), np.empty((0, 3)), np.empty((0, 3), int), pliant.TriMesh()])
@pytest.mark.parametrize("n", [0, 5])
def test_empty_meshes(query, mesh, n):
    x = np.zeros((n, 3))
    for options in ({}, {"pairs": "self"}, {"culling": "brute"}, {"objects": np.zeros(n, int)}):
        result = query(mesh, x, x, **grouped(**options))
        assert float(result) == 1.0 if query is pliant.safe_step else len(result) == 0


@pytest.mark.parametrize("culling", ["boxes", "brute"])
@pytest.mark.parametrize(
    ("mesh", "count"),
    [
        ([(0, 1, 2)], 0),
        ([(0, 0, 0)], 0),
        ([(0, 1, 2), (0, 1, 2)], 0),
        ([(0, 1, 2), (3, 3, 3)], 1),
        (pliant.TriMesh([(0, 1, 2)], points=[3]), 1),
        (pliant.TriMesh([(0, 1, 2)], points=[3, 3, 1]), 1),
        (pliant.TriMesh([(0, 1, 2), (2, 1, 0)], points=[3]), 2),
        (pliant.TriMesh(edges=[(0, 1)]), 0),
        (pliant.TriMesh(edges=[(3, 3)], faces=[(0, 1, 2)]), 1),
        (pliant.TriMesh(points=[3, 4]), 0),
    ],
)
def test_the_smallest_meshes(mesh, count, culling):
    assert len(pliant.ccd(mesh, X, DOWN, tuning=pliant.Tuning(culling=culling))) == count


def test_two_points_never_meet():
    """A contact is a vertex and a triangle, or two edges: that two loose points meet is none."""
    x = np.zeros((4, 3))
    assert len(pliant.ccd(pliant.TriMesh(points=[0, 1]), x, x)) == 0
    assert len(pliant.ccd(pliant.TriMesh(edges=[(0, 1)], points=[2]), x, x)) == 0
    assert len(pliant.ccd(pliant.TriMesh(edges=[(0, 1), (2, 3)]), x, x)) == 1


def test_vertices_in_no_face_take_no_part():
    x0, x1 = (np.concatenate([x, [(1, 1, z)] * 3]) for x, z in ((X, 1), (DOWN, -1)))
    assert_identical(pliant.ccd(FACES, x0, x1), pliant.ccd(FACES, X, DOWN))


@pytest.mark.parametrize("convert", [np.ndarray.tolist, np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2]])
def test_arrays_of_any_layout(convert):
    mesh, x0, x1 = scene("crumpled_sheet")
    expected = pliant.ccd(mesh, x0, x1)
    assert_identical(pliant.ccd(convert(mesh.faces), convert(x0), convert(x1)), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, object])
def test_integers_of_any_type(dtype):
    if dtype is object:
        with pytest.raises(DtypeError):
            pliant.ccd(FACES.astype(object), X, DOWN)
    else:
        assert_identical(pliant.ccd(FACES.astype(dtype), X, DOWN), pliant.ccd(FACES, X, DOWN))


def test_input_is_left_alone():
    arrays = [FACES.copy(), X.copy(), DOWN.copy()]
    for array in arrays:
        array.flags.writeable = False
    pliant.ccd(*arrays)
    step = pliant.safe_step(*arrays)
    assert not any(np.shares_memory(step.positions, array) for array in arrays)
    np.testing.assert_array_equal(arrays[1], X)
    np.testing.assert_array_equal(arrays[2], DOWN)


# ---- meshes of other libraries


def test_trimesh():
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(X, FACES, process=False)
    assert_identical(pliant.ccd(mesh, X, DOWN), pliant.ccd(FACES, X, DOWN))


def test_meshio():
    meshio = pytest.importorskip("meshio")
    cells = [("triangle", FACES[:1]), ("line", [(3, 4)]), ("vertex", [[5]])]
    contacts = pliant.ccd(meshio.Mesh(X, cells), X, DOWN)
    assert_identical(contacts, pliant.ccd(pliant.TriMesh(FACES[:1], [(3, 4)], [5]), X, DOWN))
    assert len(contacts) == 3
    quads = meshio.Mesh(X, [("quad", [(0, 1, 2, 3)])])  # shells: a volume mesh
    assert_identical(pliant.ccd(quads, X, DOWN), pliant.ccd(pliant.VolumeMesh({"quad": [(0, 1, 2, 3)]}), X, DOWN))
    with pytest.raises(pliant.MeshError, match="tetra10 are not supported"):
        pliant.ccd(meshio.Mesh(np.tile(X, (2, 1)), [("tetra10", [range(10)])]), X, DOWN)


def test_what_looks_like_pyvista():
    mesh = SimpleNamespace(regular_faces=FACES, is_all_triangles=True, faces=np.array([3, 0, 1, 2]), points=X)
    assert_identical(pliant.ccd(mesh, X, DOWN), pliant.ccd(FACES, X, DOWN))
    mesh.is_all_triangles = False
    with pytest.raises(pliant.MeshError, match="triangulate"):
        pliant.ccd(mesh, X, DOWN)


def test_what_looks_like_a_grid_of_pyvista():
    """Cells by numbers of VTK; voxels, 11, have their corners in another order."""
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    voxel = SimpleNamespace(
        celltypes=np.array([11], np.uint8), cells_dict={np.uint8(11): np.arange(8)[None]}, cells=None
    )
    np.testing.assert_array_equal(pliant.VolumeMesh(voxel).cells["hexahedron"], [[0, 1, 3, 2, 4, 5, 7, 6]])
    assert len(pliant.ccd(voxel, corners, corners + 1)) == 0
    flat = SimpleNamespace(celltypes=np.array([5, 5], np.uint8), cells_dict={np.uint8(5): np.array(FACES)})
    assert_identical(pliant.ccd(flat, X, DOWN), pliant.ccd(FACES, X, DOWN))
    assert len(pliant.TriMesh(flat).faces) == len(FACES)
    with pytest.raises(pliant.MeshError, match="hexahedron cells; TriMesh takes"):
        pliant.TriMesh(voxel)
    voxel.celltypes = np.array([11, 24], np.uint8)
    with pytest.raises(pliant.MeshError, match=r"VTK types 24; .*linear_copy"):
        pliant.ccd(voxel, corners, corners)


def test_meshes_of_meshes():
    mesh = pliant.TriMesh(FACES[:1], [(3, 4)], [5])
    again = pliant.TriMesh(mesh)
    assert (again.loose_edges == mesh.loose_edges).all()
    assert (again.loose_points == mesh.loose_points).all()
    cells = pliant.VolumeMesh({"tetra": [(0, 1, 2, 3)]})
    assert (pliant.VolumeMesh(cells).cells["tetra"] == cells.cells["tetra"]).all()


def test_what_is_no_mesh():
    for bad in ("cube.obj", 7, object()):
        with pytest.raises(pliant.MeshError):
            pliant.ccd(bad, X, DOWN)


def test_no_mesh_at_all_is_named():
    with pytest.raises(pliant.MeshError, match="mesh is None"):
        pliant.ccd(None, X, DOWN)


@pytest.mark.parametrize("query", QUERIES)
def test_filters_from_a_generator(query):
    """The check of the names used it up, and no filter ran."""
    scene = pliant.scenes.load("crumpled_sheet", triangles=200, frames=2)
    names = ("csat", "dnf")
    result = query(scene.faces, scene.x0, scene.x1, tuning=pliant.Tuning(filters=(name for name in names)))
    assert [s.name for s in result.stages] == [
        s.name for s in query(scene.faces, scene.x0, scene.x1, tuning=pliant.Tuning(filters=names)).stages
    ]
    assert {"csat", "dnf"} <= {s.name for s in result.stages}


def masked(array, row):
    """A masked array with all of a row masked."""
    out = np.ma.array(array, copy=True)
    out[row] = np.ma.masked
    return out


@pytest.mark.parametrize("query", QUERIES)
def test_masked_values_are_missing(query):
    """Masks were ignored: what is behind them, often a fill value, counted as positions."""
    x1 = X + 1.0
    with pytest.raises(pliant.MeshError, match=r"x0\[1, 0\] is masked"):
        query(FACES, masked(X, 1), x1)
    with pytest.raises(pliant.MeshError, match=r"x1\[2, 0\] is masked"):
        query(FACES, X, masked(x1, 2))
    with pytest.raises(pliant.MeshError, match=r"faces\[0, 0\] is masked"):
        query(masked(FACES, 0), X, x1)
    with pytest.raises(pliant.MeshError, match=r"objects\[3\] is masked"):
        query(FACES, X, x1, objects=masked(np.zeros(len(X), int), 3))
    plain, wrapped = query(FACES, X, x1), query(np.ma.array(FACES), np.ma.array(X), np.ma.array(x1))
    assert repr(plain) == repr(wrapped)


def test_masked_values_elsewhere():
    with pytest.raises(pliant.MeshError, match="masked"):
        pliant.dcd(FACES, masked(X, 0))
    with pytest.raises(pliant.MeshError, match="masked"):
        pliant.ccd(FACES, X, X, radii=masked(np.zeros(len(X)), 0))
    with pytest.raises(pliant.MeshError, match="masked"):
        pliant.VolumeMesh({"tetra": masked(np.array([(0, 1, 2, 3), (1, 2, 3, 4)]), 0)})
    with pytest.raises(pliant.MeshError, match="masked"):
        pliant.vertex_face(masked(np.zeros((1, 4, 3)), 0), np.zeros((1, 4, 3)))
    with pytest.raises(pliant.MeshError, match="masked"):
        pliant.Accelerated(masked(np.zeros((4, 3)), 1))
