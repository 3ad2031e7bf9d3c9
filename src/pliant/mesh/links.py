"""Links of vertices: the other corners of their faces, in turn around each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel

MOST_WEDGES = 12  # faces of a vertex whose link is listed


class Links(NamedTuple):
    """The link of vertex v is vertex[start[v]:start[v + 1]]: with each two that follow each other there v has a face,
    its corners in this order. Where v has faces all around it, the first comes again at the end.

    Empty where faces of v are not one such row: where surfaces branch, or are not oriented alike, where more than
    MOST_WEDGES of them meet, and where v is part of more than faces.
    """

    start: np.ndarray  # (n + 1,) int32
    vertex: np.ndarray  # int32


def links_of(faces: np.ndarray, others: np.ndarray, vertex_count: int) -> Links:
    """faces : (k, 3) int32; others : ids of vertices that have no link"""
    first, count = np.zeros(vertex_count + 1, np.int32), np.zeros(vertex_count, np.int32)
    ahead, behind = np.empty(3 * len(faces), np.int32), np.empty(3 * len(faces), np.int32)
    _list_wedges(faces, first, count, ahead, behind)
    count[others] = 0
    start = np.zeros(vertex_count + 1, np.int32)
    vertex = np.empty(_join_wedges(first, count, ahead, behind, start), np.int32)
    _write_rows(first, ahead, behind, start, vertex)
    return Links(start, vertex)


@kernel
def _list_wedges(faces, first, count, ahead, behind):
    """The wedges of each vertex, from the corner after it in a face to the one before it, and how many."""
    for f in range(len(faces)):
        for k in range(3):
            first[faces[f, k] + 1] += 1
    for v in range(len(count)):
        first[v + 1] += first[v]
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        for _ in range(3):
            at = first[a] + count[a]
            count[a] += 1
            ahead[at], behind[at] = b, c
            a, b, c = b, c, a


@kernel
def _join_wedges(first, count, ahead, behind, start):
    """Put the wedges of each vertex in a row; where each link begins. Returns how many vertices are listed."""
    for v in range(len(count)):
        wedges, start[v + 1] = count[v], start[v]
        if 0 < wedges <= MOST_WEDGES and _are_one_row(ahead, behind, first[v], first[v] + wedges):
            start[v + 1] += wedges + 1
    return start[len(count)]


@kernel
def _write_rows(first, ahead, behind, start, vertex):
    """Links of wedges in a row."""
    for v in range(len(start) - 1):
        wedges = start[v + 1] - start[v] - 1
        for w in range(wedges):
            vertex[start[v] + w] = ahead[first[v] + w]
        if wedges > 0:
            vertex[start[v] + wedges] = behind[first[v] + wedges - 1]


@helper
def _are_one_row(ahead, behind, begin, end):
    """Sorts wedges such that each begins where the one before ends; False where that cannot be."""
    _bring_forward(ahead, behind, begin, _without_predecessor(ahead, behind, begin, end))
    for w in range(begin + 1, end):
        found = w
        while found < end and ahead[found] != behind[w - 1]:
            found += 1
        if found == end:
            return False
        _bring_forward(ahead, behind, w, found)
    return True


@helper
def _without_predecessor(ahead, behind, begin, end):
    """A wedge that begins where none ends; the first one if all of them do not."""
    for w in range(begin, end):
        other = begin
        while other < end and behind[other] != ahead[w]:
            other += 1
        if other == end:
            return w
    return begin


@helper
def _bring_forward(ahead, behind, w, found):
    ahead[w], ahead[found] = ahead[found], ahead[w]
    behind[w], behind[found] = behind[found], behind[w]
