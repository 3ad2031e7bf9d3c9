"""The two sides of fresh splits: which pairs of features they make, through further changes, until they are apart.

A split makes features coincide that had a vertex in common before, and so were no pair. These are all pairs that it
makes, since quadrilaterals keep their diagonals (``VolumeMesh.ranks``): no look at positions is needed to list them.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, KINDS, VERTEX_FACE
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detect import ccd, check
from pliant.queries.features import edge_edge, vertex_face
from pliant.response.fresh import TRIANGLE_ROWS, FreshPairs, no_fresh_pairs
from pliant.simulate.solids.changing.body import Changed
from pliant.simulate.solids.changing.fans import gather


class FreshSplits:
    """Pairs of features that a split has made and that have not been apart since.

    pairs : those of the mesh as it is, to be left out by ``Resolver`` and by checks, and no others
    born, retired : how many there have been, and how many of them have come apart or have gone with their features
    """

    def __init__(self) -> None:
        self.pairs: FreshPairs = no_fresh_pairs()
        self.born = self.retired = 0

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"FreshSplits({len(self)} pairs, {self.born} born, {self.retired} retired)"

    def follow(self, changed: Changed) -> None:
        """Go on with a changed mesh: pairs of features that it has no more go, those of their parts and copies take
        their place, and those that the change has made come."""
        before, made = self.pairs, _made_by(changed)
        if not len(before) and not len(changed.became):
            return
        if len(before) and len(changed.divided):
            parted = _parted_by_division(changed)
            made = {kind: np.concatenate((made[kind], parted[kind])) for kind in KINDS}
        rows = (np.concatenate((_carried(before.rows[kind], changed), made[kind])) for kind in KINDS)
        self.pairs = FreshPairs(*(_existing(changed.body.mesh, kind, some) for kind, some in zip(KINDS, rows)))
        stayed = sum(int(np.count_nonzero(before.have(kind, self.pairs.rows[kind]))) for kind in KINDS)
        self.born += len(self.pairs) - stayed
        self.retired += len(before) - stayed

    def retire(self, mesh: VolumeMesh, x: np.ndarray) -> int:
        """Pairs that are apart at x, (n, 3), end of a step, are none any more; returns how many.

        A pair stays one where two faces that have its features still intersect: when the last pair of two faces has
        gone they are free of each other, and what is proven goes on from there. Faces inside of the body count, too:
        the next split may bring them to the boundary.
        """
        if not len(self):
            return 0
        touch = {kind: _touches(kind, rows, x) for kind, rows in self.pairs.rows.items()}
        kept = {kind: rows[touch[kind]] for kind, rows in self.pairs.rows.items()}
        pairs, before = FreshPairs(kept[VERTEX_FACE], kept[EDGE_EDGE]), len(self)
        crossed = _crossed(mesh, x, self.pairs)
        for kind, rows in self.pairs.rows.items():
            kept[kind] = rows[pairs.have(kind, rows) | crossed.have(kind, rows)]
        self.pairs = FreshPairs(kept[VERTEX_FACE], kept[EDGE_EDGE])
        self.retired += before - len(self)
        return before - len(self)


def _touches(kind: int, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(k,) bool: which pairs of features share a point at x, exactly."""
    corners = x[rows]
    split = 1 if kind == VERTEX_FACE else 2
    first, last = corners[:, :split], corners[:, split:]
    # A common corner needs no test, and most pairs of an open crack are apart along some axis; that the difference of
    # two doubles is positive is exact.
    same = (first[:, :, None] == last[:, None]).all(axis=3).any(axis=(1, 2))
    gap = np.maximum(first.min(axis=1) - last.max(axis=1), last.min(axis=1) - first.max(axis=1)).max(axis=1)
    unsure = np.flatnonzero(~same & ~(gap > 0.0))
    test = vertex_face if kind == VERTEX_FACE else edge_edge
    same[unsure] = test(corners[unsure], corners[unsure]).hit
    return same


def _crossed(mesh: VolumeMesh, x: np.ndarray, pairs: FreshPairs) -> FreshPairs:
    """Those of the pairs, the features of which are of two faces, inner ones too, that intersect at x."""
    faces = mesh._faces
    named = np.unique(np.concatenate([rows.ravel() for rows in pairs.rows.values()]))
    is_named = np.zeros(max(mesh.vertex_limit, int(named.max(initial=-1)) + 1), bool)
    is_named[named] = True
    faces = faces[is_named[faces].any(axis=1)]
    found = check(TriMesh(faces), x).faces  # exact
    corners = faces[found].reshape(-1, 6)
    rows = {kind: corners[:, places].reshape(-1, 4) for kind, places in TRIANGLE_ROWS.items()}
    return FreshPairs(*(rows[kind][pairs.have(kind, rows[kind])] for kind in (VERTEX_FACE, EDGE_EDGE)))


# ---- through a change


def _carried(rows: np.ndarray, changed: Changed) -> np.ndarray:
    """Rows of the mesh before with all that their vertices became, in all combinations."""
    if len(changed.renamed):
        name = np.arange(len(changed.ends), dtype=np.int32)
        name[changed.renamed[:, 0]] = changed.renamed[:, 1]
        rows = name[rows]
    if not len(changed.became):
        return rows
    old, new = changed.became[np.argsort(changed.became[:, 0], kind="stable")].T
    for k in range(4):
        first, end = (np.searchsorted(old, rows[:, k], side) for side in ("left", "right"))
        count = end - first
        more = np.repeat(rows, count, axis=0)
        at = np.arange(count.sum()) + np.repeat(first - np.cumsum(count) + count, count)
        more[:, k] = new[at]
        rows = np.concatenate((rows, more))
    return rows


def _existing(mesh: VolumeMesh, kind: int, rows: np.ndarray) -> np.ndarray:
    """Rows of features that the mesh has, that share no vertex, and that are not of one cell: what inverts a cell is
    never left out."""
    split = 1 if kind == VERTEX_FACE else 2
    first, last = rows[:, :split], rows[:, split:]
    rows = rows[~(first[:, :, None] == last[:, None]).any(axis=(1, 2))]
    if kind == VERTEX_FACE:
        has = np.zeros(max(mesh.vertex_limit, int(rows.max(initial=-1)) + 1), bool)
        has[mesh._vertices] = True
        rows = rows[has[rows[:, 0]] & _are_faces(mesh, rows[:, 1:])]
    else:
        rows = rows[_are_edges(mesh, rows[:, :2]) & _are_edges(mesh, rows[:, 2:])]
    return rows[~_of_one_cell(mesh, rows)]


def _of_one_cell(mesh: VolumeMesh, rows: np.ndarray) -> np.ndarray:
    """(k,) bool: which four vertices one cell has."""
    vertex, at = np.unique(rows[:, 0], return_inverse=True)
    owner, cell = gather(mesh._vertex_cells, vertex.astype(np.int64))
    start = np.searchsorted(owner, vertex)
    count = np.searchsorted(owner, vertex, "right") - start
    row = np.repeat(np.arange(len(rows)), count[at])
    places = np.arange(len(row)) + np.repeat(start[at] - np.cumsum(count[at]) + count[at], count[at])
    corners = mesh._corners[cell[places]]
    all_four = np.ones(len(row), bool)
    for k in range(1, 4):
        all_four &= (corners == rows[row, k][:, None]).any(axis=1)
    return np.bincount(row[all_four], minlength=len(rows)) > 0


def _edge_ids(mesh: VolumeMesh, ends: np.ndarray) -> np.ndarray:
    """(k,) ids, -1 for pairs of vertices that are no edge; ends : (k, 2)"""
    known = mesh._edges.astype(np.int64)
    keys, low, high = known[:, 0] << 32 | known[:, 1], ends.min(axis=1), ends.max(axis=1)
    wanted = low.astype(np.int64) << 32 | high
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[at] == wanted, at, -1) if len(keys) else np.full(len(ends), -1)


def _are_edges(mesh: VolumeMesh, ends: np.ndarray) -> np.ndarray:
    return _edge_ids(mesh, ends) >= 0


def _are_faces(mesh: VolumeMesh, corners: np.ndarray) -> np.ndarray:
    """(k,) bool"""
    faces, wanted = np.sort(mesh._faces, axis=1), np.sort(corners, axis=1)
    near = np.zeros(max(mesh.vertex_limit, int(wanted.max(initial=-1)) + 1), bool)
    near[wanted] = True
    faces = faces[near[faces].all(axis=1)]
    known = np.sort(_edge_ids(mesh, faces[:, :2]).astype(np.int64) << 32 | faces[:, 2])
    edge = _edge_ids(mesh, wanted[:, :2]).astype(np.int64)
    return (edge >= 0) & np.isin(edge << 32 | wanted[:, 2], known)


# ---- what a split makes


def _made_by(changed: Changed) -> dict[int, np.ndarray]:
    """Pairs of features that a change makes: one has a copy of a vertex that the other has as another copy."""
    mesh, empty = changed.body.mesh, np.empty((0, 4), np.int32)
    # A vertex on a divided edge is a copy of neither end.
    copies = changed.copies()
    if not len(copies):
        return {VERTEX_FACE: empty, EDGE_EDGE: empty}
    origin = changed.ends[:, 0]
    is_one = np.zeros(len(changed.ends), bool)
    is_one[copies] = True
    pairs = {kind: [empty] for kind in (VERTEX_FACE, EDGE_EDGE)}
    for table, kind in ((mesh._faces, VERTEX_FACE), (mesh._edges, EDGE_EDGE)):
        row, column = np.nonzero(is_one[table])
        vertex = table[row, column]
        if kind == VERTEX_FACE:
            a, b = _pairs_of_one_origin(origin[copies], origin[vertex])
            pairs[kind].append(np.concatenate((copies[a][:, None], table[row[b]]), axis=1).astype(np.int32))
        else:
            a, b = _pairs_of_one_origin(origin[vertex], origin[vertex])
            pairs[kind].append(np.concatenate((table[row[a]], table[row[b]]), axis=1).astype(np.int32))
    return {kind: np.concatenate(rows) for kind, rows in pairs.items()}


def _parted_by_division(changed: Changed) -> dict[int, np.ndarray]:
    """Pairs that touch at rest and have a vertex on a divided edge: two edges with a common end, one of which lies on
    the other, were no pair, and the far half of one and the other are."""
    body, is_new = changed.body, changed.part > 0.0
    found = ccd(body.mesh, body.x, body.x)
    rows = {VERTEX_FACE: found.vf.vertices, EDGE_EDGE: found.ee.vertices}
    return {kind: some[is_new[some].any(axis=1)] for kind, some in rows.items()}


def _pairs_of_one_origin(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a, b) all places of equal numbers in two arrays."""
    order = np.argsort(last, kind="stable")
    begin, end = (np.searchsorted(last[order], first, side) for side in ("left", "right"))
    count = end - begin
    at = np.arange(count.sum()) + np.repeat(begin - np.cumsum(count) + count, count)
    return np.repeat(np.arange(len(first)), count), order[at]
