"""A scene of a character: skin, body and clips, and maybe a rigid body that is in the way."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.rig.rig import Character
from pliant.mesh.volumes import VolumeMesh


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Tetrahedra that keep their shape."""

    volume: VolumeMesh
    rest: np.ndarray  # (o, 3) positions at time 0
    transform: Callable[[float], np.ndarray]  # (4, 4) that takes them to a time in seconds


@dataclass(frozen=True, eq=False, repr=False)
class CharacterScene:
    """A character in its rest pose, the tetrahedra under its skin, and what it can do (``character.clips``)."""

    character: Character
    body: Body
    obstacle: RigidBody | None = None

    @property
    def name(self) -> str:
        return self.character.name

    def __repr__(self) -> str:
        cells, bones = len(self.body.volume.types), len(self.character.skeleton.joints)
        counts = f"{len(self.character.rest)} vertices, {cells} tetrahedra, {bones} bones"
        body = "" if self.obstacle is None else f", {self.obstacle.volume!r} beside it"
        return f"CharacterScene({self.name!r}: {counts}{body}, clips {', '.join(self.character.clips)})"
