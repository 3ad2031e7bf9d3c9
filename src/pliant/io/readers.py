"""Which reader a file is for: by its name, and where several formats share an ending, by its first line."""

from __future__ import annotations

import os
from pathlib import Path

from . import d3plot, dyna, external, gltf, gmsh1, npz, obj, off, ply, stl, tetgen, usd, vega, vtu, xdmf
from .content import ending_of, is_packed, plain_file
from .foreign import require_known
from .mesh import FileError, FileMesh

_BY_ENDING = {
    ".obj": obj.read,
    ".ply": ply.read,
    ".stl": stl.read,
    ".off": off.read,
    ".glb": gltf.read,
    ".gltf": gltf.read,
    ".vtu": vtu.read,
    ".vtp": vtu.read,
    ".xdmf": xdmf.read,
    ".xmf": xdmf.read,
    ".usd": usd.read,
    ".usda": usd.read,
    ".usdc": usd.read,
    ".usdz": usd.read,
    ".npz": npz.read,
    ".k": dyna.read,
    ".key": dyna.read,
    ".dyn": dyna.read,
    ".node": tetgen.read,
    ".ele": tetgen.read,
    ".veg": vega.read,
}
# Read by what opens files itself, or maps them into memory; all others are unpacked in memory where they are packed.
_WANT_FILES = (".glb", ".gltf", ".usd", ".usda", ".usdc", ".usdz", ".npz")


def read(path: str | os.PathLike[str]) -> FileMesh:
    """Read a mesh, or a sequence of positions of one, from a file.

    path : .obj, .ply, .stl, .off, .glb / .gltf, .usd / .usda / .usdc / .usdz, .vtu, .vtp, .xdmf, .npz, .veg,
        .k / .key / .dyn, .node or .ele (both are read), .msh of gmsh 1, a d3plot or the folder it is in, or any other
        file that meshio reads

    Each of them may be packed by gzip: .obj.gz. Vertices and faces keep the order of the file, and nothing is merged;
    polygons become fans of triangles.
    """
    path = Path(path)
    if path.is_dir() and (path / "d3plot").is_file():
        path = path / "d3plot"
    require_content(path)
    ending = ending_of(path)
    if is_packed(path) and ending in _WANT_FILES:
        with plain_file(path) as plain:
            return read(plain)
    if ending in _BY_ENDING:
        return _BY_ENDING[ending](path)
    if path.name.lower().startswith("d3plot"):
        return d3plot.read(path)
    if ending == ".msh" and gmsh1.is_gmsh1(path):
        return gmsh1.read(path)
    return external.read(path)


def require_content(path: Path) -> None:
    """There is a file, something in it, and it can be read at all."""
    require_known(path)
    if path.is_dir():
        raise FileError(f"{path.name}: this is a folder; name a file in it, or several: {path.name}/frame_*.obj")
    if not path.is_file():
        raise FileError(f"{path.name}: there is no such file")
    if path.stat().st_size == 0:
        raise FileError(f"{path.name}: the file is empty")
