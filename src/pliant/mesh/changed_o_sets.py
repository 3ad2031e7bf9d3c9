"""O-sets of a changed volume mesh from those before: most pairs keep what they were.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. Of features
that both meshes have, an orphan stays one exactly if the added cells of either feature are adjacent to all cells of
the other; all other pairs of the two meshes are found anew (``changed_orphans.py``).

Names ascend: edges keep their lexicographic order, and a face that is not touched keeps its first cell and its place in
that. So what stays is still sorted, but for pairs of touched faces, and the others are merged into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import helper, in_line, kernel
from pliant.mesh.cell_features import cells_adjacent
from pliant.mesh.cells import Rows
from pliant.mesh.changed_features import GAINED, LOST, UNTOUCHED, Change, Kind
from pliant.mesh.changed_orphans import find_changed, list_gone
from pliant.mesh.orphans import MOST_ORPHANS, TooManyOrphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh


class Kept(NamedTuple):
    """Features of one kind that both meshes have."""

    name: np.ndarray  # (m,) int32, of the old ones: twice the new id, and 1 more if it gained cells; -1 if it is gone
    cells: Rows  # of the new ones
    vertices: np.ndarray  # (m', n) int32, of the new ones


def change_o_sets(
    old: VolumeMesh, new: VolumeMesh, kinds: tuple[Kind, Kind, Kind], change: Change
) -> tuple[np.ndarray, np.ndarray]:
    """O-sets of the new mesh, which has all else already; kinds : its vertices, edges and faces."""
    table, is_added = new.cell_table, change.old_of_new < 0
    own = np.arange(new.vertex_limit, dtype=np.int32)[:, None]
    vertices = _kept(kinds[0], old.vertex_limit, table.vertex_cells, own)
    edges = _kept(kinds[1], len(old.edges), table.edge_cells, table.ends)
    faces = _kept(kinds[2], len(old.faces), table.face_cells, table.triangles)
    untouched = faces._replace(name=_name(*kinds[2][:2], len(old.faces), LOST | GAINED))
    gone = list_gone(old, change.removed, (vertices.name >> 1, edges.name >> 1, faces.name >> 1))
    shapes = table.corners, table.corner_count
    turned = _keys_of_touched(old.o_sets[0], vertices, (faces, kinds[2].state), shapes, is_added)
    first, second = find_changed(table, gone, kinds, MOST_ORPHANS)
    first = np.sort(np.concatenate((turned, first)))
    vertex_face = _merge_pairs(old.o_sets[0], vertices, untouched, first, shapes, is_added)
    edge_edge = _merge_pairs(old.o_sets[1], edges, edges, np.sort(second), shapes, is_added)
    if max(len(vertex_face), len(edge_edge)) > MOST_ORPHANS:
        raise TooManyOrphans(f"more than {MOST_ORPHANS} orphan pairs")
    return vertex_face, edge_edge


def _kept(kind: Kind, count: int, cells: Rows, vertices: np.ndarray) -> Kept:
    return Kept(_name(kind.old_of_new, kind.state, count, UNTOUCHED), cells, vertices)


@kernel
def _name(old_of_new, state, count, but):
    """Names of count old features as in Kept, -1 too for those that have one of the states but."""
    name = np.full(count, np.int32(-1))
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not state[f] & but:
            name[old_of_new[f]] = 2 * f + (state[f] & GAINED > 0)
    return name


@kernel
def _keys_of_touched(pairs, vertices, touched, shapes, is_added):
    """The pairs that stay orphans, and whose face is touched."""
    (faces, state), keys, count = touched, np.empty(len(pairs), np.int64), 0
    for p in range(len(pairs)):
        v, f = vertices.name[pairs[p, 0]], faces.name[pairs[p, 1]]
        if v < 0 or f < 0 or state[f >> 1] == UNTOUCHED:
            continue
        grown, v, f = (v | f) & 1, v >> 1, f >> 1
        if not grown or _stay(shapes, is_added, vertices, v, faces, f):
            keys[count] = np.int64(v) << 32 | np.int64(f)
            count += 1
    return keys[:count].copy()


@kernel
def _merge_pairs(pairs, one, other, keys, shapes, is_added):
    """(k, 2) int32, sorted, each once: pairs that have names and stay orphans, under these, and those of the keys."""
    out = np.empty((len(pairs) + len(keys), 2), np.int32)
    count = x = 0
    for p in range(len(pairs)):
        a, b = one.name[pairs[p, 0]], other.name[pairs[p, 1]]
        if a < 0 or b < 0:
            continue
        grown, a, b = (a | b) & 1, a >> 1, b >> 1
        if grown and not _stay(shapes, is_added, one, a, other, b):
            continue
        key = np.int64(a) << 32 | np.int64(b)
        while x < len(keys) and keys[x] <= key:
            if keys[x] < key and (x == 0 or keys[x] != keys[x - 1]):
                out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
                count += 1
            x += 1
        out[count, 0], out[count, 1] = a, b
        count += 1
    while x < len(keys):
        if x == 0 or keys[x] != keys[x - 1]:
            out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
            count += 1
        x += 1
    return out[:count]  # a few too many were allocated: less than one more copy


@helper
def _stay(shapes, is_added, one, a, other, b):
    """Orphans a, b stay so: added cells of either feature are adjacent to all cells of the other.

    shapes : corners and corner_count of the cells
    """
    in_line()
    return _gains_are_near(shapes, is_added, one, a, other, b) and _gains_are_near(shapes, is_added, other, b, one, a)


@helper
def _gains_are_near(shapes, is_added, one, a, other, b):
    """Added cells of feature a are adjacent to all cells of b, which they are if they have a vertex of it."""
    in_line()
    corners, corner_count = shapes
    for s in range(one.cells.start[a], one.cells.start[a + 1]):
        i, at_once = one.cells.items[s], False
        if not is_added[i]:
            continue
        for k in range(corner_count[i]):
            for m in range(other.vertices.shape[1]):
                at_once |= corners[i, k] == other.vertices[b, m]
        for t in range(other.cells.start[b], other.cells.start[b + 1]):
            if not at_once and not cells_adjacent(corners, corner_count, i, other.cells.items[t]):
                return False
    return True
