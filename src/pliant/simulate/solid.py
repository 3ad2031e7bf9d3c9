"""Solids: what deforms, flows and bounces, and ends every step free of contact and of inverted cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh, as_volume
from pliant.runtime.arrays import as_number, as_positions, choose, thread_count
from pliant.runtime.log import warn
from pliant.runtime.processes import expect
from pliant.runtime.threads import ThreadPool
from pliant.simulate.air import Air
from pliant.simulate.driven import Obstacle, pins_of
from pliant.simulate.frames import Frame
from pliant.simulate.links import no_links
from pliant.simulate.model import Model, gravity_of, resolver_of, rubbing_of, wind_of
from pliant.simulate.scene import Scene, warn_of_size
from pliant.simulate.settings import Settings
from pliant.simulate.simulation import Simulation
from pliant.simulate.solids.account import SolidAccount
from pliant.simulate.solids.building import LEAST_THICKNESS, physics_of, pressure_of
from pliant.simulate.solids.changing.cauchy import cell_stresses
from pliant.simulate.solids.materials import SolidMaterial
from pliant.simulate.solids.pressure import Pressure, cavities_of
from pliant.simulate.solids.stresses import Plastic, SolidStep
from pliant.simulate.stepping import Made, Stepper
from pliant.simulate.terms import Body


class Solid(Simulation):
    """A simulation of solids; every step ends free of contact, and with no cell inverted, for certain.

        solid = pliant.simulate.Solid({"tetra": cells}, x, materials="rubber", obstacles=[Obstacle(floor, floor_x)])
        for frame in solid.frames(240):
            show(frame.positions)

    Parameters
    ----------
    mesh : VolumeMesh or what makes one
        Tetrahedra, hexahedra, wedges and pyramids, in any mix; separate components are separate solids.
    x : (n, 3) floats
        Where the solids start, at rest and without stress, free of intersections.
    materials : str, SolidMaterial or a sequence of them
        One for all, or one for each component (``VolumeMesh.components``).
    thickness : float, optional
        Gap that is kept where solids touch something; default: 0.05 of the mean edge.
    pins : (k,) integers, Pin, or several Pins
        Vertices that are held or led.
    obstacles : Obstacle or several
    gravity : (3,) floats, optional
        m/s2; default: 9.81 downwards.
    friction : float
        Coefficient, of the solids against each other and against obstacles without one of their own.
    pressure : float or a function of the time that gives it, optional
        N/m2, in all closed cavities of the solids, above that outside.
    contact : {"resolve"}
        Every step is resolved.
    interior : bool
        Whether contact inside of the solids is resolved too, so that no cell is inverted at the end of any step. If
        not, contact of their boundaries alone is, and inverted cells are counted (``StepStats.inverted``).
    scheme : {"implicit"}
        Implicit Euler.
    settings : Settings, optional
    tuning : Tuning, optional
        Of the detection inside; changes the time, never the result.
    threads : int, optional
        Changes the time, never the result.

    Raises
    ------
    MeshError
        Where the input is wrong: ``InvertedCellError`` where cells are inverted at the start; ``TangledError`` where
        the start is tangled, by the first step.
    """

    def __init__(
        self,
        mesh: Any,
        x: Any,
        *,
        materials: str | SolidMaterial | Sequence[str | SolidMaterial] = "rubber",
        thickness: float | None = None,
        pins: Any = None,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        gravity: Any = None,
        friction: float = 0.3,
        pressure: Any = None,
        contact: str = "resolve",
        interior: bool = True,
        scheme: str = "implicit",
        settings: Settings | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:
        expect("simulate")
        choose(contact, "contact", ("resolve",))
        choose(scheme, "scheme", ("implicit",))
        self.settings = Settings() if settings is None else settings
        own, x = as_volume(mesh), as_positions(x, "x").copy()
        own.require_in_range(len(x))
        self.cells, self.interior = own, bool(interior)
        physics = physics_of(own, x, materials, self.settings)
        obstacles = [obstacles] if isinstance(obstacles, Obstacle) else list(obstacles)
        tested = own if self.interior else _surface_of(own)
        scene = Scene.of(tested, x, obstacles, pins_of(pins, x), physics.mass, friction)
        if thickness is None:
            thickness = LEAST_THICKNESS * physics.edge
        self.thickness = as_number(thickness, "thickness", 1e-12, 1e6)
        stiffness = np.zeros(len(scene.x))
        stiffness[: len(x)] = physics.stiffness
        rubbing = rubbing_of(scene, self.thickness, stiffness, np.empty((0, 2), np.int64))
        pool, gravity = ThreadPool(thread_count(threads)), gravity_of(gravity, self.settings)
        cells = SolidStep(physics.solids, pool)
        loads = ()
        if pressure is not None:
            loads = (
                Pressure(cavities_of(own, x), x, physics.solids.rows, pressure=pressure_of(pressure, self.settings)),
            )
        body = Body(physics.mass, physics.solids.rows, (cells, *loads), lasting=(cells,), loads=loads)
        model = Model(body, scene, no_links(), rubbing, gravity, physics.edge, self.settings)
        account = SolidAccount(
            body, scene.free[: len(x)], gravity, self.settings, cells.stretch, None if self.interior else own
        )
        air = Air(None, len(x), 0.0), wind_of(None, len(x))
        self._is_inverted = False
        super().__init__(Stepper(model, air, account, resolver_of(model, tuning, threads), pool))
        warn_of_size(x, self.settings, "solid")

    # ---- what it is

    @property
    def mesh(self) -> VolumeMesh | TriMesh:
        """The cells and, after them, all obstacles as shells; of ``interior=False`` the boundary and all obstacles: as
        one mesh, that of ``Frame.scene``."""
        return self._stepper.model.scene.mesh

    @property
    def plastic_strain(self) -> np.ndarray:
        """(c,) equivalent plastic strain of each cell, the largest of its points."""
        strain, points = self._state.memory[0][1], self._cells.solids.points
        return np.maximum.reduceat(strain, points.start[:-1])

    @property
    def stress(self) -> np.ndarray:
        """(c,) N/m2, of von Mises, of each cell: of the mean over its volume of Cauchy's stress."""
        cells, plastic = self._cells, Plastic(*self._state.memory[0])
        x = np.ascontiguousarray(self._state.x[: self.vertex_count])
        stress = cell_stresses(cells.solids, plastic, x, cells.pool) * self.settings.scale
        shear = stress - np.eye(3) * (np.trace(stress, axis1=1, axis2=2) / 3.0)[:, None, None]
        return np.sqrt(1.5 * (shear**2).sum(axis=(1, 2)))

    def cell_data(self) -> dict[str, np.ndarray]:
        """Numbers at the cells as they are now, to be shown and written.

        Returns
        -------
        dict of str to (c,) float64
            "stress", N/m2, of von Mises, and "plastic strain".
        """
        return {"stress": self.stress, "plastic strain": self.plastic_strain}

    @property
    def _cells(self) -> SolidStep:
        cells = self._stepper.model.body.terms[0]
        assert isinstance(cells, SolidStep)
        return cells

    def __repr__(self) -> str:
        groups = len(self._stepper.model.scene.groups)
        return f"Solid({len(self.cells.types)} cells, {groups} driven parts, t = {self.time:.4g} s)"

    # ---- a step

    def _accept(self, made: Made) -> Frame:
        if made.stats.inverted and not self._is_inverted:
            self._is_inverted = True
            warn(f"{made.stats.inverted} cells are inverted: interior=True keeps them upright")
        return super()._accept(made)

    def _restored(self) -> None:
        self._is_inverted = False


def _surface_of(mesh: VolumeMesh) -> TriMesh:
    return TriMesh(mesh.surface().faces)
