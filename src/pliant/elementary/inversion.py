"""Which solid cells are inverted or flat, decided exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arithmetic.orientation import (
    LARGEST,
    ROWS,
    SIDE_ERROR,
    TINY,
    WIDTH,
    certain_sign,
    set_corners,
    volume_sign,
)
from pliant.arithmetic.vec3 import cross, dot, max_norm, row, sub
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import as_positions
from pliant.runtime.jit import helper, kernel
from pliant.runtime.log import warn

# At each corner the three edges that leave it, in an order that makes their volume positive in an upright cell. Four
# edges meet at the apex of a pyramid, which has no such volume: those of its base lead to it.
_FRAMES = (
    ((0, 1, 2, 3),),
    (
        *((0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7)),
        *((4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3)),
    ),
    ((0, 1, 2, 3), (1, 2, 0, 4), (2, 0, 1, 5), (3, 5, 4, 0), (4, 3, 5, 1), (5, 4, 3, 2)),
    ((0, 1, 3, 4), (1, 2, 0, 4), (2, 3, 1, 4), (3, 0, 2, 4)),
)
_FRAME_COUNT = np.array([len(frames) for frames in _FRAMES], np.int64)
_FRAME_CORNERS = np.array([(*frames, *((0, 0, 0, 0),) * 8)[:8] for frames in _FRAMES], np.int64)
_NAMED = 5


def inverted(mesh: VolumeMesh, x: Any) -> np.ndarray:
    """Ids, ascending, of the solid cells that are inverted or flat at x, (n, 3).

    Decided by the volumes that the three edges at a corner span: one that is not positive suffices. A tetrahedron
    has one volume, hexahedra and wedges one at each corner, pyramids at each corner of the base.
    """
    x = as_positions(x, "x")
    mesh.require_in_range(len(x))
    found = np.zeros(mesh.solid_count, np.bool_)
    _find_inverted(x, mesh._types, mesh._corners, found)
    return np.flatnonzero(found).astype(np.int32)


def warn_inverted(mesh: VolumeMesh, x: Any) -> np.ndarray:
    """The same, with one warning that counts them and names the first five."""
    found = inverted(mesh, x)
    if len(found):
        named = ", ".join(str(i) for i in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        text = f"{len(found)} of {mesh.solid_count} solid cells are inverted or flat: {named}{more}"
        warn(text)
    return found


@kernel
def _find_inverted(x, types, corners, out):
    """out : (solids,) bool, False at first"""
    m, points = np.empty((ROWS, WIDTH), np.int64), np.zeros((6, 3))
    for i in range(len(out)):
        t = types[i]
        for k in range(_FRAME_COUNT[t]):
            for p in range(4):
                for axis in range(3):
                    points[p, axis] = x[corners[i, _FRAME_CORNERS[t, k, p]], axis]
            if not _spans_positive(m, points):
                out[i] = True
                break


@helper
def _spans_positive(m, x):
    """Points 1, 2, 3 as seen from point 0 have a positive determinant."""
    e, f, g = sub(row(x, 1), row(x, 0)), sub(row(x, 2), row(x, 0)), sub(row(x, 3), row(x, 0))
    a, b, c = max_norm(e), max_norm(f), max_norm(g)
    if max(a, max(b, c)) < LARGEST:
        sign = certain_sign(dot(cross(e, f), g), SIDE_ERROR * a * b * c + TINY)
        if sign != 0:
            return sign > 0
    set_corners(m, x)
    return volume_sign(m, x, 0, 1, 2, 3) > 0
