"""Merging: two vertices that impact has brought together, and presses with enough force, become one.

The one is where their centre of mass is, with their momentum. No cell is inverted by it, and nothing touches on the way
there but features that have the vertex in common afterwards: pairs of vertices that would do otherwise stay two. What
is exempt, the two sides of a fresh split, could go through each other on the way; so no two faces with a vertex that
moves intersect afterwards, inner ones included, and no two cells are on the same side of one face.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.cells import NO_RANKS, SOLID_TYPES, list_triangles
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detect import ccd, check
from pliant.response.fresh import FreshPairs
from pliant.results.contacts import Contacts
from pliant.simulate.solids.changing.body import Added, Body, Changed, rebuilt, without_division
from pliant.simulate.solids.changing.fans import gather


def near_vertices(x: np.ndarray, vertices: np.ndarray, within: float) -> np.ndarray:
    """(k, 2) ids, the smaller one first, of vertices that are at most so far apart, nearest pairs first."""
    if not len(vertices):
        return np.empty((0, 2), np.int64)
    lower = x[vertices].min(axis=0)
    extent = float((x[vertices].max(axis=0) - lower).max())
    places = np.floor((x[vertices] - lower) / max(within, 1e-9 * extent, 1e-300)).astype(np.int64)
    found = []
    for shift in _HALF:
        a, b = _equal_rows(places + shift, places)
        found.append(np.stack((vertices[a], vertices[b]), axis=1))
    pairs = np.sort(np.concatenate(found), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    distance = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    pairs, distance = pairs[distance <= within], distance[distance <= within]
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0], distance))]


# Of the 27 cubes at a cube one of each two opposite ones, and the cube itself.
_HALF = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) >= (0, 0, 0)])


def _equal_rows(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places of equal rows of two arrays."""
    _, number = np.unique(np.concatenate((a, b)), axis=0, return_inverse=True)
    first, last = number.ravel()[: len(a)], number.ravel()[len(a) :]
    order = np.argsort(last, kind="stable")
    begin, end = (np.searchsorted(last[order], first, side) for side in ("left", "right"))
    count = end - begin
    at = np.arange(count.sum()) + np.repeat(begin - np.cumsum(count) + count, count)
    return np.repeat(np.arange(len(a)), count), order[at]


def pressed_pairs(body: Body, force: np.ndarray, threshold: float, within: float) -> np.ndarray:
    """(k, 2) vertices of the boundary that are within a distance, have no common cell, and are pressed by more than a
    threshold, both of them, as the paper has it; each at most once, nearest ones first.

    force : (n,) N, of impact, on each vertex
    """
    on_boundary = np.unique(body.mesh.surface().faces).astype(np.int64)
    pairs = near_vertices(body.x, on_boundary[force[on_boundary] > threshold], within)
    pairs = pairs[~_have_common_cell(body.mesh, pairs)]
    taken, chosen = np.zeros(len(body.x), bool), []
    for k, (a, b) in enumerate(pairs.tolist()):
        if not (taken[a] or taken[b]):
            taken[a] = taken[b] = True
            chosen.append(k)
    return pairs[chosen]


def _have_common_cell(mesh: VolumeMesh, pairs: np.ndarray) -> np.ndarray:
    _, cell = gather(mesh._vertex_cells, pairs[:, 0])
    row = np.repeat(np.arange(len(pairs)), np.diff(mesh._vertex_cells.start)[pairs[:, 0]])
    both = (mesh._corners[cell] == pairs[row, 1][:, None]).any(axis=1)
    return np.bincount(row[both], minlength=len(pairs)) > 0


class Merge(NamedTuple):
    """A merge that was tried; pairs : (k, 2) of vertices that became one, which is the first"""

    changed: Changed
    pairs: np.ndarray


def merged(body: Body, pairs: np.ndarray, fresh: FreshPairs | None = None) -> Merge | None:
    """The body with pairs of vertices merged, but for those that must not be; None where none may.

    pairs : (k, 2) ids, each at most once
    fresh : pairs of features that may touch all the same
    """
    pairs = np.sort(np.asarray(pairs, np.int64).reshape(-1, 2), axis=1)
    pairs = pairs[~_have_common_cell(body.mesh, pairs)]
    while len(pairs):
        found = _merged(body, pairs)
        bad = _bad_vertices(body, found, pairs, fresh)
        is_bad = np.isin(pairs, bad).any(axis=1)
        if not is_bad.any():
            return Merge(found, pairs)
        pairs = pairs[~is_bad]
    return None


def _merged(body: Body, pairs: np.ndarray) -> Changed:
    mesh, count, mass = body.mesh, len(body.x), body.mass()
    name = np.arange(count)
    name[pairs[:, 1]] = pairs[:, 0]
    is_gone = np.zeros(mesh.vertex_limit, bool)
    is_gone[pairs[:, 1]] = True
    cells = np.flatnonzero(is_gone[mesh._corners].any(axis=1))
    added = Added(mesh._types[cells], name[mesh._corners[cells]].astype(np.int32), cells)
    changed, parent, _ = rebuilt(mesh, cells, added, np.arange(count))
    first, last = pairs.T
    total = mass[first] + mass[last]
    share = np.where(total > 0.0, mass[last] / np.where(total > 0.0, total, 1.0), 0.5)[:, None]
    x, v, ballast = body.x.copy(), body.v.copy(), body.ballast.copy()
    for values in (x, v):
        values[first] += share * (values[last] - values[first])
        values[last] = values[first]
    ballast[first] += ballast[last]
    ballast[last] = 0.0
    ends = np.stack((np.arange(count), np.arange(count)), axis=1)
    return Changed(
        Body(changed, x, v, body.corner_mass[parent], ballast), ends, np.zeros(count), np.empty((0, 2), np.int64),
        pairs[:, ::-1], parent, *without_division(),
    )  # fmt: skip


def _bad_vertices(body: Body, found: Changed, pairs: np.ndarray, fresh: FreshPairs | None) -> np.ndarray:
    """Vertices of cells that are inverted or twice the same, and of features that touch on the way or at the end."""
    mesh, x0, x1 = found.body.mesh, body.x, found.body.x
    flat = inverted(mesh, x1)
    was_flat = np.isin(found.cells[flat], inverted(body.mesh, x0))
    bad = [mesh._corners[flat[~was_flat]].ravel(), mesh._corners[_repeated(mesh, pairs[:, 0])].ravel()]
    contacts = ccd(body.mesh, x0, x1)
    name = np.arange(len(x0))
    name[pairs[:, 1]] = pairs[:, 0]
    bad.append(contacts.vertices[_are_strange(contacts, name, pairs, fresh)].ravel())
    bad.append(_crossing(mesh, x1, (x0 != x1).any(axis=1)).ravel())
    bad.append(mesh._corners[_folded(mesh, pairs[:, 0])].ravel())
    return name[np.concatenate(bad)]


def _are_strange(contacts: Contacts, name: np.ndarray, pairs: np.ndarray, fresh: FreshPairs | None) -> np.ndarray:
    """(k,) bool: contacts of a vertex that moves, of features without a common vertex afterwards, and that are not
    fresh."""
    vertices = name[contacts.vertices]
    is_edge = contacts.kind == 1
    # Of a vertex and a face the first is in none of the others; of edges the first two in none of the last two.
    shared = (vertices[:, :1] == vertices[:, 2:]).any(axis=1) | (~is_edge & (vertices[:, 0] == vertices[:, 1]))
    shared |= is_edge & (vertices[:, 1:2] == vertices[:, 2:]).any(axis=1)
    moves = np.isin(contacts.vertices, pairs).any(axis=1)
    known = np.zeros(len(contacts), bool) if fresh is None else fresh.among(contacts)
    return moves & ~shared & ~known


def _crossing(mesh: VolumeMesh, x: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """(k, 3) faces that intersect another one and that have, or the other one has, a vertex that moved."""
    faces = mesh._faces[moved[mesh._faces].any(axis=1)]
    if not len(faces):
        return faces
    lower, upper = x[faces].min(axis=(0, 1)), x[faces].max(axis=(0, 1))
    near = (x[mesh._faces].min(axis=1) <= upper).all(axis=1) & (x[mesh._faces].max(axis=1) >= lower).all(axis=1)
    faces = mesh._faces[near]
    met = check(TriMesh(faces), x).faces
    return faces[met[moved[faces[met]].any(axis=(1, 2))]].reshape(-1, 3)


def _folded(mesh: VolumeMesh, vertices: np.ndarray) -> np.ndarray:
    """Solid cells at some vertices that have a face with another one on the same side of it."""
    cells = np.unique(gather(mesh._vertex_cells, vertices)[1])
    cells = cells[mesh._types[cells] < SOLID_TYPES]
    start, outward = list_triangles(
        mesh._types[cells], mesh._corners[cells], NO_RANKS if mesh.ranks is None else mesh.ranks
    )
    order = np.argsort(outward, axis=1)
    # Odd orders of three are those that exchange two of them.
    is_odd = np.isin(order @ (9, 3, 1), (1 * 9 + 0 * 3 + 2, 0 * 9 + 2 * 3 + 1, 2 * 9 + 1 * 3 + 0))
    rows = np.concatenate((np.sort(outward, axis=1), is_odd[:, None]), axis=1)
    _, group, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return np.repeat(cells, np.diff(start))[count[group.ravel()] > 1]


def _repeated(mesh: VolumeMesh, vertices: np.ndarray) -> np.ndarray:
    """Cells at some vertices that have the same corners as another one there."""
    cells = np.unique(gather(mesh._vertex_cells, vertices)[1])
    corners = np.sort(mesh._corners[cells], axis=1)
    # The last corner is repeated to fill up: cells with as many corners compare by their types, too.
    rows = np.concatenate((mesh._types[cells][:, None], corners), axis=1)
    _, group, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return cells[count[group.ravel()] > 1]
