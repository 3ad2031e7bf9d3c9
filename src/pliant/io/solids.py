"""Hexahedra with corners in common: the other solids, as LS-DYNA writes them."""

from __future__ import annotations

import numpy as np

# The faces of a hexahedron, counterclockwise from outside, each with the corners across from its own.
_FACES = (
    ((4, 5, 6, 7), (0, 1, 2, 3)),
    ((3, 2, 1, 0), (7, 6, 5, 4)),
    ((0, 1, 5, 4), (3, 2, 6, 7)),
    ((2, 3, 7, 6), (1, 0, 4, 5)),
    ((1, 2, 6, 5), (0, 3, 7, 4)),
    ((3, 0, 4, 7), (2, 1, 5, 6)),
)


def split_solids(rows: np.ndarray) -> tuple[list[tuple[str, np.ndarray]], np.ndarray]:
    """Sort solids (k, 8) by what they really are, and keep their orientation.

    Returns blocks (kind, (k, corners)), and the places (j,) of solids that are none of tetra, pyramid, wedge and
    hexahedron.
    """
    ordered = np.sort(rows, axis=1)
    distinct = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    blocks = [("hexahedron", rows[distinct == 8])]
    left = distinct != 8
    tetra = distinct == 4
    blocks.append(("tetra", _first_four(rows[tetra])))
    left &= ~tetra
    for face, across in _FACES:
        a = rows[:, face]
        apex = left & (distinct == 5) & (a == a[:, :1]).all(axis=1)
        # Corners across from a face go round as the face does: counterclockwise as the apex sees them.
        blocks.append(("pyramid", rows[apex][:, across + face[:1]]))
        left &= ~apex
        for turn in range(2):
            p, q = face[turn:] + face[:turn], across[turn:] + across[:turn]
            roof = left & (distinct == 6) & (rows[:, p[0]] == rows[:, p[1]]) & (rows[:, p[2]] == rows[:, p[3]])
            blocks.append(("wedge", rows[roof][:, (q[0], p[0], q[1], q[3], p[3], q[2])]))
            left &= ~roof
    return [(kind, block) for kind, block in blocks if len(block)], np.flatnonzero(left)


def _first_four(rows: np.ndarray) -> np.ndarray:
    """(k, 4) the four corners of each row that differ, in the order in which they come first."""
    seen = np.zeros(rows.shape, bool)
    for column in range(1, rows.shape[1]):
        seen[:, column] = (rows[:, :column] == rows[:, column : column + 1]).any(axis=1)
    return rows[~seen].reshape(-1, 4)
