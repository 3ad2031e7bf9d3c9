"""Faces near to vertices: those that plain loops over cells find."""

from __future__ import annotations

import math

import numpy as np

from pliant.untangling.nearness import faces_near

CELL = 0.7


def near_by_loops(free, faces, states):
    """The same with sets of cells."""
    marked, wanted = set(), {f for f, corners in enumerate(faces.tolist()) if free[corners].any()}
    for x in states:
        for v in np.flatnonzero(free):
            i, j, k = (math.floor(c / CELL) for c in x[v].tolist())
            marked |= {(a, b, c) for a in range(i - 1, i + 2) for b in range(j - 1, j + 2) for c in range(k - 1, k + 2)}
    for x in states:
        for f, (u, v, w) in enumerate(x[faces]):
            longest = np.ptp(x[faces[f]], axis=0).max()
            parts = max(1, math.ceil(longest / CELL))
            points = (
                u * (a / parts) + v * (b / parts) + w * (1.0 - a / parts - b / parts)
                for a in range(parts + 1)
                for b in range(parts + 1 - a)
            )
            if longest > 12 * CELL or any(tuple(math.floor(c / CELL) for c in p.tolist()) in marked for p in points):
                wanted.add(f)
    return wanted


def scattered(count=160, seed=4):
    """Triangles of all sizes in a large cube, two states, and a few free vertices."""
    rng = np.random.default_rng(seed)
    size = rng.choice([0.2, 1.0, 3.0, 15.0], size=(count, 1, 1), p=[0.3, 0.3, 0.35, 0.05])
    x = (rng.uniform(-6, 6, (count, 1, 3)) + size * rng.uniform(-1, 1, (count, 3, 3))).reshape(-1, 3)
    free = rng.random(len(x)) < 0.04
    return free, np.arange(3 * count, dtype=np.int32).reshape(-1, 3), (x, x + rng.normal(size=x.shape))


def test_all_that_loops_find():
    free, faces, states = scattered()
    expected = near_by_loops(free, faces, states)
    found = set(np.flatnonzero(faces_near(free, CELL, faces, states)).tolist())
    assert 0.2 * len(faces) < len(expected) < 0.9 * len(faces)
    assert found == expected


def test_nothing_is_near_to_nothing():
    _, faces, states = scattered()
    assert not faces_near(np.zeros(len(states[0]), bool), CELL, faces, states).any()
