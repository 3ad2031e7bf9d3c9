"""Integers of any width, as a register machine that numba compiles.

Python's own integers would do, at a hundred times the cost: flat contact and bodies at rest bring exact
decisions in crowds of a hundred thousand, not one by one.

A machine is one block of memory. Row r is register r: its signed number of limbs, then the limbs, little endian. Limbs
have 30 bits: a product of two plus two carries fits an int64, so the same source runs compiled and interpreted.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.runtime.jit import helper, out_of_line

LIMB_BITS = 30
LIMB_MASK = (1 << LIMB_BITS) - 1
SIZE = 0  # column of a register's signed length; limb i stands in column i + 1


@helper
def mantissa_and_exponent(x):
    """(mantissa, exponent) with x = mantissa * 2**exponent, mantissa odd or zero."""
    fraction, exponent = math.frexp(x)
    mantissa = np.int64(fraction * 9007199254740992.0)  # 2**53
    zeros = math.frexp(float(mantissa & -mantissa))[1] - 1
    return mantissa >> max(zeros, 0), exponent - 53 + zeros


@helper
def set_integer(m, r, mantissa, shift):
    """Register r = mantissa * 2**shift, for shift >= 0 and abs(mantissa) < 2**60."""
    out_of_line()
    m[r, SIZE] = 0
    if mantissa == 0:
        return
    n, bits = shift // LIMB_BITS, shift % LIMB_BITS
    for i in range(n):
        m[r, i + 1] = 0
    rest = abs(mantissa)
    carry = 0
    while rest != 0 or carry != 0:
        part = ((rest & LIMB_MASK) << bits) + carry
        n += 1
        m[r, n] = part & LIMB_MASK
        carry = part >> LIMB_BITS
        rest >>= LIMB_BITS
    m[r, SIZE] = -n if mantissa < 0 else n


@helper
def sign_of(m, r):
    return 1 if m[r, SIZE] > 0 else (-1 if m[r, SIZE] < 0 else 0)


@helper
def add(m, dst, a, b, sign):
    """dst = a + sign b, for sign 1 or -1; dst may be a or b."""
    out_of_line()
    size_a, size_b = m[a, SIZE], m[b, SIZE] * sign
    na, nb = abs(size_a), abs(size_b)
    n = max(na, nb)
    negative = size_a < 0
    direction = 1 if negative == (size_b < 0) else -1
    carry = 0
    for i in range(1, n + 1):
        part = carry
        if i <= na:
            part += m[a, i]
        if i <= nb:
            part += m[b, i] * direction
        m[dst, i] = part & LIMB_MASK
        carry = part >> LIMB_BITS
    if carry < 0:  # |a| < |b|, and the limbs hold 2**(30 n) - (|b| - |a|)
        negative = not negative
        carry = 0
        for i in range(1, n + 1):
            part = carry - m[dst, i]
            m[dst, i] = part & LIMB_MASK
            carry = part >> LIMB_BITS
        carry = 0
    n += 1
    m[dst, n] = carry
    while n > 0 and m[dst, n] == 0:
        n -= 1
    m[dst, SIZE] = -n if negative else n


@helper
def multiply(m, dst, a, b):
    """dst = a b; dst must be neither a nor b."""
    out_of_line()
    na, nb = abs(m[a, SIZE]), abs(m[b, SIZE])
    if na == 0 or nb == 0:
        m[dst, SIZE] = 0
        return
    for j in range(1, nb + 1):
        m[dst, j] = 0
    for i in range(na):
        factor = m[a, i + 1]
        carry = 0
        for j in range(1, nb + 1):
            part = m[dst, i + j] + factor * m[b, j] + carry
            m[dst, i + j] = part & LIMB_MASK
            carry = part >> LIMB_BITS
        m[dst, i + nb + 1] = carry
    n = na + nb if m[dst, na + nb] != 0 else na + nb - 1
    m[dst, SIZE] = n if (m[a, SIZE] < 0) == (m[b, SIZE] < 0) else -n
