"""Impulses: projected Gauss-Seidel over the multipliers of constraint rows, with Coulomb friction.

Multipliers have the unit of mass times length: divided by the time of the step they are impulses, by its square forces.
Row after row, in one thread: the result depends on nothing but the rows and their order.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, dot, row, scale, sub
from pliant.response.rows import relative
from pliant.runtime.jit import helper, kernel

SWEEPS = 30
EACH = 5  # sweeps over all rows: one in so many; the others are over those that push
SMALL = 0.02  # of its target, by which the last sweep may have moved a row


@kernel
def push_apart(x, rows, inverse_mass, sweeps):
    """Move x, (n, 3), so that rows hold; changes their multipliers. Returns the number of sweeps."""
    count, pushing = len(rows.target), 0
    some = np.empty(count, np.int32)
    for sweep in range(sweeps):
        is_full, settled = sweep % EACH == 0, True
        last, pushing = (count, 0) if is_full else (pushing, pushing)
        for j in range(last):
            k = j if is_full else some[j]
            if rows.mass[k] == 0.0:
                continue
            moved = _push_row(x, rows, k, inverse_mass)
            if is_full and (moved != 0.0 or rows.push[k] > 0.0):
                some[pushing] = k
                pushing += 1
            settled = settled and moved <= SMALL * rows.target[k]
        if settled and is_full:
            return sweep + 1
    return sweeps


@helper
def _push_row(x, rows, k, inverse_mass):
    """One row; returns by how much its gap has been changed."""
    n, r = row(rows.normal, k), relative(rows.vertices, rows.weights, k, x)
    before, mass = rows.push[k], rows.mass[k]
    missing = rows.target[k] - dot(n, r)
    if before == 0.0 and not missing > 0.0:
        return 0.0
    after = max(0.0, before + missing * mass)
    impulse = scale(n, after - before)
    if rows.friction[k] > 0.0:
        slip = sub(r, row(rows.start, k))
        slip = sub(slip, scale(n, dot(n, slip)))
        held = row(rows.drag, k)
        drag = sub(held, scale(slip, mass))
        length, most = np.sqrt(dot(drag, drag)), rows.friction[k] * after
        if length > most:
            drag = scale(drag, most / length)
        impulse = add(impulse, sub(drag, held))
        rows.drag[k, 0], rows.drag[k, 1], rows.drag[k, 2] = drag
    rows.push[k] = after
    for i in range(4):
        v = rows.vertices[k, i]
        s = rows.weights[k, i] * inverse_mass[v]
        for axis in range(3):
            x[v, axis] += s * impulse[axis]
    return abs(after - before) / mass
