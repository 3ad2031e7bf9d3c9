"""What all simulations have in common: frames, steps, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError, as_number, as_positions
from pliant.simulate.checkpoints import GROWING, read_state, write_checkpoint
from pliant.simulate.frames import Frame, StepStats, StepTimes
from pliant.simulate.stepping import Made, State, Steps


class Simulation:
    """A body and obstacles, and where they are; ``Cloth`` and ``Solid`` say what the body is."""

    def __init__(self, stepper: Steps) -> None:
        self._stepper, self._state = stepper, stepper.first()
        self._watch: Callable[[np.ndarray, Frame], object] | None = None

    # ---- what it is

    @property
    def mesh(self) -> TriMesh | VolumeMesh:
        """The body and, after it, all obstacles, as one mesh: that of ``Frame.scene``."""
        return self._stepper.model.scene.mesh

    @property
    def vertex_count(self) -> int:
        """Vertices of the body; those of the obstacles come after them."""
        return len(self._stepper.model.body.mass)

    @property
    def free(self) -> np.ndarray:
        """(N,) bool, which vertices of the scene are not driven."""
        return self._stepper.model.scene.free.copy()

    @property
    def mass(self) -> np.ndarray:
        """(n,) kg, of each vertex of the body."""
        return self._stepper.model.body.mass.copy()

    @property
    def time(self) -> float:
        """s"""
        return self._state.time

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
            (N, 3), and the Frame after it. Where something breaks, once more when its sides have been moved apart, with
            positions of the changed scene before that and a Frame without ``stats``.

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
        self._stepper.begin(self._state, seconds)
        return self._step_by(seconds)

    def set_velocities(self, velocities: Any) -> None:
        """Go on with other velocities.

        Parameters
        ----------
        velocities : (n, 3) floats
            Of the vertices of the body, in units of length per second. Those that are held or led by pins keep theirs.
        """
        given = as_positions(velocities, "velocities", self.vertex_count).copy()
        driven = ~self._stepper.model.scene.free[: self.vertex_count]
        given[driven] = self._state.v[driven]
        self._state = self._state._replace(v=given)

    def save(self, path: Any) -> None:
        """Write the state to a file, .npz: a simulation that is set up in the same way goes on from it by ``restore``.

        Parameters
        ----------
        path : str or Path
        """
        x, v, time, steps, pace, _, _ = self._state
        state = {"positions": x, "velocities": v, "time": time, "steps": steps, "pace": pace}
        write_checkpoint(path, state | self._arrays() | self._fixed())

    def _fixed(self) -> dict[str, np.ndarray]:
        """Arrays that a checkpoint has to have as they are here: what all is made of."""
        model = self._stepper.model
        constants = {f"constants_{number}": array for number, array in enumerate(self._constants())}
        return {"faces": model.scene.mesh.faces, "mass": model.body.mass} | constants

    def _constants(self) -> tuple[np.ndarray, ...]:
        """Of the materials."""
        return ()

    def _arrays(self) -> dict[str, np.ndarray]:
        """Arrays of the state that some simulations have: of terms with a past, and of the account."""
        groups = [group for group, memory in enumerate(self._state.memory) for _ in memory]
        arrays = [array for memory in self._state.memory for array in memory]
        past = {
            f"{GROWING if group in self._stepper.growing else 'memory'}_{number}": array
            for number, (group, array) in enumerate(zip(groups, arrays))
        }
        return past | ({"spent": self._state.spent} if len(self._state.spent) else {})

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
            Where the file is no checkpoint, or one of another scene: other faces, masses or materials; or of a version
            that did not write what it is made of.
        """
        self._read(path, budget)

    def _read(self, path: Any, budget: int | None) -> None:
        past = self._arrays()
        shapes = {"positions": self._state.x, "velocities": self._state.v, "pace": self._state.pace, **past}
        state = read_state(path, budget, shapes, self._fixed())
        arrays = iter([np.ascontiguousarray(state[name]) for name in past])
        memory = tuple(tuple(next(arrays) for _ in of_term) for of_term in self._state.memory)
        spent = next(arrays, self._state.spent)
        x, v, pace, time, steps = (state[name] for name in ("positions", "velocities", "pace", "time", "steps"))
        x, v = np.ascontiguousarray(x), np.ascontiguousarray(v)
        self._state = State(x, v, float(time), int(steps), pace, memory, spent)
        self._restored()

    def _restored(self) -> None:
        """Forget what has been said about the state before."""

    # ---- a step

    def _advance(self, seconds: float) -> Frame:
        """Steps that make up so many seconds."""
        frame = self.frame()
        for part, is_last in self._stepper.lengths(lambda: self._state, seconds):
            frame = self._step_by(part, is_last or self._watch is not None)
        return frame

    def _step_by(self, seconds: float, is_shown: bool = True) -> Frame:
        before, frame = self._state, self.frame()
        try:
            for made in self._stepper.steps(before, seconds, is_shown):
                frame = self._accept(made)
        except BaseException:  # half of a step may be done
            self._state = before
            raise
        return frame

    def _accept(self, made: Made) -> Frame:
        """The end of a step becomes the start of the next one."""
        before, self._state = self._state, made.state
        frame = self._frame(made.stats, made.times)
        if self._watch is not None:
            self._watch(before.x, frame)
        return frame

    def _frame(self, stats: StepStats | None, times: StepTimes | None) -> Frame:
        x, v = self._state.x, self._state.v
        return Frame(x[: len(v)].copy(), v.copy(), self._state.time, x.copy(), stats, times)
