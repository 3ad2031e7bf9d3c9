"""In which order constraints are relaxed: blocks for threads, colours within a block for the processor.

Levels are distances from an end of the body, counted in edges. A constraint that joins vertices by edges, a tetrahedron
too, spans at most two levels, l and l + 1; it belongs to l. A block is a run of levels a .. b - 1, so its constraints
touch vertices of a .. b: blocks i and i + 2 have none in common, and all even blocks may run at once, then all odd
ones. The blocks depend on the mesh alone, hence the result not on threads.

Within a block constraints of one colour have no vertex in common either: they are independent of each other, and the
processor works on several at a time, where neighbours in a row would wait for each other's positions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import Rows
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel

_BLOCK = 600  # tetrahedra of a block at least: a thread is woken for them
_MOST_COLOURS = 4096


class Schedule(NamedTuple):
    """Constraints in the order of their blocks, and within a block of their colours; block i has rows start[i] .. ."""

    edges: np.ndarray  # (e, 2) int32
    tetrahedra: np.ndarray  # (t, 4) int32
    vertices: np.ndarray  # (v,) int32
    edge_start: np.ndarray  # (blocks + 1,) int64
    tetrahedron_start: np.ndarray
    vertex_start: np.ndarray

    @property
    def block_count(self) -> int:
        return len(self.edge_start) - 1


def schedule_of(volume: VolumeMesh) -> Schedule:
    """Of a mesh of tetrahedra."""
    edges, tetrahedra, vertices = volume._edges, volume._cells["tetra"], volume._vertices
    level = levels_of(edges, volume.vertex_limit)
    at_tetrahedra = level[tetrahedra].min(axis=1, initial=2**31 - 1)
    block_of = _blocks_of_levels(np.bincount(at_tetrahedra, minlength=1))
    parts = []
    for rows, at in (
        (edges, level[edges].min(axis=1)),
        (tetrahedra, at_tetrahedra),
        (vertices[:, None], level[vertices]),
    ):
        blocks = block_of[np.minimum(at, len(block_of) - 1)]
        colours = colours_of(rows.astype(np.int32), volume.vertex_limit)
        order = np.lexsort((np.arange(len(rows)), colours, blocks))
        start = np.searchsorted(blocks[order], np.arange(block_of[-1] + 2))
        parts.append((np.ascontiguousarray(rows[order]), start.astype(np.int64)))
    (edges, edge_start), (tetrahedra, start), (vertices, vertex_start) = parts
    return Schedule(edges, tetrahedra, vertices[:, 0].copy(), edge_start, start, vertex_start)


def _blocks_of_levels(counts: np.ndarray) -> np.ndarray:
    """(levels,) int64: the block of each level, so that each block but the last has enough tetrahedra."""
    block, size, out = 0, 0, np.zeros(len(counts), np.int64)
    for level, count in enumerate(counts):
        out[level] = block
        size += count
        if size >= _BLOCK:
            block, size = block + 1, 0
    return np.minimum(out, max(0, block - 1)) if size < _BLOCK else out


def levels_of(edges: np.ndarray, vertex_count: int) -> np.ndarray:
    """(vertices,) int32: how many edges away from an end of its component each vertex is."""
    start, neighbours = neighbours_of(edges, vertex_count)
    level = np.full(vertex_count, -1, np.int32)
    _count_levels(start, neighbours, level)
    return level


def neighbours_of(edges: np.ndarray, vertex_count: int) -> Rows:
    """The vertices at the other ends of the edges of each vertex, ascending."""
    both = np.concatenate((edges, edges[:, ::-1])).astype(np.int64)
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start = np.searchsorted(both[:, 0], np.arange(vertex_count + 1)).astype(np.int64)
    return Rows(start, both[:, 1].astype(np.int32))


@kernel
def _count_levels(start, neighbours, level):
    """A walk from anywhere ends at an end; the walk that counts starts there. level : -1 at first"""
    count = len(level)
    queue = np.empty(count, np.int32)
    for first in range(count):
        if level[first] >= 0:
            continue
        last, reached = _walk(start, neighbours, first, level, queue)
        for i in range(reached):
            level[queue[i]] = -1
        _walk(start, neighbours, last, level, queue)


@helper
def _walk(start, neighbours, first, level, queue):
    """Levels of a component from ``first`` on; returns the vertex that was reached last, and how many were."""
    queue[0], level[first], done, count = first, 0, 0, 1
    while done < count:
        v = queue[done]
        done += 1
        for s in range(start[v], start[v + 1]):
            other = neighbours[s]
            if level[other] < 0:
                level[other] = level[v] + 1
                queue[count] = other
                count += 1
    return queue[count - 1], count


def colours_of(rows: np.ndarray, vertex_count: int) -> np.ndarray:
    """(k,) int32: the first colour that no earlier row with a common vertex has; rows : (k, m) int32 vertices."""
    out = np.zeros(len(rows), np.int32)
    _colour(rows, vertex_count, out)
    return out


@kernel
def _colour(rows, vertex_count, out):
    words = _MOST_COLOURS // 64
    degree = 0
    count = np.zeros(vertex_count, np.int64)
    for i in range(len(rows)):
        for k in range(rows.shape[1]):
            count[rows[i, k]] += 1
            degree = max(degree, count[rows[i, k]])
    words = min(words, (degree * rows.shape[1]) // 64 + 1)
    used, one = np.zeros((vertex_count, words), np.uint64), np.uint64(1)
    for i in range(len(rows)):
        colour = 0
        for word in range(words):
            taken = np.uint64(0)
            for k in range(rows.shape[1]):
                taken |= used[rows[i, k], word]
            bit = 0
            while bit < 64 and (taken >> np.uint64(bit)) & one:
                bit += 1
            colour = 64 * word + bit
            if bit < 64:
                for k in range(rows.shape[1]):
                    used[rows[i, k], word] |= one << np.uint64(bit)
                break
        out[i] = colour
