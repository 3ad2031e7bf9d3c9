"""O-sets of a changed volume mesh from those before: most pairs keep what they were.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. Of features
that both meshes have, an orphan stays one exactly if the added cells of either feature are adjacent to all cells of
the other; all other pairs of the two meshes are found anew (``changed_orphans.py``).

Names ascend: edges keep their lexicographic order, and a face that is not touched keeps its first cell and its place in
that. So what stays is still sorted, but for pairs of touched faces, and the others are merged into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import bare_kernel, helper, in_line, kernel
from pliant._threads import Job
from pliant.mesh.cell_features import Cells, cells_adjacent
from pliant.mesh.cells import Rows
from pliant.mesh.changed_cell_table import Unfinished
from pliant.mesh.changed_features import EDGES, FACES, GAINED, KINDS, LOST, UNTOUCHED, VERTICES, Change, Kind
from pliant.mesh.changed_orphans import Gone, Suspects, find_changed, list_gone, list_suspects
from pliant.mesh.orphans import MOST_ORPHANS, TooManyOrphans

if TYPE_CHECKING:
    from pliant.mesh.volumes import VolumeMesh

_LAST = np.iinfo(np.int64).max  # above all keys
_UNSURE = np.int32(-(2**31) + 1)  # the bits of names that are negative, or of features that gained cells


class Kept(NamedTuple):
    """Features of one kind that both meshes have."""

    name: np.ndarray  # (m,) int32, of the old ones: twice the new id, and 1 more if it gained cells; -1 if it is gone
    cells: Rows  # of the new ones
    vertices: np.ndarray  # (m', n) int32, of the new ones


class Names(NamedTuple):
    """As in Kept, of all kinds."""

    vertices: np.ndarray
    edges: np.ndarray
    faces: np.ndarray
    untouched: np.ndarray  # faces, -1 for those that lost or gained cells


def o_set_jobs(old: VolumeMesh, new: VolumeMesh, change: Change, parts: int) -> dict[str, Job]:
    """The searches for the orphans of each kind are in so many parts."""

    def search(table: Unfinished, gone: Gone, suspects: list[Suspects], kind: int, k: int) -> np.ndarray:
        return find_changed(table.cells, gone, kind, suspects[kind].part(k, parts), MOST_ORPHANS)

    searches = {
        (kind, k): Job(partial(search, kind=kind, k=k), "cells", "gone", "suspects")
        for kind in (EDGES, VERTICES, FACES)
        for k in range(parts)
    }
    of_edges = [f"search {kind} {k}" for kind, k in searches if kind == EDGES]
    of_others = [f"search {kind} {k}" for kind, k in searches if kind != EDGES]
    return {
        "names": Job(lambda *kinds: _name_features(old, kinds), *KINDS),
        "gone": Job(lambda names: list_gone(old, change.removed, names[:3]), "names"),
        "suspects": Job(lambda gone, *kinds: list_suspects(gone, kinds), "gone", *KINDS),
        **{f"search {kind} {k}": job for (kind, k), job in searches.items()},
        "edge_edge": Job(
            lambda table, names, *found: _change_edges(old, change, table.cells, names, found),
            "cells", "names", *of_edges,
        ),
        "vertex_face": Job(
            lambda table, names, faces, *found: _change_faces(old, change, table.cells, names, faces, found),
            "cells", "names", "faces", *of_others,
        ),
        "o_sets": Job(lambda *both: vars(new).update(o_sets=both), "vertex_face", "edge_edge"),
    }  # fmt: skip


def _name_features(old: VolumeMesh, kinds: tuple[Kind, Kind, Kind]) -> Names:
    counts = old.vertex_limit, len(old.edges), len(old.faces)
    vertices, edges, faces = (_name(*kind[:2], count, UNTOUCHED) for kind, count in zip(kinds, counts))
    return Names(vertices, edges, faces, _name(*kinds[FACES][:2], counts[FACES], LOST | GAINED))


def _change_faces(
    old: VolumeMesh, change: Change, table: Cells, names: Names, faces: Kind, found: Sequence[np.ndarray]
) -> np.ndarray:
    """Orphans (vertex, face) of the new mesh; found : keys, some repeatedly, of those that had to be looked for."""
    own = np.arange(len(table.vertex_cells.start) - 1, dtype=np.int32)[:, None]
    vertices = Kept(names.vertices, table.vertex_cells, own)
    kept = Kept(names.faces, table.face_cells, table.triangles)
    cells = (table.corners, table.corner_count), change.old_of_new < 0
    turned = _keys_of_touched(old.o_sets[0], vertices, kept, faces.state, cells)
    keys = np.sort(np.concatenate((turned, *found)))
    return _merge_pairs(old.o_sets[0], vertices, kept._replace(name=names.untouched), keys, cells)


def _change_edges(
    old: VolumeMesh, change: Change, table: Cells, names: Names, found: Sequence[np.ndarray]
) -> np.ndarray:
    """Orphans (edge, edge), as above."""
    edges = Kept(names.edges, table.edge_cells, table.ends)
    cells = (table.corners, table.corner_count), change.old_of_new < 0
    return _merge_pairs(old.o_sets[1], edges, edges, np.sort(np.concatenate(found)), cells)


@kernel
def _name(old_of_new, state, count, but):
    """Names of count old features as in Kept, -1 too for those that have one of the states but."""
    name = np.full(count, np.int32(-1))
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not state[f] & but:
            name[old_of_new[f]] = 2 * f + (state[f] & GAINED > 0)
    return name


def _keys_of_touched(
    pairs: np.ndarray, vertices: Kept, faces: Kept, state: np.ndarray, cells: tuple[tuple, np.ndarray]
) -> np.ndarray:
    """The pairs that stay orphans, and whose face is touched; state : of the faces."""
    keys = np.empty(len(pairs), np.int64)
    return keys[: _write_touched(pairs, vertices, faces, state, cells, keys)]


@bare_kernel
def _write_touched(pairs, vertices, faces, state, cells, keys):
    (shapes, is_added), names, face_names, count = cells, vertices.name, faces.name, 0
    for p in range(len(pairs)):
        f = face_names[np.uint32(pairs[p, 1])]
        if f < 0 or state[f >> 1] == UNTOUCHED:
            continue
        v = names[pairs[p, 0]]
        if v < 0 or ((v | f) & 1 and not _stay(shapes, is_added, vertices, v >> 1, faces, f >> 1)):
            continue
        keys[count] = np.int64(v >> 1) << 32 | np.int64(f >> 1)
        count += 1
    return count


def _merge_pairs(
    pairs: np.ndarray, one: Kept, other: Kept, keys: np.ndarray, cells: tuple[tuple, np.ndarray]
) -> np.ndarray:
    """(k, 2) int32, sorted, each once: pairs that have names and stay orphans, under these, and those of the keys."""
    out = np.empty((len(pairs) + len(keys), 2), np.int32)
    count = _write_pairs(pairs, one, other, keys, cells, out)
    if count > MOST_ORPHANS:
        raise TooManyOrphans(f"more than {MOST_ORPHANS} orphan pairs")
    return out[:count]  # a few too many: less than one more copy


@bare_kernel
def _write_pairs(pairs, one, other, keys, cells, out):
    """How many there are; cells : shapes, and which are added."""
    (shapes, is_added), names, other_names = cells, one.name, other.name
    next_key = keys[0] if len(keys) else _LAST
    count = x = 0
    for p in range(len(pairs)):
        a, b = names[np.uint32(pairs[p, 0])], other_names[np.uint32(pairs[p, 1])]
        if (a | b) & _UNSURE and (a < 0 or b < 0 or not _stay(shapes, is_added, one, a >> 1, other, b >> 1)):
            continue
        key = np.int64(a >> 1) << 32 | np.int64(b >> 1)
        if next_key <= key:
            x, count = _write_keys(keys, x, key, out, count)
            next_key = keys[x] if x < len(keys) else _LAST
        out[count, 0], out[count, 1] = a >> 1, b >> 1
        count += 1
    return _write_keys(keys, x, _LAST, out, count)[1]


@helper
def _write_keys(keys, x, end, out, count):
    """Keys from the x-th on that are less than end, each once; returns where those above it begin, and the count."""
    in_line()
    while x < len(keys) and keys[x] <= end:
        if keys[x] < end and (x == 0 or keys[x] != keys[x - 1]):
            out[count, 0], out[count, 1] = keys[x] >> 32, keys[x] & 0xFFFFFFFF
            count += 1
        x += 1
    return x, count


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
