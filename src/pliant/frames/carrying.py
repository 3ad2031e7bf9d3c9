"""From one frame that is free of intersections to the next: what was repaired is carried along, and goes as near to the
positions of that frame as it can on a way that is free of contact.

Around what intersects there, or was moved before, windows are cut out of the mesh. The vertices of each, where they
were free, are moved by the rigid motion of the window from frame to frame, which leaves them free; from there
``resolve`` leads to the frame, with the border of the window driven. So a limb that swings by 30 edges costs what its
folds do within it, and what was separated stays on the side where it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.response.resolver import Resolver
from pliant.runtime.arrays import TangledError
from pliant.untangling.returning import THICKNESS
from pliant.untangling.window import boxes_around, sizes_of

_MARGIN = 4.0, 0.05  # around what is tangled: mean lengths of edges, and part of its own diagonal


class Frame(NamedTuple):
    """Positions as they were given, and free of intersections: (n, 3)."""

    given: np.ndarray
    free: np.ndarray


class _Window(NamedTuple):
    mesh: TriMesh
    ids: np.ndarray  # of its vertices
    held: np.ndarray  # (k,) bool: those that go where they are told: on the border, or fixed


def carried(
    mesh: TriMesh, before: Frame, x: np.ndarray, pairs: np.ndarray | None, fixed: np.ndarray, threads: int
) -> np.ndarray | None:
    """(n, 3) positions near those of a frame, x, that should be free; None where a window cannot begin.

    pairs : (k, 2) faces that intersect in x; None for the whole mesh as one window
    """
    free = x.copy()
    whole = [_Window(mesh, np.arange(len(x)), fixed)]
    for window in whole if pairs is None else _windows(mesh, before, x, pairs, fixed):
        ids = window.ids
        start = moved_along(before.given[ids], x[ids], before.free[ids])
        resolver = Resolver(
            window.mesh, inverse_mass=np.where(window.held, 0.0, 1.0), threads=threads,
            thickness=THICKNESS * float(np.median(sizes_of(window.mesh.edges, x[ids]))),
        )  # fmt: skip
        try:
            free[ids] = resolver.resolve(start, x[ids]).positions
        except TangledError:
            return None
    return free


def _windows(mesh: TriMesh, before: Frame, x: np.ndarray, pairs: np.ndarray, fixed: np.ndarray) -> list[_Window]:
    """Around what intersects in x, and what was moved in the frame before."""
    corners = mesh.faces
    was_moved = np.flatnonzero((before.free != before.given).any(axis=1)[corners].any(axis=1))
    about = np.concatenate((pairs, np.stack((was_moved, was_moved), axis=1)))
    low, high = x[corners].min(axis=1), x[corners].max(axis=1)
    found = []
    for box in boxes_around(mesh, x, about, _MARGIN):
        faces = np.flatnonzero((low <= box[1]).all(axis=1) & (box[0] <= high).all(axis=1))
        ids, local = np.unique(corners[faces], return_inverse=True)
        inside = ((x[ids] > box[0]) & (x[ids] < box[1])).all(axis=1)
        found.append(_Window(TriMesh(local.reshape(-1, 3).astype(np.int32)), ids, fixed[ids] | ~inside))
    return found


def moved_along(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x, (n, 3), moved by the rigid motion that takes a nearest to b, both (k, 3) (Kabsch 1976)."""
    middle_a, middle_b = a.mean(axis=0), b.mean(axis=0)
    left, _, right = np.linalg.svd((a - middle_a).T @ (b - middle_b))
    left[:, 2] *= np.sign(np.linalg.det(left @ right)) or 1.0
    return (x - middle_a) @ (left @ right) + middle_b
