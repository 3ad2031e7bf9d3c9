"""Named parts of a surface: OBJ groups, glTF nodes, USD prims; which of them each feature belongs to."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh


class Parts(NamedTuple):
    """What a file calls its parts.

    of_face : (m,) int32, place in `names` of the part that each triangle belongs to
    names : in the order of the file; each once
    """

    of_face: np.ndarray
    names: tuple[str, ...]

    def bodies(self, faces: np.ndarray, vertex_count: int) -> np.ndarray | None:
        """(n,) int32 label of what holds together of itself: parts that share a vertex are one body.

        Vertices of no face have the label -1. None where all parts are one body.
        """
        links = np.stack((faces.reshape(-1), vertex_count + np.repeat(self.of_face, 3)), axis=1)
        linked = TriMesh(edges=links).components
        label = np.full(vertex_count, -1, np.int32)
        label[faces] = linked[faces]
        return label if len(np.unique(label[faces])) > 1 else None


def parts_from(names: list[str], counts: list[int]) -> Parts | None:
    """Of runs of triangles, each with the name of its part; a part may come back. None where no run has a name."""
    if not any(names):
        return None
    place = {name: i for i, name in enumerate(dict.fromkeys(name or "unnamed" for name in names))}
    return Parts(np.repeat(np.array([place[name or "unnamed"] for name in names], np.int32), counts), tuple(place))


class Membership:
    """Which part each face, edge and vertex of a mesh belongs to; of several, the first.

    names : of the parts, as they are shown
    faces : (m,) int32 places in `names`
    labels : of the parts, as the user numbers them; where they have names, places in `names`
    """

    def __init__(self, mesh: TriMesh, faces: np.ndarray, names: tuple[str, ...], labels: tuple | None = None) -> None:
        self.mesh, self.faces, self.names = mesh, faces.astype(np.int32), names
        self.labels = tuple(range(len(names))) if labels is None else labels

    @cached_property
    def vertices(self) -> np.ndarray:
        """(vertex_limit,) int32; -1 for a vertex of no face."""
        return self._first(self.mesh.faces, self.mesh.vertex_limit)

    @cached_property
    def edges(self) -> np.ndarray:
        """(e,) int32; -1 for an edge of no face."""
        return self._first(self.mesh.face_edges, len(self.mesh.edges))

    def _first(self, features: np.ndarray, count: int) -> np.ndarray:
        found = np.full(count + 1, len(self.names), np.int32)  # the last one is for the side -1 of a degenerate face
        np.minimum.at(found, features.ravel(), np.repeat(self.faces, 3))
        return np.where(found == len(self.names), -1, found)[:-1].astype(np.int32)

    def named(self, parts: np.ndarray) -> np.ndarray:
        """Names of parts, in an array of the same shape; empty for -1."""
        return np.array([*self.names, ""])[parts]

    def names_of_pairs(self, kind: np.ndarray, elements: np.ndarray) -> np.ndarray:
        """(k, 2) of the two sides of contacts."""
        return self.named(self.of_pairs(kind, elements))

    def of_pairs(self, kind: np.ndarray, elements: np.ndarray) -> np.ndarray:
        """(k, 2) int32, of the two sides of contacts: kinds (k,), elements (k, 2)."""
        out, edges = np.empty(elements.shape, np.int32), kind == 1
        out[edges] = self.edges[elements[edges]]
        out[~edges, 0], out[~edges, 1] = self.vertices[elements[~edges, 0]], self.faces[elements[~edges, 1]]
        return out


def membership_of(mesh: TriMesh, parts: Parts | None, objects: np.ndarray | None) -> Membership:
    """By the named parts; else by labels (n,) of the vertices; else by connected components."""
    if parts is not None:
        return Membership(mesh, parts.of_face, parts.names)
    labels = mesh.components if objects is None else objects
    known, inverse = np.unique(labels[mesh.vertices], return_inverse=True)
    of_vertex = np.zeros(mesh.vertex_limit, np.int32)
    of_vertex[mesh.vertices] = inverse
    names = tuple(f"part {label}" if known.dtype.kind in "iufb" else str(label) for label in known.tolist())
    return Membership(mesh, of_vertex[mesh.faces[:, 0]], names, tuple(known.tolist()))
