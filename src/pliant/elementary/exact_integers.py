"""The elementary test in integers: decides every finite input, for the pairs that floating point cannot.

With e1, e2, w the moving vectors of ``arithmetic.bernstein.vectors``, n = e1 x e2 and f = w . n:
  vertex-face  w = b e1 + c e2 with  b n = w x e2,  c n = e1 x w     inside: b, c, 1 - b - c >= 0
  edge-edge    w = b e1 - c e2 with  b n = w x e2,  c n = w x e1     inside: b, 1 - b, c, 1 - c >= 0
at the roots of f; any one component of n that is not zero tells. Where n vanishes, the features meet if an end point
lies on a segment: a triangle without area is the union of its sides.
Where f is identically zero, everything moves in one plane: features that are apart at t = 0 meet first with an end
point on a segment, since an inner crossing in the plane persists backwards in time.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.arithmetic.algebraic import NO_TIME, H, next_root, no_root_before, sign_at, start_roots
from pliant.arithmetic.integers import LIMB_BITS, SIZE, add, mantissa_and_exponent, set_integer
from pliant.arithmetic.polynomials import COEFFICIENTS, DEGREES, T_MINUS_ONE, ZERO, T, new_machine, set_degree, subtract
from pliant.elementary.programs import (
    BETWEEN,
    CROSS,
    INSIDE,
    INSIDE_PROGRAM,
    KIND,
    NORMAL,
    NORMAL_PROGRAM,
    QUERY,
    SEGMENT_PROGRAM,
    SEGMENTS,
    F,
    R,
    S,
    run,
)
from pliant.runtime.jit import helper, kernel, out_of_line

# --- setting up ----------------------------------------------------------------------------------------------------


@helper
def _exponent_range(x):
    """Lowest and highest exponent of the bits of all coordinates."""
    out_of_line()
    low, high = 1 << 20, -(1 << 20)
    for c in x.flat:
        if c != 0.0:
            low = min(low, mantissa_and_exponent(c)[1])
            high = max(high, math.frexp(c)[1])
    return low, high


@helper
def _set_points(m, x, low):
    """The coordinates of the moving points, as polynomials in units of 2**low."""
    out_of_line()
    for i in range(12):
        for end in range(2):
            mantissa, exponent = mantissa_and_exponent(x[end, i // 3, i % 3])
            set_integer(m, i * COEFFICIENTS + end, mantissa, exponent - low)
        add(m, i * COEFFICIENTS + 1, i * COEFFICIENTS + 1, i * COEFFICIENTS, -1)
        set_degree(m, i, 1)


@helper
def _set_query(m, kind, x):
    """Note the kind, and the segments that their points can meet: a straight path stays in the box of its ends."""
    out_of_line()
    m[QUERY, KIND] = kind
    for i in range(3 + kind):
        p, a, b = SEGMENTS[kind, i, 0], SEGMENTS[kind, i, 1], SEGMENTS[kind, i, 2]
        m[QUERY, i + 1] = 1
        for k in range(3):
            below = max(x[0, p, k], x[1, p, k]) < min(x[0, a, k], x[1, a, k], x[0, b, k], x[1, b, k])
            above = min(x[0, p, k], x[1, p, k]) > max(x[0, a, k], x[1, a, k], x[0, b, k], x[1, b, k])
            if below or above:
                m[QUERY, i + 1] = 0


# --- deciding ------------------------------------------------------------------------------------------------------


@helper
def _touching(m, t):
    """Do the features meet at the time t, at which their four points are coplanar?"""
    out_of_line()
    kind = m[QUERY, KIND]
    for k in range(3):
        sign = sign_at(m, NORMAL + k, t)
        if sign != 0:
            run(m, INSIDE_PROGRAM + k)
            for i in range(3 + kind):
                if sign_at(m, INSIDE + i, t) == -sign:
                    return False
            return True
    for i in range(3 + kind):
        if m[QUERY, i + 1] != 0:
            run(m, SEGMENT_PROGRAM + i)
            k = 0
            while k < 3 and sign_at(m, CROSS + k, t) == 0:
                k += 1
            if k == 3 and sign_at(m, BETWEEN, t) >= 0:
                return True
    return False


@helper
def _first_root(m, h):
    """Bracket of the first root of polynomial h in (0, 1] at which the features meet, or NO_TIME twice."""
    out_of_line()
    length, at_one = start_roots(m, h)
    lower, upper = next_root(m, length)
    while lower < NO_TIME:
        if _touching(m, 0.5 * (lower + upper)):
            return lower if lower > 0.0 else no_root_before(m), upper  # H has no root at 0: start_roots
        lower, upper = next_root(m, length)
    if at_one:
        subtract(m, H, T_MINUS_ONE, ZERO)
        if _touching(m, 1.0):
            return 1.0, 1.0
    return NO_TIME, NO_TIME


@helper
def _entry(m, i):
    """A polynomial that is zero when the point of segment i // 2 first gets onto it; -1: none, or that of i - 1."""
    out_of_line()
    run(m, SEGMENT_PROGRAM + i // 2)
    best = -1
    for vector in (CROSS, S if i % 2 == 0 else R):  # in line for all time, it gets in through one of the ends
        for p in range(vector, vector + 3):
            if m[DEGREES, p] >= 0 and (best < 0 or m[DEGREES, p] < m[DEGREES, best]):
                best = p
        if best >= 0:
            return best if vector != CROSS or i % 2 == 0 else -1
    return -1  # the point is that end for all time, so at t = 0 too, which has been examined


@helper
def _first_contact(m):
    out_of_line()
    kind = m[QUERY, KIND]
    run(m, NORMAL_PROGRAM)
    if m[DEGREES, F] < 0 or m[F * COEFFICIENTS, SIZE] == 0:
        subtract(m, H, T, ZERO)
        if _touching(m, 0.0):
            return 0.0, 0.0
    if m[DEGREES, F] >= 0:
        return _first_root(m, F)
    first, first_upper = NO_TIME, NO_TIME
    for i in range(2 * (3 + kind)):
        h = _entry(m, i) if m[QUERY, i // 2 + 1] != 0 else -1
        if h >= 0:
            lower, upper = _first_root(m, h)
            # The least bounds need not be of the same event: they enclose the first one all the same.
            first, first_upper = min(first, lower), min(first_upper, upper)
    return first, first_upper


@helper
def _width(bits):
    """Limbs for the longest number, for coordinates of so many bits.

    Differences have bits + 2 =: B bits, conditions 2 B and f 3 B. A Tarski sequence starts with f and f' g mod f (11 B)
    and goes on with 25 B and 61 B, apart from small constants. At the points at which the first three are evaluated, as
    fine as what separates two roots of f, 6 B, that makes 21 B, 23 B and 31 B.
    """
    return (64 * (bits + 2) + 1024) // LIMB_BITS


# Work of a call, in cubes of the limbs of a row: 2,000 usual ones, some 20 ms. One of numbers with exponents over the
# whole range takes 0.1 to 0.4 s, nearly all of it in the remainders of Tarski's sequences, and has a call of its own:
# Ctrl-C waits as long as a call takes.
_MOST_WORK = 1e10


@kernel
def decide_in_integers(kind, x0, x1, quads, first, toi, toi_upper):
    """Decide the rows of quads from the first one on, in place; NO_TIME where there is no contact. Returns the row
    before which it ended."""
    width, work = _width(64), 0.0
    m = new_machine(width)
    x = np.empty((2, 4, 3))
    for row in range(first, len(quads)):
        for i in range(4):
            for k in range(3):
                x[0, i, k], x[1, i, k] = x0[quads[row, i], k], x1[quads[row, i], k]
        low, high = _exponent_range(x)
        if _width(high - low) > width:
            width = _width(high - low)
            m = new_machine(width)
        _set_points(m, x, low)
        _set_query(m, kind, x)
        toi[row], toi_upper[row] = _first_contact(m)
        work += float(_width(high - low)) ** 3
        if work > _MOST_WORK:
            return row + 1
    return len(quads)
