"""Drag of still or moving air: on each triangle along its normal, and a little along its surface."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import kernel
from pliant.simulate.membrane import Membrane

# Of a flat plate across the flow, and along it.
ACROSS, ALONG = 1.2, 0.02


class Air:
    """Drag as a matrix for each vertex, of the velocities that a step starts with, so that it is implicit in those that
    it ends with: force = matrix (wind - velocity).

    matrix : (n, 6) float64, 00, 01, 02, 11, 12, 22; wind : (n, 3) float64
    """

    def __init__(self, membrane: Membrane | None, vertex_count: int, density: float) -> None:
        """membrane : of what it drags, if of anything; density : of the air"""
        self._membrane, self._density = membrane, density
        self._faces = np.zeros((0 if membrane is None else len(membrane.faces), 6))
        self.matrix, self.wind = np.zeros((vertex_count, 6)), np.zeros((vertex_count, 3))

    def blow(self, x: np.ndarray, velocity: np.ndarray, wind: np.ndarray) -> None:
        """x, velocity : (n, 3) at the start of a step; wind : (3,) or (n, 3), m/s"""
        self.wind[:] = wind
        if self._membrane is not None and self._density > 0.0:
            _drag(self._membrane, (x, velocity, self.wind), 0.5 * self._density, self._faces, self.matrix)


@kernel
def _drag(membrane, state, density, faces, out):
    x, velocity, wind = state
    corners = membrane.faces
    for f in range(len(corners)):
        i, j, k = corners[f, 0], corners[f, 1], corners[f, 2]
        a0, a1, a2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        b0, b1, b2 = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        n0, n1, n2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
        twice = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if twice == 0.0:
            faces[f] = 0.0
            continue
        n0, n1, n2 = n0 / twice, n1 / twice, n2 / twice
        u0 = (wind[i, 0] + wind[j, 0] + wind[k, 0] - velocity[i, 0] - velocity[j, 0] - velocity[k, 0]) / 3.0
        u1 = (wind[i, 1] + wind[j, 1] + wind[k, 1] - velocity[i, 1] - velocity[j, 1] - velocity[k, 1]) / 3.0
        u2 = (wind[i, 2] + wind[j, 2] + wind[k, 2] - velocity[i, 2] - velocity[j, 2] - velocity[k, 2]) / 3.0
        across = abs(u0 * n0 + u1 * n1 + u2 * n2)
        share = density * 0.5 * twice / 3.0
        aside = share * ALONG * np.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
        more = max(share * ACROSS * across - aside, 0.0)
        faces[f, 0], faces[f, 1], faces[f, 2] = aside + more * n0 * n0, more * n0 * n1, more * n0 * n2
        faces[f, 3], faces[f, 4], faces[f, 5] = aside + more * n1 * n1, more * n1 * n2, aside + more * n2 * n2
    start, element = membrane.incidence.start, membrane.incidence.element
    for v in range(len(out)):
        for c in range(6):
            total = 0.0
            for at in range(start[v], start[v + 1]):
                total += faces[element[at], c]
            out[v, c] = total
