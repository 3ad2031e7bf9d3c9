"""What the part `simulated` says of detection."""

from __future__ import annotations

import pliant
from bench.simulated import _steps


def test_queries_for_what_is_near_are_part_of_detection():
    """They were called by another name, and counted for nothing: detection was said to take half of what it does."""
    cloth = pliant.simulated.setup("cloth_ball", 300).begin(threads=1)
    list(cloth.frames(8, 100.0))
    run = _steps(cloth, 100.0)
    assert 0.0 < run.near < run.detection < run.step
