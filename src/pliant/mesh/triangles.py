"""TriMesh: triangles, with loose edges and points where wanted, and what is derived from their indices alone."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pliant.mesh.cell_features import Cells, cells_of
from pliant.mesh.cells import Rows, keep_distinct, list_distinct, transpose
from pliant.mesh.features import Elements, elements_of
from pliant.mesh.foreign import triangles_of
from pliant.mesh.o_sets import o_sets
from pliant.runtime.arrays import ShapeError, as_indices, read_only
from pliant.runtime.jit import helper, kernel


class TriMesh:
    """Topology of a triangle mesh; any triangle soup is accepted.

    faces : (m, 3) integers; open, non-manifold, duplicate and degenerate faces are fine. Alone, also a trimesh, meshio
        or pyvista object: its triangles, and lines and vertices where these are cells
    edges : (k, 2) integers, loose edges (ropes, hair) beside those of the faces
    points : (k,) integers, loose points (particles)

    Vertices that no face, edge or point names take no part. Positions are given to the queries, not to the mesh.
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

    @cached_property
    def vertex_limit(self) -> int:
        """One more than the largest vertex index in use."""
        arrays = (self.faces, self.loose_edges, self.loose_points)
        return max((int(a.max()) + 1 for a in arrays if a.size), default=0)

    @cached_property
    def _edge_table(self) -> tuple[np.ndarray, np.ndarray]:
        face_edges = np.empty(self._faces.shape, np.int32)
        edges = np.empty((face_edges.size + len(self._loose_edges), 2), np.int32)
        count = _number_edges(self._faces, self._loose_edges, self.vertex_limit, edges, face_edges)
        return edges[:count].copy(), face_edges

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

    @cached_property
    def vertices(self) -> np.ndarray:
        """Ids of the vertices that take part, ascending."""
        used = np.zeros(self.vertex_limit, bool)
        for array in (self.faces, self.loose_edges, self.loose_points):
            used[array.ravel()] = True
        return read_only(np.flatnonzero(used).astype(np.int32))

    @cached_property
    def edge_face_count(self) -> np.ndarray:
        """(e,) number of faces at each edge: 0 loose, 1 boundary, 2 regular, more: non-manifold."""
        sides = self.face_edges[self.face_edges >= 0]
        return read_only(np.bincount(sides, minlength=len(self.edges)))

    @property
    def boundary_edges(self) -> np.ndarray:
        """Ids of the edges that have exactly one face."""
        return np.flatnonzero(self.edge_face_count == 1)

    @cached_property
    def vertex_faces(self) -> tuple[np.ndarray, np.ndarray]:
        """Incidence as (start, faces): the faces at vertex v are faces[start[v]:start[v + 1]], each once, ascending."""
        start, faces = transpose(list_distinct(self._faces), self.vertex_limit)
        return read_only((start, faces))

    @cached_property
    def components(self) -> np.ndarray:
        """(vertex_limit,) int32: label of the connected component of each vertex; -1 for vertices that take no part."""
        label = np.arange(self.vertex_limit)
        _unite(self._edges, label)
        taking_part = np.full(self.vertex_limit, -1, np.int32)
        taking_part[self.vertices] = np.unique(label[self.vertices], return_inverse=True)[1]
        return read_only(taking_part)

    # Its elements as cells, under the names that a volume mesh has for them: faces, loose edges, loose points.

    @cached_property
    def _elements(self) -> Elements:
        return elements_of(self)

    @cached_property
    def _distinct_corners(self) -> tuple[np.ndarray, np.ndarray]:
        corners = self._elements.corners
        out, count = np.empty(corners.shape, np.int32), np.empty(len(corners), np.int8)
        keep_distinct(corners, out, count)
        return out, count

    @property
    def _corners(self) -> np.ndarray:
        return self._distinct_corners[0]

    @property
    def _corner_count(self) -> np.ndarray:
        return self._distinct_corners[1]

    @cached_property
    def _cell_edges(self) -> Rows:
        return list_distinct(self._elements.sides)

    @cached_property
    def _cell_faces(self) -> Rows:
        faces = np.arange(len(self._faces), dtype=np.int32)
        return Rows(np.minimum(np.arange(len(self._elements.face) + 1), len(faces)), faces)

    @cached_property
    def _vertex_cells(self) -> Rows:
        return transpose(list_distinct(self._corners), self.vertex_limit)

    @cached_property
    def _edge_cells(self) -> Rows:
        return transpose(self._cell_edges, len(self._edges))

    @cached_property
    def _face_cells(self) -> Rows:
        return Rows(np.arange(len(self._faces) + 1), np.arange(len(self._faces), dtype=np.int32))

    @cached_property
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

    @cached_property
    def _o_sets(self) -> tuple[np.ndarray, np.ndarray]:
        return o_sets(self.cell_table)


@kernel
def _number_edges(faces, loose, vertex_count, edges, face_edges):
    """Writes the unique edges in lexicographic order and the edge ids of each face; returns how many edges there are.

    Buckets by smaller vertex, each of them sorted: mostly a few entries.
    """
    side_count = 3 * len(faces)
    total = side_count + len(loose)
    lower, upper = np.empty(total, np.int32), np.empty(total, np.int32)
    for s in range(total):
        if s < side_count:
            a, b = faces[s // 3, s % 3], faces[s // 3, (s + 1) % 3]
        else:
            a, b = loose[s - side_count, 0], loose[s - side_count, 1]
        lower[s], upper[s] = min(a, b), max(a, b)
    start = np.zeros(vertex_count + 2, np.int64)
    for s in range(total):
        start[lower[s] + 1] += 1
    for v in range(vertex_count):
        start[v + 1] += start[v]
    slot, fill = np.empty(total, np.int64), start.copy()
    for s in range(total):
        slot[fill[lower[s]]] = s
        fill[lower[s]] += 1
    edge_of_side, spare = np.empty(total, np.int32), np.empty(total, np.int64)
    count = 0
    for v in range(vertex_count):
        _sort_sides(slot, start[v], start[v + 1], upper, spare)
        count = _number_bucket(v, slot, start[v], start[v + 1], upper, edges, edge_of_side, count)
    for s in range(side_count):
        face_edges[s // 3, s % 3] = edge_of_side[s]
    return count


# Sides that are sorted by insertion: nearly all vertices have fewer; for one with 80,000 it took over ten seconds.
_FEW_SIDES = 32


@helper
def _sort_sides(slot, begin, end, upper, spare):
    """Sort slot[begin:end] by the other end of the sides: short runs by insertion, then merged in pairs."""
    for first in range(begin, end, _FEW_SIDES):
        last = min(first + _FEW_SIDES, end)
        for i in range(first + 1, last):
            s, j = slot[i], i
            while j > first and upper[slot[j - 1]] > upper[s]:
                slot[j] = slot[j - 1]
                j -= 1
            slot[j] = s
    length = _FEW_SIDES
    while length < end - begin:
        for first in range(begin, end - length, 2 * length):
            _merge_runs(slot, first, first + length, min(first + 2 * length, end), upper, spare)
        length *= 2


@helper
def _merge_runs(slot, begin, middle, end, upper, spare):
    """Merge the sorted slot[begin:middle] and slot[middle:end]."""
    for i in range(begin, middle):
        spare[i] = slot[i]
    i, j = begin, middle
    for k in range(begin, end):
        if i < middle and (j == end or upper[spare[i]] <= upper[slot[j]]):
            slot[k] = spare[i]
            i += 1
        else:
            slot[k] = slot[j]
            j += 1


@helper
def _number_bucket(v, slot, begin, end, upper, edges, edge_of_side, count):
    """Numbers the sorted sides of one vertex from count on; equal ones share an id, loops get -1."""
    for i in range(begin, end):
        other = upper[slot[i]]
        if other == v:
            edge_of_side[slot[i]] = -1
        elif i > begin and upper[slot[i - 1]] == other:
            edge_of_side[slot[i]] = count - 1
        else:
            edges[count, 0], edges[count, 1] = v, other
            edge_of_side[slot[i]] = count
            count += 1
    return count


@kernel
def _unite(edges, parent):
    """Smallest vertex of each vertex's component, by union-find with path halving; parent : each its own, at first."""
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for v in range(len(parent)):
        parent[v] = parent[parent[v]]  # parents are smaller, so theirs is final already


def as_mesh(mesh: Any) -> TriMesh:
    """A TriMesh from what users have."""
    if isinstance(mesh, TriMesh):
        return mesh
    if mesh is None:
        raise ShapeError("mesh is None; an empty mesh is TriMesh()")
    return TriMesh(mesh)
