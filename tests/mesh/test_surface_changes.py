"""Surfaces that change: after every edit, all that was brought up to date equals a fresh build, ids included."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import pliant
from pliant import TriMesh
from pliant.mesh import triangles
from pliant.mesh.changed import cells as changes
from pliant.mesh.changed.cells import CellIndexError
from pliant.mesh.derived import derived_of
from pliant.scenes.shapes import grid, icosphere

FIELDS = ("vertex_limit", "vertices", "edges", "face_edges", "edge_face_count", "boundary_edges", "vertex_faces")
FIELDS += ("components", "cell_table", "o_sets")
CARRIED = (TriMesh._edge_table, TriMesh.edge_face_count, TriMesh._vertex_cells, TriMesh._edge_cells, TriMesh.cell_table)
CARRIED += (TriMesh._o_sets,)


@pytest.fixture(autouse=True)
def carried_over_whatever_the_size(monkeypatch):
    monkeypatch.setattr(changes, "MOST_CHANGED", 1000.0)
    monkeypatch.setattr(changes, "WORTH_THREADS", 0)


def computed(mesh, fields=FIELDS):
    for field in fields:
        getattr(mesh, field)
    return mesh


def assert_fresh(mesh, fields=FIELDS):
    """Equal to a mesh that is built from the same faces, edges and points."""
    fresh = TriMesh(mesh.faces, mesh.loose_edges, mesh.loose_points)
    for field in fields:
        assert_equal(getattr(mesh, field), getattr(fresh, field), field)


def assert_equal(one, other, field):
    """Numbers, arrays, or tuples of them, to any depth."""
    assert type(one) is type(other)
    if not isinstance(one, tuple):
        np.testing.assert_array_equal(one, other, err_msg=field, strict=True)
        return
    for a, b in zip(one, other, strict=True):
        assert_equal(a, b, field)


def elements(mesh):
    """The vertices of each element, in order: what tells elements of two meshes from each other, but for faces."""
    loose = [tuple(e) for e, count in zip(mesh.edges.tolist(), mesh.edge_face_count) if count == 0]
    covered = {v for e in [*mesh.faces.tolist(), *loose] for v in e}
    return [*map(tuple, mesh.faces.tolist()), *loose, *((v,) for v in mesh.vertices.tolist() if v not in covered)]


def assert_change(before, after, removed):
    """Element by element: faces that stay in their order, then new ones, then what is loose in both."""
    one, other = elements(before), elements(after)
    stay = [f for f in range(len(before.faces)) if f not in set(removed)]
    expected = stay + [-1] * (len(after.faces) - len(stay))
    old = {vertices: i for i, vertices in enumerate(one) if i >= len(before.faces)}
    expected += [old.get(vertices, -1) for vertices in other[len(after.faces) :]]
    assert after.change.old_of_new.tolist() == expected
    assert after.change.old_of_new.dtype == np.int32
    assert after.change.is_from(before)
    assert not after.change.is_from(after)


def soup(seed):
    """Few vertices: edges with many faces, faces twice and degenerate ones, loose edges and points that faces cover."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(6, 14)) + 8 * (seed % 3)
    faces = rng.integers(0, count, (int(rng.integers(0, 22)), 3))
    faces = np.concatenate((faces, faces[:2]))
    edges = rng.integers(0, count + 3, (int(rng.integers(0, 6)), 2))
    return TriMesh(faces, edges, rng.integers(0, count + 4, int(rng.integers(0, 5))))


def random_edit(mesh, rng):
    count, limit = len(mesh.faces), mesh.vertex_limit
    removed = np.flatnonzero(rng.random(count) < rng.choice((0.0, 0.1, 0.4)))
    added = [rng.integers(0, max(limit, 3) + int(rng.integers(3)), (int(rng.integers(4)), 3))]
    if len(removed) and rng.integers(2):  # taken out and put back, with corners in another order
        added.append(mesh.faces[removed[:2], ::-1])
    if len(mesh.loose_edges) and rng.integers(2):
        added.append(np.column_stack((mesh.loose_edges[:1], rng.integers(0, limit, 1))))
    return removed, np.concatenate(added)


@pytest.mark.bounds
@pytest.mark.unit
def test_soups_change():
    rng, gone, came, apart = np.random.default_rng(1), 0, 0, 0
    for seed in range(12):
        mesh = computed(soup(seed))
        for _ in range(5):
            removed, added = random_edit(mesh, rng)
            before, mesh = mesh, mesh.changed(add=added, remove=removed, threads=1 + seed % 2)
            assert_change(before, mesh, removed)
            assert_fresh(mesh)
            old, new = ({tuple(e) for e in one.edges.tolist()} for one in (before, mesh))
            gone, came = gone + len(old - new), came + len(new - old)
            apart += sum(len(one) < 3 for one in elements(mesh))
    assert min(gone, came, apart) > 30


def test_many_edits():
    """Splits, cuts and holes in a surface: what simulations do to it, edit by edit."""
    rng = np.random.default_rng(3)
    mesh = computed(TriMesh(rng.permutation(icosphere(3)[0])))
    for step in range(300):
        i = int(rng.integers(len(mesh.faces)))
        a, b, c = mesh.faces[i].tolist()
        new = mesh.vertex_limit
        edits = [(a, b, new), (b, c, new), (c, a, new)], [(new, new + 1, c)], [], [(a, c, b), (a, b, new)]
        mesh = mesh.changed(remove=[i], add=edits[int(rng.integers(4))] or None)
        assert all(one.is_known(mesh) for one in CARRIED)
        assert_fresh(mesh, FIELDS if step % 10 == 9 else ("edges", "face_edges", "vertices"))


def test_scattered_edits(monkeypatch):
    """Many faces at once, apart and side by side, with several searches for each kind of features."""
    monkeypatch.setattr("pliant.mesh.changed.orphans._LEAST", 8)
    rng = np.random.default_rng(4)
    mesh = computed(TriMesh(grid(18, 18)[0], edges=[(0, 400), (400, 401), (5, 6)], points=[9, 500]))
    came = went = 0
    for step in range(8):
        chosen = np.flatnonzero(rng.random(len(mesh.faces)) < (0.03, 0.1)[step % 2])
        torn = mesh.faces[chosen].copy()
        torn[:, 0] = mesh.vertex_limit + np.arange(len(torn))
        before, mesh = mesh, mesh.changed(remove=chosen, add=torn[:: 1 + step % 3], threads=1 + step % 3)
        assert TriMesh._o_sets.is_known(mesh)
        assert_fresh(mesh)
        one, other = (set(map(frozenset, m.edges[m.o_sets[1]].reshape(-1, 4).tolist())) for m in (before, mesh))
        came, went = came + len(other - one), went + len(one - other)
    assert min(came, went) > 100


def test_nothing_is_built_anew(monkeypatch):
    mesh = computed(TriMesh(grid(9, 9)[0], edges=[(0, 200), (1, 2)], points=[300]))

    def refuse(*_):
        raise AssertionError("rebuilt")

    for builder in (
        "number_edges",
        "list_distinct",
        "list_corners",
        "keep_distinct",
        "transpose",
        "cells_of",
        "o_sets",
    ):
        monkeypatch.setattr(triangles, builder, refuse)
    changed = mesh.changed(remove=[0, 3, 50], add=[(0, 1, 99), (4, 4, 5)])
    computed(changed, ("edges", "face_edges", "vertices", "edge_face_count", "cell_table", "o_sets"))


@pytest.mark.unit
@pytest.mark.parametrize("count", range(len(FIELDS) + 1))
def test_only_what_was_known_is_carried_over(count):
    """The first fields of the list, in the order in which one needs the other, then every single one."""
    for fields in (FIELDS[:count], FIELDS[count : count + 1]):
        mesh = computed(TriMesh(grid(3, 3)[0]), fields)
        known = {one for one in derived_of(TriMesh) if one.is_known(mesh)}
        changed = mesh.changed(remove=[2], add=[(0, 1, 9), (3, 3, 4)])
        more = {
            TriMesh._elements,
            TriMesh.vertex_limit,
            TriMesh.edge_face_count,
            TriMesh._edge_table,
            TriMesh._vertices,
        }
        assert {one for one in derived_of(TriMesh) if one.is_known(changed)} <= known | more
        assert_fresh(changed)


@pytest.mark.unit
def test_components_are_kept_where_nothing_comes_apart_or_together():
    mesh = computed(TriMesh(np.concatenate((grid(3, 3)[0], grid(3, 3)[0] + 100))))
    kept, joined = mesh.changed(add=[(0, 1, 5)]), mesh.changed(add=[(0, 1, 105)])
    assert TriMesh.components.is_known(kept)
    assert not TriMesh.components.is_known(joined)
    for one in (kept, joined, mesh.changed(remove=range(9)), mesh.changed(add=[(0, 1, 1)])):
        assert_fresh(one)


@pytest.mark.unit
def test_nothing_and_everything():
    mesh = computed(TriMesh(grid(2, 2)[0], edges=[(0, 1)], points=[3]))
    assert_fresh(mesh.changed())
    empty = mesh.changed(remove=np.arange(len(mesh.faces)))
    assert_fresh(empty)
    assert elements(empty) == [(0, 1), (3,)]
    assert_fresh(computed(empty).changed(add=[(5, 6, 7)]))
    assert_fresh(computed(TriMesh()).changed(add=[(5, 6, 7)]))
    assert_fresh(TriMesh([(0, 1, 2)]).changed(add=[(2, 1, 3)]))


def test_a_large_change_is_left_to_a_fresh_build(monkeypatch):
    monkeypatch.undo()
    mesh = computed(TriMesh(grid(9, 9)[0]))
    large = mesh.changed(remove=np.arange(len(mesh.faces) // 2))
    assert not TriMesh.cell_table.is_known(large)
    assert_fresh(large)
    assert TriMesh._o_sets.is_known(mesh.changed(remove=[0]))


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        ({"remove": [0, 5]}, CellIndexError, "remove names face 5, but there are 1"),
        ({"remove": [-1]}, CellIndexError, "remove names face -1, but there are 1"),
        ({"remove": [[0]]}, pliant.MeshError, r"remove must have shape \(k,\), but has \(1, 1\)"),
        ({"remove": [0.5]}, pliant.MeshError, "remove must hold integers"),
        ({"add": [(0, 1)]}, pliant.MeshError, r"add must have shape \(m, 3\)"),
        ({"add": [(0, 1, -2)]}, pliant.MeshError, "add"),
    ],
)
def test_errors_say_where(edit, error, message):
    with pytest.raises(error, match=message):
        TriMesh([(0, 1, 2)]).changed(**edit)


def test_a_face_that_is_named_twice_is_removed_once():
    mesh = TriMesh([(0, 1, 2), (2, 1, 3)])
    assert mesh.changed(remove=[0, 0]).faces.tolist() == [[2, 1, 3]]


def test_arrays_of_a_caller_are_not_kept():
    added = np.array([(2, 1, 3)], np.int32)
    mesh = TriMesh([(0, 1, 2)]).changed(add=added)
    added[:] = 0
    assert mesh.faces.tolist() == [[0, 1, 2], [2, 1, 3]]
    with pytest.raises(ValueError, match="read-only"):
        mesh.change.old_of_new[:] = 0


def test_the_boundary_of_a_volume_becomes_a_mesh_of_its_own():
    surface = computed(pliant.VolumeMesh({"tetra": [(0, 1, 2, 3), (1, 2, 3, 4)]}).surface())
    changed = surface.changed(remove=[0])
    assert type(changed) is TriMesh
    assert changed.change.is_from(surface)
    assert_fresh(changed)


@pytest.mark.unit
def test_earlier_meshes_are_let_go_and_stay_as_they_were():
    mesh = computed(TriMesh(grid(4, 4)[0]))
    mesh.changed(remove=[3, 4], add=[(0, 1, 40)])
    assert_fresh(mesh)
    earlier = []
    for _ in range(3):
        earlier.append(weakref.ref(mesh))
        mesh = mesh.changed(remove=[0])
    gc.collect()
    assert [one() for one in earlier] == [None] * 3


@pytest.mark.parametrize("copied", [lambda mesh: pickle.loads(pickle.dumps(mesh)), copy.deepcopy, copy.copy])
def test_copies_keep_what_is_known(copied):
    """Also in another process, and whether the mesh was changed or not."""
    volume = pliant.VolumeMesh({"tetra": [(0, 1, 2, 3), (1, 2, 3, 4)]})
    for mesh in (
        TriMesh(grid(3, 3)[0]),
        TriMesh(grid(3, 3)[0]).changed(remove=[1]),
        volume,
        volume.changed(remove=[0]),
    ):
        _ = mesh.o_sets
        again = copied(mesh)
        assert type(again)._o_sets.is_known(again)
        for one, other in zip(again.o_sets, mesh.o_sets):
            np.testing.assert_array_equal(one, other)
        assert (again.change is None) == (mesh.change is None)


def test_contacts_of_a_changed_mesh():
    """The same as those of a mesh rebuilt, for both assignments."""
    rng = np.random.default_rng(8)
    faces, flat = grid(12, 12)
    x = np.column_stack((0.1 * flat, np.zeros(len(flat))))
    mesh = computed(TriMesh(faces))
    changed = mesh.changed(remove=rng.choice(len(faces), 20, replace=False), add=faces[:3, ::-1])
    x1 = x + rng.normal(scale=0.1, size=x.shape)
    expected = pliant.ccd(changed.faces.copy(), x, x1)
    assert len(expected) > 50
    for assignment in ("static", "dynamic"):
        found = pliant.ccd(changed, x, x1, tuning=pliant.Tuning(assignment=assignment))
        np.testing.assert_array_equal(found.elements, expected.elements)
        np.testing.assert_array_equal(found.toi, expected.toi)
