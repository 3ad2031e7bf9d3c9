"""Files that meshio reads."""

from __future__ import annotations

import contextlib
import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io.announced import require_announced
from pliant.io.content import plain_file, read_beginning, read_bytes
from pliant.io.displacement import AtRest
from pliant.io.hdf5 import require_harmless
from pliant.io.mesh import FileError, make
from pliant.io.xml import parse
from pliant.runtime.extras import needed
from pliant.runtime.reading import carrying, current

# Files of HDF5, and of XML, which meshio trusts.
_HDF5 = (".med", ".h5m", ".hmf", ".cgns", ".h5")
_HDF5_MARK = b"\x89HDF"
_XML = (".xml", ".svg")
_NETCDF = (".e", ".exo", ".ex2")


def read_at_rest(path: Path) -> AtRest:
    """The mesh, and the vectors at its points."""
    with plain_file(path) as plain, carrying(current() if plain == path else current().moved(plain)):
        require_announced(plain)
        if plain.suffix.lower() in _HDF5 or read_beginning(plain).startswith(_HDF5_MARK):
            require_harmless(plain)
        if plain.suffix.lower() in _XML:
            parse(path, read_bytes(plain))
        mesh = _meshio_mesh(path, plain)
    points = np.asarray(mesh.points, np.float64)
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise FileError(f"{path.name}: points have the shape {points.shape}; 2 or 3 coordinates each are needed")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    vectors = {name: partial(np.asarray, array) for name, array in mesh.point_data.items() if _is_vector(array)}
    return AtRest(make(path, [(block.type, block.data) for block in mesh.cells], np.ascontiguousarray(points)), vectors)


def _is_vector(array: Any) -> bool:
    return getattr(array, "ndim", 0) == 2 and array.shape[1] in (2, 3) and array.dtype.kind == "f"


def _meshio_mesh(path: Path, plain: Path):
    """The mesh of a file that meshio can open, and the name that messages have for it."""
    with needed("meshio", "pliant.io", path.name):
        import meshio
    if plain.suffix.lower() in _NETCDF:
        with needed("netCDF4", "pliant.io", path.name):
            import netCDF4  # noqa: F401  # pyright: ignore[reportMissingImports]
    if plain.suffix.lower() not in meshio.extension_to_filetypes:
        raise FileError(f"{path.name}: {plain.suffix or 'no ending'} is not the ending of a format that can be read")
    # meshio tries ansys first for every .msh, and says on the terminal what is wrong.
    file_format = "gmsh" if plain.suffix.lower() == ".msh" and read_beginning(plain).lstrip().startswith(b"$") else None
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return meshio.read(plain, file_format)
    # meshio ends the program on files that it cannot read, and its parsers raise whatever a wrong number led to.
    except (Exception, SystemExit) as error:
        why = " ".join(said.getvalue().split()) if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise FileError(f"{path.name}: meshio cannot read it ({why.replace(str(plain), path.name)})") from error
