"""Points that follow a mesh of tetrahedra: each is given the nearest one, and its coordinates there."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.vec3 import cross, dot, row, sub
from pliant.bounds.kdops import distance_to_box
from pliant.elementary.distance import shortest_level
from pliant.hierarchy.build import fit_nodes, split_elements
from pliant.mesh.volumes import as_volume
from pliant.runtime.arrays import MeshError, as_positions
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import SERIAL

_STACK = 64  # one sibling stays behind on each of at most 31 levels
_FLAT = 1e-12  # volume over the cube of the longest edge: weights in flatter cells have no digit left


class NotTetrahedraError(MeshError):
    """A mesh that points are to follow has other cells than tetrahedra, or none that has a volume."""


def embed(volume: Any, rest: Any, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """The tetrahedron that each point follows, and its barycentric coordinates there.

    volume : VolumeMesh of tetrahedra, of either orientation; rest : (v, 3) its positions; points : (n, 3)
    Returns cells (n,) int32 and weights (n, 4) of sum 1: the cell that holds the point, or else the nearest one, of
    equally near ones the first. Weights are negative where a point is outside. Flat cells are left out.
    """
    volume, rest, points = as_volume(volume), as_positions(rest, "rest"), as_positions(points, "points")
    volume.require_in_range(len(rest))
    tetrahedra = volume._cells["tetra"]
    if len(tetrahedra) < len(volume.types):
        raise NotTetrahedraError(f"points follow tetrahedra only, but the mesh is {volume!r}")
    ids = _not_flat(rest[tetrahedra])
    if len(ids) == 0:
        raise NotTetrahedraError(f"no cell of {volume!r} has a volume")
    # By a power of two, which is exact: products of three lengths stay in the range of doubles.
    factor = 0.25 * unit_factor((0.25 * max(np.abs(rest).max(), np.abs(points).max(initial=0.0), 1e-300),) * 3)
    x, points = rest[tetrahedra[ids]] * factor, points * factor
    bounds = np.stack((x.min(axis=1), x.max(axis=1)), axis=2).reshape(-1, 6)
    tree = split_elements(bounds, SERIAL)
    places = np.take(bounds, tree.order, axis=0)
    nodes = fit_nodes(places, tree.begin)
    cells, weights = np.empty(len(points), np.int32), np.empty((len(points), 4))
    _find_nearest((nodes, tree.begin, places, tree.order), x[tree.order], points, cells, weights)
    return ids[cells], weights


def _not_flat(x: np.ndarray) -> np.ndarray:
    """Ids (k,) int32 of the cells x (c, 4, 3) that have a volume."""
    edges = x[:, 1:] - x[:, :1]
    longest = np.max([np.abs(x[:, i] - x[:, j]).max(axis=1) for i in range(4) for j in range(i)], axis=0)
    volume = np.abs(np.linalg.det(edges / np.where(longest > 0, longest, 1)[:, None, None]))
    return np.flatnonzero(volume > _FLAT).astype(np.int32)


@kernel
def _find_nearest(tree, x, points, cells, weights):
    """x : (c, 4, 3) corners of cells by place; tree: bounds of nodes, beginnings of leaves, bounds and ids by place."""
    nodes, begin, places, order = tree
    stack, bound, leaves = np.empty(_STACK, np.int64), np.empty(_STACK), len(begin) - 1
    for i in range(len(points)):
        p, best, nearest = row(points, i), np.inf, 0
        stack[0], bound[0], top = 1, 0.0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            if bound[top] > best:
                continue
            if node < leaves:
                near, far = distance_to_box(p, nodes, 2 * node), distance_to_box(p, nodes, 2 * node + 1)
                swap = far < near
                stack[top], bound[top] = (2 * node, near) if swap else (2 * node + 1, far)
                stack[top + 1], bound[top + 1] = (2 * node + 1, far) if swap else (2 * node, near)
                top += 2
                continue
            for k in range(begin[node - leaves], begin[node - leaves + 1]):
                if distance_to_box(p, places, k) <= best:
                    found, w = _cell_distance(x[k], p)
                    if found < best or (found == best and order[k] < nearest):
                        best, nearest = found, order[k]
                        weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3] = w
        cells[i] = nearest


@helper
def _cell_distance(x, p):
    """Squared distance of a tetrahedron, 0 inside of it, and the weights of its corners."""
    a, b, c, d = row(x, 0), row(x, 1), row(x, 2), row(x, 3)
    u, v, w, q = sub(b, a), sub(c, a), sub(d, a), sub(p, a)
    volume = dot(u, cross(v, w))
    wb, wc, wd = dot(q, cross(v, w)) / volume, dot(u, cross(q, w)) / volume, dot(u, cross(v, q)) / volume
    wa = 1.0 - wb - wc - wd
    weights = (wa, wb, wc, wd)
    if min(min(wa, wb), min(wc, wd)) >= 0.0:
        return 0.0, weights
    # The nearest point is on a face that has p beyond it.
    best = np.inf
    if wa < 0.0:
        best = min(best, _face_distance(p, b, c, d))
    if wb < 0.0:
        best = min(best, _face_distance(p, a, c, d))
    if wc < 0.0:
        best = min(best, _face_distance(p, a, b, d))
    if wd < 0.0:
        best = min(best, _face_distance(p, a, b, c))
    return best, weights


@helper
def _face_distance(p, a, b, c):
    r = shortest_level(VERTEX_FACE, sub(p, a), sub(a, b), sub(a, c))[3]
    return dot(r, r)
