"""Cutting by a blade that moves: its swept surface divides the edges it crosses, and opens the faces that lie on it.

An edge is divided for all cells around it at once, so the cells fit together after every single edge, and whether it is
crossed is decided once for all of them, exactly. A vertex that the blade passes very near to is taken to be on it,
instead of dividing edges there: no cell gets thinner than that. Then the faces on the blade are opened, and vertices
split as in any fracture (``fans.py``): where the blade stops, the cells around a vertex still hang together and it
stays one. Only tetrahedra are divided; blades part other cells where their faces lie on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.triangles import TriMesh
from pliant.queries.detector import Detector
from pliant.simulate.solids.changing.body import Added, Body, Changed, rebuilt
from pliant.simulate.solids.changing.fans import gather, separated

ON_BLADE = 0.1  # of an edge: a vertex that is so near to where the blade crosses it is on the blade


class Cut(NamedTuple):
    """What a blade has done: changes, one after the other, and which vertices of the last body, (n,) bool, are on the
    surface that it has swept and still hold together."""

    changes: tuple[Changed, ...]
    on_blade: np.ndarray


def cut(body: Body, swept: np.ndarray, on_blade: np.ndarray | None = None) -> Cut:
    """The body after a blade has moved through it.

    swept : (k, 3, 3) m, triangles of the surface that its edge has swept in this step
    on_blade : (n,) bool, of the last step of the same cut
    """
    on = np.zeros(len(body.x), bool) if on_blade is None else on_blade.copy()
    crossings = _crossings(body, np.asarray(swept, float).reshape(-1, 3, 3), on)
    changes = []
    divided = _divided(body, crossings, on)
    if divided is not None:
        changes.append(divided)
        made = divided.part > 0.0
        on, body = np.concatenate((on, made[len(on) :])), divided.body
    opened = _opened(body, on)
    if opened is not None:
        changes.append(opened)
        on = opened.of_vertices(on)
        on[opened.became.ravel()] = False  # they are on the boundary now
    return Cut(tuple(changes), on)


# ---- edges that the blade crosses


class Crossings(NamedTuple):
    """Edges, (k, 2) vertices, that are to be divided, and where, (k,), from the first one."""

    ends: np.ndarray
    part: np.ndarray


def _crossings(body: Body, swept: np.ndarray, on: np.ndarray) -> Crossings:
    """Marks vertices that are on the blade, too."""
    mesh, x = body.mesh, body.x
    edges = mesh._edges.astype(np.int64)
    low, high = x[edges].min(axis=1), x[edges].max(axis=1)
    if len(swept):
        near = (low <= swept.max(axis=(0, 1))).all(axis=1) & (high >= swept.min(axis=(0, 1))).all(axis=1)
        edges = edges[near]
    if not len(edges) or not len(swept):
        return Crossings(np.empty((0, 2), np.int64), np.empty(0))
    row, triangle = _meetings(x[edges], swept)
    part = _parts(x[edges[row]], swept[triangle])
    flat = ~np.isfinite(part)  # the edge lies on the blade
    on[edges[row[flat]]] = True
    row, part = row[~flat], part[~flat]
    order = np.lexsort((part, row))
    row, part = row[order], part[order]
    first = np.concatenate(([True], row[1:] != row[:-1])) if len(row) else np.zeros(0, bool)
    ends, part = edges[row[first]], part[first]
    on[ends[part <= ON_BLADE, 0]] = True
    on[ends[part >= 1.0 - ON_BLADE, 1]] = True
    goes = ~on[ends].any(axis=1)
    return Crossings(ends[goes], part[goes])


def _meetings(segments: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(segment, triangle) that share a point, exactly: segments are triangles with two equal corners."""
    x = np.concatenate((segments[:, (0, 1, 1)].reshape(-1, 3), triangles.reshape(-1, 3)))
    faces = np.arange(len(x)).reshape(-1, 3)
    labels = np.arange(len(x)) >= 3 * len(segments)
    found = Detector(TriMesh(faces), objects=labels.astype(int), pairs="inter").intersections(x).faces.astype(np.int64)
    return found[:, 0], found[:, 1] - len(segments)


def _parts(segments: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(k,) where segments cross the planes of triangles; NaN where they lie in them."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    first, last = (np.einsum("ki,ki->k", segments[:, k] - triangles[:, 0], normal) for k in (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(first / (first - last), 0.0, 1.0)


# ---- dividing them


def _divided(body: Body, crossings: Crossings, on: np.ndarray) -> Changed | None:
    """None where no edge can be divided. Edges of other cells than tetrahedra, and of those that would be inverted by
    rounding, stay whole."""
    mesh, known = body.mesh, inverted(body.mesh, body.x)
    whole = np.zeros(mesh.vertex_limit, bool)
    whole[mesh._corners[mesh._types != 0]] = True
    ends, part = crossings
    stays = whole[ends].all(axis=1)
    ends, part = ends[~stays], part[~stays]
    while len(ends):
        changed = _divide(body, ends, part)
        bad = changed.divided[np.isin(changed.divided, inverted(changed.body.mesh, changed.body.x))]
        bad = bad[~np.isin(changed.cells[bad], known)]
        if not len(bad):
            return changed
        corners = mesh._corners[changed.cells[bad]]
        spared = [((corners == a).any(axis=1) & (corners == b).any(axis=1)).any() for a, b in ends]
        ends, part = ends[~np.array(spared)], part[~np.array(spared)]
    return None


def _divide(body: Body, ends: np.ndarray, part: np.ndarray) -> Changed:
    mesh, count = body.mesh, len(body.x)
    cells = np.unique(gather(mesh._vertex_cells, np.unique(ends))[1])
    cells = cells[mesh._types[cells] == 0]
    corners, parent = mesh._corners[cells, :4].astype(np.int64), cells
    weights = np.tile(np.eye(4), (len(cells), 1, 1))
    for number, ((a, b), s) in enumerate(zip(ends.tolist(), part.tolist())):
        around = np.flatnonzero((corners == a).any(axis=1) & (corners == b).any(axis=1))
        old, before, rows = corners[around], weights[around], np.arange(len(around))
        at_a, at_b = (old == a).argmax(axis=1), (old == b).argmax(axis=1)
        middle = (1.0 - s) * before[rows, at_a] + s * before[rows, at_b]
        far, far_weights = old.copy(), before.copy()
        far[rows, at_a], far_weights[rows, at_a] = count + number, middle
        corners[around, at_b], weights[around, at_b] = count + number, middle
        corners, weights = np.concatenate((corners, far)), np.concatenate((weights, far_weights))
        parent = np.concatenate((parent, parent[around]))
    is_new = (corners >= count).any(axis=1)
    corners, weights, parent = corners[is_new], weights[is_new], parent[is_new]
    full = np.concatenate((corners, np.repeat(corners[:, 3:], 4, axis=1)), axis=1).astype(np.int32)
    source = np.concatenate((np.arange(count), ends[:, 0]))
    added = Added(np.zeros(len(full), np.int8), full, parent)
    changed, cells_before, ids = rebuilt(mesh, np.unique(parent), added, source)
    both = np.concatenate((np.stack((np.arange(count),) * 2, axis=1), ends))
    part = np.concatenate((np.zeros(count), part))
    corner_mass = body.corner_mass[cells_before]
    # Corners of a tetrahedron have equal masses, and its parts have the shares of it that they fill.
    corner_mass[ids] *= np.abs(np.linalg.det(weights))[:, None]
    new = np.arange(count, count + len(ends))
    became = np.stack((ends.T.ravel(), np.concatenate((new, new))), axis=1)
    out = Changed(
        Body(changed, body.x, body.v, corner_mass, np.concatenate((body.ballast, np.zeros(len(new))))), both, part,
        became, np.empty((0, 2), np.int64), cells_before, ids, weights,
    )  # fmt: skip
    return out._replace(body=out.body._replace(x=out.of_vertices(body.x), v=out.of_vertices(body.v)))


# ---- opening the faces on it


def _opened(body: Body, on: np.ndarray) -> Changed | None:
    mesh = body.mesh
    is_open = on[mesh._faces].all(axis=1) & (np.diff(mesh._face_cells.start) > 1)
    # A cell with all corners on the blade lies flat on it, and stays with one neighbour.
    flat = np.flatnonzero(on[mesh._corners].all(axis=1))
    owner, face = gather(mesh._cell_faces, flat)
    face, owner = face[is_open[face]], owner[is_open[face]]
    is_open[face[np.unique(owner, return_index=True)[1]]] = False
    if not is_open.any():
        return None

    def sides(ends: np.ndarray, link: np.ndarray, cell: np.ndarray) -> np.ndarray:
        opens = is_open[link] if ends.shape[1] == 4 else on[ends].all(axis=1)
        return np.where(opens, cell + 1, 0)

    around = np.unique(mesh._faces[is_open]).astype(np.int64)
    return separated(body, around, None, sides)


def swept_by(edge_t0: np.ndarray, edge_t1: np.ndarray) -> np.ndarray:
    """(2 (m - 1), 3, 3) triangles that the cutting edge of a blade, (m, 3) points of a polyline, sweeps in a step."""
    a, b, c, d = edge_t0[:-1], edge_t0[1:], edge_t1[1:], edge_t1[:-1]
    return np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
