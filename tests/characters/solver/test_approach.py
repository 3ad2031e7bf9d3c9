"""Ways from the bind pose, and from another one, to a pose."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.solver.approach import approach, matrices_between, way_between
from tests.shapes.limbs import chain, pose, turn

pytestmark = pytest.mark.unit


def test_it_begins_as_bound_where_the_root_is_and_ends_in_the_pose():
    at = (0.0, 3.0, 5.0)
    end = turn(1, 70.0, (2.0, 0.0, 1.0)) @ pose(100.0, 2, at)
    end[:, :3] *= 4.0
    poses = list(approach(chain(at), end, 8))
    assert len(poses) == 9
    assert np.abs(poses[0] - end[0]).max() < 1e-12
    assert np.array_equal(poses[-1], end)


def test_bones_turn_evenly_and_stay_joined():
    at = (0.0, 3.0)
    poses = list(approach(chain(at), pose(120.0, 2, at), 6))
    for i, found in enumerate(poses):
        assert found == pytest.approx(pose(20.0 * i, 2, at), abs=1e-9)


def test_flat_frames_have_no_way():
    end = pose(30.0)
    end[0, :3, :3] = 0.0
    assert all(np.array_equal(found, end) for found in approach(chain((0.0, 3.0)), end, 3))


def test_between_two_poses_bones_turn_evenly_and_the_root_goes_along():
    at, carry = (0.0, 3.0), np.eye(4)
    carry[:3, 3] = 2.0, 0.0, -4.0
    poses = list(way_between(chain(at), pose(30.0, 2, at), carry @ pose(90.0, 2, at), 4))
    assert len(poses) == 4
    for i, found in enumerate(poses, 1):
        carry[:3, 3] = 0.5 * i, 0.0, -1.0 * i
        assert found == pytest.approx(carry @ pose(30.0 + 15.0 * i, 2, at), abs=1e-9)


def test_there_is_no_way_from_a_flat_frame():
    flat, end = pose(10.0), pose(30.0)
    flat[0, :3, :3] = 0.0
    assert all(np.array_equal(found, end) for found in way_between(chain((0.0, 3.0)), flat, end, 3))


def test_matrices_turn_by_themselves():
    ends = np.stack((np.eye(4), turn(0, 20.0))), np.stack((turn(1, 80.0), turn(0, -20.0)))
    half, last = matrices_between(*ends, 2)
    assert half == pytest.approx(np.stack((turn(1, 40.0), np.eye(4))), abs=1e-9)
    assert np.array_equal(last, ends[1])
