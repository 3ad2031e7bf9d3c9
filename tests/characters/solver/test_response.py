"""Flesh that does not pass through itself or obstacles: how deep it is without and with response."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.body.obstacles import Obstacle, ObstacleError
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.characters.solver.position_based import PositionBasedSkinning
from pliant.mesh.volumes import VolumeMesh
from tests.shapes.limbs import limb, pose, run, volumes
from tests.shapes.solids import ball, both


def deepest(skinning, x):
    """In edges of the mean length."""
    return pliant.inside(skinning.body.volume, x, threads=1).depth.max(initial=0.0) / skinning.edge


def test_an_elbow_of_120_degrees_ends_without_penetration():
    character, body = limb((24, 6, 6))
    plain = PositionBasedSkinning(character, body, collisions=False, threads=1)
    assert deepest(plain, run(plain, 120.0)) > 1.0
    held = PositionBasedSkinning(character, body, threads=1)
    x = run(held, 120.0)
    assert deepest(held, x) <= 0.05
    assert volumes(body, x).sum() / volumes(body, body.rest).sum() == pytest.approx(1.0, abs=0.03)


def test_a_reset_into_a_penetrating_pose_settles():
    character, body = limb((16, 4, 4))
    plain = PositionBasedSkinning(character, body, collisions=False, threads=1)
    assert deepest(plain, plain.reset(pose(110.0))) > 0.3
    skinning = PositionBasedSkinning(character, body, threads=1)
    assert deepest(skinning, skinning.reset(pose(110.0))) <= 0.05


def test_a_pose_without_a_solution_ends_bounded_and_quiet():
    """Folded until the bones lie in each other: there is no place for the flesh between them."""
    character, body = limb((16, 4, 4))
    skinning = PositionBasedSkinning(character, body, threads=1)
    x = run(skinning, 178.0, frames=60, hold=60)
    assert np.isfinite(x).all()
    assert np.abs(x - body.rest.mean(axis=0)).max() < 8.0
    moved = []
    for _ in range(20):
        before, x = x, skinning.advance(pose(178.0))
        moved.append(np.abs(x - before).max())
    assert np.isfinite(x).all()
    assert np.median(moved) < 0.2 * skinning.edge
    # And it is as good as new when the pose has a solution again.
    for i in range(90):
        x = skinning.advance(pose(max(0.0, 178.0 - 3.0 * i)))
    assert deepest(skinning, x) == 0.0
    assert np.abs(x - body.rest).max() < 0.1


@pytest.mark.parametrize("frames", [1, 2])
def test_jumps_into_any_pose_stay_finite(frames):
    character, body = limb((8, 3, 3))
    skinning = PositionBasedSkinning(character, body, threads=1)
    rng = np.random.default_rng(1)
    for _ in range(12):
        degrees, axis = rng.uniform(-180.0, 180.0), int(rng.integers(3))
        for _ in range(frames):
            x = skinning.advance(pose(degrees, axis))
    assert np.isfinite(x).all()
    assert np.abs(x).max() < 20.0


def bar_and_ball(**options):
    character, body = limb((12, 4, 4))
    blocks, x = ball(3, 0.5, split=True)
    obstacle = Obstacle(VolumeMesh(blocks), x)
    return body, obstacle, PositionBasedSkinning(character, body, obstacles=[obstacle], threads=1, **options)


def at(x, y, z):
    out = np.eye(4)[None].copy()
    out[0, :3, 3] = x, y, z
    return out


def press(skinning, path):
    """Positions after a ball has gone along a path of centres."""
    x = skinning.reset(pose(0.0), at(*path[0]))
    for centre in path:
        x = skinning.advance(pose(0.0), 1.0 / 60.0, at(*centre))
    return x


def test_obstacles_push_and_do_not_give_way():
    body, obstacle, skinning = bar_and_ball()
    path = [(3.2, y, 0.1) for y in [*np.linspace(1.6, 1.0, 30), *[1.0] * 10]]
    x = press(skinning, path)
    joint = both((body.volume.cells, x), (obstacle.volume.cells, obstacle.rest + path[-1]))
    found = pliant.inside({"tetra": joint[0]["tetra"]}, joint[1], threads=1)
    assert found.depth.max(initial=0.0) <= 0.05 * skinning.edge
    assert np.abs(x - body.rest).max() > 0.2  # it dents
    assert volumes(body, x).sum() / volumes(body, body.rest).sum() == pytest.approx(1.0, abs=0.03)
    untouched = joint[1].copy()
    untouched[: len(x)] = body.rest
    assert pliant.inside({"tetra": joint[0]["tetra"]}, untouched, threads=1).depth.max() > 0.2


def test_obstacles_go_along_in_a_long_step():
    _, _, skinning = bar_and_ball()
    skinning.reset(pose(0.0), at(3.2, 1.6, 0.1))
    for y in (1.4, 1.2, 1.0):
        x = skinning.advance(pose(0.0), 10.0 / 60.0, at(3.2, y, 0.1))
    assert len(skinning.find()) == 0
    assert np.abs(x - skinning.body.rest).max() > 0.2
    with pytest.raises(ObstacleError, match="obstacle_transforms"):
        skinning.advance(pose(0.0), 0.5, np.eye(4))
    with pytest.raises(pliant.MeshError, match="obstacle"):
        skinning.advance(pose(0.0), 0.5, np.full((1, 4, 4), np.nan))


@pytest.mark.parametrize("collisions", [True, False])
def test_what_is_found_is_where_the_step_has_ended(collisions):
    """Also where nothing has been searched for since it moved; and nothing is searched for twice."""
    character, body = limb((16, 4, 4))
    skinning = PositionBasedSkinning(character, body, collisions=collisions, threads=1)
    asked, known = [], 0
    detector = skinning._response._detector
    find = detector.find
    detector.find = lambda *arguments: asked.append(1) or find(*arguments)
    for i in range(30):
        x = skinning.advance(pose(25.0 * i))  # past 180 degrees there is no place for flesh
        found, before = skinning.find(), len(asked)
        np.testing.assert_array_equal(found, CollisionDetector(body, threads=1).find(x))
        assert skinning.find() is found
        assert len(asked) == before
        known += len(found) > 0
    assert 3 < known < 25


def test_friction_drags_flesh_along():
    """A ball that is pressed in slides along the bar: what touches it goes along as far as friction holds it."""
    path = [(3.0, y, 0.0) for y in np.linspace(1.5, 1.05, 20)] + [(x, 1.05, 0.0) for x in np.linspace(3.0, 3.4, 25)]
    dragged = []
    for friction in (0.0, 1.0):
        body, _, skinning = bar_and_ball(friction=friction)
        x = press(skinning, path)
        top = (body.rest[:, 1] == body.rest[:, 1].max()) & (np.abs(body.rest[:, 0] - 3.2) < 0.6)
        dragged.append((x - body.rest)[top, 0].max())
    assert dragged[1] > dragged[0] + 0.05
