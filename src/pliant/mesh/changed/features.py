"""What is said of the cells and features of a changed mesh, and of the mesh before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import MOST_CORNERS, Rows
from pliant.runtime.jit import helper

KINDS = "vertices", "edges", "faces"
VERTICES, EDGES, FACES = range(3)  # in all tuples of kinds

# What became of the cells of a feature; all but the first are bits.
UNTOUCHED, LOST, GAINED, GONE = 0, 1, 2, 4


class Change(NamedTuple):
    """Cells of two meshes; ids ascend."""

    new_of_old: np.ndarray  # (c,) int32, -1 for removed cells
    old_of_new: np.ndarray  # (c',) int32, -1 for added cells
    removed: np.ndarray  # int32, in the old mesh
    added: np.ndarray  # int32, in the new one
    pieces: np.ndarray  # (k, 3) int64: first new one, first old one and number of those that follow each other in both


class Kind(NamedTuple):
    """Features of one kind in the new mesh."""

    old_of_new: np.ndarray  # (m,) int32, -1 for those that the old mesh does not have
    state: np.ndarray  # (m,) int8: LOST if a cell of it was removed, GAINED if one was added, both if both were
    of_added: np.ndarray  # int32, those of the added cells, one after the other
    touched: np.ndarray  # int32, those that lost or gained cells, ascending
    pieces: np.ndarray  # (k, 3) int64, of others, all that the old mesh has: first new one, first old one and number


class Known(NamedTuple):
    """Of the mesh before."""

    corners: np.ndarray
    vertex_cells: Rows
    cell_faces: Rows
    face_cells: Rows
    first_owned: np.ndarray  # (c + 1,) int64: the first face that each cell owns; those of the next ones follow
    faces: np.ndarray


@helper
def is_at(corners, i, v):
    """Cell i is at vertex v."""
    found = False
    for k in range(MOST_CORNERS):
        found |= corners[i, k] == v
    return found
