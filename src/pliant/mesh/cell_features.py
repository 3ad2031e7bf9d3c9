"""Cells, the features they have and those they own: what the stages need to know of a mesh, surface or volume.

The cells of a surface are its elements: a face is a cell with three corners and one face, a loose edge one with two
corners, a loose point one with a single corner. All by the ids of the mesh, so that nothing of it depends on a motion
or on the order of a tree. A feature belongs to the first cell that has it. Dynamic assignment looks through the lists
of cells of a feature, which is rarely needed: cells whose ``neighbourhood`` has nothing in common are far from each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from pliant.mesh.cells import MOST_CORNERS, Rows
from pliant.runtime.jit import bare_kernel, helper, in_line, kernel, prefetch
from pliant.runtime.threads import SERIAL, ThreadPool

if TYPE_CHECKING:
    from pliant.mesh.triangles import TriMesh
    from pliant.mesh.volumes import VolumeMesh

    CellMesh: TypeAlias = TriMesh | VolumeMesh

# Words of 64 bits of a hashed set of vertices. Of the separate pairs with overlapping boxes on cloth-ball
# (armadillo-rollers), 11 % (8 %) are near. With 4 words 18 % (15 %) are taken for near, with 8 words 14 % (11 %), and a
# row of 8 is a line of the cache.
NEIGHBOURHOOD_WORDS = 8
# Most vertices, faces and edges of a cell, a hexahedron: what a pair of cells can name.
MOST_FACES, MOST_EDGES = 12, 18
MOST_VERTEX_FACE, MOST_EDGE_EDGE = 2 * MOST_CORNERS * MOST_FACES, MOST_EDGES**2


class Cells(NamedTuple):
    corners: np.ndarray  # (c, 8) int32: different vertices, the last one repeated to fill up
    corner_count: np.ndarray  # (c,) int8
    edges: Rows  # of each cell
    faces: Rows
    vertex_cells: Rows  # at each vertex, ascending
    edge_cells: Rows
    face_cells: Rows
    owned_vertices: Rows  # of each cell
    owned_edges: Rows
    owned_faces: Rows
    neighbourhood: np.ndarray  # (c, 8) int64: hashed set of the vertices of a cell and of the owners of its features
    ends: np.ndarray  # (e, 2) int32, vertices of the edges
    triangles: np.ndarray  # (m, 3) int32, those of the faces


class Owners(NamedTuple):
    """Features of one kind."""

    owned: Rows  # of each cell: those of which it is the first, ascending
    first: np.ndarray  # (m,) int32: the first cell of each, -1 for those without any


def cells_of(mesh: CellMesh, pool: ThreadPool = SERIAL) -> Cells:
    count, ids = len(mesh._corners), np.arange(len(mesh._corners))
    kinds: dict[int, Owners] = {}

    def own(_worker: int, kind: int) -> None:
        rows = (mesh._vertex_cells, mesh._edge_cells, mesh._face_cells)[kind]
        kinds[kind] = owners_of_faces(rows, count) if kind == 2 else owners(rows, count)

    pool.run(own, (1, 0, 2))
    three = kinds[0], kinds[1], kinds[2]
    cells = join_cells(mesh, three, np.empty((count, NEIGHBOURHOOD_WORDS), np.int64))
    pool.run_range(lambda begin, end: find_neighbourhoods(cells, three, ids[begin:end]), count)
    return cells


def owners(features: Rows, count: int) -> Owners:
    """What each of so many cells owns; features : the cells at each."""
    start, first = np.zeros(count + 1, np.int64), np.full(len(features.start) - 1, -1, np.int32)
    items = np.empty(len(first), np.int32)
    found = _list_owned(features.start, features.items, start, items, first)
    return Owners(Rows(start, items[:found]), first)  # as many, but for vertices without cells


def owners_of_faces(faces: Rows, count: int) -> Owners:
    """The same for faces, which are numbered in the order of their first cells."""
    start, first = np.zeros(count + 1, np.int64), np.empty(len(faces.start) - 1, np.int32)
    _list_in_order(faces.start, faces.items, start, first)
    return Owners(Rows(start, np.arange(len(first), dtype=np.int32)), first)


def join_cells(mesh: CellMesh, kinds: tuple[Owners, Owners, Owners], neighbourhood: np.ndarray) -> Cells:
    """kinds : vertices, edges and faces."""
    vertices, edges, faces = kinds
    return Cells(
        mesh._corners, mesh._corner_count, mesh._cell_edges, mesh._cell_faces, mesh._vertex_cells, mesh._edge_cells,
        mesh._face_cells, vertices.owned, edges.owned, faces.owned, neighbourhood, mesh._edges, mesh._faces,
    )  # fmt: skip


@kernel
def _list_owned(start, items, begin, out, first):
    """Writes what each cell owns, out[begin[i]:begin[i + 1]]: the features of which it is the first, ascending; and the
    first cells, where features have any. Returns how many features are owned."""
    count = len(begin) - 1
    for f in range(len(first)):
        if start[f] < start[f + 1]:
            first[f] = items[start[f]]
            begin[first[f] + 1] += 1
    for i in range(count):
        begin[i + 1] += begin[i]
    fill = begin.copy()
    for f in range(len(first)):
        if first[f] >= 0:
            out[fill[first[f]]] = f
            fill[first[f]] += 1
    return begin[count]


@kernel
def _list_in_order(start, items, begin, first):
    """The same for features that are numbered in the order of their first cells, and have some: begin and first."""
    for f in range(len(first)):
        first[f] = items[start[f]]
        begin[first[f] + 1] = f + 1  # the last one stays
    for i in range(len(begin) - 1):
        begin[i + 1] = max(begin[i], begin[i + 1])


@helper
def is_corner(triangles, f, v):
    return v == triangles[f, 0] or v == triangles[f, 1] or v == triangles[f, 2]


@helper
def have_common_end(ends, a, b):
    a0, a1, b0, b1 = ends[a, 0], ends[a, 1], ends[b, 0], ends[b, 1]
    return a0 == b0 or a0 == b1 or a1 == b0 or a1 == b1


@helper
def cells_adjacent(corners, count, i, j):
    """Cells i and j share a vertex; a cell is adjacent to itself."""
    for s in range(count[i]):
        v = corners[i, s]
        for t in range(count[j]):
            if v == corners[j, t]:
                return True
    return False


@helper
def are_far(neighbourhood, i, j):
    """Proves that no owner of a feature of cell i shares a vertex with one of j, nor i with j."""
    common = np.int64(0)
    for word in range(NEIGHBOURHOOD_WORDS):
        common |= neighbourhood[i, word] & neighbourhood[j, word]
    return common == 0


@bare_kernel
def find_neighbourhoods(cells, kinds, ids):
    """Writes the neighbourhoods of the cells ids; kinds : Owners, of vertices, edges and faces."""
    of_vertex, of_edge, of_face = kinds[0].first, kinds[1].first, kinds[2].first
    corners, corner_count, edges, faces, sets = (
        cells.corners, cells.corner_count, cells.edges, cells.faces, cells.neighbourhood,
    )  # fmt: skip
    for r in range(len(ids)):
        i = ids[r]
        if r + 2 < len(ids):
            _prefetch_firsts(cells, (of_vertex, of_edge, of_face), ids[r + 2])
        for word in range(NEIGHBOURHOOD_WORDS):
            sets[i, word] = 0
        for k in range(corner_count[i]):  # the owners of its vertices have its own corners among theirs
            _add_corners(sets, i, corners, corner_count, of_vertex[corners[i, k]])
        for s in range(edges.start[i], edges.start[i + 1]):
            _add_corners(sets, i, corners, corner_count, of_edge[edges.items[s]])
        for s in range(faces.start[i], faces.start[i + 1]):
            j = of_face[faces.items[s]]
            if j != i:
                _add_corners(sets, i, corners, corner_count, j)


@helper
def _prefetch_firsts(cells, firsts, i):
    """The first cells of all features of cell i, which are anywhere in memory."""
    in_line()
    of_vertex, of_edge, of_face = firsts
    for k in range(cells.corner_count[i]):
        prefetch(cells.corners, of_vertex[cells.corners[i, k]])
    for s in range(cells.edges.start[i], cells.edges.start[i + 1]):
        prefetch(cells.corners, of_edge[cells.edges.items[s]])
    for s in range(cells.faces.start[i], cells.faces.start[i + 1]):
        prefetch(cells.corners, of_face[cells.faces.items[s]])


@helper
def _add_corners(sets, i, corners, corner_count, j):
    """The set of cell i gets the vertices of cell j, hashed: neighbours in space often differ in their last bits."""
    for k in range(corner_count[j]):
        v = np.int64(corners[j, k])
        sets[i, (v >> 6) & (NEIGHBOURHOOD_WORDS - 1)] |= np.int64(1) << (v & 63)
