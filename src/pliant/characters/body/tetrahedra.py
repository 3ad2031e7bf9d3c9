"""Skins filled with tetrahedra: by tetgen where the skin is a closed surface that does not meet itself, and the surface
of the body is that skin; by fTetWild, close to the skin, where it is not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pliant.characters.rig.errors import RigError
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import check
from pliant.runtime.arrays import OptionError
from pliant.runtime.extras import needed

_REGULAR = 6.0 * 2.0**0.5  # cube of the edge over the volume, of a regular tetrahedron
_LARGEST = 2.0  # volume of a cell, in units of the regular one with the wanted edge
_ROUND = 1.5  # radius of the sphere through the corners of a cell over its shortest edge, at most
_ANGLE = 10.0  # degrees between two faces of a cell, at least
_ENVELOPE = 2e-3  # how far fTetWild may go from the skin, in units of the diagonal of its box
_LITTER = Path("__tracked_surface.stl")  # fTetWild leaves it in the working directory


class BodyError(RigError):
    """A skin that cannot be filled with tetrahedra."""


def mean_edge(mesh: TriMesh, rest: np.ndarray) -> float:
    d = np.diff(rest[mesh.edges], axis=1)[:, 0]
    return float(np.sqrt((d * d).sum(axis=1)).mean()) if len(d) else 0.0


def why_open(mesh: TriMesh, rest: np.ndarray) -> str:
    """Why a skin does not bound a volume, with the first place; nothing if it does."""
    sides = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    count = np.bincount(mesh.face_edges.ravel(), minlength=len(mesh.edges))
    bad = np.flatnonzero(count != 2)
    if len(bad):
        a, b = mesh.edges[bad[0]]
        return f"it is not closed: {len(bad)} edges have not two faces; edge {a} {b} has {count[bad[0]]}"
    keys, turns = np.unique(sides[:, 0] * len(rest) + sides[:, 1], return_counts=True)
    if (turns > 1).any():
        a, b = divmod(int(keys[np.argmax(turns > 1)]), len(rest))
        return f"its faces do not agree on what is outside: two of them go from {a} to {b}"
    met = check(mesh, rest)
    if len(met):
        return f"it meets itself: {len(met)} pairs of faces, the first {met.faces[0, 0]} and {met.faces[0, 1]}"
    return ""


def fill(mesh: TriMesh, rest: np.ndarray, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra (c, 4) int32, upright, and positions (v, 3) of a body in a skin, with edges of about the given length.

    Of a skin that is closed, the first positions are those of the skin. Sizes of files vary: what the packages see is
    in a box of size 1.
    """
    if not edge > 0.0 or not np.isfinite(edge):
        raise OptionError(f"edge must be a length above 0, but is {edge}")
    corner, size = rest.min(axis=0), float(np.ptp(rest, axis=0).max())
    unit = (rest - corner) / size
    fault = why_open(mesh, rest)
    cells, x = _by_tetgen(mesh, unit, edge / size) if not fault else _by_tetwild(mesh, unit, edge / size, fault)
    x = corner + size * x
    if not fault:
        x[: len(rest)] = rest  # not even rounded
    return _upright(np.ascontiguousarray(cells, np.int32), x), np.ascontiguousarray(x)


def _by_tetgen(mesh: TriMesh, unit: np.ndarray, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Without new vertices on the skin."""
    tetgen: Any = _package("tetgen")
    task = tetgen.TetGen(unit, mesh.faces)
    try:
        task.tetrahedralize(
            plc=True, quality=True, minratio=_ROUND, mindihedral=_ANGLE, nobisect=True,
            fixedvolume=True, maxvolume=_LARGEST * edge**3 / _REGULAR, quiet=True,
        )  # fmt: skip
    except RuntimeError as error:
        raise BodyError(f"tetgen cannot fill the skin: {error}") from error
    cells, x = np.asarray(task.elem), np.array(task.node, np.float64)
    if len(x) < len(unit) or not np.array_equal(x[: len(unit)], unit):
        raise BodyError("tetgen has not kept the vertices of the skin")
    return cells, x


def _by_tetwild(mesh: TriMesh, unit: np.ndarray, edge: float, fault: str) -> tuple[np.ndarray, np.ndarray]:
    pytetwild: Any = _package("pytetwild", f"the skin cannot be filled as it is ({fault})")
    used = np.unique(mesh.faces)
    faces = np.searchsorted(used, mesh.faces).astype(np.int32)
    was_there = _LITTER.exists()
    try:
        x, cells = pytetwild.tetrahedralize(
            unit[used], faces, edge_length_abs=edge, epsilon=_ENVELOPE, num_threads=1, quiet=True
        )
    except RuntimeError as error:
        raise BodyError(f"fTetWild cannot fill the skin, of which {fault}: {error}") from error
    finally:
        if not was_there:
            _LITTER.unlink(missing_ok=True)
    if len(cells) == 0:
        raise BodyError(f"the skin encloses nothing: {fault}")
    used = np.unique(cells)
    return np.searchsorted(used, cells), np.asarray(x, np.float64)[used]


def _package(name: str, why: str = "a skin is filled by tetgen") -> ModuleType:
    with needed(name, f"{why}, and that"):
        return __import__(name)


def _upright(cells: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Corners in the order of a positive volume."""
    c = x[cells]
    volumes = np.einsum("ij,ij->i", np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), c[:, 3] - c[:, 0])
    out = cells.copy()
    out[volumes < 0.0] = cells[volumes < 0.0][:, [1, 0, 2, 3]]
    return out
