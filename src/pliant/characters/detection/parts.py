"""Parts of a body: small clusters of vertices and tetrahedra that move more or less as one.

Vertices are divided by the joint that carries most of them, and these groups by medians at rest. A cell belongs to the
part that has most of its corners. Everything is renumbered so that what belongs to a part is next to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

_MOST_PARTS = 160  # about: pairs of parts are compared in every frame
_SIZE = 24  # vertices of a part, at most; more where parts would be too many


class Parts(NamedTuple):
    """Numbers below are new ones but for those in ``vertices`` and ``cells``."""

    vertices: np.ndarray  # (n,) int32, the vertices that take part, part by part
    cells: np.ndarray  # (m,) int32, likewise
    corners: np.ndarray  # (m, 4) int32
    groups: np.ndarray  # (p,) int64 that the vertices of a part are of
    vertex_start: np.ndarray  # (p + 1,) int64 where the vertices of a part begin
    cell_start: np.ndarray  # (p + 1,) int64
    member_start: np.ndarray  # (p + 1,) int64
    members: np.ndarray  # int32, vertices of a part, then the other corners of its cells


def dominant_joints(joints: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(v,) int32: of the (v, w) joints of each vertex the one of the largest weight."""
    return np.take_along_axis(joints, weights.argmax(axis=1)[:, None], axis=1)[:, 0].astype(np.int32)


def divide(corners: np.ndarray, rest: np.ndarray, groups: np.ndarray) -> Parts:
    """corners : (m, 4) int32. rest : (v, 3). groups : (v,) integers; no part has vertices of two groups."""
    used = np.unique(corners)
    size = max(_SIZE, 3 * len(used) // (2 * _MOST_PARTS))
    keys = groups[used]
    clusters = [c for key in np.unique(keys) for c in _halve(rest, used[keys == key], size)]
    part, number = np.empty(len(rest), np.int64), np.empty(len(rest), np.int32)
    for i, cluster in enumerate(clusters):
        part[cluster] = i
    vertices = np.concatenate((np.empty(0, np.int64), *clusters))
    number[vertices] = np.arange(len(vertices))
    of_cell = majority(part[corners])
    cells = np.argsort(of_cell, kind="stable")
    corners = number[corners[cells]]
    cell_start = np.searchsorted(of_cell[cells], np.arange(len(clusters) + 1))
    vertex_start = np.cumsum([0, *(len(c) for c in clusters)])
    members = [_members(corners[a:b], *r) for a, b, r in zip(cell_start, cell_start[1:], _ranges(vertex_start))]
    return Parts(
        vertices.astype(np.int32),
        cells.astype(np.int32),
        np.ascontiguousarray(corners, np.int32),
        np.array([groups[c[0]] for c in clusters], np.int64),
        vertex_start.astype(np.int64),
        cell_start.astype(np.int64),
        np.cumsum([0, *(len(m) for m in members)]).astype(np.int64),
        np.concatenate((np.empty(0, np.int32), *members)).astype(np.int32),
    )


def _ranges(start: np.ndarray) -> Iterator[tuple[int, int]]:
    return zip(start.tolist(), start[1:].tolist())


def _halve(rest: np.ndarray, vertices: np.ndarray, most: int) -> list[np.ndarray]:
    """Clusters of at most so many vertices, cut at the median of the longest side of their box."""
    if len(vertices) <= most:
        return [vertices]
    x = rest[vertices]
    order = np.argsort(x[:, np.ptp(x, axis=0).argmax()], kind="stable")
    half = len(vertices) // 2
    return _halve(rest, vertices[order[:half]], most) + _halve(rest, vertices[order[half:]], most)


def majority(labels: np.ndarray) -> np.ndarray:
    """The most frequent label of each row of (m, 4)."""
    counts = (labels[:, :, None] == labels[:, None, :]).sum(axis=2)
    return np.take_along_axis(labels, counts.argmax(axis=1)[:, None], axis=1)[:, 0]


def _members(corners: np.ndarray, begin: int, end: int) -> np.ndarray:
    others = np.unique(corners)
    return np.concatenate((np.arange(begin, end), others[(others < begin) | (others >= end)]))
