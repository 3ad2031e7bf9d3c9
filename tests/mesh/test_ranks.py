"""Ranks of vertices: along which diagonals quadrilaterals are split."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from pliant.mesh.changed import cells as changes
from tests.shapes.blocks import grid
from tests.shapes.fresh_meshes import assert_fresh, computed

QUAD = {"quad": [[0, 1, 2, 3]]}


@pytest.mark.unit
@pytest.mark.parametrize("ranks", [*itertools.product(range(3), repeat=4)])
def test_the_smallest_rank_then_the_smallest_id(ranks):
    mesh = pliant.VolumeMesh(QUAD, ranks=ranks)
    first = min(range(4), key=lambda k: (ranks[k], k))
    assert mesh.faces.tolist() == [[first, (first + 1) % 4, (first + 2) % 4], [first, (first + 2) % 4, (first + 3) % 4]]
    assert mesh.ranks.tolist() == list(ranks)


def test_ids_by_default():
    cells = grid(2, shuffled=3)[0]
    mesh, same = pliant.VolumeMesh(cells), pliant.VolumeMesh(cells, ranks=np.arange(27))
    assert mesh.ranks is None
    assert np.array_equal(mesh.faces, same.faces)
    other = pliant.VolumeMesh(cells, ranks=np.arange(27)[::-1])
    assert not np.array_equal(mesh.faces, other.faces)


def test_changed_meshes_keep_them(monkeypatch):
    """A copy of a vertex takes its place, with its rank, in some cells: all faces are where they were."""
    monkeypatch.setattr(changes, "MOST_CHANGED", 1000.0)
    rng, origin = np.random.default_rng(0), np.arange(64)
    mesh = computed(pliant.VolumeMesh(grid(3, shuffled=5)[0], ranks=rng.permutation(64)))
    before = {frozenset(face) for face in mesh.faces.tolist()}
    for _ in range(20):
        cell = int(rng.integers(27))
        torn = mesh.cells["hexahedron"][cell].copy()
        k = int(rng.integers(8))
        origin = np.append(origin, origin[torn[k]])
        torn[k] = len(origin) - 1
        mesh = computed(mesh.changed(remove=[cell], add={"hexahedron": [torn]}, ranks=mesh.ranks[origin]))
        assert_fresh(mesh)
        assert {frozenset(face) for face in origin[mesh.faces].tolist()} == before
    # Without further ones, new vertices have their ids.
    more = mesh.changed(add={"quad": [[84, 85, 86, 87]]})
    assert more.ranks.tolist() == [*mesh.ranks.tolist(), 84, 85, 86, 87]
    assert_fresh(more)


def test_wrong_ranks():
    with pytest.raises(pliant.MeshError, match="ranks has 3 rows, but the mesh has a vertex 3"):
        pliant.VolumeMesh(QUAD, ranks=[0, 1, 2])
    with pytest.raises(pliant.MeshError, match="ranks must hold integers"):
        pliant.VolumeMesh(QUAD, ranks=[0.5, 1.0, 2.0, 3.0])
    mesh = pliant.VolumeMesh(QUAD)
    with pytest.raises(pliant.MeshError, match="ranks differ from those of this mesh"):
        mesh.changed(ranks=[1, 0, 2, 3])
    assert mesh.changed(ranks=[0, 1, 2, 3]).ranks.tolist() == [0, 1, 2, 3]
