"""The canonical order of pairs of features: by the first id, then by the second."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import kernel

_FEW = 16  # ids for each pair: where there are more of them, to count them all takes longer than to compare


def canonical_order(pairs: np.ndarray) -> np.ndarray:
    """(k,) the rows of pairs, (k, 2) int32 and not negative, in order."""
    largest = int(pairs.max(initial=0))
    if largest > _FEW * len(pairs):
        return np.lexsort((pairs[:, 1], pairs[:, 0]))
    order = np.arange(len(pairs))
    for column in (1, 0):  # the second pass keeps the order of the first among equals
        before, order = order, np.empty_like(order)
        _sort_by(pairs, column, before, largest + 1, order)
    return order


@kernel
def _sort_by(pairs, column, order, limit, out):
    """The order, sorted by a column with ids below the limit; rows with equal ids stay as they were."""
    start = np.zeros(limit + 1, np.int64)
    for i in range(len(order)):
        start[pairs[i, column] + 1] += 1
    for v in range(limit):
        start[v + 1] += start[v]
    for i in range(len(order)):
        v = pairs[order[i], column]
        out[start[v]] = order[i]
        start[v] += 1
