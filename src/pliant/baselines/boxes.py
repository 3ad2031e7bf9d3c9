"""Boxes alone (AABB-only in paper 000): no patch is proved to be free of self-contact."""

from __future__ import annotations

from pliant._tally import Tally
from pliant._threads import Crew
from pliant.prepare import Fitted, Prepared


def mark(scene: Prepared, fitted: Fitted, crew: Crew, tally: Tally) -> None:
    """Nothing is marked; the hierarchy is still the one of the other methods, so that only this stage differs."""
