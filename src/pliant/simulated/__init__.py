"""Simulations from files: what is to be simulated, read from a scene file.

    scene = pliant.simulated.read_scene("scene.toml")
    for frame in scene.setup.begin().frames(scene.setup.frames):
        show(frame.positions)

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.simulated.scene_file import SceneFile, read_scene
    from pliant.simulated.setup import Setup

_HOME = {
    "SceneFile": "pliant.simulated.scene_file",
    "Setup": "pliant.simulated.setup",
    "read_scene": "pliant.simulated.scene_file",
}

__all__ = ["SceneFile", "Setup", "read_scene"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant.simulated' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
