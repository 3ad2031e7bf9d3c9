"""The cell table of a changed volume mesh: what cells own is listed anew, their reach where an owner is another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._jit import kernel
from pliant._threads import Crew
from pliant.mesh.cell_features import Cells, cells_of
from pliant.mesh.changed_features import Kind
from pliant.mesh.changed_lists import pick_rows

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


def change_cell_table(
    old: VolumeMesh, new: VolumeMesh, kinds: tuple[Kind, Kind, Kind], old_of_new: np.ndarray, crew: Crew
) -> Cells:
    """kinds : vertices, edges and faces of the new mesh, which has all else already; old_of_new : (c',) cells."""
    stale = old_of_new < 0
    before = old.vertex_cells, old.edge_cells, old.face_cells
    after = new.vertex_cells, new.edge_cells, new.face_cells
    for kind, lists, new_lists in zip(kinds, before, after):
        _mark_stale(kind, lists, new_lists, old_of_new, stale)
    reach = pick_rows(old.cell_table.reach, old_of_new, len(old_of_new))
    return cells_of(new, reach, np.flatnonzero(stale), crew)


@kernel
def _mark_stale(kind, lists, new_lists, old_of_new, stale):
    """Marks the cells at features whose first cell is another than before.

    Reach is the vertices of the first cells of all features of a cell, and those of a cell never change.
    """
    for f in kind.touched:
        begin, end, o = new_lists.start[f], new_lists.start[f + 1], kind.old_of_new[f]
        if begin < end and (o < 0 or old_of_new[new_lists.items[begin]] != lists.items[lists.start[o]]):
            for s in range(begin, end):
                stale[new_lists.items[s]] = True
