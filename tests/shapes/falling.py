"""Four triangles with two contacts: a vertex falls through a face, and an edge through an edge."""

from __future__ import annotations

import numpy as np

# A vertex falls through a face, and two crossing edges through each other, far from it.
FACES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]
START = np.array(
    [(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 1), (1, 1, 3), (2, 1, 3)]
    + [(10, 0, 0), (14, 0, 0), (12, -3, -1), (12, -1, 1), (12, 3, 1), (12, 1, 4)],
    float,
)
END = START.copy()
END[3:6, 2] -= 2.0
END[9:12, 2] -= 1.5
