"""Cloth: what falls, folds and wrinkles, and ends every step free of contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh, as_mesh
from pliant.response.closest import loose_vertices
from pliant.response.driven import PinchedError
from pliant.response.resolver import Resolver
from pliant.results.resolved import Resolved
from pliant.runtime.arrays import OptionError, ShapeError, as_floats, as_number, as_positions, thread_count
from pliant.runtime.processes import expect
from pliant.runtime.threads import ThreadPool
from pliant.simulate.air import Air
from pliant.simulate.checkpoints import read_state, write_checkpoint
from pliant.simulate.contacts import Rubbing, impact_links, near_links
from pliant.simulate.driven import Driven, Obstacle, pins_of
from pliant.simulate.frames import Energies, Frame, StepStats, StepTimes, kinetic_energy
from pliant.simulate.joints import links_of_joints, listed_joints, sewn_pairs
from pliant.simulate.links import Links, joined, no_links
from pliant.simulate.materials import Material
from pliant.simulate.newton import Minimiser, Outcome, Step, Tolerances
from pliant.simulate.pacing import adaptive_step, equal_parts
from pliant.simulate.scene import Scene, materials_of, rest_of, sheet_of, warn_of_size, warn_of_tearing
from pliant.simulate.settings import GRAVITY, UP, Settings
from pliant.simulate.welding import Welded, sewn_together, weld

LEAST_THICKNESS = 0.15  # of the mean edge, where none is given: thinner cloth costs more rounds
CONTACT_STIFFNESS = 0.5  # of the membrane's
IMPACT = 0.1  # of the mean edge: what the resolver moves further is solved again with its contacts
MOST_LINEAR = 2000  # iterations of the linear solver
_HALVINGS = 4  # of a time step that Newton's method does not come to an end in


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
        self._own, self._pool = own, ThreadPool(thread_count(threads))
        kinds, materials = materials_of(own, material, self.settings)
        self._sheet, self._edge = sheet_of(own, x, rest_of(rest, x), (materials, kinds), self.settings)
        self._minimiser = Minimiser(self._sheet, self._pool)
        obstacles = [obstacles] if isinstance(obstacles, Obstacle) else list(obstacles)
        self._scene = Scene.of(own, x, obstacles, pins_of(pins, x), self._sheet.mass, friction)
        self.thickness = self._thickness(thickness, materials)
        self._gravity = self._gravity_of(gravity)
        self._wind, self._still = wind, np.zeros(3)
        self._air = Air(self._sheet.membrane, len(x), self.settings.air_density / self.settings.scale**3)
        joints = listed_joints(joints)
        self._sewn = sewn_pairs(joints)
        self._joints = links_of_joints(joints, x, self.thickness, max(m.stretch_warp for m in materials))
        self._rubbing = Rubbing(
            self.thickness, CONTACT_STIFFNESS * max(max(m.stretch_warp, m.stretch_weft) for m in materials),
            self._scene.friction, self._scene.of_obstacles, self._scene.x, self._scene.free,
            loose_vertices(self._scene.mesh, len(self._scene.x)), sewn_together(self._sewn, len(self._scene.x)),
        )  # fmt: skip
        self._resolver = self._new_resolver(tuning, threads)
        self._resolver._starts.advice = "Move them apart in x first"
        self._driven = Driven(self._scene.groups)
        self._x: np.ndarray = self._scene.x.copy()
        self._v: np.ndarray = np.zeros_like(x)
        self._time, self._steps, self._is_torn = 0.0, 0, False
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
        return len(self._v)

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
        return self._time

    def __repr__(self) -> str:
        return f"Cloth({len(self._own.faces)} faces, {len(self._scene.groups)} driven parts, t = {self._time:.4g} s)"

    def frame(self) -> Frame:
        """Where everything is now.

        Returns
        -------
        Frame
        """
        return self._frame(None)

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
        self._v = as_positions(velocities, "velocities", len(self._v)).copy()

    def save(self, path: Any) -> None:
        """Write the state to a file, .npz: a simulation that is set up in the same way goes on from it by ``restore``.

        Parameters
        ----------
        path : str or Path
        """
        write_checkpoint(
            path,
            {
                "positions": self._x, "velocities": self._v, "time": self._time, "steps": self._steps,
                "pace": self._driven.pace, "faces": self.mesh.faces,
            },
        )  # fmt: skip

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
        shapes = {"positions": self._x, "velocities": self._v, "pace": self._driven.pace}
        state = read_state(path, budget, shapes, self.mesh.faces)
        x, v, pace, time, steps = (state[name] for name in ("positions", "velocities", "pace", "time", "steps"))
        self._x, self._v, self._driven.pace = np.ascontiguousarray(x), np.ascontiguousarray(v), pace
        self._time, self._steps, self._is_torn = float(time), int(steps), False

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
        return weld(self._own, self._x[: self.vertex_count], self._sewn, self.thickness)

    # ---- a step

    def _advance(self, seconds: float) -> Frame:
        """Steps that make up so many seconds. Their lengths depend on nothing else, so that a simulation that is
        restored takes the same ones."""
        longest = self.settings.step
        if isinstance(longest, str):
            while (parts := equal_parts(seconds, adaptive_step(self._v, self._gravity, self._edge))) > 1:
                self._step_by(seconds / parts)
                seconds -= seconds / parts
            return self._step_by(seconds)
        parts = equal_parts(seconds, longest)
        for _ in range(1, parts):
            self._step_by(seconds / parts)
        return self._step_by(seconds / parts)

    def _step_by(self, seconds: float) -> Frame:
        before = self._x, self._v, self._time, self._steps, self._driven.pace
        try:
            return self._go_on(seconds, 0)
        except BaseException:  # half of a step may be done
            self._x, self._v, self._time, self._steps, self._driven.pace = before
            raise

    def _go_on(self, seconds: float, depth: int) -> Frame:
        """In halves, where Newton's method does not come to an end."""
        x0, v, end = self._x, self._v, self._time + seconds
        n, clock = len(v), [perf_counter()]
        x1 = x0.copy()
        self._driven.aim(x1, end)
        movable = self._scene.free[:n]
        x1[:n][movable] += seconds * v[movable]
        near = self._resolver.near(x0)
        fixed = [self._joints, near_links(near, self._rubbing), self._in_the_way(x0, x1)]
        clock.append(perf_counter())
        aim = x0[:n] + seconds * v + seconds**2 * self._gravity
        self._air.blow(x0[:n], v, self._wind_at(self._time))
        outcome = self._solve(x0, aim, fixed, seconds, x1)
        if depth < _HALVINGS and not outcome.is_solved and outcome.moved > self._edge:
            self._go_on(0.5 * seconds, depth + 1)
            return self._go_on(0.5 * seconds, depth + 1)
        clock.append(perf_counter())
        resolved = self._resolve(x0, x1)
        if len(resolved.contacts) and _largest(resolved.displacement[:n]) > IMPACT * self._edge:
            x1[:n] = resolved.positions[:n]
            links = [*fixed, impact_links(resolved.contacts, self._rubbing, x0)]
            again = self._solve(x0, aim, links, seconds, x1)
            # Where it diverges, what was resolved before is free, and nearer to any solution.
            if again.is_solved or again.moved <= self._edge:
                resolved = self._resolve(x0, x1)
            outcome = _both(outcome, again)
        clock.append(perf_counter())
        frame = self._accept(resolved, end, seconds, len(near), outcome)
        return replace(frame, times=StepTimes(*np.diff(clock).tolist()))

    def _in_the_way(self, x0: np.ndarray, x1: np.ndarray) -> Links:
        """Of what the cloth would run into by inertia, where it is fast: what is near is not all that it meets.

        Without them, steps of cloth that falls onto a ball were solved and resolved only to learn what they run into,
        and once more with that: at 100,000 triangles 7.1 Newton steps and 1.4 s each, with them 4.6 and 0.98.
        """
        if _largest((x1 - x0)[: len(self._v)]) <= self.thickness:
            return no_links()
        found = self._resolver.contacts(x0, x1)
        return no_links() if found is None else impact_links(found, self._rubbing, x0)

    def _solve(self, x0: np.ndarray, aim: np.ndarray, links: list[Links], seconds: float, x: np.ndarray) -> Outcome:
        settings, n = self.settings, len(aim)
        step = Step(
            seconds, x0, aim, joined(links), settings.slip_speed * settings.scale * seconds, self._scene.free[:n].copy()
        )
        mass, fall = float(self._sheet.mass.sum()), GRAVITY * settings.scale * seconds
        # Less than a fall of one step brings; and what hardly moves comes to rest, since little is wrong with it.
        speed = np.sqrt(2.0 * kinetic_energy(self._sheet.mass, self._v) / mass)
        speed = min(settings.tolerance * self._edge / seconds, 0.5 * fall, 0.2 * speed + 0.02 * fall)
        gain = mass * speed**2
        tolerances = Tolerances(int(settings.newton), self._edge, gain, settings.linear_tolerance, MOST_LINEAR)
        return self._minimiser.solve(step, self._air, tolerances, x)

    def _resolve(self, x0: np.ndarray, x1: np.ndarray) -> Resolved:
        try:
            return self._resolver.resolve(x0, x1)
        except PinchedError as error:
            raise PinchedError(error.objects, error.shares, self._scene.names) from None

    def _accept(self, resolved: Any, end: float, seconds: float, near: int, outcome: Outcome) -> Frame:
        """The end of a step becomes the start of the next one."""
        n = len(self._v)
        x = np.array(resolved.positions)
        v = (x[:n] - self._x[:n]) / seconds
        shares = dict(zip(np.asarray(resolved.driven_objects).tolist(), np.asarray(resolved.shares).tolist()))
        of_groups = np.array([shares.get(label, 1.0) for label in self._scene.names])
        self._driven.note(of_groups)
        before, self._x, self._v, self._time = self._x, x, v, end
        self._steps += 1
        stretch = self._minimiser.membrane.stretch(x[:n])
        self._is_torn = self._is_torn or warn_of_tearing(self._scene, self._own, stretch)
        stats = StepStats(
            seconds, outcome.newton, outcome.linear, near, len(resolved.contacts), resolved.rounds,
            _largest(resolved.displacement[:n]), self._driven.lag(x, end), self._energies(x[:n], v),
            float(stretch.max(initial=1.0)),
        )  # fmt: skip
        frame = self._frame(stats)
        if self._watch is not None:
            self._watch(before, frame)
        return frame

    def _energies(self, x: np.ndarray, v: np.ndarray) -> Energies:
        own = np.ascontiguousarray(x)
        stretch, _ = self._minimiser.membrane.energies(own, 1.0)
        bending, _ = self._minimiser.bending.energies(own, 1.0)
        scale = self.settings.scale**-2  # kg m2/s2 from those of the units
        fall = -float(np.einsum("i,ij,j->", self._sheet.mass, x, self._gravity, optimize=False))
        kinetic = kinetic_energy(self._sheet.mass, v)
        return Energies(scale * kinetic, scale * stretch, scale * bending, scale * fall)

    def _frame(self, stats: StepStats | None) -> Frame:
        n = len(self._v)
        return Frame(self._x[:n].copy(), self._v.copy(), self._time, self._x.copy(), stats)

    # ---- from what users give

    def _thickness(self, given: float | None, materials: list[Material]) -> float:
        if given is not None:
            return as_number(given, "thickness", 1e-12, 1e6)
        return max(max(m.thickness for m in materials), LEAST_THICKNESS * self._edge)

    def _gravity_of(self, given: Any) -> np.ndarray:
        if given is None:
            given = -GRAVITY * np.array(UP[self.settings.up])
        gravity = as_floats(given, "gravity")
        if gravity.shape != (3,):
            raise ShapeError(f"gravity must have shape (3,), but has {gravity.shape}")
        return self.settings.scale * gravity

    def _wind_at(self, time: float) -> np.ndarray:
        if self._wind is None:
            return self._still
        wind = as_floats(self._wind(time) if callable(self._wind) else self._wind, "wind")
        if wind.shape not in ((3,), self._v.shape):
            raise ShapeError(f"wind must have shape (3,) or {self._v.shape}, but has {wind.shape}")
        return wind

    def _new_resolver(self, tuning: Tuning | None, threads: int | None) -> Resolver:
        inverse = np.zeros(len(self._scene.x))
        mass = self._sheet.mass
        inverse[: len(mass)][self._scene.free[: len(mass)]] = 1.0 / mass[self._scene.free[: len(mass)]]
        return Resolver(
            self._scene.mesh, inverse_mass=inverse, thickness=self.thickness, friction=self._scene.frictions,
            objects=self._scene.objects, pinched=self.settings.pinched, tuning=tuning, threads=threads,
        )  # fmt: skip


def _largest(vectors: np.ndarray) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0.0)))


def _both(one: Outcome, two: Outcome) -> Outcome:
    return Outcome(one.newton + two.newton, one.linear + two.linear, two.moved, two.is_solved)
