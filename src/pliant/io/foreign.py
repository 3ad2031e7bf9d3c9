"""Files that people have and that are not read: what to do instead."""

from __future__ import annotations

from pathlib import Path

from pliant.io.content import ending_of
from pliant.io.mesh import FileError

_EXPORT = "export it as glTF (.glb) or USD from the program that wrote it, or from Blender"
_OF_PROGRAM = "is read by that program only; export it as glTF (.glb), USD or OBJ from there"
_SOLID = "holds curved surfaces, not triangles; export it as STL, OBJ or 3MF from the CAD program, or mesh it with gmsh"
_ARCHIVE = "is an archive; unpack it and name the files in it"
_RESULTS = "is read by that program only; export it as VTU, XDMF or MED from there"
_ALEMBIC = "is Alembic, which no package reads; export it as USD (.usdc), PC2 or numbered OBJ files"

_PROGRAMS = {
    ".blend": "Blender", ".max": "3ds Max", ".ma": "Maya", ".mb": "Maya", ".c4d": "Cinema 4D", ".hip": "Houdini",
    ".hipnc": "Houdini", ".bgeo": "Houdini", ".geo": "Houdini", ".lwo": "LightWave", ".lxo": "Modo", ".ztl": "ZBrush",
    ".zpr": "ZBrush", ".zprj": "CLO or Marvelous Designer", ".skp": "SketchUp", ".3dm": "Rhino", ".uasset": "Unreal",
}  # fmt: skip
_SOLVERS = {".odb": "Abaqus", ".rst": "Ansys", ".cas": "Fluent", ".frd": "CalculiX", ".op2": "Nastran"}
_ADVICE = {
    ".abc": _ALEMBIC,
    ".fbx": f"is FBX, which is not read; {_EXPORT}",
    **dict.fromkeys((".3ds", ".x3d", ".wrl", ".x", ".ase", ".md5mesh", ".mdl", ".pmx"), f"is not read; {_EXPORT}"),
    **{ending: f"is a file of {program}, and {_OF_PROGRAM}" for ending, program in _PROGRAMS.items()},
    **{ending: f"is a file of {program}, and {_RESULTS}" for ending, program in _SOLVERS.items()},
    **dict.fromkeys((".step", ".stp", ".iges", ".igs", ".brep", ".sat", ".x_t", ".x_b", ".jt", ".ifc"), _SOLID),
    **dict.fromkeys((".sldprt", ".sldasm", ".ipt", ".iam", ".catpart", ".prt", ".f3d", ".fcstd"), _SOLID),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".rar", ".7z", ".bz2", ".xz", ".zst", ".zae"), _ARCHIVE),
}


def require_known(path: Path) -> None:
    """The name is not that of a format that cannot be read."""
    ending = ".bgeo" if path.name.lower().endswith(".bgeo.sc") else ending_of(path)
    if ending in _ADVICE:
        raise FileError(f"{path.name}: {_ADVICE[ending]}")
