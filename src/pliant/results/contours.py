"""The lines along which triangles intersect: corners, polylines, and what they enclose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.elementary.crossings import Crossings, crossings_of
from pliant.mesh.rings import Rings, enclosed_by, rings_of
from pliant.mesh.tested import surface_of
from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import as_positions, freeze, require_in_range
from pliant.runtime.jit import kernel


class Region(NamedTuple):
    """A part of a surface that a closed contour encloses: of its two sides the one with fewer vertices.

    contour : number of the contour
    vertices : (k,) int32, ascending
    faces : (l,) int32, ascending: those with all of their vertices in the region
    """

    contour: int
    vertices: np.ndarray
    faces: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Contours:
    """Lines of intersection, from corner to corner; a corner is where an edge passes through a face.

    edges, faces : (k,) int32, of each corner, rows of ``mesh.edges`` and ``mesh.faces``
    parameter : (k,) float64, where along the edge, 0 at its smaller vertex, 1 at the other
    weights : (k, 3) float64, of the corners of the face, of sum 1
    points : (k, 3) float64, positions
    start : (c + 1,) int64, corners of contour i are start[i] to start[i + 1] - 1, in the order of the line
    closed : (c,) bool, the last corner of a line leads back to its first
    length : (c,) float64; an open line ends with its last corner, though the triangles may meet up to a vertex that
        they share
    regions : of Region, what closed contours enclose; a contour of two surfaces may enclose a part of each, and one
        around a handle encloses nothing

    Where more than two lines meet in a corner, each has it. Computed in doubles; pairs that are coplanar, or only
    touch, have no corners.
    """

    edges: np.ndarray
    faces: np.ndarray
    parameter: np.ndarray
    weights: np.ndarray
    points: np.ndarray
    start: np.ndarray
    closed: np.ndarray
    length: np.ndarray
    regions: tuple[Region, ...]

    __post_init__ = freeze

    def __len__(self) -> int:
        """Number of lines."""
        return len(self.closed)

    def line(self, contour: int) -> np.ndarray:
        """The points of a line in their order; of a closed one, the first again at the end.

        Parameters
        ----------
        contour : int
            From 0 to ``len(contours) - 1``.

        Returns
        -------
        (k, 3) float64
        """
        contour = range(len(self))[contour]
        points = self.points[self.start[contour] : self.start[contour + 1]]
        return np.concatenate((points, points[:1])) if self.closed[contour] else points.copy()

    def __repr__(self) -> str:
        if not len(self):
            return "Contours(none)"
        closed = int(np.count_nonzero(self.closed))
        return (
            f"Contours({closed} closed, {len(self) - closed} open, length {self.length.sum():.6g}, "
            f"{len(self.regions)} regions)"
        )


def contours_of(mesh: Any, x: Any, pairs: np.ndarray) -> Contours:
    """Of pairs (k, 2) of faces that intersect at x; ``Intersections.contours`` is the way here."""
    surface, x = surface_of(mesh), as_positions(x, "x")
    require_in_range(surface.faces, "faces", len(x))
    require_in_range(pairs, "pairs", len(surface.faces))
    edges = surface._edges
    found = crossings_of(x, surface._faces, edges, surface._face_edges, pairs)
    order, start, closed = _traced(found)
    ends = x[edges[found.edges]]
    points = ((1.0 - found.parameter)[:, None] * ends[:, 0] + found.parameter[:, None] * ends[:, 1])[order]
    columns = found.edges[order], found.faces[order], found.parameter[order], found.weights[order]
    return Contours(
        *columns, points, start, closed, _lengths(points, start, closed),
        _regions(surface, len(x), columns[0], start, closed),
    )  # fmt: skip


def _traced(found: Crossings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the crossings in the order of the lines, where each line starts, which ones are closed."""
    count = len(found.edges)
    links = np.unique(np.sort(found.pairs, axis=1), axis=0)
    order = np.empty(2 * len(links) + count, np.int32)
    start, closed = np.zeros(len(links) + count + 1, np.int64), np.zeros(len(links) + count, bool)
    lines = trace(rings_of(links, count), len(links), order, start, closed)
    return order[: start[lines]].copy(), start[: lines + 1].copy(), closed[:lines].copy()


@kernel
def trace(rings: Rings, link_count, order, start, closed):
    """Follow links, each once: from corners that are ends or branches first, then those that are left, in circles;
    corners without a link are lines of one point. Returns how many lines there are."""
    used = np.zeros(link_count, np.bool_)
    lines, size = 0, 0
    for only_ends in (True, False):
        for first in range(len(rings.start) - 1):
            degree = rings.start[first + 1] - rings.start[first]
            if degree == 0 and only_ends:
                order[size] = first
                size += 1
                lines += 1
                start[lines] = size
            if only_ends and degree == 2:
                continue
            for s in range(rings.start[first], rings.start[first + 1]):
                if used[rings.edges[s]]:
                    continue
                order[size] = first
                size += 1
                used[rings.edges[s]] = True
                v, goes_on = rings.neighbours[s], True
                while goes_on and v != first:
                    order[size] = v
                    size += 1
                    goes_on = False
                    if rings.start[v + 1] - rings.start[v] == 2:
                        for t in range(rings.start[v], rings.start[v + 1]):
                            if not used[rings.edges[t]]:
                                used[rings.edges[t]] = True
                                v, goes_on = rings.neighbours[t], True
                                break
                closed[lines] = v == first
                lines += 1
                start[lines] = size
    return lines


def _lengths(points: np.ndarray, start: np.ndarray, closed: np.ndarray) -> np.ndarray:
    out = np.zeros(len(closed))
    for i in range(len(closed)):
        line = points[start[i] : start[i + 1]]
        out[i] = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        if closed[i]:
            out[i] += np.linalg.norm(line[0] - line[-1])
    return out


def _regions(
    surface: TriMesh, vertex_count: int, crossed: np.ndarray, start: np.ndarray, closed: np.ndarray
) -> tuple[Region, ...]:
    regions = []
    rings, faces = rings_of(surface._edges, vertex_count), surface._faces
    for contour in np.flatnonzero(closed).tolist():
        rows = np.ascontiguousarray(crossed[start[contour] : start[contour + 1]])
        side, region = np.zeros(len(rows), np.int8), np.full(vertex_count, np.int32(-1))
        enclosed_by(rings, surface._edges, rows, np.zeros(len(rows), np.int32), vertex_count, side, region)
        for label in np.unique(region[region >= 0]):
            inside = region == label
            own = np.flatnonzero(inside[faces].all(axis=1)).astype(np.int32)
            regions.append(Region(contour, np.flatnonzero(inside).astype(np.int32), own))
    return tuple(regions)
