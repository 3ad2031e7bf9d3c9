"""TriMesh: triangles, with loose edges and points where wanted, and what is derived from their indices alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.mesh.cell_features import Cells, cells_of
from pliant.mesh.cells import MOST_CORNERS, Rows, keep_distinct, list_corners, list_distinct, transpose
from pliant.mesh.changed.cells import MeshChange, as_ids
from pliant.mesh.changed.surfaces import change_surface
from pliant.mesh.derived import Derives, derived, derived_from
from pliant.mesh.edges import number_edges, unite
from pliant.mesh.features import Elements, elements_of, owner_bits
from pliant.mesh.foreign import triangles_of
from pliant.mesh.links import Links, links_of
from pliant.mesh.o_sets import o_sets
from pliant.runtime.arrays import ShapeError, as_indices, read_only, thread_count
from pliant.runtime.threads import ThreadPool


class TriMesh(Derives):
    """Topology of a triangle mesh; any triangle soup is accepted.

    Vertices that no face, edge or point names take no part. Positions are given to the queries, not to the mesh.

    Parameters
    ----------
    faces : (m, 3) integers, optional
        Vertex ids; open, non-manifold, duplicate and degenerate faces are fine. Alone, also a trimesh, meshio or
        pyvista object: its triangles, and lines and vertices where these are cells.
    edges : (k, 2) integers, optional
        Loose edges (ropes, hair) beside those of the faces.
    points : (k,) integers, optional
        Loose points (particles).

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """

    def __init__(self, faces: Any = None, edges: Any = None, points: Any = None) -> None:
        if edges is None and points is None:
            faces, edges, points = triangles_of(faces)
        # Copies: what is derived from them is kept, and must not go stale when the caller's arrays change.
        self._faces: np.ndarray = as_indices(() if faces is None else faces, "faces", 3).copy()
        self._loose_edges: np.ndarray = as_indices(() if edges is None else edges, "edges", 2).copy()
        self._loose_points: np.ndarray = as_indices(() if points is None else points, "points", 1).copy()

    def __repr__(self) -> str:
        loose = f", {len(self.loose_edges)} loose edges" if len(self.loose_edges) else ""
        loose += f", {len(self.loose_points)} loose points" if len(self.loose_points) else ""
        return f"TriMesh({len(self.faces)} faces{loose})"

    @property
    def faces(self) -> np.ndarray:
        """(m, 3) int32"""
        return read_only(self._faces)

    @property
    def loose_edges(self) -> np.ndarray:
        """(k, 2) int32"""
        return read_only(self._loose_edges)

    @property
    def loose_points(self) -> np.ndarray:
        """(k,) int32"""
        return read_only(self._loose_points)

    @derived
    def vertex_limit(self) -> int:
        """One more than the largest vertex index in use."""
        arrays = (self._faces, self._loose_edges, self._loose_points)
        return max((int(a.max()) + 1 for a in arrays if a.size), default=0)

    @derived_from(vertex_limit)
    def _edge_table(self) -> tuple[np.ndarray, np.ndarray]:
        return number_edges(self._faces, self._loose_edges, self.vertex_limit)

    @property
    def _edges(self) -> np.ndarray:
        return self._edge_table[0]

    @property
    def _face_edges(self) -> np.ndarray:
        return self._edge_table[1]

    @property
    def edges(self) -> np.ndarray:
        """(e, 2) int32: every edge once, smaller vertex first, in lexicographic order; no edge joins a vertex to
        itself."""
        return read_only(self._edges)

    @property
    def face_edges(self) -> np.ndarray:
        """(m, 3) int32: edge ids of the sides f0 f1, f1 f2, f2 f0; -1 where both ends are one vertex."""
        return read_only(self._face_edges)

    @property
    def vertices(self) -> np.ndarray:
        """Ids of the vertices that take part, ascending."""
        return read_only(self._vertices)

    @derived_from(vertex_limit)
    def _vertices(self) -> np.ndarray:
        used = np.zeros(self.vertex_limit, bool)
        for array in (self._faces, self._loose_edges, self._loose_points):
            used[array.ravel()] = True
        return np.flatnonzero(used).astype(np.int32)

    @derived_from(_edge_table)
    def edge_face_count(self) -> np.ndarray:
        """(e,) number of faces at each edge: 0 loose, 1 boundary, 2 regular, more: non-manifold."""
        sides = self.face_edges[self.face_edges >= 0]
        return read_only(np.bincount(sides, minlength=len(self.edges)))

    @property
    def boundary_edges(self) -> np.ndarray:
        """Ids of the edges that have exactly one face."""
        return np.flatnonzero(self.edge_face_count == 1)

    @derived_from(vertex_limit)
    def vertex_faces(self) -> tuple[np.ndarray, np.ndarray]:
        """Incidence as (start, faces): the faces at vertex v are faces[start[v]:start[v + 1]], each once, ascending."""
        start, faces = transpose(list_distinct(self._faces), self.vertex_limit)
        return read_only((start, faces))

    @derived_from(vertex_limit, _edge_table, _vertices)
    def components(self) -> np.ndarray:
        """(vertex_limit,) int32: label of the connected component of each vertex; -1 for vertices that take no part."""
        label = np.arange(self.vertex_limit)
        unite(self._edges, label)
        taking_part = np.full(self.vertex_limit, -1, np.int32)
        taking_part[self.vertices] = np.unique(label[self.vertices], return_inverse=True)[1]
        return read_only(taking_part)

    def changed(self, *, add: Any = None, remove: Any = None, threads: int | None = None) -> TriMesh:
        """A new mesh without some of the faces, and with others: for cuts and remeshing.

        It is what the constructor makes of these faces and of the loose edges and points of this mesh, which stay; ids
        of faces and edges are not those of this mesh. What this mesh has computed is brought up to date for the new
        one; what it has not is computed when it is asked for.

        Parameters
        ----------
        add : (k, 3) integers
            vertices of new faces, which come after the others; they may name new vertices
        remove : (k,) integers
            ids of the faces to leave out
        threads : int
            how many to use at most; all cores by default

        Returns
        -------
        TriMesh
            its ``change`` tells which elements are which

        Raises
        ------
        MeshError
            where ``remove`` names faces that this mesh does not have, or ``add`` is none of faces

        Examples
        --------
        A triangle is split at a new vertex in its middle:

        >>> mesh = TriMesh([(0, 1, 2), (2, 1, 3)])
        >>> split = mesh.changed(remove=[0], add=[(0, 1, 4), (1, 2, 4), (2, 0, 4)])
        >>> split.change.old_of_new.tolist()
        [1, -1, -1, -1]
        """
        added, pool = as_indices(() if add is None else add, "add", 3), ThreadPool(thread_count(threads))
        kept = np.ones(len(self._faces), bool)
        kept[as_ids(remove, len(kept), "face")] = False
        new = TriMesh.__new__(TriMesh)  # nothing has to be checked again
        new._faces = np.concatenate((self._faces[kept], added))
        new._loose_edges, new._loose_points = self._loose_edges, self._loose_points
        new.change = MeshChange(self, change_surface(self, new, kept, pool).old_of_new)
        return new

    # Its elements as cells, under the names that a volume mesh has for them: faces, loose edges, loose points.

    @derived_from(_edge_table, edge_face_count, vertex_limit, _vertices)
    def _elements(self) -> Elements:
        return elements_of(self)

    @property
    def _has_faces_only(self) -> bool:
        return not len(self._loose_edges) and not len(self._loose_points)

    @property
    def _sides(self) -> np.ndarray:
        """(k, 3) int32: edges of the elements, -1 where there is none."""
        return self._face_edges if self._has_faces_only else self._elements.sides

    @derived_from(_elements, _edge_table, vertex_limit)
    def _owner_bits(self) -> np.ndarray:
        return owner_bits(self)

    @derived_from(vertex_limit)
    def _links(self) -> Links:
        return links_of(self._faces, np.union1d(self._loose_edges, self._loose_points), self.vertex_limit)

    @derived_from(_elements)
    def _distinct_corners(self) -> tuple[np.ndarray, np.ndarray]:
        corners = self._elements.corners
        out, count = np.empty((len(corners), MOST_CORNERS), np.int32), np.empty(len(corners), np.int8)
        keep_distinct(corners, out, count)
        return out, count

    @property
    def _corners(self) -> np.ndarray:
        return self._distinct_corners[0]

    @property
    def _corner_count(self) -> np.ndarray:
        return self._distinct_corners[1]

    @derived_from(_elements)
    def _cell_edges(self) -> Rows:
        return list_distinct(self._elements.sides)

    @derived_from(_elements)
    def _cell_faces(self) -> Rows:
        faces = np.arange(len(self._faces), dtype=np.int32)
        return Rows(np.minimum(np.arange(len(self._elements.face) + 1), len(faces)), faces)

    @derived_from(_distinct_corners, vertex_limit)
    def _vertex_cells(self) -> Rows:
        return transpose(list_corners(self._corner_count, self._corners), self.vertex_limit)

    @derived_from(_cell_edges, _edge_table)
    def _edge_cells(self) -> Rows:
        return transpose(self._cell_edges, len(self._edges))

    @derived
    def _face_cells(self) -> Rows:
        return Rows(np.arange(len(self._faces) + 1), np.arange(len(self._faces), dtype=np.int32))

    @derived_from(_distinct_corners, _cell_edges, _cell_faces, _vertex_cells, _edge_cells, _face_cells, _edge_table)
    def cell_table(self) -> Cells:
        """Elements as cells with their features, and which of them they own: what dynamic assignment needs to know.

        Faces come first, then the edges that no face has, then the points that nothing else names.
        """
        return cells_of(self)

    @property
    def o_sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The orphans, (vertex, face) and (edge, edge), (k, 2) int32 each, sorted, the smaller edge first: without a
        common vertex, and every element of the one shares a vertex with every element of the other."""
        return read_only(self._o_sets)

    @derived_from(cell_table)
    def _o_sets(self) -> tuple[np.ndarray, np.ndarray]:
        return o_sets(self.cell_table)


def as_mesh(mesh: Any) -> TriMesh:
    """A TriMesh from what users have."""
    if isinstance(mesh, TriMesh):
        return mesh
    if mesh is None:
        raise ShapeError("mesh is None; an empty mesh is TriMesh()")
    return TriMesh(mesh)
