"""The canonical order of pairs, by counting or by comparing, is that of their ids."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.pairs.order import canonical_order


@pytest.mark.parametrize(("count", "limit"), [(0, 1), (1, 1), (500, 7), (500, 400), (500, 10_000), (20, 2_000_000_000)])
def test_rows_are_sorted_by_the_first_id_then_by_the_second(count, limit):
    pairs = np.random.default_rng(count).integers(0, limit, (count, 2)).astype(np.int32)
    order = canonical_order(pairs)
    assert sorted(order.tolist()) == list(range(count))
    assert pairs[order].tolist() == sorted(pairs.tolist())
