"""Motions that are not straight lines: a thrown ball and a turning rod, which straight lines would let through."""

import numpy as np

import pliant

# A small ball is thrown over a wall; start and end are on one side of its upper edge's height, but the parabola
# between them comes down on the wall's top. A straight line from start to end passes below, in front and behind it.
wall = np.array([[0.0, -1.0, 0.8], [0.0, 1.0, 0.8], [0.2, 0.0, 0.8]])
x0 = np.vstack((wall, [[-1.0, 0.0, 0.0]]))
x1 = np.vstack((wall, [[1.0, 0.0, 0.0]]))
mesh = pliant.TriMesh([[0, 1, 2]], points=[3])
fall = np.zeros_like(x0)
fall[3, 2] = -6.6  # acceleration times the square of the time step: the path rises to 0.825

assert len(pliant.ccd(mesh, x0, x1)) == 0
thrown = pliant.ccd(mesh, x0, x1, motion=pliant.Accelerated(fall))
print("parabola:", thrown)
assert len(thrown) == 1
t = thrown.toi[0]
assert abs(0.5 * 6.6 * t * (1 - t) - 0.8) < 1e-6  # where it is as high as the wall

# A rod turns by half a turn around its end. Its tip passes through a thin plate on the way; the straight line from
# where it starts to where it ends goes through the axis and comes nowhere near.
rod = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
plate = np.array([[-0.1, 0.9, -0.2], [0.1, 0.9, -0.2], [0.0, 0.9, 0.3]])
positions = np.vstack((rod, plate))
mesh = pliant.TriMesh([[2, 3, 4]], edges=[[0, 1]])
turn = pliant.Screw(centre=(0, 0, 0), axis=(0, 0, 1), angle=np.pi, objects=[0, 0, -1, -1, -1])

end = positions.copy()
end[1] = (-1.0, 0.0, 0.0)
assert len(pliant.ccd(mesh, positions, end)) == 0
turned = pliant.ccd(mesh, positions, motion=turn)
step = pliant.safe_step(mesh, positions, motion=turn)
print("rod:", turned, step)
assert len(turned) >= 1
assert 0.4 < step.t < 0.5
