"""One constraint at a time: what it is off is what it moves, and nothing that has no direction moves anything."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.characters.body.body import Body
from pliant.characters.solver.constraints import fit_to_scale, flesh_of, relax, six_volumes
from pliant.mesh.volumes import VolumeMesh

pytestmark = [pytest.mark.unit, pytest.mark.bounds]

CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def flesh_of_one(freedom=(1.0, 1.0, 1.0, 1.0)):
    body = Body(
        VolumeMesh({"tetra": [[0, 1, 2, 3]]}), CORNER, np.zeros((4, 1), np.int32), np.ones((4, 1)),
        np.zeros(0, np.int32), np.zeros((0, 4)),
    )  # fmt: skip
    flesh, lengths, volumes = flesh_of(body, np.array(freedom))
    assert volumes.tolist() == [1.0]
    assert sorted(lengths.round(12).tolist()) == pytest.approx([1, 1, 1, 2**0.5, 2**0.5, 2**0.5])
    return flesh


def relax_all(x, flesh, times, parts, limits=(0.0, np.inf), target=CORNER):
    for _ in range(times):
        for parity in (0, 1):
            relax(x, target.copy(), flesh, (parity, 2), limits, parts)
    return x


def test_what_is_at_rest_stays():
    flesh = flesh_of_one()
    x = relax_all(CORNER.copy(), flesh, 3, (True, True))
    assert np.abs(x - CORNER).max() < 1e-15


def test_volumes_are_restored_and_the_middle_stays():
    flesh = flesh_of_one()
    x = relax_all(0.5 * CORNER, flesh, 20, (False, False))
    assert six_volumes(x[None])[0] == pytest.approx(1.0, abs=1e-9)
    assert x.mean(axis=0) == pytest.approx(0.5 * CORNER.mean(axis=0), abs=1e-12)


def test_a_cell_inside_out_turns_back():
    flesh = flesh_of_one()
    x = CORNER.copy()
    x[3, 2] = -0.4
    relax_all(x, flesh, 40, (False, True))
    assert six_volumes(x[None])[0] == pytest.approx(1.0, rel=0.05)


def test_vertices_without_freedom_do_not_move():
    flesh = flesh_of_one((0.0, 0.0, 0.0, 1.0))
    x = CORNER.copy()
    x[3] *= 3.0
    relax_all(x, flesh, 30, (False, True))
    assert np.array_equal(x[:3], CORNER[:3])
    assert x[3] == pytest.approx(CORNER[3], abs=1e-6)


def test_attachments_pull_by_their_compliance_however_often_they_are_relaxed():
    for times in (1, 7):
        flesh = flesh_of_one()
        flesh.softness[:] = 3.0
        flesh.freedom[:] = 1.0
        flesh.edge_start[:] = 0  # without edges and volumes
        flesh.tetrahedron_start[:] = 0
        x = relax_all(CORNER + 1.0, flesh, times, (True, True))
        assert np.abs(x - CORNER - 0.75).max() < 1e-12  # 3 / (1 + 3) of the way is left


@pytest.mark.parametrize("shape", [np.zeros((4, 3)), np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]])])
def test_points_and_segments_stay_finite(shape):
    flesh = flesh_of_one()
    x = relax_all(shape.copy(), flesh, 5, (True, True), (0.0, 0.3))
    assert np.isfinite(x).all()
    assert np.abs(x).max() < 10.0


def test_nearly_flat_cells_do_not_leap():
    flesh = flesh_of_one()
    x = CORNER.copy()
    x[3] = [0.3, 0.3, 1e-9]
    before = x.copy()
    relax_all(x, flesh, 1, (False, False), (0.0, 0.3))
    assert np.linalg.norm(x - before, axis=1).max() <= 0.3 + 1e-12


def test_lengths_and_volumes_at_rest_follow_the_scale():
    flesh = flesh_of_one()
    lengths, volumes = flesh.lengths.copy(), flesh.volumes.copy()
    fit_to_scale(np.full(4, -2.0), flesh, lengths, volumes)
    assert flesh.lengths == pytest.approx(2.0 * lengths)
    assert flesh.volumes == pytest.approx(-8.0 * volumes)
