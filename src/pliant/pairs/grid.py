"""All pairs of features of a small mesh whose boxes overlap, from a grid of cells: no tree, one call.

Each box is in the cell in which its lower corner is, rows along the axis on which the vertices extend most and columns
along the next. A pair comes up where the one begins that begins in the later row: among the rows that the other goes
through, and the columns up to the widest box before it. So a few large features cost no more than a sweep along the
rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import max_norm, row
from pliant.bounds.kdops import UNDERFLOW, box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.runtime.jit import bare_kernel, helper

# What is compared with what, one after the other: vertices with faces that begin in their rows, faces with vertices
# that begin in later rows of theirs, and edges with edges.
FACES_AT_VERTICES, VERTICES_AT_FACES, EDGES_AT_EDGES = 0, 1, 2
PASSES = 3
_PER_CELL = 1  # edges, on average
# Whether a tree takes less time, in comparisons of boxes, 2.1 ns each. Without a tree, a feature takes 83 ns, and a
# pair that overlaps 89 ns, since it goes through filters; with one, 320 us in all, 290 ns for each feature and 26 ns
# for each such pair, which filters of elements leave out (built-in scenes of 120 to 4,000 triangles, one thread, by
# least squares: 10 % off on average). Of a sample of edges; pairs of a vertex and a face are half as many as EE.
_OF_PAIR = 30
_OF_TREE, _OF_TREE_EACH = 100_000, 65
_SAMPLE, _EVERY = 64, 8  # so many edges, and at most every eighth: of 120 edges a sample of all took a sixth of a query
# More pairs than that are never listed, in all and for each feature: where boxes are alike, the sample says so before.
_MANY, _MANY_EACH = 8000, 4
# A width and a difference have a rounding each, and their sum one.
_WIDER, _FURTHER = 1.0 + 2.0**-50, 2.0**-50

Features = tuple[np.ndarray, np.ndarray, np.ndarray]  # vertices that take part, faces, edges: (k, members) int32


class Space(NamedTuple):
    """Memory for the boxes of a mesh: those of vertices, of faces and of edges one after the other."""

    of_vertices: np.ndarray  # (n, 6) boxes by id
    bounds: np.ndarray  # (k, 6) cell by cell
    ids: np.ndarray  # (k,) int32
    start: np.ndarray  # (3, cells + 2) int32, where each cell begins
    widest: np.ndarray  # (3,) along the columns
    cell: np.ndarray  # (k,) int32
    found: np.ndarray  # (k + 1,) int32


def space_for(vertex_count: int, features: Features) -> Space:
    total, cells = sum(map(len, features)), max(1, len(features[2]) // _PER_CELL)
    return Space(
        np.empty((vertex_count, 6)), np.empty((total, 6)), np.empty(total, np.int32),
        np.empty((PASSES, cells + 2), np.int32), np.empty(PASSES), np.empty(total, np.int32),
        np.empty(total + 1, np.int32),
    )  # fmt: skip


def most_pairs(features: Features) -> int:
    """So many pairs are worth to be tested one by one."""
    return _MANY + _MANY_EACH * sum(map(len, features))


class Grid(NamedTuple):
    """Rows and columns, and where a coordinate falls."""

    row_axis: int
    first_row: float  # where it begins
    per_row: float  # rows for each unit of length
    rows: int
    column_axis: int
    first_column: float
    per_column: float
    columns: int


@bare_kernel
def pairs_in_grid(x0, x1, is_straight, relative_padding, features, selection, space, pairs, gives_up):
    """Pairs of features that share no vertex and whose boxes overlap, each once: VF, then EE, in any order.

    is_straight: boxes are those of the motion from x0 to x1, padded as by ``bound_vertices``; otherwise those of the
    vertices are in space. selection: labels of the vertices, and which of ``pairs=`` are wanted. gives_up: where a tree
    takes less time. Returns counts of VF, EE, and of pairs compared; VF and EE together are more than fit into the
    array where it gave up or they do not.
    """
    if is_straight:
        bound_straight(x0, x1, features[0], relative_padding, space.of_vertices)
    grid = _grid_over(space.of_vertices, features[0], space.start.shape[1] - 2)
    _put_into_cells(grid, features[2], EDGES_AT_EDGES, _offset(features, EDGES_AT_EDGES), space)
    if gives_up and _is_crowded(grid, features, selection, space, pairs):
        return 0, len(pairs) + 1, 0
    for which in range(EDGES_AT_EDGES):
        _put_into_cells(grid, features[which], which, _offset(features, which), space)
    compared = vf = count = 0
    for which in range(PASSES):
        for i in range(len(features[which])):
            count, new = _list_pairs(grid, features, selection, space, which, i, pairs, count)
            compared += new
            if count > len(pairs):
                return 0, count, compared
        if which == VERTICES_AT_FACES:
            vf = count
    return vf, count - vf, compared


@helper
def _is_crowded(grid, features, selection, space, pairs):
    """So many boxes overlap that a tree takes less time."""
    edges, cost, sampled = len(features[2]), 0, 0
    for i in range(0, edges, max(_EVERY, edges // _SAMPLE)):
        count, compared = _list_pairs(grid, features, selection, space, EDGES_AT_EDGES, i, pairs, 0)
        cost += compared + _OF_PAIR * count
        sampled += 1
    return cost * edges > sampled * (_OF_TREE + _OF_TREE_EACH * len(space.ids))


@helper
def bound_straight(x0, x1, vertices, relative_padding, of_vertices):
    """Boxes of those vertices, (k, 1), that take part: what ``bound_vertices`` makes of straight paths."""
    for i in range(len(vertices)):
        v = vertices[i, 0]
        start, end, total = row(x0, v), row(x1, v), 0.0
        if relative_padding > 0.0:
            total = relative_padding * max(max_norm(start), max_norm(end)) + UNDERFLOW
        for k in range(3):
            of_vertices[v, 2 * k] = min(start[k], end[k]) - total
            of_vertices[v, 2 * k + 1] = max(start[k], end[k]) + total


@helper
def _list_pairs(grid, features, selection, space, which, i, pairs, count):
    """Pairs with the i-th feature of a pass, behind those that are listed.

    Returns how many there are then (more than fit, where they do not), and how many were compared.
    """
    ids, found = space.ids, space.found
    other = which if which == EDGES_AT_EDGES else 1 - which
    own, theirs = _offset(features, which), _offset(features, other)
    overlapping, compared = _overlapping(grid, space, which, own, i, other, theirs)
    if count + overlapping > len(pairs):
        return len(pairs) + 1, compared
    a = ids[own + i]
    for k in range(overlapping):
        b = ids[found[k]]
        if which == EDGES_AT_EDGES:
            pairs[count, 0], pairs[count, 1] = min(a, b), max(a, b)
            count += _are_separate(features[2], a, b, selection)
        else:
            v, f = (a, b) if which == FACES_AT_VERTICES else (b, a)
            pairs[count, 0], pairs[count, 1] = v, f
            count += _is_no_corner(v, features[1], f, selection)
    return count, compared


@helper
def _offset(features, which):
    """Where the boxes of these features begin."""
    return (which > 0) * len(features[0]) + (which > 1) * len(features[1])


@helper
def _overlapping(grid, space, which, own, i, other, theirs):
    """Places of the boxes that overlap the i-th one of a pass and come up with it; returns how many, and how many were
    compared."""
    bounds, start, found, i = space.bounds, space.start, space.found, own + i
    row_axis, column_axis, this = 2 * grid.row_axis, 2 * grid.column_axis, box(space.bounds, i)
    first_row = _bin(bounds[i, row_axis], grid.first_row, grid.per_row, grid.rows)
    last_row = _bin(bounds[i, row_axis + 1], grid.first_row, grid.per_row, grid.rows)
    lower = bounds[i, column_axis]
    lower -= space.widest[other] * _WIDER + abs(lower) * _FURTHER
    first = _bin(lower, grid.first_column, grid.per_column, grid.columns)
    last = _bin(bounds[i, column_axis + 1], grid.first_column, grid.per_column, grid.columns)
    count = compared = 0
    for line in range(first_row + (which == VERTICES_AT_FACES), last_row + 1):
        begin = theirs + start[other, line * grid.columns + first]
        end = theirs + start[other, line * grid.columns + last + 1]
        if which == EDGES_AT_EDGES and line == first_row:
            begin = i + 1  # what is before it has come up with this one
        compared += max(0, end - begin)
        for j in range(begin, end):
            found[count] = j
            count += overlap(this, bounds, i, bounds, j)
    return count, compared


@helper
def _are_separate(edges, a, b, selection):
    a0, a1, b0, b1 = edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]
    separate = (a0 != b0) & (a0 != b1) & (a1 != b0) & (a1 != b1)  # which no processor foresees: no branches
    return separate if selection[1] == ALL else separate & _is_wanted(selection, a0, b0)


@helper
def _is_no_corner(v, faces, f, selection):
    separate = (v != faces[f, 0]) & (v != faces[f, 1]) & (v != faces[f, 2])
    return separate if selection[1] == ALL else separate & _is_wanted(selection, v, faces[f, 0])


@helper
def _is_wanted(selection, v, w):
    labels, wanted = selection
    return (labels[v] == labels[w]) == (wanted == SELF)


@helper
def _grid_over(of_vertices, vertices, cells):
    """At most so many cells, along the rows a quarter as long as across: a row is gone through in one go."""
    x, y, z = _extent(of_vertices, vertices, 0), _extent(of_vertices, vertices, 1), _extent(of_vertices, vertices, 2)
    long, short = (x, y) if x[0] >= y[0] else (y, x)
    if z[0] > short[0]:
        long, short = (long, z) if long[0] >= z[0] else (z, long)
    rows, columns = cells, 1
    if short[0] > 0.0 and long[0] < np.inf:
        rows = int(max(1.0, min(float(cells), np.sqrt(0.25 * cells * (long[0] / short[0])))))
        columns = max(1, cells // rows)
    return Grid(
        long[2], long[1], _per_length(long[0], rows), rows, short[2], short[1], _per_length(short[0], columns), columns
    )


@helper
def _extent(of_vertices, vertices, axis):
    """How far it is from where the first box begins along an axis to where the last one does; where, and the axis."""
    lower, upper = np.inf, -np.inf
    for i in range(len(vertices)):
        x = of_vertices[vertices[i, 0], 2 * axis]
        lower, upper = min(lower, x), max(upper, x)
    return upper - lower, lower, axis


@helper
def _per_length(extent, bins):
    """Bins for each unit of length; 0 where all are to be in one."""
    return bins / extent if extent > 1e-290 and extent < 1e290 else 0.0


@helper
def _bin(x, start, per_length, bins):
    """Which one a coordinate falls into: never an earlier one than a smaller coordinate."""
    if per_length == 0.0 or not x > start:
        return 0
    return int(min(bins - 1.0, (x - start) * per_length))


@helper
def _put_into_cells(grid, groups, which, offset, space):
    """Boxes of groups of vertices, (k, members), in the order of their cells."""
    of_vertices, bounds, start, cell = space.of_vertices, space.bounds, space.start, space.cell
    cells, members, widest = grid.rows * grid.columns, groups.shape[1], 0.0
    for c in range(cells + 2):
        start[which, c] = 0
    for g in range(len(groups)):
        along, across = of_vertices[groups[g, 0], 2 * grid.row_axis], of_vertices[groups[g, 0], 2 * grid.column_axis]
        for k in range(1, members):
            along = min(along, of_vertices[groups[g, k], 2 * grid.row_axis])
            across = min(across, of_vertices[groups[g, k], 2 * grid.column_axis])
        line = _bin(along, grid.first_row, grid.per_row, grid.rows)
        cell[g] = line * grid.columns + _bin(across, grid.first_column, grid.per_column, grid.columns)
        start[which, cell[g] + 2] += 1
    for c in range(cells):
        start[which, c + 2] += start[which, c + 1]
    for g in range(len(groups)):
        at = offset + start[which, cell[g] + 1]
        start[which, cell[g] + 1] += 1  # which ends up where the next cell begins
        space.ids[at] = groups[g, 0] if members == 1 else g
        for c in range(0, 6, 2):
            lower, upper = of_vertices[groups[g, 0], c], of_vertices[groups[g, 0], c + 1]
            for k in range(1, members):
                lower = min(lower, of_vertices[groups[g, k], c])
                upper = max(upper, of_vertices[groups[g, k], c + 1])
            bounds[at, c], bounds[at, c + 1] = lower, upper
        widest = max(widest, bounds[at, 2 * grid.column_axis + 1] - bounds[at, 2 * grid.column_axis])
    space.widest[which] = widest
