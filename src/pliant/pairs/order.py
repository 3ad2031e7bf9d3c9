"""The canonical order of pairs of features: by the first id, then by the second."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE, quad
from pliant.runtime.jit import helper, kernel

_FEW = 16  # ids for each pair: where there are more of them, to count them all takes longer than to compare
SHORT = 32  # pairs that are put in order one by one


def canonical_order(pairs: np.ndarray) -> np.ndarray:
    """(k,) the rows of pairs, (k, 2) int32 and not negative, in order."""
    if len(pairs) <= SHORT:
        order = np.empty(len(pairs), np.int64)
        _insert(pairs, order)
        return order
    largest = int(pairs.max(initial=0))
    if largest > _FEW * len(pairs):
        return np.lexsort((pairs[:, 1], pairs[:, 0]))
    order = np.arange(len(pairs))
    for column in (1, 0):  # the second pass keeps the order of the first among equals
        before, order = order, np.empty_like(order)
        _sort_by(pairs, column, before, largest + 1, order)
    return order


@kernel
def _insert(pairs, order):
    insert_rows(pairs, order)


@kernel
def _sort_by(pairs, column, order, limit, out):
    sort_rows_by(pairs, column, order, limit, out)


@helper
def in_order(rows, count, limit):
    """(count,) the first rows of ids, (k, columns), in lexicographic order; all ids are below the limit."""
    order = np.arange(count)
    if count <= SHORT:
        insert_rows(rows, order)
        return order
    for column in range(rows.shape[1] - 1, -1, -1):  # each pass keeps the order of the one before among equals
        out = np.empty(count, np.int64)
        sort_rows_by(rows, column, order, limit, out)
        order = out
    return order


@helper
def insert_rows(rows, order):
    """Each row before those that it is less than."""
    for i in range(len(order)):
        place = i
        while place > 0 and _is_before(rows, i, order[place - 1]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@helper
def _is_before(rows, i, j):
    for column in range(rows.shape[1]):
        if rows[i, column] != rows[j, column]:
            return rows[i, column] < rows[j, column]
    return False


@helper
def sort_rows_by(rows, column, order, limit, out):
    """The order, sorted by a column with ids below the limit; rows with equal ids stay as they were."""
    start = np.zeros(limit + 1, np.int64)
    for i in range(len(order)):
        start[rows[order[i], column] + 1] += 1
    for v in range(limit):
        start[v + 1] += start[v]
    for i in range(len(order)):
        v = rows[order[i], column]
        out[start[v]] = order[i]
        start[v] += 1


@kernel
def put_in_order(given, order, split, tables, kinds, quads, out, begin, end):
    """Rows begin .. end of a table of pairs with their times, and the vertices of the pairs.

    given, out: elements, toi, toi_upper, status; order: of the rows before split, which are of a vertex and a face, and
    of those after it, which are of two edges; tables: the mesh's faces and edges
    """
    for i in range(begin, end):
        kind = VERTEX_FACE if i < split else EDGE_EDGE
        k = order[i] if i < split else split + order[i]
        a, b = given.elements[k, 0], given.elements[k, 1]
        kinds[i], out.elements[i, 0], out.elements[i, 1] = kind, a, b
        out.toi[i], out.toi_upper[i], out.status[i] = given.toi[k], given.toi_upper[k], given.status[k]
        q = quad(kind, tables[0], a, b) if i < split else quad(kind, tables[1], a, b)
        quads[i, 0], quads[i, 1], quads[i, 2], quads[i, 3] = q
