"""How long time steps are: as long as chosen, or so long that nothing moves far in one."""

from __future__ import annotations

import numpy as np

LONGEST, SHORTEST = 1.0 / 60.0, 1.0 / 1920.0  # s, of adaptive steps


def next_step(seconds: float, longest: float | str, velocity: np.ndarray, gravity: np.ndarray, edge: float) -> float:
    """s, of the first of the steps that make up so many seconds; longest : s, or "adaptive", see ``adaptive_step``"""
    limit = adaptive_step(velocity, gravity, edge) if isinstance(longest, str) else longest
    return seconds / equal_parts(seconds, limit)


def equal_parts(seconds: float, longest: float) -> int:
    """How many steps of equal length, none longer than this, make up so many seconds."""
    return max(1, int(np.ceil(seconds / longest - 1e-9)))


def adaptive_step(velocity: np.ndarray, gravity: np.ndarray, edge: float) -> float:
    """s, in which no vertex moves further than the mean edge: folds and contacts are of that size.

    velocity : (n, 3), of the vertices now; gravity : (3,); edge : mean length
    """
    speed = float(np.sqrt(np.einsum("ij,ij->i", velocity, velocity).max(initial=0.0)))
    pull = float(np.sqrt(gravity @ gravity))
    # The positive root of pull t^2 / 2 + speed t = edge, in a form that has no difference.
    root = speed + np.sqrt(speed * speed + 2.0 * pull * edge)
    return min(max(2.0 * edge / root, SHORTEST), LONGEST) if root > 0.0 else LONGEST
