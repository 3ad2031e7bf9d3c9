"""Blocks of solid cells that the tests of the simulation share."""

from __future__ import annotations

import numpy as np

from pliant.simulate import Obstacle, Settings, SolidMaterial

# Newton's method to its end.
EXACT = Settings(newton=50, tolerance=1e-7, linear_tolerance=1e-8)
FLOOR = Obstacle([(0, 1, 2), (0, 2, 3)], np.array([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float))
_SIX = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
_WEDGES = ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))


def material(young: float, poisson: float = 0.0, density: float = 1000.0, **more) -> SolidMaterial:
    return SolidMaterial(density, young, poisson, **{"law": "corotational", **more})


def block(counts: tuple[int, int, int], sizes: tuple[float, float, float], kind: str = "hexahedron"):
    """So many hexahedra along each axis, or what they are divided into; cells, and positions from the origin on."""
    a, b, c = counts
    grid = np.stack(np.meshgrid(*[np.arange(k + 1.0) for k in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(grid)).reshape(a + 1, b + 1, c + 1)
    ends = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    corners = np.stack([number[i : a + i, j : b + j, k : c + k].ravel() for i, j, k in ends], axis=1)
    x = grid * (np.array(sizes) / counts)
    if kind == "hexahedron":
        return {kind: corners}, x
    parts = {"tetra": _SIX, "wedge": _WEDGES}[kind]
    return {kind: np.concatenate([corners[:, list(part)] for part in parts])}, x


def mixed():
    """A cube of every type: a hexahedron, two wedges and six pyramids, and tetrahedra on top, side by side."""
    cells, x = block((3, 1, 1), (0.3, 0.1, 0.1))
    one, two, three = cells["hexahedron"]
    x = np.concatenate((x, x[two].mean(axis=0)[None]))
    sides = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
    pyramids = [[*two[list(side[::-1])], len(x) - 1] for side in sides]
    return {"hexahedron": [one], "pyramid": pyramids, "wedge": [three[list(w)] for w in _WEDGES]}, x
