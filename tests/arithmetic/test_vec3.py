from __future__ import annotations

import numpy as np
import pytest

from pliant.arithmetic.vec3 import add, cross, dot, lerp, max_norm, row, scale, sub


@pytest.mark.unit
def test_as_numpy_has_it():
    a, b = np.random.default_rng(1).integers(-9, 10, (2, 3)).astype(np.float64)
    u, v = row(np.stack([a, b]), 0), row(np.stack([a, b]), 1)
    assert u == tuple(a)
    assert add(u, v) == tuple(a + b)
    assert sub(u, v) == tuple(a - b)
    assert scale(u, 0.5) == tuple(a / 2)
    assert dot(u, v) == a @ b
    assert cross(u, v) == tuple(np.cross(a, b))
    assert max_norm(u) == np.abs(a).max()
    assert lerp(u, v, 0.25) == tuple(0.75 * a + 0.25 * b)


@pytest.mark.unit
def test_the_ends_of_a_motion_are_exact():
    a, b = np.random.default_rng(2).standard_normal((2, 3))
    assert lerp(tuple(a), tuple(b), 0.0) == tuple(a)
    assert lerp(tuple(a), tuple(b), 1.0) == tuple(b)
