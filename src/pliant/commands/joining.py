"""Meshes of several files as one, and whose faces, edges and vertices are whose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.commands.inputs import Mesh
from pliant.mesh.space import Space
from pliant.mesh.triangles import TriMesh
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity


class Joined(NamedTuple):
    """The faces and vertices of files, one after the other."""

    faces: np.ndarray  # (m, 3)
    x: np.ndarray  # (n, 3)
    first_face: np.ndarray  # (files + 1,) where the faces of each begin
    first_vertex: np.ndarray  # (files + 1,)
    found: Intersections | None = None
    space: Space | None = None  # of the first file

    @property
    def file_of_vertex(self) -> np.ndarray:
        """(n,) number of the file."""
        return np.repeat(np.arange(len(self.first_vertex) - 1), np.diff(self.first_vertex))

    def file_of(self, faces: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.first_face, faces, side="right") - 1

    def split(self, found: Intersections) -> Iterator[tuple[tuple[int, int], Intersections]]:
        """Pairs by the files of their two faces, with the ids that the faces have there: each file with itself, and
        those that meet."""
        files = self.file_of(found.faces)
        count = len(self.first_face) - 1
        keys = files[:, 0] * count + files[:, 1]
        own = np.arange(count) * (count + 1)
        for key in np.union1d(own, keys).tolist():
            a, b = divmod(key, count)
            some = found[keys == key]
            ids = some.faces - self.first_face[[a, b]].astype(some.faces.dtype)
            yield (a, b), replace(some, faces=ids)

    def told(self, near: Proximity) -> tuple[Proximity, np.ndarray]:
        """The same with the ids that features have in their files, and (k, 2) numbers of the two files of each pair."""
        # Edges are sorted by their vertices: those of a file follow each other, in the order that they have there.
        first_edge = np.searchsorted(TriMesh(self.faces).edges[:, 0], self.first_vertex)
        at = np.where(near.kind[:, None] == VERTEX_FACE, (0, 1), (0, 2))  # a vertex of the one and of the other
        vertices = np.take_along_axis(near.vertices, at, axis=1)
        files = np.searchsorted(self.first_vertex, vertices, side="right") - 1
        is_vertex_face = near.kind == VERTEX_FACE
        first = np.where(is_vertex_face, self.first_vertex[files[:, 0]], first_edge[files[:, 0]])
        second = np.where(is_vertex_face, self.first_face[files[:, 1]], first_edge[files[:, 1]])
        elements = (near.elements - np.stack((first, second), axis=1)).astype(np.int32)
        corners = np.searchsorted(self.first_vertex, near.vertices, side="right") - 1
        ids = (near.vertices - self.first_vertex[corners]).astype(np.int32)
        return replace(near, elements=elements, vertices=ids), files


def join(meshes: Sequence[Mesh]) -> Joined:
    first_face = np.cumsum([0, *(len(mesh.faces) for mesh in meshes)])
    first_vertex = np.cumsum([0, *(len(mesh.x) for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, first_vertex.tolist())]
    return Joined(
        np.concatenate([np.empty((0, 3), np.int32), *faces]),
        np.concatenate([np.empty((0, 3)), *(mesh.x for mesh in meshes)]),
        first_face,
        first_vertex,
        space=meshes[0].space if meshes else None,
    )
