"""The surface of objects as the way out of them: where an edge leaves an object, and where it is closest.

An exit is a face that exactly one solid has. Its normal points away from the middle of that solid, so that inverted
cells, and meshes with all corners in a mirrored order, have their way out where others have it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.vec3 import add, cross, dot, max_norm, row, scale, sub
from pliant.bounds.kdops import bound_union, bound_vertices, distance_to_box
from pliant.elementary.distance import shortest, spread_of
from pliant.hierarchy.build import fit_nodes, label_ranges, split_elements
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

_STACK = 64  # one sibling stays behind on each of at most 31 levels
_NO_RADII = (0.0, 0.0, 0.0, 0.0)
_MARGIN = 1e-9  # beyond the ends of an edge and the sides of a face, so that none slips through between two faces
_GRAZING = 1e-12  # sine of the angle between edge and face below which it does not lead out
_ON_FACE = 1e-12  # the closest point says nothing about the direction any more; coordinates are at most 1


class Exits(NamedTuple):
    """Faces that lead out, in the order of a tree."""

    x: np.ndarray  # (n, 3) positions, scaled by a power of two
    corners: np.ndarray  # (k, 3) int32
    normals: np.ndarray  # (k, 3) unit vectors, outward; 0 where the face has no area
    faces: np.ndarray  # (k,) int32 ids
    labels: np.ndarray  # (k,) int32 object of each
    nodes: np.ndarray
    begin: np.ndarray
    label_range: np.ndarray  # of each node
    vertex_labels: np.ndarray  # (n,) int32
    cell_start: np.ndarray  # cells at each vertex
    vertex_cells: np.ndarray
    cell_corners: np.ndarray  # (c, 8) int32


def exits_of(volume: VolumeMesh, x: np.ndarray, labels: np.ndarray, wanted: np.ndarray, pool: ThreadPool) -> Exits:
    """Of the objects that are wanted, (objects,) bool by label."""
    ids = np.flatnonzero(volume.solids_at_faces == 1).astype(np.int32)
    ids = ids[wanted[labels[volume.faces[ids, 0]]]]
    bounds = bound_union(bound_vertices(x, x, pool=pool), volume.faces[ids], pool)
    tree = split_elements(bounds, pool)
    ids = ids[tree.order]
    corners = volume.faces[ids]
    middle_of = volume.corners[volume.face_cells.items[volume.face_cells.start[ids]]]
    at, normals = labels[corners[:, 0]], np.zeros(corners.shape)
    _find_outward(x, corners, middle_of, normals)
    return Exits(
        x, corners, normals, ids, at,
        fit_nodes(np.take(bounds, tree.order, axis=0), tree.begin, pool), tree.begin, label_ranges(at, tree.begin),
        labels, *volume._vertex_cells, volume._corners,
    )  # fmt: skip


@kernel
def _find_outward(x, corners, cells, out):
    """out : (k, 3), 0 at first; unit normals of faces, away from the corners of their cells; of those with 8 columns,
    some repeat."""
    for i in range(len(corners)):
        a, b, c = row(x, corners[i, 0]), row(x, corners[i, 1]), row(x, corners[i, 2])
        e, f = sub(b, a), sub(c, a)
        factor = unit_factor((max_norm(e), max_norm(f), 0.0))  # or the area of a small face vanishes
        n = cross(scale(e, factor), scale(f, factor))
        length = np.sqrt(dot(n, n))
        if length == 0.0:
            continue
        inward = 0.0
        for k in range(cells.shape[1]):
            inward += dot(n, scale(sub(row(x, cells[i, k]), a), factor))
        sign = -1.0 if inward > 0.0 else 1.0
        # The corners of an upright cell are behind the face; one that is flat keeps the order of its face.
        out[i, 0], out[i, 1], out[i, 2] = scale(n, sign / length)


@helper
def _is_own(exits, v, place):
    """The face has a vertex in common with a cell at v."""
    for k in range(3):
        for s in range(exits.cell_start[v], exits.cell_start[v + 1]):
            cell = exits.vertex_cells[s]
            for c in range(8):
                if exits.cell_corners[cell, c] == exits.corners[place, k]:
                    return True
    return False


@helper
def _leads_out(exits, place, label, v):
    """A face of the wanted object that is not next to vertex v: its own surroundings are no way out."""
    return exits.labels[place] == label and not (exits.vertex_labels[v] == label and _is_own(exits, v, place))


@kernel
def leave_along_edges(exits, edges, labels, begin, end, out):
    """Where edges (k, 2), from a vertex inside to one outside of the object labels[i], leave it first.

    out : (k,) part of the way, and (k,) place of the exit or -1; rows begin .. end - 1 are set. Of exits at one point
    the one with the smallest face id counts, whatever the tree.
    """
    part, exit_place = out
    stack, leaves = np.empty(_STACK, np.int64), len(exits.begin) - 1
    for i in range(begin, end):
        v, label, best, found = edges[i, 0], labels[i], np.inf, -1
        p, d = row(exits.x, v), sub(row(exits.x, edges[i, 1]), row(exits.x, v))
        box, top = _box_around(p, row(exits.x, edges[i, 1])), 1
        stack[0] = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if label < exits.label_range[node, 0] or label > exits.label_range[node, 1]:
                continue
            if not _meets(box, exits.nodes, node):
                continue
            if node < leaves:
                stack[top], stack[top + 1] = 2 * node, 2 * node + 1
                top += 2
                continue
            for place in range(exits.begin[node - leaves], exits.begin[node - leaves + 1]):
                t = _crossing(exits, place, p, d)
                if t > best or (t == best and (found < 0 or exits.faces[place] > exits.faces[found])):
                    continue
                if _leads_out(exits, place, label, v):
                    best, found = t, place
        part[i], exit_place[i] = best, found


@helper
def _box_around(p, q):
    margin = _MARGIN * (abs(p[0] - q[0]) + abs(p[1] - q[1]) + abs(p[2] - q[2]))
    return (
        (min(p[0], q[0]) - margin, min(p[1], q[1]) - margin, min(p[2], q[2]) - margin),
        (max(p[0], q[0]) + margin, max(p[1], q[1]) + margin, max(p[2], q[2]) + margin),
    )


@helper
def _meets(box, nodes, i):
    for k in range(3):
        if box[0][k] > nodes[i, 2 * k + 1] or nodes[i, 2 * k] > box[1][k]:
            return False
    return True


@helper
def _corners(exits, place):
    f = exits.corners
    return row(exits.x, f[place, 0]), row(exits.x, f[place, 1]), row(exits.x, f[place, 2])


@helper
def _crossing(exits, place, p, d):
    """t, from 0 to 1, where p + t d goes out through a face; infinite where it does not."""
    n = row(exits.normals, place)
    slope = dot(n, d)
    if not slope > _GRAZING * np.sqrt(dot(d, d)):
        return np.inf
    a, b, c = _corners(exits, place)
    t = dot(n, sub(a, p)) / slope
    if t < -_MARGIN or t > 1.0 + _MARGIN:
        return np.inf
    q = add(p, scale(d, t))
    full = cross(sub(b, a), sub(c, a))
    least = -_MARGIN * dot(full, full)
    u, v, w = sub(a, q), sub(b, q), sub(c, q)
    if min(dot(cross(u, v), full), min(dot(cross(v, w), full), dot(cross(w, u), full))) < least:
        return np.inf
    return min(1.0, max(0.0, t))


@kernel
def closest_exits(exits, rows, vertices, labels, depth, direction):
    """Distance and direction to the closest exit of object labels[i] from vertices[i], for the rows that are named.

    Rows of objects without one are left as they are. Of exits at one distance the one with the smallest face id counts.
    A vertex on a face without area takes the normal of the closest one that has some, if that is as close; it mostly
    is, at the longest side. Where all is without area, whatever leads away from the line is a way out.
    """
    stack, bound, leaves = np.empty(_STACK, np.int64), np.empty(_STACK), len(exits.begin) - 1
    for i in rows:
        v, label, best, found, away = vertices[i], labels[i], np.inf, -1, (0.0, 0.0, 0.0)
        broad, facing = np.inf, -1  # the closest one with an area
        p, top = row(exits.x, vertices[i]), 1
        stack[0], bound[0] = 1, 0.0
        while top > 0:
            top -= 1
            node = stack[top]
            if bound[top] > broad or label < exits.label_range[node, 0] or label > exits.label_range[node, 1]:
                continue
            if node < leaves:
                near, far = distance_to_box(p, exits.nodes, 2 * node), distance_to_box(p, exits.nodes, 2 * node + 1)
                nearer = 2 * node + (1 if far < near else 0)
                stack[top], bound[top] = 4 * node + 1 - nearer, max(near, far)
                stack[top + 1], bound[top + 1] = nearer, min(near, far)
                top += 2
                continue
            for place in range(exits.begin[node - leaves], exits.begin[node - leaves + 1]):
                has_area = max_norm(row(exits.normals, place)) > 0.0
                r = _vector_to(exits, place, p)
                squared = dot(r, r)
                closest = _comes_before(exits, squared, place, best, found)
                closest_broad = has_area and _comes_before(exits, squared, place, broad, facing)
                if (closest or closest_broad) and _leads_out(exits, place, label, v):
                    if closest:
                        best, found, away = squared, place, r
                    if closest_broad:
                        broad, facing = squared, place
        if found >= 0:
            depth[i] = np.sqrt(best)
            if depth[i] > _ON_FACE:
                unit = scale(away, 1.0 / depth[i])
            elif facing >= 0 and np.sqrt(broad) <= _ON_FACE:
                unit = row(exits.normals, facing)
            else:
                unit = _away_from(exits, found)
            direction[i, 0], direction[i, 1], direction[i, 2] = unit


@helper
def _comes_before(exits, squared, place, best, found):
    """Closer than the best so far, or as close and of a smaller id."""
    return squared < best or (squared == best and (found < 0 or exits.faces[place] <= exits.faces[found]))


@helper
def _away_from(exits, place):
    """A unit vector across the longest side of a face: any direction leads away from a point."""
    a, b, c = _corners(exits, place)
    d = sub(b, a)
    for side in (sub(c, a), sub(c, b)):
        if max_norm(side) > max_norm(d):
            d = side
    d = scale(d, unit_factor((max_norm(d), 0.0, 0.0)))
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = (1.0, 0.0, 0.0) if x <= min(y, z) else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    if max(x, max(y, z)) == 0.0:
        return axis
    n = cross(d, axis)
    return scale(n, 1.0 / np.sqrt(dot(n, n)))


@helper
def _vector_to(exits, place, p):
    """From p to the closest point of a face."""
    a, b, c = _corners(exits, place)
    spread = spread_of(VERTEX_FACE, (p, a, b, c), _NO_RADII)
    _, _, _, r, _ = shortest(VERTEX_FACE, spread)
    return scale(r, -1.0)
