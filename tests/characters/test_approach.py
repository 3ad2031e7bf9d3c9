"""The way from the bind pose to a pose."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.approach import approach
from tests.limbs import chain, pose, turn

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
