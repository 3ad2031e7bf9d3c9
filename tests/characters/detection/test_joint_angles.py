"""The policy of the paper: what it finds is there, when and where it looks, and what it misses (errata 15)."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.body.obstacles import Obstacle
from pliant.characters.detection.on_demand import CollisionDetector
from tests.shapes.bodies import bar, bend, expected, folding, posed, two_bones
from tests.shapes.solids import grid


def pairs(found):
    return {tuple(row) for row in found.tolist()}


@pytest.fixture(scope="module")
def folded():
    """A bar, and per frame what angles find, what there is, and how many cells were hashed."""
    body = bar()
    detector = CollisionDetector(body, two_bones(), update="angles", threads=1)
    rows = []
    for x, transforms in folding(body, 150.0, 24):
        found = detector.find(x, transforms)
        hashed = next((s.pairs_out for s in detector.stages if s.name == "hashed"), None)
        rows.append((pairs(found), pairs(expected(body.volume, x)), hashed))
    return body, rows


def test_what_is_found_is_there(folded):
    _, rows = folded
    assert all(found <= there for found, there, _ in rows)
    assert sum(len(found) for found, _, _ in rows) > 100


def test_the_first_frame_is_looked_at_as_a_whole_and_later_ones_in_part(folded):
    body, rows = folded
    assert rows[0][2] is None
    assert np.mean([hashed for _, _, hashed in rows[1:]]) < 0.5 * len(body.volume.types)


def test_contact_that_lasts_while_the_angle_opens_is_missed(folded):
    _, rows = folded
    opening = rows[13:]
    assert sum(len(there) for _, there, _ in opening) > 100
    assert all(not found and hashed == 0 for found, _, hashed in opening)
    closing = rows[6:12]
    assert sum(len(found) for found, _, _ in closing) > 0.6 * sum(len(there) for _, there, _ in closing) > 60


def test_contact_above_the_tolerance_angle_is_missed():
    body = bar()
    wide, narrow = (
        CollisionDetector(body, two_bones(), update="angles", tolerance_angle=angle, threads=1)
        for angle in (np.pi, np.pi / 3)
    )
    lost = 0
    for x, transforms in folding(body, 115.0, 24):
        a, b = pairs(wide.find(x, transforms)), pairs(narrow.find(x, transforms))
        assert b <= a
        lost += len(a - b)
    assert lost > 20


def test_flesh_that_moves_by_itself_is_missed():
    body = bar()
    detector = CollisionDetector(body, two_bones(), update="angles", threads=1)
    x = body.rest.copy()
    detector.find(x, bend(0.0))
    x[0] = x[body.volume.cells["tetra"][100]].mean(axis=0)
    assert len(expected(body.volume, x)) > 0
    assert len(detector.find(x, bend(0.0))) == 0


def test_a_limb_that_comes_to_the_trunk_is_looked_at():
    """Abduction: two bars side by side, the second one comes closer to the midline between them."""
    body = bar((8, 1, 1))
    cells, n = body.volume.cells["tetra"], len(body.rest)
    x = np.concatenate((body.rest, body.rest + [0.0, 3.0, 0.0], body.rest * [1.0, 1.0, 0.2] + [0.0, 1.4, -5.0]))
    volume = pliant.VolumeMesh({"tetra": np.concatenate((cells, cells + n, cells + 2 * n))})
    joints = np.repeat([0, 1, 2], n)[:, None].astype(np.int32)
    rig = two_bones(4.0, 0.5)
    skeleton = type(rig)(
        ("left", "right", "trunk"),
        np.array([-1, -1, -1]),
        type(rig.rest)(np.zeros((3, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (3, 1)), np.ones((3, 3))),
        np.arange(3),
        np.stack([_bind(-4.0, 0.5, 0.5), _bind(-4.0, 3.5, 0.5), _bind(-4.0, 1.9, -5.0)]),
    )
    three = type(body)(volume, x, joints, np.ones((3 * n, 1)), np.empty(0, np.int32), np.empty((0, 4)))
    detector, hits = CollisionDetector(three, skeleton, update="angles", threads=1), 0
    for i in range(12):
        moved = np.tile(np.eye(4), (3, 1, 1))
        moved[1, 1, 3] = -0.22 * i
        y = np.einsum("vab,vb->va", moved[joints[:, 0], :3, :3], x) + moved[joints[:, 0], :3, 3]
        found = detector.find(y, moved)
        assert pairs(found) <= pairs(expected(volume, y))
        hits += len(found)
    assert hits > 20


def _bind(x, y, z):
    m = np.eye(4)
    m[:3, 3] = -x, -y, -z
    return m


def test_obstacles_are_always_looked_at():
    body = bar((6, 2, 2))
    blocks, rest = grid((2, 2, 2), (-0.6, 2.5, 0.4), (0.9, 4.0, 1.6), split=True)
    obstacle = Obstacle(pliant.VolumeMesh(blocks), rest)
    detectors = [
        CollisionDetector(body, two_bones(3.0), update=u, obstacles=[obstacle], threads=1) for u in ("full", "angles")
    ]
    hits = 0
    for i in range(12):
        moved = np.eye(4)[None].copy()
        moved[0, 1, 3] = -0.1 * i
        full, angles = (d.find(posed(body, bend(0.0)), bend(0.0), moved) for d in detectors)
        np.testing.assert_array_equal(full, angles)
        hits += len(full)
    assert hits > 50
