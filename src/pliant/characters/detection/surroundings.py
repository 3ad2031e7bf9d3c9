"""The lists that ``clearances`` keeps of each part: its surroundings, where they were, and what was near its cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.characters.detection.drifts import inverse_gram, middle_of
from pliant.characters.detection.gaps import surely_apart_by
from pliant.characters.detection.parts import Parts
from pliant.hierarchy.cell_boxes import box_of_cell
from pliant.runtime.jit import helper, kernel

LEVELS = 4  # pairs near a cell are by quarters of search_radius
ROUNDED_DOWN = 1.0 - 2.0**-40
UPDATED, FULL, CROWDED = range(3)
# What progress counts: parts done, rows of out, of surroundings and of pairs in the pool; lists made, comparisons.
PART, FOUND, AROUND, NEAR, MADE, COMPARED = range(6)


class Boxes(NamedTuple):
    """Of p parts: x0 x1 y0 y1 z0 z1, empty where there is nothing; and coordinates by rows."""

    vertices: np.ndarray  # (p, 6)
    cells: np.ndarray  # (p, 6) of all members
    columns: np.ndarray  # (3, n) of the vertices
    members: np.ndarray  # (3, k) of the members


class Lists(NamedTuple):
    """Of p parts and n vertices."""

    around: np.ndarray  # (p, 2) int64 begin and end of the surroundings in the pool; the members of the part come first
    near: np.ndarray  # (p, 1 + LEVELS) int64 begin of its pairs in the pool, and where those of each level end
    gram: np.ndarray  # (p, 9) inverse of the sum of y y^T over the members, at t0
    search_radius: np.ndarray  # (p,)
    extent: np.ndarray  # (p,) largest coordinate of y at t0
    owed: np.ndarray  # (p,) comparisons since then
    known: np.ndarray  # (p, n) bool: the vertex is in the surroundings


class Pool(NamedTuple):
    around: np.ndarray  # (k,) int32 vertices
    places: np.ndarray  # (3, k) x(t0) - c0
    near: np.ndarray  # (l, 2) int32 vertices and cells


class WatchBuffers(NamedTuple):
    """For what is overwritten for each part."""

    vertices: np.ndarray  # (n + 1,) int32 strays, or surroundings; one more, which is written to before it counts
    points: np.ndarray  # (3, n) where these are
    lengths: np.ndarray  # (n,) how far these have drifted, or are from a cell
    marks: np.ndarray  # (n,) int64 a part that the vertex is a member of
    boxes: np.ndarray  # (6, cells) of the cells of a part


class Watch(NamedTuple):
    parts: Parts
    boxes: Boxes
    lists: Lists
    pool: Pool
    buffers: WatchBuffers
    search_radius: float  # of new lists
    most: float  # comparisons in a frame, beyond which it is faster to rehash


def boxes_for(parts: Parts) -> Boxes:
    count, vertices = len(parts.groups), len(parts.vertices)
    sizes = (count, 6), (count, 6), (3, vertices), (3, len(parts.members))
    return Boxes(*(np.empty(size) for size in sizes))


def lists_for(parts: Parts) -> Lists:
    count = len(parts.groups)
    return Lists(
        around=np.zeros((count, 2), np.int64),
        near=np.zeros((count, 1 + LEVELS), np.int64),
        gram=np.zeros((count, 9)),
        search_radius=np.zeros(count),
        extent=np.zeros(count),
        owed=np.zeros(count),
        known=np.zeros((count, len(parts.vertices)), np.bool_),
    )


def buffers_for(parts: Parts) -> WatchBuffers:
    n, cells = len(parts.vertices), int(np.diff(parts.cell_start).max(initial=0))
    marks = np.full(n, -1, np.int64)
    return WatchBuffers(np.empty(n + 1, np.int32), np.empty((3, n)), np.empty(n), marks, np.empty((6, cells)))


@kernel
def bound_parts(x, parts, boxes):
    for p in range(len(parts.groups)):
        begin, end = parts.member_start[p], parts.member_start[p + 1]
        own = begin + parts.vertex_start[p + 1] - parts.vertex_start[p]
        b = (np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf)
        for m in range(begin, end):
            v = parts.members[m]
            for k in range(3):
                boxes.members[k, m] = x[v, k]
                if m < own:
                    boxes.columns[k, v] = x[v, k]
            b = (
                min(b[0], x[v, 0]), max(b[1], x[v, 0]), min(b[2], x[v, 1]),
                max(b[3], x[v, 1]), min(b[4], x[v, 2]), max(b[5], x[v, 2]),
            )  # fmt: skip
            if m + 1 == own:
                for i in range(6):
                    boxes.vertices[p, i] = b[i]
        for i in range(6):
            boxes.cells[p, i] = b[i]


@helper
def has_corner(corners, cell, v):
    return (corners[cell, 0] == v) | (corners[cell, 1] == v) | (corners[cell, 2] == v) | (corners[cell, 3] == v)


@helper
def make_list(x, watch, b, progress, out):
    """Of part b; what is in the boxes of its cells now goes to out. Returns FULL before anything is changed."""
    parts, lists, pool, buffers = watch.parts, watch.lists, watch.pool, watch.buffers
    total = _list_surroundings(x, watch, b)
    most = total * (parts.cell_start[b + 1] - parts.cell_start[b])
    if progress[COMPARED] + most > watch.most:
        return CROWDED
    begin = progress[AROUND]
    if begin + total > len(pool.around) or progress[NEAR] + most > len(pool.near) or progress[FOUND] + most >= len(out):
        return FULL
    for p in range(lists.around[b, 0], lists.around[b, 1]):
        lists.known[b, pool.around[p]] = False
    first, last = parts.member_start[b], parts.member_start[b + 1]
    c, extent = middle_of(watch.boxes.members, first, last), 0.0
    for i in range(total):
        v, at = buffers.vertices[i], begin + i
        lists.known[b, v], pool.around[at] = True, v
        for k in range(3):
            buffers.points[k, i] = x[v, k]
            pool.places[k, at] = x[v, k] - c[k]
            extent = max(extent, abs(pool.places[k, at]))
    lists.around[b, 0], lists.around[b, 1], progress[AROUND] = begin, begin + total, begin + total
    lists.search_radius[b], lists.extent[b], lists.owed[b] = watch.search_radius, extent, 0.0
    gram = inverse_gram(pool.places, begin, begin + last - first)
    for i in range(9):
        lists.gram[b, i] = gram[i]
    _list_near(x, watch, (b, total), progress, out)
    progress[MADE], progress[COMPARED] = progress[MADE] + 1, progress[COMPARED] + most
    return UPDATED


@helper
def _list_surroundings(x, watch, b):
    """The members of part b, and all others in the box of its cells grown by search_radius, into buffers; how many."""
    parts, search_radius, buffers, count = watch.parts, watch.search_radius, watch.buffers, 0
    for m in range(parts.member_start[b], parts.member_start[b + 1]):
        buffers.vertices[count] = parts.members[m]
        buffers.marks[parts.members[m]] = b
        count += 1
    box, v = watch.boxes.cells[b], watch.boxes.vertices
    for a in range(len(v)):
        apart = max(max(v[a, 0] - box[1], box[0] - v[a, 1]), max(v[a, 2] - box[3], box[2] - v[a, 3]))
        if max(apart, max(v[a, 4] - box[5], box[4] - v[a, 5])) <= search_radius:
            for i in range(parts.vertex_start[a], parts.vertex_start[a + 1]):
                if buffers.marks[i] != b and _apart_along_axes(box, x[i, 0], x[i, 1], x[i, 2]) <= search_radius:
                    buffers.vertices[count] = i
                    count += 1
    return count


@helper
def _apart_along_axes(t, x, y, z):
    """How far a point is from a box along the axis where that is most; not positive if it is in the box.

    Rounded, but what is above a number is so exactly, too.
    """
    return max(max(max(t[0] - x, x - t[1]), max(t[2] - y, y - t[3])), max(t[4] - z, z - t[5]))


@helper
def _list_near(x, watch, named, progress, out):
    """The pairs of cells and vertices near them, level by level."""
    (b, total), parts, buffers, near = named, watch.parts, watch.buffers, watch.pool.near
    begin, lengths, count = progress[NEAR], buffers.lengths, progress[FOUND]
    ends = watch.lists.near
    for level in range(LEVELS + 1):
        ends[b, level] = begin
    for cell in range(parts.cell_start[b], parts.cell_start[b + 1]):
        t, close = box_of_cell(x, parts.corners, cell, 4), 0
        for i in range(total):  # in a loop of its own it is vectorised
            lengths[i] = _apart_along_axes(t, buffers.points[0, i], buffers.points[1, i], buffers.points[2, i])
        for i in range(total):
            close += lengths[i] < watch.search_radius
        if close == 4:  # its corners
            continue
        for i in range(total):
            if lengths[i] < watch.search_radius and not has_corner(parts.corners, cell, buffers.vertices[i]):
                v, gap = buffers.vertices[i], lengths[i]
                if gap <= 0.0:
                    gap = surely_apart_by(x, parts.corners, v, cell)
                _insert(ends, b, near, gap * ROUNDED_DOWN * LEVELS / watch.search_radius, (v, cell))
                out[count, 0], out[count, 1] = v, cell
                count += gap <= 0.0
    progress[NEAR], progress[FOUND] = ends[b, LEVELS], count


@helper
def _insert(ends, b, near, quarters, pair):
    """A pair where its level ends, if below the search radius: of each level above, the first pair goes to the end."""
    if quarters >= LEVELS:
        return
    for level in range(LEVELS, 0, -1):
        at = ends[b, level]
        ends[b, level] += 1
        if level == 1 or quarters >= level - 1:
            near[at, 0], near[at, 1] = pair
            return
        near[at, 0], near[at, 1] = near[ends[b, level - 1], 0], near[ends[b, level - 1], 1]


@kernel
def compact(lists, before, pool, progress):
    """Copy what lists hold from one pool into another."""
    around = near = 0
    for b in range(len(lists.owed)):
        begin = around
        for p in range(lists.around[b, 0], lists.around[b, 1]):
            pool.around[around] = before.around[p]
            for k in range(3):
                pool.places[k, around] = before.places[k, p]
            around += 1
        lists.around[b, 0], lists.around[b, 1] = begin, around
        shift = near - lists.near[b, 0]
        for p in range(lists.near[b, 0], lists.near[b, LEVELS]):
            pool.near[near, 0], pool.near[near, 1] = before.near[p, 0], before.near[p, 1]
            near += 1
        for level in range(LEVELS + 1):
            lists.near[b, level] += shift
    progress[AROUND], progress[NEAR] = around, near
