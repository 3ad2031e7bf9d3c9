"""A blade falls through a block of liver; only pairs of fresh splits are left out of contact, checked by queries."""

import numpy as np

import pliant
from pliant.simulate import Blade, Fracture, Solid, Turning

# 4 x 2 x 2 cubes of 10 cm, each of six tetrahedra, a little irregular; the lowest vertices are held.
counts = (4, 2, 2)
grid = np.stack(np.meshgrid(*[np.arange(k + 1) for k in counts], indexing="ij"), axis=-1).reshape(-1, 3)
number = np.arange(len(grid)).reshape([k + 1 for k in counts])
ends = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
cubes = np.stack([number[i : 4 + i, j : 2 + j, k : 2 + k].ravel() for i, j, k in ends], axis=1)
six = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
x = 0.1 * grid + np.random.default_rng(0).uniform(-0.004, 0.004, grid.shape)

edge = np.array([(0.21, -0.1, 0.3), (0.21, 0.3, 0.3)])
solid = Solid(
    {"tetra": np.concatenate([cubes[:, corners] for corners in six])}, x, materials="liver",
    pins=np.flatnonzero(grid[:, 2] == 0), fracture=Fracture(blades=Blade(edge, Turning(edge, velocity=(0, 0, -3.0)))),
)  # fmt: skip
mass, cells = solid.mass.sum(), len(solid.cells.types)


def test_step(before, frame):
    """Fresh queries for each time step: nothing touches but what has just split."""
    assert solid.fresh.pairs.among(pliant.ccd(frame.mesh, before, frame.scene)).all()


last = list(solid.frames(15, rate=100, watch=test_step))[-1]
components = solid.cells.components[solid.cells.vertices]
print(f"{cells} cells became {len(solid.cells.types)}, in {len(np.unique(components))} pieces: {solid.changes}")

assert len(np.unique(components)) == 2
assert abs(solid.mass.sum() - mass) < 1e-12 * mass
