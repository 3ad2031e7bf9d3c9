"""Where the copies of a vertex may go, so that the two sides of a split are apart: a little into their own cells."""

from __future__ import annotations

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.simulate.solids.changing.body import Body
from pliant.simulate.solids.changing.fans import gather

OPENING = 1e-3  # of the distance from a copy to the nearest centre of its cells
_HALVINGS = 8


def opened(body: Body, copies: np.ndarray, share: float = OPENING) -> np.ndarray:
    """(n, 3) positions with all copies of split vertices, ids, moved towards the centres of their cells, where no cell
    is inverted by it.

    The cells of a copy then take a part of the space that they had: they touch nothing that they did not touch before,
    where all of this space is seen from the place of the copy. What is not, a resolver settles: these are a proposal.
    """
    mesh, split = body.mesh, np.unique(copies)
    split = split[split < body.mesh.vertex_limit]
    vertex, cell = gather(mesh._vertex_cells, split)
    if not len(vertex):
        return body.x.copy()
    is_corner = np.arange(mesh._corners.shape[1]) < mesh._corner_count[cell][:, None]
    centre = (body.x[mesh._corners[cell]] * is_corner[:, :, None]).sum(axis=1) / is_corner.sum(axis=1, keepdims=True)
    away = centre - body.x[vertex]
    length = np.linalg.norm(away, axis=1)
    row = np.searchsorted(split, vertex)
    way, nearest = np.zeros((len(split), 3)), np.full(len(split), np.inf)
    np.add.at(way, row, away / np.maximum(length, 1e-300)[:, None])
    np.minimum.at(nearest, row, length)
    size = np.linalg.norm(way, axis=1)
    step = np.where(np.isfinite(nearest) & (size > 0.0), share * nearest / np.maximum(size, 1e-300), 0.0)[:, None] * way
    known = inverted(mesh, body.x)
    for _ in range(_HALVINGS):
        x = body.x.copy()
        x[split] += step
        bad = np.setdiff1d(inverted(mesh, x), known)
        if not len(bad):
            return x
        step[np.isin(split, mesh._corners[bad])] *= 0.25
    return body.x.copy()
