"""Which reader a file is for: by its name, and where several formats share an ending, by its first line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from pliant.io import (
    collada,
    d3plot,
    dyna,
    external,
    gmsh1,
    npz,
    obj,
    off,
    ply,
    stl,
    tetgen,
    threemf,
    usd,
    vega,
    vtu,
    xdmf,
)
from pliant.io.content import ending_of, is_packed, plain_file
from pliant.io.displacement import AtRest, chosen
from pliant.io.foreign import require_known
from pliant.io.gltf import reader as gltf
from pliant.io.mesh import FileError, FileMesh
from pliant.runtime.reading import carrying, current, reading

_BY_ENDING = {
    ".obj": obj.read,
    ".ply": ply.read,
    ".stl": stl.read,
    ".off": off.read,
    ".glb": gltf.read,
    ".gltf": gltf.read,
    ".usd": usd.read,
    ".usda": usd.read,
    ".usdc": usd.read,
    ".usdz": usd.read,
    ".3mf": threemf.read,
    ".dae": collada.read,
    ".npz": npz.read,
    ".k": dyna.read,
    ".key": dyna.read,
    ".dyn": dyna.read,
    ".node": tetgen.read,
    ".ele": tetgen.read,
    ".veg": vega.read,
}
_WITH_VECTORS = {
    ".vtu": vtu.read_at_rest,
    ".vtp": vtu.read_at_rest,
    ".xdmf": xdmf.read_at_rest,
    ".xmf": xdmf.read_at_rest,
}
# Read by what opens files itself, or maps them into memory; all others are unpacked in memory where they are packed.
_WANT_FILES = (".glb", ".gltf", ".usd", ".usda", ".usdc", ".usdz", ".npz", ".3mf")


def read(
    path: str | os.PathLike[str],
    *,
    displacement: str | None = None,
    budget: int | None = None,
    outside: bool = False,
) -> FileMesh:
    """Read a mesh, or a sequence of positions of one, from a file.

    path : .obj, .ply, .stl, .off, .glb / .gltf, .usd / .usda / .usdc / .usdz, .3mf, .dae, .vtu, .vtp, .xdmf, .npz,
        .veg, .k / .key / .dyn, .node or .ele (both are read), .msh of gmsh 1, a d3plot or the folder it is in, or
        any other file that meshio reads
    displacement : name of a vector at the points that is added to them, in .vtu, .vtp, .xdmf and what meshio reads;
        "none" for none; default: one that is named like a displacement, which a warning names
    budget : bytes that the file may expand to, by compression or by naming the same part many times; 64 times its size
        if not given, and 256 MB at least
    outside : read files outside of its folder too, where it refers to any

    Each of them may be packed by gzip: .obj.gz. Vertices and faces keep the order of the file, and nothing is merged;
    polygons become fans of triangles.
    """
    path = Path(path)
    with reading(path, budget, outside):
        found = read_at_rest(path)
        return found.displaced(path, chosen(path, found.vectors, displacement, lambda: found.moves))


def read_motion(
    start: str | os.PathLike[str], end: str | os.PathLike[str], *, displacement: str | None = None
) -> tuple[FileMesh, FileMesh]:
    """Two files of one mesh; displacements as in `read`, but not by default where the points themselves move."""
    paths = Path(start), Path(end)
    a, b = map(read_at_rest, paths)
    name = chosen(paths[0], a.vectors, displacement, lambda: not np.array_equal(a.mesh.points, b.mesh.points))
    return a.displaced(paths[0], name), b.displaced(paths[1], name)


def read_at_rest(path: Path) -> AtRest:
    """A file as it is, with the vectors at its points."""
    if path.is_dir() and (path / "d3plot").is_file():
        path = path / "d3plot"
    with reading(path):
        return _read(path)


def _read(path: Path) -> AtRest:
    require_content(path)
    ending = ending_of(path)
    if is_packed(path) and ending in _WANT_FILES:
        with plain_file(path) as plain, carrying(current().moved(plain)):
            return _read(plain)
    if ending in _WITH_VECTORS:
        return _WITH_VECTORS[ending](path)
    if ending in _BY_ENDING:
        return AtRest(_BY_ENDING[ending](path))
    if path.name.lower().startswith("d3plot"):
        return AtRest(d3plot.read(path))
    if ending == ".msh" and gmsh1.is_gmsh1(path):
        return AtRest(gmsh1.read(path))
    return external.read_at_rest(path)


def require_content(path: Path) -> None:
    """There is a file, something in it, and it can be read at all."""
    require_known(path)
    if path.is_dir():
        raise FileError(f"{path.name}: this is a folder; name a file in it, or several: {path.name}/frame_*.obj")
    if not path.is_file():
        raise FileError(f"{path.name}: there is no such file")
    if path.stat().st_size == 0:
        raise FileError(f"{path.name}: the file is empty")
