"""How often a closed surface winds around a point, in integers: decides every finite input (see ``windings``)."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.orientation import ROWS, WIDTH
from pliant.arithmetic.vec3 import row
from pliant.elementary.certified import HIT, MISS, UNSURE
from pliant.elementary.exact_containment import POINT, turn_in_integers
from pliant.elementary.windings import list_column, turn_in_doubles
from pliant.runtime.jit import kernel


@kernel
def wind_in_integers(surface, points, undecided, winding, status):
    """Decide the points that undecided names, in place; integers for those triangles alone that doubles leave open."""
    column = np.empty(len(surface.corners), np.int32)
    m, corners = np.empty((ROWS, WIDTH), np.int64), np.zeros((6, 3))
    for i in undecided:
        p, total, answer = row(points, i), 0, MISS
        corners[POINT, 0], corners[POINT, 1], corners[POINT, 2] = p
        for c in range(list_column(surface, p, column)):
            turn, state = turn_in_doubles(surface, p, column[c])
            if state == UNSURE:
                for j in range(3):
                    for k in range(3):
                        corners[j, k] = surface.x[surface.corners[column[c], j], k]
                turn, on_triangle = turn_in_integers(m, corners)
                state = HIT if on_triangle else MISS
            if state == HIT:
                answer = HIT
                break
            total += turn
        status[i], winding[i] = answer, total if answer == MISS else 0
