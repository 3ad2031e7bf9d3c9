"""Two balls that are pushed into each other, apart again: a mesh, and an animation of it that does not pop."""

import numpy as np

import pliant
from pliant.scenes.shapes import icosphere

ball, x = icosphere(4)
faces = np.concatenate((ball, ball + len(x)))


def balls(gap):
    return np.concatenate((x, x + np.array([gap, 0.03, 0.02])))


tangled = balls(1.8)
print("before:", pliant.check(faces, tangled))
found = pliant.untangle(faces, tangled)
print(found)
assert found.clean
assert len(pliant.check(faces, found.positions)) == 0

# The first ball is a body, which stays, and everything else belongs outside of it.
body = np.arange(len(x))
found = pliant.untangle(faces, tangled, fixed=body, outside_of=[0])
assert found.clean
assert np.array_equal(found.positions[body], tangled[body])
assert found.wrong_side is not None
assert len(found.wrong_side) == 0
print("outside:", pliant.winding(ball, x, found.positions[len(x) :]))

# Frames: those in which nothing intersects stay as they are, and the others follow from the frame beside them.
frames = pliant.Sequence(faces, np.array([balls(gap) for gap in (2.1, 1.95, 1.85, 1.8, 1.9)]))
moving = pliant.untangle_sequence(frames)
print(moving, "pops by", moving.popping.max().round(3), "edges")
assert moving.clean
assert np.array_equal(moving.sequence[0], frames[0])
