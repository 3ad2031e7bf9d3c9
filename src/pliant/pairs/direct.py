"""All pairs of features of a small mesh whose bounds overlap: a sweep along one axis, no tree, one call."""

from __future__ import annotations

import numpy as np

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.traverse import ALL, SELF
from pliant.runtime.jit import helper, kernel

_BINS = 256  # at most, along the axis


@kernel
def direct_pairs(of_vertices, features, selection, vertex_face, edge_edge):
    """Pairs of features that share no vertex and whose boxes overlap, each once, in any order.

    of_vertices : (n, 6) boxes by id; features: vertices that take part, faces, edges; selection: labels of the
    vertices, and which of ``pairs=`` are wanted. Returns counts of VF, EE, and pairs compared; of what does not fit
    into the arrays, only the number.
    """
    vertices, faces, edges = features
    bins = max(1, min(_BINS, len(edges) // 2))
    axis, lower, scale = _axis_of(of_vertices, vertices, bins)
    line = axis, lower, scale, bins
    v_boxes, v_ids, v_start = _sorted_along(line, of_vertices, vertices.reshape((-1, 1)), vertices)
    f_boxes, f_ids, f_start = _sorted_along(line, of_vertices, faces, np.arange(len(faces), dtype=np.int32))
    e_boxes, e_ids, e_start = _sorted_along(line, of_vertices, edges, np.arange(len(edges), dtype=np.int32))
    vf = ee = compared = 0
    for i in range(len(v_ids)):  # faces that begin where the vertex is
        v, box_i = v_ids[i], box(v_boxes, i)
        begin = f_start[_bin(line, v_boxes[i, 2 * axis])]
        end = f_start[_bin(line, v_boxes[i, 2 * axis + 1]) + 1]
        compared += end - begin
        for j in range(begin, end):
            if overlap(box_i, v_boxes, i, f_boxes, j):
                vf = _add_vertex_face(v, f_ids[j], faces, selection, vertex_face, vf)
    for j in range(len(f_ids)):  # vertices that begin later, where the face is
        f, box_j = f_ids[j], box(f_boxes, j)
        begin = v_start[_bin(line, f_boxes[j, 2 * axis]) + 1]
        end = v_start[_bin(line, f_boxes[j, 2 * axis + 1]) + 1]
        compared += end - begin
        for i in range(begin, end):
            if overlap(box_j, f_boxes, j, v_boxes, i):
                vf = _add_vertex_face(v_ids[i], f, faces, selection, vertex_face, vf)
    for i in range(len(e_ids)):
        a, box_i = e_ids[i], box(e_boxes, i)
        a0, a1, end = edges[a, 0], edges[a, 1], e_start[_bin(line, e_boxes[i, 2 * axis + 1]) + 1]
        compared += end - i - 1
        for j in range(i + 1, end):
            if overlap(box_i, e_boxes, i, e_boxes, j):
                b = e_ids[j]
                b0, b1 = edges[b, 0], edges[b, 1]
                if a0 != b0 and a0 != b1 and a1 != b0 and a1 != b1 and _is_wanted(selection, a0, b0):
                    if ee < len(edge_edge):
                        edge_edge[ee, 0], edge_edge[ee, 1] = min(a, b), max(a, b)
                    ee += 1
    return vf, ee, compared


@helper
def _add_vertex_face(v, f, faces, selection, vertex_face, count):
    if v == faces[f, 0] or v == faces[f, 1] or v == faces[f, 2] or not _is_wanted(selection, v, faces[f, 0]):
        return count
    if count < len(vertex_face):
        vertex_face[count, 0], vertex_face[count, 1] = v, f
    return count + 1


@helper
def _is_wanted(selection, v, w):
    labels, wanted = selection
    return wanted == ALL or (labels[v] == labels[w]) == (wanted == SELF)


@helper
def _axis_of(of_vertices, vertices, bins):
    """The axis along which the vertices extend most, where they begin, and bins for each unit of length."""
    axis, widest, start = 0, 0.0, 0.0
    for c in range(3):
        lower, upper = np.inf, -np.inf
        for v in vertices:
            lower, upper = min(lower, of_vertices[v, 2 * c]), max(upper, of_vertices[v, 2 * c])
        if upper - lower > widest:
            axis, widest, start = c, upper - lower, lower
    if not (widest > 1e-290 and widest < 1e290):  # all in one bin
        return axis, start, 0.0
    return axis, start, bins / widest


@helper
def _bin(line, x):
    """Which one a coordinate falls into: never an earlier one than a smaller coordinate."""
    _, start, scale, bins = line
    if scale == 0.0 or not x > start:
        return 0
    return int(min(bins - 1.0, (x - start) * scale))


@helper
def _sorted_along(line, of_vertices, groups, ids):
    """Boxes of groups of vertices, (k, members), and their ids, bin by bin of where they begin; and the first row of
    each bin."""
    axis, bins, count = line[0], line[3], len(groups)
    boxes, start, place = np.empty((count, 6)), np.zeros(bins + 1, np.int64), np.empty(count, np.int64)
    for g in range(count):
        lower = of_vertices[groups[g, 0], 2 * axis]
        for k in range(1, groups.shape[1]):
            lower = min(lower, of_vertices[groups[g, k], 2 * axis])
        place[g] = _bin(line, lower)
        start[place[g] + 1] += 1
    for b in range(bins):
        start[b + 1] += start[b]
    in_order, end = np.empty(count, np.int32), start.copy()
    for g in range(count):
        row = end[place[g]]
        end[place[g]] += 1
        in_order[row] = ids[g]
        for c in range(0, 6, 2):
            lower, upper = of_vertices[groups[g, 0], c], of_vertices[groups[g, 0], c + 1]
            for k in range(1, groups.shape[1]):
                lower = min(lower, of_vertices[groups[g, k], c])
                upper = max(upper, of_vertices[groups[g, k], c + 1])
            boxes[row, c], boxes[row, c + 1] = lower, upper
    return boxes, in_order, start
