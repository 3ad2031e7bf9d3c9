"""Vertices at equal positions taken for one: files split them where normals, colours or materials differ."""

from __future__ import annotations

import numpy as np


def first_at_place(x: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """(n,) int64: of each vertex, the first one at its position, and with its label where there are labels.

    x : (n, k) positions, of one frame or of several side by side; -0.0 and 0.0 are the same place
    labels : (n,) integers, such as the result for another frame: vertices are one that are together in both
    """
    keys = [*(x + 0.0).T] + ([] if labels is None else [labels])
    order = np.lexsort(keys)  # stable: vertices of one place stay in the order of their ids
    new = np.ones(len(x), bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    first = np.empty(len(x), np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def weld(faces: np.ndarray, x: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """(m, 3) faces, in their order, with each corner named by the first corner of any face at the same position.

    Faces that collapse stay, so that face ids keep their meaning.
    """
    used = np.unique(faces)
    name = np.arange(used[-1] + 1 if len(used) else 0, dtype=faces.dtype)
    name[used] = used[first_at_place(x[used], None if labels is None else labels[used])]
    return name[faces]
