"""Which reader a file is for: by its name, and where several formats share an ending, by its first line."""

from __future__ import annotations

import os
from pathlib import Path

from . import d3plot, dyna, external, gmsh1, tetgen, vega
from .mesh import FileError, FileMesh


def read(path: str | os.PathLike[str]) -> FileMesh:
    """Read a mesh, or a sequence of positions of one, from a file.

    path : .veg, .k / .key / .dyn, .node or .ele (both are read), .msh of gmsh 1, a d3plot or the folder it is in, or
        any other file that meshio reads
    """
    path = Path(path)
    if path.is_dir() and (path / "d3plot").is_file():
        path = path / "d3plot"
    if not path.is_file():
        raise FileError(f"{path.name}: there is no such file")
    if path.stat().st_size == 0:
        raise FileError(f"{path.name}: the file is empty")
    ending = path.suffix.lower()
    if ending in (".k", ".key", ".dyn"):
        return dyna.read(path)
    if ending in (".node", ".ele"):
        return tetgen.read(path)
    if ending == ".veg":
        return vega.read(path)
    if path.name.lower().startswith("d3plot"):
        return d3plot.read(path)
    if ending == ".msh" and gmsh1.is_gmsh1(path):
        return gmsh1.read(path)
    return external.read(path)
