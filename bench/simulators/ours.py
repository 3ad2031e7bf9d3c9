"""``pliant.simulate.Cloth``."""

from __future__ import annotations

import numpy as np

from bench.simulators.scenes import BENDING, DENSITY, FRICTION, POISSON, STIFFNESS, THICKNESS, Scene, drape, twist
from pliant.simulate import Cloth, Material, Obstacle, Pin, Settings

MATERIAL = Material(
    DENSITY, STIFFNESS, STIFFNESS, STIFFNESS / (2.0 * (1.0 + POISSON)), POISSON, BENDING, BENDING,
    thickness=THICKNESS,
)  # fmt: skip


class PliantCloth:
    """Two steps a frame, as by default; everything else is the default, too, but the air, which no other has."""

    steps = 2

    def __init__(self, scene: Scene, threads: int) -> None:
        _warm_up(threads)
        self._cloth = _cloth(scene, threads)
        self._frame = self._cloth.frame()
        self.settings = f"defaults, no air, {self.steps} steps a frame, {threads} threads"

    def step(self, time: float) -> None:
        self._frame = self._cloth.step(time - self._cloth.time)

    def positions(self) -> np.ndarray:
        return self._frame.scene


def _cloth(scene: Scene, threads: int) -> Cloth:
    solids = [Obstacle(solid.faces, solid.x, solid.at if any(solid.velocity) else None) for solid in scene.solids]
    pins = [Pin(scene.driven, scene.path)] if len(scene.driven) else None
    return Cloth(
        scene.faces, scene.x, material=MATERIAL, thickness=THICKNESS, pins=pins, obstacles=solids,
        gravity=(0.0, 0.0, -scene.gravity), friction=FRICTION, rest=scene.rest, settings=Settings(air_density=0.0),
        threads=threads,
    )  # fmt: skip


def _warm_up(threads: int) -> None:
    """Compile or load all kernels, with contact."""
    for make, frames in ((drape, 10), (twist, 25)):
        for _ in _cloth(make(60), threads).frames(frames):
            pass
