"""Which vertices are in the boxes of which cells: the broad phases of points against cells.

Each is a class of two methods: it is made of the positions and the mesh, and ``fill`` writes the pairs of some cells
into a buffer. They differ in time, and in pairs that no cell can hold; never in what is lost.
"""

from __future__ import annotations

import numpy as np

from pliant.hierarchy.build import fit_nodes, split_elements
from pliant.hierarchy.cell_boxes import box_holds, box_of_cell
from pliant.hierarchy.spatial_hash import HashedPoints
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

_STACK = 64  # one sibling stays behind on each of at most 31 levels


class PointTree:
    """Vertices in a tree, and every cell's box against it from the top.

    The other way round, cells in a tree, the tree would have five times as many elements in a mesh of tetrahedra, and
    to build it takes most of the time.
    """

    def __init__(self, x: np.ndarray, volume: VolumeMesh, pool: ThreadPool) -> None:
        vertices = volume._vertices
        bounds = np.repeat(x[vertices], 2, axis=1)
        tree = split_elements(bounds, pool)
        self._order = vertices[tree.order]
        self._nodes = fit_nodes(np.take(bounds, tree.order, axis=0), tree.begin, pool)
        self._begin, self._x = tree.begin, x

    def fill(
        self, corners: np.ndarray, corner_count: np.ndarray, first: int, last: int, out: np.ndarray
    ) -> tuple[int, int]:
        """Pairs (vertex, cell) of cells first .. last - 1 into out, (capacity, 2) int32, for as many cells as fit.

        corners : (c, 8) int32, corner_count : (c,) int8. Returns how many pairs there are, and the cell to go on with.
        """
        return _list_points(self._x, (self._nodes, self._begin, self._order), (corners, corner_count), first, last, out)


class EveryPoint:
    """Brute force: each vertex with each cell, for tests and for very few of them."""

    def __init__(self, x: np.ndarray, volume: VolumeMesh, pool: ThreadPool) -> None:
        self._vertices = volume._vertices

    def fill(
        self, corners: np.ndarray, corner_count: np.ndarray, first: int, last: int, out: np.ndarray
    ) -> tuple[int, int]:
        """As in ``PointTree``."""
        count = len(self._vertices)
        fit = min(last - first, len(out) // max(count, 1))
        out[: fit * count, 0] = np.tile(self._vertices, fit)
        out[: fit * count, 1] = np.repeat(np.arange(first, first + fit), count)
        return fit * count, first + fit


BROAD = {"tree": PointTree, "hash": HashedPoints, "brute": EveryPoint}


@kernel
def _list_points(x, tree, cells, first, last, out):
    nodes, begin, order = tree
    corners, corner_count = cells
    stack, leaves, count = np.empty(_STACK, np.int64), len(begin) - 1, 0
    for cell in range(first, last):
        b, before, top = box_of_cell(x, corners, cell, corner_count[cell]), count, 1
        stack[0] = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if not _meets(b, nodes, node):
                continue
            if node < leaves:
                stack[top], stack[top + 1] = 2 * node, 2 * node + 1
                top += 2
                continue
            for place in range(begin[node - leaves], begin[node - leaves + 1]):
                v = order[place]
                if box_holds(b, x, v):
                    if count == len(out):
                        return before, cell
                    out[count, 0], out[count, 1] = v, cell
                    count += 1
    return count, last


@helper
def _meets(b, nodes, i):
    if b[0] > nodes[i, 1] or nodes[i, 0] > b[1] or b[2] > nodes[i, 3] or nodes[i, 2] > b[3]:
        return False
    return not (b[4] > nodes[i, 5] or nodes[i, 4] > b[5])
