"""Faces of a skin as bound, in a tree: the closest one to a point of the flesh.

As bound, no part of a body is in another one. So the way out of it is searched for there: a vertex in a posed cell has
a place in the cell as bound, by its barycentric coordinates, and the closest face to that place is the skin over it,
however the pose has folded the rest of the body over both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, row, scale, sub
from pliant.bounds.kdops import bound_union, bound_vertices, distance_to_box
from pliant.hierarchy.build import fit_nodes, split_elements
from pliant.runtime.jit import helper
from pliant.runtime.threads import SERIAL

_STACK = 64  # one sibling stays behind on each of at most 31 levels


class SkinTree(NamedTuple):
    rest: np.ndarray  # (n, 3) positions as bound
    faces: (
        np.ndarray
    )  # (k, 3 or more) int32, outward, in the order of the tree; what follows the corners is carried along
    objects: np.ndarray  # (k,) int32 object of each face
    nodes: np.ndarray
    begin: np.ndarray


def skin_tree(faces: np.ndarray, rest: np.ndarray, objects: np.ndarray) -> SkinTree:
    """objects : (n,) int32 object of each vertex"""
    bounds = bound_union(bound_vertices(rest, rest), faces[:, :3].copy())
    tree = split_elements(bounds, SERIAL)
    ordered = np.ascontiguousarray(faces[tree.order])
    nodes = fit_nodes(np.take(bounds, tree.order, axis=0), tree.begin, SERIAL)
    return SkinTree(rest, ordered, objects[ordered[:, 0]], nodes, tree.begin)


@helper
def closest_face(tree, p, who, x, normal, least):
    """Place of the closest face to p, and its distance; -1 if there is none.

    who : the object of the face, and a vertex v that is not one of its corners
    Only faces count that can keep the vertex out at x: it is behind them, and their normal is turned away from its
    own, the unit vector ``normal``, so far that the cosine is at most ``least``. Without a vertex (v = -1) all count.
    """
    item, v = who
    stack, bound, top, leaves = np.empty(_STACK, np.int64), np.empty(_STACK), 1, len(tree.begin) - 1
    stack[0], bound[0], best, found = 1, 0.0, np.inf, -1
    while top > 0:
        top -= 1
        node = stack[top]
        if bound[top] >= best:
            continue
        if node < leaves:
            near, far = distance_to_box(p, tree.nodes, 2 * node), distance_to_box(p, tree.nodes, 2 * node + 1)
            nearer = 2 * node + (1 if far < near else 0)
            stack[top], bound[top] = 4 * node + 1 - nearer, max(near, far)
            stack[top + 1], bound[top + 1] = nearer, min(near, far)
            top += 2
            continue
        for place in range(tree.begin[node - leaves], tree.begin[node - leaves + 1]):
            i, j, k = tree.faces[place, 0], tree.faces[place, 1], tree.faces[place, 2]
            if tree.objects[place] != item or i == v or j == v or k == v:
                continue
            a, b, c = row(tree.rest, i), row(tree.rest, j), row(tree.rest, k)
            away = sub(p, at_weights(a, b, c, weights_of_closest(p, a, b, c)))
            squared = dot(away, away)
            if squared < best and (v < 0 or _keeps_out(x, tree.faces[place], v, normal, least)):
                best, found = squared, place
    return found, np.sqrt(best)


@helper
def _keeps_out(x, face, v, normal, least):
    """Vertex v is behind the face, and the cosine between the normals of both is at most ``least``."""
    a = row(x, face[0])
    n = cross(sub(row(x, face[1]), a), sub(row(x, face[2]), a))
    return dot(n, sub(row(x, v), a)) <= 0.0 and dot(n, normal) <= least * np.sqrt(dot(n, n))


@helper
def at_weights(a, b, c, weights):
    return add(add(scale(a, weights[0]), scale(b, weights[1])), scale(c, weights[2]))


@helper
def weights_of_closest(p, a, b, c):
    """Barycentric coordinates of the point of triangle a b c that is closest to p, from the regions of its features
    (Ericson, Real-time collision detection, 5.1.5)."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    bp = sub(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    cp = sub(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    if not total > 0.0:
        return 1.0, 0.0, 0.0
    return va / total, vb / total, vc / total
