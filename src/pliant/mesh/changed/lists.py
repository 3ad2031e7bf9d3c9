"""Rows and lists of a changed volume mesh: picked, renamed and merged in single passes.

What follows each other in both meshes, and is not touched, is copied in one *piece*. Where ids are looked up there,
they are unsigned: no code for negative ones, which makes these loops a third faster.
"""

from __future__ import annotations

import numpy as np

from pliant._jit import kernel


@kernel
def pick_rows(table, pieces, count):
    """(count, k): rows of the table, undefined for what is in no piece."""
    out, width = np.empty((count, table.shape[1]), table.dtype), table.shape[1]
    target, source = out.reshape(-1), table.reshape(-1)
    for p in range(len(pieces)):
        new, old, size = pieces[p, 0] * width, pieces[p, 1] * width, pieces[p, 2] * width
        target[new : new + size] = source[old : old + size]
    return out


@kernel
def pick_renamed(table, pieces, name, count):
    """(count, 3): names of the rows of the table, undefined for what is in no piece."""
    out = np.empty((count, 3), np.int32)
    target, source = out.reshape(-1), table.reshape(-1)
    for p in range(len(pieces)):
        new, old = 3 * pieces[p, 0], 3 * pieces[p, 1]
        for k in range(3 * pieces[p, 2]):
            target[new + k] = name[np.uint32(source[old + k])]
    return out


@kernel
def pick_lists(start, items, ids):
    """Items of these lists, one after the other."""
    count = 0
    for i in ids:
        count += start[i + 1] - start[i]
    out = np.empty(count, np.int32)
    count = 0
    for i in ids:
        for s in range(start[i], start[i + 1]):
            out[count] = items[s]
            count += 1
    return out


@kernel
def starts_of(types, counts):
    """(c + 1,) int64: where rows start that have counts[t] items for a cell of type t."""
    start = np.empty(len(types) + 1, np.int64)
    start[0] = 0
    for i in range(len(types)):
        start[i + 1] = start[i] + counts[types[i]]
    return start


@kernel
def carry_rows(start, change, lists, name, of_added):
    """Items of the rows of all cells: renamed ones of cells that stay, of_added in its order for the others."""
    old_items, pieces = lists.items, change.pieces
    out = np.empty(start[len(start) - 1], np.int32)
    for p in range(len(pieces)):
        new, old = start[pieces[p, 0]], lists.start[pieces[p, 1]]
        for k in range(start[pieces[p, 0] + pieces[p, 2]] - new):
            out[new + k] = name[np.uint32(old_items[old + k])]
    extra = 0
    for i in change.added:
        for s in range(start[i], start[i + 1]):
            out[s] = of_added[extra]
            extra += 1
    return out


@kernel
def merge_lists(lists, cell_name, kind, added, total):
    """(start, items): cells at each feature of a kind, ascending: those that stay, under new names, and added ones.

    added : sorted, feature << 32 | cell
    """
    old_start, old_items, pieces, count = lists.start, lists.items, kind.pieces, len(kind.old_of_new)
    start, items = np.empty(count + 1, np.int64), np.empty(total, np.int32)
    at = x = f = 0
    start[0] = 0
    for p in range(len(pieces) + 1):
        while f < (pieces[p, 0] if p < len(pieces) else count):
            begin, end, o = 0, 0, kind.old_of_new[f]
            if o >= 0:
                begin, end = old_start[o], old_start[o + 1]
            for s in range(begin, end):
                i = cell_name[old_items[s]]
                while i >= 0 and x < len(added) and added[x] < (np.int64(f) << 32 | np.int64(i)):
                    items[at] = added[x] & 0xFFFFFFFF
                    at, x = at + 1, x + 1
                if i >= 0:
                    items[at] = i
                    at += 1
            while x < len(added) and added[x] >> 32 == f:
                items[at] = added[x] & 0xFFFFFFFF
                at, x = at + 1, x + 1
            f += 1
            start[f] = at
        if p < len(pieces):
            o, size = pieces[p, 1], pieces[p, 2]
            shift = at - old_start[o]
            for s in range(old_start[o], old_start[o + size]):
                items[s + shift] = cell_name[np.uint32(old_items[s])]
            for k in range(1, size + 1):
                start[f + k] = old_start[o + k] + shift
            f += size
            at = start[f]
    return start, items
