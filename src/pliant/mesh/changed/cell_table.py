"""The cell table of a changed volume mesh: what cells own is listed anew, their reach where an owner is another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import kernel
from pliant._threads import Job
from pliant.mesh.cell_features import Cells, Owners, find_reach, join_cells, owners, owners_of_faces
from pliant.mesh.changed.features import KINDS, Change, Kind
from pliant.mesh.changed.lists import pick_rows

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


class Unfinished(NamedTuple):
    """A cell table, in which the reach of some cells is not that of this mesh."""

    cells: Cells
    owners: tuple[Owners, Owners, Owners]  # vertices, edges and faces
    stale: np.ndarray  # int64, those cells


def owner_jobs(new: VolumeMesh) -> dict[str, Job]:
    count = len(new.types)
    return {
        "owners edges": Job(lambda rows: owners(rows, count), "edge_cells"),
        "owners vertices": Job(lambda _: owners(new.vertex_cells, count), "vertices"),
        "owners faces": Job(lambda rows: owners_of_faces(rows, count), "face_cells"),
    }


def cell_table_jobs(old: VolumeMesh, new: VolumeMesh, change: Change, parts: int) -> dict[str, Job]:
    """The reach is found in so many parts."""

    def join(*found) -> Unfinished:
        return _join(old, new, change, found[:3], found[3:6], found[6])

    jobs = {
        "reach": Job(lambda: pick_rows(old.cell_table.reach, change.pieces, len(new.types))),
        "table": Job(join, *KINDS, *(f"owners {kind}" for kind in KINDS), "reach", "cell_edges"),
    }
    renewals = {f"reach {k}": Job(lambda table, k=k: _renew_reach(table, k, parts), "table") for k in range(parts)}
    finish = Job(lambda table, *_: vars(new).update(cell_table=table.cells), "table", *renewals)
    return jobs | renewals | {"cell_table": finish}


def _join(
    old: VolumeMesh, new: VolumeMesh, change: Change, kinds: tuple[Kind, ...], owners: tuple[Owners, Owners, Owners],
    reach: np.ndarray,
) -> Unfinished:  # fmt: skip
    """The new mesh has all else already; reach : of the cells that stay."""
    stale = change.old_of_new < 0
    before = old.vertex_cells, old.edge_cells, old.face_cells
    after = new.vertex_cells, new.edge_cells, new.face_cells
    for kind, lists, new_lists in zip(kinds, before, after):
        _mark_stale(kind, lists, new_lists, change.old_of_new, stale)
    return Unfinished(join_cells(new, owners, reach), owners, np.flatnonzero(stale))


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


def _renew_reach(table: Unfinished, part: int, parts: int) -> None:
    count = len(table.stale)
    find_reach(table.cells, table.owners, table.stale[count * part // parts : count * (part + 1) // parts])
