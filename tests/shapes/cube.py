"""The unit cube as triangles."""

from __future__ import annotations

import numpy as np

CUBE = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE_FACES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])
