"""How far two meshes are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.scene import topology_of
from pliant.mesh.features import Elements, elements_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import check
from pliant.queries.nearest import nearest_elements
from pliant.results.steps import MeshDistance
from pliant.runtime.arrays import as_positions, thread_count
from pliant.runtime.threads import ThreadPool


def distance(mesh_a: Any, xa: Any, mesh_b: Any, xb: Any, *, threads: int | None = None) -> MeshDistance:
    """How far two meshes are from each other, and where they are closest; 0 where their surfaces intersect.

    A mesh is its faces, and loose edges and points: that one lies inside the other makes no difference.

    Parameters
    ----------
    mesh_a, mesh_b : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    xa, xb : (n, 3) and (m, 3) floats
        Positions.
    threads : int, optional
        Number of threads; default: as many as there are cores.

    Returns
    -------
    MeshDistance

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    (a, xa), (b, xb) = _elements(mesh_a, xa, "xa"), _elements(mesh_b, xb, "xb")
    if len(a.corners) == 0 or len(b.corners) == 0:
        return MeshDistance(np.inf, np.full((2, 3), np.nan), np.full(2, -1, np.int32))
    # Loose edges and points as triangles that are segments and points: check sees where they pass through a face.
    both, x = TriMesh(np.concatenate((a.corners, b.corners + len(xa)))), np.concatenate((xa, xb))
    crossing = check(both, x, objects=np.repeat((0, 1), (len(xa), len(xb))), pairs="inter", threads=threads)
    if len(crossing):
        first, second = crossing.faces[0]
        faces = np.array((a.face[first], b.face[second - len(a.corners)]))
        return MeshDistance(0.0, np.repeat(crossing.segments[0].mean(axis=0)[None], 2, axis=0), faces)
    length, points, (i, j) = nearest_elements(a.corners, xa, b.corners, xb, ThreadPool(thread_count(threads)))
    return MeshDistance(length, points, np.array((a.face[i], b.face[j])))


def _elements(mesh: Any, x: Any, name: str) -> tuple[Elements, np.ndarray]:
    topology, x = topology_of(mesh, interior=False), as_positions(x, name)
    topology.require(len(x))
    return elements_of(topology.tested.features), x
