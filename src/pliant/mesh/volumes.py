"""VolumeMesh: cells of several types, and what is derived from their indices alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.mesh.cell_features import Cells, cells_of
from pliant.mesh.cells import (
    CORNER_COUNT,
    MOST_CORNERS,
    NO_RANKS,
    SOLID_TYPES,
    TYPES,
    Rows,
    count_solids,
    first_repetition,
    list_corners,
    list_edges,
    list_triangles,
    number_triangles,
    transpose,
)
from pliant.mesh.changed.cells import MeshChange, as_ids
from pliant.mesh.changed.volumes import carry_over, change_cells
from pliant.mesh.derived import Derives, derived, derived_from
from pliant.mesh.foreign import with_blocks
from pliant.mesh.o_sets import TooManyOrphans, o_sets
from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import (
    MeshError,
    ShapeError,
    as_indices,
    read_only,
    require_in_range,
    thread_count,
)
from pliant.runtime.threads import ThreadPool

IGNORED = ("vertex", "line")


class CellTypeError(MeshError):
    """Cells of a type that is not supported."""


class RepeatedVertexError(MeshError):
    """A cell names a vertex twice."""


class Surface(TriMesh):
    """Boundary of a volume mesh, with the vertices of that mesh: the same positions serve both.

    faces : (k, 3) int32, ascending by their ids in the volume mesh
    volume_faces : (k,) int32, those ids
    cells : (k,) int32, the first cell that has each face; seen from there, it is oriented outward
    volume_edges : (e,) int32, ids in the volume mesh of the edges of the surface
    """

    def __init__(self, volume: VolumeMesh) -> None:
        self.volume_faces: np.ndarray = read_only(np.flatnonzero(volume.boundary).astype(np.int32))
        super().__init__(volume.faces[self.volume_faces])
        self.cells: np.ndarray = read_only(volume.face_cells.items[volume.face_cells.start[self.volume_faces]])
        # Edges in lexicographic order stay so: this is what TriMesh derives, without sorting once more.
        sides, rank = volume.face_edges[self.volume_faces], np.zeros(len(volume.edges), np.int32)
        rank[sides] = 1
        self.volume_edges: np.ndarray = read_only(np.flatnonzero(rank).astype(np.int32))
        rank[self.volume_edges] = np.arange(len(self.volume_edges))
        TriMesh._edge_table.keep(self, (volume._edges[self.volume_edges], rank[sides]))


class VolumeMesh(Derives):
    """Topology of a mesh of tetrahedra, hexahedra, wedges, pyramids, and shells of triangles and quadrilaterals.

    Cells are numbered through the types in the order of ``type_names``, solids before shells, whatever the order given.
    Vertices that no cell names take no part. Positions are given to the queries, not to the mesh.

    Parameters
    ----------
    cells : {type: (m, k) integers}, optional
        Vertex ids of the corners, in the order of meshio and VTK, of cells of the types in ``type_names``: any mix of
        types, any connectivity; non-manifold, duplicate, inverted and unconnected cells are fine. Or a meshio mesh or a
        grid of pyvista, of which lines and vertices are left out.
    ranks : (n,) integers, optional
        Of the vertices. A quadrilateral is split at the corner with the smallest rank, of equal ones at that with the
        smallest id; default: the ids. A copy of a vertex with the rank of that vertex leaves all diagonals as they are.

    Raises
    ------
    MeshError
        ``CellTypeError`` where a type is not supported, ``RepeatedVertexError`` where a cell names a vertex twice, and
        others where the input is wrong; the message says what and where.
    """

    type_names = TYPES

    def __init__(self, cells: Mapping[str, Any] | Any = None, *, ranks: Any = None) -> None:
        given = {} if cells is None else cells
        if not isinstance(given, Mapping):
            if not hasattr(given, "cells"):
                raise ShapeError(
                    f"cells must be a dict of types and arrays, such as {{'tetra': ...}}, not {type(cells).__name__}"
                )
            given = _joined(given)
        _require_known(given)
        # Copies: what is derived from them is kept, and must not go stale when the caller's arrays change.
        self._cells: dict[str, np.ndarray] = {
            name: as_indices(given.get(name, ()), name, _columns(name)).copy() for name in TYPES
        }
        first = 0
        for name, array in self._cells.items():
            i, vertex = first_repetition(array)
            if i >= 0:
                raise RepeatedVertexError(f"{name} {i} (cell {first + i}) names vertex {vertex} twice")
            first += len(array)
        self._ranks: np.ndarray = NO_RANKS if ranks is None else self._ranks_from(ranks)

    def _ranks_from(self, given: Any) -> np.ndarray:
        ranks = as_indices(given, "ranks", 1).copy()
        if len(ranks) < self.vertex_limit:
            raise ShapeError(f"ranks has {len(ranks)} rows, but the mesh has a vertex {self.vertex_limit - 1}")
        return ranks

    def __repr__(self) -> str:
        parts = [f"{len(array)} {name}" for name, array in self._cells.items() if len(array)]
        return f"VolumeMesh({', '.join(parts) or '0 cells'})"

    @property
    def cells(self) -> Mapping[str, np.ndarray]:
        """(m, k) int32 of each type."""
        return MappingProxyType({name: read_only(array) for name, array in self._cells.items()})

    @property
    def ranks(self) -> np.ndarray | None:
        """(n,) int32 of the vertices, which quadrilaterals are split by; None where it is by their ids."""
        return read_only(self._ranks) if len(self._ranks) else None

    @property
    def types(self) -> np.ndarray:
        """(c,) int8: the type of each cell, an index into ``type_names``."""
        return read_only(self._types)

    @derived
    def _types(self) -> np.ndarray:
        counts = [len(array) for array in self._cells.values()]
        return np.repeat(np.arange(len(TYPES), dtype=np.int8), counts)

    @property
    def solid_count(self) -> int:
        """Cells below this number are solids, the others are shells."""
        return sum(len(self._cells[name]) for name in TYPES[:SOLID_TYPES])

    @property
    def corners(self) -> np.ndarray:
        """(c, 8) int32: vertices of each cell, the last one repeated to fill up."""
        return read_only(self._corners)

    @derived_from(_types)
    def _corners(self) -> np.ndarray:
        out = np.empty((len(self.types), MOST_CORNERS), np.int32)
        first = 0
        for array in self._cells.values():
            block = out[first : first + len(array)]
            block[:, : array.shape[1]] = array
            block[:, array.shape[1] :] = array[:, -1:]
            first += len(array)
        return out

    @property
    def corner_count(self) -> np.ndarray:
        """(c,) int8: number of vertices of each cell."""
        return self._corner_count

    @property
    def _corner_count(self) -> np.ndarray:
        return CORNER_COUNT[self._types]

    @derived
    def vertex_limit(self) -> int:
        """One more than the largest vertex index in use."""
        return max((int(array.max()) + 1 for array in self._cells.values() if array.size), default=0)

    @property
    def vertices(self) -> np.ndarray:
        """Ids of the vertices that take part, ascending."""
        return read_only(self._vertices)

    @derived_from(vertex_limit)
    def _vertices(self) -> np.ndarray:
        used = np.zeros(self.vertex_limit, bool)
        for array in self._cells.values():
            used[array.ravel()] = True
        return np.flatnonzero(used).astype(np.int32)

    @derived_from(_types, _corners, vertex_limit)
    def _face_table(self) -> tuple[TriMesh, Rows]:
        start, triangles = list_triangles(self._types, self._corners, self._ranks)
        faces, ids = number_triangles(triangles, self.vertex_limit)
        return TriMesh(faces), Rows(start, ids)

    # What kernels get of what is public below: numba would compile them once more for read-only arrays.

    @property
    def _faces(self) -> np.ndarray:
        return self._face_table[0]._faces

    @property
    def _edges(self) -> np.ndarray:
        return self._face_table[0]._edges

    @property
    def _face_edges(self) -> np.ndarray:
        return self._face_table[0]._face_edges

    @property
    def _cell_faces(self) -> Rows:
        return self._face_table[1]

    def features(self) -> TriMesh:
        """All faces as a triangle mesh, those inside too.

        Returns
        -------
        TriMesh
            With the faces, edges and vertices of this mesh, by the same ids.
        """
        return self._face_table[0]

    @property
    def faces(self) -> np.ndarray:
        """(m, 3) int32: every triangle of the cells' faces once; a quadrilateral is two, split at its smallest vertex.

        In the order of the first cells that have them, and oriented as those see them from outside; shells as given.
        """
        return self.features().faces

    @property
    def edges(self) -> np.ndarray:
        """(e, 2) int32: every edge once, smaller vertex first, in lexicographic order; one diagonal of each
        quadrilateral is among them."""
        return self.features().edges

    @property
    def face_edges(self) -> np.ndarray:
        """(m, 3) int32: edge ids of the sides f0 f1, f1 f2, f2 f0."""
        return self.features().face_edges

    @property
    def cell_faces(self) -> Rows:
        """Faces of each cell, in the order of its polygons; both triangles of a quadrilateral together."""
        return read_only(self._cell_faces)

    @property
    def cell_edges(self) -> Rows:
        """Edges of each cell, diagonals too, ascending."""
        return read_only(self._cell_edges)

    @derived_from(_types, _face_table)
    def _cell_edges(self) -> Rows:
        return list_edges(self._types, self._cell_faces, self._face_edges)

    @property
    def vertex_cells(self) -> Rows:
        """Cells at each of vertex_limit vertices, ascending."""
        return read_only(self._vertex_cells)

    @derived_from(_types, _corners, vertex_limit)
    def _vertex_cells(self) -> Rows:
        return transpose(list_corners(self._corner_count, self._corners), self.vertex_limit)

    @property
    def edge_cells(self) -> Rows:
        """Cells at each edge, ascending."""
        return read_only(self._edge_cells)

    @derived_from(_cell_edges, _face_table)
    def _edge_cells(self) -> Rows:
        return transpose(self._cell_edges, len(self.edges))

    @property
    def face_cells(self) -> Rows:
        """Cells at each face, ascending: solids before shells, any number of either."""
        return read_only(self._face_cells)

    @derived_from(_face_table)
    def _face_cells(self) -> Rows:
        return transpose(self._cell_faces, len(self.faces))

    @derived_from(_types, _corners, _cell_edges, _face_table, _vertex_cells, _edge_cells, _face_cells)
    def cell_table(self) -> Cells:
        """Cells with their features, and which of them they own: what the stages need to know."""
        return cells_of(self)

    @property
    def solids_at_faces(self) -> np.ndarray:
        """(m,) int8: how many solids have each face, 2 if more; a solid that is listed twice is one."""
        return read_only(self._solids_at_faces)

    @derived_from(_face_cells, _types, _corners)
    def _solids_at_faces(self) -> np.ndarray:
        return count_solids(self._face_cells, self._types, self._corners)

    @property
    def boundary(self) -> np.ndarray:
        """(m,) bool: fewer than two solids have the face, or a shell has it."""
        last = self.face_cells.items[self.face_cells.start[1:] - 1]  # shells come last
        return (self.solids_at_faces < 2) | (last >= self.solid_count)

    @property
    def components(self) -> np.ndarray:
        """(vertex_limit,) int32: label of each vertex, equal where a chain of cells that share vertices leads from one
        to the other; -1 for vertices that take no part."""
        return self.features().components  # the edges of a cell join all its vertices

    @property
    def o_sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The orphans, (vertex, face) and (edge, edge), (k, 2) int32 each, sorted, the smaller edge first: without a
        common vertex, and every cell of the one shares a vertex with every cell of the other."""
        return read_only(self._o_sets)

    @derived_from(cell_table)
    def _o_sets(self) -> tuple[np.ndarray, np.ndarray]:
        return o_sets(self.cell_table)

    @derived_from(_o_sets)
    def has_o_sets(self) -> bool:
        """Whether ``o_sets`` are few enough to be listed: n cells at one vertex have about n^2."""
        try:
            return bool(self._o_sets)
        except TooManyOrphans:
            return False

    def surface(self) -> Surface:
        """The faces on the boundary as a triangle mesh.

        Returns
        -------
        Surface
            A TriMesh with the same vertices; its ``volume_faces`` and ``volume_edges`` are the ids in this mesh.
        """
        return self._surface

    @derived_from(_face_table, _face_cells, _solids_at_faces)
    def _surface(self) -> Surface:
        return Surface(self)

    def changed(
        self,
        *,
        add: Mapping[str, Any] | None = None,
        remove: Any = None,
        ranks: Any = None,
        threads: int | None = None,
    ) -> VolumeMesh:
        """A new mesh without some of the cells, and with others.

        It is what the constructor makes of these cells; ids are not those of this mesh. What this mesh has computed is
        brought up to date for the new one; what it has not is computed when it is asked for.

        Parameters
        ----------
        add : {type: (m, k) integers}
            new cells, as the constructor takes them; each comes after the others of its type
        remove : (k,) integers
            ids of the cells to leave out
        ranks : (n,) integers, optional
            those of the new mesh, the same for the vertices of this one; default: those of this mesh, and where it has
            none, or no more, the ids
        threads : int
            how many to use at most; all cores by default

        Returns
        -------
        VolumeMesh
            its ``change`` tells which cells are which

        Raises
        ------
        MeshError
            where ``remove`` names cells that this mesh does not have, ``add`` is none of cells, or ``ranks`` change
        """
        added, pool = VolumeMesh(add), ThreadPool(thread_count(threads))
        kept = np.ones(len(self.types), bool)
        kept[as_ids(remove, len(kept), "cell")] = False
        new = VolumeMesh.__new__(VolumeMesh)  # nothing has to be checked again
        new._cells, change = change_cells(self, kept, added._cells)
        new._ranks = self._ranks_of_changed(new, ranks)
        new.change = MeshChange(self, change.old_of_new)
        carry_over(self, new, change, pool)
        return new

    def _ranks_of_changed(self, new: VolumeMesh, given: Any) -> np.ndarray:
        if given is None and not len(self._ranks):
            return NO_RANKS
        more = np.arange(len(self._ranks), max(self.vertex_limit, new.vertex_limit), dtype=np.int32)
        known = np.concatenate((self._ranks, more))
        if given is None:
            return known
        ranks = new._ranks_from(given)
        same = min(len(ranks), self.vertex_limit)
        if not np.array_equal(ranks[:same], known[:same]):
            raise MeshError("ranks differ from those of this mesh: its quadrilaterals would be split at other corners")
        return ranks

    def require_in_range(self, vertex_count: int) -> None:
        """Raise an error where a cell names a vertex that does not exist.

        Parameters
        ----------
        vertex_count : int
            Number of vertices: ids are below it.

        Raises
        ------
        VertexIndexError
            The message names the cell and the vertex.
        """
        for name, array in self._cells.items():
            require_in_range(array, name, vertex_count)


def as_volume(mesh: Any) -> VolumeMesh:
    """A VolumeMesh from what users have: a dict of cells, or an object with blocks of cells."""
    return mesh if isinstance(mesh, VolumeMesh) else VolumeMesh(_joined(mesh))


def _joined(mesh: Any) -> dict[str, np.ndarray]:
    """Blocks of a type in their order. Those of vertices and lines are left out."""
    found: dict[str, list[np.ndarray]] = {}
    for i, (name, data) in enumerate(_blocks(mesh)):
        if name in IGNORED:
            warnings.warn(f"{len(data)} cells of type {name} are left out of the volume mesh", stacklevel=4)
            continue
        _require_known((name,))
        found.setdefault(name, []).append(as_indices(data, f"block {i}: {name}", _columns(name)))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _blocks(mesh: Any) -> Iterator[tuple[str, Any]]:
    mesh = with_blocks(mesh)
    blocks: Any = getattr(mesh, "cells", mesh)
    if isinstance(blocks, Mapping):
        blocks = blocks.items()
    elif not isinstance(blocks, list | tuple):
        raise ShapeError(f"a volume mesh is a dict of cells or has blocks of them; {type(mesh).__name__} is neither")
    for i, block in enumerate(blocks):
        if hasattr(block, "type"):
            yield block.type, block.data
        elif isinstance(block, list | tuple) and len(block) == 2 and isinstance(block[0], str):
            yield block[0], block[1]
        else:
            raise ShapeError(f"block {i} of the volume mesh is no pair of a type and its cells")


def _require_known(names: Any) -> None:
    unknown = [str(name) for name in names if name not in TYPES]
    if unknown:
        raise CellTypeError(f"cells of type {', '.join(unknown)} are not supported; supported are {', '.join(TYPES)}")


def _columns(name: str) -> int:
    return int(CORNER_COUNT[TYPES.index(name)])
