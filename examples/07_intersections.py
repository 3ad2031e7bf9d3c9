"""What intersects at one instant: two rings that cross, a file with duplicated vertices, a ring inside of another."""

import numpy as np

import pliant


def ring(radius, tube, turns=64, sides=24):
    """Faces and positions of a torus around the z axis."""
    ids = np.arange(turns * sides).reshape(turns, sides)
    a, b, c, d = (np.roll(ids, shift, (0, 1)).ravel() for shift in ((0, 0), (-1, 0), (-1, -1), (0, -1)))
    u, v = 2 * np.pi * (a // sides + 0.5 * (a % sides) / sides) / turns, 2 * np.pi * (a % sides) / sides
    out = radius + tube * np.cos(v)
    x = np.stack([out * np.cos(u), out * np.sin(u), tube * np.sin(v)], axis=1)
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), x


# The second ring stands upright, and its tube passes through the tube of the first.
faces, flat = ring(2.0, 0.5)
upright = flat[:, [0, 2, 1]] + (4.2, 0.0, 0.0)
both = np.concatenate([faces, faces + len(flat)])
x = np.concatenate([flat, upright])

found = pliant.dcd(both, x)
print(found)
a, b = found.faces[0]
print(f"faces {a} and {b} share the segment from {found.segments[0, 0]} to {found.segments[0, 1]}")

# Each ring by itself is free: neighbours that only share their edge or vertex are no intersection.
assert len(pliant.dcd(both, x, pairs="self")) == 0
assert np.array_equal(pliant.dcd(both, x, pairs="inter").faces, found.faces)
assert np.all((found.faces[:, 0] < len(faces)) & (found.faces[:, 1] >= len(faces)))

# Two closed surfaces cross in closed curves: where one segment ends, exactly one other begins, up to rounding.
ends = found.segments.reshape(-1, 3)
near = np.linalg.norm(ends[:, None] - ends[None], axis=2) < 1e-9
assert np.all(near.sum(axis=1) == 2)
print(f"length of the curves {np.linalg.norm(np.diff(found.segments, axis=1), axis=2).sum():.3f}")

# Files such as STL give every triangle three vertices of its own, and neighbours touch then. merge=True takes those at
# equal positions for one.
own_faces, own_x = np.arange(3 * len(both)).reshape(-1, 3), x[both.ravel()]
as_read, merged = pliant.dcd(own_faces, own_x), pliant.dcd(own_faces, own_x, merge=True)
print(f"as read {as_read}, merged {merged}")
assert len(as_read) > len(found)
assert np.array_equal(merged.faces, found.faces)

# A motion that starts tangled can be refused: its contacts alone do not tell.
message = "accepted"
try:
    pliant.ccd(both, x, x, tangled="raise")
except pliant.MeshError as error:
    message = str(error)
print(message)
assert "starts tangled" in message

# Only surfaces count: a thin ring that runs inside of the tube of another intersects nothing.
inside = np.concatenate([flat, ring(2.0, 0.1)[1]])
assert len(pliant.dcd(both, inside)) == 0
