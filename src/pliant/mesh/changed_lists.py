"""Rows and lists of a changed volume mesh: picked, renamed and merged in single passes.

What follows each other in both meshes is copied in one piece. Where ids are looked up there, they are unsigned: no code
for negative ones, which makes these loops a third faster.
"""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel


@kernel
def pick_rows(table, ids, count):
    """(count, k): row i is table[ids[i]], undefined where there is no id or a negative one; rows that follow each other
    in both are copied in one piece."""
    out, width = np.empty((count, table.shape[1]), table.dtype), table.shape[1]
    target, source = out.reshape(-1), table.reshape(-1)
    i = 0
    while i < len(ids):
        end = i + 1
        while end < len(ids) and ids[end] == ids[end - 1] + 1 and ids[i] >= 0:
            end += 1
        if ids[i] >= 0:
            begin = ids[i] * width
            target[i * width : end * width] = source[begin : begin + (end - i) * width]
        i = end
    return out


@kernel
def pick_renamed(table, ids, name):
    """(n, 3): row i is name[table[ids[i]]], undefined where the id is negative."""
    out = np.empty((len(ids), 3), np.int32)
    target, source = out.reshape(-1), table.reshape(-1)
    i = 0
    while i < len(ids):
        end = i + 1
        if ids[i] >= 0:
            while end < len(ids) and ids[end] == ids[end - 1] + 1:
                end += 1
            shift = 3 * (ids[i] - i)
            for s in range(3 * i, 3 * end):
                target[s] = name[np.uint32(source[s + shift])]
        i = end
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
def carry_rows(start, old_of_new, lists, name, of_added):
    """Items of the rows of all cells: renamed ones of cells that stay, of_added in its order for the others."""
    old_start, old_items = lists.start, lists.items
    out = np.empty(start[len(old_of_new)], np.int32)
    extra = i = 0
    while i < len(old_of_new):
        o, end = old_of_new[i], i + 1
        if o < 0:
            for s in range(start[i], start[end]):
                out[s] = of_added[extra]
                extra += 1
        else:
            while end < len(old_of_new) and old_of_new[end] == old_of_new[end - 1] + 1:
                end += 1
            shift = start[i] - old_start[o]
            for s in range(old_start[o], old_start[o] + start[end] - start[i]):
                out[s + shift] = name[np.uint32(old_items[s])]
        i = end
    return out


@kernel
def merge_lists(lists, cell_name, old_of_new, touched, added, total):
    """(start, items): cells at each feature, ascending: those that stay, under new names, and added ones.

    Features that follow each other in both meshes are renamed in one piece, and where one ends is searched for instead
    of looking at each: list by list, this took twice as long.

    touched : ids of the features, ascending, whose cells are not those of before
    added : sorted, feature << 32 | cell
    """
    old_start, old_items = lists.start, lists.items
    start, items = np.empty(len(old_of_new) + 1, np.int64), np.empty(total, np.int32)
    at = x = f = t = 0
    start[0] = 0
    while f < len(old_of_new):
        o, is_touched = old_of_new[f], t < len(touched) and touched[t] == f
        if o >= 0 and not is_touched:
            end = _end_of_piece(old_of_new, f, touched[t] if t < len(touched) else len(old_of_new))
            shift = at - old_start[o]
            for s in range(old_start[o], old_start[o + end - f]):
                items[s + shift] = cell_name[np.uint32(old_items[s])]
            for k in range(1, end - f + 1):
                start[f + k] = old_start[o + k] + shift
        else:
            end, begin, last = f + 1, 0, 0
            if o >= 0:
                begin, last = old_start[o], old_start[o + 1]
            for s in range(begin, last):
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
            start[end] = at
            t += is_touched
        f, at = end, start[end]
    return start, items


@helper
def _end_of_piece(old_of_new, f, limit):
    """Up to where features f, f + 1, ... below limit, none of them touched, follow each other in the old mesh.

    Their old ids ascend, so that those between two which are as far apart in both meshes follow each other. Vertices
    without cells have none, but such a vertex has its number in both meshes, and no list in either.
    """
    low, high = f + 1, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old_of_new[middle - 1] - old_of_new[f] == middle - 1 - f:
            low = middle
        else:
            high = middle - 1
    return low
