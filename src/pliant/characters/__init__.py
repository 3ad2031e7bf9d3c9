"""Articulated characters (paper 003): rigs from files, bodies of tetrahedra, Position Based Skinning, and on-demand
spatial hashing.

    character = pliant.characters.load("horse.glb")
    x = character.pose("Walk", 0.5)

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .blending import dual_quaternion_blend, linear_blend
    from .body import Body
    from .errors import RigError
    from .reading import load
    from .rig import Channel, Character, Clip, Pose, Skeleton

_HOME = {
    "Body": "body",
    "Channel": "rig",
    "Character": "rig",
    "Clip": "rig",
    "Pose": "rig",
    "RigError": "errors",
    "Skeleton": "rig",
    "dual_quaternion_blend": "blending",
    "linear_blend": "blending",
    "load": "reading",
}

__all__ = [
    "Body",
    "Channel",
    "Character",
    "Clip",
    "Pose",
    "RigError",
    "Skeleton",
    "dual_quaternion_blend",
    "linear_blend",
    "load",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"pliant.characters.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pliant.characters' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
