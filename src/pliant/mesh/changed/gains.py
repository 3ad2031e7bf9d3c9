"""Orphans of the new features of a changed mesh, sought in all cells that are near to them."""

from __future__ import annotations

from pliant.mesh.changed.seeking import keep_near, mask_of, mask_of_cell, prefetch_cells, set_masks
from pliant.mesh.o_sets import clear_masks
from pliant.runtime.jit import bare_kernel, helper, in_line, prefetch

_OWN = -(1 << 63)  # bit in the mask of a vertex of the feature itself, which makes it negative


@bare_kernel
def search_gains(cells, ids, seek, done, keys, count):
    """Orphans of the features ids[done:], as the searches in o_sets; seek.met is for cells."""
    mask, at_a = seek.mask, seek.a.at
    for r in range(done, len(ids)):
        a, before = ids[r], count
        prefetch_cells(cells, at_a, ids, r)
        i, full = set_masks(cells, mask, at_a, a)
        for k in range(seek.a.vertices.shape[1]):
            mask[seek.a.vertices[a, k]] = full | _OWN
        asked = _pick_apart(seek, _ask_owned(seek, _list_near(cells, seek, i, full, r)))
        count = keep_near(cells, seek, a, full, asked, keys, count)
        clear_masks(cells, mask, at_a, a)
        if count < 0:
            return r, before
    return len(ids), count


@helper
def _list_near(cells, seek, i, full, r):
    """How many cells are near to the first 62 cells of the r-th feature, of which i is one; into near."""
    in_line()
    corners, start, items, mask, met, near = (
        cells.corners, cells.vertex_cells.start, cells.vertex_cells.items, seek.mask, seek.met, seek.near,
    )  # fmt: skip
    count = 0
    for k in range(cells.corner_count[i]):
        prefetch(items, start[corners[i, k]])
    for k in range(cells.corner_count[i]):
        for t in range(start[corners[i, k]], start[corners[i, k] + 1]):
            prefetch(corners, items[t])
            prefetch(met, items[t])
    for k in range(cells.corner_count[i]):
        for t in range(start[corners[i, k]], start[corners[i, k] + 1]):
            j = items[t]
            is_near = (mask_of_cell(corners, mask, j, cells.corner_count[j]) & ~_OWN) == full
            near[count] = j
            count += is_near & (met[j] != r)
            met[j] = r if is_near else met[j]
    return count


@helper
def _ask_owned(seek, count):
    """How many features the cells near[:count] own; into asked."""
    in_line()
    start, items, near = seek.b.owned.start, seek.b.owned.items, seek.near
    asked = 0
    for n in range(count):
        prefetch(start, near[n])
    for n in range(count):
        prefetch(items, start[near[n]])
    for n in range(count):
        for s in range(start[near[n]], start[near[n] + 1]):
            seek.asked[asked] = items[s]
            prefetch(seek.b.vertices, items[s])
            asked += 1
    return asked


@helper
def _pick_apart(seek, count):
    """Of the features asked[:count] those that have no vertex of the feature itself, in the same place."""
    in_line()
    apart = 0
    for n in range(count):
        b = seek.asked[n]
        seek.asked[apart] = b
        apart += mask_of(seek.b.vertices, seek.mask, b, seek.b.vertices.shape[1]) >= 0
    return apart
