"""A cloth falls onto a ball, which turns; every step of it is free of contact, checked by queries of its own."""

import numpy as np

import pliant
from pliant.simulate import Cloth, Obstacle, Turning

# A sheet of 24 x 24 squares, a metre wide, and a ball: an octahedron that was divided three times.
n = 24
u, v = np.meshgrid(np.linspace(-0.5, 0.5, n + 1), np.linspace(-0.5, 0.5, n + 1), indexing="ij")
x = np.stack([u + 0.02, v, np.full_like(u, 0.26)], axis=-1).reshape(-1, 3)
corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
squares = np.stack([corner, corner + n + 1, corner + n + 2, corner + 1], axis=1)
faces = np.concatenate([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]])

ball = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], float)
ball_faces = np.array([(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)])
for _ in range(3):
    edges = np.sort(ball_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, middle = np.unique(edges, axis=0, return_inverse=True)
    a, b, c = ball_faces.T
    ab, bc, ca = len(ball) + middle.reshape(-1, 3).T
    halves = ball[edges].mean(axis=1)
    ball = np.concatenate([ball, halves / np.linalg.norm(halves, axis=1, keepdims=True)])
    ball_faces = np.concatenate([np.stack(f, axis=1) for f in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
ball *= 0.25

# Metres, kilograms, seconds. From 0.3 s on the ball turns, and takes the cloth along.
turning = Obstacle(ball_faces, ball, Turning(ball, spin=(0.0, 0.0, 3.0), begin=0.3), friction=0.8)
cloth = Cloth(faces, x, material="cotton", obstacles=[turning])

steps = 0


def test_step(before, frame):
    """A fresh query for each time step: the way was free, to the last bit."""
    global steps
    steps += 1
    assert len(pliant.ccd(cloth.mesh, before, frame.scene)) == 0


frames = list(cloth.frames(40, rate=60, watch=test_step))
last = frames[-1]
print(f"{steps} steps, each free of contact; t = {last.time:.2f} s, {last.stats.near} pairs are near")
print(f"worst stretch {max(frame.stats.stretch for frame in frames) - 1:.0%}, energies {last.stats.energies}")

assert len(pliant.check(cloth.mesh, last.scene)) == 0
assert last.positions[:, 2].min() < 0.05  # it hangs around the ball,
assert last.positions[:, 2].max() > 0.25  # and lies on it
