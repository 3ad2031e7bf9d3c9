"""The elementary test in floating point, with a proof for every answer it gives.

The time axis is walked from the left in dyadic intervals. On each, the Bernstein coefficients of the coplanarity cubic
either exclude a root, or show exactly one, or the interval is halved. A root is bracketed by two signs that clear the
error bound, and the inside conditions have to clear theirs over the whole bracket. What cannot be proved is UNSURE.
"""

from __future__ import annotations

from pliant.arithmetic.bernstein import F_ERROR, INSIDE_ERROR, cross_controls, cubic, restrict
from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.arithmetic.vec3 import cross, dot
from pliant.runtime.jit import helper

MISS, HIT, UNSURE = 0, 1, 2
# How much an inside condition changes with time, in units of the four magnitudes: 12 products of 4 factors, of which
# each changes by at most 2 m over the motion. So does |n|^2.
_CHANGE = 12 * 4 * 2.0
# A cubic that is evaluated from its coefficients has 9 more roundings on 6 mw m1 m2: F_ERROR once more, margin 2.2.
_EVALUATED = 2.0
# Times are at most 1, and a sum is off by half of u there: 2 sums, margin 1.8.
_TIME_ERROR = 2e-16
_MOST_INTERVALS = 64  # a double root is not resolved below the square root of the rounding errors, 1e-8: 2 * 26 halves


@helper
def _coefficients(start, end, lower, upper):
    """Bernstein coefficients of f over [lower, upper]: motion restricted to an interval is again linear motion."""
    if lower > 0.0 or upper < 1.0:
        start, end = restrict(start, end, lower), restrict(start, end, upper)
    return cubic(start[2], end[2], cross_controls(start[0], start[1], end[0], end[1]))


@helper
def inside_sign(kind, start, end, m, t, radius):
    """1: surely inside for all times within radius of t, if coplanar; -1: surely not; 0: not known."""
    e1, e2, w = restrict(start, end, t)
    n = cross(e1, e2)
    b, c, norm = dot(cross(w, e2), n), dot(cross(e1, w), n), dot(n, n)
    error = INSIDE_ERROR + _CHANGE * radius
    m12 = m[0] * m[1]
    error_b, error_c, error_n = error * m12 * m[1] * m[2], error * m12 * m[0] * m[2], error * m12 * m12
    if kind == VERTEX_FACE:
        a, error_a = norm - b - c, error_n + error_b + error_c
        if b < -error_b or c < -error_c or a < -error_a:
            return -1
        return 1 if b > error_b and c > error_c and a > error_a else 0
    if b < -error_b or c > error_c or norm - b < -error_n - error_b or norm + c < -error_n - error_c:
        return -1
    if b > error_b and c < -error_c and norm - b > error_n + error_b and norm + c > error_n + error_c:
        return 1
    return 0


@helper
def _cubic_at(b, s):
    r = 1.0 - s
    return r * r * (r * b[0] + 3.0 * s * b[1]) + s * s * (3.0 * r * b[2] + s * b[3])


@helper
def _slope_at(b, s):
    r = 1.0 - s
    return 3.0 * (r * r * (b[1] - b[0]) + 2.0 * r * s * (b[2] - b[1]) + s * s * (b[3] - b[2]))


@helper
def _newton(b, s, lower, upper):
    """One step of Newton's method towards the root in (lower, upper), bisecting where it would leave it.

    Returns the new place, the narrower interval, and the value at the old place.
    """
    value = _cubic_at(b, s)
    if (value < 0.0) == (b[0] < 0.0):
        lower = s
    else:
        upper = s
    slope = _slope_at(b, s)
    new = s - value / slope if slope != 0.0 else lower
    if not (lower < new and new < upper):
        new = 0.5 * (lower + upper)
    return new, lower, upper, value


@helper
def _root(b, s, lower, upper, error):
    """The one root of a cubic whose ends have opposite signs, as far as the error of its values lets it be seen."""
    for _ in range(60):
        new, lower, upper, value = _newton(b, s, lower, upper)
        if abs(value) <= 0.25 * error or abs(new - s) <= 4e-16:
            break
        s = new
    return s


@helper
def _bracket(b, s, radius, error):
    """Two parameters around the only root, near s, whose signs are certain; (-1, -1) where that fails."""
    sign = 1.0 if b[0] > 0.0 else -1.0
    lower, upper = max(0.0, s - radius), min(1.0, s + radius)
    if sign * _cubic_at(b, lower) > error and -sign * _cubic_at(b, upper) > error:
        return lower, upper
    return -1.0, -1.0


@helper
def _finest_bracket(b, s, error):
    """As close around the root s as signs are certain; (-1, -1) where that fails."""
    slope = abs(_slope_at(b, s))
    radius = 4e-16 + (2.0 * error / slope if slope > 0.0 else 1.0)
    left, right = -1.0, -1.0
    for _ in range(6):
        if left < 0.0:
            left, right = _bracket(b, s, radius, error)
            radius *= 4.0
    return left, right


@helper
def _meet_at_root(kind, start, end, m, b, error, lower, width):
    """The only root of f in [lower, lower + width]: (inside sign, bracket); the bracket is (-1, -1) where it fails.

    Most roots are no contacts, and a coarse bracket is enough to see that.
    """
    s, below, above, _ = _newton(b, b[0] / (b[0] - b[3]), 0.0, 1.0)
    new, below, above, _ = _newton(b, s, below, above)
    radius = min(1e-2, 1e-6 + 2.0 * abs(new - s))
    left, right = _bracket(b, new, radius, error)
    if left >= 0.0:
        left, right = _times(lower, width, left, right)
        if inside_sign(kind, start, end, m, 0.5 * (left + right), right - left) < 0:
            return -1, left, right
    left, right = _finest_bracket(b, _root(b, new, below, above, error), error)
    if left < 0.0:
        return 0, left, right
    left, right = _times(lower, width, left, right)
    return inside_sign(kind, start, end, m, 0.5 * (left + right), right - left), left, right


@helper
def no_root_before(start, end, m):
    """A time above 0 before which f surely has no root; 0 where it is not known that f is not zero at t = 0.

    f changes no faster than three times the largest difference of two neighbouring coefficients, each of which is off
    by the error bound.
    """
    error = F_ERROR * m[0] * m[1] * m[2]
    b = _coefficients(start, end, 0.0, 1.0)
    steepest = max(abs(b[1] - b[0]), max(abs(b[2] - b[1]), abs(b[3] - b[2]))) + 2.0 * error
    return max(0.0, abs(b[0]) - error) / (3.0 * steepest) * (1.0 - 2.0**-40)


@helper
def _times(lower, width, left, right):
    """Times of parameters of the interval [lower, lower + width], rounded outwards."""
    return max(0.0, lower + width * left - _TIME_ERROR), min(1.0, lower + width * right + _TIME_ERROR)


@helper
def first_contact(kind, start, end, m):
    """(MISS | HIT | UNSURE, lower, upper): the first time of contact of a pair of features, each (e1, e2, w)."""
    error = F_ERROR * m[0] * m[1] * m[2]
    level, index = 0, 0
    for _ in range(_MOST_INTERVALS):
        width = 0.5**level
        lower = index * width
        b = _coefficients(start, end, lower, lower + width)
        if level == 0 and abs(b[0]) <= error and inside_sign(kind, start, end, m, 0.0, 0.0) >= 0:
            break  # perhaps in contact at t = 0: no interval that begins there can be cleared
        down, up = min(min(b[0], b[1]), min(b[2], b[3])), max(max(b[0], b[1]), max(b[2], b[3]))
        if down <= error and up >= -error:  # else f has no root here
            one_root = (b[0] > error and b[3] < -error and (b[1] > error or b[2] < -error)) or (
                b[0] < -error and b[3] > error and (b[1] < -error or b[2] > error)
            )
            inside, left, right = 0, -1.0, -1.0
            if one_root:
                inside, left, right = _meet_at_root(kind, start, end, m, b, _EVALUATED * error, lower, width)
            if left >= 0.0:
                if inside > 0:
                    return HIT, left, right
                if inside == 0:
                    return UNSURE, left, right
            elif inside_sign(kind, start, end, m, lower + 0.5 * width, width) >= 0:
                level, index = level + 1, index * 2
                continue
        index += 1
        while level > 0 and index % 2 == 0:
            level, index = level - 1, index // 2
        if level == 0:
            return MISS, 0.0, 0.0
    return UNSURE, 0.0, 0.0
