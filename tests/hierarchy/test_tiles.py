"""Tiles: every element in one, not too large, in one piece; what has no neighbours is put together by its place."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.bounds.kdops import bound_vertices
from pliant.hierarchy.build import LEAF_OF_PAIRS
from pliant.hierarchy.medians import centres_of
from pliant.hierarchy.tiles import SIZE, Tiles, tiles_of
from pliant.mesh.features import elements_of
from pliant.mesh.patches import twins_of
from pliant.runtime.threads import SERIAL
from pliant.scenes.shapes import weave
from tests.shapes.meshes import soup


def tiled(mesh, x) -> tuple[Tiles, np.ndarray]:
    """The tiles, and the neighbour across each side."""
    elements = elements_of(mesh)
    neighbour = twins_of(elements.sides, len(mesh.edges)) // 3
    return tiles_of(centres_of(bound_vertices(x, x), elements.corners, SERIAL), neighbour), neighbour


def woven(along=30, across=20):
    faces, points = weave(along, across)
    return pliant.TriMesh(faces), np.column_stack((points, np.sin(points).sum(axis=1)))


def assert_described(tiles, neighbour):
    """Every element has a tile, and neighbours of tiles are those of their elements, with as many sides."""
    count = len(tiles.centres)
    assert sorted(set(tiles.of.tolist())) == list(range(count))
    assert np.bincount(tiles.of).max() <= LEAF_OF_PAIRS
    sides = {}
    for side, other in enumerate(neighbour):
        a, b = tiles.of[side // 3], tiles.of[other] if other >= 0 else -1
        if b >= 0 and a != b:
            sides[a, b] = sides.get((a, b), 0) + 1
    found = {
        (a, tiles.neighbour[k]): tiles.sides[k] for a in range(count) for k in range(tiles.start[a], tiles.start[a + 1])
    }
    assert found == sides


@pytest.mark.bounds
@pytest.mark.unit
def test_every_element_is_in_one_tile():
    for seed in range(4):
        mesh, x, _ = soup(seed)
        assert_described(*tiled(mesh, x))
    assert_described(*tiled(*woven(9, 7)))


def test_tiles_of_a_surface_hang_together():
    mesh, x = woven()
    tiles, neighbour = tiled(mesh, x)
    assert_described(tiles, neighbour)
    size = np.bincount(tiles.of)
    assert size.min() > SIZE // 4
    assert abs(size.mean() - SIZE) < 2
    for tile in range(len(size)):
        elements = set(np.flatnonzero(tiles.of == tile).tolist())
        reached, new = set(), {min(elements)}
        while new:
            reached |= new
            new = {int(j) for i in new for j in neighbour[3 * i : 3 * i + 3]} & elements - reached
        assert reached == elements


def test_triangles_without_neighbours_are_put_together():
    x = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    mesh = pliant.TriMesh(np.arange(300).reshape(100, 3))
    tiles, neighbour = tiled(mesh, x)
    assert_described(tiles, neighbour)
    assert np.bincount(tiles.of).min() >= LEAF_OF_PAIRS // 2
