"""Every pair of features nearer than a distance, against brute force: scenes, soups, characters and volumes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pliant
from bench.fingerprints import columns_of
from tests.conftest import find_data_folder
from tests.reference import distances, proximity
from tests.shapes.meshes import soup
from tests.shapes.tables import assert_identical

WIDTHS = (0.05, 0.3, 1.05)
SIZES = (150, 700)
LARGEST = 1500


class Surface(NamedTuple):
    mesh: pliant.TriMesh
    x: np.ndarray

    @property
    def edge(self) -> float:
        ends = self.x[self.mesh.edges]
        return float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))


def scene(name, triangles):
    made = pliant.scenes.load(name, triangles=triangles, frames=2)
    return Surface(pliant.TriMesh(made.faces), made.x1)


def brute(surface, within):
    mesh = surface.mesh
    return proximity.near(mesh.faces, surface.x, within, mesh.loose_edges, mesh.loose_points)


def by_vertices(found, name=None):
    """{pair of features, as sets of vertices: distances, more than one where a face is there twice}.

    name : (n,) ids to call the vertices by instead
    """
    vertices = found.vertices if name is None else name[found.vertices]
    table: dict[object, list[float]] = {}
    for kind, quad, distance in zip(found.kind.tolist(), vertices.tolist(), found.distance.tolist()):
        edges = frozenset((frozenset(quad[:2]), frozenset(quad[2:])))
        table.setdefault(edges if kind == 1 else (quad[0], frozenset(quad[1:])), []).append(distance)
    return table


def assert_equals_brute_force(surface, within, found=None):
    found = pliant.proximity(surface.mesh, surface.x, within=within) if found is None else found
    truth = brute(surface, within)
    scale = np.ptp(surface.x, axis=0).max()
    rows = {(int(k), *e): i for i, (k, e) in enumerate(zip(truth.kind, truth.elements.tolist()))}
    keys = [(int(k), *e) for k, e in zip(found.kind, found.elements.tolist())]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert set(keys) <= rows.keys()
    missing = [rows[key] for key in rows.keys() - set(keys)]
    assert truth.borderline[missing].all()
    order = [rows[key] for key in keys]
    np.testing.assert_array_equal(found.vertices, truth.vertices[order])
    np.testing.assert_allclose(found.distance, truth.distance[order], rtol=0, atol=1e-11 * scale)
    assert (found.distance <= within).all()
    assert_consistent(surface, found, scale)
    return len(found.kind)


def assert_consistent(surface, found, scale):
    """Weights, points, distance and normal say the same."""
    sides = np.where(found.kind[:, None] == 0, [True, False, False, False], [True, True, False, False])
    for side, (rows, sign) in enumerate(((sides, 1.0), (~sides, -1.0))):
        weights = np.where(rows, found.weights * sign, 0.0)
        assert weights.min(initial=0.0) >= 0
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-13)
        point = np.einsum("kj,kjc->kc", weights, surface.x[found.vertices])
        np.testing.assert_allclose(found.points[:, side], point, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1, rtol=1e-12)
    between = found.points[:, 0] - found.points[:, 1]
    np.testing.assert_allclose(between, found.distance[:, None] * found.normal, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("triangles", SIZES)
@pytest.mark.parametrize("name", pliant.scenes.names())
def test_scenes(name, triangles):
    surface = scene(name, triangles)
    counts = [assert_equals_brute_force(surface, width * surface.edge) for width in WIDTHS]
    assert counts == sorted(counts)
    assert counts[-1] > 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("within", [0.0, 0.5, 1.0, 2.5])
def test_soups(seed, within):
    # Small integers: hundreds of pairs touch, and many are at exactly the distance, which counts.
    mesh, x, _ = soup(seed)
    assert assert_equals_brute_force(Surface(mesh, x), within) > 10


def test_exactly_at_the_distance_counts():
    x = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 1), (2, 1, 1), (1, 2, 1)], dtype=np.float64)
    faces = [(0, 1, 2), (3, 4, 5)]
    assert len(pliant.proximity(faces, x, within=1.0).vertices) >= 3
    assert len(pliant.proximity(faces, x, within=np.nextafter(1.0, 0.0)).vertices) == 0


@pytest.fixture(scope="module", params=["twisted_cloth", "ball_heap", "passing_sheets", "funnel"])
def run(request):
    surface = scene(request.param, 400)
    within = 0.4 * surface.edge
    found = pliant.proximity(surface.mesh, surface.x, within=within)
    assert len(found.kind) > 10
    return surface, within, found


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(run, threads):
    surface, within, found = run
    again = pliant.proximity(surface.mesh, surface.x, within=within, threads=threads)
    assert_identical(again, found)


def same(a, b, scale):
    assert a.keys() == b.keys()
    for key, values in a.items():
        np.testing.assert_allclose(sorted(values), sorted(b[key]), rtol=0, atol=1e-12 * scale)


def test_order_of_faces_and_of_their_corners(run):
    surface, within, found = run
    rng = np.random.default_rng(1)
    faces = rng.permuted(surface.mesh.faces[rng.permutation(len(surface.mesh.faces))], axis=1)
    other = pliant.proximity(pliant.TriMesh(faces), surface.x, within=within)
    same(by_vertices(found), by_vertices(other), np.ptp(surface.x, axis=0).max())


def test_order_of_vertices(run):
    surface, within, found = run
    new = np.random.default_rng(2).permutation(len(surface.x))
    x = np.empty_like(surface.x)
    x[new] = surface.x
    other = pliant.proximity(pliant.TriMesh(new[surface.mesh.faces]), x, within=within)
    same(by_vertices(found), by_vertices(other, np.argsort(new)), np.ptp(surface.x, axis=0).max())


@pytest.mark.parametrize("pairs", ["all", "self", "inter"])
def test_objects(run, pairs):
    surface, within, found = run
    label = surface.mesh.components
    same_object = label[found.vertices[:, 0]] == label[found.vertices[:, 3]]
    expected = {"all": same_object | ~same_object, "self": same_object, "inter": ~same_object}[pairs]
    for objects in (None, label):
        part = pliant.proximity(surface.mesh, surface.x, within=within, objects=objects, pairs=pairs)
        assert_identical(part, found[expected])


# ---- real surfaces


def files(folder, *endings):
    data = find_data_folder()
    if data is None:
        return ["missing"]
    # sofa_*.msh are of an older format that meshio does not read.
    return sorted(p.name for e in endings for p in (data / folder).glob(f"*{e}") if not p.name.startswith("sofa_"))


def trimmed(faces, x):
    """At most LARGEST triangles, those nearest to an end of the surface: a piece of it, as dense as the whole."""
    x = np.asarray(x, dtype=np.float64)
    faces = np.asarray(faces)
    if len(faces) > LARGEST:
        middle = x[faces].mean(axis=1)
        axis = int(np.ptp(x, axis=0).argmax())
        faces = faces[np.sort(np.argsort(middle[:, axis], kind="stable")[:LARGEST])]
    return Surface(pliant.TriMesh(faces), x)


def surface_of(cells):
    """(m, 3): faces of tetrahedra that belong to one tetrahedron only."""
    sides = np.concatenate([cells[:, [1, 2, 3]], cells[:, [0, 3, 2]], cells[:, [0, 1, 3]], cells[:, [0, 2, 1]]])
    _, index, count = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    return sides[np.sort(index[count == 1])]


def assert_real(surface):
    counts = [assert_equals_brute_force(surface, width * surface.edge) for width in (0.1, 0.5)]
    assert counts[1] >= counts[0]
    return counts


@pytest.mark.data
@pytest.mark.parametrize("name", files("characters", ".glb"))
def test_characters(data_folder, name):
    trimesh = pytest.importorskip("trimesh")
    body = trimesh.load(data_folder / "characters" / name, process=False).to_geometry()
    # As in the file: corners at one place have several names, and are at distance zero.
    assert assert_real(trimmed(body.faces, body.vertices))[0] > 0
    body.merge_vertices(merge_tex=True, merge_norm=True)
    assert assert_real(trimmed(body.faces, body.vertices))[1] > 0


@pytest.mark.data
@pytest.mark.parametrize("name", files("volume", ".msh", ".vtk"))
def test_volumes(data_folder, name):
    meshio = pytest.importorskip("meshio")
    volume = meshio.read(data_folder / "volume" / name)
    cells = [block.data for block in volume.cells if block.type == "tetra"]
    if not cells:
        # Other cells: their corners as a soup of triangles, which any proximity query must take as well.
        cells = [block.data[:, :4] for block in volume.cells]
    assert_real(trimmed(surface_of(np.concatenate(cells)), volume.points))


# ---- the distance of two surfaces


@pytest.mark.parametrize("name", ["twisted_cloth", "ball_heap", "crumpled_sheet", "squishy_ball"])
@pytest.mark.parametrize("shift", [(0, 0, 0), (0.3, 0.1, 0.2), (1.1, 0, 0), (0, 0, -1.3), (3, 3, 3)], ids=str)
def test_distance_of_two_surfaces(name, shift):
    a, b = scene(name, 150), scene("ball_heap", 120)
    xb = (b.x - b.x.mean(axis=0)) / np.ptp(b.x) * np.ptp(a.x) * 0.3 + a.x.mean(axis=0) + np.array(shift) * np.ptp(a.x)
    answer = pliant.distance(a.mesh, a.x, b.mesh, xb)
    truth = proximity.distance_between(a.mesh.faces, a.x, b.mesh.faces, xb)
    scale = max(np.ptp(a.x), np.ptp(xb))
    assert float(answer) == answer.distance == pytest.approx(truth, abs=1e-12 * scale)
    assert (answer.distance == 0) == (truth == 0)
    assert np.linalg.norm(answer.points[0] - answer.points[1]) == pytest.approx(truth, abs=1e-11 * scale)
    for point, face, mesh, x in zip(answer.points, answer.faces, (a.mesh, b.mesh), (a.x, xb)):
        on = distances.distance(distances.VERTEX_FACE, np.array([point, *x[mesh.faces[face]]]))
        assert on <= 1e-11 * scale
    assert pliant.distance(b.mesh, xb, a.mesh, a.x).distance == pytest.approx(truth, abs=1e-12 * scale)


def test_a_surface_that_runs_through_another_is_at_distance_zero():
    """No vertex is near a face and no edge near an edge: only the triangles themselves tell."""
    face = [(0, 1, 2)]
    flat = np.array([(-9, -9, 0), (9, -9, 0), (0, 9, 0)], dtype=np.float64)
    needle = np.array([(0, 0, -5), (0, 0, 5), (0, 0.1, 5)])
    assert float(pliant.distance(face, flat, face, needle)) == 0.0


# ---- input

TRIANGLE = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], dtype=np.float64)


@pytest.mark.parametrize("within", [-1.0, np.nan, "far", np.ones(2)], ids=str)
def test_wrong_distances(within):
    with pytest.raises(pliant.MeshError, match="within"):
        pliant.proximity([(0, 1, 2)], TRIANGLE, within=within)


@pytest.mark.parametrize("options", [{"pairs": "some"}, {"objects": np.zeros(2, int)}], ids=str)
def test_wrong_options(options):
    with pytest.raises(pliant.MeshError):
        pliant.proximity([(0, 1, 2)], TRIANGLE, within=1.0, **options)


def test_wrong_positions():
    with pytest.raises(pliant.MeshError):
        pliant.proximity([(0, 1, 3)], TRIANGLE, within=1.0)
    with pytest.raises(pliant.MeshError):
        pliant.distance([(0, 1, 2)], TRIANGLE, [(0, 1, 2)], TRIANGLE * np.nan)


def test_nothing_near():
    found = pliant.proximity([(0, 1, 2)], TRIANGLE, within=1.0)
    assert [column.shape for _, column in columns_of(found)] == [
        (0,),
        (0, 2),
        (0, 4),
        (0,),
        (0, 2, 3),
        (0, 4),
        (0, 3),
    ]
    assert len(found) == 0
