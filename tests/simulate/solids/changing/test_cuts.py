"""A blade that moves through a body: what it divides and parts, and where it stops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from pliant.elementary.inversion import inverted
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.cutting import cut, swept_by
from pliant.simulate.solids.changing.opening import opened
from pliant.simulate.solids.quadrature import points_of
from pliant.simulate.solids.stresses import no_plastic
from tests.shapes.bodies_that_break import body_of, momentum
from tests.shapes.fresh_meshes import assert_fresh
from tests.shapes.solids import grid


def block(bend=0.02, split=True, size=2):
    cells, x = grid((size,) * 3, (0, 0, 0), (1, 1, 1), split)
    return cells, x + np.random.default_rng(3).uniform(-bend, bend, x.shape)


def blade(depth, lean=0.3, y=(-0.5, 0.5, 1.5)):
    """Its edge so far down, in a plane that leans."""
    return np.array([(0.55 + lean * (depth - 0.5), at, depth) for at in y])


def pieces(mesh):
    return len(np.unique(mesh.components[mesh.vertices]))


def test_all_the_way_makes_two():
    body, points = body_of(*block(), seed=5)
    rest, breaking, plastic = body.x.copy(), Breaking(), no_plastic(points)
    before, depths = body, np.linspace(-0.1, 1.1, 5)
    cells = len(body.mesh.types)
    for above, below in itertools.pairwise(depths):
        assert pieces(body.mesh) == 1
        for changed in breaking.step(body, Loads(swept=swept_by(blade(above), blade(below)))):
            plastic, points = changed.plastic(points, plastic), changed.points(points)
            body, rest = changed.body, changed.of_vertices(rest)
        assert_fresh(body.mesh, ("faces", "edges", "cell_edges", "o_sets"))
        assert not len(inverted(body.mesh, body.x))
        touching = pliant.ccd(body.mesh, body.x, body.x)
        assert breaking.fresh.pairs.among(touching).all()
    assert pieces(body.mesh) == 2
    assert len(body.mesh.types) > 1.2 * cells
    assert body.mass().sum() == pytest.approx(before.mass().sum(), rel=1e-13)
    assert np.allclose(momentum(body), momentum(before), rtol=0.0, atol=1e-11)
    # Nothing has moved: parts of cells have the shape at rest that they are built with anew.
    anew = points_of(body.mesh, rest)
    assert np.allclose(anew.volume, points.volume, rtol=1e-9)
    assert np.allclose(anew.gradient, points.gradient, rtol=1e-8, atol=1e-8)
    assert len(plastic.strain) == len(points.cell)
    # The two are on two sides of the blade.
    labels = body.mesh.components[body.mesh.vertices]
    side = body.x[body.mesh.vertices][:, 0] - 0.55 - 0.3 * (body.x[body.mesh.vertices][:, 2] - 0.5)
    assert max(side[labels == labels[side.argmin()]]) < 0.05
    assert min(side[labels == labels[side.argmax()]]) > -0.05


def test_half_the_way_leaves_one():
    body, _ = body_of(*block())
    made = cut(body, swept_by(blade(-0.1), blade(0.6)))
    after = made.changes[-1].body
    assert len(made.changes) == 2
    assert pieces(after.mesh) == 1
    assert len(made.changes[-1].copies()) > 4
    deepest = after.x[made.changes[-1].copies()][:, 2].max()
    assert deepest < 0.75
    assert made.on_blade.any()
    # What is on the blade and whole is where it stops.
    assert abs(np.median(after.x[made.on_blade][:, 2]) - 0.6) < 0.25


def test_parts_keep_the_deformation():
    """A body that is sheared when it is cut has the same deformation gradient in the parts of a cell."""
    body, points = body_of(*block())
    shear = np.eye(3) + np.array([(0.0, 0.4, 0.0), (0.0, 0.2, 0.0), (0.1, 0.0, 0.0)])
    made = cut(body._replace(x=body.x @ shear.T), swept_by(blade(-0.2), blade(1.5)))
    assert len(made.changes[0].divided) > 20
    body = made.changes[0].body
    points = made.changes[0].points(points)
    now = np.einsum("pix,piy->pxy", body.x[body.mesh.corners[:, :4]], points.gradient[:, :4])
    assert np.allclose(now, shear, atol=1e-9)


def test_copies_go_apart():
    body, _ = body_of(*block())
    breaking = Breaking()
    done = breaking.step(body, Loads(swept=swept_by(blade(-0.2), blade(0.6))))
    body, born = done[-1].body, len(breaking.fresh)
    assert born == breaking.fresh.born > 100
    x = opened(body, done[-1].copies())
    assert not len(inverted(body.mesh, x))
    assert breaking.fresh.retire(body.mesh, x) == born
    assert len(pliant.ccd(body.mesh, x, x)) == 0
    assert len(pliant.check(body.mesh, x)) == 0


@pytest.mark.parametrize("swept", [np.empty((0, 3, 3)), blade(5.0)[None, :]], ids=["nothing", "elsewhere"])
def test_a_blade_that_meets_nothing(swept):
    body, _ = body_of(*block(size=1))
    assert cut(body, swept).changes == ()


def test_hexahedra_part_where_their_faces_are_on_it():
    body, _ = body_of(*block(0.0, split=False, size=2))
    edge_t0, edge_t1 = (np.array([(0.5, -1.0, z), (0.5, 2.0, z)]) for z in (-0.1, 1.1))
    changed = cut(body, swept_by(edge_t0, edge_t1)).changes
    assert len(changed) == 1
    assert pieces(changed[0].body.mesh) == 2
    assert changed[0].body.mesh.cells["hexahedron"].shape == (8, 8)
    assert cut(body, swept_by(edge_t0 + (0.2, 0, 0), edge_t1 + (0.2, 0, 0))).changes == ()
