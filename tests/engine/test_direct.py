"""Small meshes, which are examined without a tree: the same tables as with one."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.engine.direct import SMALL
from tests.shapes.tables import assert_identical

TREE = pliant.Tuning(culling="boxes")


@pytest.fixture(scope="module")
def with_trees():
    """Not here."""


def motions(seed):
    """Random and degenerate: coordinates of a coarse grid meet in all ways, and each face may occur twice."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 14))
    x0, x1 = rng.integers(-2, 3, (2, count, 3)) if seed % 2 else rng.normal(size=(2, count, 3))
    sizes = rng.integers(0, 17, 3)
    faces, edges, points = (rng.integers(0, count, (size, k)) for size, k in zip(sizes, (3, 2, 1)))
    return pliant.TriMesh(faces, edges, points[:, 0]), x0.astype(float), x1.astype(float)


@pytest.mark.parametrize("seed", range(120))
def test_without_a_tree(seed):
    assert_same_without_a_tree(*motions(seed), ("all", "self", "inter"))


@pytest.mark.unit
@pytest.mark.bounds
def test_two_faces_an_edge_and_a_point_without_a_tree():
    rng = np.random.default_rng(0)
    mesh = pliant.TriMesh([(0, 1, 2), (2, 1, 3)], [(4, 5)], [6])
    for x0, x1 in (rng.integers(-1, 2, (2, 7, 3)).astype(float), rng.normal(size=(2, 7, 3))):
        assert_same_without_a_tree(mesh, x0, x1, ("all",))


def assert_same_without_a_tree(mesh, x0, x1, selections):
    for pairs in selections:
        fresh = pliant.ccd(mesh, x0, x1, pairs=pairs)
        assert_identical(fresh, pliant.ccd(mesh, x0, x1, pairs=pairs, tuning=TREE))
        assert_identical(pliant.step(mesh, x0, x1, pairs=pairs), pliant.step(mesh, x0, x1, pairs=pairs, tuning=TREE))
        for distance in (0.0, 0.5):
            near = pliant.near(mesh, x0, within=distance, pairs=pairs)
            assert_identical(near, pliant.near(mesh, x0, within=distance, pairs=pairs, tuning=TREE))
        detector = pliant.Detector(mesh, pairs=pairs)
        for start, end in ((x0, x1), (x1, x0), (x0, x1)):
            assert_identical(detector.contacts(start, end), pliant.ccd(mesh, start, end, pairs=pairs, tuning=TREE))


def test_the_largest_small_and_the_smallest_large():
    rng = np.random.default_rng(0)
    for count in (SMALL, SMALL + 1):
        points = count // 3
        corners = rng.integers(0, points, count)
        faces = np.stack((corners, (corners + rng.integers(1, 4, count)) % points, (corners + 5) % points), axis=1)
        x0 = np.linspace((0.0, 0.0, 0.0), (30.0, 0.0, 0.0), points) + rng.normal(size=(points, 3))
        x1 = x0 + 0.3 * rng.normal(size=x0.shape)
        found = pliant.ccd(faces, x0, x1)
        assert len(found) > 1000
        assert_identical(found, pliant.ccd(faces, x0, x1, tuning=TREE))
        assert_identical(pliant.step(faces, x0, x1), pliant.step(faces, x0, x1, tuning=TREE))
        assert_identical(pliant.near(faces, x0, within=0.05), pliant.near(faces, x0, within=0.05, tuning=TREE))
        assert any(stage.name == "traversal" for stage in found.stages) == (count > SMALL)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
def test_coordinates_of_any_size(scale):
    rng = np.random.default_rng(1)
    faces, (x0, x1) = rng.integers(0, 30, (60, 3)), scale * rng.normal(size=(2, 30, 3))
    assert_identical(pliant.ccd(faces, x0, x1), pliant.ccd(faces, x0, x1, tuning=TREE))
    assert_identical(pliant.step(faces, x0, x1), pliant.step(faces, x0, x1, tuning=TREE))
