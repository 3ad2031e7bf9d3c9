"""Pairs of features of a changed mesh that may be orphans because one of them lost cells, and are some.

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

from pliant.mesh.cells import MOST_CORNERS, Rows
from pliant.mesh.changed.features import is_at
from pliant.mesh.changed.seeking import AVOIDED, Seek, keep_near, mask_of_cell, prefetch_cells, set_masks
from pliant.mesh.o_sets import clear_masks
from pliant.runtime.jit import bare_kernel, helper, in_line, kernel, prefetch


class Losses(NamedTuple):
    seek: Seek  # met is for features b
    avoided: np.ndarray  # (k, 8) int32, the vertices that all removed cells of each a had, some repeatedly
    removed: Rows  # removed cells that were at each vertex
    corners: np.ndarray  # (k', 8) int32, of the removed cells


def lost_by(rows: Rows, corners: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(ids, avoided): those of count features that removed cells had, each once, in the order of these; and (k, 8) the
    vertices that all removed cells of a feature had, some repeatedly.

    rows : features of the removed cells, -1 for those that are gone
    """
    ids, avoided = np.empty(len(rows.items), np.int32), np.empty((len(rows.items), MOST_CORNERS), np.int32)
    found = _list_losses(rows, corners, np.full(count, -1, np.int32), ids, avoided)
    return ids[:found], avoided[:found]


@kernel
def _list_losses(rows, corners, slot, ids, avoided):
    """slot : (count,) -1 at first. Returns how many there are."""
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
    return found


@helper
def _intersect(rows, r, others, i):
    """Vertices of row r that are not in the other are replaced by one that is: there is one, of the feature itself."""
    common = rows[r, 0]
    for k in range(MOST_CORNERS):
        if is_at(others, i, rows[r, k]):
            common = rows[r, k]
    for k in range(MOST_CORNERS):
        if not is_at(others, i, rows[r, k]):
            rows[r, k] = common


@bare_kernel
def search_losses(cells, ids, losses, done, keys, count):
    """Orphans of the features ids[done:], as the searches in o_sets."""
    seek = losses.seek
    mask, at_a = seek.mask, seek.a.at
    for r in range(done, len(ids)):
        a, before = ids[r], count
        prefetch_cells(cells, at_a, ids, r)
        for k in range(MOST_CORNERS):
            mask[losses.avoided[r, k]] = AVOIDED
        i, full = set_masks(cells, mask, at_a, a)
        count = keep_near(cells, seek, a, full, _list_features(cells, losses, i, full, r), keys, count)
        clear_masks(cells, mask, at_a, a)
        for k in range(MOST_CORNERS):
            mask[losses.avoided[r, k]] = 0
        if count < 0:
            return r, before
    return len(ids), count


@helper
def _list_features(cells, losses, i, full, r):
    """How many features are to be asked for the r-th one, a, into asked: those of cells that are near to its first 62
    cells and have no vertex that is avoided, and of such removed cells.

    i : a cell of a; full : the mask of what is near
    """
    in_line()
    seek, removed = losses.seek, losses.removed
    corners, at_vertices, features, mask, count = cells.corners, cells.vertex_cells, seek.b.of_cells, seek.mask, 0
    for k in range(cells.corner_count[i]):
        w = corners[i, k]
        if mask[w] >= AVOIDED:
            continue
        for t in range(at_vertices.start[w], at_vertices.start[w + 1]):
            prefetch(corners, at_vertices.items[t])
        for t in range(at_vertices.start[w], at_vertices.start[w + 1]):
            j = at_vertices.items[t]
            if mask_of_cell(corners, mask, j, cells.corner_count[j]) != full:
                continue
            if len(features.start):
                count = _ask(seek, features.items, features.start[j], features.start[j + 1], r, count)
            else:
                begin = j * MOST_CORNERS
                count = _ask(seek, features.items, begin, begin + cells.corner_count[j], r, count)
        if w < len(removed.start) - 1:
            for t in range(removed.start[w], removed.start[w + 1]):
                j = removed.items[t]
                if mask_of_cell(losses.corners, mask, j, MOST_CORNERS) == full:
                    rows = seek.b.of_gone
                    count = _ask(seek, rows.items, rows.start[j], rows.start[j + 1], r, count)
    return count


@helper
def _ask(seek, items, begin, end, r, count):
    """Adds those of items[begin:end] that are not there yet; returns how many there are."""
    in_line()
    for s in range(begin, end):
        b = items[s]
        if b >= 0:
            seek.asked[count] = b
            count += seek.met[b] != r
            seek.met[b] = r
    return count
