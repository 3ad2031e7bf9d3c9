"""Parts of a body: everything is in one of them, and what they are made of belongs together."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.detection.parts import divide, dominant_joints, majority
from tests.shapes.bodies import bar


@pytest.mark.unit
def test_vertices_and_cells_are_in_one_part_each_and_corners_are_members():
    body = bar((10, 2, 2))
    cells = body.volume.cells["tetra"][:-30]  # some vertices take no part
    groups = dominant_joints(body.joints, body.weights)
    parts = divide(cells, body.rest, groups)
    used = np.unique(cells)
    assert len(used) < len(body.rest)
    np.testing.assert_array_equal(np.sort(parts.vertices), used)
    np.testing.assert_array_equal(np.sort(parts.cells), np.arange(len(cells)))
    np.testing.assert_array_equal(parts.vertices[parts.corners], cells[parts.cells])
    assert len(parts.groups) > 4
    for p, group in enumerate(parts.groups):
        own = np.arange(parts.vertex_start[p], parts.vertex_start[p + 1])
        members = parts.members[parts.member_start[p] : parts.member_start[p + 1]]
        corners = parts.corners[parts.cell_start[p] : parts.cell_start[p + 1]]
        assert 0 < len(own) <= 24
        assert (groups[parts.vertices[own]] == group).all()
        np.testing.assert_array_equal(members[: len(own)], own)
        np.testing.assert_array_equal(np.sort(members), np.union1d(own, corners))


@pytest.mark.unit
def test_large_bodies_have_larger_parts():
    rng = np.random.default_rng(0)
    corners = rng.permuted(np.tile(np.arange(8000), (1, 1)), axis=1).reshape(-1, 4)
    parts = divide(corners, rng.normal(size=(8000, 3)), np.zeros(8000, int))
    assert 80 < len(parts.groups) <= 160


@pytest.mark.unit
def test_the_joint_with_most_of_a_vertex_and_of_a_cell():
    joints = np.array([[4, 7, 0], [4, 7, 0]], np.int32)
    assert dominant_joints(joints, np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])).tolist() == [7, 4]
    assert majority(np.array([[3, 1, 3, 2], [1, 2, 3, 4], [5, 6, 6, 5], [2, 9, 9, 9]])).tolist() == [3, 1, 5, 9]
