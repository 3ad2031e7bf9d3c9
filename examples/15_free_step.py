"""Any proposal, a step that ends free of contact: a sheet in three folds, and noise."""

import numpy as np

import pliant

# A strip of 30 x 6 squares, folded like a Z: three layers.
u, v = np.meshgrid(np.linspace(0.0, 3.0, 31), np.linspace(0.0, 0.6, 7), indexing="ij")
there = np.abs((u + 1.0) % 2.0 - 1.0)  # to and fro
x0 = np.stack([there, v, 0.1 * u + 0.01 * np.sin(9.0 * v)], axis=-1).reshape(-1, 3)
corner = (np.arange(30)[:, None] * 7 + np.arange(6)).ravel()
squares = np.stack([corner, corner + 7, corner + 8, corner + 1], axis=1)
faces = np.concatenate([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]])
assert len(pliant.check(faces, x0)) == 0

x1 = x0 + np.random.default_rng(0).normal(size=x0.shape) * 0.05
proposed = pliant.ccd(faces, x0, x1)
print(f"proposed: {proposed}")

# One safe step stops everything at the first contact; resolve only what is in contact.
step = pliant.step(faces, x0, x1)
resolved = pliant.resolve(faces, x0, x1, thickness=0.005)
print(step)
print(resolved)
left = [float(np.linalg.norm(x1 - x) / np.linalg.norm(x1 - x0)) for x in (step.positions, resolved.positions)]
print("left of the motion: {:.2f} after a safe step, {:.2f} resolved".format(*left))

# What pushed, and how: impulses are equal and opposite, so that momentum stays what was proposed.
print(f"{len(resolved.contacts)} contacts pushed, the strongest by {np.abs(resolved.impulses).max():.3g}")

assert len(proposed) > 0
assert left[1] < 0.7 * left[0]
assert len(pliant.ccd(faces, x0, resolved.positions)) == 0  # the way there is free,
assert len(pliant.check(faces, resolved.positions)) == 0  # and so is the end
