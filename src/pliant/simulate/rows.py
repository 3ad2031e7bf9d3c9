"""Sparse rows: which vertices stand in the equations of which, and where; fixed by the topology."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Columns of each row: those of row v are columns[start[v] : start[v + 1]], ascending.

    Columns have no sign: of one that has, numba asks at every look-up whether it counts from the end.

    start : (n + 1,) int64; columns : (k,) uint32; diagonal : (n,) int64, which of them is the row itself
    """

    start: np.ndarray
    columns: np.ndarray
    diagonal: np.ndarray


class Incidence(NamedTuple):
    """Elements at each vertex: entries start[v] .. start[v + 1] of the arrays.

    start : (n + 1,) int64
    element : (k,) int32, ascending at each vertex: sums are taken in this order, whoever takes them
    corner : (k,) int32, which corner of the element the vertex is
    """

    start: np.ndarray
    element: np.ndarray
    corner: np.ndarray


def rows_of(stencils: np.ndarray, vertex_count: int) -> tuple[Rows, np.ndarray]:
    """Rows with all pairs of vertices of a stencil, and where these pairs are: (m, s, s) int64; -1: no vertex.

    stencils : (m, s) integers, -1 where there are fewer
    """
    stencils = np.asarray(stencils, np.int64)
    present = stencils >= 0
    keys = stencils[:, :, None] * vertex_count + stencils[:, None, :]
    pairs = present[:, :, None] & present[:, None, :]
    own = np.arange(vertex_count, dtype=np.int64) * (vertex_count + 1)
    unique, place = np.unique(np.concatenate((own, keys[pairs])), return_inverse=True)
    place = place.reshape(-1)
    slots = np.full(keys.shape, -1, np.int64)
    slots[pairs] = place[vertex_count:]
    row, column = np.divmod(unique, vertex_count)
    start = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=vertex_count), out=start[1:])
    return Rows(start, column.astype(np.uint32), place[:vertex_count].astype(np.int64)), slots


def incidence_of(elements: np.ndarray, vertex_count: int) -> Incidence:
    """Which elements, (m, s) integers, each vertex belongs to."""
    s = elements.shape[1]
    flat = elements.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    start = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(flat[order], minlength=vertex_count), out=start[1:])
    return Incidence(start, (order // s).astype(np.int32), (order % s).astype(np.int32))
