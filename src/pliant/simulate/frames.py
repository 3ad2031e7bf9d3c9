"""What a simulation gives: frames, with what happened in their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import freeze


class Energies(NamedTuple):
    """Joule: of motion, of stretch and shear (of solids all elastic energy), of bending, and of height (0 at the
    origin)."""

    kinetic: float
    stretch: float
    bending: float
    gravity: float

    @property
    def total(self) -> float:
        return sum(self)


class Counts(NamedTuple):
    """Of all steps: vertices that came by splits and by divided edges, cells that eroded, vertices that merged."""

    copies: int = 0
    divided: int = 0
    eroded: int = 0
    merged: int = 0


class Balance(NamedTuple):
    """Joule, since the start: what has left motion, elasticity and height, and what has been put into them.

    plastic : dissipated by plastic flow
    viscous : dissipated by damping
    contact : taken by contacts and friction: what they push against the motion
    driven : put in by pins that move, and by pressure
    numerical : lost by the time steps being finite
    broken : gone with cells that eroded, vertices that merged, and by splits that were opened
    """

    plastic: float
    viscous: float
    contact: float
    driven: float
    numerical: float
    broken: float = 0.0

    @property
    def lost(self) -> float:
        """What is missing in the energies, all in all."""
        return self.plastic + self.viscous + self.contact + self.numerical + self.broken - self.driven


class StepTimes(NamedTuple):
    """Seconds of the clock that the last step took: to find what is near, to solve, to make the end free of contact."""

    near: float
    solve: float
    resolve: float


@dataclass(frozen=True)
class StepStats:
    """What happened in the last time step of a frame, or, of explicit ones, in all of them: contacts and rounds are
    added up then, displacement and depth are the largest.

    seconds : length of the last one
    newton, linear : iterations
    near : pairs of features within 1.5 thicknesses at its start
    contacts, rounds : pairs that pushed in the resolver, and rounds that it took
    displacement : how far it moved a vertex from what the solver proposed, at most
    lag : how far a driven vertex is from where its path is, because it had to wait
    energies : Energies at the end
    stretch : the largest principal stretch of an element, 1 at rest
    balance : of solids, where energy has gone since the start; None of cloth
    inverted : solid cells that are inverted at its end: 0 for certain where contact inside is resolved too
    steps : how many time steps it is about
    active, intersections : where contact is answered with impact forces, at its end: pairs that are past each other and
        pushed apart, and pairs of boundary faces that intersect; 0 where it is resolved
    deepest : the largest depth of such a pair in a step, before it was pushed
    fresh : of what breaks, pairs of features that coincide since a split and are left out until they are apart
    changes : of what breaks, Counts since the start; None of what does not
    """

    seconds: float
    newton: int
    linear: int
    near: int
    contacts: int
    rounds: int
    displacement: float
    lag: float
    energies: Energies
    stretch: float
    balance: Balance | None = None
    inverted: int = 0
    steps: int = 1
    active: int = 0
    deepest: float = 0.0
    intersections: int = 0
    fresh: int = 0
    changes: Counts | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Frame:
    """Where everything is at a time.

    positions, velocities : (n, 3) float64, of the cloth
    time : s
    scene : (N, 3) float64, positions of the cloth and, after it, of all obstacles: those of ``Cloth.mesh``
    stats : of the last step; None before the first
    times : what it took, which differs from run to run; None before the first
    mesh : of solids, the mesh of the scene, which changes where they break; None of cloth
    parent : (N,) of what breaks, the vertex of the scene at the start that each is a copy of, or at an end of the edge
        of which it is; None of what does not
    origin : (c,) of what breaks, the cell at the start that each is, or is a part of
    past : (N, 3), where something broke in the last step: where the vertices of the scene were before it, new ones by
        ``pliant.trace_back``
    """

    positions: np.ndarray
    velocities: np.ndarray
    time: float
    scene: np.ndarray
    stats: StepStats | None = None
    times: StepTimes | None = None
    mesh: TriMesh | VolumeMesh | None = None
    parent: np.ndarray | None = None
    origin: np.ndarray | None = None
    past: np.ndarray | None = None

    __post_init__ = freeze

    def __repr__(self) -> str:
        return f"Frame({len(self.positions)} vertices, t = {self.time:.4g} s)"


def kinetic_energy(mass: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(np.einsum("i,ij,ij->", mass, v, v, optimize=False))


def gravity_energy(mass: np.ndarray, x: np.ndarray, gravity: np.ndarray) -> float:
    return -float(np.einsum("i,ij,j->", mass, x, gravity, optimize=False))
