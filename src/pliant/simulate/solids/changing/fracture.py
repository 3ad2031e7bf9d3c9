"""Fracture: vertices under more tension than their cells bear are split along the faces of these cells."""

from __future__ import annotations

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.solids.changing.body import Body, Changed
from pliant.simulate.solids.changing.fans import gather, separated
from pliant.simulate.solids.changing.tension import Tension, tension_at


def fractured(
    body: Body,
    stress: np.ndarray,
    failure: np.ndarray,
    *,
    held: np.ndarray | None = None,
    thickness: np.ndarray | None = None,
) -> Changed | None:
    """The body with the vertices split that fail; None where none does.

    A vertex fails where a cell of it is under more tension than its failure stress, and so are all of them together
    (``tension.py``). The plane parts them by their centres. Of vertices of one cell the one under the most tension
    goes first, the others in the steps after, in which they are under another one.

    Parameters
    ----------
    stress : (c, 3, 3)
        Cauchy stress of cells, N/m2.
    failure : (c,)
        Failure stress of each, N/m2; infinite for what does not break.
    held : (n,) bool, optional
        Vertices that do not fail: those that somebody else moves.
    thickness : (c,), optional
        Of shells, m.
    """
    mesh, share = body.mesh, stress / failure[:, None, None]
    # The largest eigenvalue is at most the norm: most cells need no more than that.
    cells = np.flatnonzero(np.linalg.norm(share, axis=(1, 2)) > 1.0)
    cells = cells[np.linalg.eigvalsh(share[cells])[:, 2] > 1.0]
    vertices = np.unique(mesh._corners[cells]).astype(np.int64)
    if held is not None:
        vertices = vertices[~held[vertices]]
    if not len(vertices):
        return None
    found = tension_at(mesh, body.x, vertices, share, thickness)
    found = Tension(*(column[found.stress > 1.0] for column in found))
    planes = _Planes(mesh, body.x, found)
    chosen = planes.first_ones()
    if not len(chosen):
        return None
    planes.keep(chosen)
    around = np.unique(mesh._corners[np.unique(gather(mesh._vertex_cells, chosen)[1])]).astype(np.int64)
    return separated(body, around, None, planes.sides)


class _Planes:
    """Planes at vertices that part the cells around them."""

    def __init__(self, mesh: VolumeMesh, x: np.ndarray, found: Tension) -> None:
        self._mesh, self._x, self._found = mesh, x, found
        self._row = np.full(mesh.vertex_limit, -1)
        self._row[found.vertices] = np.arange(len(found.vertices))

    def first_ones(self) -> np.ndarray:
        """Ids, ascending, of the vertices that have cells on both sides, and more tension than all others that do and
        have a cell with them in common; of equal ones the first."""
        mesh, found = self._mesh, self._found
        owner, cell = gather(mesh._vertex_cells, found.vertices)
        row = self._row[owner]
        above = self._above(row, cell)
        count, total = np.bincount(row[above], minlength=len(found.stress)), np.bincount(row)
        rank = np.zeros(len(found.stress), np.int64)
        order = np.lexsort((-found.vertices, found.stress))
        rank[order] = 1 + np.arange(len(order))
        rank[(count == 0) | (count == total)] = 0
        best = np.zeros(len(mesh._types), np.int64)
        np.maximum.at(best, cell, rank[row])
        is_first = rank > 0
        is_first[row[best[cell] > rank[row]]] = False
        return found.vertices[is_first]

    def keep(self, chosen: np.ndarray) -> None:
        """Only the planes of these vertices part anything."""
        row = np.full_like(self._row, -1)
        row[chosen] = self._row[chosen]
        self._row = row

    def sides(self, ends: np.ndarray, _link: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """Side of each cell at the plane of the vertex of its link that has one: no two of a cell have."""
        row = self._row[ends].max(axis=1)
        out = np.zeros(len(cell), np.int64)
        has = np.flatnonzero(row >= 0)
        out[has] = np.where(self._above(row[has], cell[has]), 1, -1)
        return out

    def _above(self, row: np.ndarray, cell: np.ndarray) -> np.ndarray:
        mesh, found = self._mesh, self._found
        is_corner = np.arange(mesh._corners.shape[1]) < mesh._corner_count[cell][:, None]
        x = self._x[mesh._corners[cell]] - self._x[found.vertices[row]][:, None]
        centre = (x * is_corner[:, :, None]).sum(axis=1)
        return np.einsum("ki,ki->k", centre, found.normal[row]) >= 0.0
