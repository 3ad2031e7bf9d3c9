"""Simulations that are ready to run: scene files, and built-in scenes.

    scene = pliant.simulated.load("funnel", triangles=5_000)  # frames; simulated the first time, kept on disk
    found = pliant.ccd(scene.faces, scene.x0, scene.x1)

    setup = pliant.simulated.read_scene("scene.toml").setup
    for frame in setup.begin().frames(setup.frames):
        show(frame.positions)

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.simulated.built_in import catalogue, load, load_volume, names, setup, volume_names
    from pliant.simulated.plan import Setup
    from pliant.simulated.scene_file import SceneFile, read_scene

_HOME = {
    "SceneFile": "pliant.simulated.scene_file",
    "Setup": "pliant.simulated.plan",
    "catalogue": "pliant.simulated.built_in",
    "load": "pliant.simulated.built_in",
    "load_volume": "pliant.simulated.built_in",
    "names": "pliant.simulated.built_in",
    "read_scene": "pliant.simulated.scene_file",
    "setup": "pliant.simulated.built_in",
    "volume_names": "pliant.simulated.built_in",
}

__all__ = ["SceneFile", "Setup", "catalogue", "load", "load_volume", "names", "read_scene", "setup", "volume_names"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant.simulated' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
