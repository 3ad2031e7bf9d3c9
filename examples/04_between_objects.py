"""Which objects can touch: within one, between different ones, or as labels of your own say."""

import numpy as np

import pliant

scene = pliant.scenes.load("twisted_cloth", triangles=6_000, frames=3)
x0, x1 = scene.frames[1], scene.frames[2]
mesh = pliant.TriMesh(scene.faces)

# Without labels, objects are the connected components: here a cloth and the ball that it hangs over.
everything = pliant.ccd(mesh, x0, x1)
within = pliant.ccd(mesh, x0, x1, pairs="self")
between = pliant.ccd(mesh, x0, x1, pairs="inter")
print(f"all:   {everything}\nself:  {within}\ninter: {between}")

# Each contact is one or the other: together they are all of them, with the same times.
assert len(within) > 0
assert len(between) > 0
assert len(within) + len(between) == len(everything)
assert np.array_equal(np.sort(np.concatenate([within.toi, between.toi])), np.sort(everything.toi))

# The labels of the vertices of a contact tell which objects it is about.
objects = mesh.components
label = objects[between.vertices]
assert np.all(label[:, 0] != label[:, 3])

# Labels of your own: with one label for both, the cloth and the ball are one object and nothing is in between.
one = np.zeros(len(x0), int)
assert len(pliant.ccd(mesh, x0, x1, objects=one, pairs="inter")) == 0
assert len(pliant.ccd(mesh, x0, x1, objects=one, pairs="self")) == len(everything)

# A face that joins two objects is an error that says where.
torn = objects.copy()
torn[mesh.faces[7, 0]] = 5
message = "accepted"
try:
    pliant.ccd(mesh, x0, x1, objects=torn)
except pliant.MeshError as error:
    message = str(error)
print(message)
assert "joins vertices of different objects" in message
