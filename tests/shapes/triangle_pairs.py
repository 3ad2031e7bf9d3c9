"""Pairs of triangles in motion, as arrays, and what is said of their features."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.filters.axes.triangle_features import CULLS, cull_pairs

CORNERS = (0, 1, 2), (3, 4, 5)
EDGES = (0, 1), (1, 2), (2, 0)
FEATURES = [(v, *CORNERS[1 if v < 3 else 0]) for v in range(6)]
FEATURES += [(*a, *(c + 3 for c in b)) for a in EDGES for b in EDGES]
ALL = (1 << len(CULLS)) - 1


def drifting(count, seed):
    """Triangles about as large as their distance, steps of all sizes; half of them moved so that two features meet."""
    rng = np.random.default_rng(seed)
    x0 = rng.standard_normal((count, 6, 3))
    x0[:, 3:] += rng.standard_normal((count, 1, 3))
    x1 = x0 + rng.standard_normal((count, 6, 3)) * 10.0 ** rng.uniform(-3, 0.3, (count, 1, 1))
    for i in range(0, count, 2):
        f, t = rng.integers(15), rng.random()
        split, sign, weights = (1, -1 if f >= 3 else 1, np.zeros(6)) if f < 6 else (2, 1, np.zeros(6))
        weights[list(FEATURES[f][:split])] = sign * rng.dirichlet(np.ones(split))
        weights[list(FEATURES[f][split:])] = -sign * rng.dirichlet(np.ones(4 - split))
        gap = weights @ ((1 - t) * x0[i] + t * x1[i])
        x0[i, :3] -= gap
        x1[i, :3] -= gap
    return x0, x1


def whole(count, seed, span=3):
    """Small integers: contact at both ends of the motion, in planes, on lines, at corners, nothing rounded."""
    rng = np.random.default_rng(seed)
    x0, x1 = rng.integers(-span, span + 1, (2, count, 6, 3)).astype(np.float64)
    x1[::2] = x0[::2] + rng.integers(-1, 2, (len(x0[::2]), 6, 3))
    x0[:, 3:, 0] += rng.choice([0, 0, span], (count, 1))
    return x0, x1


def degenerate(count, seed):
    """Triangles that are segments or points, coincident corners, corners that rest, one plane for all, all sizes."""
    rng = np.random.default_rng(seed)
    x0, x1 = whole(count, seed, 4)
    for i in range(count):
        for _ in range(rng.integers(0, 3)):
            p, q = rng.choice(6, 2, replace=False)
            how = rng.integers(3)
            if how != 1:
                x0[i, p] = x0[i, q]
            if how != 0:
                x1[i, p] = x1[i, q]
        if rng.random() < 0.2:
            x1[i] = x0[i]
        if rng.random() < 0.2:
            x0[i, :, 2] = x1[i, :, 2] = 0
        exponent = rng.choice([0, 0, 0, 30, -30, 300, -300, 600, -600])
        x0[i], x1[i] = np.ldexp(x0[i], exponent), np.ldexp(x1[i], exponent)
    return x0, x1


def one_by_one(x0, x1, **options):
    """hit, toi, toi_upper of the 15 queries, (k, 15) each."""
    answers = [
        (pliant.vertex_face if f < 6 else pliant.edge_edge)(x0[:, rows], x1[:, rows], **options)
        for f, rows in enumerate(map(list, FEATURES))
    ]
    return tuple(np.stack([getattr(a, name) for a in answers], axis=1) for name in ("hit", "toi", "toi_upper"))


def left_by(x0, x1, which=ALL, radii=0.0, tolerance=0.0):
    """(k, 15) bool: the pairs of features that conditions (bits) leave; and how many each took."""
    ids, left, culled, _ = cull_pairs(x0, x1, np.full((1, 6), radii), tolerance, which)
    kept = np.zeros((len(x0), 15), bool)
    kept[ids] = left[:, None] >> np.arange(15) & 1
    assert culled.sum() == (~kept).sum()
    return kept, culled
