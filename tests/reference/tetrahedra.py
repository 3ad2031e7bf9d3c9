"""All vertices against all tetrahedra, by the signs of four volumes: in doubles where an error bound proves them, in
fractions where it does not."""

from __future__ import annotations

import numpy as np

from tests.reference import insides

_BOUND = 64 * 2.0**-53  # of a volume of three differences, relative to the sum of the magnitudes of its terms: generous


def _volume(a, b, c, d):
    """Sign of (b - a) x (c - a) . (d - a) of (k, 3) rows, 0 where doubles do not prove it."""
    u, v, w = b - a, c - a, d - a
    value, magnitude = np.zeros(len(u)), np.zeros(len(u))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        for sign, p, q in ((1, j, k), (-1, k, j)):
            term = u[:, i] * v[:, p] * w[:, q]
            value += sign * term
            magnitude += np.abs(term)
    return np.where(np.abs(value) > _BOUND * magnitude, np.sign(value), 0.0)


def _in_boxes(cells, x):
    """(k, 2) vertices, and cells whose boxes they are in and of which they are no corners; sorted."""
    lower, upper, vertices = x[cells].min(axis=1), x[cells].max(axis=1), np.unique(cells)
    k, *others = np.argsort(-np.ptp(x[vertices], axis=0)) if len(vertices) else range(3)  # the longest extent first
    vertices = vertices[np.argsort(x[vertices, k], kind="stable")]
    first = np.searchsorted(x[vertices, k], lower[:, k], "left")
    count = np.searchsorted(x[vertices, k], upper[:, k], "right") - first
    of = np.repeat(np.arange(len(cells)), count)
    v = vertices[np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + first[of]]
    for axis in others:
        kept = (x[v, axis] >= lower[of, axis]) & (x[v, axis] <= upper[of, axis])
        v, of = v[kept], of[kept]
    kept = (cells[of] != v[:, None]).all(axis=1)
    pairs = np.stack((v[kept], of[kept]), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def inside(cells, x):
    """(k, 2) vertices, and cells that hold them and of which they are no corners, sorted; how many are by fractions."""
    pairs = _in_boxes(cells, x)
    p, (a, b, c, d) = x[pairs[:, 0]], (x[cells[pairs[:, 1], i]] for i in range(4))
    signs = np.stack([_volume(p, b, c, d), _volume(a, p, c, d), _volume(a, b, p, d), _volume(a, b, c, p)])
    outside = (signs > 0).any(axis=0) & (signs < 0).any(axis=0)
    doubtful = ~outside & (signs == 0).any(axis=0)
    held = ~outside & ~doubtful
    for i in np.flatnonzero(doubtful):
        v, cell = pairs[i, 0], cells[pairs[i, 1]]
        at = dict(zip((v, *cell), insides.exactly(x[[v, *cell]])))
        held[i] = insides.holds("tetra", tuple(cell), at, at[v])
    return pairs[held], int(doubtful.sum())
