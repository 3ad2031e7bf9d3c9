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
    from pliant.characters.body.bodies import body_of
    from pliant.characters.body.body import Body
    from pliant.characters.body.embedding import embed
    from pliant.characters.body.obstacles import Obstacle, ObstacleError
    from pliant.characters.body.tetrahedra import BodyError
    from pliant.characters.detection.on_demand import CollisionDetector
    from pliant.characters.detection.penetrations import Penetrations
    from pliant.characters.playing import Frame, play
    from pliant.characters.rig.blending import dual_quaternion_blend, linear_blend
    from pliant.characters.rig.errors import RigError
    from pliant.characters.rig.rig import Channel, Character, Clip, Pose, Skeleton
    from pliant.characters.solver.position_based import PositionBasedSkinning
    from pliant.characters.summaries import Summary, summarise
    from pliant.io.gltf.characters import load

_HOME = {
    "Body": "pliant.characters.body.body",
    "BodyError": "pliant.characters.body.tetrahedra",
    "Channel": "pliant.characters.rig.rig",
    "Character": "pliant.characters.rig.rig",
    "Clip": "pliant.characters.rig.rig",
    "CollisionDetector": "pliant.characters.detection.on_demand",
    "Frame": "pliant.characters.playing",
    "Obstacle": "pliant.characters.body.obstacles",
    "ObstacleError": "pliant.characters.body.obstacles",
    "Penetrations": "pliant.characters.detection.penetrations",
    "Pose": "pliant.characters.rig.rig",
    "PositionBasedSkinning": "pliant.characters.solver.position_based",
    "RigError": "pliant.characters.rig.errors",
    "Skeleton": "pliant.characters.rig.rig",
    "Summary": "pliant.characters.summaries",
    "body_of": "pliant.characters.body.bodies",
    "dual_quaternion_blend": "pliant.characters.rig.blending",
    "embed": "pliant.characters.body.embedding",
    "linear_blend": "pliant.characters.rig.blending",
    "load": "pliant.io.gltf.characters",
    "play": "pliant.characters.playing",
    "summarise": "pliant.characters.summaries",
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
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant.characters' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
