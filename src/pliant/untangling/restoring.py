"""Edges get back towards the lengths that they had, and faces towards their areas: one after the other."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, row, scale, sub
from pliant.runtime.jit import kernel
from pliant.untangling.judging import FaceAreas

_FURTHEST = 0.3  # of the square root of a face's scale: no vertex is moved further by one face at a time


@kernel
def restore_lengths(x, edges, length, held, sweeps):
    """Edges (e, 2) get back towards their lengths (e,), one after the other; x is changed."""
    for _ in range(sweeps):
        for e in range(len(edges)):
            a, b = edges[e, 0], edges[e, 1]
            if held[a] and held[b]:
                continue
            d0, d1, d2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
            now = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
            if not now > 0.0:
                continue
            part = 0.5 * (now - length[e]) / now
            if held[a] or held[b]:
                part *= 2.0
            if not held[a]:
                x[a, 0] += part * d0
                x[a, 1] += part * d1
                x[a, 2] += part * d2
            if not held[b]:
                x[b, 0] -= part * d0
                x[b, 1] -= part * d1
                x[b, 2] -= part * d2


def restore_areas(
    x: np.ndarray, faces: np.ndarray, given: FaceAreas, share: float, held: np.ndarray, sweeps: int
) -> None:
    """Areas of faces get back to within a share of their scale from what was given; x is changed."""
    some = np.flatnonzero(given.changes(faces, x) > share)
    near = np.zeros(len(x), bool)
    near[faces[some]] = True
    some = np.flatnonzero(near[faces].any(axis=1) & (given.scale > 0.0))  # what moves these may not harm others
    if len(some):
        _restore_areas(x, faces[some], given.area[some], given.scale[some], share, held, sweeps)


@kernel
def _restore_areas(x, faces, area, scale_of, share, held, sweeps):
    for _ in range(sweeps):
        for f in range(len(faces)):
            u, v, w = row(x, faces[f, 0]), row(x, faces[f, 1]), row(x, faces[f, 2])
            n = cross(sub(v, u), sub(w, u))
            length = np.sqrt(dot(n, n))
            now, slack = 0.5 * length, share * scale_of[f]
            if not length > 0.0 or abs(now - area[f]) <= slack:
                continue
            excess = now - area[f] - slack if now > area[f] else now - area[f] + slack
            n = scale(n, 0.5 / length)
            slopes = cross(n, sub(w, v)), cross(n, sub(u, w)), cross(n, sub(v, u))
            total = 0.0
            for k in range(3):
                if not held[faces[f, k]]:
                    total += dot(slopes[k], slopes[k])
            if not total > 0.0:
                continue
            most = _FURTHEST * np.sqrt(scale_of[f])
            for k in range(3):
                if held[faces[f, k]]:
                    continue
                way = scale(slopes[k], -excess / total)
                far = np.sqrt(dot(way, way))
                moved = add(row(x, faces[f, k]), way if far <= most else scale(way, most / far))
                x[faces[f, k], 0], x[faces[f, k], 1], x[faces[f, k], 2] = moved
