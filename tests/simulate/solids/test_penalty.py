"""Impact forces: what meets is pushed back, momentum stays, and what remains is counted."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.threads import SERIAL
from pliant.simulate.solids.explicit import Explicit
from pliant.simulate.solids.penalty import Penalty, inverted_cells
from tests.simulate.solids.plates import plate, shells

CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)


def two_plates(turn=0.3, gap=0.05):
    """One plate above another one, turned so that edges cross; cells, positions and velocities towards each other."""
    one, x = plate("quad", 3, 3)
    two, y = plate("triangle", 3, 3)
    c, s = np.cos(turn), np.sin(turn)
    y = (y - (0.5, 0.5, 0.0)) @ np.array(((c, s, 0), (-s, c, 0), (0, 0, 1))) + (0.5, 0.5, gap)
    cells = {"quad": one["quad"], "triangle": np.array(two["triangle"]) + len(x)}
    v = np.concatenate((np.tile((0, 0, 0.5), (len(x), 1)), np.tile((0, 0, -0.5), (len(y), 1))))
    return cells, np.concatenate((x, y)), v


@pytest.mark.parametrize("interior", [True, False])
def test_plates_that_meet_are_thrown_back(interior):
    cells, x, v = two_plates()
    mass, step = np.full(len(x), 0.02), shells(cells, x, 300.0, thickness=0.02)
    penalty = Penalty(pliant.VolumeMesh(cells), 1 / mass, interior=interior, threads=1)
    scheme, met, deepest = Explicit([step], 1 / mass, SERIAL, meet=penalty.meet), 0, 0.0
    at = scheme.start(x, v)
    for _ in range(150):
        at = scheme.step(at, 0.002, 0 * x)
        met, deepest = met + penalty.impact.contacts, max(deepest, penalty.impact.deepest)
    assert met > 4
    assert 0.0 < deepest < 0.02
    above = np.arange(len(x)) >= 16
    apart = at.v[above, 2].mean() - at.v[~above, 2].mean()
    assert 0.5 < apart < 1.2  # they came with -1
    assert mass @ at.v == pytest.approx(mass @ v, abs=1e-14)
    assert penalty.remaining(at.x) == (0, 0, 0)
    assert at.x[above, 2].min() > at.x[~above, 2].max() - 0.05


def test_without_it_they_pass_through():
    cells, x, v = two_plates(gap=0.01)
    penalty = Penalty(pliant.VolumeMesh(cells), np.zeros(len(x)), threads=1)  # nothing can move: nothing pushes
    end = penalty.meet(x, x + 0.011 * v, 0.011)
    assert np.array_equal(end, x + 0.011 * v)
    assert penalty.impact.contacts > 0
    assert penalty.impact.active == 0
    assert penalty.impact.first == pytest.approx(10 / 11, abs=1e-6)
    end[:, 2] += 0.01 * np.sin(np.arange(len(x)))
    assert penalty.remaining(end).intersections > 0


def falling_point(height=0.1, offset=0.2):
    """A heavy triangle at rest under one corner of another that comes down upright."""
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (offset, 0.3, height), (0.1, 0.3, 2), (0.4, 0.3, 2)], float)
    return pliant.VolumeMesh({"triangle": [[0, 1, 2], [3, 4, 5]]}), x


def test_depth_force_and_first_time_are_those_of_the_closed_form():
    mesh, x = falling_point()
    inverse = np.array((0, 0, 0, 4.0, 4.0, 4.0))
    penalty = Penalty(mesh, inverse, stiffness=0.5, threads=1)
    down = x - np.where(inverse > 0, 1.0, 0.0)[:, None] * np.array((0, 0, 0.4))
    end = penalty.meet(x, down, 0.1)
    assert penalty.impact.first == pytest.approx(0.25, abs=1e-11)
    assert penalty.impact.deepest == pytest.approx(0.3, abs=1e-12)
    assert end[3, 2] == pytest.approx(-0.3 + 0.5 * 0.3, abs=1e-12)
    assert penalty.impact.force[3, 2] == pytest.approx(0.15 / 4.0 / 0.01, rel=1e-12)
    # While it is behind the face it is pushed on, and its way back is no contact from the other side.
    later = penalty.meet(end, end, 0.1)
    assert later[3, 2] == pytest.approx(-0.075, abs=1e-12)
    out = later + np.where(inverse > 0, 1.0, 0.0)[:, None] * np.array((0, 0, 0.2))
    assert np.array_equal(penalty.meet(later, out, 0.1), out)
    assert penalty.impact.contacts == 1
    assert penalty.remaining(out).active == 0


def test_what_went_in_through_one_face_may_come_out_through_the_next():
    """A cube that fell with a corner onto the diagonal of its floor came to rest 1 cm through it: on its way back the
    corner met the other face, from the other side."""
    x = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0.01, -0.01, 0.1), (0.1, 0.3, 2), (0.4, 0.3, 2)])
    mesh = pliant.VolumeMesh({"triangle": [[0, 1, 2], [0, 2, 3], [4, 5, 6]]})
    moving = np.arange(7) > 3
    penalty = Penalty(mesh, np.where(moving, 4.0, 0.0), threads=1)
    inside = penalty.meet(x, x - 0.2 * moving[:, None] * (0, 0, 1), 0.1)
    assert penalty.remaining(inside).active == 1
    aside = penalty.meet(inside, inside + moving[:, None] * (-0.02, 0.02, 0), 0.1)
    assert aside[4, 0] < aside[4, 1]  # above it is the other face
    assert aside[4, 2] < -0.02
    out = aside + moving[:, None] * (0, 0, 0.2)
    assert np.array_equal(penalty.meet(aside, out, 0.1), out)
    assert penalty.impact.contacts == 1
    assert penalty.remaining(out).active == 0


def test_friction_stops_what_slides_and_no_more():
    mesh, x = falling_point(0.0)
    x[3, 2] = 1e-9
    inverse = np.array((0, 0, 0, 4.0, 4.0, 4.0))
    for friction, left in ((0.0, 0.02), (0.25, 0.015), (9.0, 0.0)):
        penalty = Penalty(mesh, inverse, stiffness=1.0, friction=friction, threads=1)
        down = x + np.where(inverse > 0, 1.0, 0.0)[:, None] * np.array((0.02, 0, -0.02))
        assert penalty.meet(x, down, 0.1)[3, 0] - x[3, 0] == pytest.approx(left, abs=1e-6)


def test_inner_features_resist_to_inversion():
    """A corner of a tetrahedron pushed through its opposite face: features of one cell, inside of nothing else."""
    x = np.concatenate((CUBE[[0, 1, 3, 4]], [(1.0, 1.0, 1.0)]))
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [1, 4, 2, 3]]})
    assert not inverted_cells(mesh, x).any()
    through = x.copy()
    through[0] = (0.6, 0.6, 0.6)
    assert inverted_cells(mesh, through)[0]
    inverse = np.ones(5)
    penalty = Penalty(mesh, inverse, stiffness=1.0, threads=1)
    end = penalty.meet(x, through, 0.1)
    assert penalty.impact.inversions > 0
    assert penalty.impact.deepest > 0.1
    assert not inverted_cells(mesh, end).any()
    assert end.sum(axis=0) == pytest.approx(through.sum(axis=0), abs=1e-14)
    outside = Penalty(mesh, inverse, interior=False, threads=1)
    assert outside.meet(x, through, 0.1) is not None
    assert outside.impact.contacts < penalty.impact.contacts
    assert outside.remaining(through).inverted == 1


@pytest.mark.parametrize("kind", ["hexahedron", "wedge", "pyramid"])
def test_inverted_cells(kind):
    count = {"hexahedron": 8, "wedge": 6, "pyramid": 5}[kind]
    corners = {"hexahedron": CUBE, "wedge": CUBE[[0, 1, 3, 4, 5, 7]], "pyramid": CUBE[[0, 1, 2, 3, 4]]}[kind]
    mesh = pliant.VolumeMesh({kind: [list(range(count))]})
    assert not inverted_cells(mesh, corners)[0]
    assert inverted_cells(mesh, corners * (1, 1, -1))[0]
    assert inverted_cells(mesh, corners * (1, 1, 0))[0]


def test_siblings_and_changes_of_the_mesh():
    mesh, x = falling_point()
    inverse = np.array((0, 0, 0, 4.0, 4.0, 4.0))
    down = x - np.where(inverse > 0, 1.0, 0.0)[:, None] * np.array((0, 0, 0.4))
    split = Penalty(mesh, inverse, siblings=np.array((0, 1, 2, 0, 4, 5)), threads=1)
    assert np.array_equal(split.meet(x, down, 0.1), down)
    penalty = Penalty(mesh, inverse, threads=1)
    penalty.meet(x, down, 0.1)
    assert penalty.remaining(down).active == 1
    kept = tuple(array.copy() for array in penalty.memory)
    again = Penalty(mesh, inverse, threads=1)
    again.memory = kept  # as from a checkpoint
    assert np.array_equal(again.meet(down, down, 0.1), penalty.meet(down, down, 0.1))
    penalty.update(pliant.VolumeMesh({"triangle": [[3, 4, 5]]}), inverse)
    assert penalty.remaining(down).active == 0
