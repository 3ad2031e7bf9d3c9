"""Volume meshes: contacts inside and outside, cells that turn inside out, and a cut."""

import numpy as np

import pliant

scene = pliant.scenes.load_volume("liver", cells=600, frames=6)
step = scene.steps[-1]
mesh = pliant.VolumeMesh(step.cells)
contacts = pliant.ccd(mesh, step.x0, step.x1)
outside = pliant.ccd(mesh, step.x0, step.x1, interior=False)
print(f"{mesh}: {contacts}, of these on the boundary alone: {outside}")
assert len(outside) <= len(contacts)

# Press a tetrahedron flat: its tip reaches the opposite face, which is an inversion of the cell.
x0 = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1.0)])
x1 = x0 - np.array([(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 1.5)])
cell = pliant.VolumeMesh({"tetra": [(0, 1, 2, 3)]})
inverted = pliant.ccd(cell, x0, x1)
print(inverted, "in cells", inverted.cells.tolist())
assert inverted.inversion.all()
safe = pliant.safe_step(cell, x0, x1)
assert abs(safe.t - 2 / 3) < 1e-12
assert len(pliant.ccd(cell, x0, safe.positions)) == 0

# Cut it in two: the tip goes to one half, and a new vertex, which has no past but a velocity, to the other.
halves = cell.changed(add={"tetra": [(0, 1, 5, 3), (0, 5, 2, 4)]}, remove=[0])
x1 = np.vstack((x0, x0[3], (x0[1] + x0[2]) / 2))
velocity = np.zeros((6, 3))
velocity[4] = 0.0, 0.5, 0.0
x1[4] += velocity[4]
start = pliant.trace_back(x1, velocity, 1.0, x0)
print(halves, "the new tip comes from", start[4])
assert (start[:4] == x0).all()
assert np.allclose(start[4], x0[3])
