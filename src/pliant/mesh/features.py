"""Elements and the features they own: what the hierarchy is built over and what makes each feature pair come once.

An element is a face, a loose edge or a loose point of a surface, or a cell of a volume mesh. Static assignment
(representative triangles; Algorithm 4 of paper 004): each feature belongs to one element that contains it, and a pair
of features is examined where the pair of its owners is. That needs *every* pair of owners to be visited, adjacent ones
too, and each owner with itself.

Which one owns a feature is free. The first is what dynamic assignment builds on (``cell_features.py``). Static
assignment is faster the fewer there are that own anything: two elements without a vertex to test or edges on both sides
need not be examined. Of the pairs with overlapping boxes of armadillo-rollers at rest that is 9 % with first owners,
and 46 % with few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cell_features import Cells
from pliant.mesh.cells import Rows
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

if TYPE_CHECKING:
    from pliant.mesh.triangles import TriMesh


class Elements(NamedTuple):
    # (k, 3) int32 vertices; an edge names its second twice, a point its vertex three times. Of cells (k, 8), likewise.
    corners: np.ndarray
    face: np.ndarray  # (k,) int32 face id, -1 for loose edges and points
    sides: np.ndarray  # (k, 3) int32 ids of its edges, -1 where there is none; (k, 0) where nobody asks for them
    corner_count: np.ndarray  # (k,) int8, the others are repetitions


class Owned(NamedTuple):
    """Features by owner: element i owns vertex[vertex_start[i]:vertex_start[i + 1]], edges and faces likewise.

    In the order of the owners, so that what is examined together lies together in memory.
    """

    vertex_start: np.ndarray  # (k + 1,) int32
    vertex: np.ndarray  # int32 vertex ids
    edge_start: np.ndarray  # (k + 1,) int32
    edge: np.ndarray  # int32 edge ids
    ends: np.ndarray  # (e, 2) int32 the vertices of those edges
    face_start: np.ndarray  # (k + 1,) int32
    face: np.ndarray  # int32 face ids
    triangles: np.ndarray  # (f, 3) int32 the vertices of those faces


def elements_of(mesh: TriMesh) -> Elements:
    """Faces first, then the edges that no face has, then the points that nothing else names."""
    if mesh._has_faces_only:
        return _faces_with(mesh, mesh._face_edges)
    loose_edges = np.flatnonzero(mesh.edge_face_count == 0).astype(np.int32)
    covered = np.zeros(mesh.vertex_limit, bool)
    covered[mesh.faces.ravel()] = True
    covered[mesh.edges[loose_edges].ravel()] = True
    # A loose edge from a vertex to itself is no edge, but its vertex takes part, as a point.
    points = mesh.vertices[~covered[mesh.vertices]]
    ends = mesh.edges[loose_edges]
    corners = np.concatenate((mesh.faces, ends[:, (0, 1, 1)], np.repeat(points[:, None], 3, axis=1)))
    face, sides = np.full(len(corners), -1, np.int32), np.full(corners.shape, -1, np.int32)
    face[: len(mesh.faces)] = np.arange(len(mesh.faces))
    sides[: len(mesh.faces)] = mesh.face_edges
    sides[len(mesh.faces) : len(mesh.faces) + len(ends), 0] = loose_edges
    counts = np.repeat(np.array((3, 2, 1), np.int8), (len(mesh.faces), len(ends), len(points)))
    return Elements(corners, face, sides, counts)


def faces_of(mesh: TriMesh) -> Elements:
    """The faces alone, (k, 0) sides: edges need not be known for it."""
    return _faces_with(mesh, np.empty((len(mesh._faces), 0), np.int32))


def _faces_with(mesh: TriMesh, sides: np.ndarray) -> Elements:
    count = len(mesh._faces)
    return Elements(mesh._faces, np.arange(count, dtype=np.int32), sides, np.full(count, 3, np.int8))


def in_order(elements: Elements, order: np.ndarray, are_faces: bool, pool: ThreadPool) -> Elements:
    """The elements in an order of their ids; of faces alone, the one at a place is the face."""
    corners = np.empty(elements.corners.shape, np.int32)
    pool.run_range(lambda a, b: _pick_rows(elements.corners, order, corners, a, b), len(order))
    if are_faces:
        return Elements(corners, order, elements.sides, elements.corner_count)
    face, sides, counts = (np.take(some, order, axis=0) for some in elements[1:])
    return Elements(corners, face, sides, counts)


@kernel
def _pick_rows(rows, order, out, begin, end):
    for i in range(begin, end):
        for k in range(rows.shape[1]):
            out[i, k] = rows[order[i], k]


def no_features(count: int) -> Owned:
    """So many elements that own nothing."""
    none, starts, rows = np.empty(0, np.int32), np.zeros(count + 1, np.int32), np.empty((0, 3), np.int32)
    return Owned(starts, none, starts, none, np.empty((0, 2), np.int32), starts, none, rows)


def owned_by_first(cells: Cells, order: np.ndarray) -> Owned:
    """What cells own, each feature by the first that has it; order : (k,) ids of the cells, all of them."""
    (vertex_start, vertex), (edge_start, edge), (face_start, face) = (
        _rows_in_order(rows, order) for rows in (cells.owned_vertices, cells.owned_edges, cells.owned_faces)
    )
    ends, triangles = np.take(cells.ends, edge, axis=0), np.take(cells.triangles, face, axis=0)
    return Owned(vertex_start, vertex, edge_start, edge, ends, face_start, face, triangles)


def _rows_in_order(rows: Rows, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    start, items = np.zeros(len(order) + 1, np.int32), np.empty(len(rows.items), np.int32)
    _copy_in_order(rows, order, start, items)
    return start, items


@kernel
def _copy_in_order(rows, order, start, items):
    count = 0
    for p in range(len(order)):
        for s in range(rows.start[order[p]], rows.start[order[p] + 1]):
            items[count] = rows.items[s]
            count += 1
        start[p + 1] = count


def owner_bits(mesh: TriMesh) -> np.ndarray:
    """(k,) uint8: bits 1, 2, 4 for the corners that each element owns, 8, 16, 32 for its sides; few own all of them,
    greedily in the order of the elements."""
    corners, sides = mesh._faces if mesh._has_faces_only else mesh._elements.corners, mesh._sides
    vertex_owner, edge_owner = np.full(mesh.vertex_limit, -1, np.int32), np.full(len(mesh._edges), -1, np.int32)
    _give_to_few(corners, sides, vertex_owner, edge_owner)
    bits = np.zeros(len(corners), np.uint8)
    _note_owned(corners, vertex_owner, 1, bits)
    _note_owned(sides, edge_owner, 8, bits)
    return bits


@kernel
def _note_owned(ids, owner, first_bit, bits):
    for i in range(len(ids)):
        for k in range(3):
            f = ids[i, k]
            if f >= 0 and owner[f] == i:
                owner[f] = -2  # an edge as an element names a vertex twice
                bits[i] += first_bit << k


def gather_features(
    leaves: Elements, order: np.ndarray, sides: np.ndarray, bits: np.ndarray, pool: ThreadPool = SERIAL
) -> Owned:
    """What the elements of a surface own, in an order.

    leaves : elements in this order; sides : of the elements by id; bits : (k,) uint8 in this order, what each owns
    """
    count = len(bits)
    vertex_start, edge_start = np.zeros(count + 1, np.int32), np.zeros(count + 1, np.int32)
    _count_owned(bits, vertex_start, edge_start)
    vertex, edge = np.empty(vertex_start[-1], np.int32), np.empty(edge_start[-1], np.int32)
    ends = np.empty((len(edge), 2), np.int32)
    lists = vertex_start, vertex, edge_start, edge, ends
    pool.run_range(lambda a, b: _list_owned(bits, leaves.corners, order, sides, *lists, a, b), count)
    return Owned(*lists, *_own_faces(leaves))


@kernel
def _count_owned(bits, vertex_start, edge_start):
    vertices = edges = 0
    for i in range(len(bits)):
        b = np.int64(bits[i])
        vertices += (b & 1) + ((b >> 1) & 1) + ((b >> 2) & 1)
        edges += ((b >> 3) & 1) + ((b >> 4) & 1) + ((b >> 5) & 1)
        vertex_start[i + 1], edge_start[i + 1] = vertices, edges


@kernel
def _list_owned(bits, corners, order, sides, vertex_start, vertex, edge_start, edge, ends, begin, end):
    for i in range(begin, end):
        v, e, b = vertex_start[i], edge_start[i], np.int64(bits[i])
        for k in range(3):
            if (b >> k) & 1:
                vertex[v] = corners[i, k]
                v += 1
            if (b >> (k + 3)) & 1:  # side k is from corner k to the next one
                edge[e], ends[e, 0], ends[e, 1] = sides[order[i], k], corners[i, k], corners[i, (k + 1) % 3]
                e += 1


def _own_faces(elements: Elements) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """face_start, face and triangles of Owned, for elements that are one face or none."""
    is_face = elements.face >= 0
    if is_face.all():
        return np.arange(len(is_face) + 1, dtype=np.int32), elements.face, elements.corners
    start = np.zeros(len(is_face) + 1, np.int32)
    np.cumsum(is_face, out=start[1:])
    return start, elements.face[is_face], elements.corners[is_face]


@kernel
def _give_to_few(corners, sides, vertex_owner, edge_owner):
    """Owners of vertices and of edges, -1 at first: elements with all sides free take them, with corners if these are
    free as well; then what is left of their corners; then what is left, first where two sides are free."""
    for least in (3, 2, 1):
        for i in range(len(corners)):
            taken = 0
            for k in range(3):
                e = sides[i, k]
                taken += e >= 0 and edge_owner[e] != -1
            if taken > 3 - least:
                if least < 3 and taken == 3:
                    owns = False
                    for k in range(3):
                        owns = owns or edge_owner[sides[i, k]] == i
                    if owns or least == 1:
                        _take_free(corners, vertex_owner, i)
                continue
            _take_free(sides, edge_owner, i)
            if least < 3 or _all_free(corners, vertex_owner, i):
                _take_free(corners, vertex_owner, i)


@helper
def _all_free(ids, owner, i):
    return owner[ids[i, 0]] == -1 and owner[ids[i, 1]] == -1 and owner[ids[i, 2]] == -1


@helper
def _take_free(ids, owner, i):
    for k in range(3):
        if ids[i, k] >= 0 and owner[ids[i, k]] == -1:
            owner[ids[i, k]] = i
