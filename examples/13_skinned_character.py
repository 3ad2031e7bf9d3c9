"""A skinned character made in code: a forearm that turns over, by matrices and by dual quaternions."""

import numpy as np

import pliant
from pliant.characters import Channel, Character, Clip, Pose, Skeleton

# A closed tube of radius 0.3 along x, from 0 to 4: rings of vertices, and a point at each end.
sides, rings = 16, 25
angle = 2.0 * np.pi * np.arange(sides) / sides
along = np.linspace(0.0, 4.0, rings)
tube = np.array([(x, 0.3 * np.cos(a), 0.3 * np.sin(a)) for x in along for a in angle])
rest = np.vstack((tube, [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]))

ring = np.arange(sides)
after = (ring + 1) % sides
last = (rings - 1) * sides
walls = [np.stack((r + ring, r + after, r + sides + ring), axis=1) for r in range(0, last, sides)]
walls += [np.stack((r + after, r + sides + after, r + sides + ring), axis=1) for r in range(0, last, sides)]
start, end = np.full(sides, len(tube)), np.full(sides, len(tube) + 1)
caps = [np.stack((after, ring, start), axis=1), np.stack((last + ring, last + after, end), axis=1)]
mesh = pliant.TriMesh(np.concatenate(walls + caps))
assert (mesh.edge_face_count == 2).all()

# Two joints, at x = 0 and x = 2, below a root that is none. The skin is bound to them where they rest.
names = ("root", "upper arm", "forearm")
at = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])  # each in the frame of its parent
still = Pose(at, np.tile([0.0, 0.0, 0.0, 1.0], (3, 1)), np.ones((3, 3)))
inverse_bind = np.tile(np.eye(4), (2, 1, 1))
inverse_bind[1, 0, 3] = -2.0
skeleton = Skeleton(names, np.array([-1, 0, 1]), still, np.array([1, 2]), inverse_bind)

# The forearm takes over between x = 1 and x = 3.
forearm = np.clip((rest[:, 0] - 1.0) / 2.0, 0.0, 1.0)
joints = np.tile([0, 1], (len(rest), 1))
weights = np.stack((1.0 - forearm, forearm), axis=1)

# In one second it turns over about its own axis, in two steps: from key to key, rotations take the shorter way.
half = np.pi * np.array([0.0, 0.25, 0.5])
turns = np.stack((np.sin(half), 0.0 * half, 0.0 * half, np.cos(half)), axis=1)
clip = Clip("turn over", (Channel(2, "rotation", np.array([0.0, 0.5, 1.0]), turns),), 1.0)
arm = Character("arm", mesh, rest, joints, weights, skeleton, {clip.name: clip})
print(arm, skeleton, clip)

assert np.allclose(arm.pose(), arm.bind_pose)


def volume(x):
    """Of a closed surface."""
    a, b, c = np.swapaxes(x[mesh.faces], 0, 1)
    return abs(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


for t in (0.0, 0.5, 1.0):
    linear, dual = arm.pose("turn over", t), arm.pose("turn over", t, method="dual quaternion")
    print(f"t = {t}: volume {volume(linear):.3f} by matrices, {volume(dual):.3f} by dual quaternions")

# Where both joints pull alike, the mean of opposite rotations is nothing: the tube closes like a wrapped sweet.
middle = np.flatnonzero(np.isclose(rest[:, 0], 2.0))
radius = np.linalg.norm(arm.pose("turn over", 1.0)[middle, 1:], axis=1)
assert np.allclose(radius, 0.0)
radius = np.linalg.norm(dual[middle, 1:], axis=1)
assert np.allclose(radius, 0.3)

# A pose is an array of positions: whatever takes positions takes it.
assert len(pliant.dcd(mesh, dual)) == 0
