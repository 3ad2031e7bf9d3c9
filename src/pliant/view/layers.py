"""What a viewer shows of a frame: the layers that are switched on, and the contact that is picked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.results.contacts import Contacts
from pliant.results.exports import faces_of_pairs
from pliant.results.intersections import Intersections

_NEAR = np.cos(np.radians(1.5))  # a click this close to a point means it


class Layers(NamedTuple):
    """Which pairs are shown: of one object, of two, and of which kind."""

    within: bool = True
    between: bool = True
    vertex_face: bool = True
    edge_edge: bool = True
    intersections: bool = True


class Shown(NamedTuple):
    """What of a frame is left by the layers."""

    contacts: np.ndarray  # (k,) rows of its contacts, the earliest first
    intersections: np.ndarray  # (j,) rows of its intersections
    faces: np.ndarray  # (c,) int64 ids of the faces that take part
    points: np.ndarray  # (k, 3) where these contacts happen, when they do


class Features(NamedTuple):
    """The two features of a contact: a point and a triangle, or two segments."""

    points: np.ndarray  # (p, 3)
    segments: np.ndarray  # (s, 2, 3)
    triangles: np.ndarray  # (t, 3, 3)


@dataclass(frozen=True, eq=False, repr=False)
class FrameView:
    """One frame with all that was found.

    number, time : of the frame; the number that it is known by, as in the name of its file
    x0, x : (n, 3) positions of the frame before and of this one; the same in the first frame
    contacts : of the motion from x0 to x; none in the first frame
    intersections : at x
    contacts_within, intersections_within : (k,) and (j,) bool, both sides are of one object
    seconds : that both took
    place : of the frame in the sequence, from 0
    file : that the frame is in, where each has its own
    parts : (k, 2) names of what the two sides of contacts belong to, where the parts have names
    """

    number: int
    time: float
    x0: np.ndarray
    x: np.ndarray
    contacts: Contacts
    intersections: Intersections
    contacts_within: np.ndarray
    intersections_within: np.ndarray
    seconds: float
    place: int = 0
    file: str = ""
    parts: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"FrameView({self.number}: {self.contacts!r}, {self.intersections!r})"

    @property
    def nbytes(self) -> int:
        """Of all arrays."""
        columns = [getattr(one, f.name) for one in (self.contacts, self.intersections, self) for f in fields(one)]
        return sum(column.nbytes for column in columns if isinstance(column, np.ndarray))

    def at(self, t: float) -> np.ndarray:
        """(n, 3) positions on the way, from the frame before (0) to this one (1)."""
        return self.x if t >= 1.0 else self.x0 + t * (self.x - self.x0)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """(k, 3) where contacts happen, at their times."""
        return self.contacts[rows].points(self.x0, self.x)

    def shown(self, layers: Layers, mesh: TriMesh) -> Shown:
        """What is left of this frame; mesh: that of the sequence."""
        wanted = np.array((layers.between, layers.within))
        kinds = np.array((layers.vertex_face, layers.edge_edge))
        rows = np.flatnonzero(wanted[self.contacts_within.astype(int)] & kinds[self.contacts.kind])
        rows = rows[np.argsort(self.contacts.toi[rows], kind="stable")]
        crossing = np.flatnonzero(wanted[self.intersections_within.astype(int)] & layers.intersections)
        counts = faces_of_pairs(self.contacts.kind[rows], self.contacts.elements[rows], mesh)
        counts += np.bincount(self.intersections.faces[crossing].ravel(), minlength=len(counts))
        return Shown(rows, crossing, np.flatnonzero(counts), self.places(rows))

    def features(self, row: int, x: np.ndarray) -> Features:
        """The two features of a contact at positions (n, 3)."""
        a, b, c, d = x[self.contacts.vertices[row]]
        if self.contacts.kind[row] == 0:
            return Features(a[None], np.empty((0, 2, 3)), np.array([[b, c, d]]))
        return Features(np.empty((0, 3)), np.array([[a, b], [c, d]]), np.empty((0, 3, 3)))


def nearest_to_ray(points: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> int | None:
    """Which of the points (k, 3) a ray means: the one it passes most closely, as seen from its origin; None: none."""
    away = points - origin
    length = np.linalg.norm(away, axis=1)
    cosine = away @ (direction / np.linalg.norm(direction)) / np.maximum(length, 1e-300)
    if len(points) == 0 or cosine.max() < _NEAR:
        return None
    return int(np.argmax(cosine))
