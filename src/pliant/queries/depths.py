"""How deep vertices are in objects, and which way leads out: consistent among neighbours.

The closest point of the surface is not where a vertex came from: past the middle of a plate it is on the far side, and
of two neighbours one would be pushed on and one back. So the way out is found where edges tell it, and handed on
(Heidelberger et al., Consistent penetration depth estimation for deformable collision response, 2004):

1. A vertex with an edge to one outside takes the points where its edges leave the object, and the normals n there:
   depth is the mean of (point - vertex) . n, direction the mean of n, with weights 1 / distance^2.
2. The others, ring by ring, take the same means over neighbours that have them: of (neighbour - vertex) . r + depth
   and of r, with the neighbour's depth and direction r.
3. What no ring reaches, or where the means are of no use (directions cancel, a depth is not positive), takes the
   closest exit: objects that are inside as a whole.

Where all edges leave through one plane, every vertex of 1 and 2 gets the distance to that plane and its normal: each
term is that distance, by induction over the rings, and weights add up to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import dot, row, scale, sub
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.exits import Exits, closest_exits, exits_of, leave_along_edges
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

_CLOSEST = 1e-24  # a point at the vertex itself: its weight counts as that of one so far away, squared
_CANCELLED = 1e-6  # length of a mean of unit vectors below which it is no direction


class Inner(NamedTuple):
    """Vertices in objects, each pair once, sorted; and how edges join them."""

    vertices: np.ndarray  # (k,) int32
    labels: np.ndarray  # (k,) int32 of the object that the vertex is in
    ways_out: np.ndarray  # (e, 2) int32: a row, and a vertex outside of its object at the other end of an edge
    start: np.ndarray  # (k + 1,) int64 where the neighbours of a row begin
    neighbours: np.ndarray  # int32 rows of the same object at the other end of an edge


def penetration(
    volume: VolumeMesh, x: np.ndarray, labels: np.ndarray, vertices: np.ndarray, cells: np.ndarray, pool: ThreadPool
) -> tuple[np.ndarray, np.ndarray]:
    """depth (k,) and direction (k, 3) of vertices in cells; NaN where the object of the cell has no surface.

    labels : (n,) int32, object of each vertex, -1 where it takes no part. Depends on the object of the cell, not on
    which cell it is.
    """
    largest = float(np.abs(x[volume.vertices]).max(initial=0.0))
    exponent = int(np.frexp(largest)[1])
    scaled, of_cell = np.zeros_like(x), labels[volume.corners[cells, 0]]
    scaled[volume.vertices] = np.ldexp(x[volume.vertices], -exponent)  # others may be anywhere
    keys, row_of = np.unique(vertices * np.int64(labels.max() + 1) + of_cell, return_inverse=True)
    inner = join(keys, int(labels.max()) + 1, volume._edges, len(x))
    exits = exits_of(volume, scaled, labels, np.bincount(of_cell, minlength=labels.max() + 1) > 0, pool)
    depth, direction = np.full(len(keys), np.nan), np.full((len(keys), 3), np.nan)
    if len(exits.faces):
        _from_outside(exits, inner, depth, direction, pool)
        rest = np.flatnonzero(np.isnan(depth))
        pool.run_range(
            lambda a, b: closest_exits(exits, rest[a:b], inner.vertices, inner.labels, depth, direction), len(rest), 64
        )
    return np.ldexp(depth[row_of], exponent), direction[row_of]


def join(keys: np.ndarray, label_count: int, edges: np.ndarray, vertex_count: int) -> Inner:
    """keys : vertex * label_count + label, ascending."""
    vertices, labels = (keys // label_count).astype(np.int32), (keys % label_count).astype(np.int32)
    first = np.searchsorted(vertices, np.arange(vertex_count + 1))
    start = np.zeros(len(labels) + 1, np.int64)
    ways = np.empty((_count_neighbours(edges, first, labels, start), 2), np.int32)
    neighbours = np.empty(start[-1], np.int32)
    _list_neighbours(edges, first, labels, start, ways, neighbours)
    return Inner(vertices, labels, ways, start, neighbours)


@kernel
def _count_neighbours(edges, first, labels, start):
    """Writes start of ``Inner``, 0 at first, and returns how many ways out there are; the rows of vertex v are
    first[v] .. first[v + 1] - 1."""
    count = 0
    for e in range(len(edges)):
        for k in range(2):
            a, b = edges[e, k], edges[e, 1 - k]
            for r in range(first[a], first[a + 1]):
                if _row_with(labels, first[b], first[b + 1], labels[r]) < 0:
                    count += 1
                else:
                    start[r + 1] += 1
    for r in range(len(labels)):
        start[r + 1] += start[r]
    return count


@kernel
def _list_neighbours(edges, first, labels, start, ways, neighbours):
    count, fill = 0, start.copy()
    for e in range(len(edges)):
        for k in range(2):
            a, b = edges[e, k], edges[e, 1 - k]
            for r in range(first[a], first[a + 1]):
                other = _row_with(labels, first[b], first[b + 1], labels[r])
                if other < 0:
                    ways[count, 0], ways[count, 1] = r, b
                    count += 1
                else:
                    neighbours[fill[r]] = other
                    fill[r] += 1


@helper
def _row_with(labels, begin, end, label):
    for r in range(begin, end):
        if labels[r] == label:
            return r
    return -1


def _from_outside(exits: Exits, inner: Inner, depth: np.ndarray, direction: np.ndarray, pool: ThreadPool) -> None:
    """Steps 1 and 2 above, in place."""
    rows = inner.ways_out[:, 0]
    edges = np.stack((inner.vertices[rows], inner.ways_out[:, 1]), axis=1)
    labels, part, place = inner.labels[rows], np.empty(len(rows)), np.empty(len(rows), np.int32)
    pool.run_range(lambda a, b: leave_along_edges(exits, edges, labels, a, b, (part, place)), len(rows), 256)
    found = np.flatnonzero(place >= 0)
    begin_at_borders(exits, rows[found], edges[found], part[found], place[found], (depth, direction))
    hand_on(exits.x, inner, depth, direction)


@kernel
def begin_at_borders(exits, rows, edges, part, place, out):
    """Step 1: depth and direction of rows with edges that leave at a part of their length."""
    depth, direction = out
    sums = np.zeros((len(depth), 5))  # of the weights, of the depths and of the directions, weighted
    for i in range(len(rows)):
        d, n = sub(row(exits.x, edges[i, 1]), row(exits.x, edges[i, 0])), row(exits.normals, place[i])
        length = dot(d, d)
        weight = 1.0 / max(part[i] * part[i] * length, _CLOSEST)
        _add_to(sums, rows[i], weight, part[i] * dot(d, n), n)
    for r in range(len(depth)):
        _take_mean(sums, r, 0.0, depth, direction)


@helper
def _add_to(sums, r, weight, depth, n):
    sums[r, 0] += weight
    sums[r, 1] += weight * depth
    for k in range(3):
        sums[r, 2 + k] += weight * n[k]


@helper
def _take_mean(sums, r, least, depth, direction):
    """Sets depth and direction of row r, unless they are of no use; returns whether."""
    n = sums[r, 2], sums[r, 3], sums[r, 4]
    length = np.sqrt(dot(n, n))
    if not (sums[r, 0] > 0.0 and length > _CANCELLED * sums[r, 0] and sums[r, 1] >= least * sums[r, 0]):
        return False
    depth[r] = sums[r, 1] / sums[r, 0]
    direction[r, 0], direction[r, 1], direction[r, 2] = scale(n, 1.0 / length)
    return True


@kernel
def hand_on(x, inner, depth, direction):
    """Step 2, ring by ring: each takes the means over what was known before its ring, in whatever order."""
    known = np.flatnonzero(~np.isnan(depth))
    ring = np.full(len(depth), np.int32(-1))
    sums, number = np.zeros((len(depth), 5)), 0
    waiting = np.empty(len(depth), np.int64)
    for r in known:
        ring[r] = 0
    while len(known) > 0:
        count = _next_ring(inner, known, ring, waiting)
        for i in range(count):
            _gather(x, inner, waiting[i], ring, (depth, direction), sums)
        number += 1
        reached = 0
        for i in range(count):
            r = waiting[i]
            ring[r] = -1
            if _take_mean(sums, r, 1e-12, depth, direction):
                ring[r] = number
                waiting[reached] = r
                reached += 1
        known = waiting[:reached].copy()


@helper
def _next_ring(inner, known, ring, waiting):
    """The neighbours of known rows that are not known themselves, each once; returns how many."""
    count = 0
    for r in known:
        for s in range(inner.start[r], inner.start[r + 1]):
            other = inner.neighbours[s]
            if ring[other] == -1:
                ring[other] = -2  # until it is examined
                waiting[count] = other
                count += 1
    return count


@helper
def _gather(x, inner, r, ring, given, sums):
    depth, direction = given
    p = row(x, inner.vertices[r])
    for k in range(5):
        sums[r, k] = 0.0
    for s in range(inner.start[r], inner.start[r + 1]):
        other = inner.neighbours[s]
        if ring[other] >= 0:
            d, n = sub(row(x, inner.vertices[other]), p), row(direction, other)
            _add_to(sums, r, 1.0 / max(dot(d, d), _CLOSEST), dot(d, n) + depth[other], n)
