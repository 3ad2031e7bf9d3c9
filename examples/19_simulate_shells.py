"""An airbag inflates on a floor and lifts a block: shells with a gas inside, beside solid cells, in explicit steps."""

import numpy as np

import pliant
from pliant.simulate import Chamber, Obstacle, Settings, Solid, SolidMaterial

# Two square sheets of n by n cells, a little apart in the middle and joined at their rim.
n, size = 10, 0.5
grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
is_inner = ((grid > 0) & (grid < n)).all(axis=1)
flat = size * (grid / n - 0.5)
height = 0.02 * np.prod(np.sin(np.pi * grid / n), axis=1)
lower = np.arange(len(grid))
upper = lower.copy()
upper[is_inner] = len(grid) + np.arange(is_inner.sum())
sheet = np.concatenate((np.column_stack((flat, -height)), np.column_stack((flat, height))[is_inner]))

corner = np.array([i * (n + 1) + j for i in range(n) for j in range(n)])
quads = corner[:, None] + (0, n + 1, n + 2, 1)
shells = np.concatenate((lower[quads[:, ::-1]], upper[quads]))

# A block on top of it.
ends = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)
block = (ends - (0.5, 0.5, 0.0)) * (0.2, 0.2, 0.1) + (0, 0, 0.03)
x = np.concatenate((sheet, block)) + (0, 0, 0.03)

rubber = SolidMaterial(density=500.0, young=2e6, poisson=0.3)
fabric = SolidMaterial(density=700.0, young=5e7, poisson=0.3, law="Hencky", damping=2e-5)
floor = np.array([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float)
solid = Solid(
    {"quad": shells, "hexahedron": [len(sheet) + np.arange(8)]},
    x,
    materials=[rubber] + [fabric] * len(shells),  # for each cell, solids first
    shell_thickness=1e-3,
    pressure=Chamber(pressure=lambda t: 3000.0 * min(1.0, t / 0.05)),
    obstacles=Obstacle([(0, 1, 2), (0, 2, 3)], floor),
    scheme="explicit",
    settings=Settings(step="adaptive"),
)

begin = solid.mass @ x[:, 2] * 9.81
steps = 0
for frame in solid.frames(10, rate=100):
    steps += frame.stats.steps
    assert len(pliant.check(solid.mesh, frame.scene)) == 0

energies, balance = frame.stats.energies, frame.stats.balance
lifted = frame.positions[-8:, 2].mean() - x[-8:, 2].mean()
print(f"{steps} steps, t = {frame.time:.2f} s: the block is {100 * lifted:.0f} cm higher")
print(f"{energies}\n{balance}")

assert lifted > 0.02
assert balance.driven > 0.0  # the gas did it
assert abs(energies.total + balance.lost - begin) < 1e-6 * balance.driven  # what is missing is accounted for
