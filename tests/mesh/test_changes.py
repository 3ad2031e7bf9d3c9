"""Meshes that change: after every edit, all that was brought up to date equals a fresh build, ids included."""

from __future__ import annotations

import gc
import itertools
import time
import weakref

import numpy as np
import pytest

import pliant
from pliant import VolumeMesh
from pliant.mesh import triangles, volumes
from pliant.mesh.changed import cells as changes
from pliant.mesh.derived import derived_of
from pliant.runtime.threads import Task, ThreadPool
from tests.shapes.blocks import fan, grid, random_blocks, ring, tetrahedra
from tests.shapes.fresh_meshes import CHEAP, FIELDS, assert_fresh, computed


@pytest.fixture(autouse=True)
def carried_over_whatever_the_size(monkeypatch):
    monkeypatch.setattr(changes, "MOST_CHANGED", 1000.0)
    monkeypatch.setattr(changes, "WORTH_THREADS", 0)


def known(mesh):
    """What it has computed, or taken over."""
    return {one for one in derived_of(type(mesh)) if one.is_known(mesh)}


class Editor:
    """Random edits of the tetrahedra of a mesh: what simulations do to it."""

    def __init__(self, mesh, seed):
        self.mesh, self.rng, self.vertex_count = mesh, np.random.default_rng(seed), mesh.vertex_limit

    def edit(self, kind):
        tetra = self.mesh.cells["tetra"]
        i = int(self.rng.integers(len(tetra)))
        return self.mesh.changed(**getattr(self, kind)(i, tetra))

    def split(self, i, tetra):
        """At a point inside, into four."""
        parts = np.repeat(tetra[i][None], 4, axis=0)
        np.fill_diagonal(parts, self.vertex_count)
        self.vertex_count += 1
        return {"remove": [i], "add": {"tetra": parts}}

    def cut(self, i, tetra):
        """One face gets vertices of its own in its cell: neighbours there are neighbours no more."""
        torn = tetra[i].copy()
        torn[:3] = np.arange(3) + self.vertex_count
        self.vertex_count += 3
        return {"remove": [i], "add": {"tetra": [torn]}}

    def merge(self, i, tetra):
        """A vertex takes the place of another, where no cell has both."""
        for _ in range(20):
            v, w = self.rng.choice(np.unique(tetra), 2, replace=False)
            at, both = (tetra == w).any(axis=1), ((tetra == v).any(axis=1) & (tetra == w).any(axis=1)).any()
            if not both:
                return {"remove": np.flatnonzero(at), "add": {"tetra": np.where(tetra[at] == w, v, tetra[at])}}
        return {}

    def delete(self, i, _tetra):
        return {"remove": [i]}


EDITS = ("split", "cut", "merge", "delete")


def run_edits(mesh, count, seed, every):
    editor = Editor(computed(mesh), seed)
    for step in range(count):
        before, editor.mesh = editor.mesh, editor.edit(EDITS[editor.rng.integers(4)])
        assert before is not editor.mesh
        assert {VolumeMesh._o_sets, VolumeMesh._edge_cells, VolumeMesh._face_cells} <= known(editor.mesh)
        if step % every == every - 1:
            assert_fresh(editor.mesh)
        else:
            assert_fresh(editor.mesh, CHEAP)
    return editor.mesh


def test_a_thousand_edits():
    start = pliant.VolumeMesh(tetrahedra(9, shuffled=1))
    assert 4000 < len(start.types) < 6000
    end = run_edits(start, 1000, seed=2, every=20)
    assert end.vertex_limit > start.vertex_limit + 800


@pytest.mark.bounds
@pytest.mark.unit
def test_a_few_edits():
    run_edits(pliant.VolumeMesh(tetrahedra(2, shuffled=1)), 12, seed=3, every=1)


def split_all(cells, first):
    """Tetrahedra, each at a vertex of its own, into four; hexahedra into six pyramids."""
    at = first + np.arange(len(cells))
    if cells.shape[1] == 8:
        sides = cells[:, [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]]
        return {"pyramid": np.insert(sides.reshape(-1, 4)[:, ::-1], 4, np.repeat(at, 6), axis=1)}
    parts = np.repeat(cells[:, None], 4, axis=1)
    parts[:, range(4), range(4)] = at[:, None]
    return {"tetra": parts.reshape(-1, 4)}


@pytest.mark.parametrize("name", ["tetra", "hexahedron"])
def test_scattered_edits(name):
    """Many cells at once, apart and side by side: pairs of features both of which lost cells, and not the same ones."""
    rng = np.random.default_rng(8)
    start = tetrahedra(3, shuffled=1) if name == "tetra" else grid(3, shuffled=1)[0]
    mesh, came, went = computed(pliant.VolumeMesh(start)), 0, 0
    one = named_orphans(mesh)
    for step in range(16):
        cells = mesh.cells[name]
        chosen = np.flatnonzero(rng.random(len(cells)) < (0.02, 0.05, 0.1, 0.2)[step % 4])
        torn = cells[chosen].copy()
        torn[:, :2] = mesh.vertex_limit + np.arange(2 * len(chosen)).reshape(-1, 2)
        edits = {}, split_all(cells[chosen], mesh.vertex_limit), {name: torn}, {name: cells[chosen][::2]}
        ids = chosen + sum(len(mesh.cells[other]) for other in mesh.type_names[: mesh.type_names.index(name)])
        mesh = mesh.changed(remove=ids, add=edits[step // 4])
        assert {VolumeMesh.cell_table, VolumeMesh._o_sets} <= known(mesh)
        assert_fresh(mesh)
        other = named_orphans(mesh)
        came, went, one = came + len(other - one), went + len(one - other), other
    assert came > 1000
    assert went > 1000


def named_orphans(mesh):
    """Orphans of both kinds by their vertices, which are the same in all meshes."""
    vertex_face, edge_edge = mesh.o_sets
    first = (
        (frozenset((v,)), frozenset(face)) for v, face in zip(vertex_face[:, 0], mesh.faces[vertex_face[:, 1]].tolist())
    )
    second = (frozenset(map(frozenset, pair)) for pair in mesh.edges[edge_edge].tolist())
    return {*first, *second}


def random_edit(mesh, rng, vertices):
    more = random_blocks(int(rng.integers(10**6)), vertices=vertices, most=3)
    added = {name: cells for name, cells in more.items() if rng.integers(2)}
    count = len(mesh.types)
    removed = np.flatnonzero(rng.random(count) < rng.choice((0.0, 0.1, 0.5)))
    if count and rng.integers(2):  # taken out and put back, with corners in another order
        name = mesh.type_names[mesh.types[removed[0]]] if len(removed) else None
        if name is not None and len(mesh.cells[name]):
            back = mesh.cells[name][: rng.integers(3)]
            added[name] = np.concatenate((added[name], back[:, ::-1])) if name in added else back[:, ::-1]
    return mesh.changed(add=added, remove=removed)


@pytest.mark.bounds
@pytest.mark.unit
def test_mixes_change():
    """All types of cells: added ones come before others, and faces get another first cell, which sees them flipped."""
    rng, flipped, lower = np.random.default_rng(5), 0, 0
    for seed in range(8):
        mesh = computed(pliant.VolumeMesh(random_blocks(seed, vertices=14)))
        for _ in range(6):
            before, mesh = mesh, random_edit(mesh, rng, vertices=int(rng.integers(9, 20)))
            assert_fresh(mesh)
            seen = {frozenset(face): face for face in before.faces.tolist()}
            flipped += sum(seen.get(frozenset(face), face) != face for face in mesh.faces.tolist())
            lower += mesh.vertex_limit < before.vertex_limit
    assert flipped > 50
    assert lower > 0


def test_grids_with_shells_change():
    rng = np.random.default_rng(6)
    blocks = grid(4, shuffled=3)[0]
    shells = blocks["hexahedron"][:20, :4]
    mesh = computed(pliant.VolumeMesh(blocks | {"quad": shells, "triangle": shells[:, :3]}))
    for _ in range(25):
        removed = rng.choice(len(mesh.types), 3, replace=False)
        hexahedra = mesh.cells["hexahedron"][rng.integers(0, 20, 2)]
        pyramids = np.column_stack((hexahedra[:, :4], [200 + len(mesh.types)] * 2))
        add = {"pyramid": pyramids, "tetra": hexahedra[:, [0, 1, 3, 4]]}
        mesh = mesh.changed(remove=removed, add=add)
        assert_fresh(mesh)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads, monkeypatch):
    monkeypatch.setattr("pliant.mesh.changed.orphans._LEAST", 8)  # several searches for one kind of features
    rng = np.random.default_rng(8)
    mesh = computed(pliant.VolumeMesh(tetrahedra(4, shuffled=6)))
    for _ in range(4):
        removed = rng.choice(len(mesh.types), 9, replace=False)
        add = {"tetra": mesh.cells["tetra"][removed][:, [0, 2, 1, 3]]}
        add["tetra"][:4, 3] = 200 + rng.integers(0, 3, 4)
        mesh = mesh.changed(remove=removed, add=add, threads=threads)
        assert VolumeMesh._o_sets.is_known(mesh)
        assert_fresh(mesh)


@pytest.mark.parametrize("usual", [1, 30])
def test_searches_that_run_out_of_room_go_on(usual, monkeypatch):
    """Features that lost cells, and new ones: what was met before the room was used up is met again."""
    monkeypatch.setattr("pliant.mesh.o_sets._USUAL_ORPHANS", usual)
    mesh = computed(pliant.VolumeMesh(tetrahedra(2, shuffled=6)))
    removed = np.array([3, 17, 31, 40])
    add = split_all(mesh.cells["tetra"][removed[2:]], mesh.vertex_limit)
    changed = mesh.changed(remove=removed, add=add)
    monkeypatch.undo()
    assert_fresh(changed)


def crowded():
    """Meshes of which some features have more cells than a mask has bits."""
    around, spread, solid = ring(70)["tetra"], fan(66)["tetra"], tetrahedra(1, shuffled=1)["tetra"]
    joined = np.concatenate((around, spread + around.max() + 1))
    joined[joined == around.max() + 1] = 0  # the pole of the fan is one end of the edge in the ring
    return {
        "a ring and a fan": joined,
        "a ring in a solid": np.concatenate((solid, np.where(around < 2, around, around + solid.max() + 1))),
        "a cell 70 times": np.concatenate((solid, np.repeat(solid[5:6], 70, axis=0))),
    }


@pytest.mark.bounds
@pytest.mark.parametrize("name", crowded())
def test_features_with_more_cells_than_a_mask_has_bits(name):
    """Where a pair is an orphan but for cells after the 62nd, which no mask shows."""
    rng = np.random.default_rng(4)
    mesh = computed(pliant.VolumeMesh({"tetra": crowded()[name]}))
    assert np.diff(mesh.vertex_cells.start).max() > 62
    for step in range(12):
        count, limit = len(mesh.types), mesh.vertex_limit
        removed = rng.choice(count, 1 + step % 3, replace=False)
        new = np.array([[0, 1, limit, limit + 1], [0, limit + 1, limit + 2, rng.integers(2, limit)]])
        mesh = mesh.changed(remove=removed, add={"tetra": new[: step % 3]}, threads=1 + step % 2)
        assert VolumeMesh._o_sets.is_known(mesh)
        assert_fresh(mesh)


def test_nothing_is_built_anew_whichever_part_is_late(monkeypatch):
    """A part that another one needs, without saying so, would be computed from the cells again: right, but slow."""
    mesh = computed(pliant.VolumeMesh(tetrahedra(2, shuffled=4)))
    edit = {"remove": [2, 9], "add": {"tetra": [[0, 1, 2, 9], [3, 4, 5, 40]]}, "threads": 3}
    flow, names = ThreadPool.run_tasks, []

    def late(name):
        def delayed(pool, tasks):
            names[:] = tasks
            slow = (
                {name: Task(lambda *of: time.sleep(0.02) or tasks[name].work(*of), *tasks[name].needs)} if name else {}
            )
            flow(pool, tasks | slow)

        return delayed

    def refuse(*_):
        raise AssertionError("rebuilt")

    monkeypatch.setattr(ThreadPool, "run_tasks", late(None))
    mesh.changed(**edit)
    assert len(names) > 30
    for builder in ("number_triangles", "list_edges", "transpose", "cells_of", "o_sets"):
        monkeypatch.setattr(volumes, builder, refuse)
    monkeypatch.setattr(triangles, "number_edges", refuse)
    for name in list(names):
        monkeypatch.setattr(ThreadPool, "run_tasks", late(name))
        computed(mesh.changed(**edit))


@pytest.mark.unit
def test_nothing_and_everything():
    mesh = computed(pliant.VolumeMesh(tetrahedra(1)))
    assert_fresh(mesh.changed())
    empty = mesh.changed(remove=np.arange(len(mesh.types)))
    assert_fresh(empty)
    assert empty.vertex_limit == len(empty.faces) == 0
    assert_fresh(computed(empty).changed(add={"tetra": [[5, 6, 7, 8]]}))
    assert_fresh(computed(pliant.VolumeMesh()).changed(add={"quad": [[5, 6, 7, 8]]}))


@pytest.mark.unit
@pytest.mark.parametrize("count", range(len(FIELDS) + 1))
def test_only_what_was_known_is_carried_over(count):
    """The first fields of the list, in the order in which one needs the other, then every single one."""
    for fields, threads in itertools.product((FIELDS[:count], FIELDS[count : count + 1]), (1, 3)):
        mesh = computed(pliant.VolumeMesh(tetrahedra(1, shuffled=4)), fields)
        before = known(mesh)
        changed = mesh.changed(remove=[2], add={"tetra": [[0, 1, 2, 9]]}, threads=threads)
        needed = {getattr(VolumeMesh, name) for name in ("_types", "_corners", "_vertex_cells", "vertex_limit")}
        assert known(changed) <= before | needed
        assert_fresh(changed)


def test_a_large_change_is_left_to_a_fresh_build(monkeypatch):
    monkeypatch.undo()
    mesh = computed(pliant.VolumeMesh(tetrahedra(3)))
    assert VolumeMesh._o_sets.is_known(mesh.changed(remove=[0, 5]))
    large = mesh.changed(remove=np.arange(len(mesh.types) // 3))
    assert not VolumeMesh._face_table.is_known(large)
    assert_fresh(large)


@pytest.mark.parametrize("most", [810, 50])
def test_too_many_orphans_are_said_when_asked_for(monkeypatch, most):
    """Either there are too many with those that stay, or those found anew are too many by themselves."""
    mesh = computed(pliant.VolumeMesh(fan(9)))
    monkeypatch.setattr("pliant.mesh.changed.o_sets.MOST_ORPHANS", most)
    changed = mesh.changed(add={"tetra": [[0, 100, 101, 102]]})
    assert VolumeMesh._edge_cells.is_known(changed)
    assert not VolumeMesh._o_sets.is_known(changed)
    assert_fresh(changed)


@pytest.mark.unit
def test_earlier_meshes_are_let_go():
    mesh = computed(pliant.VolumeMesh(tetrahedra(2)))
    earlier = []
    for _ in range(4):
        earlier.append(weakref.ref(mesh))
        mesh = mesh.changed(remove=[0])
    for _ in range(200):  # a thread that has just ended its task may still hold what it worked on
        gc.collect()
        if not any(one() for one in earlier):
            break
        time.sleep(0.01)
    assert [one() for one in earlier] == [None] * 4


@pytest.mark.unit
def test_the_mesh_before_stays_as_it_was():
    mesh = computed(pliant.VolumeMesh(tetrahedra(2, shuffled=5)))
    mesh.changed(remove=[3, 4], add={"tetra": [[0, 1, 2, 40]], "hexahedron": [range(8)]})
    assert_fresh(mesh)
