"""Which nodes of a hierarchy are discs, and the contours of those that are.

The contour test (paper 000) proves nothing for a patch that is not a disc: connected, manifold, one boundary loop
(errata 2). For a patch with F faces, E edges and V vertices that hangs together across edges of at most two of its
faces, V - E + F = 2 - 2 g - b - p, g counting handles (or halves of them, for crosscaps), b boundary loops and p points
at which it is pinched. So with a boundary at all, V - E + F = 1 means g = p = 0 and b = 1: a disc.

All counts are sums over the nodes below: an edge between two faces of a node lies inside it from the lowest node that
has both faces upwards, and so does the second appearance of a vertex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.features import Elements
from pliant.mesh.joined import Joined, Surface, joined_leaves, walk_loop
from pliant.runtime.jit import helper, kernel


class Patches(NamedTuple):
    """What the contour test needs to know of the elements below each node, by heap index."""

    start: np.ndarray  # (nodes + 1,) int64, contour of node i: loop[start[i]:start[i + 1]]; none where it is no disc
    loop: np.ndarray  # int32 vertex ids, along the boundary, counter-clockwise as seen from where the normals point
    flipped: np.ndarray  # (k,) bool by place, the face has to be flipped to agree with its neighbours
    joined: Joined  # leaves that are one disc together


def patches_of(elements: Elements, begin: np.ndarray, edge_count: int, vertex_count: int) -> Patches:
    """The discs among the nodes of a hierarchy over these elements, in the order of places; begin: of its leaves."""
    corners = elements.corners
    twin = twins_of(elements.sides, edge_count)
    flipped, seam = np.zeros(len(corners), np.bool_), np.zeros(twin.size, np.bool_)
    _flip_faces(corners, twin, flipped, seam)
    leaves = len(begin) - 1
    leaf = np.repeat(np.arange(leaves, 2 * leaves, dtype=np.int32), np.diff(begin))  # by heap index, of each place
    is_disc, size = np.zeros(2 * leaves, np.bool_), np.zeros(2 * leaves, np.int64)
    _find_discs(elements, leaf, twin, seam, (vertex_count, edge_count), (is_disc, size))
    start = np.zeros(2 * leaves + 1, np.int64)
    np.cumsum(np.where(is_disc, size, 0), out=start[1:])
    loop = np.empty(start[-1], np.int32)
    _walk_contours(corners, begin, leaf, twin, flipped, (is_disc, size), vertex_count, (start, loop))
    surface = Surface(corners, leaf - leaves, begin, twin, seam, flipped)
    return Patches(start, loop, flipped, joined_leaves(surface, is_disc[leaves:], vertex_count))


_BORDER, _NON_MANIFOLD = -1, -2


def twins_of(sides: np.ndarray, edge_count: int) -> np.ndarray:
    """(3 k,) the other side, 3 * place + corner, at the same edge; _BORDER: there is none; _NON_MANIFOLD: several."""
    out = np.full(sides.size, _BORDER, np.int32)
    _find_twins(sides, edge_count, out)
    return out


@kernel
def _find_twins(sides, edge_count, out):
    first, count = np.full(edge_count, -1, np.int32), np.zeros(edge_count, np.int32)
    for s in range(3 * len(sides)):
        e = sides[s // 3, s % 3]
        if e >= 0:
            count[e] += 1
            if first[e] >= 0 and count[e] == 2:
                out[s], out[first[e]] = first[e], s
            else:
                first[e] = s
    for s in range(3 * len(sides)):
        e = sides[s // 3, s % 3]
        if e < 0 or count[e] > 2:
            out[s] = _NON_MANIFOLD


@kernel
def _flip_faces(corners, twin, flipped, seam):
    """Which faces to flip so that neighbours agree, and at which sides (seams of one-sided surfaces) they still
    do not; both are False at first."""
    count = len(corners)
    seen, queue = np.zeros(count, np.bool_), np.empty(count, np.int32)
    for root in range(count):
        if seen[root]:
            continue
        seen[root] = True
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            for c in range(3):
                other = twin[3 * i + c]
                if other < 0:
                    continue
                j = other // 3
                same_way = corners[i, c] == corners[j, other % 3]  # neighbours that agree run along it in two ways
                if not seen[j]:
                    seen[j] = True
                    flipped[j] = flipped[i] != same_way
                    queue[tail] = j
                    tail += 1
                elif flipped[j] != (flipped[i] != same_way):
                    seam[3 * i + c] = True
                    seam[other] = True


@helper
def _meeting(a, b):
    """The lowest node that has both leaves below it, by heap index."""
    while a != b:
        a >>= 1
        b >>= 1
    return a


@helper
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _find_discs(elements, leaf, twin, seam, counts, out):
    """out : is_disc and the number of boundary sides of every node by heap index, both 0 at first and for nodes that
    are no surface.

    counts: of vertices and edges.
    """
    corners, face, sides = elements.corners, elements.face, elements.sides
    is_disc, size = out
    count, leaves = len(corners), len(is_disc) // 2
    faces, broken = np.zeros(2 * leaves, np.int64), np.zeros(2 * leaves, np.bool_)
    for i in range(count):
        faces[leaf[i]] += 1
        a, b, c = corners[i, 0], corners[i, 1], corners[i, 2]
        broken[leaf[i]] |= face[i] < 0 or a == b or b == c or a == c
    again, last = np.zeros(2 * leaves, np.int64), np.full(counts[0], -1, np.int32)  # vertices that come again
    for i in range(count):
        for c in range(3):
            v = corners[i, c]
            if last[v] >= 0:
                again[_meeting(leaf[last[v]], leaf[i])] += 1
            last[v] = i
    last = np.full(counts[1], -1, np.int32)
    inner = np.zeros(2 * leaves + 1, np.int64)  # edges whose two faces meet in this node and in none below
    for s in range(3 * count):
        e = sides[s // 3, s % 3]
        if e >= 0:
            if last[e] >= 0:
                node = _meeting(leaf[last[e]], leaf[s // 3])
                inner[node] += 1
                broken[node] |= twin[s] == _NON_MANIFOLD or seam[s]
            last[e] = s // 3
    joints = _joints(leaf, twin, inner)
    for node in range(2 * leaves - 1, 0, -1):
        if node < leaves:
            for child in (2 * node, 2 * node + 1):
                faces[node] += faces[child]
                again[node] += again[child]
                inner[node] += inner[child]
                joints[node] += joints[child]
                broken[node] |= broken[child]
        if not broken[node]:
            size[node] = 3 * faces[node] - 2 * inner[node]
            euler = faces[node] + inner[node] - again[node]
            is_disc[node] = size[node] > 0 and euler == 1 and faces[node] - joints[node] == 1


@helper
def _joints(leaf, twin, inner):
    """(nodes,) how many pieces of surface become one at each node, from the bottom up."""
    start = np.zeros(len(inner) + 1, np.int64)
    for node in range(len(inner)):
        start[node + 1] = start[node] + inner[node]
    fill, met = start.copy(), np.empty(start[len(inner)], np.int32)
    for s in range(len(twin)):
        if twin[s] > s:
            node = _meeting(leaf[s // 3], leaf[twin[s] // 3])
            met[fill[node]] = s
            fill[node] += 1
    joints, parent = np.zeros(len(inner), np.int64), np.arange(len(leaf))
    for node in range(len(inner) - 1, 0, -1):
        for m in range(start[node], fill[node]):
            a, b = _root(parent, met[m] // 3), _root(parent, twin[met[m]] // 3)
            if a != b:
                parent[a] = b
                joints[node] += 1
    return joints


@kernel
def _walk_contours(corners, begin, leaf, twin, flipped, discs, vertex_count, contours):
    """contours : start and loop; writes the boundary vertices of each disc in order.

    Boundary sides of a node are those of its children whose other face is not in it too.
    """
    (is_disc, size), (start, loop) = discs, contours
    leaves = len(begin) - 1
    first = np.zeros(2 * leaves + 1, np.int64)
    for node in range(2 * leaves):
        first[node + 1] = first[node] + size[node]
    side, after = np.empty(first[2 * leaves], np.int32), np.empty(vertex_count, np.int32)
    above, lowest = 0, leaves  # levels above the leaves, and the first node of that level
    for node in range(2 * leaves - 1, 0, -1):
        if node < lowest:
            above, lowest = above + 1, lowest >> 1
        if size[node] == 0:
            continue
        out = first[node]
        if node >= leaves:
            for i in range(begin[node - leaves], begin[node - leaves + 1]):
                for s in range(3 * i, 3 * i + 3):
                    if twin[s] < 0 or leaf[twin[s] // 3] != node:
                        side[out] = s
                        out += 1
        else:
            for k in range(first[2 * node], first[2 * node + 2]):  # of both children
                s = side[k]
                if twin[s] < 0 or leaf[twin[s] // 3] >> above != node:
                    side[out] = s
                    out += 1
        if is_disc[node]:
            walk_loop(corners, flipped, side, first[node], out, after, loop, start[node])
