"""Erosion: cells that have had enough are taken out, as crash codes do; their mass stays at their vertices."""

from __future__ import annotations

import numpy as np

from pliant.simulate.solids.changing.body import Body, Changed
from pliant.simulate.solids.changing.fans import separated
from pliant.simulate.solids.quadrature import Points


def worn_out(points: Points, strain: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """(c,) bool: solid cells, the mean equivalent plastic strain of which is beyond a limit.

    strain : (p,), of the points
    limit : (c,), infinite for cells that last
    """
    return worn(points, strain, len(limit)) > limit


def worn(points: Points, strain: np.ndarray, count: int) -> np.ndarray:
    """(c,) mean over each of so many cells of a strain at their points, (p,)."""
    total = np.bincount(points.cell, strain * points.volume, minlength=count)
    volume = np.bincount(points.cell, points.volume, minlength=count)
    return np.divide(total, volume, out=np.zeros(count), where=volume > 0.0)


def eroded(body: Body, gone: np.ndarray) -> Changed | None:
    """The body without some cells; None where there are none of them.

    Vertices keep the mass of these cells (``ballast``), and with it their momentum; those that have no cell any more
    fly on by themselves. What hangs together by an edge or a vertex alone afterwards is separated.

    gone : (c,) bool
    """
    if not gone.any():
        return None
    mesh = body.mesh
    return separated(body, np.unique(mesh._corners[gone]).astype(np.int64), gone, None)
