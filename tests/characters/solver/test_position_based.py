"""Position Based Skinning of bars: rest, rigid motion, twisting and bending without collapse, secondary motion."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.rig.blending import linear_blend
from pliant.characters.solver import position_based
from pliant.characters.solver.position_based import PositionBasedSkinning
from tests.shapes.limbs import limb, pose, run, turn, volumes


def areas(body, x):
    """(s,) area of each cross section of a bar of cubes, from the triangles of its vertices at one x as bound."""
    out = []
    for place in np.unique(body.rest[:, 0]):
        ids = np.flatnonzero(body.rest[:, 0] == place)
        n = round(len(ids) ** 0.5)
        p = x[ids].reshape(n, n, 3)
        a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
        out.append(0.5 * np.linalg.norm(np.cross(c - a, d - b), axis=-1).sum())
    return np.array(out)


@pytest.mark.unit
def test_at_rest_nothing_moves():
    character, body = limb((4, 2, 2))
    skinning = PositionBasedSkinning(character, body, threads=1)
    assert np.array_equal(skinning.x, body.rest)
    skinning.reset(pose(0.0))
    for _ in range(3):
        assert np.abs(skinning.advance(pose(0.0)) - body.rest).max() < 1e-9


def test_a_bent_limb_keeps_its_shape_while_it_is_carried_around():
    """Secondary motion is relative to the bones, and that at constant speed: a character on a carousel."""
    character, body = limb((6, 2, 2))
    skinning = PositionBasedSkinning(character, body, collisions=False, threads=1)
    bent = pose(40.0)
    for _ in range(60):
        before = skinning.advance(bent)
    for i in range(1, 13):
        carry = np.eye(4)
        carry[:3, 3] = 0.1 * i
        after = skinning.advance(carry @ bent)
    # At first it stays behind, by what its speed has grown; then it catches up.
    moved = before + carry[:3, 3]
    assert np.abs(after - moved).max() < 0.05
    for i in range(13, 120):
        carry[:3, 3] = 0.1 * i
        after = skinning.advance(carry @ bent)
    assert np.abs(after - before - carry[:3, 3]).max() < 2e-3


@pytest.mark.parametrize("factor", [1e-3, 100.0])
def test_size_does_not_matter(factor):
    character, body = limb((8, 2, 2))
    scaled = np.eye(4) * factor
    scaled[3, 3] = 1.0
    plain, other = (PositionBasedSkinning(character, body, threads=1) for _ in range(2))
    plain.reset(pose(0.0))
    other.reset(scaled @ pose(0.0))
    for i in range(20):
        x, y = plain.advance(pose(5.0 * i)), other.advance(scaled @ pose(5.0 * i))
    assert np.abs(y / factor - x).max() < 1e-6


def test_twisted_by_half_a_turn_linear_blending_collapses_and_flesh_does_not():
    character, body = limb()
    x = run(PositionBasedSkinning(character, body, collisions=False, threads=1), 150.0, axis=0)
    linear = linear_blend(body.rest, body.joints, body.weights, pose(150.0, 0))
    rest = areas(body, body.rest)
    assert (areas(body, linear) / rest).min() < 0.15
    assert (areas(body, x) / rest).min() > 0.97
    assert (areas(body, x) / rest).max() < 1.03
    assert volumes(body, linear).sum() / volumes(body, body.rest).sum() < 0.95
    assert volumes(body, x).sum() / volumes(body, body.rest).sum() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("degrees", [60.0, 120.0])
def test_bent_limbs_keep_their_volume(degrees):
    character, body = limb()
    x = run(PositionBasedSkinning(character, body, threads=1), degrees)
    assert volumes(body, x).sum() / volumes(body, body.rest).sum() == pytest.approx(1.0, abs=0.03)


def test_no_bulging_at_the_outside_of_a_bend():
    """Dual quaternions blow up the outside of a joint; linear blending flattens it (a bar of radius 0.75)."""
    character, body = limb()
    x = run(PositionBasedSkinning(character, body, threads=1), 90.0)
    outside = body.rest[:, 1] == body.rest[:, 1].min()
    away = np.linalg.norm(x[outside] - [3.0, 0.0, 0.0], axis=1)
    at_joint = away[np.abs(body.rest[outside, 0] - 3.0) < 0.3]
    assert at_joint.max() < 1.25 * np.hypot(0.75, 0.75)
    assert at_joint.min() > 0.85 * 0.75


@pytest.mark.unit
def test_threads_do_not_change_the_result(monkeypatch):
    monkeypatch.setattr(position_based, "_WORTH_THREADS", 0)
    monkeypatch.setattr("pliant.characters.solver.colours._BLOCK", 60)
    character, body = limb((8, 2, 2))
    results = []
    for threads in (1, 2, 3):
        skinning = PositionBasedSkinning(character, body, threads=threads)
        for i in range(6):
            skinning.advance(pose(20.0 * i))
        results.append(skinning.x)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_safe_updates_of_the_detection_do_not_change_the_result():
    character, body = limb((12, 3, 3))
    safe, full = (run(PositionBasedSkinning(character, body, update=u, threads=1), 115.0) for u in ("safe", "full"))
    assert np.array_equal(safe, full)
    assert not np.array_equal(full, run(PositionBasedSkinning(character, body, collisions=False, threads=1), 115.0))


def test_repeated_runs_are_equal_bit_for_bit():
    character, body = limb((8, 3, 3))
    skinning = PositionBasedSkinning(character, body, threads=1)
    assert np.array_equal(run(skinning, 110.0, frames=15), run(skinning, 110.0, frames=15))


def test_flesh_overshoots_when_bones_stop_and_then_comes_to_rest():
    character, body = limb((12, 4, 4))
    skinning = PositionBasedSkinning(character, body, collisions=False, threads=1)
    skinning.reset(np.tile(np.eye(4), (2, 1, 1)))
    for i in range(11):
        x = skinning.advance(np.tile(turn(2, 4.0 * i), (2, 1, 1)))
    off = []
    held = np.tile(turn(2, 40.0), (2, 1, 1))
    target = linear_blend(body.rest, body.joints, body.weights, held)
    before = x
    for _ in range(120):
        x = skinning.advance(held)
        off.append(np.abs(x - target).max())
        before, moved = x, np.abs(x - before).max()
    assert max(off[:10]) > 0.01
    assert off[-1] < 1e-3 * max(off)
    assert moved < 1e-5


def test_more_damping_ends_secondary_motion_sooner():
    character, body = limb((8, 2, 2))
    left = []
    for damping in (0.0, 60.0):
        skinning = PositionBasedSkinning(character, body, collisions=False, damping=damping, threads=1)
        for i in range(10):
            skinning.advance(np.tile(turn(2, 4.0 * i), (2, 1, 1)))
        for _ in range(12):
            x = skinning.advance(np.tile(turn(2, 36.0), (2, 1, 1)))
        target = linear_blend(body.rest, body.joints, body.weights, np.tile(turn(2, 36.0), (2, 1, 1)))
        left.append(np.abs(x - target).max())
    assert left[1] < left[0]


@pytest.mark.unit
def test_a_long_step_is_several_short_ones():
    """Elbows that closed by 48 degrees in a step of a tenth of a second passed through themselves."""
    character, body = limb((6, 2, 2))
    long, short = (PositionBasedSkinning(character, body, threads=1) for _ in range(2))
    x = long.advance(pose(40.0), 4.0 / 60.0)
    for i in range(4):
        y = short.advance(pose(10.0 * (i + 1)))
    assert np.abs(x - y).max() < 1e-9
    assert np.isfinite(long.advance(pose(0.0), 1e6)).all()


@pytest.mark.unit
def test_what_cannot_be_used_is_named():
    character, body = limb((2, 1, 1))
    skinning = PositionBasedSkinning(character, body, threads=1)
    with pytest.raises(pliant.MeshError, match=r"\(2, 4, 4\), one for each joint"):
        skinning.advance(np.eye(4)[None])
    with pytest.raises(pliant.MeshError, match="transforms"):
        skinning.advance(np.full((2, 4, 4), np.nan))
    with pytest.raises(pliant.MeshError, match="dt"):
        skinning.advance(pose(0.0), 0.0)
    for options, name in (
        ({"iterations": 0}, "iterations"),
        ({"friction": -1.0}, "friction"),
        ({"update": "x"}, "update"),
    ):
        with pytest.raises(pliant.MeshError, match=name):
            PositionBasedSkinning(character, body, **options)


@pytest.mark.unit
def test_stages_say_how_long_parts_took():
    character, body = limb((2, 1, 1))
    skinning = PositionBasedSkinning(character, body, threads=1)
    skinning.advance(pose(3.0))
    assert [stage.name for stage in skinning.stages[:3]] == ["follow", "detect", "relax"]
    assert all(stage.seconds >= 0.0 for stage in skinning.stages)


def scaled_pose(factor, joint=None):
    """All joints, or one, with a scale; the others as bound."""
    out = pose(0.0)
    out[slice(None) if joint is None else joint, :3, :3] *= factor
    return out


@pytest.mark.parametrize("collisions", [False, True])
@pytest.mark.parametrize("joint", [None, 1])
@pytest.mark.parametrize("factor", [0.0, 1e-300, 1e-200, 1e-155, 1e-104, 1e-70, 1e-30, 1e103, 1e160, 1e300, -1e200])
def test_any_scale_leaves_finite_positions(factor, joint, collisions):
    """All joints with scale 0, or one whose cube or square no double holds, left NaN for ever."""
    character, body = limb((4, 2, 2))
    skinning = PositionBasedSkinning(character, body, collisions=collisions, threads=1)
    for dt in (1.0 / 60.0, 0.05):
        assert np.isfinite(skinning.advance(scaled_pose(factor, joint), dt)).all()
        assert np.isfinite(skinning.advance(scaled_pose(factor, joint), dt)).all()
        for _ in range(50):  # half of the flesh in the other half may take longer to get out
            x = skinning.advance(pose(0.0), dt)
        tangled = collisions and joint is not None
        assert np.abs(x - body.rest).max() < (5.0 if tangled else 0.1) * skinning.edge
    assert np.isfinite(skinning.reset(scaled_pose(factor, joint))).all()


def test_where_no_number_is_large_enough_flesh_stays():
    character, body = limb((4, 2, 2))
    skinning = PositionBasedSkinning(character, body, threads=1)
    far = scaled_pose(1.7e308)
    far[:, :3, 3] = 1.7e308
    assert np.isfinite(skinning.advance(far)).all()
    assert np.isfinite(skinning.advance(far, 0.1)).all()
    for _ in range(10):
        x = skinning.advance(pose(0.0))
    assert np.abs(x - body.rest).max() < 1e-6
