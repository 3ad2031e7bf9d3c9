"""One mesh to a file, in the format of its ending."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from pliant.io.mesh import CORNERS, FileMesh
from pliant.io.polygons import solids_of, surface_of
from pliant.io.writing import dyna, glb, surfaces, usd, vtu
from pliant.runtime.arrays import MeshError, ShapeError, as_indices, as_positions, require_in_range
from pliant.runtime.extras import needed
from pliant.runtime.writing import OutputError, through_file, write_atomically

_SURFACES: dict[str, Callable[[IO[bytes], np.ndarray, np.ndarray], None]] = {
    ".obj": surfaces.write_obj,
    ".ply": surfaces.write_ply,
    ".stl": surfaces.write_stl,
    ".off": surfaces.write_off,
    ".glb": glb.write_glb,
}
USD = (".usd", ".usda", ".usdc")
_DECKS = (".k", ".key", ".dyn")
_MESHIO = {
    ".vtk": ("vtk", {}),
    ".msh": ("gmsh22", {}),
    ".med": ("med", {}),
    ".inp": ("abaqus", {}),
    ".xdmf": ("xdmf", {"data_format": "XML"}),
    ".mesh": ("medit", {"float_fmt": ".17g"}),
}


def write(path: str | os.PathLike[str], mesh: FileMesh | Any, cells: Mapping[str, Any] | Any = None) -> None:
    """Write a mesh in the format of the ending of `path`.

    mesh : a mesh that was read; or (n, 3) points, with `cells`
    cells : (m, 3) triangles, or kind of cell to (k, corners) vertex ids

    .obj, .ply, .stl, .off, .glb and .usd / .usda / .usdc hold triangles: quadrilaterals are cut, and of solids the
    boundary is written, with a warning. .stl, .glb and USD round to float32; all others keep every bit.
    """
    path = Path(path)
    require_ending(path)
    mesh = mesh if isinstance(mesh, FileMesh) and cells is None else as_mesh(mesh, cells)
    ending = path.suffix.lower()
    if ending in _SURFACES or ending in USD:
        if solids_of(mesh):
            warnings.warn(f"{path.name}: holds surfaces only; the boundary of the solids is written", stacklevel=2)
        faces = surface_of(mesh)
        if ending in USD:
            through_file(path, lambda unfinished: usd.write_usd(unfinished, faces, [mesh.points], space=mesh.space))
        else:
            write_atomically(path, lambda file: _SURFACES[ending](file, faces, mesh.points))
    elif ending == ".vtu":
        write_atomically(path, partial(vtu.write_vtu, cells=mesh.cells, x=mesh.points))
    elif ending in _DECKS:
        write_atomically(path, partial(dyna.write_deck, cells=mesh.cells, x=mesh.points))
    elif ending == ".npz":
        arrays: dict[str, Any] = {"points": mesh.points, **mesh.cells}
        write_atomically(path, lambda file: np.savez(file, **arrays))
    else:
        through_file(path, lambda unfinished: _write_with_meshio(unfinished, mesh, ending))


def require_ending(path: Path) -> None:
    """Raises OutputError where meshes are not written in the format that the name says."""
    ending = path.suffix.lower()
    if ending not in (*_SURFACES, *USD, ".vtu", *_DECKS, ".npz", *_MESHIO):
        known = ", ".join([*_SURFACES, *USD, ".vtu", ".k", ".npz", *_MESHIO])
        raise OutputError(f"{path.name}: meshes are not written as {ending or 'a file without an ending'}; but {known}")


def as_mesh(points: Any, cells: Mapping[str, Any] | Any) -> FileMesh:
    """A mesh of points and cells, checked."""
    x = as_positions(points, "points")
    given = cells if isinstance(cells, Mapping) else {"triangle": () if cells is None else cells}
    unknown = [kind for kind in given if kind not in CORNERS]
    if unknown:
        raise ShapeError(f"cells of the kind {unknown[0]!r} are not known; known are {', '.join(CORNERS)}")
    rows = {kind: as_indices(given[kind], kind, CORNERS[kind]) for kind in CORNERS if kind in given}
    for kind, indices in rows.items():
        require_in_range(indices, kind, len(x))
    return FileMesh(rows, x)


def _write_with_meshio(path: Path, mesh: FileMesh, ending: str) -> None:
    with needed("meshio", "pliant.io", ending):
        import meshio
    file_format, options = _MESHIO[ending]
    said = io.StringIO()
    content = meshio.Mesh(mesh.points, [(kind, rows.astype(np.int64)) for kind, rows in mesh.cells.items()])
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meshio.write(path, content, file_format, **options)
    except (meshio.WriteError, KeyError, ValueError, SystemExit) as error:
        if isinstance(error, MeshError):
            raise
        raise OutputError(f"{ending}: meshio cannot write this mesh ({error})") from error
