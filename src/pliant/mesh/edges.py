"""The edges of triangles, each once and in lexicographic order; what they hold together."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper, kernel


def number_edges(faces: np.ndarray, loose: np.ndarray, vertex_limit: int) -> tuple[np.ndarray, np.ndarray]:
    """(edges, face_edges), as in ``TriMesh``; loose : (k, 2) int32, edges beside those of the faces."""
    face_edges = np.empty(faces.shape, np.int32)
    edges = np.empty((face_edges.size + len(loose), 2), np.int32)
    count = _number_edges(faces, loose, vertex_limit, edges, face_edges)
    return edges[:count].copy(), face_edges


@kernel
def _number_edges(faces, loose, vertex_count, edges, face_edges):
    """Writes the unique edges in lexicographic order and the edge ids of each face; returns how many edges there are.

    Buckets by smaller vertex, each of them sorted: mostly a few entries.
    """
    side_count = 3 * len(faces)
    total = side_count + len(loose)
    lower, upper = np.empty(total, np.int32), np.empty(total, np.int32)
    for s in range(total):
        if s < side_count:
            a, b = faces[s // 3, s % 3], faces[s // 3, (s + 1) % 3]
        else:
            a, b = loose[s - side_count, 0], loose[s - side_count, 1]
        lower[s], upper[s] = min(a, b), max(a, b)
    start = np.zeros(vertex_count + 2, np.int64)
    for s in range(total):
        start[lower[s] + 1] += 1
    for v in range(vertex_count):
        start[v + 1] += start[v]
    slot, fill = np.empty(total, np.int64), start.copy()
    for s in range(total):
        slot[fill[lower[s]]] = s
        fill[lower[s]] += 1
    edge_of_side, spare = np.empty(total, np.int32), np.empty(total, np.int64)
    count = 0
    for v in range(vertex_count):
        _sort_sides(slot, start[v], start[v + 1], upper, spare)
        count = _number_bucket(v, slot, start[v], start[v + 1], upper, edges, edge_of_side, count)
    for s in range(side_count):
        face_edges[s // 3, s % 3] = edge_of_side[s]
    return count


# Sides that are sorted by insertion: nearly all vertices have fewer; for one with 80,000 it took over ten seconds.
_FEW_SIDES = 32


@helper
def _sort_sides(slot, begin, end, upper, spare):
    """Sort slot[begin:end] by the other end of the sides: short runs by insertion, then merged in pairs."""
    for first in range(begin, end, _FEW_SIDES):
        last = min(first + _FEW_SIDES, end)
        for i in range(first + 1, last):
            s, j = slot[i], i
            while j > first and upper[slot[j - 1]] > upper[s]:
                slot[j] = slot[j - 1]
                j -= 1
            slot[j] = s
    length = _FEW_SIDES
    while length < end - begin:
        for first in range(begin, end - length, 2 * length):
            _merge_runs(slot, first, first + length, min(first + 2 * length, end), upper, spare)
        length *= 2


@helper
def _merge_runs(slot, begin, middle, end, upper, spare):
    """Merge the sorted slot[begin:middle] and slot[middle:end]."""
    for i in range(begin, middle):
        spare[i] = slot[i]
    i, j = begin, middle
    for k in range(begin, end):
        if i < middle and (j == end or upper[spare[i]] <= upper[slot[j]]):
            slot[k] = spare[i]
            i += 1
        else:
            slot[k] = slot[j]
            j += 1


@helper
def _number_bucket(v, slot, begin, end, upper, edges, edge_of_side, count):
    """Numbers the sorted sides of one vertex from count on; equal ones share an id, loops get -1."""
    for i in range(begin, end):
        other = upper[slot[i]]
        if other == v:
            edge_of_side[slot[i]] = -1
        elif i > begin and upper[slot[i - 1]] == other:
            edge_of_side[slot[i]] = count - 1
        else:
            edges[count, 0], edges[count, 1] = v, other
            edge_of_side[slot[i]] = count
            count += 1
    return count


@kernel
def unite(edges, parent):
    """Smallest vertex of each vertex's component, by union-find with path halving; parent : each its own, at first."""
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for v in range(len(parent)):
        parent[v] = parent[parent[v]]  # parents are smaller, so theirs is final already
