"""Who untangles: pliant, methods that do one thing only, and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.untangling.case import Case


class Outcome(NamedTuple):
    """What a method returns.

    positions : (n, 3); None where it has other vertices or faces than the case, or none at all
    claims : whether it says itself that nothing intersects any more; None where it says nothing
    wrong_side : vertices that it reports itself; None where it has not checked
    note : how it was done, or why there is nothing
    """

    positions: np.ndarray | None
    claims: bool | None = None
    wrong_side: int | None = None
    note: str = ""


def _pliant(case: Case, threads: int, seconds: float) -> Outcome:
    return _untangled(case, threads, seconds, case.options)


def _with_reference(case: Case, threads: int, seconds: float) -> Outcome:
    if case.reference is None:
        return Outcome(None, note="no reference")
    return _untangled(case, threads, seconds, case.options | {"reference": case.reference})


def _untangled(case: Case, threads: int, seconds: float, options: dict[str, Any]) -> Outcome:
    done = pliant.untangle(case.mesh, case.x, seconds=seconds, threads=threads, **options)
    wrong = None if done.wrong_side is None else len(done.wrong_side)
    return Outcome(done.positions, done.clean, wrong, str(done.method))


def _fairing(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.fairing import fair

    return Outcome(fair(case.faces, case.x, case.given.fixed, threads=threads, seconds=seconds))


def _contours(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.contour_minimisation import shorten

    return Outcome(shorten(case.faces, case.x, case.given.fixed, threads=threads, seconds=seconds))


def _meshlib_relax(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.repairs import meshlib

    return _repaired(case, *meshlib(case.faces, case.x, cut=False))


def _meshlib_cut(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.repairs import meshlib

    return _repaired(case, *meshlib(case.faces, case.x, cut=True))


def _pymeshlab_smoothing(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.repairs import pymeshlab_smoothing

    return _repaired(case, *pymeshlab_smoothing(case.faces, case.x))


def _pymeshlab_holes(case: Case, threads: int, seconds: float) -> Outcome:
    from bench.baselines.repairs import pymeshlab_holes

    return _repaired(case, *pymeshlab_holes(case.faces, case.x))


def _repaired(case: Case, faces: np.ndarray, x: np.ndarray) -> Outcome:
    if len(x) == len(case.x) and np.array_equal(_from_smallest(faces), _from_smallest(case.faces)):
        return Outcome(x)
    left = len(pliant.check(pliant.TriMesh(faces), x)) if len(faces) else 0
    return Outcome(None, claims=left == 0, note=f"other connectivity: {len(faces)} faces, {left} pairs")


def _from_smallest(faces: np.ndarray) -> np.ndarray:
    """Faces in their order, their corners read from the smallest on: libraries begin where they like."""
    first = np.argmin(faces, axis=1)[:, None]
    return np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)


METHODS: dict[str, Callable[[Case, int, float], Outcome]] = {
    "pliant": _pliant,
    "pliant, with a reference": _with_reference,
    "fairing only": _fairing,
    "contour minimisation only": _contours,
    "MeshLib, relaxation": _meshlib_relax,
    "MeshLib, cut and fill": _meshlib_cut,
    "PyMeshLab, smoothing": _pymeshlab_smoothing,
    "PyMeshLab, holes closed": _pymeshlab_holes,
}
NEEDS = {
    "MeshLib, relaxation": "meshlib.mrmeshpy",
    "MeshLib, cut and fill": "meshlib.mrmeshpy",
    "PyMeshLab, smoothing": "pymeshlab",
    "PyMeshLab, holes closed": "pymeshlab",
}
