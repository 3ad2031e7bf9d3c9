"""Repair of self-intersections by other libraries, as their documentation suggests it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]  # faces and positions


def meshlib(faces: np.ndarray, x: np.ndarray, *, cut: bool) -> Mesh:
    """MeshLib: relax what intersects, without its subdivision, which would add vertices; or cut it out and fill the
    holes. Other settings are left as they are. It looks at each connected component by itself, in 32 bits.
    """
    from meshlib import mrmeshnumpy, mrmeshpy

    mesh = mrmeshnumpy.meshFromFacesVerts(faces.astype(np.int32), x)
    settings = mrmeshpy.SelfIntersections.Settings()
    settings.touchIsIntersection = True
    methods = mrmeshpy.SelfIntersections.Settings.Method
    settings.method = methods.CutAndFill if cut else methods.Relax
    if not cut:
        settings.subdivideEdgeLen = float(np.finfo(np.float32).max)
    mrmeshpy.SelfIntersections.fix(mesh, settings)
    mesh.pack()  # what was deleted would come out as faces of vertex 0
    return mrmeshnumpy.getNumpyFaces(mesh.topology), mrmeshnumpy.getNumpyVerts(mesh)


def pymeshlab_smoothing(faces: np.ndarray, x: np.ndarray, rounds: int = 30) -> Mesh:
    """PyMeshLab: select what intersects and a ring around it, smooth what is selected, again and again."""
    meshes = _meshes(faces, x)
    for _ in range(rounds):
        meshes.compute_selection_by_self_intersections_per_face()
        if not meshes.current_mesh().selected_face_number():
            break
        meshes.apply_selection_dilatation()
        meshes.apply_coord_laplacian_smoothing(stepsmoothnum=3, selected=True)
    return _arrays(meshes)


def pymeshlab_holes(faces: np.ndarray, x: np.ndarray) -> Mesh:
    """PyMeshLab: delete what intersects, and close the holes."""
    meshes = _meshes(faces, x)
    meshes.compute_selection_by_self_intersections_per_face()
    meshes.meshing_remove_selected_faces()
    meshes.meshing_repair_non_manifold_edges()
    meshes.meshing_close_holes(maxholesize=1000)
    return _arrays(meshes)


def _meshes(faces: np.ndarray, x: np.ndarray) -> Any:
    pymeshlab: Any = import_module("pymeshlab")
    meshes = pymeshlab.MeshSet()
    meshes.add_mesh(pymeshlab.Mesh(vertex_matrix=x, face_matrix=faces.astype(np.int32)))
    return meshes


def _arrays(meshes: Any) -> Mesh:
    mesh = meshes.current_mesh()
    return mesh.face_matrix(), mesh.vertex_matrix()
