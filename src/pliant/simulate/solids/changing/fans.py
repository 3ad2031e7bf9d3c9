"""Cells around vertices, and how they hang together there: by faces, and shells by edges.

A vertex is split where a change takes cells around it apart: each component of its cells, connected by faces that have
the vertex, gets a vertex of its own. That is one rule for all changes. Cells that still have an edge or a vertex in
common, and no face, hang together by a hinge, which holds no stress: they are separated, if they were connected before.
What is given with hinges keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import POLYGONS, SOLID_TYPES, Rows
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.solids.changing.body import Added, Body, Changed, mass_of_cells, rebuilt, without_division

# Of members of links, which are faces or edges: (vertices (k, 4 or 2) of the link, link (k,), cell (k,)) -> (k,) ints.
# Cells with the same number stay connected by the link. Of a face these are its corners, or those of the quadrilateral
# that it is a half of for all of its cells, which opens as a whole; what is less than 4 is filled up.
Sides = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Fans(NamedTuple):
    """Items, each a vertex and a cell that has it, sorted; component : (k,) the first item of those that are connected
    with each around its vertex."""

    vertex: np.ndarray
    cell: np.ndarray
    component: np.ndarray


def gather(rows: Rows, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(owner, item): the lists of these ids, one after the other."""
    count = rows.start[ids + 1] - rows.start[ids]
    first = np.concatenate(([0], np.cumsum(count)))
    at = np.arange(first[-1]) + np.repeat(rows.start[ids] - first[:-1], count)
    return np.repeat(ids, count), rows.items[at].astype(np.int64)


def fans_of(mesh: VolumeMesh, vertices: np.ndarray, gone: np.ndarray | None, sides: Sides | None) -> Fans:
    """Those of some vertices, ascending ids; gone : (c,) bool, cells to leave out; sides : what is taken apart."""
    vertex, cell = gather(mesh._vertex_cells, vertices)
    if gone is not None:
        vertex, cell = vertex[~gone[cell]], cell[~gone[cell]]
    keys = vertex * len(mesh._types) + cell
    is_one = np.zeros(mesh.vertex_limit, bool)
    is_one[vertices] = True
    cells = np.unique(cell)
    joined = [_joined(mesh, links, keys, is_one, sides) for links in _links_of(mesh, cells)]
    return Fans(vertex, cell, _components(len(keys), *(np.concatenate(ends) for ends in zip(*joined))))


def _links_of(mesh: VolumeMesh, cells: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(link, its vertices, cell): faces of the cells, and edges that a shell has."""
    owner, face = gather(mesh._cell_faces, cells)
    links = [(face, _polygons(mesh, owner, face), owner)]
    if mesh.solid_count < len(mesh._types):
        owner, edge = gather(mesh._cell_edges, cells)
        of_shell = np.zeros(len(mesh._edges), bool)
        of_shell[edge[mesh._types[owner] >= SOLID_TYPES]] = True
        edge, owner = edge[of_shell[edge]], owner[of_shell[edge]]
        links.append((edge, mesh._edges[edge], owner))
    return links


def _polygons(mesh: VolumeMesh, cell: np.ndarray, face: np.ndarray) -> np.ndarray:
    """(k, 4) corners of faces of all cells that they have in common with the polygon of each of these cells."""
    first = np.searchsorted(cell, cell)  # cells are in turn: the first entry of each
    polygon = _POLYGON[mesh._types[cell], np.arange(len(cell)) - first]
    corners = mesh._corners[cell[:, None], polygon].astype(np.int64)
    triangle = mesh._faces[face].astype(np.int64)
    last = np.where(polygon[:, 3] >= 0, corners.sum(axis=1) - triangle.sum(axis=1), -1)
    low, high = np.full(len(mesh._faces), mesh.vertex_limit), np.full(len(mesh._faces), -1)
    np.minimum.at(low, face, last)
    np.maximum.at(high, face, last)
    last = np.where((low == high)[face] & (last >= 0), last, triangle[:, 0])
    return np.concatenate((triangle, last[:, None]), axis=1)


# Of each type the polygon of each of its triangles, in turn.
_POLYGON = np.full((len(POLYGONS), 12, 4), -1)
for _kind, _polygons_of_it in enumerate(POLYGONS):
    _rows = [polygon for polygon in _polygons_of_it for _ in range(len(polygon) - 2)]
    _POLYGON[_kind, : len(_rows)] = [(*polygon, -1)[:4] for polygon in _rows]


def _joined(
    mesh: VolumeMesh,
    links: tuple[np.ndarray, np.ndarray, np.ndarray],
    keys: np.ndarray,
    is_one: np.ndarray,
    sides: Sides | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of items that links connect; keys : of the items, ascending; is_one : (n,) bool, which vertices count."""
    link, ends, cell = links
    side = np.zeros(len(link), np.int64) if sides is None else sides(ends, link, cell)
    order = np.lexsort((cell, side, link))
    link, side, cell, ends = link[order], side[order], cell[order], ends[order]
    next_to = np.flatnonzero((link[1:] == link[:-1]) & (side[1:] == side[:-1]))
    row, column = np.nonzero(is_one[ends[next_to]])
    vertex = ends[next_to[row], column].astype(np.int64)
    count = len(mesh._types)
    first, last = vertex * count + cell[next_to[row]], vertex * count + cell[next_to[row] + 1]
    return np.searchsorted(keys, first), np.searchsorted(keys, last)


def _components(count: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(count,) the smallest item of each component of the graph of edges a b."""
    label = np.arange(count)
    while True:
        low = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        label = label[label]
        if np.array_equal(label, before):
            return label


def separated(body: Body, vertices: np.ndarray, gone: np.ndarray | None, sides: Sides | None) -> Changed | None:
    """The body without the cells that are gone, and with vertices split where cells are no longer connected around
    them; None where nothing changes.

    vertices : ids, ascending, of all that are at a cell that is gone, or at a link that is taken apart
    """
    mesh, count = body.mesh, len(body.x)
    before, after = fans_of(mesh, vertices, None, None), fans_of(mesh, vertices, gone, sides)
    more = _component_counts(after, count) > np.maximum(_component_counts(before, count), 1)
    is_split = more[after.vertex]
    vertex, cell, root = after.vertex[is_split], after.cell[is_split], after.component[is_split]
    roots, item, size = np.unique(root, return_inverse=True, return_counts=True)
    owner = after.vertex[roots]
    # The largest component keeps the vertex, of equal ones that of the smallest cell: fewest cells change.
    order = np.lexsort((roots, -size, owner))
    keeps = np.zeros(len(roots), bool)
    keeps[order[np.unique(owner[order], return_index=True)[1]]] = True
    name = owner.copy()
    name[~keeps] = count + np.arange(np.count_nonzero(~keeps))
    corners, new = mesh._corners.copy(), name[item]
    for k in range(corners.shape[1]):
        here = corners[cell, k] == vertex
        corners[cell[here], k] = new[here]
    touched = np.unique(cell[new != vertex])
    removed = touched if gone is None else np.union1d(touched, np.flatnonzero(gone))
    if not len(removed):
        return None
    source = np.concatenate((np.arange(count), owner[~keeps]))
    changed, parent, _ = rebuilt(mesh, removed, Added(mesh._types[touched], corners[touched], touched), source)
    became = np.stack((owner[~keeps], name[~keeps]), axis=1).reshape(-1, 2)
    ballast = np.concatenate((_with_ballast(body, gone), np.zeros(len(became))))
    after_it = Body(changed, body.x[source], body.v[source], body.corner_mass[parent], ballast)
    return Changed(
        after_it._replace(ballast=_shared(after_it, became)), np.stack((source, source), axis=1),
        np.zeros(len(source)), became, np.empty((0, 2), np.int64), parent, *without_division(),
    )  # fmt: skip


def _component_counts(fans: Fans, count: int) -> np.ndarray:
    return np.bincount(fans.vertex[np.unique(fans.component)], minlength=count)


def _with_ballast(body: Body, gone: np.ndarray | None) -> np.ndarray:
    """The mass of cells that are gone stays at their vertices."""
    if gone is None:
        return body.ballast
    left = body.mesh._corners[gone].ravel(), body.corner_mass[gone].ravel()
    return body.ballast + np.bincount(*left, minlength=len(body.x))


def _shared(body: Body, became: np.ndarray) -> np.ndarray:
    """Ballast of a vertex that was split goes to all that it became, in proportion to the mass of their cells."""
    owners, ballast = np.unique(became[:, 0]), body.ballast.copy()
    owners = owners[ballast[owners] != 0.0]
    if not len(owners):
        return ballast
    family = np.concatenate((np.stack((owners, owners), axis=1), became[np.isin(became[:, 0], owners)]))
    mass = mass_of_cells(body)
    total = np.bincount(family[:, 0], mass[family[:, 1]], minlength=len(mass))
    share = mass[family[:, 1]] / np.where(total > 0.0, total, 1.0)[family[:, 0]]
    share[(total[family[:, 0]] == 0.0) & (family[:, 0] == family[:, 1])] = 1.0
    ballast[family[:, 1]] = share * body.ballast[family[:, 0]]
    return ballast
