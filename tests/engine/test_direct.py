"""Small meshes, which are examined without a tree: the same tables as with one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant
from pliant.engine.direct import FEW, SMALL
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


@pytest.mark.parametrize("seed", range(160))
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


def sheets(count):
    """So many triangles of two rough sheets, each next to the one before, that go through each other."""
    rng, columns = np.random.default_rng(0), 20
    corner = np.arange(count // 4 + 1) // columns * (columns + 1) + np.arange(count // 4 + 1) % columns
    one, two = corner, corner + columns + 2
    sheet = np.stack((one, one + 1, two, one, two, two - 1), axis=1).reshape(-1, 3)
    size = int(sheet.max()) + 1
    faces = np.stack((sheet, sheet + size), axis=1).reshape(-1, 3)[:count]
    flat = np.stack((np.arange(size) % (columns + 1), np.arange(size) // (columns + 1), np.zeros(size)), axis=1)
    x0 = np.concatenate((flat, flat + (0.3, 0.4, 1.0))) + 0.1 * rng.normal(size=(2 * size, 3))
    x1 = x0 + np.repeat(((0.0, 0.0, 0.5), (0.0, 0.0, -0.5)), size, axis=0)
    return faces, x0, x1


@pytest.mark.parametrize("count", [FEW, FEW + 1, SMALL, SMALL + 1])
def test_the_largest_small_and_the_smallest_large(count):
    faces, x0, x1 = sheets(count)
    assert len(faces) == count
    found = pliant.ccd(faces, x0, x1)
    assert len(found) > 500
    assert_identical(found, pliant.ccd(faces, x0, x1, tuning=TREE))
    assert_identical(pliant.step(faces, x0, x1), pliant.step(faces, x0, x1, tuning=TREE))
    near = pliant.near(faces, x1, within=0.1)
    assert len(near) > 500
    assert_identical(near, pliant.near(faces, x1, within=0.1, tuning=TREE))
    assert has_tree(found) == (count > SMALL)
    assert has_tree(near) == (count > FEW)


def has_tree(found):
    return any(stage.name == "traversal" for stage in found.stages)


@pytest.mark.parametrize("few", [0, FEW])
def test_too_many_pairs(monkeypatch, few):
    """Where so many boxes overlap that a tree takes less time, it takes over, and stays."""
    monkeypatch.setattr("pliant.engine.direct.FEW", few)
    rng = np.random.default_rng(0)
    faces, (x0, x1) = rng.integers(0, 180, (180, 3)), rng.normal(size=(2, 180, 3))
    expected, detector = pliant.ccd(faces, x0, x1, tuning=TREE), pliant.Detector(faces)
    first, near = pliant.step(faces, x0, x1, tuning=TREE), pliant.near(faces, x0, within=3.0, tuning=TREE)
    for _ in range(2):
        found = detector.contacts(x0, x1)
        assert has_tree(found)
        assert_identical(found, expected)
        assert_identical(detector.step(x0, x1), first)
        assert_identical(detector.near(x0, 3.0), near)
    assert_identical(pliant.ccd(faces, x0, x1), expected)
    assert_identical(pliant.step(faces, x0, x1), first)


def test_one_crowd_in_a_sparse_scene():
    """The sample does not see it, and the listing itself gives up: its memory is limited."""
    rng, apart, crowd = np.random.default_rng(0), 1000, 150
    grid = np.stack(np.unravel_index(np.arange(3 * apart), (60, 50, 1)), axis=1).astype(float)
    one = rng.integers(0, crowd, (2 * crowd, 3))
    faces = np.concatenate((np.arange(3 * apart).reshape(-1, 3), one + 3 * apart))
    x0, x1 = (np.concatenate((grid, [100.0, 0.0, 0.0] + rng.normal(size=(crowd, 3)))) for _ in range(2))
    found = pliant.ccd(faces, x0, x1)
    assert len(found) > 1000
    assert_identical(found, pliant.ccd(faces, x0, x1, tuning=TREE))
    assert_identical(pliant.step(faces, x0, x1), pliant.step(faces, x0, x1, tuning=TREE))


def test_more_contacts_than_there_was_space_for():
    rng = np.random.default_rng(2)
    faces, (x0, x1) = rng.integers(0, 40, (60, 3)), rng.normal(size=(2, 40, 3))
    detector = pliant.Detector(faces)
    found = detector.contacts(x0, x1)
    assert len(found) > 10 * len(detector.mesh.edges)
    assert_identical(found, pliant.ccd(faces, x0, x1, tuning=TREE))
    assert_identical(detector.step(x0, x1), pliant.step(faces, x0, x1, tuning=TREE))


def test_integers_decide_what_doubles_cannot():
    """Everything meets at once, and in every way; more of it than one thread takes at a time."""
    rng = np.random.default_rng(3)
    x0, x1 = rng.integers(-2, 3, (2, 30, 3)).astype(float)
    faces = rng.integers(0, 30, (40, 3))
    found, expected = pliant.ccd(faces, x0, x1), pliant.ccd(faces, x0, x1, tuning=TREE)
    stages = {stage.name: stage for stage in found.stages}
    assert stages["exact: integers"].pairs_in > 500
    assert stages["exact"].pairs_out == len(found)
    assert_identical(found, expected)
    for threads in (1, 3):
        assert_identical(
            pliant.step(faces, x0, x1, threads=threads), pliant.step(faces, x0, x1, tuning=TREE, threads=threads)
        )


def test_stages_pass_on_their_pairs():
    found = pliant.ccd(*sheets(400))
    stages = {stage.name: stage for stage in found.stages}
    names = ("feature boxes", "dnf", "csat", "exact")
    for one, other in pairwise(names):
        assert stages[one].pairs_out == stages[other].pairs_in > 0
    assert stages["exact"].pairs_out == len(found) > 0
    assert sum(stage.seconds for stage in found.stages) > 0.0


def test_positions_that_change_later_do_not_change_the_table():
    faces, x0, x1 = sheets(100)
    found, expected = pliant.ccd(faces, x0, x1), pliant.ccd(faces, x0, x1, tuning=TREE)
    x0[:], x1[:] = 0.0, 1.0
    assert_identical(found, expected)
    detector = pliant.Detector(faces)
    faces, x0, x1 = sheets(100)
    found = detector.contacts(x0, x1)
    detector.contacts(x1, x0)
    assert_identical(found, expected)


def test_progress():
    seen = []
    pliant.ccd(*sheets(40), progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e300])
def test_coordinates_of_any_size(scale):
    rng = np.random.default_rng(1)
    faces, (x0, x1) = rng.integers(0, 30, (60, 3)), scale * rng.normal(size=(2, 30, 3))
    assert_identical(pliant.ccd(faces, x0, x1), pliant.ccd(faces, x0, x1, tuning=TREE))
    assert_identical(pliant.step(faces, x0, x1), pliant.step(faces, x0, x1, tuning=TREE))


def far_from_the_origin(seed, count):
    """(x0, x1, distance) of a point that sinks towards a face, by so little that its positions have few digits."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x0 = rng.standard_normal((4, 3))
        normal = np.cross(x0[1] - x0[0], x0[2] - x0[0])
        normal /= np.linalg.norm(normal)
        x0[3] = x0[:3].mean(axis=0) + 0.02 * normal
        x0 += 100.0 * rng.standard_normal(3)
        motion = 10.0 ** rng.uniform(-6, -3)
        x1 = x0 + motion * rng.standard_normal((4, 3))
        x1[3] -= 2.0 * motion * normal
        yield x0, x1, 0.02 - 0.5 * motion


def test_what_is_drawn_back_without_a_tree_keeps_its_distance():
    """What was drawn back was tested again with filters that know nothing of distances, and found free."""
    mesh, drawn_back = pliant.TriMesh([(0, 1, 2)], points=[3]), 0
    for x0, x1, d in far_from_the_origin(1, 120):
        step = pliant.step(mesh, x0, x1, min_distance=d)
        assert_identical(step, pliant.step(mesh, x0, x1, min_distance=d, tuning=TREE))
        met = sum(stage.pairs_out for stage in step.stages if stage.name == "verification")
        drawn_back += met > 0
        if 0 < step.t < 1:
            assert pliant.step(mesh, x0, step.positions, min_distance=d, tuning=TREE).t == 1
    assert drawn_back > 10
