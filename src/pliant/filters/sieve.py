"""The filters in the order the user names them, over a block of feature pairs."""

from __future__ import annotations

from pliant.arithmetic.bernstein import (
    CUT_OFF,
    LARGEST_RELATIVE_ERROR,
    cross_controls,
    in_range,
    magnitudes,
    relative_error_of,
    restrict,
    scaled,
    unit_factor,
    vectors,
)
from pliant.arithmetic.kinds import VERTEX_FACE, quad
from pliant.arithmetic.vec3 import scale
from pliant.filters.axes.features import apart_by_centres, apart_by_circle, apart_by_plane, apart_by_sides
from pliant.filters.axes.separation import GAP
from pliant.filters.dnf import never_coplanar
from pliant.filters.ncf import never_meet
from pliant.runtime.jit import helper, kernel

FILTERS = ("csat", "dnf", "ncf", "plane", "circle")  # of pairs of features
CSAT, DNF, NCF, PLANE, CIRCLE = 0, 1, 2, 3, 4
ELEMENT_FILTERS = ("csat", "triangle")  # of pairs of elements, before they are expanded: axes/elements
GAP_FILTERS = ("csat", "plane", "circle", "triangle")  # that can keep them apart by a distance (errata 24)


@kernel
def sieve(kind, which, x0, x1, padding, table, pairs, count, horizon, position_error):
    """Keep the pairs (rows 0 .. count - 1) that the filter cannot discard, in place and in order; returns how many.

    Only contacts up to the horizon are of interest: the motion up to there is again linear motion. What is discarded is
    free of contact for every motion whose vertices are off by at most position_error in each coordinate. padding: (n,)
    how far around it a vertex goes, or none; only GAP_FILTERS know what to do with it.
    """
    kept = 0
    for p in range(count):
        q = quad(kind, table, pairs[p, 0], pairs[p, 1])
        start, end, m, factor, relative_error = motion_until(kind, x0, x1, q, horizon)
        surely_apart = False
        if in_range(m):
            if which != DNF and which != NCF:
                gap = gap_of(kind, padding, q) * factor
                if which == CSAT:
                    # With a gap it is advancement that decides, five times as slow: more axes.
                    surely_apart = (
                        (
                            gap > 0.0
                            and apart_by_plane(kind, start, end, m, relative_error, position_error * factor, gap)
                        )
                        or apart_by_centres(kind, start, end, m, relative_error, position_error * factor, gap)
                        or (
                            gap > 0.0
                            and apart_by_sides(kind, start, end, m, relative_error, position_error * factor, gap)
                        )
                    )
                elif which == PLANE:
                    surely_apart = apart_by_plane(kind, start, end, m, relative_error, position_error * factor, gap)
                else:
                    surely_apart = apart_by_circle(kind, start, end, m, relative_error, position_error * factor, gap)
            elif which == DNF:
                surely_apart = apart_by_dnf(start, end, m, relative_error, position_error * factor)
            else:
                relative_error = _with_positions(m, relative_error, position_error * factor)
                surely_apart = relative_error <= LARGEST_RELATIVE_ERROR and never_meet(
                    kind, start, end, m, relative_error
                )
        if not surely_apart:
            pairs[kept, 0], pairs[kept, 1] = pairs[p, 0], pairs[p, 1]
            kept += 1
    return kept


@helper
def motion_until(kind, x0, x1, q, horizon):
    """Vectors of a pair at the start and at the horizon, magnitudes, what they are scaled by, and the part of their
    size that they may be off by."""
    start, end = vectors(kind, x0, q), vectors(kind, x1, q)
    m, factor, relative_error = magnitudes(start, end), 1.0, 0.0
    if not in_range(m):  # before the motion is cut off: denormals would be rounded by more than their share
        factor = unit_factor(m)
        start, end, m = scaled(start, factor), scaled(end, factor), scale(m, factor)
    if horizon < 1.0:
        end = restrict(start, end, horizon)
        m = magnitudes(start, end)
        relative_error = CUT_OFF
    return start, end, m, factor, relative_error


@helper
def apart_by_dnf(start, end, m, relative_error, position_error):
    """Never coplanar, for vectors of a motion as in ``motion_until`` and magnitudes that are in range."""
    relative_error = _with_positions(m, relative_error, position_error)
    normal = cross_controls(start[0], start[1], end[0], end[1])
    return relative_error <= LARGEST_RELATIVE_ERROR and never_coplanar(start, end, m, normal, relative_error)


@helper
def _with_positions(m, relative_error, position_error):
    return relative_error + relative_error_of(m, position_error) if position_error > 0.0 else relative_error


@helper
def gap_of(kind, padding, q):
    """How close the features with vertices q may come, at most: the padding of either added up, rounded up."""
    if len(padding) == 0:
        return 0.0
    if kind == VERTEX_FACE:
        gap = padding[q[0]] + max(padding[q[1]], max(padding[q[2]], padding[q[3]]))
    else:
        gap = max(padding[q[0]], padding[q[1]]) + max(padding[q[2]], padding[q[3]])
    return gap * GAP
