"""Pairs of leaves that are one disc together: what is cut apart by a tree of patches is a patch too.

Two discs A and B whose common vertices are those of one path of c sides, c + 1 of them, are a disc together: V - E + F
is 1 + 1 - 1, and nothing is pinched, since no other vertex is in both. Its contour is that of A without the path, and
then that of B.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel


class Joined(NamedTuple):
    """Which leaves, and the contours around two of them."""

    begin: np.ndarray  # (leaves + 1,) int32, partners of leaf i: partner[begin[i]:begin[i + 1]], all of them later ones
    partner: np.ndarray  # (p,) int32 leaves
    start: np.ndarray  # (p + 1,) int32, contour of pair i: loop[start[i]:start[i + 1]]
    loop: np.ndarray  # int32 vertex ids, as those of patches


class Surface(NamedTuple):
    """The triangles by place, in leaves."""

    corners: np.ndarray  # (k, 3) int32
    leaf: np.ndarray  # (k,) int32 leaf of each, from 0
    begin: np.ndarray  # (leaves + 1,) places where the leaves begin
    twin: np.ndarray  # (3 k,) int32 and
    seam: np.ndarray  # (3 k,) bool, of sides (``patches``)
    flipped: np.ndarray  # (k,) bool


def joined_leaves(surface: Surface, is_disc: np.ndarray, vertex_count: int) -> Joined:
    """is_disc : of leaves"""
    leaf, twin = surface.leaf, surface.twin
    most = int(np.count_nonzero((twin >= 0) & (leaf[twin // 3] != np.repeat(leaf, 3)))) // 2
    begin, pairs = np.zeros(len(surface.begin), np.int32), np.empty((most, 2), np.int32)
    count = find_pairs(surface, is_disc, vertex_count, begin, pairs)
    start = np.concatenate(([0], np.cumsum(pairs[:count, 1]))).astype(np.int32)
    loop = np.empty(start[-1], np.int32)
    write_loops(surface, begin, pairs, start, vertex_count, loop)
    return Joined(begin, pairs[:count, 0].copy(), start, loop)


@kernel
def find_pairs(surface, is_disc, vertex_count, first, pairs):
    """Fill in where the pairs of each leaf begin, and of each pair the partner and the length of its contour; returns
    how many there are."""
    corners, leaf, begin, twin = surface.corners, surface.leaf, surface.begin, surface.twin
    leaves, count = len(begin) - 1, 0
    of_a, of_b, candidate = np.full(vertex_count, -1, np.int32), np.full(vertex_count, -1, np.int32), 0
    border = np.zeros(leaves, np.int32)
    for s in range(len(twin)):
        border[leaf[s // 3]] += twin[s] < 0 or leaf[twin[s] // 3] != leaf[s // 3]
    for a in range(leaves):
        first[a] = count
        if not is_disc[a]:
            continue
        for i in range(begin[a], begin[a + 1]):
            for c in range(3):
                of_a[corners[i, c]] = a
        end = count
        for s in range(3 * begin[a], 3 * begin[a + 1]):
            if twin[s] >= 0 and not surface.seam[s] and leaf[twin[s] // 3] > a and is_disc[leaf[twin[s] // 3]]:
                end = _count_side(pairs, count, end, leaf[twin[s] // 3])
        candidates, kept = end, count
        for p in range(count, candidates):
            b, sides, common = pairs[p, 0], pairs[p, 1], 0
            candidate += 1
            for i in range(begin[b], begin[b + 1]):
                for c in range(3):
                    v = corners[i, c]
                    common += of_a[v] == a and of_b[v] != candidate
                    of_b[v] = candidate
            length = border[a] + border[b] - 2 * sides
            pairs[kept, 0], pairs[kept, 1] = b, length
            kept += common == sides + 1 and length > 2
        count = kept
    first[leaves] = count
    return count


@helper
def _count_side(pairs, begin, end, b):
    """One more side in common with leaf b, of those from begin up to end; returns where they end now."""
    for p in range(begin, end):
        if pairs[p, 0] == b:
            pairs[p, 1] += 1
            return end
    pairs[end, 0], pairs[end, 1] = b, 1
    return end + 1


@kernel
def write_loops(surface, first, pairs, start, vertex_count, loop):
    """The contours, one after the other."""
    leaf, begin, twin = surface.leaf, surface.begin, surface.twin
    after, side = np.empty(vertex_count, np.int32), np.empty(3 * max(1, len(leaf)), np.int32)
    for a in range(len(begin) - 1):
        for p in range(first[a], first[a + 1]):
            b, count = np.int64(pairs[p, 0]), 0
            for turn in range(2):
                this, other = (a, b) if turn == 0 else (b, a)
                for s in range(3 * begin[this], 3 * begin[this + 1]):
                    across = leaf[twin[s] // 3] if twin[s] >= 0 else -1
                    side[count] = s
                    count += across != this and across != other
            walk_loop(surface.corners, surface.flipped, side, 0, count, after, loop, start[p])


@helper
def walk_loop(corners, flipped, side, begin, end, after, loop, out):
    """Write the vertices of one loop of sides in order, from ``loop[out]`` on."""
    v = 0
    for k in range(begin, end):
        i, c = side[k] // 3, side[k] % 3
        v, w = corners[i, c], corners[i, (c + 1) % 3]
        if flipped[i]:
            v, w = w, v
        after[v] = w
    for k in range(end - begin):
        loop[out + k] = v
        v = after[v]
