"""pyvista itself, where it is installed: it is 800 MB, and in no extra. test_input and test_exports have stand-ins."""

import numpy as np
import pytest

import pliant

pv = pytest.importorskip("pyvista", reason="needs pyvista: pip install pyvista")


@pytest.fixture(scope="module")
def balls():
    """Two that overlap."""
    ball = pv.Sphere(theta_resolution=8, phi_resolution=8)
    x = np.concatenate((ball.points, ball.points + (0.3, 0.1, 0.05)))
    faces = np.concatenate((ball.regular_faces, ball.regular_faces + ball.n_points))
    return pv.PolyData.from_regular_faces(x, faces), faces, x


def test_polydata_is_a_mesh(balls):
    mesh, faces, _ = balls
    x = mesh.points  # as they are: float32, and a subclass of ndarray
    np.testing.assert_array_equal(pliant.TriMesh(mesh).faces, faces)
    found, expected = pliant.dcd(mesh, x), pliant.dcd(faces, np.asarray(x, np.float64))
    np.testing.assert_array_equal(found.faces, expected.faces)
    assert len(found) > 10
    contacts = pliant.ccd(mesh, x, x * 0.5)
    np.testing.assert_array_equal(contacts.toi, pliant.ccd(faces, np.asarray(x), np.asarray(x) * 0.5).toi)
    assert len(pliant.TriMesh(pv.PolyData()).faces) == 0


def test_cells_that_are_not_triangles_are_named():
    for mesh in (pv.Plane(i_resolution=2, j_resolution=2), pv.Line(), pv.Sphere().strip()):
        with pytest.raises(pliant.MeshError, match=r"triangulate\(\)"):
            pliant.TriMesh(mesh)


def test_a_grid_is_a_volume_mesh(balls):
    grid = pv.Sphere(theta_resolution=8, phi_resolution=8).delaunay_3d()
    tetra = grid.cells_dict[np.uint8(pv.CellType.TETRA)]
    np.testing.assert_array_equal(pliant.VolumeMesh(grid).cells["tetra"], tetra)
    x0 = np.asarray(grid.points, np.float64)
    contacts = pliant.ccd(grid, grid.points, x0 * (-1, 1, 1))
    np.testing.assert_array_equal(contacts.toi, pliant.ccd({"tetra": tetra}, x0, x0 * (-1, 1, 1)).toi)
    assert contacts.inversion.any()
    made = contacts.to_pyvista(grid, x0)
    assert made.n_cells == len(pliant.VolumeMesh(grid).surface().faces)
    triangles = balls[0].cast_to_unstructured_grid()
    np.testing.assert_array_equal(pliant.dcd(triangles, balls[2]).faces, pliant.dcd(balls[1], balls[2]).faces)


def test_voxels_stand_upright():
    grid = pv.ImageData(dimensions=(3, 3, 3)).cast_to_unstructured_grid()
    mesh = pliant.VolumeMesh(grid)
    assert len(mesh.cells["hexahedron"]) == 8
    corners = np.asarray(grid.points, np.float64)[mesh.cells["hexahedron"]]
    sides = [corners[:, k] - corners[:, 0] for k in (1, 3, 4)]
    assert (np.einsum("ij,ij->i", np.cross(sides[0], sides[1]), sides[2]) == 1).all()
    assert len(pliant.dcd(grid, grid.points)) == 0


def test_colours_are_exported(balls, tmp_path):
    mesh, faces, x = balls
    found = pliant.dcd(mesh, x)
    made = found.to_pyvista(mesh, x)
    assert isinstance(made, pv.PolyData)
    np.testing.assert_array_equal(made.regular_faces, faces)
    np.testing.assert_array_equal(made.points, x)
    assert made.cell_data["colours"].shape == (len(faces), 3)
    made.save(tmp_path / "a.vtp")
    again = pv.read(tmp_path / "a.vtp")
    for name in ("pairs", "colours"):
        np.testing.assert_array_equal(again.cell_data[name], made.cell_data[name])
    counts = again.cell_data["pairs"]
    np.testing.assert_array_equal(counts, found.face_counts(faces))
    assert 0 < np.count_nonzero(counts) < len(faces)
    assert len(np.unique(again.cell_data["colours"][counts == 0], axis=0)) == 1
    np.testing.assert_array_equal(pliant.io.read(tmp_path / "a.vtp").points, x)
