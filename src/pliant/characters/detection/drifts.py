"""How far vertices have drifted from where they were, as seen from a part of the body: what ``clearances`` spends."""

from __future__ import annotations

from pliant.runtime.jit import helper

_DRIFT_ERROR = 2.0**-49
_SMALLEST, _LARGEST = 1e-250, 1e250  # beyond, products underflow or overflow


@helper
def middle_of(points, begin, end):
    """The mean of columns begin .. end - 1 of (3, k) points."""
    c0 = c1 = c2 = 0.0
    for m in range(begin, end):
        c0, c1, c2 = c0 + points[0, m], c1 + points[1, m], c2 + points[2, m]
    share = 1.0 / (end - begin)
    return c0 * share, c1 * share, c2 * share


@helper
def inverse_of(a):
    """Of a matrix of nine numbers, row by row; 0 where there is none, which proves nothing (``drift_error``)."""
    k0, k1, k2 = a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6]
    determinant = a[0] * k0 + a[1] * k1 + a[2] * k2
    f = 1.0 / determinant if abs(determinant) > _SMALLEST else 0.0
    return (
        k0 * f, (a[2] * a[7] - a[1] * a[8]) * f, (a[1] * a[5] - a[2] * a[4]) * f,
        k1 * f, (a[0] * a[8] - a[2] * a[6]) * f, (a[2] * a[3] - a[0] * a[5]) * f,
        k2 * f, (a[1] * a[6] - a[0] * a[7]) * f, (a[0] * a[4] - a[1] * a[3]) * f,
    )  # fmt: skip


@helper
def inverse_gram(places, begin, end):
    """The inverse of the sum of y y^T over columns of (3, k) places."""
    g00 = g01 = g02 = g11 = g12 = g22 = 0.0
    for i in range(begin, end):
        y0, y1, y2 = places[0, i], places[1, i], places[2, i]
        g00, g01, g02 = g00 + y0 * y0, g01 + y0 * y1, g02 + y0 * y2
        g11, g12, g22 = g11 + y1 * y1, g12 + y1 * y2, g22 + y2 * y2
    return inverse_of((g00, g01, g02, g01, g11, g12, g02, g12, g22))


@helper
def undoing(points, places, c, where, g):
    """B, row by row: the inverse of the linear map that fits best what places have become, as seen from c.

    points, places : (3, k). where : the first column of each, and how many there are. g : inverse Gram matrix of the
    places.
    """
    begin, first, count = where
    s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
    for i in range(count):
        d0, d1, d2 = points[0, begin + i] - c[0], points[1, begin + i] - c[1], points[2, begin + i] - c[2]
        y0, y1, y2 = places[0, first + i], places[1, first + i], places[2, first + i]
        s00, s01, s02 = s00 + d0 * y0, s01 + d0 * y1, s02 + d0 * y2
        s10, s11, s12 = s10 + d1 * y0, s11 + d1 * y1, s12 + d1 * y2
        s20, s21, s22 = s20 + d2 * y0, s21 + d2 * y1, s22 + d2 * y2
    a, b, c = _times(s00, s01, s02, g), _times(s10, s11, s12, g), _times(s20, s21, s22, g)
    return inverse_of((a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]))


@helper
def _times(x, y, z, g):
    return x * g[0] + y * g[3] + z * g[6], x * g[1] + y * g[4] + z * g[7], x * g[2] + y * g[5] + z * g[8]


@helper
def set_drifts(points, places, c, t, out):
    """Largest coordinates of t (point - c) - place; both are three rows. In a loop of its own it is vectorised."""
    (xs, ys, zs), (us, vs, ws) = points, places
    for i in range(len(out)):
        d0, d1, d2 = xs[i] - c[0], ys[i] - c[1], zs[i] - c[2]
        e0 = abs(t[0] * d0 + t[1] * d1 + t[2] * d2 - us[i])
        e1 = abs(t[3] * d0 + t[4] * d1 + t[5] * d2 - vs[i])
        e2 = abs(t[6] * d0 + t[7] * d1 + t[8] * d2 - ws[i])
        out[i] = max(e0, max(e1, e2))


@helper
def drift_of(x, v, places, p, c, t):
    """The same of one vertex."""
    d0, d1, d2 = x[v, 0] - c[0], x[v, 1] - c[1], x[v, 2] - c[2]
    e0 = abs(t[0] * d0 + t[1] * d1 + t[2] * d2 - places[0, p])
    e1 = abs(t[3] * d0 + t[4] * d1 + t[5] * d2 - places[1, p])
    e2 = abs(t[6] * d0 + t[7] * d1 + t[8] * d2 - places[2, p])
    return max(e0, max(e1, e2))


@helper
def drift_error(box, c, t, extent):
    """What rounding may have hidden of a drift, of anything in a box; infinite where numbers are too small or large."""
    width = 0.0
    for k in range(3):
        width = max(width, max(abs(box[2 * k] - c[k]), abs(box[2 * k + 1] - c[k])))
    size = 0.0
    for value in t:
        size += abs(value)  # a sum, since max may drop NaN
    size *= width
    if not (_SMALLEST < size < _LARGEST and _SMALLEST < extent < _LARGEST):
        return _LARGEST * _LARGEST
    return _DRIFT_ERROR * (size + extent)
