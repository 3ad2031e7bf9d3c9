"""Points at which solid cells are integrated, with the gradients of their shape functions there.

Wedges and pyramids are hexahedra with corners that fall together: the trilinear functions of a hexahedron, added up
where they do, are the shape functions of a wedge (linear in its triangles, linear along its height) and those of a
pyramid (bilinear on its base, rational inside). Two Gauss points along each axis integrate their gradients exactly:
times the determinant of the map they are polynomials of degree two along each axis, whatever the shape of the cell.
That is what a patch test needs. The gradients of a tetrahedron are constant: one point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import CORNER_COUNT, MOST_CORNERS, SOLID_TYPES, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError

# The corner of the cell at each corner of the hexahedron.
_CORNERS = {
    "hexahedron": (0, 1, 2, 3, 4, 5, 6, 7),
    "wedge": (0, 1, 2, 2, 3, 4, 5, 5),
    "pyramid": (0, 1, 2, 3, 4, 4, 4, 4),
}
_SIGNS = np.array(
    [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)], np.float64
)
_GAUSS = _SIGNS / np.sqrt(3.0)  # all of weight 1


class InvertedCellError(MeshError):
    """A cell has no volume, or a negative one, at rest or at the start."""


class Points(NamedTuple):
    """Points of integration, those of a cell next to each other, in the order of cells.

    start : (c + 1,) int64, where those of each cell begin
    cell : (p,) int32
    shape : (p, 8) float64, the shape functions, 0 beyond the corners of the cell
    gradient : (p, 8, 3) float64, of the shape functions at rest
    volume : (p,) float64, that each stands for
    """

    start: np.ndarray
    cell: np.ndarray
    shape: np.ndarray
    gradient: np.ndarray
    volume: np.ndarray


def points_of(mesh: VolumeMesh, rest: np.ndarray) -> Points:
    """Those of all cells, which have to be solid.

    rest : (n, 3) positions of the vertices without stress

    Raises
    ------
    InvertedCellError
        Where the map of a cell is not one to one.
    """
    types, corners = mesh._types, mesh._corners
    shells = np.flatnonzero(types >= SOLID_TYPES)
    if len(shells):
        raise MeshError(f"cell {shells[0]} is a {TYPES[types[shells[0]]]}, which has no volume")
    per_cell = np.array([1 if TYPES[t] == "tetra" else 8 for t in range(SOLID_TYPES)])[types]
    start = np.concatenate(([0], np.cumsum(per_cell)))
    shape, gradient = np.zeros((start[-1], MOST_CORNERS)), np.zeros((start[-1], MOST_CORNERS, 3))
    volume = np.empty(start[-1])
    for kind in range(SOLID_TYPES):
        cells = np.flatnonzero(types == kind)
        if not len(cells):
            continue
        values, derivatives, weights = _reference(TYPES[kind])
        count = int(CORNER_COUNT[kind])
        x = rest[corners[cells, :count]]
        jacobian = np.einsum("cix,qik->cqxk", x, derivatives)
        determinant = np.linalg.det(jacobian)
        size = np.abs(x - x.mean(axis=1, keepdims=True)).max(axis=(1, 2)) ** 3
        bad = ~(determinant > 1e-12 * size[:, None]).all(axis=1)
        if bad.any():
            cell = int(cells[np.argmax(bad)])
            raise InvertedCellError(f"cell {cell}, a {TYPES[kind]}, is inverted or has no volume at rest")
        places = start[cells][:, None] + np.arange(len(weights))
        shape[places, :count] = values
        gradient[places, :count] = np.einsum("qik,cqkx->cqix", derivatives, np.linalg.inv(jacobian))
        volume[places] = weights * determinant
    cell = np.repeat(np.arange(len(types), dtype=np.int32), per_cell)
    return Points(start.astype(np.int64), cell, shape, gradient, volume)


def lumped_mass(mesh: VolumeMesh, points: Points, density: np.ndarray, vertex_count: int) -> np.ndarray:
    """(n,) mass of each vertex, from the density of the cells, (c,): its share of what is integrated."""
    mass = points.shape * (density[points.cell] * points.volume)[:, None]
    corners = mesh._corners[points.cell]
    real = np.arange(MOST_CORNERS) < mesh._corner_count[points.cell][:, None]
    return np.bincount(corners[real], mass[real], minlength=vertex_count)


def _reference(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, corners) shape functions, (q, corners, 3) their derivatives in coordinates of the reference cell, and (q,)
    weights."""
    if kind == "tetra":
        derivatives = np.array([[(-1.0, -1, -1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]])
        return np.full((1, 4), 0.25), derivatives, np.array([1.0 / 6.0])
    at, corners = _GAUSS, _CORNERS[kind]
    factors = 1.0 + at[:, None, :] * _SIGNS  # (q, 8, 3)
    values, derivatives = np.zeros((8, max(corners) + 1)), np.zeros((8, max(corners) + 1, 3))
    np.add.at(values.T, np.array(corners), 0.125 * factors.prod(axis=2).T)
    for k in range(3):
        others = factors[:, :, (k + 1) % 3] * factors[:, :, (k + 2) % 3]
        np.add.at(derivatives[:, :, k].T, np.array(corners), (0.125 * _SIGNS[:, k] * others).T)
    return values, derivatives, np.ones(8)
