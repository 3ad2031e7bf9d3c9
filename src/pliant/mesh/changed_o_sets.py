"""O-sets of a changed volume mesh from those before: most pairs keep what they were.

Whether a pair is an orphan depends on the vertices of the cells of its two features, and on nothing else. Of features
that both meshes have, an orphan stays one exactly if the added cells of either feature are adjacent to all cells of
the other; all other pairs of the two meshes are found anew (``changed_orphans.py``).

Names ascend: edges keep their lexicographic order, and a face that is not touched keeps its first cell and its place in
that. So what stays is still sorted, but for pairs of touched faces, and the others are merged into it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant._jit import bare_kernel, helper, in_line, kernel
from pliant._threads import Job
from pliant.mesh.cell_features import cells_adjacent
from pliant.mesh.cells import EDGE_COUNT, FACE_COUNT, Rows
from pliant.mesh.changed_features import EDGES, FACES, GAINED, KINDS, LOST, UNTOUCHED, VERTICES, Change, Kind
from pliant.mesh.changed_lists import pick_lists, starts_of
from pliant.mesh.changed_orphans import SOUGHT, Gone, Suspects, find_changed, list_gone, list_suspects
from pliant.mesh.changed_seeking import Features, Shapes
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


def o_set_jobs(old: VolumeMesh, new: VolumeMesh, change: Change, parts: int) -> dict[str, Job]:
    """The searches for the orphans of each kind are in so many parts. Nothing that concerns vertices and faces has to
    wait for the edges."""
    counts = old.vertex_limit, len(old.edges), len(old.faces)
    jobs = {
        "shapes": Job(lambda _: Shapes(new.corners, new.corner_count, new.vertex_cells), "vertices"),
        "gone": Job(lambda: list_gone(old, change.removed)),
        "features vertices": Job(lambda _, owned: _vertices(new, owned.rows), "vertices", "owned vertices"),
        "features edges": Job(
            lambda rows, owned, _: Features(rows, new.edges, owned.rows, new.cell_edges),
            "edge_cells", "owned edges", "cell_edges",
        ),
        "features faces": Job(
            lambda rows, owned: Features(rows, new.faces, owned.rows, new.cell_faces), "face_cells", "owned faces"
        ),
    }  # fmt: skip
    for kind, name in enumerate(KINDS):
        jobs[f"names {name}"] = Job(lambda found, kind=kind: _name(found, counts[kind], UNTOUCHED), name)
        jobs[f"gone {name}"] = Job(partial(_features_of, old, change.removed, kind), "gone", f"names {name}")
        jobs[f"suspects {name}"] = Job(list_suspects, "gone", f"gone {name}", name)
    searches = {kind: [f"search {KINDS[kind]} {k}" for k in range(parts)] for kind in (EDGES, VERTICES, FACES)}
    for kind, names in searches.items():
        a, b = KINDS[kind], KINDS[SOUGHT[kind]]
        for k, name in enumerate(names):
            jobs[name] = Job(
                partial(_search, kind, k, parts),
                "shapes", "gone", f"gone {b}", f"features {a}", f"features {b}", f"suspects {a}",
            )  # fmt: skip
    is_added = change.old_of_new < 0
    jobs["edge_edge"] = Job(
        lambda *found: _change_edges(old.o_sets[1], is_added, *found),
        "shapes", "names edges", "features edges", *searches[EDGES],
    )  # fmt: skip
    jobs["vertex_face"] = Job(
        lambda *found: _change_faces(old.o_sets[0], is_added, *found),
        "shapes", "names vertices", "features vertices", "names faces", "features faces", "faces",
        *searches[VERTICES], *searches[FACES],
    )  # fmt: skip
    return jobs | {"o_sets": Job(lambda *both: vars(new).update(o_sets=both), "vertex_face", "edge_edge")}


def _vertices(new: VolumeMesh, owned: Rows) -> Features:
    own, corners = np.arange(new.vertex_limit, dtype=np.int32)[:, None], new.corners.reshape(-1)
    return Features(new.vertex_cells, own, owned, Rows(np.empty(0, np.int64), corners))


def _features_of(old: VolumeMesh, removed: np.ndarray, kind: int, gone: Gone, names: np.ndarray) -> Rows:
    """Features of removed cells that are still there: their new ids, -1 for others; names : as in Kept."""
    if kind == VERTICES:
        start, ids = gone.vertices
    else:
        start = starts_of(old.types[removed], EDGE_COUNT if kind == EDGES else FACE_COUNT)
        ids = pick_lists(*(old.cell_edges if kind == EDGES else old.cell_faces), removed)
    return Rows(start, names[ids] >> 1)


def _search(
    kind: int, k: int, parts: int, shapes: Shapes, gone: Gone, of_gone: Rows, a: Features, b: Features,
    suspects: Suspects,
) -> np.ndarray:  # fmt: skip
    """Keys of orphans of one part of the suspects, of vertices and faces the vertex first, of edges the smaller one."""
    if kind == FACES:  # of two that both lost cells, the vertex finds the face
        none = Rows(np.zeros(1, np.int64), np.empty(0, np.int32))
        gone, of_gone = gone._replace(at_vertices=none), none
    keys = find_changed(shapes, gone, of_gone, (a, b), suspects.part(k, parts), MOST_ORPHANS)
    if kind == VERTICES:
        return keys
    first, second = keys >> 32, keys & 0xFFFFFFFF
    return second << 32 | first if kind == FACES else np.minimum(first, second) << 32 | np.maximum(first, second)


def _change_edges(
    pairs: np.ndarray, is_added: np.ndarray, shapes: Shapes, names: np.ndarray, edges: Features, *found: np.ndarray
) -> np.ndarray:
    """Orphans (edge, edge) of the new mesh; found : keys, some repeatedly, of those that had to be looked for."""
    kept = Kept(names, edges.at, edges.vertices)
    return _merge_pairs(pairs, kept, kept, np.sort(np.concatenate(found)), (shapes, is_added))


def _change_faces(
    pairs: np.ndarray, is_added: np.ndarray, shapes: Shapes, vertex_names: np.ndarray, vertices: Features,
    face_names: np.ndarray, faces: Features, kind: Kind, *found: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Orphans (vertex, face), as above; kind : of the faces."""
    one, other = Kept(vertex_names, vertices.at, vertices.vertices), Kept(face_names, faces.at, faces.vertices)
    turned = _keys_of_touched(pairs, one, other, kind.state, (shapes, is_added))
    keys = np.sort(np.concatenate((turned, *found)))
    untouched = _name(kind, len(face_names), LOST | GAINED)
    return _merge_pairs(pairs, one, other._replace(name=untouched), keys, (shapes, is_added))


@kernel
def _name(kind, count, but):
    """Names of count old features as in Kept, -1 too for those that have one of the states but."""
    old_of_new, state = kind.old_of_new, kind.state
    name = np.full(count, np.int32(-1))
    for f in range(len(old_of_new)):
        if old_of_new[f] >= 0 and not state[f] & but:
            name[old_of_new[f]] = 2 * f + (state[f] & GAINED > 0)
    return name


def _keys_of_touched(
    pairs: np.ndarray, vertices: Kept, faces: Kept, state: np.ndarray, cells: tuple[Shapes, np.ndarray]
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
    pairs: np.ndarray, one: Kept, other: Kept, keys: np.ndarray, cells: tuple[Shapes, np.ndarray]
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
    """Orphans a, b stay so: added cells of either feature are adjacent to all cells of the other."""
    in_line()
    return _gains_are_near(shapes, is_added, one, a, other, b) and _gains_are_near(shapes, is_added, other, b, one, a)


@helper
def _gains_are_near(shapes, is_added, one, a, other, b):
    """Added cells of feature a are adjacent to all cells of b, which they are if they have a vertex of it."""
    in_line()
    corners, corner_count = shapes.corners, shapes.corner_count
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
