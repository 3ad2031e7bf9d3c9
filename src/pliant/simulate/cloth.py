"""Cloth: what falls, folds and wrinkles, and ends every step free of contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh, as_mesh
from pliant.runtime.arrays import OptionError, ShapeError, as_number, as_positions, thread_count
from pliant.runtime.processes import expect
from pliant.runtime.threads import ThreadPool
from pliant.simulate.checkpoints import read_state, write_checkpoint
from pliant.simulate.driven import Obstacle, pins_of
from pliant.simulate.frames import Frame, StepStats, StepTimes
from pliant.simulate.joints import links_of_joints, listed_joints, sewn_pairs
from pliant.simulate.materials import Material
from pliant.simulate.model import Model, gravity_of, resolver_of, rubbing_of, thickness_of, wind_of
from pliant.simulate.pacing import next_step
from pliant.simulate.scene import Scene, materials_of, of_vertices, rest_of, sheet_of, warn_of_size, warn_of_tearing
from pliant.simulate.settings import Settings
from pliant.simulate.stepping import Made, State, Stepper
from pliant.simulate.welding import Welded, weld


class Cloth:
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
        self.settings = Settings() if settings is None else settings
        own, x = as_mesh(mesh), as_positions(x, "x").copy()
        if own.vertex_limit > len(x):
            raise ShapeError(f"the cloth has a vertex {own.vertex_limit - 1}, but {len(x)} positions")
        self._own = own
        kinds, materials = materials_of(own, material, self.settings)
        self._sheet, self._edge = sheet_of(own, x, rest_of(rest, x), (materials, kinds), self.settings)
        obstacles = [obstacles] if isinstance(obstacles, Obstacle) else list(obstacles)
        self._scene = Scene.of(own, x, obstacles, pins_of(pins, x), self._sheet.mass, friction)
        self.thickness = thickness_of(thickness, materials, self._edge)
        self._gravity = gravity_of(gravity, self.settings)
        joints = listed_joints(joints)
        self._sewn = sewn_pairs(joints)
        warp = np.array([one.stretch_warp for one in materials])[kinds]
        weft = np.array([one.stretch_weft for one in materials])[kinds]
        self._joints = links_of_joints(joints, x, self.thickness, of_vertices(own.faces, warp, len(x)))
        rubbing = rubbing_of(self._scene, self.thickness, own.faces, np.maximum(warp, weft), self._sewn)
        model = Model(self._sheet, self._scene, self._joints, rubbing, self._gravity, self._edge, self.settings)
        self._resolver = resolver_of(model, tuning, threads)
        self._stepper = Stepper(model, wind_of(wind, len(x)), self._resolver, ThreadPool(thread_count(threads)))
        self._state = State(self._scene.x.copy(), np.zeros_like(x), 0.0, 0, np.ones(len(self._scene.groups)))
        self._is_torn = False
        self._watch: Callable[[np.ndarray, Frame], object] | None = None
        warn_of_size(x, self.settings)

    # ---- what it is

    @property
    def mesh(self) -> TriMesh:
        """The cloth and, after it, all obstacles, as one mesh: that of ``Frame.scene``."""
        return self._scene.mesh

    @property
    def vertex_count(self) -> int:
        """Vertices of the cloth; those of the obstacles come after them."""
        return len(self._sheet.mass)

    @property
    def free(self) -> np.ndarray:
        """(N,) bool, which vertices of the scene are not driven."""
        return self._scene.free.copy()

    @property
    def mass(self) -> np.ndarray:
        """(n,) kg, of each vertex of the cloth."""
        return self._sheet.mass.copy()

    @property
    def time(self) -> float:
        """s"""
        return self._state.time

    def __repr__(self) -> str:
        return f"Cloth({len(self._own.faces)} faces, {len(self._scene.groups)} driven parts, t = {self.time:.4g} s)"

    def frame(self) -> Frame:
        """Where everything is now.

        Returns
        -------
        Frame
        """
        return self._frame(None, None)

    # ---- going on

    def frames(
        self,
        count: int,
        rate: float = 60.0,
        *,
        progress: Any = None,
        watch: Callable[[np.ndarray, Frame], object] | None = None,
    ) -> Iterator[Frame]:
        """So many frames, one after the other, each simulated when it is asked for.

        Parameters
        ----------
        count : int
        rate : float
            Frames in a second.
        progress : callable, optional
            Called with (frames done, frames in all) after each.
        watch : callable, optional
            Called after every time step, of which a frame may have several, with the positions of the scene before it,
            (N, 3), and the Frame after it.

        Yields
        ------
        Frame
        """
        rate = as_number(rate, "rate", 1e-3, 1e6)
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise OptionError(f"frames({count!r}): the number of frames must be an integer that is not negative")
        return self._each_frame(int(count), 1.0 / rate, progress, watch)

    def _each_frame(
        self, count: int, seconds: float, progress: Any, watch: Callable[[np.ndarray, Frame], object] | None
    ) -> Iterator[Frame]:
        for k in range(count):
            self._watch = watch
            try:
                frame = self._advance(seconds)
            finally:
                self._watch = None
            yield frame
            if progress is not None:
                progress(k + 1, count)

    def step(self, seconds: float) -> Frame:
        """One time step.

        An exception leaves everything as it was before.

        Parameters
        ----------
        seconds : float
            Length of the step, 1e-9 to 10.

        Returns
        -------
        Frame
            Where everything is after it.
        """
        seconds = as_number(seconds, "seconds", 1e-9, 10.0)
        return self._step_by(seconds)

    def set_velocities(self, velocities: Any) -> None:
        """Go on with other velocities.

        Parameters
        ----------
        velocities : (n, 3) floats
            Of the vertices of the cloth, in units of length per second.
        """
        given = as_positions(velocities, "velocities", self.vertex_count).copy()
        self._state = self._state._replace(v=given)

    def save(self, path: Any) -> None:
        """Write the state to a file, .npz: a simulation that is set up in the same way goes on from it by ``restore``.

        Parameters
        ----------
        path : str or Path
        """
        x, v, time, steps, pace = self._state
        state = {"positions": x, "velocities": v, "time": time, "steps": steps, "pace": pace}
        write_checkpoint(path, state | {"faces": self.mesh.faces})

    def restore(self, path: Any, *, budget: int | None = None) -> None:
        """Be where ``save`` was called: all frames that follow are the same, bit for bit.

        Parameters
        ----------
        path : str or Path
        budget : int, optional
            Bytes that the file may expand to.

        Raises
        ------
        FileError
            Where the file is no checkpoint, or one of another scene.
        """
        shapes = {"positions": self._state.x, "velocities": self._state.v, "pace": self._state.pace}
        state = read_state(path, budget, shapes, self.mesh.faces)
        x, v, pace, time, steps = (state[name] for name in ("positions", "velocities", "pace", "time", "steps"))
        self._state = State(np.ascontiguousarray(x), np.ascontiguousarray(v), float(time), int(steps), pace)
        self._is_torn = False

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

    # ---- a step

    def _advance(self, seconds: float) -> Frame:
        """Steps that make up so many seconds. Their lengths depend on nothing else, so that a simulation that is
        restored takes the same ones."""
        while (part := next_step(seconds, self.settings.step, self._state.v, self._gravity, self._edge)) < seconds:
            self._step_by(part)
            seconds -= part
        return self._step_by(seconds)

    def _step_by(self, seconds: float) -> Frame:
        before, frame = self._state, self.frame()
        try:
            for made in self._stepper.steps(before, seconds):
                frame = self._accept(made)
        except BaseException:  # half of a step may be done
            self._state = before
            raise
        return frame

    def _accept(self, made: Made) -> Frame:
        """The end of a step becomes the start of the next one."""
        before, self._state = self._state, made.state
        self._is_torn = self._is_torn or warn_of_tearing(self._scene, self._own, made.stretch)
        frame = self._frame(made.stats, made.times)
        if self._watch is not None:
            self._watch(before.x, frame)
        return frame

    def _frame(self, stats: StepStats | None, times: StepTimes | None) -> Frame:
        x, v = self._state.x, self._state.v
        return Frame(x[: len(v)].copy(), v.copy(), self._state.time, x.copy(), stats, times)
