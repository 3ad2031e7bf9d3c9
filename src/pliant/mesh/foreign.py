"""Meshes of other libraries, known by what they have: trimesh, meshio and pyvista need not be there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.runtime.arrays import ShapeError

# Numbers of VTK, and the order of corners: pixels and voxels, of images, go along the axes.
_VTK: dict[int, tuple[str, Any]] = {
    1: ("vertex", slice(None)),
    3: ("line", slice(None)),
    5: ("triangle", slice(None)),
    8: ("quad", [0, 1, 3, 2]),
    9: ("quad", slice(None)),
    10: ("tetra", slice(None)),
    11: ("hexahedron", [0, 1, 3, 2, 4, 5, 7, 6]),
    12: ("hexahedron", slice(None)),
    13: ("wedge", slice(None)),
    14: ("pyramid", slice(None)),
}
_FLAT = {"triangle", "line", "vertex"}


class Blocks(NamedTuple):
    """Cells by their type, named as in a ``meshio.Mesh``."""

    cells_dict: dict[str, np.ndarray]

    @property
    def cells(self) -> list[tuple[str, np.ndarray]]:
        return list(self.cells_dict.items())


def with_blocks(mesh: Any) -> Any:
    """A grid of pyvista with its cells by name; anything else as it is."""
    if not (hasattr(mesh, "celltypes") and hasattr(mesh, "cells_dict")):
        return mesh
    unknown = sorted(set(np.unique(mesh.celltypes).tolist()) - set(_VTK))
    if unknown:
        raise ShapeError(
            f"the pyvista grid holds cells of the VTK types {', '.join(map(str, unknown))}; "
            "its triangulate() makes tetrahedra of them, its linear_copy() linear cells of quadratic ones"
        )
    found: dict[str, list[np.ndarray]] = {}
    for number, rows in mesh.cells_dict.items():
        name, order = _VTK[int(number)]
        found.setdefault(name, []).append(rows[:, order])
    return Blocks({name: np.concatenate(parts) for name, parts in found.items()})


def has_volume(mesh: Any) -> bool:
    """Whether it has cells other than those that a TriMesh takes."""
    return hasattr(mesh, "cells_dict") and bool(set(mesh.cells_dict) - _FLAT)


def triangles_of(mesh: Any) -> tuple[Any, Any, Any]:
    """Faces, loose edges and loose points; what is no mesh of a library is taken for faces."""
    mesh = with_blocks(mesh)
    if hasattr(mesh, "loose_edges"):  # a TriMesh
        return mesh.faces, mesh.loose_edges, mesh.loose_points
    if hasattr(mesh, "cells_dict"):  # meshio.Mesh, pyvista.UnstructuredGrid
        cells = mesh.cells_dict
        if has_volume(mesh):
            other = ", ".join(sorted(set(cells) - _FLAT))
            raise ShapeError(f"the mesh holds {other} cells; TriMesh takes triangle, line and vertex")
        return cells.get("triangle"), cells.get("line"), np.ravel(cells["vertex"]) if "vertex" in cells else None
    if hasattr(mesh, "regular_faces"):  # pyvista.PolyData
        if getattr(mesh, "n_cells", 1) and not mesh.is_all_triangles:
            raise ShapeError(
                "the pyvista mesh has cells that are not triangles; its triangulate() cuts faces and strips"
            )
        return mesh.regular_faces, None, None
    if hasattr(mesh, "cell_faces"):  # a VolumeMesh
        raise ShapeError("a VolumeMesh has faces inside, too; its surface() is what TriMesh takes")
    if hasattr(mesh, "faces") and hasattr(mesh, "vertices"):  # trimesh.Trimesh
        return np.asarray(mesh.faces), None, None
    return mesh, None, None
