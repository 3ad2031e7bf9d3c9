"""The two elements of two meshes that are closest to each other: two trees, from the top, the nearer pair first."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.arithmetic.vec3 import row
from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.elementary.triangle_advance import QUADS
from pliant.elementary.triangle_distance import closest_features, triangle_distances
from pliant.hierarchy.build import Tree, fit_nodes, split_elements
from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool

_STACK = 4 * 64  # two pairs stay behind on each of at most 62 levels


def nearest_elements(
    corners_a: np.ndarray, xa: np.ndarray, corners_b: np.ndarray, xb: np.ndarray, pool: ThreadPool
) -> tuple[float, np.ndarray, tuple[int, int]]:
    """The distance of two meshes without intersection, the closest points (2, 3), and the elements they are on."""
    largest = max(float(np.abs(xa).max()), float(np.abs(xb).max()), 1e-300)
    factor = 0.25 * unit_factor((0.25 * largest,) * 3)
    xa, xb = xa * factor, xb * factor
    tree_a, nodes_a, places_a = _tree(corners_a, xa, pool)
    tree_b, nodes_b, places_b = _tree(corners_b, xb, pool)
    i, j = nearest_pair(
        (nodes_a, tree_a.begin, places_a), (nodes_b, tree_b.begin, places_b),
        xa, xb, corners_a[tree_a.order], corners_b[tree_b.order], QUADS,
    )  # fmt: skip
    i, j = int(tree_a.order[i]), int(tree_b.order[j])
    x = np.concatenate((xa[corners_a[i]], xb[corners_b[j]]))
    distance, weights, _ = triangle_distances(x[None])
    points = np.stack((weights[0, :3] @ x[:3], -weights[0, 3:] @ x[3:])) / factor
    return float(distance[0]) / factor, points, (i, j)


def _tree(corners: np.ndarray, x: np.ndarray, pool: ThreadPool) -> tuple[Tree, np.ndarray, np.ndarray]:
    bounds = bound_union(bound_vertices(x, x, pool=pool), corners, pool)
    tree = split_elements(bounds, pool)
    places = np.take(bounds, tree.order, axis=0)
    return tree, fit_nodes(places, tree.begin, pool), places


@kernel
def nearest_pair(a, b, xa, xb, corners_a, corners_b, quads):
    """Places of the closest elements; a, b: bounds of nodes, beginnings of leaves, bounds of elements by place."""
    stack, bound = np.empty((_STACK, 2), np.int64), np.empty(_STACK)
    leaves_a, leaves_b = len(a[1]) - 1, len(b[1]) - 1
    best, best_i, best_j = np.inf, 0, 0
    stack[0, 0], stack[0, 1], bound[0] = 1, 1, 0.0
    top = 1
    while top > 0:
        top -= 1
        m, n = stack[top, 0], stack[top, 1]
        if bound[top] > best:
            continue
        if m >= leaves_a and n >= leaves_b:
            for i in range(a[1][m - leaves_a], a[1][m - leaves_a + 1]):
                for j in range(b[1][n - leaves_b], b[1][n - leaves_b + 1]):
                    if _box_distance(a[2], i, b[2], j) < best:
                        corners = *_rows(xa, corners_a, i), *_rows(xb, corners_b, j)
                        length = closest_features(corners, quads)[4]
                        found = length * length
                        if found < best:
                            best, best_i, best_j = found, i, j
            continue
        split_a = n >= leaves_b or (m < leaves_a and _size(a[0], m) >= _size(b[0], n))
        for k in range(2):
            stack[top + k, 0], stack[top + k, 1] = (2 * m + k, n) if split_a else (m, 2 * n + k)
            bound[top + k] = _box_distance(a[0], stack[top + k, 0], b[0], stack[top + k, 1])
        if bound[top] < bound[top + 1]:  # the nearer one on top
            for c in range(2):
                stack[top, c], stack[top + 1, c] = stack[top + 1, c], stack[top, c]
            bound[top], bound[top + 1] = bound[top + 1], bound[top]
        top += 2
    return best_i, best_j


@helper
def _box_distance(a, i, b, j):
    """Squared distance of two boxes, less a little for rounding; infinite where one is empty."""
    total = 0.0
    for c in range(0, 6, 2):
        apart = max(0.0, max(a[i, c] - b[j, c + 1], b[j, c] - a[i, c + 1]))
        total += apart * apart
    return total * (1.0 - 1e-14)


@helper
def _size(bounds, i):
    return bounds[i, 1] - bounds[i, 0] + bounds[i, 3] - bounds[i, 2] + bounds[i, 5] - bounds[i, 4]


@helper
def _rows(x, corners, i):
    return row(x, corners[i, 0]), row(x, corners[i, 1]), row(x, corners[i, 2])
