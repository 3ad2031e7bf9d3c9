"""Pairs of features of a changed mesh that may have become orphans, and are some.

Those of a new feature are found from it (``gains.py``), those of features that lost cells from these
(``losses.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cells import Rows, list_corners, transpose
from pliant.mesh.changed.features import EDGES, FACES, VERTICES, Kind
from pliant.mesh.changed.gains import search_gains
from pliant.mesh.changed.losses import Losses, lost_by, search_losses
from pliant.mesh.changed.seeking import Features, Seek, Shapes
from pliant.mesh.o_sets import find_orphans
from pliant.runtime.jit import kernel

if TYPE_CHECKING:
    from pliant.mesh.cell_features import CellMesh

SOUGHT = FACES, EDGES, VERTICES  # what each kind is sought with
_LEAST = 512  # features that are worth a search with buffers of its own


class Gone(NamedTuple):
    """Removed cells."""

    corners: np.ndarray  # (k, 8) int32
    vertices: Rows  # of each
    at_vertices: Rows  # which of them were at each vertex


class Suspects(NamedTuple):
    """Features of one kind that may have orphans that they had not."""

    lost: np.ndarray  # int32, some of their cells were removed
    avoided: np.ndarray  # (k, 8) int32, the vertices that all these had, some repeatedly
    new: np.ndarray  # int32

    def part(self, k: int, count: int) -> Suspects:
        """The k-th of so many."""
        lost, new = (_part(len(ids), k, count) for ids in (self.lost, self.new))
        return Suspects(self.lost[lost], self.avoided[lost], self.new[new])


def _part(total: int, k: int, count: int) -> slice:
    count = min(count, 1 + total // _LEAST)
    return slice(total * min(k, count) // count, total * min(k + 1, count) // count)


def list_gone(old: CellMesh, removed: np.ndarray) -> Gone:
    corners = old._corners[removed]
    vertices = list_corners(old._corner_count[removed], corners)
    return Gone(corners, vertices, transpose(vertices, old.vertex_limit))


def list_suspects(gone: Gone, of_gone: Rows, kind: Kind) -> Suspects:
    """of_gone : features of the removed cells that are still there, -1 for others."""
    new = np.empty(len(kind.of_added), np.int32)
    new = new[: _list_new(kind.of_added, kind.old_of_new, new)]
    return Suspects(*lost_by(of_gone, gone.corners, len(kind.state)), new)


@kernel
def _list_new(of_added, old_of_new, out):
    """Each once, in the order of the added cells: what is around one of them is still in the cache for the next.
    Returns how many there are."""
    is_listed, count = np.zeros(len(old_of_new), np.bool_), 0
    for f in of_added:
        if old_of_new[f] < 0 and not is_listed[f]:
            is_listed[f], out[count] = True, f
            count += 1
    return count


def find_changed(
    shapes: Shapes, gone: Gone, pair: tuple[Features, Features], suspects: Suspects, most: int
) -> np.ndarray:
    """Keys a << 32 | b of orphans, some repeatedly; a are the suspects.

    Raises TooManyOrphans where a search finds more than ``most``.
    """
    found, count = [np.empty(0, np.int64)], len(shapes.corners)
    limit = len(shapes.vertex_cells.start) - 1
    if len(suspects.lost):
        # Some that are avoided, or of removed cells, may be of no cell any more.
        seek = _seek(*pair, max(limit, int(gone.corners.max()) + 1), len(pair[1].at.start) - 1)
        losses = Losses(seek, suspects.avoided, gone.at_vertices, gone.corners)
        found.append(find_orphans(search_losses, shapes, suspects.lost, losses, most))
    if len(suspects.new):
        seek = _seek(*pair, limit, count)._replace(near=np.empty(count + 1, np.int32))
        found.append(find_orphans(search_gains, shapes, suspects.new, seek, most))
    return np.concatenate(found)


def _seek(a: Features, b: Features, limit: int, most_met: int) -> Seek:
    """limit : above all vertices that have masks."""
    met, asked = np.full(most_met, np.int32(-1)), np.empty(len(b.at.start), np.int32)
    return Seek(a, b, np.zeros(limit, np.int64), met, np.empty(0, np.int32), asked)
