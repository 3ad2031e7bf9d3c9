"""Distance of two features at one time, and conservative advancement: methods that share nothing with `rational`.

A query is x : (..., 4, 3), its features two tuples of rows as in `queries`. Arrays of Fractions work too, exactly.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def differences(features, x):
    """(..., j, 3): two features meet where the convex hull of the differences of their points holds the origin."""
    a, b = (x[..., list(rows), :] for rows in features)
    return (a[..., :, None, :] - b[..., None, :, :]).reshape(*x.shape[:-2], -1, 3)


def distance_squared(features, x, flat=0):
    """(...): between the two features. `flat` is where a triangle's area counts as none, relative; 0 for Fractions.

    The hull of the differences is a triangle or a parallelogram, or less: its nearest point is the foot of the normal
    onto a triple or a pair of them, or one of them.
    """
    d = differences(features, x)
    corners = range(d.shape[-2])
    best = (d * d).sum(axis=-1).min(axis=-1)
    for i, j in combinations(corners, 2):
        p, u = d[..., i, :], d[..., j, :] - d[..., i, :]
        length = (u * u).sum(axis=-1)
        s = -(p * u).sum(axis=-1) / np.where(length == 0, 1, length)
        nearest = p + s[..., None] * u
        best = np.where((s >= 0) & (s <= 1), np.minimum(best, (nearest * nearest).sum(axis=-1)), best)
    for i, j, k in combinations(corners, 3):
        best = np.minimum(best, _to_triangle(d[..., i, :], d[..., j, :], d[..., k, :], best, flat))
    return best


def _to_triangle(p, q, r, otherwise, flat):
    u, v = q - p, r - p
    uu, uv, vv = ((a * b).sum(axis=-1) for a, b in ((u, u), (u, v), (v, v)))
    pu, pv = (p * u).sum(axis=-1), (p * v).sum(axis=-1)
    area = uu * vv - uv * uv
    solid = area > flat * uu * vv
    area = np.where(solid, area, 1)
    s, t = (uv * pv - vv * pu) / area, (uv * pu - uu * pv) / area
    nearest = p + s[..., None] * u + t[..., None] * v
    return np.where(solid & (s >= 0) & (t >= 0) & (s + t <= 1), (nearest * nearest).sum(axis=-1), otherwise)


def speed_squared(features, x0, x1):
    """(...): a bound of how fast the distance changes."""
    d = differences(features, x1 - x0)
    return (d * d).sum(axis=-1).max(axis=-1)


def advance(features, x0, x1, near=1e-5):
    """The time that conservative advancement stops at, and whether it stopped because the features are near."""
    # Nothing moves: any step leads to the end.
    speed = np.maximum(np.sqrt(speed_squared(features, x0, x1)), 1e-300)
    time, stuck = np.zeros(len(x0)), np.zeros(len(x0), dtype=bool)
    active = np.arange(len(x0))
    while len(active):
        t = time[active, None, None]
        gap = np.sqrt(distance_squared(features, (1 - t) * x0[active] + t * x1[active], flat=1e-13))
        stuck[active] = gap < near
        # The end counts too, so nothing is done before it was looked at from exactly there.
        done = stuck[active] | (time[active] == 1)
        time[active] = np.where(done, time[active], np.minimum(time[active] + 0.99 * gap / speed[active], 1))
        active = active[~done]
    return time, stuck
