"""How wrong rounded numbers are: what all error bounds are made of, written once.

Every operation in floating point is off by at most u of its result, the unit roundoff. So a computed sum of products,
in which no product passes through more than r roundings, is off by at most r u / (1 - r u) times the sum of the
absolute products (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). All bounds of pliant
are of that form, and are written that way:

    margin * magnitude * roundings * u

roundings: r, counted on the longest way from an input to the result. magnitude: the sum of the absolute products, in
units of products of the largest coordinates. margin: at least MARGIN, for the terms of second order, for the bound,
which is rounded itself, and for the largest coordinates in it, which are computed numbers too. Relative bounds hold far
from the denormals: each bound says what keeps it there. docs/error-bounds.md lists all of them.
"""

from __future__ import annotations

UNIT_ROUNDOFF = 2.0**-53  # u of double precision
SINGLE_ROUNDOFF = 2.0**-24  # u of single precision

MARGIN = 1.05  # r up to 100 roundings of second order are 1e-14 of the bound, its own roundings 1e-15

# Roundings of building blocks, the inputs taken as they are:
DOT = 3  # a product and two sums, of three products
LERP = 3  # (1 - t) a + t b: 1 - t, the product and the sum on a, one less on b. In units of the larger of |a| and |b|

# Positions (1 - s) x0 + s x1 that a safe step ends at are rounded: off by at most this part of the largest coordinate.
# The motion to them has to be free of contact as well, so proofs for such a step allow for it.
POSITION_ERROR = 4 * UNIT_ROUNDOFF  # LERP, margin 4 / 3
