"""Sheets of cloth that the tests of the simulation share."""

from __future__ import annotations

import numpy as np

from pliant.scenes.shapes import grid, icosphere, weave
from pliant.simulate import Material, Settings

# Nothing but what a test is about: no air, no damping, and Newton's method to its end.
EXACT = Settings(newton=50, tolerance=1e-7, linear_tolerance=1e-8, air_density=0.0, step=0.01)
PLAIN = Material(0.2, 500.0, 500.0, 200.0, poisson=0.0, bend_warp=1e-4, bend_weft=1e-4, damping=0.0)


def sheet(nu: int, nv: int, width: float, irregular: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """A flat sheet at z = 0, of nu by nv cells, so wide along x, cells square."""
    faces, uv = weave(nu, nv) if irregular else grid(nu, nv)
    return faces, np.column_stack((uv * (width / nu), np.zeros(len(uv))))


def ball(frequency: int, radius: float, centre: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    faces, points = icosphere(frequency)
    return faces, radius * points + np.asarray(centre)
