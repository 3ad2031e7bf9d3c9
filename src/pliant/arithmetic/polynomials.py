"""Polynomials with integer coefficients: runs of registers of the machine."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.integers import SIZE, add, multiply
from pliant.runtime.jit import helper, out_of_line

COEFFICIENTS = 5  # registers of one polynomial: coefficient i of polynomial p stands in register 5 p + i
POLYNOMIALS = 64
DEGREES = COEFFICIENTS * POLYNOMIALS  # the row of all degrees: -1 for zero, and no coefficient above the degree counts
NOTHING = DEGREES + 1  # a register that is always zero
SCRATCH = DEGREES + 2  # three registers that every function may use
ROWS = DEGREES + 6  # the last one is free for what describes the query

ZERO, ONE, T, T_MINUS_ONE = range(POLYNOMIALS - 4, POLYNOMIALS)  # polynomials that are always 0, 1, t, t - 1


@helper
def new_machine(width):
    """One array, not a structure of several: every function that takes it compiles in half the time."""
    m = np.empty((ROWS, width), np.int64)
    m[NOTHING, SIZE] = 0
    for p, degree, sign in ((ZERO, -1, 0), (ONE, 0, 1), (T, 1, 0), (T_MINUS_ONE, 1, -1)):
        m[DEGREES, p] = degree
        m[p * COEFFICIENTS, SIZE] = sign
        m[p * COEFFICIENTS + 1, SIZE] = m[p * COEFFICIENTS, 1] = m[p * COEFFICIENTS + 1, 1] = 1
    return m


@helper
def set_degree(m, p, highest):
    """Store the degree, given that no coefficient above the highest counts."""
    while highest >= 0 and m[p * COEFFICIENTS + highest, SIZE] == 0:
        highest -= 1
    m[DEGREES, p] = highest


@helper
def subtract(m, dst, a, b):
    """dst = a - b; dst may be a or b."""
    out_of_line()
    da, db = m[DEGREES, a], m[DEGREES, b]
    for i in range(max(da, db) + 1):
        ai = a * COEFFICIENTS + i if i <= da else NOTHING
        bi = b * COEFFICIENTS + i if i <= db else NOTHING
        add(m, dst * COEFFICIENTS + i, ai, bi, -1)
    set_degree(m, dst, max(da, db))


@helper
def add_product(m, dst, a, b, sign):
    """dst = dst + sign a b; dst must be neither a nor b."""
    out_of_line()
    da, db, top = m[DEGREES, a], m[DEGREES, b], m[DEGREES, dst]
    if da < 0 or db < 0:
        return
    while top < da + db:
        top += 1
        m[dst * COEFFICIENTS + top, SIZE] = 0
    for i in range(da + 1):
        for j in range(db + 1):
            multiply(m, SCRATCH, a * COEFFICIENTS + i, b * COEFFICIENTS + j)
            add(m, dst * COEFFICIENTS + i + j, dst * COEFFICIENTS + i + j, SCRATCH, sign)
    set_degree(m, dst, top)


@helper
def reduce(m, p, b):
    """p becomes a positive multiple of the remainder of p by b, for b not zero."""
    out_of_line()
    db = m[DEGREES, b]
    lead = b * COEFFICIENTS + db
    sign = 1 if m[lead, SIZE] > 0 else -1
    while m[DEGREES, p] >= db:
        top = m[DEGREES, p]
        for i in range(top):
            pi, bi = p * COEFFICIENTS + i, b * COEFFICIENTS + i - (top - db)
            multiply(m, SCRATCH, pi, lead)
            multiply(m, SCRATCH + 1, p * COEFFICIENTS + top, bi if i >= top - db else NOTHING)
            add(m, pi, SCRATCH, SCRATCH + 1, -1)
            m[pi, SIZE] *= sign  # the factor was the leading coefficient; make it that one's magnitude
        set_degree(m, p, top - 1)
