"""What is derived from what: as it is declared, and as it is."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.mesh.derived import derive, derived, derived_of
from pliant.mesh.prepared import prepare
from pliant.runtime.threads import ThreadPool
from tests.shapes.blocks import grid, tetrahedra

MESHES = {
    "surface": lambda: pliant.TriMesh([(0, 1, 2), (2, 1, 3)], edges=[(3, 4)], points=[6]),
    "volume": lambda: pliant.VolumeMesh({"tetra": [(0, 1, 2, 3), (1, 2, 3, 4)], "triangle": [(5, 6, 7)]}),
}


@pytest.mark.unit
@pytest.mark.parametrize("name", MESHES)
def test_sources_are_those_that_are_declared(name, monkeypatch):
    """Each attribute asks for its sources, and for no other, when it is computed."""
    asked, making, get, make = [], [], derived.__get__, {}

    def recording(one, mesh, owner):
        if mesh is not None and making and type(mesh) is making[-1][1]:
            asked.append((making[-1][0], one))
        return get(one, mesh, owner)

    def made(one):
        def work(mesh):
            making.append((one, type(mesh)))
            try:
                return make[one](mesh)
            finally:
                making.pop()

        return work

    every = derived_of(type(MESHES[name]()))
    assert len(every) > 12
    for one in every:
        make[one] = one._make
        monkeypatch.setattr(one, "_make", made(one))
    monkeypatch.setattr(derived, "__get__", recording)
    for one in every:
        mesh = MESHES[name]()
        assert not one.is_known(mesh)
        getattr(mesh, one.name)
        assert one.is_known(mesh)
    for one in every:
        assert {other for maker, other in asked if maker is one} == set(one.sources), one


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", MESHES)
def test_attributes_derived_with_threads_are_the_same(name, threads):
    mesh, alone = MESHES[name](), MESHES[name]()
    every = derived_of(type(mesh))
    derive(mesh, ThreadPool(threads), every[-1])
    assert every[-1].is_known(mesh)
    assert all(source.is_known(mesh) for source in every[-1].sources)
    derive(mesh, ThreadPool(threads), *every)
    for one in every:
        assert one.is_known(mesh)
        assert repr(getattr(mesh, one.name)) == repr(getattr(alone, one.name)), one


@pytest.mark.parametrize("threads", [1, 3])
def test_prepared_cells_are_those_of_the_mesh(threads):
    """With several threads: each array, and the O-sets, which have thousands of pairs here."""
    blocks = tetrahedra(5, shuffled=1) | grid(5, shuffled=2)[0]
    mesh, alone = pliant.VolumeMesh(blocks), pliant.VolumeMesh(blocks)
    prepare(mesh, False, ThreadPool(threads))
    assert not pliant.VolumeMesh._o_sets.is_known(mesh)
    prepare(mesh, True, ThreadPool(threads))
    assert pliant.VolumeMesh._o_sets.is_known(mesh)
    assert mesh.has_o_sets
    assert len(alone.o_sets[1]) > 1000
    for found, expected in zip(flat(mesh.cell_table) + flat(mesh.o_sets), flat(alone.cell_table) + flat(alone.o_sets)):
        np.testing.assert_array_equal(found, expected, strict=True)


def flat(arrays):
    """The arrays of nested tuples, in their order."""
    return [arrays] if isinstance(arrays, np.ndarray) else [one for part in arrays for one in flat(part)]


@pytest.mark.unit
def test_a_derived_attribute_is_computed_once_and_cannot_be_set():
    mesh = MESHES["surface"]()
    assert mesh._edge_table is mesh._edge_table
    with pytest.raises(AttributeError, match="_edge_table is derived"):
        mesh._edge_table = None
    assert repr(pliant.TriMesh._edge_table) == "TriMesh._edge_table"
    assert pliant.TriMesh._edge_table.keep(mesh, "taken over") == mesh._edge_table
