"""Every contact during a motion: a small sheet falls through a fixed one."""

import numpy as np

import pliant


def sheet(size, corner, cells):
    """Faces and positions of a square grid of triangles."""
    line = np.linspace(0, size, cells + 1)
    x = np.stack([*np.meshgrid(line, line, indexing="ij"), np.zeros((cells + 1, cells + 1))], axis=-1).reshape(-1, 3)
    a = np.arange(cells * (cells + 1)).reshape(cells, cells + 1)[:, :-1].ravel()
    b, c, d = a + cells + 1, a + cells + 2, a + 1
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), x + corner


# One mesh holds everything that can touch: put the objects one after the other.
floor_faces, floor = sheet(4.0, (0.0, 0.0, 0.0), 8)
cloth_faces, cloth = sheet(1.0, (1.3, 1.4, 0.5), 5)
faces = np.concatenate([floor_faces, cloth_faces + len(floor)])
x0 = np.concatenate([floor, cloth])
x1 = x0.copy()
x1[len(floor) :] += (0.2, 0.1, -1.0)  # all vertices move in straight lines from x0 to x1

contacts = pliant.ccd(faces, x0, x1)
print(contacts)

# Arrays, one row per contact. The cloth starts at height 0.5 and falls by 1: it hits in the middle of the step.
print(f"first contact between t = {contacts.toi.min()} and {contacts.toi_upper.min()}")
vertex, face = contacts.vf.elements[0]
print(f"vertex {vertex} meets face {face}, normal {contacts.vf.normal[0]}")

# The weighted sum of the four vertices is the gap between the two points that touch: zero at the time of contact.
t = contacts.toi[:, None, None]
at_contact = (1 - t) * x0[contacts.vertices] + t * x1[contacts.vertices]
gap = np.einsum("kv,kvi->ki", contacts.weights, at_contact)

assert len(contacts.vf) > 0
assert len(contacts.ee) > 0
assert np.all((contacts.toi <= 0.5) & (contacts.toi_upper >= 0.5))  # the true time is in between ...
assert np.all(contacts.toi_upper - contacts.toi <= 1e-12)  # ... and known to 1e-12
assert np.abs(gap).max() < 1e-12
