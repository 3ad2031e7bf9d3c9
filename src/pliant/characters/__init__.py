"""Articulated characters (paper 003): rigs from files, bodies of tetrahedra, Position Based Skinning, and on-demand
spatial hashing.

    character = pliant.characters.load("horse.glb")
    x = character.pose("Walk", 0.5)
    frames = pliant.characters.play(character, "Walk")

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .blending import dual_quaternion_blend, linear_blend
    from .bodies import body_of
    from .body import Body
    from .embedding import embed
    from .errors import RigError
    from .obstacles import Obstacle, ObstacleError
    from .on_demand import CollisionDetector
    from .penetrations import Penetrations
    from .playing import Frame, play
    from .position_based import PositionBasedSkinning
    from .reading import load
    from .rig import Channel, Character, Clip, Pose, Skeleton
    from .summaries import Summary, summarise
    from .tetrahedra import BodyError

_HOME = {
    "Body": "body",
    "BodyError": "tetrahedra",
    "Channel": "rig",
    "Character": "rig",
    "Clip": "rig",
    "CollisionDetector": "on_demand",
    "Frame": "playing",
    "Obstacle": "obstacles",
    "ObstacleError": "obstacles",
    "Penetrations": "penetrations",
    "Pose": "rig",
    "PositionBasedSkinning": "position_based",
    "RigError": "errors",
    "Skeleton": "rig",
    "Summary": "summaries",
    "body_of": "bodies",
    "dual_quaternion_blend": "blending",
    "embed": "embedding",
    "linear_blend": "blending",
    "load": "reading",
    "play": "playing",
    "summarise": "summaries",
}

__all__ = [
    "Body",
    "BodyError",
    "Channel",
    "Character",
    "Clip",
    "CollisionDetector",
    "Frame",
    "Obstacle",
    "ObstacleError",
    "Penetrations",
    "Pose",
    "PositionBasedSkinning",
    "RigError",
    "Skeleton",
    "Summary",
    "body_of",
    "dual_quaternion_blend",
    "embed",
    "linear_blend",
    "load",
    "play",
    "summarise",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"pliant.characters.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pliant.characters' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
