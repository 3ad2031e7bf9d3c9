"""Both ways of blending: where they agree, and where dual quaternions do better."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters import dual_quaternion_blend, linear_blend
from pliant.characters.rig.blending import METHODS
from pliant.characters.rig.errors import SkinError
from pliant.characters.rig.quaternions import quaternions_of, rotation_rows
from pliant.runtime.arrays import MeshError, ShapeError

BLENDS = pytest.mark.parametrize("blend", [linear_blend, dual_quaternion_blend])


def rotation(axis, angle):
    """(3, 3), by Rodrigues."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def affine(linear, shift=(0.0, 0.0, 0.0)):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = linear, shift
    return out


def random_rigid(rng, count):
    return np.array(
        [affine(rotation(rng.normal(size=3), rng.uniform(-np.pi, np.pi)), rng.normal(size=3)) for _ in range(count)]
    )


def random_skin(rng, count=40, joint_count=5, width=3):
    joints = np.argsort(rng.random((count, joint_count)), axis=1)[:, :width].astype(np.int32)
    return rng.normal(size=(count, 3)), joints, rng.dirichlet(np.ones(width), count)


@pytest.mark.unit
def test_linear_blending_is_the_mean_of_where_joints_take_a_vertex():
    rng = np.random.default_rng(0)
    rest, joints, weights = random_skin(rng)
    transforms = rng.normal(size=(5, 4, 4))
    transforms[:, 3] = (0, 0, 0, 1)
    wanted = [
        sum(w * (transforms[j] @ [*p, 1.0])[:3] for j, w in zip(js, ws)) for p, js, ws in zip(rest, joints, weights)
    ]
    np.testing.assert_allclose(linear_blend(rest, joints, weights, transforms), wanted, atol=1e-14)


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("kind", ["rigid", "scaled", "sheared", "mirrored", "flat", "zero", "point reflection"])
def test_one_joint_takes_a_vertex_where_its_transform_says(kind):
    rng = np.random.default_rng(1)
    rest, joints, _ = random_skin(rng, width=4)
    weights = np.zeros(joints.shape)
    weights[:, 2] = 1.0
    transforms = random_rigid(rng, 5)
    by = {
        "rigid": np.eye(3),
        "scaled": np.diag([100.0, 3.0, 0.01]),
        "sheared": np.triu(rng.normal(size=(3, 3))),
        "mirrored": np.diag([-1.0, 1.0, 1.0]),
        "flat": np.diag([1.0, 2.0, 0.0]),
        "zero": np.zeros((3, 3)),
        "point reflection": -np.eye(3),
    }[kind]
    transforms[:, :3, :3] = transforms[:, :3, :3] @ by
    np.testing.assert_allclose(
        dual_quaternion_blend(rest, joints, weights, transforms),
        linear_blend(rest, joints, weights, transforms),
        atol=1e-12,
    )


@pytest.mark.unit
@BLENDS
def test_joints_that_agree_take_every_vertex_along(blend):
    rng = np.random.default_rng(2)
    rest, joints, weights = random_skin(rng)
    transform = random_rigid(rng, 1)[0] @ np.diag([2.0, 2.0, 2.0, 1.0])
    moved = blend(rest, joints, weights, np.tile(transform, (5, 1, 1)))
    np.testing.assert_allclose(moved, rest @ transform[:3, :3].T + transform[:3, 3], atol=1e-13)


@pytest.mark.unit
@BLENDS
def test_a_motion_after_all_others_moves_the_result(blend):
    rng = np.random.default_rng(3)
    rest, joints, weights = random_skin(rng)
    transforms, after = random_rigid(rng, 5), random_rigid(rng, 1)[0]
    moved = blend(rest, joints, weights, transforms)
    both = blend(rest, joints, weights, after @ transforms)
    np.testing.assert_allclose(both, moved @ after[:3, :3].T + after[:3, 3], atol=1e-12)


@pytest.mark.unit
def test_mirrored_joints_blend_with_each_other():
    """Singular vectors of a mirroring are any: which axis it mirrors must not depend on them."""
    rng = np.random.default_rng(8)
    rest, joints, weights = random_skin(rng)
    small = [affine(rotation(rng.normal(size=3), rng.uniform(0.0, 0.02))) for _ in range(5)]
    transforms = random_rigid(rng, 1)[0] @ np.array(small) @ np.diag([-1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(
        dual_quaternion_blend(rest, joints, weights, transforms),
        linear_blend(rest, joints, weights, transforms),
        atol=0.02**2 * np.abs(rest).max(),
    )


@pytest.mark.unit
@pytest.mark.parametrize("degrees", [90, 150, 180, 181, 270])
def test_a_twist_keeps_the_radius(degrees):
    """A tube whose ends are twisted against each other: by means of matrices it becomes a candy wrapper."""
    height = np.linspace(0.0, 1.0, 21)
    angle = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    rest = np.array([(np.cos(a), h, np.sin(a)) for h in height for a in angle])
    joints = np.tile(np.array([[0, 1]], np.int32), (len(rest), 1))
    weights = np.stack([1.0 - rest[:, 1], rest[:, 1]], axis=1)
    transforms = np.array([np.eye(4), affine(rotation((0, 1, 0), np.radians(degrees)))])

    def radii(x):
        return np.hypot(x[:, 0], x[:, 2])

    np.testing.assert_allclose(radii(dual_quaternion_blend(rest, joints, weights, transforms)), 1.0, atol=1e-12)
    narrow = radii(linear_blend(rest, joints, weights, transforms)).min()
    assert narrow == pytest.approx(abs(np.cos(np.radians(degrees / 2.0))), abs=1e-12)


@pytest.mark.unit
def test_between_two_joints_is_the_screw_between_them():
    """Half way between two rigid motions of one weight is the half of the motion from one to the other."""
    rng = np.random.default_rng(4)
    for first in random_rigid(rng, 20):
        half = affine(rotation(rng.normal(size=3), rng.uniform(0.0, 1.5)), rng.normal(size=3))
        transforms = np.array([first, first @ half @ half])
        rest = rng.normal(size=(3, 3))
        moved = dual_quaternion_blend(rest, np.tile([0, 1], (3, 1)), np.full((3, 2), 0.5), transforms)
        middle = first @ half
        np.testing.assert_allclose(moved, rest @ middle[:3, :3].T + middle[:3, 3], atol=1e-12)


@pytest.mark.unit
def test_the_side_of_the_strongest_joint_and_not_of_the_first():
    """Turns by -100, 0 and 170 degrees about one axis: seen from the first, the last is nearer the other way round;
    seen from the second, which is strongest, it is not."""
    transforms = np.array([affine(rotation((0, 0, 1), np.radians(a))) for a in (-100, 0, 170)])
    joints, weights = np.array([[0, 1, 2]]), np.array([[0.2, 0.5, 0.3]])
    moved = dual_quaternion_blend([[1.0, 0.0, 0.0]], joints, weights, transforms)
    halves = np.radians([-50.0, 0.0, 85.0])
    angle = 2.0 * np.arctan2((weights @ np.sin(halves))[0], (weights @ np.cos(halves))[0])
    np.testing.assert_allclose(moved, [[np.cos(angle), np.sin(angle), 0.0]], atol=1e-12)
    # Nor does the order of the joints matter.
    other = dual_quaternion_blend([[1.0, 0.0, 0.0]], joints[:, ::-1], weights[:, ::-1], transforms)
    np.testing.assert_allclose(other, moved, atol=1e-14)


@pytest.mark.unit
@BLENDS
def test_into_a_given_array(blend):
    rng = np.random.default_rng(5)
    rest, joints, weights = random_skin(rng)
    transforms = random_rigid(rng, 5)
    out = np.empty_like(rest)
    assert blend(rest, joints, weights, transforms, out=out) is out
    np.testing.assert_array_equal(out, blend(rest, joints, weights, transforms))
    for bad in (np.empty((3, 3)), np.empty(rest.shape, np.float32), np.empty((3, len(rest))).T):
        with pytest.raises(ShapeError, match="out must be"):
            blend(rest, joints, weights, transforms, out=bad)


@pytest.mark.unit
@BLENDS
def test_bad_input_is_named(blend):
    rest, joints, weights = random_skin(np.random.default_rng(6))
    transforms = np.tile(np.eye(4), (5, 1, 1))
    with pytest.raises(ShapeError, match="transforms"):
        blend(rest, joints, weights, np.eye(4))
    with pytest.raises(ShapeError, match="joints"):
        blend(rest, joints[:, :2], weights, transforms)
    with pytest.raises(SkinError, match=r"vertex \d+ has a joint that is not among the 3"):
        blend(rest, joints, weights, transforms[:3])
    with pytest.raises(SkinError, match="vertex 0 has weights that sum to 2"):
        blend(rest, joints, 2.0 * weights, transforms)
    weights[7] = (-1.0, 1.0, 1.0)
    with pytest.raises(SkinError, match="vertex 7 has a negative weight"):
        blend(rest, joints, weights, transforms)
    transforms[2, 0, 0] = np.nan
    with pytest.raises(MeshError, match=r"transforms\[2, 0, 0\] is nan"):
        blend(rest, joints, weights, transforms)


@pytest.mark.unit
@BLENDS
def test_no_vertices(blend):
    assert blend(np.empty((0, 3)), np.empty((0, 4), np.int32), np.empty((0, 4)), np.eye(4)[None]).shape == (0, 3)
    assert METHODS == ("linear", "dual quaternion")


@pytest.mark.unit
def test_quaternions_of_matrices():
    rng = np.random.default_rng(7)
    half_turns = np.array([np.diag(d) for d in ([1.0, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1])])
    matrices = np.concatenate([half_turns, random_rigid(rng, 100)[:, :3, :3]])
    back = np.array([rotation_rows(tuple(q)) for q in quaternions_of(matrices)])
    np.testing.assert_allclose(back, matrices, atol=1e-14)
