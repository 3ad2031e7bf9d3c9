"""Pairs of features of a changed volume mesh that may be orphans because one of them lost cells, and are some.

A pair a, b of features that both meshes have becomes an orphan only if of any two separate cells i of a and j of b at
least one was removed. Say i: if some cell of b is now near to a and has no vertex of i, then the pair is found from a
and i, in the few near cells that avoid the vertices of i. If j stays, it is such a cell. If j was removed, too, then b
and j may find it likewise, or else every cell of a has a vertex of j, which has none of i: j is one of the removed
cells at a corner of any cell of a. A feature that lost several cells avoids what they had in common, once, instead of
the vertices of each by themselves: it looks at more cells than it must, not at fewer.

What avoids the vertices of i has none of a, so that all features found are without a common vertex with it. The
neighbour of i at a face has one corner that is not avoided, and all that is sought is at this one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._jit import bare_kernel, helper, in_line, kernel, prefetch
from pliant._threads import Crew
from pliant.mesh.cell_features import Cells
from pliant.mesh.cells import MOST_CORNERS, Rows
from pliant.mesh.o_sets import MASKED, clear_masks, find_orphans, is_full

_LEAST = 512  # features that are worth a search with room of its own
_AVOIDED = 1 << 62  # bit in the mask of a vertex, above those of the cells


class Gone(NamedTuple):
    """Removed cells, and which of their features are still there: new ids, -1 for the others."""

    corners: np.ndarray  # (k, 8) int32
    at_vertices: Rows  # which of them were at each vertex
    vertices: Rows
    edges: Rows
    faces: Rows


class Losses(NamedTuple):
    """Features of one kind, a, that lost cells, and those that they are sought with, b."""

    avoided: np.ndarray  # (k, 8) int32, the vertices that all removed cells of each a had, some repeatedly
    at_a: Rows  # cells
    at_b: Rows
    vertices: np.ndarray  # (m, n) int32, of the features like b
    features: Rows  # like b, of each cell; without start for vertices: the rows of corners
    gone: Gone
    gone_features: Rows  # like b, of the removed cells
    mask: np.ndarray  # (vertices,) int64: bit k of a vertex says that the k-th cell of a has it
    met: np.ndarray  # (m,) int32: r where a feature b was met for the r-th feature a
    asked: np.ndarray  # (m + 1,) int32, room for features b


def find_from_losses(cells: Cells, gone: Gone, most: int, crew: Crew) -> tuple[np.ndarray, np.ndarray]:
    """Keys (vertex, face) and (edge, edge), some repeatedly; as find_orphans."""
    at_vertices, at_edges, at_faces = cells.vertex_cells, cells.edge_cells, cells.face_cells
    own = np.arange(len(at_vertices.start) - 1, dtype=np.int32)[:, None]
    corners = Rows(np.empty(0, np.int64), cells.corners.reshape(-1))
    none = Rows(np.zeros(1, np.int64), np.empty(0, np.int32))
    # Some that are avoided, or of removed cells, may be of no cell any more.
    masked = max(len(own), int(gone.corners.max(initial=-1)) + 1)
    kinds = (
        (gone.vertices, at_vertices, at_faces, cells.triangles, cells.faces, gone, gone.faces),
        (gone.edges, at_edges, at_edges, cells.ends, cells.edges, gone, gone.edges),
        # Of two that both lost cells, the vertex finds the face.
        (gone.faces, at_faces, at_vertices, own, corners, gone._replace(at_vertices=none), none),
    )
    lost = [_list_losses(rows, gone.corners, len(at_a.start) - 1) for rows, at_a, *_ in kinds]

    def search(number: int, part: slice) -> np.ndarray:
        _, at_a, at_b, vertices, features, removed, gone_features = kinds[number]
        ids, avoided = lost[number]
        mask, met = np.zeros(masked, np.int64), np.full(len(at_b.start) - 1, np.int32(-1))
        asked = np.empty(len(at_b.start), np.int32)
        losses = Losses(avoided[part], at_a, at_b, vertices, features, removed, gone_features, mask, met, asked)
        return find_orphans(_search_losses, cells, ids[part], losses, most)

    jobs = []
    for number, (ids, _) in enumerate(lost):
        parts = min(crew.threads, 1 + len(ids) // _LEAST)
        jobs += [(number, slice(len(ids) * k // parts, len(ids) * (k + 1) // parts)) for k in range(parts)]
    found = crew.gather([lambda job=job: search(*job) for job in jobs])
    of_vertices, of_edges, of_faces = (
        np.concatenate([keys for (which, _), keys in zip(jobs, found) if which == number]) for number in range(3)
    )
    a, b = of_edges >> 32, of_edges & 0xFFFFFFFF
    turned = of_faces << 32 | of_faces >> 32
    return np.concatenate((of_vertices, turned)), np.minimum(a, b) << 32 | np.maximum(a, b)


@kernel
def _list_losses(rows, corners, count):
    """(ids, avoided): those of count features that removed cells had, each once, in the order of these; and (k, 8) the
    vertices that all removed cells of a feature had, some repeatedly.

    rows : features of the removed cells, -1 for those that are gone
    """
    slot, ids = np.full(count, np.int32(-1)), np.empty(len(rows.items), np.int32)
    avoided = np.empty((len(rows.items), MOST_CORNERS), np.int32)
    found = 0
    for i in range(len(corners)):
        for s in range(rows.start[i], rows.start[i + 1]):
            f = rows.items[s]
            if f >= 0 and slot[f] < 0:
                slot[f], ids[found] = found, f
                for k in range(MOST_CORNERS):
                    avoided[found, k] = corners[i, k]
                found += 1
            elif f >= 0:
                _intersect(avoided, slot[f], corners, i)
    return ids[:found].copy(), avoided[:found].copy()


@helper
def _intersect(rows, r, others, i):
    """Vertices of row r that are not in the other are replaced by one that is: there is one, of the feature itself."""
    common = rows[r, 0]
    for k in range(MOST_CORNERS):
        if _has(others, i, rows[r, k]):
            common = rows[r, k]
    for k in range(MOST_CORNERS):
        if not _has(others, i, rows[r, k]):
            rows[r, k] = common


@helper
def _has(rows, i, v):
    for k in range(MOST_CORNERS):
        if rows[i, k] == v:
            return True
    return False


@bare_kernel
def _search_losses(cells, ids, losses, done, keys, count):
    """Orphans of the features ids[done:], as the searches in o_sets.

    Hardly anything of what is looked at is in the cache, or can be foreseen by the processor. So it is asked for as
    soon as it is known where it will be, and what is not wanted is written over instead of passed by: with 494 of
    55,000 cells removed here and there, 5 ms instead of 13.
    """
    mask, asked, at_a = losses.mask, losses.asked, losses.at_a
    for r in range(done, len(ids)):
        a, before = ids[r], count
        _prefetch_cells(cells, at_a, ids, r)
        for k in range(MOST_CORNERS):
            mask[losses.avoided[r, k]] = _AVOIDED
        i = _set_masks(cells, mask, at_a, a)
        full = (np.int64(1) << np.int64(min(at_a.start[a + 1] - at_a.start[a], MASKED))) - np.int64(1)
        wanted = _pick_near(cells, mask, losses.at_b, full, asked, _list_features(cells, losses, i, full, r))
        fits = count + wanted <= len(keys)
        for n in range(wanted if fits else 0):
            if _all_near(cells, losses, a, asked[n]):
                keys[count] = np.int64(a) << 32 | np.int64(asked[n])
                count += 1
        clear_masks(cells, mask, at_a, a)
        for k in range(MOST_CORNERS):
            mask[losses.avoided[r, k]] = 0
        if not fits:
            for b in range(len(losses.met)):  # or the next call, which starts with this one, meets none of them
                losses.met[b] = -1
            return r, before
    return len(ids), count


@helper
def _prefetch_cells(cells, at_a, ids, r):
    """Of the features after the r-th one, step by step: where their lists are, the lists, and the cells."""
    in_line()
    if r + 6 < len(ids):
        prefetch(at_a.start, ids[r + 6])
        prefetch(at_a.items, at_a.start[ids[r + 4]])
        a = ids[r + 2]
        for s in range(at_a.start[a], at_a.start[a + 1]):
            prefetch(cells.corners, at_a.items[s])


@helper
def _set_masks(cells, mask, rows, a):
    """Of the vertices of the first 62 cells of feature a; returns the one of these with the fewest cells at its corners
    that are not avoided."""
    in_line()
    start, begin = cells.vertex_cells.start, rows.start[a]
    best, fewest = rows.items[begin], np.int64(1) << 62
    for s in range(min(rows.start[a + 1] - begin, MASKED)):
        i, surrounded = rows.items[begin + s], np.int64(0)
        for k in range(cells.corner_count[i]):
            v = cells.corners[i, k]
            surrounded += (start[v + 1] - start[v]) * (mask[v] < _AVOIDED)
            mask[v] |= np.int64(1) << np.int64(s)
        best, fewest = (i, surrounded) if surrounded < fewest else (best, fewest)
    return best


@helper
def _list_features(cells, losses, i, full, r):
    """How many features are to be asked for the r-th one, a, into asked: those of cells that are near to its first 62
    cells and have no vertex that is avoided, and of such removed cells.

    i : a cell of a; full : the mask of what is near
    """
    in_line()
    corners, at_vertices, features, gone = cells.corners, cells.vertex_cells, losses.features, losses.gone
    mask, count = losses.mask, 0
    for k in range(cells.corner_count[i]):
        w = corners[i, k]
        if mask[w] >= _AVOIDED:
            continue
        for t in range(at_vertices.start[w], at_vertices.start[w + 1]):
            prefetch(corners, at_vertices.items[t])
        for t in range(at_vertices.start[w], at_vertices.start[w + 1]):
            j = at_vertices.items[t]
            if _mask_of(corners, mask, j, cells.corner_count[j]) != full:
                continue
            if len(features.start):
                count = _ask(losses, features.items, features.start[j], features.start[j + 1], r, count)
            else:
                begin = j * MOST_CORNERS
                count = _ask(losses, features.items, begin, begin + cells.corner_count[j], r, count)
        if w < len(gone.at_vertices.start) - 1:
            for t in range(gone.at_vertices.start[w], gone.at_vertices.start[w + 1]):
                j = gone.at_vertices.items[t]
                if _mask_of(gone.corners, mask, j, MOST_CORNERS) == full:
                    rows = losses.gone_features
                    count = _ask(losses, rows.items, rows.start[j], rows.start[j + 1], r, count)
    return count


@helper
def _ask(losses, items, begin, end, r, count):
    """Adds those of items[begin:end] that are not there yet; returns how many there are."""
    in_line()
    for s in range(begin, end):
        b = items[s]
        if b >= 0:
            losses.asked[count] = b
            count += losses.met[b] != r
            losses.met[b] = r
    return count


@helper
def _mask_of(corners, mask, i, corner_count):
    in_line()
    bits = np.int64(0)
    for k in range(corner_count):
        bits |= mask[corners[i, k]]
    return bits


@helper
def _pick_near(cells, mask, at_b, full, asked, count):
    """Of the features asked[:count] those of which the first and the last cell are near to the first 62 cells of a, in
    the same place; returns how many they are."""
    in_line()
    picked = 0
    for n in range(count):
        prefetch(at_b.start, asked[n])
    for n in range(count):
        prefetch(at_b.items, at_b.start[asked[n]])
    for n in range(count):
        b = asked[n]
        prefetch(cells.corners, at_b.items[at_b.start[b]])
        prefetch(cells.corners, at_b.items[at_b.start[b + 1] - 1])
    for n in range(count):
        b = asked[n]
        i, j = at_b.items[at_b.start[b]], at_b.items[at_b.start[b + 1] - 1]
        one = _mask_of(cells.corners, mask, i, cells.corner_count[i]) & ~_AVOIDED
        other = _mask_of(cells.corners, mask, j, cells.corner_count[j]) & ~_AVOIDED
        asked[picked] = b
        picked += (one == full) & (other == full)
    return picked


@helper
def _all_near(cells, losses, a, b):
    """Every cell of b is near to a: they are, if b itself has vertices of all cells of a."""
    in_line()
    mask, at_a, at_b = losses.mask, losses.at_a, losses.at_b
    few, width = at_a.start[a + 1] - at_a.start[a] <= MASKED, losses.vertices.shape[1]
    if few and is_full(cells, at_a, a, _mask_of(losses.vertices, mask, b, width) & ~_AVOIDED, 0):
        return True
    for s in range(at_b.start[b], at_b.start[b + 1]):
        j = at_b.items[s]
        if not is_full(cells, at_a, a, _mask_of(cells.corners, mask, j, cells.corner_count[j]) & ~_AVOIDED, j):
            return False
    return True
