"""Times that are real roots of integer polynomials, isolated by Sturm, and signs of other polynomials there, by Tarski.

A time is a root of the polynomial H, alone in the open interval (LOWER, UPPER) / UNIT. Sturm's theorem counts the
distinct roots of H between two points from the signs of the remainder sequence of (H, H'); Tarski's extension takes
(H, H' g) and counts roots with g > 0 minus roots with g < 0. With one root in the interval that number *is* the sign of
g there, zero included: no separation bounds, no endless bisection, no gcd.
"""

from __future__ import annotations

import math

from pliant.arithmetic.integers import LIMB_BITS, SIZE, add, multiply, sign_of
from pliant.arithmetic.polynomials import (
    COEFFICIENTS,
    DEGREES,
    NOTHING,
    ONE,
    SCRATCH,
    ZERO,
    add_product,
    reduce,
    subtract,
)
from pliant.arithmetic.rounding import UNIT_ROUNDOFF
from pliant.runtime.jit import helper, out_of_line

# Polynomials; below 40 they belong to the query.
H, REMAINDER, DERIVATIVE = 40, 41, 42
STURM, TARSKI = 43, 47  # sequences of up to four
INTERVAL = 51  # not a polynomial, but its registers lie like coefficients
LOWER, UPPER, UNIT, MIDDLE = range(INTERVAL * COEFFICIENTS, INTERVAL * COEFFICIENTS + 4)

NO_TIME = 2.0  # later than every contact
WIDEST = 2.0**-40  # of the bracket of a time: less than the promised 1e-12
_LIMB = 2.0**-LIMB_BITS

# What ``approximate`` gives, in units of the total of all coefficients. Each is read from three limbs with two rounded
# sums, 2 u of itself, and what is cut off is less than 2**-60 of the largest one.
COEFFICIENT_ERROR = 2 * 2 * UNIT_ROUNDOFF  # 2 roundings, margin 2
# A quotient of two of them, at most 1: 2 u of each and the division.
_QUOTIENT_ERROR = 8 * UNIT_ROUNDOFF  # 5 roundings, margin 1.6
# A value at a time between 0 and 1 by Horner's rule: 2 roundings a degree.
_VALUE_ERROR = 32 * UNIT_ROUNDOFF  # 4 + 6 roundings, margin 3.2
# At a time that is off by WIDEST, where the derivative of a quadratic is below 2 in these units: the rest is 2**-49.
_SIGN_ERROR = 2 * 2 * WIDEST  # margin 2


@helper
def approximate(m, p):
    """(c0, c1, c2, c3, total): the coefficients, all divided by one factor, and the sum of their magnitudes.

    Their errors add up to less than COEFFICIENT_ERROR total: the largest has a top limb of at least 1 and two limbs
    below it are read.
    """
    out_of_line()
    n = 0
    for i in range(m[DEGREES, p] + 1):
        n = max(n, abs(m[p * COEFFICIENTS + i, SIZE]))
    c0 = c1 = c2 = c3 = total = 0.0
    for i in range(m[DEGREES, p], -1, -1):
        r = p * COEFFICIENTS + i
        size = abs(m[r, SIZE])
        value = 0.0
        for j in range(max(n - 2, 1), size + 1):
            value = value * _LIMB + m[r, j]
        for _ in range(max(size, n - 3), n):
            value *= _LIMB
        c1, c2, c3 = c0, c1, c2
        c0 = -value if m[r, SIZE] < 0 else value
        total += value
    return c0, c1, c2, c3, total


@helper
def _sign_at_point(m, p, k):
    """Sign of polynomial p, not zero, at t = k / UNIT, k a register."""
    out_of_line()
    total, product, power = SCRATCH, SCRATCH + 1, SCRATCH + 2
    top = m[DEGREES, p]
    add(m, total, p * COEFFICIENTS + top, NOTHING, 1)
    add(m, power, UNIT, NOTHING, 1)
    for i in range(top - 1, -1, -1):
        multiply(m, product, total, k)
        multiply(m, total, p * COEFFICIENTS + i, power)
        add(m, total, total, product, 1)
        if i > 0:
            multiply(m, product, power, UNIT)
            add(m, power, product, NOTHING, 1)
    return sign_of(m, total)


@helper
def _variations(m, base, length, k):
    out_of_line()
    count, last = 0, 0
    for p in range(base, base + length):
        sign = _sign_at_point(m, p, k)
        if last * sign < 0:
            count += 1
        if sign != 0:
            last = sign
    return count


@helper
def _set_sequence(m, base, g):
    """The signed remainder sequence of (H, H' g), from polynomial base on; returns how many polynomials it has."""
    out_of_line()
    subtract(m, base, H, ZERO)
    for i in range(m[DEGREES, H]):
        m[DERIVATIVE * COEFFICIENTS + i, SIZE] = 0
        for _ in range(i + 1):
            add(m, DERIVATIVE * COEFFICIENTS + i, DERIVATIVE * COEFFICIENTS + i, H * COEFFICIENTS + i + 1, 1)
    m[DEGREES, DERIVATIVE] = m[DEGREES, H] - 1
    m[DEGREES, base + 1] = -1
    add_product(m, base + 1, DERIVATIVE, g, 1)
    reduce(m, base + 1, H)
    last = base + 1
    while m[DEGREES, last] > 0:
        last += 1
        subtract(m, last, last - 2, ZERO)
        reduce(m, last, last - 1)
        for i in range(m[DEGREES, last] + 1):
            m[last * COEFFICIENTS + i, SIZE] *= -1
    return last - base + (1 if m[DEGREES, last] == 0 else 0)


@helper
def start_roots(m, h):
    """Prepare for next_root on h, not zero; returns (length, at_one), at_one: 1 is a root.

    Roots at 0 and 1 are divided out: Sturm's theorem wants intervals that do not end in one.
    """
    out_of_line()
    first = h * COEFFICIENTS
    while m[first, SIZE] == 0:
        first += 1
    top = h * COEFFICIENTS + m[DEGREES, h] - first
    for i in range(top + 1):
        add(m, H * COEFFICIENTS + i, first + i, NOTHING, 1)
    at_one = False
    while top > 0:
        add(m, SCRATCH, H * COEFFICIENTS + top, NOTHING, 1)
        for i in range(top - 1, -1, -1):  # synthetic division by t - 1; STURM is not in use yet
            add(m, STURM * COEFFICIENTS + i, SCRATCH, NOTHING, 1)
            add(m, SCRATCH, SCRATCH, H * COEFFICIENTS + i, 1)
        if m[SCRATCH, SIZE] != 0:
            break
        at_one = True
        top -= 1
        m[DEGREES, STURM] = top
        subtract(m, H, STURM, ZERO)
    m[DEGREES, H] = top
    m[UPPER, SIZE] = 0
    m[UNIT, SIZE] = m[UNIT, 1] = 1
    m[DEGREES, INTERVAL] = 2
    return _set_sequence(m, STURM, ONE), at_one


@helper
def next_root(m, length):
    """Isolate the first root of H in (UPPER / UNIT, 1); returns doubles around it, or NO_TIME twice."""
    out_of_line()
    add(m, LOWER, UPPER, NOTHING, 1)
    add(m, UPPER, UNIT, NOTHING, 1)
    at_lower, at_upper = _variations(m, STURM, length, LOWER), _variations(m, STURM, length, UPPER)
    while at_lower > at_upper:
        if at_lower - at_upper == 1:
            lower, upper = _bracket(m)
            if upper - lower <= WIDEST:
                return lower, upper
        # The middle, or halfway from it to the lower end if that is a root: there are at most three.
        add(m, MIDDLE, UPPER, NOTHING, 1)
        while True:
            add(m, MIDDLE, MIDDLE, LOWER, 1)
            for r in range(LOWER, UNIT + 1):
                add(m, r, r, r, 1)
            if _sign_at_point(m, H, MIDDLE) != 0:
                break
        at_middle = _variations(m, STURM, length, MIDDLE)
        if at_middle == at_lower:
            add(m, LOWER, MIDDLE, NOTHING, 1)
        else:
            add(m, UPPER, MIDDLE, NOTHING, 1)
            at_upper = at_middle
    return NO_TIME, NO_TIME


@helper
def _bracket(m):
    """Doubles around the only root of H in the interval, by bisection as far as floating point is sure of the sign."""
    out_of_line()
    lower, upper, unit, _, _ = approximate(m, INTERVAL)
    lower, upper = max(lower / unit - _QUOTIENT_ERROR, 0.0), min(upper / unit + _QUOTIENT_ERROR, 1.0)
    sign = _sign_at_point(m, H, LOWER)
    if sign == _sign_at_point(m, H, UPPER):
        return lower, upper  # a double root
    c0, c1, c2, c3, total = approximate(m, H)
    while upper - lower > 2.0**-46:
        # Off the middle, where roots like 1/2 would leave no sure sign; well inside, so within (LOWER, UPPER).
        middle = lower + 0.4871 * (upper - lower)
        value = (((c3 * middle + c2) * middle + c1) * middle + c0) * sign
        if abs(value) < _VALUE_ERROR * total:
            break
        if value > 0.0:
            lower = middle
        else:
            upper = middle
    return lower, upper


@helper
def no_root_before(m):
    """A time above 0 before which H, which is not zero at t = 0, has no root; 0 where no double is so small.

    Where each of up to three terms c_i t^i is at most a third of c_0, they cannot add up to -c_0. Half of that time,
    and a little less, so that what is rounded up among the denormals is still before it.
    """
    out_of_line()
    least = 0.0
    for i in range(1, m[DEGREES, H] + 1):
        if m[H * COEFFICIENTS + i, SIZE] != 0:
            third = _log2(m, H * COEFFICIENTS) - _log2(m, H * COEFFICIENTS + i) - math.log2(3.0)
            least = min(least, third / i)
    return math.pow(2.0, least - 1.01)


@helper
def _log2(m, r):
    """Of the magnitude of a register, to less than 1e-11: numbers have at most 2**20 bits."""
    out_of_line()
    n, value = abs(m[r, SIZE]), 0.0
    for j in range(max(n - 2, 1), n + 1):
        value = value * _LIMB + m[r, j]
    return math.log2(value) + LIMB_BITS * (n - 1)


@helper
def sign_at(m, g, t):
    """Exact sign of polynomial g, of degree 2 at most, at the time, which t approximates to WIDEST."""
    out_of_line()
    if m[DEGREES, g] <= 0:
        return sign_of(m, g * COEFFICIENTS) if m[DEGREES, g] == 0 else 0
    c0, c1, c2, _, total = approximate(m, g)
    value = (c2 * t + c1) * t + c0
    if abs(value) > _SIGN_ERROR * total:
        return 1 if value > 0.0 else -1
    subtract(m, REMAINDER, g, ZERO)
    reduce(m, REMAINDER, H)
    if m[DEGREES, REMAINDER] <= 0:
        return sign_of(m, REMAINDER * COEFFICIENTS) if m[DEGREES, REMAINDER] == 0 else 0
    length = _set_sequence(m, TARSKI, REMAINDER)
    return _variations(m, TARSKI, length, LOWER) - _variations(m, TARSKI, length, UPPER)
