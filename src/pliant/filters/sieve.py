"""The filters in the order the user names them, over a block of feature pairs."""

from __future__ import annotations

from pliant._jit import kernel
from pliant.filters.bernstein import cross_controls, in_range, magnitudes, restrict, vectors
from pliant.filters.csat import centre_axis, separated_by
from pliant.filters.dnf import never_coplanar
from pliant.filters.ncf import never_inside
from pliant.mesh.features import quad

FILTERS = ("csat", "dnf", "ncf")
CSAT, DNF, NCF = 0, 1, 2


@kernel
def sieve(kind, which, x0, x1, table, pairs, count, horizon):
    """Keep the pairs (rows 0 .. count - 1) that the filter cannot discard, in place and in order; returns how many.

    Only contacts up to the horizon are of interest: the motion up to there is again linear motion.
    """
    kept = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        start, end = vectors(kind, x0, q), vectors(kind, x1, q)
        if horizon < 1.0:
            end = restrict(start, end, horizon)
        m = magnitudes(start, end)
        surely_apart = False
        if in_range(m):
            if which == CSAT:
                surely_apart = separated_by(kind, start, end, m, centre_axis(kind, start, end))
            else:
                normal = cross_controls(start[0], start[1], end[0], end[1])
                if which == DNF:
                    surely_apart = never_coplanar(start, end, m, normal)
                else:
                    surely_apart = never_inside(kind, start, end, m, normal)
        if not surely_apart:
            pairs[kept, 0], pairs[kept, 1] = pairs[p, 0], pairs[p, 1]
            kept += 1
    return kept
