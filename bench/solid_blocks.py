"""Blocks of solid cells that parts of the benchmark share."""

from __future__ import annotations

import numpy as np

from pliant.simulate import SolidMaterial

DENSITY = 1000.0
_SIX = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
_ENDS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))


def block(counts: tuple[int, int, int], sizes: tuple[float, float, float], kind: str) -> tuple[dict, np.ndarray]:
    grid = np.stack(np.meshgrid(*[np.arange(k + 1.0) for k in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(grid)).reshape([k + 1 for k in counts])
    a, b, c = counts
    corners = np.stack([number[i : a + i, j : b + j, k : c + k].ravel() for i, j, k in _ENDS], axis=1)
    x = grid * (np.array(sizes) / counts)
    if kind == "tetra":
        return {kind: np.concatenate([corners[:, list(part)] for part in _SIX])}, x
    return {kind: corners}, x


def elastic(young: float, poisson: float = 0.0, law: str = "corotational") -> SolidMaterial:
    return SolidMaterial(DENSITY, young, poisson, law)
