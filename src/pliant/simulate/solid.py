"""Solids: what deforms, flows and bounces, and ends every step free of contact and of inverted cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh, as_volume
from pliant.runtime.arrays import OptionError, as_number, as_positions, thread_count
from pliant.runtime.log import warn
from pliant.runtime.processes import expect
from pliant.runtime.threads import ThreadPool
from pliant.simulate.breakable import Breakable, Setup
from pliant.simulate.driven import Obstacle, pins_of
from pliant.simulate.frames import Frame
from pliant.simulate.model import gravity_of
from pliant.simulate.scene import Scene, warn_of_size
from pliant.simulate.settings import Settings, settings_of
from pliant.simulate.solids.building import LEAST_THICKNESS, physics_of
from pliant.simulate.solids.chambers import loads_of
from pliant.simulate.solids.changing.options import Fracture
from pliant.simulate.solids.changing.simulated import changing_of
from pliant.simulate.solids.materials import SolidMaterial
from pliant.simulate.solids.schemes import Scheme, model_of, stepper_of
from pliant.simulate.stepping import Made


class Solid(Breakable):
    """A simulation of solids; every step ends free of contact, and with no cell inverted, for certain.

        solid = pliant.simulate.Solid({"tetra": cells}, x, materials="rubber", obstacles=[Obstacle(floor, floor_x)])
        for frame in solid.frames(240):
            show(frame.positions)

    Parameters
    ----------
    mesh : VolumeMesh or what makes one
        Tetrahedra, hexahedra, wedges and pyramids, and shells of triangles and quadrilaterals, in any mix; separate
        components are separate solids.
    x : (n, 3) floats
        Where the solids start, at rest and without stress, free of intersections.
    materials : str, SolidMaterial or a sequence of them
        One for all, or one for each component (``VolumeMesh.components``), or one for each cell.
    shell_thickness : float or (s,) floats
        Of the shells, all or each of them, in the order of their cells: they stretch, bend and flow as plates do.
    thickness : float, optional
        Gap that is kept where solids touch something; default: 0.05 of the mean edge.
    pins : (k,) integers, Pin, or several Pins
        Vertices that are held or led.
    obstacles : Obstacle or several
    gravity : (3,) floats, optional
        m/s2; default: 9.81 downwards.
    friction : float
        Coefficient, of the solids against each other and against obstacles without one of their own.
    velocities : (n, 3) floats, optional
        At the start; default: at rest.
    pressure : float, a function of the time that gives it, Chamber or several, optional
        N/m2, in all closed cavities of solids and in all closed shells, above that outside; a ``Chamber`` may have a
        gas in it, and faces of its own.
    contact : {"resolve", "penalty"}
        Every step is resolved; or impact forces push apart what has met, as in Algorithm 1 of paper 004, with the
        explicit scheme; what they leave is counted (``active``, ``deepest``, ``intersections`` of ``StepStats``).
    interior : bool
        Whether contact inside of the solids is resolved too, so that no cell is inverted at the end of any step. If
        not, contact of their boundaries alone is, and inverted cells are counted (``StepStats.inverted``).
    fracture : Fracture, optional
        What breaks: vertices that split under tension, cells that erode, vertices that merge, blades that cut. The
        numbers of vertices and cells change then; frames say which mesh they are of. Default: nothing.
    scheme : {"implicit", "explicit"}
        Implicit Euler, for what is slow or stiff; or central differences, for impacts and waves.
    settings : Settings, optional
        Default of the explicit scheme: ``Settings(step="adaptive")``, steps of 0.65 of the longest stable one.
    tuning : Tuning, optional
        Of the detection inside; changes the time, never the result.
    threads : int, optional
        Changes the time, never the result.

    Raises
    ------
    MeshError
        Where the input is wrong: ``InvertedCellError`` where cells are inverted at the start; ``TangledError`` where
        the start is tangled, by the first step; ``StepTooLongError`` where a step of the explicit scheme is not stable,
        by that step.
    """

    def __init__(
        self,
        mesh: Any,
        x: Any,
        *,
        materials: str | SolidMaterial | Sequence[str | SolidMaterial] = "rubber",
        shell_thickness: Any = None,
        thickness: float | None = None,
        pins: Any = None,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        gravity: Any = None,
        friction: float = 0.3,
        velocities: Any = None,
        pressure: Any = None,
        contact: str = "resolve",
        interior: bool = True,
        fracture: Fracture | None = None,
        scheme: str = "implicit",
        settings: Settings | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:
        expect("solids")
        how = Scheme.of(scheme, contact, interior, tuning, threads)
        self.settings = how.settings if settings is None else settings_of(settings)
        own, x = as_volume(mesh), as_positions(x, "x").copy()
        own.require_in_range(len(x))
        self.cells, self.interior = own, how.interior
        pool, gravity = ThreadPool(thread_count(threads)), gravity_of(gravity, self.settings)
        physics = self._physics = physics_of(own, x, materials, shell_thickness, self.settings, pool)
        obstacles = [obstacles] if isinstance(obstacles, Obstacle) else list(obstacles)
        pins = pins_of(pins, x, "solid")
        scene = Scene.of(how.tested(own), x, obstacles, pins, physics.mass, friction)
        if thickness is None:
            thickness = LEAST_THICKNESS * physics.edge
        self.thickness = as_number(thickness, "thickness", 1e-12, 1e6)
        loads = loads_of(pressure, own, x, physics.rows, self.settings)
        model = model_of(physics, loads, scene, self.thickness, gravity, self.settings)
        self._is_inverted = False
        self._changing = changing_of(fracture, own, x, materials, physics, self.thickness, self.settings)
        if fracture is not None and pressure is not None:
            raise OptionError("fracture= and pressure= do not go together: chambers have faces that do not change")
        self._setup = Setup(how, obstacles, pins, friction, self.thickness, gravity, self.settings, pool)
        super().__init__(stepper_of(how, model, physics, own, pool))
        if velocities is not None:
            self.set_velocities(velocities)
        warn_of_size(x, self.settings, "solid")

    # ---- what it is

    @property
    def mesh(self) -> VolumeMesh | TriMesh:
        """The cells and, after them, all obstacles as shells; of ``interior=False`` the boundary and all obstacles: as
        one mesh, that of ``Frame.scene``."""
        return self._stepper.model.scene.mesh

    @property
    def plastic_strain(self) -> np.ndarray:
        """(c,) equivalent plastic strain of each cell, the largest of its points, and of the layers of shells."""
        self._remember(self._state)
        return self._physics.plastic_strain()

    @property
    def stress(self) -> np.ndarray:
        """(c,) N/m2, of von Mises, of each cell: of solids, of the mean over their volume of Cauchy's stress; of
        shells, the largest of their layers."""
        self._remember(self._state)
        x = np.ascontiguousarray(self._state.x[: self.vertex_count])
        return self._physics.stress(x) * self.settings.scale

    @property
    def damage(self) -> np.ndarray:
        """(c,) the part of what it takes to break that each cell is at: tension by failure stress, or plastic strain by
        the one of erosion, whichever is more; 0 where ``fracture=`` says nothing of it."""
        changing, cells = self._changing, self._physics.cells
        if changing is None or cells is None:
            return np.zeros(len(self.cells.types))
        self._remember(self._state)
        return changing.damage(cells, np.ascontiguousarray(self._state.x[: self.vertex_count]), cells._pool)

    def cell_data(self) -> dict[str, np.ndarray]:
        """Numbers at the cells as they are now, to be shown and written.

        Returns
        -------
        dict of str to (c,) float64
            "stress", N/m2, of von Mises; "plastic strain"; and "damage" of what may break.
        """
        known = {"stress": self.stress, "plastic strain": self.plastic_strain}
        return known if self._changing is None else known | {"damage": self.damage}

    def __repr__(self) -> str:
        groups = len(self._stepper.model.scene.groups)
        return f"Solid({len(self.cells.types)} cells, {groups} driven parts, t = {self.time:.4g} s)"

    # ---- a step

    def _constants(self) -> tuple[np.ndarray, ...]:
        cells, shells = self._physics.cells, self._physics.shells
        of_cells = () if cells is None else (cells.solids.law, cells.solids.constants, cells.solids.damping)
        return of_cells if shells is None else (*of_cells, shells.shells.constants)

    def _accept(self, made: Made) -> Frame:
        if made.stats is not None and made.stats.inverted and not self._is_inverted:
            self._is_inverted = True
            warn(f'{made.stats.inverted} cells are inverted: contact="resolve" and interior=True keep them upright')
        return super()._accept(made)

    def _restored(self) -> None:
        self._is_inverted = False
