"""Points follow the nearest tetrahedron: as exact arithmetic finds it."""

import numpy as np
import pytest

from pliant import MeshError
from pliant.characters.body.embedding import NotTetrahedraError, embed
from pliant.mesh.volumes import VolumeMesh
from pliant.scenes.lattices import cubes, tetrahedra
from tests.reference import embedding as reference

pytestmark = pytest.mark.filterwarnings("error")


def bent_block(seed=0, shape=(2, 2, 2)):
    """Tetrahedra of a block whose vertices are moved at random."""
    hexahedra, at = cubes(np.ones(shape, bool))
    x = at + np.random.default_rng(seed).uniform(-0.15, 0.15, at.shape)
    return np.asarray(tetrahedra(hexahedra)), x


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("seed", [0, 1])
def test_nearest_cell_and_weights(seed):
    cells, x = bent_block(seed, (2, 1, 1))
    points = np.random.default_rng(seed + 10).uniform((-0.3, -0.2, -0.2), (2.3, 1.2, 1.2), (30, 3))
    found, weights = embed(VolumeMesh({"tetra": cells}), x, points)
    assert found.dtype == np.int32
    assert found.shape == (30,)
    assert weights.shape == (30, 4)
    held = 0
    for p, cell, w in zip(points, found, weights):
        expected, squared = reference.nearest(cells, x, p)
        if cell != expected:  # nearest by rounding only, as where a corner of several cells is nearest
            assert float(reference.distance_squared_of(x[cells[cell]], p)) == pytest.approx(float(squared), rel=1e-12)
        exact = reference.weights(x[cells[cell]], p)
        np.testing.assert_allclose(w, np.array(exact, float), atol=1e-12)
        assert (w.min() >= 0) == (squared == 0)
        held += squared == 0
    assert 0.2 < held / len(points) < 0.8
    np.testing.assert_allclose(np.einsum("nk,nkc->nc", weights, x[cells[found]]), points, atol=1e-14)


@pytest.mark.unit
def test_corners_belong_to_the_first_cell_that_has_them():
    cells, x = bent_block()
    found, weights = embed(VolumeMesh({"tetra": cells}), x, x)
    for v, cell in enumerate(found):
        assert (weights[v] > 1 - 1e-12).sum() == 1
        assert np.linalg.norm(x[cells[cell]] - x[v], axis=1).min() == 0
    one = VolumeMesh({"tetra": [[0, 1, 2, 3], [0, 1, 2, 3]]})
    found, _ = embed(one, np.vstack([np.zeros(3), np.eye(3)]), [[0.1, 0.1, 0.1], [5.0, 0.0, 0.0], [-1.0, -1.0, -1.0]])
    assert found.tolist() == [0, 0, 0]


@pytest.mark.unit
def test_orientation_does_not_matter():
    cells, x = bent_block(3)
    points = np.random.default_rng(3).uniform(-0.5, 2.5, (50, 3))
    found, weights = embed(VolumeMesh({"tetra": cells}), x, points)
    turned, turned_weights = embed(VolumeMesh({"tetra": cells[:, [1, 0, 2, 3]]}), x, points)
    np.testing.assert_array_equal(found, turned)
    np.testing.assert_allclose(weights, turned_weights[:, [1, 0, 2, 3]], atol=1e-12)


@pytest.mark.unit
@pytest.mark.parametrize("size", [1e-120, 1e-3, 1e100])
def test_any_scale(size):
    cells, x = bent_block(4)
    points = np.random.default_rng(4).uniform(0.2, 1.8, (20, 3))
    found, weights = embed(VolumeMesh({"tetra": cells}), x, points)
    scaled, scaled_weights = embed(VolumeMesh({"tetra": cells}), x * size, points * size)
    np.testing.assert_array_equal(found, scaled)
    np.testing.assert_allclose(weights, scaled_weights, atol=1e-9)


@pytest.mark.unit
def test_flat_cells_carry_nothing():
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.0, 0, -1]])
    found, weights = embed({"tetra": [[0, 1, 2, 3], [0, 1, 2, 4]]}, x, [[0.2, 0.2, 0.0], [0.8, 0.8, 0.0]])
    assert found.tolist() == [1, 1]
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    with pytest.raises(NotTetrahedraError, match="no cell"):
        embed({"tetra": [[0, 1, 2, 3]]}, x, x)


@pytest.mark.unit
def test_what_cannot_be_followed():
    x = np.random.default_rng(0).random((8, 3))
    with pytest.raises(NotTetrahedraError, match="hexahedron"):
        embed({"hexahedron": [list(range(8))]}, x, x)
    with pytest.raises(NotTetrahedraError):
        embed(VolumeMesh(), x, x)
    with pytest.raises(MeshError, match="vertex 9"):
        embed({"tetra": [[0, 1, 2, 9]]}, x, x)
    with pytest.raises(MeshError, match="points"):
        embed({"tetra": [[0, 1, 2, 3]]}, x, [[np.nan, 0, 0]])
    cells, weights = embed({"tetra": [[0, 1, 2, 3]]}, x, np.empty((0, 3)))
    assert cells.shape == (0,)
    assert weights.shape == (0, 4)
