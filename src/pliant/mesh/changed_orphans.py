"""Pairs of features of a changed volume mesh that may have become orphans, and are some.

Those of a new feature are found from it (``changed_gains.py``), those of features that lost cells from these
(``changed_losses.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cell_features import Cells
from pliant.mesh.cells import CORNER_COUNT, EDGE_COUNT, FACE_COUNT, Rows, list_corners, transpose
from pliant.mesh.changed_features import EDGES, FACES, GAINED, VERTICES, Kind
from pliant.mesh.changed_gains import search_gains
from pliant.mesh.changed_lists import pick_lists, starts_of
from pliant.mesh.changed_losses import Losses, list_losses, search_losses
from pliant.mesh.changed_seeking import Seek
from pliant.mesh.o_sets import find_orphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh

_SOUGHT = FACES, EDGES, VERTICES  # what each kind is sought with
_LEAST = 512  # features that are worth a search with room of its own


class Gone(NamedTuple):
    """Removed cells."""

    corners: np.ndarray  # (k, 8) int32
    at_vertices: Rows  # which of them were at each vertex
    features: tuple[Rows, Rows, Rows]  # vertices, edges and faces of each that are still there: new ids, -1 for others


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


def list_gone(old: VolumeMesh, removed: np.ndarray, names: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Gone:
    """names : twice the new ids of old vertices, edges and faces, or one more; or -1."""
    corners, types = old.corners[removed], old.types[removed]
    start, vertices = list_corners(corners, CORNER_COUNT[types])
    edges = Rows(starts_of(types, EDGE_COUNT), names[EDGES][pick_lists(*old.cell_edges, removed)] >> 1)
    faces = Rows(starts_of(types, FACE_COUNT), names[FACES][pick_lists(*old.cell_faces, removed)] >> 1)
    at_vertices = Rows(*transpose(start, vertices, old.vertex_limit))
    return Gone(corners, at_vertices, (Rows(start, names[VERTICES][vertices] >> 1), edges, faces))


def list_suspects(gone: Gone, kinds: tuple[Kind, Kind, Kind]) -> list[Suspects]:
    """Of each kind."""
    out = []
    for kind, rows in zip(kinds, gone.features):
        touched = kind.touched
        new = touched[(kind.old_of_new[touched] < 0) & (kind.state[touched] & GAINED != 0)]
        out.append(Suspects(*list_losses(rows, gone.corners, len(kind.state)), new))
    return out


def find_changed(cells: Cells, gone: Gone, number: int, suspects: Suspects, most: int) -> np.ndarray:
    """Keys of orphans, some repeatedly; of vertices and faces the vertex first, of edges the smaller one.

    number : of the kind that is suspected. Raises TooManyOrphans where a search finds more than ``most``.
    """
    keys = np.concatenate(
        (
            _found_from_losses(cells, gone, number, suspects, most) if len(suspects.lost) else np.empty(0, np.int64),
            _found_from_gains(cells, number, suspects, most) if len(suspects.new) else np.empty(0, np.int64),
        )
    )
    if number == VERTICES:
        return keys
    a, b = keys >> 32, keys & 0xFFFFFFFF
    return b << 32 | a if number == FACES else np.minimum(a, b) << 32 | np.maximum(a, b)


def _found_from_losses(cells: Cells, gone: Gone, number: int, suspects: Suspects, most: int) -> np.ndarray:
    # Some that are avoided, or of removed cells, may be of no cell any more.
    limit = max(len(cells.vertex_cells.start) - 1, int(gone.corners.max()) + 1)
    seek = _seek(cells, number, limit)
    none = Rows(np.zeros(1, np.int64), np.empty(0, np.int32))
    # Of two that both lost cells, the vertex finds the face.
    also = (none, none) if number == FACES else (gone.at_vertices, gone.features[_SOUGHT[number]])
    losses = Losses(seek, suspects.avoided, also[0], gone.corners, also[1])
    return find_orphans(search_losses, cells, suspects.lost, losses, most)


def _found_from_gains(cells: Cells, number: int, suspects: Suspects, most: int) -> np.ndarray:
    count = len(cells.corners)
    seek = _seek(cells, number, len(cells.vertex_cells.start) - 1)
    seek = seek._replace(met=np.full(count, np.int32(-1)), near=np.empty(count + 1, np.int32))
    return find_orphans(search_gains, cells, suspects.new, seek, most)


def _seek(cells: Cells, number: int, limit: int) -> Seek:
    """limit : above all vertices that have masks."""
    other = _SOUGHT[number]
    at = cells.vertex_cells, cells.edge_cells, cells.face_cells
    vertices = np.arange(len(at[VERTICES].start) - 1, dtype=np.int32)[:, None], cells.ends, cells.triangles
    owned = cells.owned_vertices, cells.owned_edges, cells.owned_faces
    features = Rows(np.empty(0, np.int64), cells.corners.reshape(-1)), cells.edges, cells.faces
    count = len(at[other].start) - 1
    met, asked = np.full(count, np.int32(-1)), np.empty(count + 1, np.int32)
    return Seek(
        at[number], at[other], vertices[number], vertices[other], owned[other], features[other],
        np.zeros(limit, np.int64), met, np.empty(0, np.int32), asked,
    )  # fmt: skip
