"""Which way contours get shorter: along their own planes, edge by edge."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, row, scale, sub
from pliant.runtime.jit import kernel
from pliant.untangling.pushing import Push, unit_normal
from pliant.untangling.window import Tangle, Window


def push_contours(window: Window, x: np.ndarray, tangle: Tangle, step: float, rows: np.ndarray) -> Push:
    """Along which contours get shorter (Volino and Magnenat-Thalmann, Resolving surface collisions through intersection
    contour minimization, 2006), by a step in sizes of vertices; rows : (c,) bool, which crossings"""
    found, push = tangle.crossings, Push(len(x))
    sums = np.zeros((len(x), 4))
    shorten(
        (x, window.mesh._faces, window.edges, window.edge_faces),
        (found.edges, found.faces, found.parameter, found.weights), rows, window.held, sums,
    )  # fmt: skip
    has = sums[:, 3] > 0.0
    push.wanted[has] = step * window.size[has, None] * sums[has, :3] / sums[has, 3:]
    push.weight[has] = np.minimum(sums[has, 3], 1.0)
    return push


@kernel
def shorten(surface, crossings, rows, held, sums):
    """sums : (n, 4) displacements of unit size at most, and weights."""
    x, faces, edges, edge_faces = surface
    for k in range(len(rows)):
        if not rows[k]:
            continue
        e, f, t = crossings[0][k], crossings[1][k], crossings[2][k]
        n = unit_normal(x, faces, f)
        a, b = row(x, edges[e, 0]), row(x, edges[e, 1])
        d = sub(b, a)
        length = np.sqrt(dot(d, d))
        if not length > 0.0:
            continue
        d = scale(d, 1.0 / length)
        r = 0.0, 0.0, 0.0
        for i in range(2):
            g = edge_faces[e, i]
            if g >= 0:
                m = unit_normal(x, faces, g)
                line, inwards = cross(m, n), cross(m, d)
                corner = 0
                for c in range(3):
                    if faces[g, c] != edges[e, 0] and faces[g, c] != edges[e, 1]:
                        corner = faces[g, c]
                if dot(inwards, sub(row(x, corner), a)) < 0.0:
                    inwards = scale(inwards, -1.0)
                if dot(line, inwards) < 0.0:
                    line = scale(line, -1.0)
                size = np.sqrt(dot(line, line))
                if size > 1e-12:
                    r = add(r, scale(line, 1.0 / size))
        slope = dot(d, n)
        if abs(slope) < 0.05:
            slope = 0.05 if slope >= 0.0 else -0.05
        way = sub(r, scale(n, dot(r, d) / slope))
        size = np.sqrt(dot(way, way))
        if not size > 1e-9:
            continue
        way = scale(way, min(1.0, 1.0 / size))
        face_is_held = held[faces[f, 0]] and held[faces[f, 1]] and held[faces[f, 2]]
        edge_is_held = held[edges[e, 0]] and held[edges[e, 1]]
        for c in range(2):
            part = t if c == 1 else 1.0 - t
            for axis in range(3):
                sums[edges[e, c], axis] += part * way[axis] * (2.0 if face_is_held else 1.0)
            sums[edges[e, c], 3] += part
        for c in range(3):
            part = crossings[3][k, c]
            for axis in range(3):
                sums[faces[f, c], axis] -= part * way[axis] * (2.0 if edge_is_held else 1.0)
            sums[faces[f, c], 3] += part
