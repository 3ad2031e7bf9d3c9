"""Faces near to some vertices, by a grid of cells."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import row
from pliant.runtime.jit import helper, kernel

_MOST_PARTS = 12  # cells along a face that is not taken to be near to everything
_EMPTY = -1  # no cell has this key


def faces_near(free: np.ndarray, cell: float, faces: np.ndarray, states: tuple[np.ndarray, ...]) -> np.ndarray:
    """(m,) bool: faces in cells of a grid that vertices which are free are in, or next to, in any of some states; and
    very large ones. What is left out is too far away to be met, mostly; whoever relies on it has to check."""
    wanted = np.array(free[faces].any(axis=1))
    if wanted.any():
        own = _table(len(states) * int(np.count_nonzero(free)))
        cells = sum(_mark_cells(x, free, cell, 0, own) for x in states)
        marked = _table(27 * cells)
        for x in states:
            _mark_cells(x, free, cell, 1, marked)
        for x in states:
            _find_faces(x, faces, cell, marked, wanted)
    return wanted


def _table(count: int) -> np.ndarray:
    """Empty, for so many keys, half full at most."""
    return np.full(1 << max(4, (2 * count - 1).bit_length()), _EMPTY, np.int64)


@helper
def _place_of(i, j, k, table):
    """The place of a cell in a table, or that where it belongs, and its key; cells 2^21 apart share one."""
    key = (i & 0x1FFFFF) << 42 | (j & 0x1FFFFF) << 21 | (k & 0x1FFFFF)
    place = (i * 73856093 ^ j * 19349663 ^ k * 83492791) & (len(table) - 1)
    while table[place] != _EMPTY and table[place] != key:
        place = (place + 1) & (len(table) - 1)
    return place, key


@helper
def _cell_of(p, cell):
    return np.int64(np.floor(p[0] / cell)), np.int64(np.floor(p[1] / cell)), np.int64(np.floor(p[2] / cell))


@kernel
def _mark_cells(x, free, cell, around, table):
    """The cells of free vertices, and so many around them; how many are new."""
    count = 0
    for v in range(len(x)):
        if not free[v]:
            continue
        i, j, k = _cell_of(row(x, v), cell)
        for a in range(i - around, i + around + 1):
            for b in range(j - around, j + around + 1):
                for c in range(k - around, k + around + 1):
                    place, key = _place_of(a, b, c, table)
                    if table[place] == _EMPTY:
                        table[place] = key
                        count += 1
    return count


@kernel
def _find_faces(x, faces, cell, marked, wanted):
    """wanted : (m,) bool, becomes True for faces with a point in a marked cell; of its points, those no further apart
    than a cell are tried."""
    for f in range(len(faces)):
        if wanted[f]:
            continue
        u, v, w = row(x, faces[f, 0]), row(x, faces[f, 1]), row(x, faces[f, 2])
        longest = 0.0
        for k in range(3):
            longest = max(longest, max(u[k], max(v[k], w[k])) - min(u[k], min(v[k], w[k])))
        if longest > _MOST_PARTS * cell:
            wanted[f] = True
            continue
        parts = max(1, int(np.ceil(longest / cell)))
        for a in range(parts + 1):
            for b in range(parts + 1 - a):
                p = _point(u, v, w, a / parts, b / parts)
                i, j, k = _cell_of(p, cell)
                if marked[_place_of(i, j, k, marked)[0]] != _EMPTY:
                    wanted[f] = True
                    break
            if wanted[f]:
                break


@helper
def _point(u, v, w, a, b):
    c = 1.0 - a - b
    return a * u[0] + b * v[0] + c * w[0], a * u[1] + b * v[1] + c * w[1], a * u[2] + b * v[2] + c * w[2]
