"""Which vertices a fracture and an erosion split, and what hangs together by an edge or a vertex."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.erosion import eroded, worn_out
from pliant.simulate.solids.changing.fracture import fractured
from tests.shapes.bodies_that_break import body_of, certain, momentum
from tests.shapes.fresh_meshes import assert_fresh
from tests.shapes.solids import grid


def pieces(mesh):
    return len(np.unique(mesh.components[mesh.vertices]))


def pulled(body, value=3.0, axis=0):
    stress = np.zeros((len(body.mesh.types), 3, 3))
    stress[:, axis, axis] = value
    return stress


def column(count, split=False):
    """Cells on top of each other along x."""
    return grid((count, 1, 1), (0, 0, 0), (count, 1, 1), split)


class TestFracture:
    def test_nothing_fails_below_the_failure_stress(self):
        body, _ = body_of(*grid((2, 2, 2), (0, 0, 0), (1, 1, 1)))
        assert fractured(body, pulled(body, 0.99), np.ones(8)) is None
        assert fractured(body, pulled(body, -50.0), np.ones(8)) is None
        assert fractured(body, pulled(body, 50.0), np.full(8, np.inf)) is None
        assert fractured(body, pulled(body), np.ones(8), held=np.ones(27, bool)) is None

    def test_an_inner_vertex_opens_its_plane_alone(self):
        body, points = body_of(*grid((2, 4, 4), (0, 0, 0), (1, 1, 1)), seed=1)
        held = np.ones(75, bool)
        held[37] = False  # in the middle
        changed = certain(fractured(body, pulled(body), np.ones(32), held=held))
        assert changed.became.tolist() == [[37, 75]]
        after = changed.body
        assert_fresh(after.mesh)
        assert pieces(after.mesh) == 1
        assert np.array_equal(after.v[75], body.v[37])
        assert np.array_equal(after.x[75], body.x[37])
        assert after.mass()[75] == pytest.approx(0.5 * body.mass()[37])
        assert np.allclose(momentum(after), momentum(body), rtol=0, atol=1e-12)
        assert len(changed.points(points).cell) == 256
        # Cells on one side have the copy, those on the other the vertex.
        has_copy = (after.mesh.corners == 75).any(axis=1)
        centre = after.x[after.mesh.corners].mean(axis=1)[:, 0]
        assert len(set(centre[has_copy].round(6))) == 1
        assert has_copy.sum() == 4

    def test_quadrilaterals_keep_their_diagonals(self):
        """Bent sides of hexahedra intersected after a split: the copy had the largest id, and the other diagonal."""
        cells, x = grid((4, 2, 2), (0, 0, 0), (2, 1, 1))
        body, _ = body_of(cells, x + np.random.default_rng(3).normal(scale=0.02, size=x.shape))
        origin, stress = np.arange(len(x)), pulled(body) + np.eye(3) * np.random.default_rng(1).random((16, 1, 1))
        before = {frozenset(face) for face in body.mesh.faces.tolist()}
        while (changed := fractured(body, stress, np.full(16, 2.0))) is not None:
            body, stress, origin = changed.body, changed.of_cells(stress), changed.of_vertices(origin)
            assert {frozenset(face) for face in origin[body.mesh.faces].tolist()} == before
        assert pieces(body.mesh) == 4

    def test_of_a_cell_one_vertex_at_a_time(self):
        body, _ = body_of(*column(2))
        changed = certain(fractured(body, pulled(body), np.ones(2)))
        assert len(np.unique(changed.became[:, 0])) == len(changed.became) > 0

    @pytest.mark.parametrize("split", [False, True], ids=["hexahedron", "tetra"])
    def test_a_bar_that_is_pulled_breaks(self, split):
        """Stretched more and more, with the stress of its stretch; the middle is a little weaker."""
        cells, x = grid((6, 2, 2), (0, 0, 0), (3, 1, 1), split)
        body, _ = body_of(cells, x)
        mass, failure = body.mass().sum(), np.full(len(body.mesh.types), 1.0)
        failure[np.abs(x[body.mesh.corners].mean(axis=1)[:, 0] - 1.5) < 0.5] = 0.9
        breaking, done, strain = Breaking(), 0, 0.0
        while strain < 0.094:
            strain += 0.002
            share = breaking.fresh
            for changed in breaking.step(body, Loads(stress=pulled(body, 10.0 * strain), failure=failure)):
                body, failure, done = changed.body, changed.of_cells(failure), done + 1
            assert (strain > 0.09) == (done > 0)
            assert len(share) == share.born - share.retired
        assert done
        while changes := breaking.step(body, Loads(stress=pulled(body, 0.95), failure=failure)):
            body, failure = changes[-1].body, changes[-1].of_cells(failure)
        assert pieces(body.mesh) >= 2
        assert body.mass().sum() == pytest.approx(mass, rel=1e-12)
        broken = x[breaking_origin(body, x)][:, 0]
        assert ((broken > 0.9) & (broken < 2.1)).all()

    def test_shells_split_along_edges(self):
        x = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0), [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
        ids = np.arange(9).reshape(3, 3)
        quads = [[ids[i, j], ids[i + 1, j], ids[i + 1, j + 1], ids[i, j + 1]] for i in range(2) for j in range(2)]
        body, _ = body_of({"quad": quads[:2], "triangle": np.array(quads[2:])[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)}, x)
        count = 0
        while (changed := fractured(body, pulled(body), np.ones(6), thickness=np.full(6, 0.1))) is not None:
            body, count = changed.body, count + 1
        assert pieces(body.mesh) == 2
        assert len(body.x) == 12
        assert count > 1


def breaking_origin(body, x):
    """Places of copies, by the vertex they coincide with."""
    return [int(np.flatnonzero((x == y).all(axis=1))[0]) for y in body.x[len(x) :]]


class TestHinges:
    """Cells that hold together by an edge or a vertex alone, after a change."""

    def test_the_ends_of_a_split_are_no_hinges(self):
        """The middle of a cube is split: all around two cells have lost the face that they shared, so all is apart."""
        body, _ = body_of(*grid((2, 2, 2), (0, 0, 0), (1, 1, 1)))
        held = np.ones(27, bool)
        held[13] = False
        changed = certain(fractured(body, pulled(body), np.ones(8), held=held))
        assert sorted(changed.became[:, 0].tolist()) == list(range(9, 18))
        assert pieces(changed.body.mesh) == 2
        assert_fresh(changed.body.mesh)

    def test_an_edge_is_no_hinge(self):
        """Of four cells around an edge two opposite ones remain."""
        body, points = body_of(*grid((2, 2, 1), (0, 0, 0), (1, 1, 1)), seed=2)
        changed = certain(eroded(body, np.array([False, True, True, False])))
        assert len(changed.became) == 2  # both ends of the edge
        assert pieces(changed.body.mesh) == 2
        assert_fresh(changed.body.mesh)
        assert changed.body.mass().sum() == pytest.approx(body.mass().sum(), rel=1e-14)
        assert np.allclose(momentum(changed.body), momentum(body), rtol=0.0, atol=1e-12)
        assert changed.cells.tolist() == [0, 3]
        assert len(changed.points(points).cell) == 16

    def test_a_vertex_is_no_hinge(self):
        body, _ = body_of(*grid((2, 2, 2), (0, 0, 0), (1, 1, 1)))
        gone = np.ones(8, bool)
        gone[[0, 7]] = False
        changed = certain(eroded(body, gone))
        assert changed.became.tolist() == [[13, 27]]
        assert pieces(changed.body.mesh) == 2

    def test_hinges_that_were_there_stay(self):
        cells, x = grid((3, 2, 1), (0, 0, 0), (3, 2, 1))
        kept = {"hexahedron": cells["hexahedron"][[0, 3, 4]]}
        body, _ = body_of(kept, x)
        gone = np.array([False, False, True])
        changed = certain(eroded(body, gone))
        assert not len(changed.became)
        assert pieces(changed.body.mesh) == 1

    def test_a_split_that_leaves_a_hinge_parts_it(self):
        """Two shells with an edge in common: at one end of it they fail, and do not hang on at the other."""
        x = np.array([(0, 0, 0), (0, 1, 0), (-1, 0.5, 0), (1, 0.5, 0)], float)
        body, _ = body_of({"triangle": [[0, 1, 2], [1, 0, 3]]}, x)
        held = np.array([False, True, True, True])
        changed = certain(fractured(body, pulled(body), np.ones(2), held=held))
        assert sorted(changed.became[:, 0].tolist()) == [0, 1]
        assert pieces(changed.body.mesh) == 2


class TestErosion:
    def test_what_is_worn_out(self):
        body, points = body_of(*column(3))
        strain = np.repeat([0.1, 0.3, 0.3], 8)
        assert worn_out(points, strain, np.array([0.2, 0.2, np.inf])).tolist() == [False, True, False]
        assert eroded(body, np.zeros(3, bool)) is None

    def test_mass_stays_at_vertices_that_fly_on(self):
        body, _ = body_of(*column(3), seed=3)
        changed = certain(eroded(body, np.array([True, False, False])))
        after, before = changed.body, body.mass()
        assert np.allclose(after.mass(), before)
        free = np.setdiff1d(np.arange(len(body.x)), after.mesh.vertices)
        assert len(free) == 4
        assert (after.mass()[free] > 0.0).all()
        assert np.allclose(momentum(after), momentum(body), atol=1e-12)

    def test_ballast_is_shared_where_a_vertex_splits(self):
        body, _ = body_of(*column(3), seed=3)
        body = body._replace(ballast=np.arange(16.0))
        stress, after = pulled(body), body
        while (changed := fractured(after, stress, np.ones(3))) is not None:
            after = changed.body
        assert pieces(after.mesh) == 3
        assert after.mass().sum() == pytest.approx(body.mass().sum(), rel=1e-14)
        assert np.allclose(momentum(after), momentum(body), atol=1e-10)

    def test_all_cells(self):
        body, _ = body_of(*column(2), seed=3)
        changed = certain(eroded(body, np.ones(2, bool)))
        assert len(changed.body.mesh.types) == 0
        assert np.allclose(changed.body.mass(), body.mass())
        assert pliant.check(changed.body.mesh, changed.body.x).faces.shape == (0, 2)
