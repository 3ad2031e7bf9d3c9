"""What every change of the topology keeps: mass, momentum, and where each cell and each vertex came from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import CORNER_COUNT, MOST_CORNERS, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.solids.quadrature import Points
from pliant.simulate.solids.stresses import Plastic


class Body(NamedTuple):
    """Cells that move.

    x, v : (n, 3) float64, positions in m and velocities in m/s; n may be more than the mesh names
    corner_mass : (c, 8) float64, kg that each cell gives to its corners, 0 beyond those that it has
    ballast : (n,) float64, kg of vertices beyond that: what eroded cells have left
    """

    mesh: VolumeMesh
    x: np.ndarray
    v: np.ndarray
    corner_mass: np.ndarray
    ballast: np.ndarray

    def mass(self) -> np.ndarray:
        """(n,) kg of each vertex; 0 where it has no cell any more, and no ballast."""
        return mass_of_cells(self) + self.ballast


class Changed(NamedTuple):
    """A body after a change, and where everything in it came from.

    ends, part : (n', 2) int64 and (n',) float64: vertex i is at ends[i, 0] + part[i] (ends[i, 1] - ends[i, 0]) of the
        vertices before; both are the same but where an edge was divided
    became : (k, 2) int64, pairs of a vertex before and one that now is where it was, or on an edge of it, but for
        vertices that keep their id
    renamed : (m, 2) int64, vertices before that are another one now, and which one: they have been merged
    cells : (c',) int32, the cell before that each is, or is a part of
    divided, weights : (d,) int64 and (d, 4, 4) float64: cells that are a part of a tetrahedron before, and their
        corners as weights of its corners
    """

    body: Body
    ends: np.ndarray
    part: np.ndarray
    became: np.ndarray
    renamed: np.ndarray
    cells: np.ndarray
    divided: np.ndarray
    weights: np.ndarray

    def copies(self) -> np.ndarray:
        """Ids of the vertices that were split, and of their copies."""
        return np.unique(self.became[self.part[self.became[:, 1]] == 0.0])

    def of_vertices(self, values: np.ndarray) -> np.ndarray:
        """What vertices have now, from (n, ...) before; on a divided edge what is between its ends."""
        first, last = values[self.ends[:, 0]], values[self.ends[:, 1]]
        if values.dtype.kind != "f":
            return first
        part = self.part.reshape(-1, *(1,) * (values.ndim - 1))
        return np.where(part == 0.0, first, first + part * (last - first))

    def of_cells(self, values: np.ndarray) -> np.ndarray:
        """What cells have now, from (c, ...) before."""
        return values[self.cells]

    def points(self, before: Points) -> Points:
        """The points of integration of solid cells, which keep their shape at rest, whatever their vertices are."""
        count, source = self._sources(before)
        start = np.concatenate(([0], np.cumsum(count)))
        gradient, volume = before.gradient[source], before.volume[source]
        at = start[self.divided]
        # The same deformation gradient of corners that are averages of those before: B' G' = G.
        gradient[at, :4] = np.linalg.solve(np.swapaxes(self.weights, 1, 2), gradient[at, :4])
        volume[at] *= np.abs(np.linalg.det(self.weights))
        cell = np.repeat(np.arange(len(count), dtype=np.int32), count)
        return Points(start, cell, before.shape[source], gradient, volume)

    def plastic(self, points: Points, before: Plastic) -> Plastic:
        """The plastic past of the points; points : those before."""
        _, source = self._sources(points)
        return Plastic(before.inverse[source], before.strain[source])

    def _sources(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """How many points each cell has now, and the point before of each of them; cells beyond those of the points,
        which are shells, have none."""
        cells = self.cells[self.cells < len(points.start) - 1]
        count = np.diff(points.start)[cells]
        end = np.cumsum(count)
        return count, np.arange(count.sum()) + np.repeat(points.start[cells] - end + count, count)


def corner_masses(mesh: VolumeMesh, points: Points, density: np.ndarray) -> np.ndarray:
    """(c, 8) kg that solid cells give to their corners, as ``lumped_mass``; density : (c,) kg/m3"""
    out = np.zeros((len(mesh.types), MOST_CORNERS))
    np.add.at(out, points.cell, points.shape * (density[points.cell] * points.volume)[:, None])
    return out


def mass_of_cells(body: Body) -> np.ndarray:
    """(n,) kg of each vertex from its cells."""
    return np.bincount(body.mesh._corners.ravel(), body.corner_mass.ravel(), minlength=len(body.x))


class Added(NamedTuple):
    """Cells of a changed mesh: types (k,), corners (k, 8), the last one repeated, and the cells before (k,) they are
    of."""

    types: np.ndarray
    corners: np.ndarray
    parent: np.ndarray


def rebuilt(
    mesh: VolumeMesh, remove: np.ndarray, added: Added, source: np.ndarray
) -> tuple[VolumeMesh, np.ndarray, np.ndarray]:
    """The changed mesh, for each of its cells the one before, and for each row of added its id.

    Copies of a vertex have its rank: quadrilaterals keep their diagonals, and cells exactly the space that they had.

    remove : ids
    source : (n',) the vertex before that each one is a copy of, or at an end of its edge
    """
    order = np.argsort(added.types, kind="stable")
    blocks = {
        name: added.corners[added.types == kind, : CORNER_COUNT[kind]]
        for kind, name in enumerate(TYPES)
        if (added.types == kind).any()
    }
    ranks = None
    if mesh.ranks is not None or (mesh._types != 0).any():  # tetrahedra have no diagonals
        known = np.arange(len(source)) if mesh.ranks is None else mesh.ranks
        known = np.concatenate((known, np.arange(len(known), len(source))))
        ranks = known[source]
    new = mesh.changed(add=blocks, remove=remove, ranks=ranks)
    assert new.change is not None
    parent = np.array(new.change.old_of_new)
    fresh = np.flatnonzero(parent < 0)
    parent[fresh] = added.parent[order]
    ids = np.empty(len(order), np.int64)
    ids[order] = fresh
    return new, parent, ids


def without_division() -> tuple[np.ndarray, np.ndarray]:
    return np.empty(0, np.int64), np.empty((0, 4, 4))
