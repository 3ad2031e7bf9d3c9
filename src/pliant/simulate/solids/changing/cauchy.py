"""Stresses of solid cells as they are measured: force on an area as it is now."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import kernel
from pliant.runtime.threads import ThreadPool
from pliant.simulate.solids.laws import energy_of
from pliant.simulate.solids.matrices import singular
from pliant.simulate.solids.points import deformation
from pliant.simulate.solids.stresses import Plastic, Solids


def point_stresses(solids: Solids, plastic: Plastic, x: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """(p, 3, 3) Cauchy stress, N/m2, of each point of integration at x, (n, 3)."""
    out = np.empty((len(solids.points.cell), 3, 3))
    pool.run_range(lambda a, b: _write_stresses(x, solids, plastic, a, b, out), len(out))
    return out


def cell_stresses(solids: Solids, plastic: Plastic, x: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """(c, 3, 3) Cauchy stress, N/m2, of each cell: the mean of its points by their volume at rest."""
    points = solids.points
    stress = point_stresses(solids, plastic, x, pool) * points.volume[:, None, None]
    total = np.add.reduceat(points.volume, points.start[:-1])
    return np.add.reduceat(stress, points.start[:-1]) / total[:, None, None]


@kernel
def _write_stresses(x, solids, plastic, first, last, out):
    for p in range(first, last):
        cell = solids.points.cell[p]
        s, u, _ = singular(deformation(x, solids, plastic.inverse, p))
        _, g, _, _ = energy_of(solids.law[cell], s, solids.constants[cell], plastic.strain[p])
        # Plastic flow keeps the volume: the elastic stretches have all of its change.
        size = s[0] * s[1] * s[2]
        for i in range(3):
            for j in range(3):
                out[p, i, j] = (
                    g[0] * s[0] * u[0][i] * u[0][j] + g[1] * s[1] * u[1][i] * u[1][j] + g[2] * s[2] * u[2][i] * u[2][j]
                ) / size
