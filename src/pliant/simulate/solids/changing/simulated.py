"""Breaking as part of a simulation: what a solid is made of after it, and where everything in it came from."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from pliant.engine.motion import trace_back
from pliant.mesh.cells import MOST_CORNERS
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError, OptionError
from pliant.runtime.threads import ThreadPool
from pliant.simulate.rows import rows_of
from pliant.simulate.settings import Settings
from pliant.simulate.solids.building import Physics, _materials_of
from pliant.simulate.solids.changing.body import Body, Changed, corner_masses
from pliant.simulate.solids.changing.breaking import Breaking, Loads
from pliant.simulate.solids.changing.cauchy import cell_stresses
from pliant.simulate.solids.changing.erosion import worn, worn_out
from pliant.simulate.solids.changing.opening import opened
from pliant.simulate.solids.changing.options import Fracture, Thresholds, swept_in, thresholds_of
from pliant.simulate.solids.quadrature import Points
from pliant.simulate.solids.stresses import Plastic, SolidStep, solids_of


class Made(NamedTuple):
    """Where everything came from since the start.

    mesh : the cells alone
    corner_mass, ballast : as of a ``Body``
    rest : (n, 3) where each vertex was at the start, or would have been
    parent : (n,) the vertex at the start that each is a copy of, or at an end of the edge of which it is
    origin : (c,) the cell at the start that each is, or is a part of
    gone : J, energy that went with what eroded and merged, and by opening splits
    """

    mesh: VolumeMesh
    corner_mass: np.ndarray
    ballast: np.ndarray
    rest: np.ndarray
    parent: np.ndarray
    origin: np.ndarray
    gone: float


class Broken(NamedTuple):
    """A solid after a change: made; physics; positions and velocities, (n, 3); the past of its cells; where its
    vertices were at the start of the step; and ids of those that coincide with others now"""

    made: Made
    physics: Physics
    x: np.ndarray
    v: np.ndarray
    plastic: Plastic
    past: np.ndarray
    copies: np.ndarray


class Moment(NamedTuple):
    """The end of a step: positions before it and now, velocities, (n, 3); its begin and end, s; force : (n, 3) N, of
    contact; held : (n,) bool, vertices that somebody else moves"""

    x0: np.ndarray
    x: np.ndarray
    v: np.ndarray
    begin: float
    end: float
    force: np.ndarray | None
    held: np.ndarray


class Changing:
    """Breaks a solid up at the ends of its steps.

    counts : of cells and of vertices at the start
    made : what it is now
    breaking : what has happened, and the pairs that are fresh
    """

    def __init__(
        self, options: Fracture, thresholds: Thresholds, mesh: VolumeMesh, x: np.ndarray, density: np.ndarray,
        physics: Physics,
    ) -> None:  # fmt: skip
        """thresholds, density : of the cells at the start"""
        assert physics.cells is not None
        self._options, self._at, self._solids = options, thresholds, physics.cells.solids
        self.counts: tuple[int, int] = len(mesh.types), len(x)
        self.breaking: Breaking = Breaking()
        points, count = physics.cells.solids.points, len(x)
        self.made: Made = Made(
            mesh, corner_masses(mesh, points, density), np.zeros(count), x.copy(), np.arange(count),
            np.arange(len(mesh.types)), 0.0,
        )  # fmt: skip

    @property
    def needs_force(self) -> bool:
        return self._at.merging is not None

    def kept(self) -> tuple[Breaking, Made]:
        """What ``be`` goes back to."""
        breaking = copy.copy(self.breaking)
        breaking.fresh = copy.copy(breaking.fresh)
        return breaking, self.made

    def be(self, kept: tuple[Breaking, Made]) -> None:
        self.breaking, self.made = kept

    def at_end(self, moment: Moment, physics: Physics, pool: ThreadPool) -> Broken | None:
        """What the solid is after all that breaks at the end of a step; None where nothing does."""
        made, cells = self.made, physics.cells
        assert cells is not None
        body = Body(made.mesh, moment.x, moment.v, made.corner_mass, made.ballast)
        done = self.breaking.step(body, self._loads(moment, cells, pool))
        if not done:
            return None
        points, plastic, stiffness = cells.solids.points, cells.plastic, physics.stiffness
        past, copies = moment.x0, np.empty(0, np.int64)
        for changed in done:
            plastic, points = changed.plastic(points, plastic), changed.points(points)
            made = _followed(made, changed)
            known = len(past)
            past = trace_back(changed.body.x, changed.body.v, moment.end - moment.begin, past[:known])
            stiffness = _stiffest(stiffness, changed)
            copies = np.concatenate((copies, changed.copies()))
        body = done[-1].body
        if not len(body.mesh.types):
            raise MeshError("all cells of the solid have eroded")
        self.made = made
        new = self.physics(points, stiffness, physics.edge, pool)
        return Broken(made, new, body.x, body.v, plastic, past, np.unique(copies))

    def damage(self, cells: SolidStep, x: np.ndarray, pool: ThreadPool) -> np.ndarray:
        """(c,) the part of what it takes to split or to erode that each cell is at, at x, (n, 3): tension by failure
        stress, or plastic strain by that of erosion, whichever is more; 0 where it does neither."""
        origin, points = self.made.origin, cells.solids.points
        tension = np.linalg.eigvalsh(cell_stresses(cells.solids, cells.plastic, x, pool))[:, 2]
        strain = worn(points, cells.plastic.strain, len(origin))
        return np.maximum(0.0, np.maximum(tension / self._at.failure[origin], strain / self._at.erosion[origin]))

    def physics(self, points: Points, stiffness: np.ndarray, edge: float, pool: ThreadPool) -> Physics:
        """Of what is made, with these points of integration."""
        made, was = self.made, self._solids
        mesh, count, origin = made.mesh, len(made.rest), made.origin
        corners = np.where(np.arange(MOST_CORNERS) < mesh._corner_count[:, None], mesh._corners, -1).astype(np.int32)
        rows, _ = rows_of(corners, count)
        solids = solids_of(
            corners, points, was.law[origin], was.constants[origin], count, was.damping[origin], rows
        )  # fmt: skip
        mass = Body(mesh, made.rest, made.rest, made.corner_mass, made.ballast).mass()
        return Physics(mass, rows, SolidStep(solids, pool), None, stiffness, edge)

    def _loads(self, moment: Moment, cells: SolidStep, pool: ThreadPool) -> Loads:
        origin, at = self.made.origin, self._at
        failure, erosion = at.failure[origin], at.erosion[origin]
        stress = gone = force = None
        is_due = self._options.is_due(moment.begin, moment.end)
        if is_due and np.isfinite(failure).any():
            stress = cell_stresses(cells.solids, cells.plastic, moment.x, pool)
        if is_due and np.isfinite(erosion).any():
            gone = worn_out(cells.solids.points, cells.plastic.strain, erosion)
            gone = gone if gone.any() else None
        if at.merging is not None and moment.force is not None:
            force = np.linalg.norm(moment.force, axis=1)
        return Loads(
            stress=stress, failure=failure, held=moment.held, gone=gone, force=force, merging=at.merging,
            swept=swept_in(self._options.blades, moment.begin, moment.end),
        )  # fmt: skip


def changing_of(
    options: Fracture | None, mesh: VolumeMesh, x: np.ndarray, materials: Any, physics: Physics,
    gap: float, settings: Settings,
) -> Changing | None:  # fmt: skip
    """None where nothing may break; materials : as users give them; gap : thickness"""
    if options is None:
        return None
    if not isinstance(options, Fracture):
        raise OptionError(f"fracture={options!r} must be a pliant.simulate.Fracture")
    if physics.cells is None or physics.shells is not None:
        raise OptionError("fracture= is of solid cells, and this solid has shells")
    kinds, made_of = _materials_of(mesh, materials)
    failure = np.array([one.failure_stress for one in made_of])[kinds]
    density = np.array([one.density for one in made_of])[kinds] / settings.scale**3
    components = mesh.components[mesh._corners[:, 0]].astype(np.int64)
    thresholds = thresholds_of(options, failure, components, gap, settings)
    return Changing(options, thresholds, mesh, x, density, physics)


def _followed(made: Made, changed: Changed) -> Made:
    return Made(
        changed.body.mesh, changed.body.corner_mass, changed.body.ballast, changed.of_vertices(made.rest),
        changed.of_vertices(made.parent), changed.of_cells(made.origin), made.gone,
    )  # fmt: skip


def _stiffest(stiffness: np.ndarray, changed: Changed) -> np.ndarray:
    """(n,) of each vertex what the one had that it came from; of those that merged the larger."""
    out = changed.of_vertices(stiffness)
    gone, kept = changed.renamed.T
    np.maximum.at(out, kept, stiffness[gone])
    return out


def apart(broken: Broken, held: np.ndarray) -> np.ndarray:
    """(n, 3) a proposal: copies of vertices a little in their own cells, but for those that are held."""
    made = broken.made
    x = opened(Body(made.mesh, broken.x, broken.v, made.corner_mass, made.ballast), broken.copies)
    x[held] = broken.x[held]
    return x
