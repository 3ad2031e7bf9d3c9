"""Sums in lanes: the bits of plain loops, for both precisions and for rows of any length."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.runtime.jit import bare_kernel
from pliant.runtime.simd import BLOCK, WIDTH, add_outer, block_row, gather_blocks, number_row


@bare_kernel
def _sums(start, columns, blocks, values, x, out):
    for v in range(len(start) - 1):
        out[v, 0], out[v, 1], out[v, 2] = block_row(columns, blocks, x, start[v], start[v + 1])
        out[v, 3], out[v, 4], out[v, 5] = number_row(columns, values, x, start[v], start[v + 1])


@bare_kernel
def _gathered(start, columns, values, blocks, out):
    for v in range(len(start) - 1):
        gather_blocks(columns, values, blocks, start[v], start[v + 1], out, v)


@bare_kernel
def _add_products(u, w, factors, blocks):
    for k in range(len(blocks)):
        f = factors[k, 0], factors[k, 1], factors[k, 2], factors[k, 3], factors[k, 4]
        add_outer(blocks, k, (u[k, 0], u[k, 1], u[k, 2]), (w[k, 0], w[k, 1], w[k, 2]), f)


def rows(rng: np.random.Generator, n: int, others: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 0 to 9 entries."""
    start = np.concatenate(((0,), np.cumsum(rng.integers(0, 10, n))))
    return start, rng.integers(0, others, start[-1]).astype(np.uint32)


def padded(rng: np.random.Generator, n: int, columns: int) -> np.ndarray:
    table = rng.normal(size=(n, columns)) * 10.0 ** rng.integers(-8, 8, (n, columns))
    table[:, WIDTH - 1 :: WIDTH] = 0.0
    return table


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_rows_of_blocks_and_numbers(precision: type):
    rng = np.random.default_rng(1)
    start, columns = rows(rng, 40, 25)
    assert (np.diff(start) == 0).any()
    x, values = padded(rng, 25, WIDTH), rng.normal(size=len(columns))
    blocks = padded(rng, len(columns), BLOCK).astype(precision)
    out = np.full((40, 6), np.nan)
    _sums(start, columns, blocks, values, x, out)
    for v in range(40):
        expected = np.zeros(6)
        for k in range(start[v], start[v + 1]):
            block, p = blocks[k].astype(float).reshape(3, WIDTH), x[columns[k]]
            for i in range(3):
                expected[i] += block[0, i] * p[0] + block[1, i] * p[1] + block[2, i] * p[2]
                expected[3 + i] += values[k] * p[i]
        assert out[v].tobytes() == expected.tobytes()


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("into", [np.float64, np.float32])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_blocks_are_summed(precision: type, into: type):
    rng = np.random.default_rng(2)
    start, columns = rows(rng, 30, 20)
    values, blocks = rng.normal(size=len(columns)), padded(rng, 20, BLOCK).astype(precision)
    out = np.full((30, BLOCK), np.nan, into)
    _gathered(start, columns, values, blocks, out)
    for v in range(30):
        expected = np.zeros(BLOCK)
        for k in range(start[v], start[v + 1]):
            expected += values[k] * blocks[columns[k]].astype(float)
        assert out[v].tobytes() == expected.astype(into).tobytes()


@pytest.mark.unit
@pytest.mark.bounds
def test_products_of_vectors_are_added():
    rng = np.random.default_rng(3)
    u, w, factors = (rng.normal(size=(20, size)) * 10.0 ** rng.integers(-8, 8, (20, 1)) for size in (3, 3, 5))
    blocks = padded(rng, 20, BLOCK)
    expected = blocks.copy().reshape(20, 3, WIDTH)
    _add_products(u, w, factors, blocks)
    for k in range(20):
        uu, uv, vu, vv, own = factors[k]
        for q in range(3):
            expected[k, q, :3] += (uu * u[k] + vu * w[k]) * u[k, q] + (uv * u[k] + vv * w[k]) * w[k, q]
            expected[k, q, q] += own
    assert blocks.tobytes() == expected.tobytes()
