"""Topology of any triangle soup against plain loops over sets."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.mesh.features import elements_of, gather_features, owned_by_first
from tests.shapes.meshes import soup

SOUPS = [soup(seed).mesh for seed in range(20)]


def all_edges(mesh):
    sides = [(a, b) for f in mesh.faces.tolist() for a, b in zip(f, f[1:] + f[:1])] + mesh.loose_edges.tolist()
    return sorted({(min(side), max(side)) for side in map(tuple, sides) if side[0] != side[1]})


@pytest.mark.bounds
@pytest.mark.unit
def test_edges_are_unique_and_in_lexicographic_order():
    for mesh in SOUPS[:5]:
        assert mesh.edges.tolist() == [list(edge) for edge in all_edges(mesh)]
        assert mesh.edges.dtype == np.int32


def test_sides_of_faces():
    for mesh in SOUPS:
        for face, sides in zip(mesh.faces.tolist(), mesh.face_edges.tolist()):
            for a, b, side in zip(face, face[1:] + face[:1], sides):
                assert side == -1 if a == b else mesh.edges[side].tolist() == sorted((a, b))


def test_number_of_faces_at_edges():
    kinds = set()
    for mesh in SOUPS:
        for edge, count in zip(mesh.edges.tolist(), mesh.edge_face_count):
            sides = [sorted(s) for f in mesh.faces.tolist() for s in zip(f, f[1:] + f[:1])]
            assert sides.count(edge) == count
            kinds.add(min(int(count), 3))
        assert mesh.boundary_edges.tolist() == np.flatnonzero(mesh.edge_face_count == 1).tolist()
    assert kinds == {0, 1, 2, 3}


def test_faces_at_vertices():
    for mesh in SOUPS:
        start, faces = mesh.vertex_faces
        for v in range(mesh.vertex_limit):
            expected = [i for i, face in enumerate(mesh.faces.tolist()) if v in face]
            assert faces[start[v] : start[v + 1]].tolist() == expected


def test_vertices_that_take_part():
    for mesh in SOUPS:
        named = {*mesh.faces.ravel().tolist(), *mesh.loose_edges.ravel().tolist(), *mesh.loose_points.tolist()}
        assert mesh.vertices.tolist() == sorted(named)
        assert mesh.vertex_limit == max(named) + 1


@pytest.mark.unit
def test_components():
    for vertices in (12, 40, 90):
        mesh = soup(3, faces=20, vertices=vertices).mesh
        groups = [{v} for v in mesh.vertices.tolist()]
        for a, b in mesh.edges.tolist():
            joined = [g for g in groups if a in g or b in g]
            groups = [g for g in groups if g not in joined] + [set.union(*joined)]
        labels = mesh.components
        assert {frozenset(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)} == set(
            map(frozenset, groups)
        )
        assert (np.flatnonzero(labels == -1).tolist()) == sorted(set(range(len(labels))) - set(mesh.vertices.tolist()))
        assert len(groups) > 1 or vertices == 12


@pytest.mark.parametrize("few", [False, True])
def test_every_feature_has_one_owner_that_contains_it(few):
    for mesh in SOUPS:
        elements = elements_of(mesh)
        if few:
            owned = gather_features(elements, np.arange(len(elements.face)), elements.sides, mesh._owner_bits)
        else:
            owned = owned_by_first(mesh.cell_table, np.arange(len(elements.face)))
        assert sorted(owned.vertex.tolist()) == mesh.vertices.tolist()
        assert sorted(owned.edge.tolist()) == list(range(len(mesh.edges)))
        for i, (corners, sides) in enumerate(zip(elements.corners.tolist(), elements.sides.tolist())):
            assert set(owned.vertex[owned.vertex_start[i] : owned.vertex_start[i + 1]].tolist()) <= set(corners)
            assert set(owned.edge[owned.edge_start[i] : owned.edge_start[i + 1]].tolist()) <= set(sides)
            own_faces = owned.face[owned.face_start[i] : owned.face_start[i + 1]].tolist()
            assert own_faces == ([i] if i < len(mesh.faces) else [])
        faces = np.flatnonzero(elements.face >= 0)
        assert elements.face[faces].tolist() == list(range(len(mesh.faces)))
        assert owned.triangles.tolist() == mesh.faces.tolist()
        assert np.array_equal(np.sort(owned.ends, axis=1), mesh.edges[owned.edge])


@pytest.mark.unit
@pytest.mark.bounds
def test_elements_are_cells():
    """A face has three corners and one face, a degenerate one fewer corners; lists go both ways."""
    counts = set()
    for mesh in SOUPS[:6]:
        table, elements = mesh.cell_table, element_vertices(mesh)
        assert len(table.corners) == len(elements)
        for i, vertices in enumerate(elements):
            corners = table.corners[i, : table.corner_count[i]].tolist()
            assert sorted(corners) == sorted(vertices)
            assert set(table.corners[i].tolist()) == vertices
            edges = table.edges.items[table.edges.start[i] : table.edges.start[i + 1]].tolist()
            sides = mesh.face_edges[i][mesh.face_edges[i] >= 0].tolist() if i < len(mesh.faces) else None
            assert edges == (sorted(set(sides)) if sides is not None else [e for e in edges if len(vertices) == 2])
            faces = table.faces.items[table.faces.start[i] : table.faces.start[i + 1]].tolist()
            assert faces == ([i] if i < len(mesh.faces) else [])
            counts.add((i < len(mesh.faces), len(corners)))
        rows = (table.edges, table.edge_cells), (table.faces, table.face_cells)
        for features, cells in rows:
            pairs = {(i, f) for i in range(len(elements)) for f in row(features, i)}
            assert {(i, f) for f in range(len(cells.start) - 1) for i in row(cells, f)} == pairs
        for v in range(mesh.vertex_limit):
            assert row(table.vertex_cells, v) == [i for i, vertices in enumerate(elements) if v in vertices]
    assert counts >= {(True, 3), (True, 2), (False, 2), (False, 1)}


def row(rows, i):
    return rows.items[rows.start[i] : rows.start[i + 1]].tolist()


def element_vertices(mesh):
    """Of faces, then of edges without a face, then of points without either."""
    faces = mesh.faces.tolist()
    loose = [e for e, count in zip(mesh.edges.tolist(), mesh.edge_face_count) if count == 0]
    covered = {v for e in faces + loose for v in e}
    points = [[v] for v in mesh.vertices.tolist() if v not in covered]
    return [set(e) for e in faces + loose + points]


def test_orphans_are_what_no_separate_elements_contain():
    """Every pair of features without a common vertex, by definition; see errata 19."""
    found = 0
    for mesh in SOUPS[:4]:
        elements = element_vertices(mesh)
        separate = [(a, b) for a in elements for b in elements if not a & b]
        vertex_face, edge_edge = mesh.o_sets
        expected = [
            (v, f)
            for v in mesh.vertices.tolist()
            for f, face in enumerate(mesh.faces.tolist())
            if v not in face and not any(v in a and b == set(face) for a, b in separate)
        ]
        # A duplicate or degenerate face has the vertices of another element: what counts is the face itself.
        assert {tuple(p) for p in vertex_face.tolist()} >= set(expected)
        edges = mesh.edges.tolist()
        orphans = [
            (i, j)
            for i, a in enumerate(edges)
            for j, b in enumerate(edges[:i])
            if not set(a) & set(b) and not any(set(a) <= x and set(b) <= y for x, y in separate)
        ]
        assert {tuple(sorted(p)) for p in edge_edge.tolist()} == {tuple(sorted(p)) for p in orphans}
        found += len(orphans)
    assert found > 20


def test_a_mesh_says_what_it_is():
    assert repr(pliant.TriMesh([(0, 1, 2)])) == "TriMesh(1 faces)"
    assert repr(pliant.TriMesh([], [(0, 1)], [3, 4])) == "TriMesh(0 faces, 1 loose edges, 2 loose points)"


def test_indices_of_a_caller_are_not_frozen():
    """The mesh kept int32 arrays as they came, and marked the caller's own as read-only."""
    faces = np.array([(0, 1, 2)], np.int32)
    mesh = pliant.TriMesh(faces)
    faces[0, 0] = 5
    assert mesh.faces.tolist() == [[0, 1, 2]]


def test_an_empty_mesh():
    mesh = pliant.TriMesh()
    assert (mesh.vertex_limit, len(mesh.edges), len(mesh.vertices), len(mesh.components)) == (0, 0, 0, 0)
    assert mesh.face_edges.shape == (0, 3)


def test_a_volume_mesh_is_not_taken_for_its_faces():
    volume = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [1, 2, 3, 4]]})
    with pytest.raises(pliant.MeshError, match=r"surface\(\)"):
        pliant.TriMesh(volume)
    assert len(pliant.TriMesh(volume.surface()).faces) == 6


@pytest.mark.parametrize("count", [31, 32, 33, 500, 4097])
@pytest.mark.bounds
def test_a_vertex_with_many_edges(count):
    """Its edges were sorted by insertion: a fan of 80,000 took over ten seconds, and Ctrl-C waited for it."""
    rim = np.random.default_rng(count).permutation(count) + 1
    mesh = pliant.TriMesh(np.stack((np.zeros(count, int), rim, np.roll(rim, -1)), axis=1))
    assert mesh.edges.tolist() == [list(edge) for edge in all_edges(mesh)]
    for k, (a, b) in enumerate(((0, 1), (1, 2), (2, 0))):
        np.testing.assert_array_equal(mesh.edges[mesh.face_edges[:, k]], np.sort(mesh.faces[:, [a, b]], axis=1))


def test_what_a_mesh_shows_cannot_be_written_to():
    """Edges that were kept went stale where somebody wrote into faces, and contacts were missed silently."""
    given = np.array([[0, 1, 2], [2, 1, 3]])
    mesh = pliant.TriMesh(given, edges=[[3, 4]], points=[5])
    names = ("faces", "loose_edges", "loose_points", "edges", "face_edges", "vertices", "edge_face_count", "components")
    for array in (*(getattr(mesh, name) for name in names), *mesh.vertex_faces):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        mesh.faces = given
    given[:] = 0
    assert mesh.faces.tolist() == [[0, 1, 2], [2, 1, 3]]
    assert mesh.edges.tolist() == [list(edge) for edge in all_edges(mesh)]


def test_what_a_volume_mesh_shows_cannot_be_written_to():
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [1, 2, 3, 4]]})
    changed = mesh.changed(remove=[0])
    for one in (mesh, changed):
        arrays = [*one.cells.values(), *one.o_sets, one.surface().faces, one.surface().volume_faces]
        arrays += [getattr(one, name) for name in ("types", "corners", "vertices", "faces", "edges", "solids_at_faces")]
        for name in ("cell_faces", "cell_edges", "vertex_cells", "edge_cells", "face_cells"):
            arrays += getattr(one, name)
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(TypeError):
            one.cells["tetra"] = []
