"""Meshes and sequences from files, and to files.

    mesh = pliant.io.read("liver.msh")
    mesh.cells["tetra"], mesh.points, pliant.io.surface_of(mesh)

    sequence = pliant.io.open_sequence("frames/cloth_*.obj")
    pliant.io.write_sequence("cloth.npz", sequence)

    pliant.io.write("liver.vtu", mesh)
    pliant.io.write_offenders("red.ply", faces, x, counts_per_face)

A file that cannot be read raises `FileError`, which names the file and, where it can, the line or the frame. What is
left out of a file is said in a warning. Nothing is unpickled or run, no file outside of the folder of the one that was
asked for is read (`outside=True` does), and what a file expands to has a budget (`budget=`), counted before room is
made.
"""

from pliant.mesh.parts import Parts
from pliant.mesh.space import Space

from .gltf import clip_names
from .mesh import FileError, FileMesh
from .polygons import surface_of
from .readers import read
from .sequences import open_sequence
from .writing.meshes import write
from .writing.offenders import write_offenders
from .writing.sequences import write_sequence

__all__ = [
    "FileError",
    "FileMesh",
    "Parts",
    "Space",
    "clip_names",
    "open_sequence",
    "read",
    "surface_of",
    "write",
    "write_offenders",
    "write_sequence",
]
