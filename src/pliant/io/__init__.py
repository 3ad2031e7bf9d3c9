"""Meshes and sequences from files, and to files.

    mesh = pliant.io.read("liver.msh")
    mesh.cells["tetra"], mesh.points, pliant.io.surface_of(mesh)

    sequence = pliant.io.open_sequence("frames/cloth_*.obj")
    pliant.io.write_sequence("cloth.npz", sequence)

    pliant.io.write("liver.vtu", mesh)
    pliant.io.rewrite("fixed.obj", "hero.obj", x)  # all else that is in hero.obj stays
    pliant.io.write_offenders("red.ply", faces, x, counts_per_face)

A file that cannot be read raises `FileError`, which names the file and, where it can, the line or the frame. What is
left out of a file is said in a warning. Nothing is unpickled or run, no file outside of the folder of the one that was
asked for is read (`outside=True` does), and what a file expands to has a budget (`budget=`), counted before memory is
allocated.
"""

from pliant.io.gltf.reader import clip_names
from pliant.io.mesh import FileError, FileMesh
from pliant.io.polygons import surface_of
from pliant.io.readers import read
from pliant.io.rewriting.files import rewrite
from pliant.io.sequences import open_changing, open_sequence
from pliant.io.writing.meshes import write
from pliant.io.writing.offenders import write_offenders
from pliant.io.writing.sequences import write_sequence
from pliant.mesh.parts import Parts
from pliant.mesh.space import Space

__all__ = [
    "FileError",
    "FileMesh",
    "Parts",
    "Space",
    "clip_names",
    "open_changing",
    "open_sequence",
    "read",
    "rewrite",
    "surface_of",
    "write",
    "write_offenders",
    "write_sequence",
]
