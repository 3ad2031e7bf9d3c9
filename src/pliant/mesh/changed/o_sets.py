"""O-sets of a changed mesh from those before: most pairs keep what they were.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. Of features
that both meshes have, an orphan stays one exactly if the added cells of either feature are adjacent to all cells of
the other; all other pairs of the two meshes are searched again (``orphans.py``).

Names ascend: edges keep their lexicographic order, and a face that is not touched keeps its first cell and its place in
that. So what stays is still sorted, but for pairs of touched faces, and the others are merged into it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mesh.cell_features import Owners, cells_adjacent
from pliant.mesh.cells import Rows, starts_from
from pliant.mesh.changed.features import EDGES, FACES, GAINED, KINDS, LOST, UNTOUCHED, VERTICES, Change, Kind
from pliant.mesh.changed.lists import pick_lists
from pliant.mesh.changed.orphans import SOUGHT, Gone, Suspects, find_changed, list_gone, list_suspects
from pliant.mesh.changed.seeking import Features, Shapes
from pliant.mesh.o_sets import MOST_ORPHANS, TooManyOrphans
from pliant.runtime.jit import bare_kernel, helper, in_line, kernel
from pliant.runtime.threads import Task

if TYPE_CHECKING:
    from pliant.mesh.cell_features import CellMesh

_LAST = np.iinfo(np.int64).max  # above all keys
_UNSURE = np.int32(-(2**31) + 1)  # the bits of names that are negative, or of features that gained cells


class Kept(NamedTuple):
    """Features of one kind that both meshes have."""

    name: np.ndarray  # (m,) int32, of the old ones: twice the new id, and 1 more if it gained cells; -1 if it is gone
    cells: Rows  # of the new ones, of which there are less than 2^30
    vertices: np.ndarray  # (m', n) int32, of the new ones


class Part(NamedTuple):
    """One of the parts of the features of a kind."""

    kind: int
    number: int
    parts: int


def o_set_tasks(old: CellMesh, new: CellMesh, change: Change, parts: int) -> dict[str, Task]:
    """The searches for the orphans of each kind are in so many parts. Nothing that concerns vertices and faces has to
    wait for the edges."""
    counts, is_added = (old.vertex_limit, len(old._edges), len(old._faces)), change.old_of_new < 0
    tasks = {
        "shapes": Task(lambda _: Shapes(new._corners, new._corner_count, new._vertex_cells, is_added), "vertices"),
        "gone": Task(lambda: list_gone(old, change.removed)),
    }
    for kind, name in enumerate(KINDS):
        tasks[f"names {name}"] = Task(lambda found, kind=kind: _name(found, counts[kind], UNTOUCHED), name)
        tasks[f"gone {name}"] = Task(partial(_features_of, old, change.removed, kind), "gone", f"names {name}")
        tasks[f"suspects {name}"] = Task(list_suspects, "gone", f"gone {name}", name)
    tasks["features vertices"] = Task(lambda *of: _vertices(new, *of), "owners vertices", "gone vertices")
    tasks["features edges"] = Task(
        lambda at, owners, gone, *_: Features(at, new._edges, owners.owned, new._cell_edges, gone),
        "edge_cells", "owners edges", "gone edges", "cell_edges", "faces",
    )  # fmt: skip
    tasks["features faces"] = Task(
        lambda at, owners, gone: Features(at, new._faces, owners.owned, new._cell_faces, gone),
        "face_cells", "owners faces", "gone faces",
    )  # fmt: skip
    searches = {kind: [f"search {KINDS[kind]} {k}" for k in range(parts)] for kind in (EDGES, VERTICES, FACES)}
    for kind, names in searches.items():
        a, b = KINDS[kind], KINDS[SOUGHT[kind]]
        for k, name in enumerate(names):
            search = partial(_search, Part(kind, k, parts))
            tasks[name] = Task(search, "shapes", "gone", f"features {a}", f"features {b}", f"suspects {a}")
    for name in KINDS:
        tasks[f"kept {name}"] = Task(
            lambda name, of: Kept(name, of.at, of.vertices), f"names {name}", f"features {name}"
        )
    tasks["edge_edge"] = Task(
        lambda *found: _change_edge_edge(old._o_sets[1], *found), "shapes", "kept edges", *searches[EDGES]
    )
    tasks["vertex_face"] = Task(
        lambda *found: _change_vertex_face(old._o_sets[0], *found),
        "shapes", "kept vertices", "kept faces", "faces", *searches[VERTICES], *searches[FACES],
    )  # fmt: skip
    return tasks | {"o_sets": Task(lambda *both: type(new)._o_sets.keep(new, both), "vertex_face", "edge_edge")}


def _vertices(new: CellMesh, owners: Owners, gone: Rows) -> Features:
    own, corners = np.arange(new.vertex_limit, dtype=np.int32)[:, None], new._corners.reshape(-1)
    return Features(new._vertex_cells, own, owners.owned, Rows(np.empty(0, np.int64), corners), gone)


def _features_of(old: CellMesh, removed: np.ndarray, kind: int, gone: Gone, names: np.ndarray) -> Rows:
    """Features of removed cells that are still there: their new ids, -1 for others; names : as in Kept."""
    if kind == VERTICES:
        start, ids = gone.vertices
    else:
        lists = old._cell_edges if kind == EDGES else old._cell_faces
        start = starts_from(lists.start[removed + 1] - lists.start[removed])
        ids = pick_lists(lists, removed)
    return Rows(start, names[ids] >> 1)


def _search(part: Part, shapes: Shapes, gone: Gone, a: Features, b: Features, suspects: Suspects) -> np.ndarray:
    """Keys of orphans of one part of the suspects, of vertices and faces the vertex first, of edges the smaller one."""
    if part.kind == FACES:  # of two that both lost cells, the vertex finds the face
        gone = gone._replace(at_vertices=Rows(np.zeros(1, np.int64), np.empty(0, np.int32)))
    keys = find_changed(shapes, gone, (a, b), suspects.part(part.number, part.parts), MOST_ORPHANS)
    if part.kind == VERTICES:
        return keys
    one, other = keys >> 32, keys & 0xFFFFFFFF
    return other << 32 | one if part.kind == FACES else np.minimum(one, other) << 32 | np.maximum(one, other)


def _change_edge_edge(pairs: np.ndarray, shapes: Shapes, edges: Kept, *found: np.ndarray) -> np.ndarray:
    """Orphans of the new mesh; found : keys, some repeatedly, of those that had to be searched for."""
    return _merge_pairs(pairs, edges, edges, np.sort(np.concatenate(found)), shapes)


def _change_vertex_face(
    pairs: np.ndarray, shapes: Shapes, vertices: Kept, faces: Kept, kind: Kind, *found: np.ndarray
) -> np.ndarray:
    """As above; kind : of the faces."""
    turned = _keys_of_touched(pairs, vertices, faces, kind.state, shapes)
    keys = np.sort(np.concatenate((turned, *found)))
    untouched = faces._replace(name=_name(kind, len(faces.name), LOST | GAINED))
    return _merge_pairs(pairs, vertices, untouched, keys, shapes)


def _name(kind: Kind, count: int, but: int) -> np.ndarray:
    """Names of count old features as in Kept, -1 too for those that have one of the states but."""
    name = np.full(count, -1, np.int32)
    _write_names(kind, but, name)
    return name


@kernel
def _write_names(kind, but, name):
    old_of_new, state = kind.old_of_new, kind.state
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not state[f] & but:
            name[old_of_new[f]] = 2 * f + (state[f] & GAINED > 0)


def _keys_of_touched(pairs: np.ndarray, vertices: Kept, faces: Kept, state: np.ndarray, shapes: Shapes) -> np.ndarray:
    """The pairs that stay orphans, and whose face is touched; state : of the faces."""
    keys = np.empty(len(pairs), np.int64)
    return keys[: _write_touched(pairs, vertices, faces, state, shapes, keys)]


@bare_kernel
def _write_touched(pairs, vertices, faces, state, shapes, keys):
    names, face_names, count = vertices.name, faces.name, 0
    for p in range(len(pairs)):
        f = face_names[np.uint32(pairs[p, 1])]
        if f < 0 or state[f >> 1] == UNTOUCHED:
            continue
        v = names[pairs[p, 0]]
        if v < 0 or ((v | f) & 1 and not _stay(shapes, vertices, v >> 1, faces, f >> 1)):
            continue
        keys[count] = np.int64(v >> 1) << 32 | np.int64(f >> 1)
        count += 1
    return count


def _merge_pairs(pairs: np.ndarray, one: Kept, other: Kept, keys: np.ndarray, shapes: Shapes) -> np.ndarray:
    """(k, 2) int32, sorted, each once: pairs that have names and stay orphans, under these, and those of the keys."""
    out = np.empty((len(pairs) + len(keys), 2), np.int32)
    count = _write_pairs(pairs, one, other, keys, shapes, out)
    if count > MOST_ORPHANS:
        raise TooManyOrphans(f"more than {MOST_ORPHANS} orphan pairs")
    return out[:count]  # a few too many: less than one more copy


@bare_kernel
def _write_pairs(pairs, one, other, keys, shapes, out):
    """How many there are."""
    names, other_names = one.name, other.name
    next_key = keys[0] if len(keys) else _LAST
    count = x = 0
    for p in range(len(pairs)):
        a, b = names[np.uint32(pairs[p, 0])], other_names[np.uint32(pairs[p, 1])]
        if (a | b) & _UNSURE and (a < 0 or b < 0 or not _stay(shapes, one, a >> 1, other, b >> 1)):
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
def _stay(shapes, one, a, other, b):
    """Orphans a, b stay so: added cells of either feature are adjacent to all cells of the other."""
    in_line()
    return _gains_are_near(shapes, one, a, other, b) and _gains_are_near(shapes, other, b, one, a)


@helper
def _gains_are_near(shapes, one, a, other, b):
    """Added cells of feature a are adjacent to all cells of b, which they are if they have a vertex of it."""
    in_line()
    corners, corner_count = shapes.corners, shapes.corner_count
    for s in range(one.cells.start[a], one.cells.start[a + 1]):
        i, at_once = one.cells.items[s], False
        if not shapes.is_added[i]:
            continue
        for k in range(corner_count[i]):
            for m in range(other.vertices.shape[1]):
                at_once |= corners[i, k] == other.vertices[b, m]
        for t in range(other.cells.start[b], other.cells.start[b + 1]):
            if not at_once and not cells_adjacent(corners, corner_count, i, other.cells.items[t]):
                return False
    return True
