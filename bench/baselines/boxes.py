"""Boxes alone (AABB-only in paper 000): no patch is proved to be free of self-contact."""

from __future__ import annotations

from pliant.engine.scene import Fitted, Scene
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


def mark(scene: Scene, fitted: Fitted, pool: ThreadPool, tally: Tally) -> None:
    """Nothing is marked; the hierarchy is still the one of the other methods, so that only this stage differs."""
