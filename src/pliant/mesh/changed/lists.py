"""Rows and lists of a changed mesh: picked, renamed and merged in single passes.

What follows each other in both meshes, and is not touched, is copied in one *piece*. Where ids are looked up there,
they are unsigned: no code for negative ones, which makes these loops a third faster.
"""

from __future__ import annotations

import numpy as np

from pliant.mesh.cells import Rows
from pliant.mesh.changed.features import Change, Kind
from pliant.runtime.jit import kernel


def pick_rows(table: np.ndarray, pieces: np.ndarray, count: int) -> np.ndarray:
    """(count, k): rows of the table, undefined for what is in no piece."""
    out = np.empty((count, table.shape[1]), table.dtype)
    _copy_pieces(table.reshape(-1), pieces, table.shape[1], out.reshape(-1))
    return out


@kernel
def _copy_pieces(source, pieces, width, target):
    for p in range(len(pieces)):
        new, old, size = pieces[p, 0] * width, pieces[p, 1] * width, pieces[p, 2] * width
        target[new : new + size] = source[old : old + size]


def pick_renamed(table: np.ndarray, pieces: np.ndarray, name: np.ndarray, count: int) -> np.ndarray:
    """(count, 3): names of the rows of the table, -1 for -1, undefined for what is in no piece."""
    out = np.empty((count, 3), np.int32)
    _rename_pieces(table.reshape(-1), pieces, name, out.reshape(-1))
    return out


@kernel
def _rename_pieces(source, pieces, name, target):
    for p in range(len(pieces)):
        new, old = 3 * pieces[p, 0], 3 * pieces[p, 1]
        for k in range(3 * pieces[p, 2]):
            s = source[old + k]
            target[new + k] = name[np.uint32(s)] if s >= 0 else np.int32(-1)  # no side of a degenerate face


def pick_lists(lists: Rows, ids: np.ndarray) -> np.ndarray:
    """Items of these lists, one after the other."""
    out = np.empty(int((lists.start[ids + 1] - lists.start[ids]).sum()), np.int32)
    _copy_lists(*lists, ids, out)
    return out


@kernel
def _copy_lists(start, items, ids, out):
    count = 0
    for i in ids:
        for s in range(start[i], start[i + 1]):
            out[count] = items[s]
            count += 1


def carry_rows(start: np.ndarray, change: Change, lists: Rows, name: np.ndarray, of_added: np.ndarray) -> np.ndarray:
    """Items of the rows of all cells: renamed ones of cells that stay, of_added in its order for the others."""
    out = np.empty(start[-1], np.int32)
    _write_rows(start, change, lists, name, of_added, out)
    return out


@kernel
def _write_rows(start, change, lists, name, of_added, out):
    old_items, pieces = lists.items, change.pieces
    for p in range(len(pieces)):
        new, old = start[pieces[p, 0]], lists.start[pieces[p, 1]]
        for k in range(start[pieces[p, 0] + pieces[p, 2]] - new):
            out[new + k] = name[np.uint32(old_items[old + k])]
    extra = 0
    for i in change.added:
        for s in range(start[i], start[i + 1]):
            out[s] = of_added[extra]
            extra += 1


def merge_lists(lists: Rows, cell_name: np.ndarray, kind: Kind, added: np.ndarray, total: int) -> Rows:
    """Cells at each feature of a kind, ascending: those that stay, under new names, and added ones.

    added : sorted, feature << 32 | cell
    """
    start, items = np.empty(len(kind.old_of_new) + 1, np.int64), np.empty(total, np.int32)
    _merge_lists(lists, cell_name, kind, added, start, items)
    return Rows(start, items)


@kernel
def _merge_lists(lists, cell_name, kind, added, start, items):
    old_start, old_items, pieces, count = lists.start, lists.items, kind.pieces, len(kind.old_of_new)
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
