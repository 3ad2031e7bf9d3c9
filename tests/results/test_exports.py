"""Results for other tools: columns, and meshes coloured by what takes part."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pliant
from pliant.results.exports import MANY, ONE, PLAIN, face_colours
from tests.shapes.falling import END, FACES, START
from tests.shapes.meshes import scene


@pytest.fixture(scope="module")
def contacts():
    return pliant.ccd(FACES, START, END)


def slow_counts(contacts, faces, edges):
    """In how many contacts each face takes part: one by one."""
    counts = [0] * len(faces)
    for kind, (first, second) in zip(contacts.kind.tolist(), contacts.elements.tolist()):
        for f, corners in enumerate(faces):
            if kind == 0:
                part = first in corners or f == second
            else:
                part = any(set(edges[e]) <= set(corners) for e in (first, second))
            counts[f] += part
    return counts


def test_face_counts(contacts):
    mesh = pliant.TriMesh(FACES)
    assert {0, 1} == set(contacts.kind.tolist())
    assert contacts.face_counts(FACES).tolist() == slow_counts(contacts, FACES, mesh.edges.tolist())


@pytest.mark.unit
def test_face_counts_of_degenerate_faces_and_shared_edges():
    faces = [*FACES, (3, 3, 4), (0, 1, 0), (0, 1, 2), (5, 5, 5)]
    found = pliant.ccd(faces, START, END)
    assert len(found)
    assert found.face_counts(faces).tolist() == slow_counts(found, faces, pliant.TriMesh(faces).edges.tolist())


def test_face_counts_of_a_scene():
    mesh, x0, x1 = scene("twisted_cloth")
    faces = pliant.TriMesh(mesh).faces if not isinstance(mesh, pliant.TriMesh) else mesh.faces
    found = pliant.ccd(faces, x0, x1)[:60]
    assert found.face_counts(faces).tolist() == slow_counts(found, faces.tolist(), pliant.TriMesh(faces).edges.tolist())


def test_face_counts_of_a_volume():
    """Features inside of a volume have ids, too; the surface is what is coloured."""
    cells = {"tetra": [(0, 1, 2, 3), (1, 2, 3, 4), (5, 6, 7, 8)]}
    x0 = np.array(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (5, 0, 0), (6, 0, 0), (5, 1, 0), (5, 0, 1)], float
    )
    x1 = x0.copy()
    x1[5:, 0] -= 4.6
    volume = pliant.VolumeMesh(cells)
    found = pliant.ccd(volume, x0, x1)
    assert len(found)
    counts = found.face_counts(volume)
    assert len(counts) == len(volume.surface().faces)
    outside = pliant.ccd(volume.surface(), x0, x1)
    assert (outside.face_counts(volume.surface()) <= counts).all()
    assert (counts > 0).any()


def test_face_counts_of_intersections_and_proximity():
    hits = pliant.dcd(FACES, END)
    assert hits.face_counts(FACES).tolist() == np.bincount(hits.faces.ravel(), minlength=4).tolist()
    near = pliant.proximity(FACES, START, within=2.0)
    assert len(near)
    assert near.face_counts(FACES).tolist() == slow_counts(near, FACES, pliant.TriMesh(FACES).edges.tolist())


def test_another_mesh(contacts):
    with pytest.raises(pliant.MeshError, match="another mesh"):
        contacts.face_counts(FACES[:1])
    with pytest.raises(pliant.MeshError, match="vertex"):
        contacts.to_trimesh(FACES, START[:5])


@pytest.mark.unit
def test_colours():
    assert face_colours(np.array([0, 1, 2, 16])).tolist()[0] == list(PLAIN)
    assert face_colours(np.array([0, 1, 16])).tolist()[1:] == [list(ONE), list(MANY)]
    assert face_colours(np.zeros(3, int)).tolist() == [list(PLAIN)] * 3
    assert face_colours(np.zeros(0, int)).shape == (0, 3)


def test_to_trimesh(contacts):
    pytest.importorskip("trimesh")
    made = contacts.to_trimesh(FACES, END)
    np.testing.assert_array_equal(made.vertices, END)
    np.testing.assert_array_equal(made.faces, FACES)
    counts = contacts.face_counts(FACES)
    np.testing.assert_array_equal(made.face_attributes["pairs"], counts)
    np.testing.assert_array_equal(made.visual.face_colors[:, :3], face_colours(counts))
    assert len(contacts[:0].to_trimesh(FACES, END).faces) == 4
    assert len(pliant.dcd(FACES, END).to_trimesh(FACES, END).faces) == 4


def test_to_meshio(contacts, tmp_path):
    meshio = pytest.importorskip("meshio")
    made = contacts.to_meshio(FACES, END)
    made.write(tmp_path / "offenders.vtu")
    back = meshio.read(tmp_path / "offenders.vtu")
    np.testing.assert_array_equal(back.cell_data["pairs"][0], contacts.face_counts(FACES))
    np.testing.assert_array_equal(back.cell_data["colliding"][0], contacts.face_counts(FACES) > 0)
    np.testing.assert_array_equal(back.points, END)


class PolyDataStandIn:
    def __init__(self, points, faces):
        self.points, self.faces, self.cell_data = points, faces, {}


def test_to_pyvista(contacts, monkeypatch):
    """pyvista is 800 MB: a stand-in where it is not installed, with the same constructor."""
    try:
        import pyvista  # noqa: F401
    except ImportError:
        monkeypatch.setitem(sys.modules, "pyvista", SimpleNamespace(PolyData=PolyDataStandIn))
    made = contacts.to_pyvista(FACES, END)
    np.testing.assert_array_equal(np.asarray(made.faces).reshape(-1, 4), [(3, *face) for face in FACES])
    np.testing.assert_array_equal(made.points, END)
    np.testing.assert_array_equal(made.cell_data["pairs"], contacts.face_counts(FACES))
    assert made.cell_data["colours"].dtype == np.uint8


@pytest.mark.parametrize(
    ("method", "package"), [("to_trimesh", "trimesh"), ("to_meshio", "meshio"), ("to_pyvista", "pyvista")]
)
def test_without_packages(contacts, monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{method}\(\) needs {package}.*: pip install"):
        getattr(contacts, method)(FACES, END)


def test_tables_to_pandas(contacts):
    pytest.importorskip("pandas")
    x0 = np.random.default_rng(3).normal(size=(40, 6, 3))
    x1 = x0 + np.random.default_rng(4).normal(size=(40, 6, 3))
    pairs = pliant.triangle_triangle(x0, x1)
    assert 0 < pairs.hit.sum() < 40
    table = pairs.to_pandas()
    np.testing.assert_array_equal(table["hit"], pairs.hit)
    assert set(table["kind"][~pairs.hit]) == {""}
    assert "" not in set(table["kind"][pairs.hit])
    np.testing.assert_array_equal(table[[f"weight_{i}" for i in range(6)]], pairs.weights)
    apart = pliant.triangle_distance(x0)
    np.testing.assert_array_equal(apart.to_pandas()["distance"], apart.distance)
    np.testing.assert_array_equal(apart.to_pandas()[[f"point_1_{a}" for a in "xyz"]], apart.points[:, 1])
    assert list(pliant.vertex_face_distance(x0[:, :4]).to_pandas()["weight_0"]) == [1.0] * 40
    sequence = pliant.Sequence(FACES, np.stack((START, END, START)))
    table = pliant.scan(sequence).to_pandas()
    assert table["contacts"].tolist()[:2] == [0, len(contacts)]
    assert (table["vertex_face"] + table["edge_edge"] == table["contacts"]).all()
    assert np.isnan(table["first_contact"][0])
    assert table["first_contact"][1] == contacts.toi.min()


def test_progress_of_long_functions():
    x = np.random.default_rng(0).normal(size=(50_000, 4, 3))
    for query in (pliant.vertex_face, pliant.edge_edge):
        seen = []
        query(x, x + 1.0, threads=1, progress=lambda done, count, seen=seen: seen.append((done, count)))
        assert seen == [(1, 3), (2, 3), (3, 3)]
    seen = []
    triangles = np.random.default_rng(0).normal(size=(40_000, 6, 3))
    pliant.triangle_triangle(triangles, triangles, threads=1, progress=lambda *state: seen.append(state))
    assert seen == [(1, 3), (2, 3), (3, 3)]
