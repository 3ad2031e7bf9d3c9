"""From a reference that is free of intersections towards what was given: free all the way."""

from __future__ import annotations

import numpy as np

from pliant.response.resolver import Resolver
from pliant.runtime.clocks import Clock
from pliant.untangling.judging import Limits
from pliant.untangling.returning import THICKNESS, brought_back
from pliant.untangling.window import Window

_SIZES = 2.0  # a step of the way, in sizes of the vertices
_STEPS = 60  # at most


def walk(window: Window, reference: np.ndarray, limits: Limits, clock: Clock) -> np.ndarray:
    """(n, 3) as near to what was given as a free way from the reference leads; fixed vertices go straight there, or
    wait where nothing gives way to them."""
    far = np.linalg.norm(window.x - reference, axis=1) / window.size
    steps = int(np.clip(np.ceil(far.max(initial=0.0) / _SIZES), 1, _STEPS))
    thickness = THICKNESS * float(np.median(window.size))
    resolver = Resolver(
        window.mesh, inverse_mass=np.where(window.held, 0.0, 1.0), thickness=thickness, threads=window.threads
    )
    x = reference
    for step in range(1, steps + 1):
        if clock.is_over:
            break
        x = resolver.resolve(x, reference + step / steps * (window.x - reference)).positions
    return brought_back(window, np.array(x), limits, clock)
