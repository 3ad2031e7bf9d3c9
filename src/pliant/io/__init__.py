"""Meshes from files: everything meshio reads, gmsh 1, VEGA, tetgen, LS-DYNA decks and d3plot.

    mesh = pliant.io.read("liver.msh")
    mesh.cells["tetra"], mesh.points

A file that cannot be read raises `FileError`, which names the file and, in formats that are read here, the line. What
is left out of a file is said in a warning. Nothing is unpickled or run.
"""

from .mesh import FileError, FileMesh
from .polygons import surface_of
from .readers import read
from .sequences import open_sequence

__all__ = ["FileError", "FileMesh", "open_sequence", "read", "surface_of"]
