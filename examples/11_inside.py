"""What is inside of what: a block pressed into a thin plate past its middle, and the way back out."""

import itertools

import numpy as np

import pliant


def box(size, lower, upper):
    """Hexahedra and positions of a box with so many cells along each axis."""
    n = np.array(size) + 1
    ids = np.arange(n.prod()).reshape(n)
    unit = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [[ids[tuple(np.add(at, u))] for u in unit] for at in itertools.product(*map(range, size))]
    axes = [np.linspace(a, b, k) for a, b, k in zip(lower, upper, n)]
    return np.array(cells), np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


plate, plate_x = box((12, 12, 1), (-2.0, -2.0, -0.3), (2.0, 2.0, 0.0))
block, block_x = box((4, 4, 20), (-0.5, -0.4, -0.25), (0.5, 0.6, 0.75))
volume = pliant.VolumeMesh({"hexahedron": np.concatenate([plate, block + len(plate_x)])})
x = np.concatenate([plate_x, block_x])

found = pliant.inside(volume, x, pairs="inter")
print(found)

# The weights say where in its cell a vertex is: with displacements instead of positions, how the cell moves it.
corners = x[volume.corners[found.cells]]
assert np.allclose(np.einsum("ij,ijk->ik", found.weights, corners), x[found.vertices])

# The deepest vertices of the block are 0.05 from the underside of the plate, and 0.25 from its top. Their edges say
# that the block came from above, and all of it goes back there.
of_block = found[found.vertices >= len(plate_x)]
deepest = of_block[int(np.argmax(of_block.depth))]
print(f"vertex {deepest.vertices[0]} has to go {deepest.depth[0]:.3g} along {deepest.direction[0]}")
assert np.allclose(of_block.direction, (0.0, 0.0, 1.0))
assert np.allclose(of_block.depth, -x[of_block.vertices, 2])

# A step back, a little more than it takes, since the boundary counts as inside.
x[len(plate_x) :] += 1.001 * deepest.depth[0] * deepest.direction[0]
assert len(pliant.inside(volume, x)) == 0
