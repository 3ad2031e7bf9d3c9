"""A loop that moves a sheet towards a ball and never lets it touch: what a simulator's line search does."""

import numpy as np

import pliant

scene = pliant.scenes.load("twisted_cloth", triangles=2_000, frames=2)
ball = scene.faces[scene.objects[scene.faces[:, 0]] == 1]
ball = ball - ball.min()
points = scene.x0[scene.objects == 1]

# A square of 4 x 4 cells above the ball, that wants to go down by 1.5 and so through it.
line = np.linspace(-1.5, 1.5, 5)
square = np.stack([*np.meshgrid(line, line, indexing="ij"), np.full((5, 5), points[:, 2].max() + 1.0)], axis=-1)
square = square.reshape(-1, 3) + (points[:, 0].mean(), points[:, 1].mean(), 0.0)
a = np.arange(20).reshape(4, 5)[:, :-1].ravel()
sheet = np.concatenate([np.stack([a, a + 5, a + 6], 1), np.stack([a, a + 6, a + 1], 1)])

mesh = pliant.TriMesh(np.concatenate([ball, sheet + len(points)]))
x = np.concatenate([points, square])
falling = np.zeros_like(x)
falling[len(points) :, 2] = -0.3

for i in range(6):
    step = pliant.safe_step(mesh, x, x + falling)
    print(f"step {i}: {step}")
    x = step.positions  # verified: the motion to these rounded positions is free of contact
    if step.contact is not None:
        a, b = step.contact.elements[0]
        print(f"        stopped by {'edges' if step.contact.kind[0] else 'vertex and face'} {a} and {b}")
        break

assert step.contact is not None
assert 0.0 < step.t < 1.0
# The way that was really gone is free of contact, to the last bit of the rounded positions.
assert len(pliant.ccd(mesh, np.concatenate([points, square]), x)) == 0
assert x[len(points) :, 2].min() > points[:, 2].max()
