"""What a simulation is made of, as its steps need it, from what users give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh
from pliant.response.closest import loose_vertices
from pliant.response.resolver import Resolver
from pliant.runtime.arrays import ShapeError, as_floats, as_number
from pliant.simulate.contacts import CONTACT_STIFFNESS, Rubbing
from pliant.simulate.links import Links
from pliant.simulate.materials import Material
from pliant.simulate.scene import Scene
from pliant.simulate.settings import GRAVITY, UP, Effort, Settings
from pliant.simulate.terms import Body
from pliant.simulate.welding import sewn_together

LEAST_THICKNESS = 0.15  # of the mean edge, where none is given: thinner cloth costs more rounds


class Model(NamedTuple):
    """What is simulated, and how.

    edge : mean length of the edges; gravity : (3,) in units of length; effort : of implicit steps
    """

    body: Body
    scene: Scene
    joints: Links
    rubbing: Rubbing
    gravity: np.ndarray
    edge: float
    settings: Settings
    effort: Effort


def thickness_of(given: float | None, materials: list[Material], edge: float) -> float:
    if given is not None:
        return as_number(given, "thickness", 1e-12, 1e6)
    return max(max(one.thickness for one in materials), LEAST_THICKNESS * edge)


def gravity_of(given: Any, settings: Settings) -> np.ndarray:
    """(3,) in units of length per second squared."""
    gravity = as_floats(-GRAVITY * np.array(UP[settings.up]) if given is None else given, "gravity")
    if gravity.shape != (3,):
        raise ShapeError(f"gravity must have shape (3,), but has {gravity.shape}")
    return settings.scale * gravity


def wind_of(given: Any, vertex_count: int) -> Callable[[float], np.ndarray]:
    """A function of the time, (3,) or (n, 3), from a velocity, a function, or None for still air."""

    def wind_at(time: float) -> np.ndarray:
        if given is None:
            return np.zeros(3)
        wind = as_floats(given(time) if callable(given) else given, "wind")
        if wind.shape not in ((3,), (vertex_count, 3)):
            raise ShapeError(f"wind must have shape (3,) or {(vertex_count, 3)}, but has {wind.shape}")
        return wind

    return wind_at


def rubbing_of(scene: Scene, thickness: float, stiffness: np.ndarray, sewn: np.ndarray) -> Rubbing:
    """stiffness : (N,) N/m, of what is at each vertex, 0 of obstacles; sewn : (k, 2) vertices"""
    count = len(scene.x)
    surface = scene.mesh if isinstance(scene.mesh, TriMesh) else scene.mesh.features()
    return Rubbing(
        thickness, CONTACT_STIFFNESS * stiffness, scene.friction, scene.of_obstacles, scene.x, scene.free,
        loose_vertices(surface, count), sewn_together(sewn, count),
    )  # fmt: skip


def inverse_mass_of(scene: Scene, mass: np.ndarray) -> np.ndarray:
    """(N,) 1/kg, 0 of what is driven and of obstacles."""
    inverse = np.zeros(len(scene.x))
    free = np.flatnonzero(scene.free[: len(mass)])
    inverse[free] = 1.0 / mass[free]
    return inverse


def resolver_of(model: Model, tuning: Tuning | None, threads: int | None) -> Resolver:
    scene = model.scene
    resolver = Resolver(
        scene.mesh, inverse_mass=inverse_mass_of(scene, model.body.mass), thickness=model.rubbing.thickness,
        friction=scene.frictions, objects=scene.objects, pinched=model.settings.pinched, tuning=tuning, threads=threads,
    )  # fmt: skip
    resolver._starts.advice = (
        "pliant.check lists them, of the mesh and the frame().scene of the simulation; pliant.untangle moves them apart"
    )
    resolver._starts.named = scene.pairs_of_faces
    return resolver
