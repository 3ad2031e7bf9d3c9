"""Bodies of all types of cells, for tests of what breaks them."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.simulate.solids.changing.body import Body, corner_masses
from pliant.simulate.solids.quadrature import points_of
from tests.shapes.solids import both, grid

DENSITY = 1000.0
SIDES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def body_of(cells, x, seed=None):
    """A body, and the points of its solid cells; shells have a kilogram for each corner. With a seed it moves."""
    mesh = pliant.VolumeMesh(cells)
    solids = pliant.VolumeMesh({name: some for name, some in mesh.cells.items() if name not in ("triangle", "quad")})
    points = points_of(solids, x)
    corner_mass = np.zeros((len(mesh.types), 8))
    corner_mass[: mesh.solid_count] = corner_masses(solids, points, np.full(mesh.solid_count, DENSITY))
    shells = np.arange(mesh.solid_count, len(mesh.types))
    corner_mass[shells] = np.arange(8) < mesh.corner_count[shells][:, None]
    v = np.zeros_like(x) if seed is None else np.random.default_rng(seed).normal(size=x.shape)
    return Body(mesh, x, v, corner_mass, np.zeros(len(x))), points


def mixed(bend=0.0, tetra=2):
    """A block of hexahedra, a column of it wedges and one cell six pyramids, with a flange of shells along two of its
    edges; and beside it a block of tetrahedra."""
    cells, x = grid((3, 3, 3), (0, 0, 0), (1, 1, 1))
    hexahedra = cells["hexahedron"]
    middle, column = 13, [0, 1, 2]
    wedges = [[h[k] for k in w] for h in hexahedra[column] for w in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
    pyramids = [[*(hexahedra[middle][k] for k in side[::-1]), len(x)] for side in SIDES]
    x = np.concatenate((x, [x[hexahedra[middle]].mean(axis=0)]))
    top = [np.flatnonzero((np.abs(x - (1, y, 1)) < 1e-9).all(axis=1))[0] for y in (0, 1 / 3, 2 / 3, 1)]
    out = len(x) + np.arange(4)
    x = np.concatenate((x, x[top] + (0.4, 0, 0.2)))
    quads = [[top[k], top[k + 1], out[k + 1], out[k]] for k in (0, 1)]
    triangles = [[top[2], top[3], out[2]], [top[3], out[3], out[2]]]
    first = {
        "hexahedron": np.delete(hexahedra, [middle, *column], axis=0), "wedge": np.array(wedges),
        "pyramid": np.array(pyramids), "quad": np.array(quads), "triangle": np.array(triangles),
    }  # fmt: skip
    cells, x = both((first, x), grid((tetra,) * 3, (2, 0, 0), (3, 1, 1), split=True))
    return cells, x + bend * np.random.default_rng(4).uniform(-1, 1, x.shape)


def momentum(body):
    return (body.mass()[:, None] * body.v).sum(axis=0)


def certain(found):
    """A change that there has to be."""
    assert found is not None
    return found
