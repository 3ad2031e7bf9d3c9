"""A block of rubber falls onto a step of steel; no cell is ever inverted, checked by queries of its own."""

import numpy as np

import pliant
from pliant.simulate import Obstacle, Solid

# 4 x 4 x 4 hexahedra, a block of 20 cm, turned so that an edge comes first.
n, size = 4, 0.2
grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
number = np.arange(len(grid)).reshape(n + 1, n + 1, n + 1)
ends = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
cells = np.stack([number[i : n + i, j : n + j, k : n + k].ravel() for i, j, k in ends], axis=1)
c, s = np.cos(0.5), np.sin(0.5)
x = (grid * size / n) @ np.array([(1, 0, 0), (0, c, -s), (0, s, c)])
x[:, 2] += 0.02 - x[:, 2].min()

floor = np.array([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float)
solid = Solid({"hexahedron": cells}, x, materials="rubber", obstacles=Obstacle([(0, 1, 2), (0, 2, 3)], floor))
solid.set_velocities(np.tile((0.3, 0.0, -2.0), (len(x), 1)))

begin = 0.5 * solid.mass.sum() * (0.3**2 + 2.0**2) + 9.81 * solid.mass @ x[:, 2]
steps = 0


def test_step(before, frame):
    """Fresh queries for each time step: of all features, those inside of the block too."""
    global steps
    steps += 1
    assert len(pliant.ccd(solid.mesh, before, frame.scene)) == 0


last = list(solid.frames(30, rate=60, watch=test_step))[-1]
energies, balance = last.stats.energies, last.stats.balance
print(f"{steps} steps, each free of contact, t = {last.time:.2f} s")
print(f"{energies}\n{balance}")

assert len(pliant.check(solid.mesh, last.scene)) == 0
assert abs(energies.total + balance.lost - begin) < 0.02 * begin  # what is missing is accounted for
