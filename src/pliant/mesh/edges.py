"""The edges of triangles, each once and in lexicographic order; what they hold together."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper, kernel


def number_edges(faces: np.ndarray, loose: np.ndarray, vertex_limit: int) -> tuple[np.ndarray, np.ndarray]:
    """(edges, face_edges), as in ``TriMesh``; loose : (k, 2) int32, edges beside those of the faces."""
    ends, keys = np.zeros(vertex_limit + 1, np.int64), np.empty(faces.size + len(loose), np.int64)
    edges = np.empty((_sort_sides(faces, loose, ends, keys), 2), np.int32)
    face_edges = np.empty(faces.shape, np.int32)
    _number_sides(keys, ends, edges, face_edges)
    return edges, face_edges


# A side in a bucket of those with one smaller vertex is a key: its other vertex in the upper 31 bits, less 2^30, which
# makes these a signed number, and its row and corner in 31 and 2 bits. So keys are in the order of the other vertices.
_OFFSET, _SIDE_BITS = 1 << 30, 33
_SIDE = (1 << _SIDE_BITS) - 1


@kernel
def _sort_sides(faces, loose, ends, keys):
    """Writes the sides in buckets by smaller vertex, each of them sorted, and where buckets end; ends : 0 at first, one
    more than there are vertices. Returns how many different edges there are."""
    for f in range(len(faces)):
        for c in range(3):
            ends[min(faces[f, c], faces[f, (c + 1) % 3]) + 1] += 1
    for k in range(len(loose)):
        ends[min(loose[k, 0], loose[k, 1]) + 1] += 1
    for v in range(len(ends) - 1):
        ends[v + 1] += ends[v]
    for f in range(len(faces)):
        for c in range(3):
            _add_side(faces[f, c], faces[f, (c + 1) % 3], 4 * f + c, ends, keys)
    for k in range(len(loose)):
        _add_side(loose[k, 0], loose[k, 1], 4 * (len(faces) + k), ends, keys)
    begin = most = count = 0
    for v in range(len(ends) - 1):
        most, begin = max(most, ends[v] - begin), ends[v]
    spare, begin = np.empty(most if most > _FEW_SIDES else 0, np.int64), 0
    for v in range(len(ends) - 1):
        _sort_keys(keys, begin, ends[v], spare)
        last = v  # a side from a vertex to itself is no edge
        for s in range(begin, ends[v]):
            other = _other(keys[s])
            count += other != last
            last = other
        begin = ends[v]
    return count


@helper
def _add_side(v, w, side, ends, keys):
    low = min(v, w)
    keys[ends[low]] = (np.int64(max(v, w)) - _OFFSET) << _SIDE_BITS | side
    ends[low] += 1


@helper
def _other(key):
    return (key >> _SIDE_BITS) + _OFFSET


# Sides that are sorted by insertion: nearly all vertices have fewer; for one with 80,000 it took over ten seconds.
_FEW_SIDES = 32


@helper
def _sort_keys(keys, begin, end, spare):
    """Sort keys[begin:end]: short runs by insertion, then merged in pairs."""
    for first in range(begin, end, _FEW_SIDES):
        last = min(first + _FEW_SIDES, end)
        for i in range(first + 1, last):
            key, j = keys[i], i
            while j > first and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
    length = _FEW_SIDES
    while length < end - begin:
        for first in range(begin, end - length, 2 * length):
            _merge_runs(keys, first, first + length, min(first + 2 * length, end), spare)
        length *= 2


@helper
def _merge_runs(keys, begin, middle, end, spare):
    """Merge the sorted keys[begin:middle] and keys[middle:end]."""
    for i in range(middle - begin):
        spare[i] = keys[begin + i]
    i, j = 0, middle
    for k in range(begin, end):
        if i < middle - begin and (j == end or spare[i] <= keys[j]):
            keys[k] = spare[i]
            i += 1
        else:
            keys[k] = keys[j]
            j += 1


@kernel
def _number_sides(keys, ends, edges, face_edges):
    """Writes the edges in the order of the sorted sides, and the edges of the sides of faces: -1 for those from a
    vertex to itself."""
    begin, e = 0, -1
    for v in range(len(ends) - 1):
        last = v
        for s in range(begin, ends[v]):
            other, side = _other(keys[s]), keys[s] & _SIDE
            if other != last:
                e, last = e + 1, other
                edges[e, 0], edges[e, 1] = v, other
            if side >> 2 < len(face_edges):
                face_edges[side >> 2, side & 3] = -1 if other == v else e
        begin = ends[v]


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
