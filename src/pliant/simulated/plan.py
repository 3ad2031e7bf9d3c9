"""What is to be simulated: everything that a ``Cloth`` or a ``Solid`` is made of, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pliant.engine.plan import Tuning
from pliant.frames.changing import ChangingSequence
from pliant.frames.sequence import Frames, Sequence
from pliant.mesh.parts import Parts, parts_from
from pliant.mesh.space import Space
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError
from pliant.simulate.cloth import Cloth
from pliant.simulate.driven import Obstacle
from pliant.simulate.frames import Frame
from pliant.simulate.settings import Settings
from pliant.simulate.simulation import Simulation


class Run(NamedTuple):
    """Frames with the same mesh.

    first : the first of them; cells : of the solid, None of cloth
    positions : as in ``Frame.scene``; times : s
    data : numbers at the cells of solids, as ``Setup.numbers`` gives them
    past : (n, 3) where vertices were in the frame before the first, new ones by ``trace_back``; None of the first run
    """

    first: Frame
    cells: VolumeMesh | None
    positions: Frames
    times: list[float]
    data: Mapping[str, Frames]
    past: np.ndarray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Setup:
    """A simulation that has not begun.

    Parameters
    ----------
    name : str
    faces : (m, 3) integers
        Triangles of all cloths.
    x : (n, 3) floats
        Where they start.
    options : dict
        Other arguments of ``pliant.simulate.Cloth``, by their names.
    frames : int
        How many, the start included.
    rate : float
        Frames in a second.
    cloths : tuple of (str, int)
        Names of the cloths and how many faces each has, in their order.
    obstacles : tuple of str
        Names of the obstacles.
    copy_of : (n,) integers, optional
        The vertex that each is a copy of, where a file has vertices more than once: copies are in no face, and follow.
    """

    name: str
    faces: np.ndarray
    x: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)
    frames: int = 120
    rate: float = 60.0
    cloths: tuple[tuple[str, int], ...] = ()
    obstacles: tuple[str, ...] = ()
    copy_of: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Setup({self.name!r}: {self.sized}, {self.frames} frames)"

    @property
    def sized(self) -> str:
        """What it is made of."""
        return f"{len(self.faces):,} triangles of cloth"

    @property
    def settings(self) -> Settings:
        """How it is run."""
        return self.options.get("settings") or Settings()

    def begin(self, *, tuning: Tuning | None = None, threads: int | None = None) -> Simulation:
        """A simulation at its start.

        Parameters
        ----------
        tuning : Tuning, optional
            Of the detection inside; changes the time, never the result.
        threads : int, optional
            Changes the time, never the result.

        Returns
        -------
        pliant.simulate.Cloth, or Solid
        """
        return Cloth(self.faces, self.x, tuning=tuning, threads=threads, **self.options)

    def parts(self) -> Parts | None:
        """Names of the faces of cloths and obstacles.

        Returns
        -------
        Parts or None
            None where nothing has a name.
        """
        made_of: list[Obstacle] = self.listed_obstacles
        named = [name for name, _ in self.cloths], [count for _, count in self.cloths]
        if sum(named[1]) != len(self.faces) or len(self.obstacles) != len(made_of):
            return None
        return parts_from([*named[0], *self.obstacles], [*named[1], *(len(one.mesh.faces) for one in made_of)])

    def arrays(self) -> list[np.ndarray]:
        """What is simulated depends on these, on obstacles, and on the text of ``settings``.

        Returns
        -------
        list of numpy.ndarray
        """
        return [self.faces, self.x]

    def sequence(self, simulation: Simulation, run: Run) -> Sequence:
        """Frames of everything, obstacles included.

        Parameters
        ----------
        simulation : pliant.simulate.Cloth, or Solid
            What they are of.
        run : Run

        Returns
        -------
        Sequence
        """
        return Sequence(
            simulation.mesh.faces, run.positions, times=run.times, name=self.name, parts=self.parts(), space=self.space
        )  # fmt: skip

    def cells_of(self, simulation: Simulation) -> VolumeMesh | None:
        """What the body is made of now.

        Parameters
        ----------
        simulation : pliant.simulate.Cloth, or Solid

        Returns
        -------
        VolumeMesh or None
            None of cloth; the same object until it changes.
        """
        return None

    def numbers(self, simulation: Simulation) -> dict[str, np.ndarray]:
        """Numbers at cells, as they are now.

        Parameters
        ----------
        simulation : pliant.simulate.Cloth, or Solid
            What they are of.

        Returns
        -------
        dict of str to (c,) float64
            None of cloth.
        """
        return {}

    def without_obstacles(self, whole: Sequence | ChangingSequence) -> Sequence | ChangingSequence:
        """Frames without the obstacles.

        Parameters
        ----------
        whole : Sequence or ChangingSequence
            Of what ``sequence`` made.

        Returns
        -------
        Sequence or ChangingSequence
        """
        if isinstance(whole, ChangingSequence):
            return ChangingSequence(self.alone(run) for run in whole.runs)
        return self.alone(whole)

    def alone(self, whole: Sequence) -> Sequence:
        """Frames without the obstacles.

        Parameters
        ----------
        whole : Sequence
            As ``sequence`` made it.

        Returns
        -------
        Sequence
        """
        frames = First(whole, len(self.x))
        return Sequence(self.faces, frames, times=whole.times, name=whole.name, space=whole.space)

    @property
    def space(self) -> Space:
        """Which axis points up, and how long a unit is."""
        return Space(self.settings.up, 1.0 / self.settings.scale)

    @property
    def listed_obstacles(self) -> list[Obstacle]:
        given = self.options.get("obstacles", ())
        return [given] if isinstance(given, Obstacle) else list(given)


class First:
    """The first rows of other frames."""

    def __init__(self, frames: Frames, count: int) -> None:
        self._frames, self._count = frames, count

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._frames[frame][: self._count]


def checked_frames(frames: int | None, least: int = 2) -> int | None:
    """A number of frames that a user gives, or None."""
    if frames is not None and (not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < least):
        raise OptionError(f"frames={frames!r} must be a whole number of at least {least}")
    return frames
