"""Which faces of a frame collide, and how: what pages and pictures show in red."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.frames.scanning import ScannedFrame
from pliant.frames.sequence import Sequence
from pliant.mesh.parts import membership_of
from pliant.mesh.triangles import TriMesh

VERTEX_FACE, EDGE_EDGE, CROSSING = range(3)


class Parts(NamedTuple):
    """The named parts of a sequence, else its objects, else its connected components.

    labels : of the parts, ascending; names : as they are shown
    of_vertex : (v,) int32 part of each vertex, -1 for one that no face has; those after the last one may be left out
    """

    labels: tuple[int, ...]
    names: tuple[str, ...]
    of_vertex: np.ndarray


class Region(NamedTuple):
    """Faces of one frame that take part in what was found.

    faces : (k,) int32, ascending
    layers : (k,) uint8, bit 2 * kind + (1 where two different parts meet); kinds are VERTEX_FACE, EDGE_EDGE, CROSSING
    """

    faces: np.ndarray
    layers: np.ndarray


class Meetings(NamedTuple):
    """What was found of one kind: the two parts of each row."""

    kind: int
    parts: np.ndarray  # (k, 2) int32, the smaller first


class Regions:
    """Colliding faces of any frame of a sequence; what depends on its triangles alone is kept."""

    def __init__(self, sequence: Sequence) -> None:
        mesh = TriMesh(sequence.faces)
        self.faces = mesh.faces
        self._of = membership_of(mesh, sequence.parts, sequence.objects)
        self.parts = Parts(self._of.labels, self._of.names, self._of.vertices)
        self._at_vertex = mesh.vertex_faces
        self._at_edge = _faces_at_edges(mesh)

    def of(self, frame: ScannedFrame) -> Region:
        """Of a vertex and a face: the face and those around the vertex; of two edges: the faces at both."""
        layers = np.zeros(len(self.faces), np.uint8)
        for meetings, faces, row in self._touched(frame):
            between = meetings.parts[row, 0] != meetings.parts[row, 1]
            for apart in (False, True):
                layers[faces[between == apart]] |= np.uint8(1 << (2 * meetings.kind + apart))
        found = np.flatnonzero(layers)
        return Region(found.astype(np.int32), layers[found])

    def meetings(self, frame: ScannedFrame) -> list[Meetings]:
        """The parts of all rows, for each kind that was searched for."""
        found = []
        if frame.contacts is not None:
            for kind, table in ((VERTEX_FACE, frame.contacts.vf), (EDGE_EDGE, frame.contacts.ee)):
                found.append(Meetings(kind, np.sort(self._of.of_pairs(table.kind, table.elements), axis=1)))
        if frame.intersections is not None:
            found.append(Meetings(CROSSING, np.sort(self._of.faces[frame.intersections.faces], axis=1)))
        return found

    def _touched(self, frame: ScannedFrame) -> list[tuple[Meetings, np.ndarray, np.ndarray]]:
        """For each kind: its rows, and faces with the row that each belongs to."""
        out = []
        for meetings in self.meetings(frame):
            if meetings.kind == CROSSING:
                assert frame.intersections is not None
                faces, row = frame.intersections.faces.ravel(), np.repeat(np.arange(len(frame.intersections)), 2)
            else:
                faces, row = self._at_contacts(frame, meetings.kind)
            out.append((meetings, faces, row))
        return out

    def _at_contacts(self, frame: ScannedFrame, kind: int) -> tuple[np.ndarray, np.ndarray]:
        assert frame.contacts is not None
        elements = (frame.contacts.vf if kind == VERTEX_FACE else frame.contacts.ee).elements
        first, second = elements[:, 0], elements[:, 1]
        if kind == VERTEX_FACE:
            around, row = _gather(self._at_vertex, first)
            return np.concatenate((around, second)), np.concatenate((row, np.arange(len(second))))
        pieces = [_gather(self._at_edge, side) for side in (first, second)]
        return np.concatenate([p[0] for p in pieces]), np.concatenate([p[1] for p in pieces])


def _faces_at_edges(mesh: TriMesh) -> tuple[np.ndarray, np.ndarray]:
    """Incidence as (start, faces), as in ``TriMesh.vertex_faces``."""
    sides = mesh.face_edges.ravel()
    order = np.argsort(sides, kind="stable")[np.count_nonzero(sides < 0) :]
    start = np.zeros(len(mesh.edges) + 1, np.int64)
    np.cumsum(np.bincount(sides[order], minlength=len(mesh.edges)), out=start[1:])
    return start, (order // 3).astype(np.int32)


def _gather(incidence: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All entries of some rows, and the place in `rows` that each comes from."""
    start, items = incidence
    counts = start[rows + 1] - start[rows]
    place = np.repeat(np.arange(len(rows)), counts)
    before = np.cumsum(counts) - counts
    return items[start[rows][place] + np.arange(len(place)) - before[place]], place
