"""What becomes of the cells when a mesh changes, the same for the elements of a surface and the cells of a volume.

Vertices keep their ids. The order of the cells that stay is kept, hence that of the edges that stay (lexicographic):
most of the work is copying with other numbers, in one pass for each array. One by one are treated only the features
that are *touched*: those of removed and of added cells.

What becomes of each array is a task, and starts as soon as those are done that it needs: edges need faces, but the
orphans among vertices and faces are sought while the edges are still being numbered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.mesh.cells import Rows, list_corners
from pliant.mesh.changed.cell_table import cell_table_tasks, neighbourhood_tasks
from pliant.mesh.changed.features import GAINED, LOST, UNTOUCHED, Change, Kind
from pliant.mesh.changed.lists import merge_lists
from pliant.mesh.changed.o_sets import o_set_tasks
from pliant.mesh.o_sets import TooManyOrphans
from pliant.runtime.arrays import DtypeError, MeshError, ShapeError, read_only
from pliant.runtime.jit import kernel
from pliant.runtime.threads import Task, ThreadPool

if TYPE_CHECKING:
    from pliant.mesh.cell_features import CellMesh

# Of the cells. With a fifth of 55,000 removed here and there, one thread takes 0.54 of a fresh build of all, and a
# fresh build of the rest does not take much more.
MOST_CHANGED = 0.25
# Cells that are worth several threads: with 4,000, two of them take 2.4 ms for an edit of one cell, and one 1.6; with
# 17,000 both 3.3. Tasks are so short there that threads mostly wait to be let into Python.
WORTH_THREADS = 20_000


class CellIndexError(MeshError):
    """A cell that does not exist."""


class MeshChange:
    """How a mesh came from another one.

    Attributes
    ----------
    old_of_new : (k,) int32
        for each element of this mesh its id in the mesh before, ascending; -1 for added ones. Elements are the cells of
        a volume mesh; of a surface the faces, then the edges that no face has, then the points that nothing else names
    """

    def __init__(self, before: CellMesh, old_of_new: np.ndarray) -> None:
        self.old_of_new: np.ndarray = read_only(old_of_new)
        self._before = before._token  # not the mesh, which may go

    def is_from(self, mesh: CellMesh) -> bool:
        """It was this mesh that was changed."""
        return mesh._token is self._before


def as_ids(remove: Any, count: int, what: str) -> np.ndarray:
    """(k,) ids of some of count things, from what users have."""
    try:
        ids = np.asarray(() if remove is None else remove)
    except ValueError as error:
        raise ShapeError(f"remove must have shape (k,): {error}") from error
    if ids.size == 0:
        return np.empty(0, np.int64)
    if ids.ndim != 1:
        raise ShapeError(f"remove must have shape (k,), but has {ids.shape}")
    if ids.dtype.kind not in "iu":
        raise DtypeError(f"remove must hold integers, but has dtype {ids.dtype}")
    bad = np.flatnonzero((ids < 0) | (ids >= count))
    if len(bad):
        raise CellIndexError(f"remove names {what} {ids[bad[0]]}, but there are {count}")
    return ids


def is_small(change: Change) -> bool:
    """It pays to bring up to date what is known."""
    return len(change.removed) + len(change.added) <= MOST_CHANGED * len(change.new_of_old)


def run_changes(old: CellMesh, new: CellMesh, change: Change, tasks: dict[str, Task], pool: ThreadPool) -> None:
    """These, and those for the cell table and the O-sets where the old mesh has them."""
    kind, orphans, pool = type(old), {}, pool if len(change.old_of_new) >= WORTH_THREADS else ThreadPool(1)
    if kind.cell_table.is_known(old):
        tasks |= cell_table_tasks(old, new, change)
        if kind._o_sets.is_known(old):
            orphans = o_set_tasks(old, new, change, pool.threads)
        # No other task waits for the neighbourhoods: they fill the time that is left.
        tasks |= orphans | neighbourhood_tasks(new, 2 * pool.threads)
    try:
        pool.run_tasks(tasks)
    except TooManyOrphans:  # said when they are asked for, as in a fresh mesh; all else once more
        pool.run_tasks({name: task for name, task in tasks.items() if name not in orphans})


def change_vertices(old: CellMesh, new: CellMesh, change: Change, corners: np.ndarray) -> Kind:
    """The new mesh gets its lists of cells at vertices; corners : of its cells."""
    ids = np.arange(new.vertex_limit, dtype=np.int32)
    ids[old.vertex_limit :] = -1
    start = old._vertex_cells.start[: new.vertex_limit + 1]
    ids[np.flatnonzero(start[1:] == start[:-1])] = -1
    start, of_added = list_corners(new._corner_count[change.added], corners[change.added])
    state = np.zeros(max(old.vertex_limit, new.vertex_limit), np.int8)
    state[old._corners[change.removed].ravel()] = LOST
    state[of_added] |= GAINED
    state = state[: new.vertex_limit]
    touched = np.flatnonzero(state != UNTOUCHED).astype(np.int32)
    pieces = np.empty((len(touched) + 1, 3), np.int64)
    pieces = pieces[: _list_pieces(touched, min(old.vertex_limit, new.vertex_limit), pieces)]
    vertices = Kind(ids, state, of_added, touched, pieces)
    removed = int(old._corner_count[change.removed].sum(dtype=np.int64))
    total = len(old._vertex_cells.items) - removed + len(of_added)
    now = _merged(old._vertex_cells, vertices, change, np.diff(start), total)
    type(new)._vertex_cells.keep(new, now)
    has_cells = np.diff(now.start) > 0
    ids[~has_cells] = -1  # no vertex of the mesh any more
    if type(old)._vertices.is_known(old):
        type(new)._vertices.keep(new, np.flatnonzero(has_cells).astype(np.int32))
    return vertices


def change_lists(lists: Rows, features: Kind, change: Change, counts: np.ndarray) -> Rows:
    """Cells at each feature; counts : (c',) features of each cell of the new mesh."""
    return _merged(lists, features, change, counts[change.added], int(counts.sum(dtype=np.int64)))


def _merged(lists: Rows, features: Kind, change: Change, counts: np.ndarray, total: int) -> Rows:
    """counts : (k,) features of each added cell."""
    added = np.sort(features.of_added.astype(np.int64) << 32 | np.repeat(change.added, counts))
    return merge_lists(lists, change.new_of_old, features, added, total)


@kernel
def _list_pieces(touched, count, pieces):
    """As in Kind, of those of count features that are not touched, and have the same ids in both meshes; returns how
    many pieces there are."""
    first = p = 0
    for t in range(len(touched) + 1):
        end = min(count, touched[t]) if t < len(touched) else count
        if first < end:
            pieces[p, 0], pieces[p, 1], pieces[p, 2] = first, first, end - first
            p += 1
        first = end + 1
    return p
