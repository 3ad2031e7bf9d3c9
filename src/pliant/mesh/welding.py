"""Vertices at equal positions taken for one: files split them where normals, colours or materials differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Merging(NamedTuple):
    """Which vertices are taken for one.

    first : (n,) int32, the vertex that stands for each: for most, itself
    others : (k,) ids of those for which another one stands
    """

    first: np.ndarray
    others: np.ndarray

    def apart(self, x: np.ndarray) -> np.ndarray:
        """Ids of the vertices that are not where the one is that stands for them; x: (n, 3) at another time."""
        return self.others[(x[self.others] != x[self.first[self.others]]).any(axis=1)]


def first_at_place(x: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """(n,) int64: of each vertex, the first one at its position, and with its label where there are labels.

    x : (n, k) positions; -0.0 and 0.0 are the same place
    labels : (n,) integers
    """
    keys = [*(x + 0.0).T] + ([] if labels is None else [labels])
    order = np.lexsort(keys)  # stable: vertices of one place stay in the order of their ids
    new = np.ones(len(x), bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    first = np.empty(len(x), np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def merging_of(cells: Mapping[str, np.ndarray], x: np.ndarray, labels: np.ndarray | None = None) -> Merging:
    """Vertices at equal positions, of those that cells name, and with the same label where there are labels.

    cells : kind to corners. Triangles may collapse, and stay, so that ids keep their meaning; cells of other kinds may
        not: the vertices that would make them collapse are not merged
    """
    first = np.arange(len(x), dtype=np.int32)
    used = np.unique(np.concatenate([np.empty(0, np.int32), *(rows.reshape(-1) for rows in cells.values())]))
    first[used] = used[first_at_place(x[used], None if labels is None else labels[used])]
    for kind, rows in cells.items():
        if kind != "triangle":
            ordered = np.sort(first[rows], axis=1)
            kept = np.unique(ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]])
            first = np.where(np.isin(first, kept), np.arange(len(x), dtype=np.int32), first)
    return Merging(first, np.flatnonzero(first != np.arange(len(x))))


def weld(faces: np.ndarray, x: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """(m, 3) faces, in their order, with each corner named by the first corner of any face at the same position.

    Faces that collapse stay, so that face ids keep their meaning.
    """
    return merging_of({"triangle": faces}, x, labels).first[faces].astype(faces.dtype, copy=False)
