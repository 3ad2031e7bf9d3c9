"""Cloth: what falls, folds and wrinkles, and ends every step free of contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh, as_mesh
from pliant.runtime.arrays import ShapeError, as_positions, thread_count
from pliant.runtime.processes import expect
from pliant.runtime.threads import ThreadPool
from pliant.simulate.accounts import ClothAccount
from pliant.simulate.air import Air
from pliant.simulate.bending_step import BendingStep
from pliant.simulate.driven import Obstacle, pins_of
from pliant.simulate.frames import Frame
from pliant.simulate.joints import links_of_joints, listed_joints, sewn_pairs
from pliant.simulate.materials import Material
from pliant.simulate.membrane import MembraneStep
from pliant.simulate.model import Model, gravity_of, resolver_of, rubbing_of, thickness_of, wind_of
from pliant.simulate.scene import Scene, materials_of, of_vertices, rest_of, sheet_of, warn_of_size, warn_of_tearing
from pliant.simulate.settings import OF_CLOTH, Settings, settings_of
from pliant.simulate.simulation import Simulation
from pliant.simulate.stepping import Made, Stepper
from pliant.simulate.terms import Body
from pliant.simulate.welding import Welded, weld


class Cloth(Simulation):
    """A simulation of cloth; every step ends free of contact, for certain.

        cloth = pliant.simulate.Cloth(faces, x, material="silk", pins=[0, 40], obstacles=[Obstacle(ball, xb)])
        for frame in cloth.frames(240):
            show(frame.positions)

    Parameters
    ----------
    mesh : (m, 3) integers or TriMesh
        Triangles of the cloth; separate components are separate cloths.
    x : (n, 3) floats
        Where the cloth starts, free of intersections.
    material : str, Material or a sequence of them
        One for all, or one for each component (``TriMesh.components``).
    thickness : float, optional
        Gap that is kept where the cloth touches something; default: that of the material, and at least 0.15 of the mean
        edge.
    pins : (k,) integers, Pin, or several Pins
        Vertices that are held or led.
    obstacles : Obstacle or several
    gravity : (3,) floats, optional
        m/s2; default: 9.81 downwards.
    friction : float
        Coefficient, of the cloth against itself and against obstacles without one of their own.
    wind : (3,) floats or a function of the time that gives them, or (n, 3), optional
        Velocity of the air, in units of length per second; default: still air.
    rest : (n, 2) or (n, 3) floats, optional
        A pattern, warp along the first coordinate, or positions that the cloth has at rest; default: x.
    joints : Seam, Spring or several
    settings : Settings, optional
    tuning : Tuning, optional
        Of the detection inside; changes the time, never the result.
    threads : int, optional
        Changes the time, never the result.

    Raises
    ------
    MeshError
        Where the input is wrong; ``TangledError`` where the start is tangled, by the first step.
    """

    def __init__(
        self,
        mesh: Any,
        x: Any,
        *,
        material: str | Material | Sequence[str | Material] = "cotton",
        thickness: float | None = None,
        pins: Any = None,
        obstacles: Obstacle | Sequence[Obstacle] = (),
        gravity: Any = None,
        friction: float = 0.3,
        wind: Any = None,
        rest: Any = None,
        joints: Any = (),
        settings: Settings | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:
        expect("simulate")
        self.settings = settings_of(settings)
        own, x = as_mesh(mesh), as_positions(x, "x").copy()
        if own.vertex_limit > len(x):
            raise ShapeError(f"the cloth has a vertex {own.vertex_limit - 1}, but {len(x)} positions")
        self._own = own
        kinds, materials = materials_of(own, material, self.settings)
        sheet, edge = sheet_of(own, x, rest_of(rest, x), (materials, kinds), self.settings)
        obstacles = [obstacles] if isinstance(obstacles, Obstacle) else list(obstacles)
        self._scene = Scene.of(own, x, obstacles, pins_of(pins, x), sheet.mass, friction)
        self.thickness = thickness_of(thickness, materials, edge)
        gravity, joints = gravity_of(gravity, self.settings), listed_joints(joints)
        self._sewn, self._sheet = sewn_pairs(joints), sheet
        warp = np.array([one.stretch_warp for one in materials])[kinds]
        weft = np.array([one.stretch_weft for one in materials])[kinds]
        self._joints = links_of_joints(joints, x, self.thickness, of_vertices(own.faces, warp, len(x)))
        stiffness = of_vertices(own.faces, np.maximum(warp, weft), len(self._scene.x))
        rubbing = rubbing_of(self._scene, self.thickness, stiffness, self._sewn)
        pool, scale = ThreadPool(thread_count(threads)), self.settings.scale
        membrane, bending = MembraneStep(sheet.membrane, pool), BendingStep(sheet.bending, len(x), pool)
        body = Body(sheet.mass, sheet.membrane.rows, (membrane,), bending)
        effort = self.settings.effort(OF_CLOTH)
        model = Model(body, self._scene, self._joints, rubbing, gravity, edge, self.settings, effort)
        air = Air(sheet.membrane, len(x), self.settings.air_density / scale**3), wind_of(wind, len(x))
        account = ClothAccount(sheet.mass, (membrane, bending), gravity, scale)
        self._resolver = resolver_of(model, tuning, threads)
        self._is_torn = False
        super().__init__(Stepper(model, air, account, self._resolver, pool))
        warn_of_size(x, self.settings)

    # ---- what it is

    @property
    def mesh(self) -> TriMesh:
        """The cloth and, after it, all obstacles, as one mesh: that of ``Frame.scene``."""
        mesh = self._scene.mesh
        assert isinstance(mesh, TriMesh)
        return mesh

    def __repr__(self) -> str:
        return f"Cloth({len(self._own.faces)} faces, {len(self._scene.groups)} driven parts, t = {self.time:.4g} s)"

    def welded(self) -> Welded:
        """The cloth as it is now, with the two vertices of every stitch of its seams made one.

        Returns
        -------
        Welded
            Its mesh, positions, and which vertex each one has become. Sewn vertices meet in the middle: whether that is
            free of intersections is for ``pliant.check`` to say.

        Raises
        ------
        MeshError
            Where a stitch is not closed, or would close a face.
        """
        return weld(self._own, self._state.x[: self.vertex_count], self._sewn, self.thickness)

    def _constants(self) -> tuple[np.ndarray, ...]:
        membrane, bending = self._sheet.membrane, self._sheet.bending
        return membrane.moduli, membrane.limit, membrane.damping, bending.stiffness, bending.damping

    def _accept(self, made: Made) -> Frame:
        self._is_torn = self._is_torn or warn_of_tearing(self._scene, self._own, made.stretch)
        return super()._accept(made)

    def _restored(self) -> None:
        self._is_torn = False
