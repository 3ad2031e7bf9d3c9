"""A window: the part of a mesh around one tangle, in which it is solved as if nothing else were there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.elementary.crossings import Crossings, crossings_of
from pliant.mesh.edges import unite
from pliant.mesh.rings import Rings, grow, rings_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detector import Detector
from pliant.untangling.nearness import faces_near
from pliant.untangling.sides import Sides

MARGIN_EDGES, MARGIN_PART = 8.0, 0.25  # around a tangle: mean lengths of edges, and part of its own diagonal

FREE_RINGS = 3  # around what has moved, that may move on the way back


class Tangle(NamedTuple):
    """What intersects at an instant.

    pairs : (k, 2) faces, those with all vertices held left out
    crossings : of their edges and faces
    contour : (c,) int64, label of the line of intersection of each crossing, ascending labels not needed
    """

    pairs: np.ndarray
    crossings: Crossings
    contour: np.ndarray

    def __len__(self) -> int:
        return len(self.pairs)


class Window:
    """Some faces of a mesh with their vertices.

    ids : (n,) of its vertices in the whole mesh
    x : (n, 3) as given
    held : (n,) bool, fixed, or on the border of the window
    lengths : (e,) of the edges, as given
    size : (n,) lengths of edges at each vertex: the mean, but at most twice the smallest
    """

    def __init__(self, faces: np.ndarray, ids: np.ndarray, x: np.ndarray, held: np.ndarray, threads: int) -> None:
        """faces : (m, 3) by the numbers of the window"""
        self.mesh: TriMesh = TriMesh(faces)
        self.ids, self.x, self.held = ids, x, held
        self.edges: np.ndarray = self.mesh._edges
        self.rings: Rings = rings_of(self.edges, len(x))
        self.lengths: np.ndarray = np.linalg.norm(x[self.edges[:, 1]] - x[self.edges[:, 0]], axis=1)
        self.size: np.ndarray = sizes_of(self.edges, x)
        self.threads = threads
        self.detector: Detector = Detector(self.mesh, threads=threads)
        self.given_pairs: np.ndarray | None = None  # of x, where they are known
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # positions, and their pairs
        self._told: tuple[Callable[[], Sides], np.ndarray] | None = None

    @cached_property
    def edge_faces(self) -> np.ndarray:
        """(e, 2) int32 the first two faces at each edge, -1 where there are fewer."""
        return _faces_at_edges(self.mesh._face_edges, len(self.edges))

    @cached_property
    def sides(self) -> Sides:
        """Of its vertices and faces."""
        assert self._told is not None
        sides, faces = self._told[0](), self._told[1]
        by_face = (column[faces] for column in (sides.solid, sides.outward, sides.cover))
        return Sides(sides.objects[self.ids], sides.layer[self.ids], *by_face)

    def tangle(self, x: np.ndarray) -> Tangle:
        """What intersects at x, and can be moved."""
        pairs = self.pairs(x)
        found = crossings_of(x, self.mesh._faces, self.edges, self.mesh._face_edges, pairs)
        contour = np.arange(len(found.edges))
        unite(found.pairs, contour)
        return Tangle(pairs, found, contour)

    def count(self, x: np.ndarray) -> int:
        """How many pairs that is."""
        return len(self.pairs(x))

    def restricted(self, sides: Callable[[], Sides], faces: np.ndarray) -> Window:
        """The same, with what is known about sides of the whole mesh, which is found when it is asked for; faces : ids
        of those of the window"""
        self._told = sides, faces
        return self

    def pairs(self, x: np.ndarray) -> np.ndarray:
        """(k, 2) faces that intersect at x, and can be moved."""
        if self.given_pairs is not None and np.array_equal(x, self.x):
            return self.given_pairs
        if self._last is None or not np.array_equal(x, self._last[0]):
            self._last = x.copy(), self.movable(self.detector.intersections(x).faces)
        return self._last[1]

    def movable(self, pairs: np.ndarray) -> np.ndarray:
        """Of pairs of faces, (k, 2), those with a vertex that is not held."""
        return pairs[~self.held[self.mesh._faces[pairs]].all(axis=(1, 2))]


def part_around(window: Window, x: np.ndarray, mask: np.ndarray, near: float) -> tuple[Window, np.ndarray, np.ndarray]:
    """The part of a window around a mask (n,) of what may have to move, at x; its vertices and its faces by the numbers
    of the window; what is further than some rings from the mask is held. near : median sizes, within which faces are
    part of it"""
    free = grow(window.rings, mask, FREE_RINGS) & ~window.held
    faces = window.mesh._faces
    if near == np.inf:
        wanted = np.ones(len(faces), bool)
    else:
        cell = near * float(np.median(window.size[free])) if free.any() else 0.0
        wanted = faces_near(free, cell, faces, (x, window.x))
    ids, local = np.unique(faces[wanted], return_inverse=True)
    local = local.reshape(-1, 3).astype(np.int32)
    part = Window(local, window.ids[ids], window.x[ids], ~free[ids], window.threads)
    return part, ids, np.flatnonzero(wanted)


def sizes_of(edges: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n,) the unit of lengths at each vertex; of vertices without edges the smallest number that is not zero."""
    length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    ends = edges.T.ravel()
    total, count = np.bincount(ends, np.tile(length, 2), len(x)), np.bincount(ends, minlength=len(x))
    least = np.full(len(x), np.inf)
    for end in range(2):
        np.minimum.at(least, edges[:, end], length)
    mean = total / np.maximum(count, 1)
    typical = float(length.mean()) if len(length) else 1.0
    # Edges without length are no measure: a hundredth of the mean of all is the least.
    return np.maximum(np.minimum(mean, 2.0 * least), max(0.01 * typical, 1e-300))


def _faces_at_edges(face_edges: np.ndarray, edge_count: int) -> np.ndarray:
    """(e, 2) int32 the first two faces at each edge, -1 where there are fewer."""
    sides = face_edges.reshape(-1)
    order = np.argsort(sides, kind="stable")
    order = order[sides[order] >= 0]
    first = np.searchsorted(sides[order], np.arange(edge_count + 1))
    out = np.full((edge_count, 2), -1, np.int32)
    for k in range(2):
        has = first[:-1] + k < first[1:]
        out[has, k] = order[first[:-1][has] + k] // 3
    return out


def boxes_around(
    mesh: TriMesh, x: np.ndarray, pairs: np.ndarray, margin: tuple[float, float] = (MARGIN_EDGES, MARGIN_PART)
) -> np.ndarray:
    """(k, 2, 3) boxes around clusters of intersecting faces, none of which overlap."""
    tangled = np.unique(pairs)
    place = {int(f): i for i, f in enumerate(tangled)}
    links = np.array([(place[a], place[b]) for a, b in pairs.tolist()])
    # Faces of a cluster meet, or share a vertex.
    corners = mesh._faces[tangled]
    _, vertex = np.unique(corners, return_inverse=True)
    shared = np.stack((np.repeat(np.arange(len(tangled)), 3), len(tangled) + vertex.reshape(-1)), axis=1)
    label = np.arange(len(tangled) + vertex.max() + 1)
    unite(np.concatenate((links, shared)), label)
    label = np.unique(label[: len(tangled)], return_inverse=True)[1]
    low, high = np.full((label.max() + 1, 3), np.inf), np.full((label.max() + 1, 3), -np.inf)
    np.minimum.at(low, label, x[corners].min(axis=1))
    np.maximum.at(high, label, x[corners].max(axis=1))
    edges = mesh._edges
    length = float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).mean())
    wide = margin[0] * length + margin[1] * np.linalg.norm(high - low, axis=1)
    return _merged(np.stack((low - wide[:, None], high + wide[:, None]), axis=1))


def _merged(boxes: np.ndarray) -> np.ndarray:
    """Boxes that overlap become one, until none do."""
    found = list(boxes)
    at = 0
    while at < len(found):
        box = found[at]
        for other in range(at):
            if (box[0] <= found[other][1]).all() and (found[other][0] <= box[1]).all():
                found[other] = np.stack((np.minimum(box[0], found[other][0]), np.maximum(box[1], found[other][1])))
                found.pop(at)
                at = other  # it is larger now, and may overlap others
                break
        else:
            at += 1
            continue
        # Compared again with all before it.
        found[at], found[0] = found[0], found[at]
        at = 0
    return np.array(found).reshape(-1, 2, 3)


def windows_of(
    mesh: TriMesh, x: np.ndarray, fixed: np.ndarray, sides: Callable[[], Sides], pairs: np.ndarray, threads: int
) -> list[Window]:
    """One for each cluster of intersecting faces; pairs : (k, 2), all that intersect at x, and are not fixed"""
    corners = mesh._faces
    u, v, w = (x[corners[:, k]] for k in range(3))
    low, high = np.minimum(u, np.minimum(v, w)).T, np.maximum(u, np.maximum(v, w)).T
    found = []
    for box in boxes_around(mesh, x, pairs):
        meets = [(low[k] <= box[1, k]) & (box[0, k] <= high[k]) for k in range(3)]
        faces = np.flatnonzero(meets[0] & meets[1] & meets[2])
        ids, local = np.unique(corners[faces], return_inverse=True)
        inside = ((x[ids] > box[0]) & (x[ids] < box[1])).all(axis=1)
        window = Window(local.reshape(-1, 3).astype(np.int32), ids, x[ids], fixed[ids] | ~inside, threads)
        place = np.full(len(corners), -1)
        place[faces] = np.arange(len(faces))
        window.given_pairs = window.movable(place[pairs[(place[pairs] >= 0).all(axis=1)]])
        found.append(window.restricted(sides, faces))
    return found


def whole_window(
    mesh: TriMesh, x: np.ndarray, fixed: np.ndarray, sides: Callable[[], Sides] | None, threads: int
) -> Window:
    """The whole mesh, and nothing held but what is fixed."""
    window = Window(mesh._faces, np.arange(len(x)), x, fixed, threads)
    return window if sides is None else window.restricted(sides, np.arange(len(mesh._faces)))
