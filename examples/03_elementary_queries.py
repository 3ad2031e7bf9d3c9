"""The exact test itself, for arrays of vertex-face and edge-edge queries that have nothing to do with each other."""

import numpy as np

import pliant

# Rows are v, f0, f1, f2. The triangle rests, the vertex falls from height 1 to -1, at four places.
triangle = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
places = np.array([(0.2, 0.2), (0.5, 0.5), (0.5, np.nextafter(0.5, 1.0)), (0.9, 0.9)])
x0 = np.empty((4, 4, 3))
x0[:, 0, :2], x0[:, 0, 2] = places, 1.0
x0[:, 1:] = triangle
x1 = x0.copy()
x1[:, 0, 2] = -1.0

answers = pliant.vertex_face(x0, x1)
print(answers, answers.hit, answers.toi)
# Inside; on the long side, where touching counts; one unit in the last place beside it; far off.
assert answers.hit.tolist() == [True, True, False, False]
assert np.all((answers.toi[:2] <= 0.5) & (answers.toi_upper[:2] >= 0.5))
assert np.isnan(answers.toi[2:]).all()

# Rows are a0, a1, b0, b1. Two edges in one line that slide into each other: no cubic, no normal, still decided.
a, b = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(2.0, 0.0, 0.0), (3.0, 0.0, 0.0)]
x0 = np.array([[*a, *b]])
x1 = x0 - [[(0, 0, 0), (0, 0, 0), (1.25, 0, 0), (1.25, 0, 0)]]
sliding = pliant.edge_edge(x0, x1)
print(sliding, sliding.toi, sliding.toi_upper)
assert sliding.hit.all()
assert sliding.toi[0] <= 0.8 <= sliding.toi_upper[0]  # 1 / 1.25
assert sliding.toi_upper[0] - sliding.toi[0] <= 1e-12

# The same in units that overflow when squared, and with denormals: every finite input is decided.
for unit in (1e160, 1e-310):
    scaled = pliant.edge_edge(x0 * unit, x1 * unit)
    assert scaled.hit.all()
    assert abs(scaled.toi[0] - 0.8) < 1e-9

# A bundle of random queries: about 1 in 12 is a contact.
rng = np.random.default_rng(1)
x0, x1 = rng.normal(size=(2, 50_000, 4, 3))
many = pliant.vertex_face(x0, x1)
print(many)
assert 0 < many.hit.sum() < 25_000
assert np.all(many.toi_upper[many.hit] - many.toi[many.hit] <= 1e-12)
