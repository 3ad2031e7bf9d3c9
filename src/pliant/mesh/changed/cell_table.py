"""The cell table of a changed mesh: what cells own is listed again, neighbourhoods where an owner is another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cell_features import Cells, Owners, find_neighbourhoods, join_cells, owners, owners_of_faces
from pliant.mesh.cells import Rows
from pliant.mesh.changed.features import KINDS, Change, Kind
from pliant.mesh.changed.lists import pick_rows
from pliant.runtime.jit import kernel
from pliant.runtime.threads import Task

if TYPE_CHECKING:
    from pliant.mesh.cell_features import CellMesh


class Unfinished(NamedTuple):
    """A cell table, in which the neighbourhoods of some cells are not those of this mesh."""

    cells: Cells
    owners: tuple[Owners, Owners, Owners]  # vertices, edges and faces
    stale: np.ndarray  # int64, those cells


def cell_table_tasks(old: CellMesh, new: CellMesh, change: Change) -> dict[str, Task]:
    """Those for the owners of features, and ``table``, the Unfinished one."""
    count = len(change.old_of_new)

    def mark(before: Rows, now: Rows, kind: Kind) -> np.ndarray:
        stale = np.zeros(count, np.bool_)
        _mark_stale(kind, before, now, change.old_of_new, stale)
        return stale

    def join(neighbourhood: np.ndarray, _: None, *found) -> Unfinished:
        vertices, edges, faces = found[3:]
        stale = (change.old_of_new < 0) | found[0] | found[1] | found[2]
        return Unfinished(join_cells(new, (vertices, edges, faces), neighbourhood), found[3:], np.flatnonzero(stale))

    return {
        "owners edges": Task(lambda rows: owners(rows, count), "edge_cells"),
        "owners vertices": Task(lambda _: owners(new._vertex_cells, count), "vertices"),
        "owners faces": Task(lambda rows: owners_of_faces(rows, count), "face_cells"),
        "stale edges": Task(lambda rows, kind: mark(old._edge_cells, rows, kind), "edge_cells", "edges"),
        "stale vertices": Task(lambda kind: mark(old._vertex_cells, new._vertex_cells, kind), "vertices"),
        "stale faces": Task(lambda rows, kind: mark(old._face_cells, rows, kind), "face_cells", "faces"),
        "neighbourhood": Task(lambda: pick_rows(old.cell_table.neighbourhood, change.pieces, count)),
        "table": Task(
            join, "neighbourhood", "cell_edges", *(f"{of} {kind}" for of in ("stale", "owners") for kind in KINDS)
        ),
    }


def neighbourhood_tasks(new: CellMesh, parts: int) -> dict[str, Task]:
    """What remains of the cell table, in so many parts."""
    tasks = {
        f"neighbourhood {k}": Task(lambda table, k=k: _renew_neighbourhoods(table, k, parts), "table")
        for k in range(parts)
    }
    return tasks | {"cell_table": Task(lambda table, *_: type(new).cell_table.keep(new, table.cells), "table", *tasks)}


@kernel
def _mark_stale(kind, lists, new_lists, old_of_new, stale):
    """stale : (c',) bool, set for cells at features whose first cell is another than before.

    A neighbourhood is the vertices of the first cells of all features of a cell, and those of a cell never change.
    """
    start, items = new_lists.start, new_lists.items
    for f in kind.touched:
        begin, end, o = start[f], start[f + 1], kind.old_of_new[f]
        if begin < end and (o < 0 or old_of_new[items[begin]] != lists.items[lists.start[o]]):
            for s in range(begin, end):
                stale[items[s]] = True


def _renew_neighbourhoods(table: Unfinished, part: int, parts: int) -> None:
    count = len(table.stale)
    find_neighbourhoods(table.cells, table.owners, table.stale[count * part // parts : count * (part + 1) // parts])
