"""Many scenes in one call: each result is that of the single function, an error names its scene."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant
from tests.shapes.tables import assert_identical

THREADS = (1, 2, 5)


@pytest.fixture(scope="module")
def trees():
    """Not here: small scenes are what batches are for; those with many elements have trees by themselves."""


def scenes(count, vertices=12, faces=14, seed=0):
    rng = np.random.default_rng(seed)
    x0s, x1s = rng.normal(size=(2, count, vertices, 3))
    return rng.integers(0, vertices, (faces, 3)), x0s, x1s


@pytest.mark.parametrize("threads", THREADS)
def test_one_mesh(threads):
    mesh, x0s, x1s = scenes(40)
    found = pliant.ccd_batch(mesh, x0s, x1s, threads=threads)
    steps = pliant.step_batch(mesh, x0s, x1s, threads=threads)
    crossing = pliant.check_batch(mesh, x0s, threads=threads)
    assert len(found) == len(steps) == len(crossing) == 40
    assert sum(map(len, found)) > 1000
    assert sum(map(len, crossing)) > 100
    for i, (x0, x1) in enumerate(zip(x0s, x1s)):
        assert_identical(found[i], pliant.ccd(mesh, x0, x1))
        assert_identical(steps[i], pliant.step(mesh, x0, x1))
        assert_identical(crossing[i], pliant.check(mesh, x0))


@pytest.mark.parametrize("threads", THREADS)
def test_meshes_of_all_sizes(threads):
    """Also with different numbers of vertices for one mesh, and an empty one."""
    rng = np.random.default_rng(1)
    shared = pliant.TriMesh(rng.integers(0, 12, (14, 3)))
    meshes = [shared, shared, rng.integers(0, 30, (40, 3)), pliant.TriMesh(), shared, [(0, 1, 2), (3, 4, 5)]]
    sizes = (12, 15, 30, 3, 12, 6)
    x0s, x1s = ([rng.normal(size=(size, 3)) for size in sizes] for _ in range(2))
    found = pliant.ccd_batch(meshes, x0s, x1s, threads=threads)
    steps = pliant.safe_step_batch(tuple(meshes), tuple(x0s), tuple(x1s), threads=threads)
    crossing = pliant.dcd_batch(meshes, x0s, threads=threads)
    for i, (mesh, x0, x1) in enumerate(zip(meshes, x0s, x1s)):
        assert_identical(found[i], pliant.ccd(mesh, x0, x1))
        assert_identical(steps[i], pliant.step(mesh, x0, x1))
        assert_identical(crossing[i], pliant.check(mesh, x0))


def test_what_is_the_same_for_all():
    """A line search: one start, many ends. And one motion of many meshes."""
    mesh, x0s, x1s = scenes(5)
    for found, x1 in zip(pliant.ccd_batch(mesh, x0s[0], x1s), x1s):
        assert_identical(found, pliant.ccd(mesh, x0s[0], x1))
    for found, x1 in zip(pliant.ccd_batch(mesh.tolist(), x0s[0].tolist(), x1s.tolist()), x1s):
        assert_identical(found, pliant.ccd(mesh, x0s[0], x1))
    meshes = np.stack((mesh, mesh[::-1], mesh[:, ::-1]))
    for found, one in zip(pliant.ccd_batch(meshes, x0s[0], x1s[0]), meshes):
        assert_identical(found, pliant.ccd(one, x0s[0], x1s[0]))


def test_options():
    mesh, x0s, x1s = scenes(6)
    objects = pliant.TriMesh(mesh).components
    options = ({"min_distance": 0.1}, {"pairs": "inter"}, {"tuning": pliant.Tuning(culling="boxes")})
    for given in (*options, {"objects": np.append(objects, np.full(12 - len(objects), 7)), "pairs": "self"}):
        for found, x0, x1 in zip(pliant.ccd_batch(mesh, x0s, x1s, **given), x0s, x1s):
            assert_identical(found, pliant.ccd(mesh, x0, x1, **given))
    for found, x0, x1 in zip(pliant.step_batch(mesh, x0s, x1s, min_distance=0.1, initial=0.5), x0s, x1s):
        assert_identical(found, pliant.step(mesh, x0, x1, min_distance=0.1, initial=0.5))
    motion = pliant.Accelerated(acceleration=(0.0, 0.0, -1.0))
    for found, x0, x1 in zip(pliant.ccd_batch(mesh, x0s, x1s, motion=motion), x0s, x1s):
        assert_identical(found, pliant.ccd(mesh, x0, x1, motion=motion))
    twice = np.concatenate((mesh, mesh + 12))
    doubled = np.concatenate((x0s, x0s), axis=1)
    for found, x in zip(pliant.check_batch(twice, doubled, merge=True, pairs="all"), doubled):
        assert_identical(found, pliant.check(twice, x, merge=True))


def test_nothing():
    mesh, x0s, x1s = scenes(3)
    assert pliant.ccd_batch(mesh, x0s[:0], x1s[:0]) == []
    assert pliant.step_batch([], [], []) == []
    assert pliant.check_batch(mesh, []) == []


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_names_the_first_scene_that_has_one(threads):
    mesh, x0s, x1s = scenes(60)
    x0s[31, 2, 1] = np.nan
    x1s[17, 4, 0] = np.inf
    for _ in range(5):
        with pytest.raises(pliant.NonFiniteError, match=r"^scene 17: x1\[4, 0\] is inf"):
            pliant.ccd_batch(mesh, x0s, x1s, threads=threads)
        with pytest.raises(pliant.NonFiniteError, match=r"^scene 31: x\[2, 1\] is nan"):
            pliant.check_batch(mesh, x0s, threads=threads)
    meshes = [mesh] * 60
    meshes[9] = [(0, 1, 99)]
    with pytest.raises(pliant.VertexIndexError, match=r"^scene 9: face 0 refers to vertex 99"):
        pliant.step_batch(meshes, x0s, x1s, threads=threads)


def test_lists_that_do_not_go_together():
    mesh, x0s, x1s = scenes(4)
    with pytest.raises(pliant.ShapeError, match="x1s has 3 scenes, but x0s has 4"):
        pliant.ccd_batch(mesh, x0s, x1s[:3])
    with pytest.raises(pliant.ShapeError, match="x0s has 4 scenes, but meshes has 0"):
        pliant.ccd_batch([], x0s, x1s)
    with pytest.raises(pliant.ShapeError, match="nothing that says how many scenes"):
        pliant.step_batch(mesh, x0s[0], x1s[0])
    with pytest.raises(pliant.OptionError, match="scene 0: x1 is missing"):
        pliant.ccd_batch(mesh, x0s)
    with pytest.raises(TypeError, match=r"ccd_batch.. got an unexpected keyword argument 'culling'"):
        pliant.ccd_batch(mesh, x0s, x1s, culling="boxes")
    with pytest.raises(pliant.OptionError, match="threads=0"):
        pliant.ccd_batch(mesh, x0s, x1s, threads=0)


def test_tangled():
    mesh, x0s, x1s = [(0, 1, 2), (3, 4, 5)], *np.zeros((2, 3, 6, 3))
    x0s[:] = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 5), (1, 0, 5), (0, 1, 5)
    x0s[1, 3:, 2] = 0.0
    with pytest.raises(pliant.TangledError, match=r"^scene 1: the motion starts tangled") as error:
        pliant.ccd_batch(mesh, x0s, x1s, tangled="raise")
    assert error.value.faces.tolist() == [[0, 1]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pliant.step_batch(mesh, x0s, x1s, tangled="warn")
    assert [str(one.message)[:40] for one in caught] == ["scene 1: the motion starts tangled: face"]
    assert caught[0].filename == __file__


def test_progress():
    mesh, x0s, x1s = scenes(4)
    seen = []
    pliant.ccd_batch(mesh, x0s, x1s, threads=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_interruption_leaves_nothing_behind(monkeypatch):
    """What is not an error of the input goes on its way as it is, and stops everybody."""
    mesh, x0s, x1s = scenes(50)
    asked = pliant.Detector.contacts

    def interrupted(self, x0, x1, **options):
        if x0 is not None and np.array_equal(x0, x0s[20]):
            raise KeyboardInterrupt
        return asked(self, x0, x1, **options)

    with monkeypatch.context() as patch:
        patch.setattr(pliant.Detector, "contacts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pliant.ccd_batch(mesh, x0s, x1s, threads=3)
    assert len(pliant.ccd_batch(mesh, x0s, x1s, threads=3)) == 50
