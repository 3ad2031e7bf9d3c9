"""The safe step: how far a motion can go, and positions that a simulator can really use."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.shapes.meshes import motions
from tests.shapes.tables import assert_identical

MOTIONS = motions()
SHEETS = 200


def assert_safe(mesh, x0, x1, step):
    """The motion to the positions is free, after rounding, and about as long as the step promises."""
    assert len(pliant.ccd(mesh, x0, step.positions)) == 0
    expected = x0 + step.t * (x1 - x0)
    motion = np.abs(x1 - x0).max()
    assert np.abs(step.positions - expected).max() <= 1e-6 * motion
    # How far it went, measured along the motion of all vertices together. Where the whole step is but a few million
    # ulps of the positions, it is these that count: with t = 2e-9, it had to stay back by 1.5e-5 of it, or 4e-14.
    went = ((step.positions - x0) * (x1 - x0)).sum() / ((x1 - x0) ** 2).sum()
    assert step.t - max(1e-6 * step.t, 1e-12) <= went <= step.t + 1e-14


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MOTIONS)
def test_time_is_that_of_the_first_contact(name, threads):
    motion = MOTIONS[name]
    contacts = pliant.ccd(*motion)
    step = pliant.safe_step(*motion, threads=threads)
    assert step.t == float(step) == contacts.toi.min(initial=1.0)
    if len(contacts) == 0:
        assert step.contact is None
        return
    assert len(step.contact) == 1
    row = np.flatnonzero(contacts.toi == contacts.toi.min())[0]
    assert_identical(step.contact, contacts[int(row)])
    if step.t > 0:
        assert_safe(*motion, step)
    else:
        np.testing.assert_array_equal(step.positions, motion.x0)


def test_crumpled_sheets():
    stopped = 0
    for seed in range(SHEETS):
        scene = pliant.scenes.load("crumpled_sheet", triangles=98, frames=3, seed=seed)
        # The second step is taken from where the first one really ended: close to contact, where steps are hard.
        x0, x1 = scene.frames[:2]
        for goal in (x1, scene.frames[2]):
            step = pliant.safe_step(scene.faces, x0, goal, threads=1)
            assert step.t == pliant.ccd(scene.faces, x0, goal, threads=1).toi.min(initial=1.0)
            if step.contact is not None:
                stopped += 1
                assert step.t > 0
                assert_safe(scene.faces, x0, goal, step)
            x0 = step.positions
    assert 0.3 * 2 * SHEETS < stopped < 0.98 * 2 * SHEETS


@pytest.mark.data
@pytest.mark.parametrize("name", ["armadillo-rollers", "n-body"])
def test_published_frames(data_folder, name):
    with np.load(data_folder / "ccd" / f"{name}.npz") as file:
        faces, x0, x1 = file["faces"], file["vertices_t0"], file["vertices_t1"]
        known = np.nanmin(np.concatenate([file["vf_toi"], file["ee_toi"]]))  # of most contacts, not of all
    step = pliant.safe_step(faces, x0, x1)
    assert step.t <= known * (1 + 1e-15)
    assert (step.t == 0) == (name == "n-body")
    if step.t == 0:
        np.testing.assert_array_equal(step.positions, x0)
    else:
        assert step.t == pliant.ccd(faces, x0, x1).toi.min()
        assert_safe(faces, x0, x1, step)


TRIANGLE = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0)], np.float64)
FACE_AND_POINT = pliant.TriMesh([(0, 1, 2)], points=[3])


def over_triangle(z0, z1):
    return (np.concatenate([TRIANGLE, [(1, 1, z)]]) for z in (z0, z1))


def test_no_contact():
    x0, x1 = over_triangle(2, 1)
    step = pliant.safe_step(FACE_AND_POINT, x0, x1)
    assert (step.t, step.contact) == (1.0, None)
    np.testing.assert_array_equal(step.positions, x1)
    assert step.positions is not x1
    assert repr(step) == "Step(t = 1, free)"
    assert float(step) == 1.0


@pytest.mark.parametrize("z1", [0, 1, -1])
def test_contact_at_the_start(z1):
    x0, x1 = over_triangle(0, z1)
    step = pliant.safe_step(FACE_AND_POINT, x0, x1)
    assert step.t == 0.0
    assert step.contact.toi_upper.tolist() == [0.0]
    np.testing.assert_array_equal(step.positions, x0)
    assert step.positions is not x0


def test_contact_at_the_end():
    x0, x1 = over_triangle(1, 0)
    step = pliant.safe_step(FACE_AND_POINT, x0, x1)
    assert step.t <= 1.0 == step.contact.toi_upper[0]
    assert_safe(FACE_AND_POINT, x0, x1, step)
    assert repr(step) == "Step(t = 1, stopped by a contact)"


@pytest.mark.bounds
@pytest.mark.unit
@pytest.mark.parametrize(("z0", "z1"), [(1, -2), (-3, 1), (1e-9, -1), (1, -1e-9), (5e-324, -5e-324)])
def test_a_point_through_a_face(z0, z1):
    x0, x1 = over_triangle(z0, z1)
    step = pliant.safe_step(FACE_AND_POINT, x0, x1, threads=1)
    assert step.t == pytest.approx(z0 / (z0 - z1), rel=1e-9, abs=1e-12)
    assert step.contact.vertices.tolist() == [[3, 0, 1, 2]]
    assert len(pliant.ccd(FACE_AND_POINT, x0, step.positions, threads=1)) == 0
    assert np.sign(step.positions[3, 2]) == np.sign(z0)


@pytest.mark.parametrize("exponent", [-600, 500])
def test_units(exponent):
    mesh, x0, x1 = MOTIONS["crumpled_sheet"]
    step = pliant.safe_step(mesh, x0, x1)
    scaled = pliant.safe_step(mesh, np.ldexp(x0, exponent), np.ldexp(x1, exponent))
    assert scaled.t == step.t
    assert len(pliant.ccd(mesh, np.ldexp(x0, exponent), scaled.positions)) == 0
    np.testing.assert_array_equal(scaled.positions, np.ldexp(step.positions, exponent))


def test_only_the_wanted_pairs_stop_it():
    mesh, x0, x1 = MOTIONS["twisted_cloth"]
    for pairs in ("self", "inter"):
        step = pliant.safe_step(mesh, x0, x1, pairs=pairs)
        assert step.t == pliant.ccd(mesh, x0, x1, pairs=pairs).toi.min(initial=1.0)
        assert len(pliant.ccd(mesh, x0, step.positions, pairs=pairs)) == 0
    x0, x1 = over_triangle(1, -1)
    assert pliant.safe_step(FACE_AND_POINT, x0, x1, pairs="self").contact is None
    assert pliant.safe_step(FACE_AND_POINT, x0, x1, pairs="inter").contact is not None


@pytest.mark.parametrize("mesh", [[], np.empty((0, 3), int), pliant.TriMesh(), [(0, 1, 2)]])
def test_nothing_to_collide(mesh):
    x0, x1 = TRIANGLE, TRIANGLE[::-1]
    step = pliant.safe_step(mesh, x0, x1)
    assert step.t == 1.0
    np.testing.assert_array_equal(step.positions, x1)


def test_single_precision():
    mesh, x0, x1 = MOTIONS["crumpled_sheet"]
    x0, x1 = x0.astype(np.float32), x1.astype(np.float32)
    step = pliant.safe_step(mesh, x0, x1)
    assert step.positions.dtype == np.float64
    assert_safe(mesh, x0.astype(np.float64), x1.astype(np.float64), step)
