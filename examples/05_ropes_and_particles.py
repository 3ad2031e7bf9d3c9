"""Loose edges and loose points beside triangles: a rope across a board, and particles that rain on it."""

import numpy as np

import pliant

# A board of two triangles in the plane z = 0.
board = np.array([(-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (2.0, 2.0, 0.0), (-2.0, 2.0, 0.0)])
faces = [(0, 1, 2), (0, 2, 3)]

# A rope of 20 edges above it, along x, that reaches beyond both of its sides.
rope = np.zeros((21, 3))
rope[:, 0] = np.linspace(-3.0, 3.0, 21)
rope[:, 1:] = (0.3, 0.5)
rope_ids = len(board) + np.arange(21)
edges = np.stack([rope_ids[:-1], rope_ids[1:]], axis=1)

# 500 particles higher up, some beside the board.
rng = np.random.default_rng(0)
rain = rng.uniform((-3.0, -3.0, 0.9), (3.0, 3.0, 1.1), (500, 3))
points = len(board) + len(rope) + np.arange(500)

mesh = pliant.TriMesh(faces, edges=edges, points=points)
x0 = np.concatenate([board, rope, rain])
x1 = x0.copy()
x1[4:, 2] -= 2.0  # the rope and the rain fall through the board

contacts = pliant.ccd(mesh, x0, x1)
print(mesh, contacts)

# The rope hits at t = 0.25: vertices of the rope meet faces, and its edges meet the sides of the board.
vertices = contacts.vf.elements[:, 0]
by_rope, by_rain = contacts.vf[np.isin(vertices, rope_ids)], contacts.vf[np.isin(vertices, points)]
print(f"{len(by_rope)} by the rope, {len(by_rain)} by particles, {len(contacts.ee)} edge-edge")

over_board = (np.abs(rain[:, :2]) <= 2.0).all(axis=1)
assert np.all((by_rope.toi <= 0.25) & (by_rope.toi_upper >= 0.25))
assert np.array_equal(np.unique(by_rain.elements[:, 0]), points[over_board])
assert len(contacts.ee) > 0
assert np.all((contacts.ee.toi <= 0.25) & (contacts.ee.toi_upper >= 0.25))
# Points have no extent: no particle meets another one, or an edge of the rope.
assert not np.isin(contacts.ee.vertices, points).any()
