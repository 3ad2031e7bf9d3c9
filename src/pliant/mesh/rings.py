"""Who is joined to whom by an edge: floods over vertices, ring by ring, and up to edges that must not be passed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import kernel


class Rings(NamedTuple):
    """The neighbours of vertex v are neighbours[start[v]:start[v + 1]], over these edges.

    start : (n + 1,) int64
    neighbours : (2 e,) int32
    edges : (2 e,) int32
    """

    start: np.ndarray
    neighbours: np.ndarray
    edges: np.ndarray


def rings_of(edges: np.ndarray, vertex_count: int) -> Rings:
    """Of edges (e, 2), each once."""
    ends = np.concatenate((edges[:, 0], edges[:, 1]))
    order = np.argsort(ends, kind="stable")
    start = np.zeros(vertex_count + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=vertex_count), out=start[1:])
    others = np.concatenate((edges[:, 1], edges[:, 0]))[order]
    return Rings(start, others.astype(np.int32), np.tile(np.arange(len(edges), dtype=np.int32), 2)[order])


def grow(rings: Rings, mask: np.ndarray, count: int) -> np.ndarray:
    """(n,) bool: what is within so many rings of a mask (n,)."""
    level = np.where(mask, 0, -1).astype(np.int32)
    grow_levels(rings.start, rings.neighbours, level, count)
    return level >= 0


def balls(rings: Rings, radius: np.ndarray) -> np.ndarray:
    """(n,) int32: of all vertices with a radius, (n,) in rings, 0 for none, the largest radius of those within which
    a vertex is; 0 where it is within none."""
    reach = radius.astype(np.int32) * (radius > 0)
    origin = reach.copy()
    reach[radius == 0] = -1
    grow_balls(rings.start, rings.neighbours, reach, origin)
    return origin


@kernel
def grow_balls(start, neighbours, reach, origin):
    """reach : (n,) int32 rings that are left to go, -1 outside; origin : (n,) the radius that led there."""
    n, most = len(reach), 0
    for v in range(n):
        most = max(most, reach[v])
    for left in range(most, 0, -1):
        for v in range(n):
            if reach[v] != left:
                continue
            for s in range(start[v], start[v + 1]):
                w = neighbours[s]
                if reach[w] < left - 1:
                    reach[w] = left - 1
                if origin[w] < origin[v]:
                    origin[w] = origin[v]


@kernel
def grow_levels(start, neighbours, level, count):
    """level : (n,) int32, 0 where the flood begins, -1 elsewhere; becomes the number of the ring, up to count."""
    queue = np.empty(len(level), np.int64)
    size = 0
    for v in range(len(level)):
        if level[v] == 0:
            queue[size] = v
            size += 1
    at = 0
    while at < size:
        v = queue[at]
        at += 1
        if level[v] >= count:
            continue
        for s in range(start[v], start[v + 1]):
            w = neighbours[s]
            if level[w] == -1:
                level[w] = level[v] + 1
                queue[size] = w
                size += 1


@kernel
def enclosed_by(rings, edges, crossed, contour, most, side, region):
    """Which vertices each contour encloses on the surfaces that it runs over: the side with fewer vertices.

    edges : (e, 2); crossed : (k,) ids of the edges that contours pass, contour : (k,) of each, ascending from 0;
    most : a region with more vertices is none. side : (k,) int8, becomes 1 where the first end of the edge is enclosed,
    2 where the second is, 0 where no region was found. region : (n,) int32, becomes for a vertex that is enclosed the
    row of the first edge crossed on the way to it, the last contour counting; -1 elsewhere at first.
    Two floods, from both ends of a crossed edge, in turns: the one that comes to an end first without meeting the other
    is what is enclosed. Where they meet, the contour has an open end, and encloses nothing there.
    """
    start, neighbours, over = rings
    n = len(start) - 1
    is_crossed, mark = np.full(len(edges), np.int32(-1)), np.full(n, np.int64(-1))
    queue, size, at = np.empty((2, n), np.int32), np.zeros(2, np.int64), np.zeros(2, np.int64)
    first, flood = 0, np.int64(0)
    while first < len(crossed):
        last = first
        while last < len(crossed) and contour[last] == contour[first]:
            is_crossed[crossed[last]] = contour[first]
            last += 1
        for k in range(first, last):
            if side[k] != 0:
                continue
            for c in range(2):
                queue[c, 0], size[c], at[c] = edges[crossed[k], c], 1, 0
                mark[queue[c, 0]] = 2 * flood + c
            ended = -1
            while ended < 0:
                for c in range(2):
                    if at[c] == size[c]:
                        ended = c
                        break
                    v = queue[c, at[c]]
                    at[c] += 1
                    for s in range(start[v], start[v + 1]):
                        w = neighbours[s]
                        if is_crossed[over[s]] == contour[first] or mark[w] == 2 * flood + c:
                            continue
                        if mark[w] == 2 * flood + 1 - c or size[c] >= most:
                            ended = 2
                            break
                        mark[w] = 2 * flood + c
                        queue[c, size[c]] = w
                        size[c] += 1
                    if ended == 2:
                        break
            if ended < 2:
                for i in range(size[ended]):
                    region[queue[ended, i]] = k
                for j in range(k, last):
                    for c in range(2):
                        if side[j] == 0 and mark[edges[crossed[j], c]] == 2 * flood + ended:
                            side[j] = c + 1
            flood += 1
        first = last
