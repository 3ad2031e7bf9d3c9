"""Blocks that threads may relax at once, colours within them, and every constraint exactly once."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.solver import colours
from pliant.characters.solver.colours import colours_of, levels_of, neighbours_of, schedule_of
from pliant.mesh.volumes import VolumeMesh
from tests.shapes.solids import ball, both, grid

pytestmark = [pytest.mark.unit, pytest.mark.bounds]

MESHES = {
    "bar": lambda: grid((9, 2, 2), (0, 0, 0), (9, 2, 2), split=True),
    "ball": lambda: ball(3, 1.0, split=True),
    "two": lambda: both(grid((8, 1, 1), (0, 0, 0), (8, 1, 1), split=True), ball(2, 1.0, (19.0, 0, 0), split=True)),
}


def rows(array):
    return sorted(map(tuple, array.tolist()))


@pytest.mark.parametrize("name", MESHES)
def test_every_constraint_is_in_one_block_and_blocks_of_one_parity_share_no_vertex(name, monkeypatch):
    monkeypatch.setattr(colours, "_BLOCK", 20)
    volume = VolumeMesh(MESHES[name]()[0])
    s = schedule_of(volume)
    assert rows(s.edges) == rows(volume.edges)
    assert rows(s.tetrahedra) == rows(volume.cells["tetra"])
    assert sorted(s.vertices.tolist()) == volume.vertices.tolist()
    assert s.block_count > 1
    touched = []
    for i in range(s.block_count):
        parts = (
            s.edges[s.edge_start[i] : s.edge_start[i + 1]],
            s.tetrahedra[s.tetrahedron_start[i] :][: s.tetrahedron_start[i + 1] - s.tetrahedron_start[i]],
        )
        own = s.vertices[s.vertex_start[i] : s.vertex_start[i + 1]]
        touched.append(set(own.tolist()).union(*(part.ravel().tolist() for part in parts)))
    for parity in (0, 1):
        of_parity = touched[parity::2]
        assert sum(map(len, of_parity)) == len(set().union(*of_parity))


def test_rows_of_one_colour_share_no_vertex():
    rng = np.random.default_rng(3)
    table = np.array([rng.permutation(40)[:4] for _ in range(300)], np.int32)
    found = colours_of(table, 40)
    for colour in range(found.max() + 1):
        own = table[found == colour].ravel()
        assert len(own)
        assert len(own) == len(set(own.tolist()))


def test_more_colours_than_a_word_has_bits():
    star = np.stack((np.zeros(150, np.int32), np.arange(1, 151, dtype=np.int32)), axis=1)
    assert sorted(colours_of(star, 151).tolist()) == list(range(150))


def test_levels_are_counted_from_an_end():
    chain = np.stack((np.arange(5), np.arange(1, 6)), axis=1).astype(np.int32)
    level = levels_of(chain, 6)
    assert level.tolist() in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0])
    start, neighbours = neighbours_of(chain, 6)
    assert [neighbours[start[i] : start[i + 1]].tolist() for i in range(3)] == [[1], [0, 2], [1, 3]]
