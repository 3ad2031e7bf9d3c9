"""Forces and stiffness of elements added up at vertices and in rows, in an order that no number of threads changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import kernel
from pliant.runtime.simd import BLOCK
from pliant.simulate.rows import Rows, rows_of


class Assembly(NamedTuple):
    """Where the stiffness of elements with s vertices goes.

    rows : which vertices stand in the equations of which
    pairs : (k,) int64, for each block of the rows in turn, which pairs of vertices of which elements it is the sum of,
        s s element + s i + j; start : (blocks + 1,) int64, where those of each block begin
    """

    rows: Rows
    pairs: np.ndarray
    start: np.ndarray


def assembly_of(stencils: np.ndarray, vertex_count: int, rows: Rows | None = None) -> Assembly:
    """stencils : (m, s) integers, -1 where there are fewer vertices; rows : of a body that has these pairs and others,
    or None for rows with these alone"""
    if rows is None:
        rows, slots = rows_of(stencils, vertex_count)
    else:
        own = np.repeat(np.arange(vertex_count, dtype=np.int64), np.diff(rows.start)) * vertex_count + rows.columns
        stencils = np.asarray(stencils, np.int64)
        keys = stencils[:, :, None] * vertex_count + stencils[:, None, :]
        there = (stencils[:, :, None] >= 0) & (stencils[:, None, :] >= 0)
        slots = np.where(there, np.searchsorted(own, keys), -1)
    flat = slots.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    start = np.zeros(len(rows.columns) + 1, np.int64)
    np.cumsum(np.bincount(flat[order], minlength=len(rows.columns)), out=start[1:])
    return Assembly(rows, order, start)


@kernel
def sum_forces(incidence, forces, first, last, gradient):
    """Each vertex sums over its elements in ascending order: the same, whoever sums."""
    for v in range(first, last):
        for at in range(incidence.start[v], incidence.start[v + 1]):
            element, corner = incidence.element[at], incidence.corner[at]
            for k in range(3):
                gradient[v, k] += forces[element, corner, k]


@kernel
def sum_blocks(pairs, start, stiffness, span, is_first, blocks):
    """Blocks span[0] .. span[1] - 1 of (k, 12), overwritten where this is the first; stiffness : (m s s, 9)."""
    for block in range(span[0], span[1]):
        if is_first:
            for c in range(BLOCK):
                blocks[block, c] = 0.0
        for at in range(start[block], start[block + 1]):
            pair = pairs[at]
            for k in range(3):
                for m in range(3):
                    blocks[block, 4 * m + k] += stiffness[pair, 3 * k + m]
