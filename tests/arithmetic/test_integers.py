"""Wide integers against Python's own."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from pliant.arithmetic.integers import LIMB_BITS, SIZE, add, multiply, set_integer, sign_of


# Helpers run interpreted when Python calls them: to be compiled, they need a kernel around them.
@numba.njit
def _calculate(m, mantissas, shifts):
    for r in range(2):
        set_integer(m, r, mantissas[r], shifts[r])
    add(m, 2, 0, 1, 1)
    add(m, 3, 0, 1, -1)
    multiply(m, 4, 0, 1)
    multiply(m, 5, 4, 3)
    return sign_of(m, 3)


def value_of(m, r):
    size = int(m[r, SIZE])
    limbs = [int(limb) for limb in m[r, 1 : abs(size) + 1]]
    assert all(0 <= limb < 1 << LIMB_BITS for limb in limbs)
    assert not limbs or limbs[-1] != 0
    magnitude = sum(limb << (LIMB_BITS * i) for i, limb in enumerate(limbs))
    return -magnitude if size < 0 else magnitude


@pytest.mark.bounds
@pytest.mark.unit
def test_sums_differences_and_products():
    rng = np.random.default_rng(1)
    signs = []
    for trial in range(300):
        bits = rng.integers(1, 60, 2)
        mantissas = np.array([rng.integers(-(2 ** int(b)), 2 ** int(b) + 1) for b in bits])
        shifts = rng.integers(0, 200, 2)
        if trial % 5 == 0:
            mantissas[1], shifts[1] = mantissas[0] * rng.choice([-1, 1]), shifts[0]
        if trial % 17 == 0:
            mantissas[rng.integers(2)] = 0
        m = np.full((6, 40), 12345, np.int64)
        sign = _calculate(m, mantissas, shifts)
        a, b = (int(x) << int(s) for x, s in zip(mantissas, shifts))
        assert [value_of(m, r) for r in range(6)] == [a, b, a + b, a - b, a * b, a * b * (a - b)]
        assert sign == (a > b) - (a < b)
        signs.append(sign)
    assert set(signs) == {-1, 0, 1}
