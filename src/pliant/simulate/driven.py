"""What moves by itself: pins of the cloth, and obstacles that it meets; where they are at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mesh.triangles import as_mesh
from pliant.runtime.arrays import MeshError, OptionError, ShapeError, as_floats, as_indices, as_number, as_positions

Path = Callable[[float], Any]


@dataclass(frozen=True)
class Keyframes:
    """A path through given positions, straight and at constant speed between two; at rest before and after them.

    times : (k,) floats, s, ascending
    positions : (k, n, 3) floats
    """

    times: Any
    positions: Any

    def __post_init__(self) -> None:
        times, positions = as_floats(self.times, "times"), as_floats(self.positions, "positions")
        if times.ndim != 1 or len(times) == 0 or (np.diff(times) <= 0).any():
            raise OptionError("times of keyframes must be ascending numbers, at least one")
        if positions.ndim != 3 or positions.shape[0] != len(times) or positions.shape[2] != 3:
            raise ShapeError(f"positions of keyframes must have shape ({len(times)}, n, 3), but has {positions.shape}")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", positions)

    @staticmethod
    def at_rate(positions: Any, rate: float, begin: float = 0.0) -> Keyframes:
        """Frames at equal distances of time, of an animation say.

        Parameters
        ----------
        positions : (k, n, 3) floats
        rate : float
            Frames in a second.
        begin : float
            s, the time of the first.

        Returns
        -------
        Keyframes
        """
        positions = as_floats(positions, "positions")
        rate = as_number(rate, "rate", 1e-3, 1e6)
        return Keyframes(begin + np.arange(len(positions)) / rate, positions)

    def __call__(self, time: float) -> np.ndarray:
        after = int(np.searchsorted(self.times, time))
        if after == 0 or after == len(self.times):
            return self.positions[min(after, len(self.times) - 1)]
        share = (time - self.times[after - 1]) / (self.times[after] - self.times[after - 1])
        return (1.0 - share) * self.positions[after - 1] + share * self.positions[after]


@dataclass(frozen=True)
class Turning:
    """A rigid path: a velocity, and a turn at a constant rate around an axis that moves with it.

    x : (n, 3) floats, positions at time 0
    velocity : (3,) length units/s
    spin : (3,) rad/s, along the axis
    centre : (3,) a point of the axis at time 0; default: the mean of x
    begin, end : s, when it starts and stops
    """

    x: Any
    velocity: Any = (0.0, 0.0, 0.0)
    spin: Any = (0.0, 0.0, 0.0)
    centre: Any = None
    begin: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", as_positions(self.x, "x"))
        for name in ("velocity", "spin"):
            vector = as_floats(getattr(self, name), name)
            if vector.shape != (3,):
                raise ShapeError(f"{name} must have shape (3,), but has {vector.shape}")
            object.__setattr__(self, name, vector)
        centre = self.x.mean(axis=0) if self.centre is None else as_floats(self.centre, "centre")
        if centre.shape != (3,):
            raise ShapeError(f"centre must have shape (3,), but has {centre.shape}")
        object.__setattr__(self, "centre", centre)
        for name in ("begin", "end"):
            object.__setattr__(self, name, as_number(getattr(self, name), name, -np.inf, np.inf))

    def __call__(self, time: float) -> np.ndarray:
        seconds = max(0.0, min(time, self.end) - self.begin)
        rate = float(np.linalg.norm(self.spin))
        arms = self.x - self.centre
        if rate > 0.0:
            axis, angle = self.spin / rate, rate * seconds
            along = np.outer(arms @ axis, axis)
            arms = along + np.cos(angle) * (arms - along) + np.sin(angle) * np.cross(axis, arms)
        return self.centre + seconds * self.velocity + arms


@dataclass(frozen=True)
class Pin:
    """Vertices of the cloth that are held, or led along a path.

    vertices : (k,) integers
    path : None, where they stay; or a function of the time in seconds that gives their positions, (k, 3), as
        ``Keyframes`` and ``Turning`` are
    """

    vertices: Any
    path: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", as_indices(self.vertices, "pins", 1))


@dataclass(frozen=True)
class Obstacle:
    """A surface that the cloth meets and that moves by itself, if at all.

    mesh : (m, 3) integers or TriMesh
    x : (n, 3) floats, positions at time 0
    path : None, where it stays; or a function of the time in seconds that gives its positions, (n, 3)
    friction : coefficient against the cloth; default: that of the simulation
    """

    mesh: Any
    x: Any
    path: Path | None = None
    friction: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mesh", as_mesh(self.mesh))
        object.__setattr__(self, "x", as_positions(self.x, "x of an obstacle"))
        if self.mesh.vertex_limit > len(self.x):
            raise ShapeError(f"an obstacle has a vertex {self.mesh.vertex_limit - 1}, but {len(self.x)} positions")
        if self.friction is not None:
            object.__setattr__(self, "friction", as_number(self.friction, "friction", 0.0, 10.0))


class Driven:
    """All vertices that move by themselves, group by group: where they are to be, and how fast they may catch up.

    A group that had to wait in a step goes half as far of its way in the next one, and twice as far after each success:
    what is pinched gets time to move out of the way. Its *pace*, from 1 downwards, is part of the state.
    """

    def __init__(self, groups: list[tuple[np.ndarray, Path | None]], names: list[str]) -> None:
        self.groups, self._names = groups, names

    def aim(self, x: np.ndarray, time: float, paces: np.ndarray) -> None:
        """Put the driven vertices among x, (N, 3), to where they go in a step that ends at a time."""
        for (vertices, path), pace, name in zip(self.groups, paces, self._names):
            if path is None:
                continue
            goal = as_positions(path(time), f"path({time:g}) of {name}")
            if goal.shape != (len(vertices), 3):
                raise ShapeError(
                    f"path({time:g}) of {name} has shape {goal.shape}, but it has {len(vertices)} vertices"
                )
            x[vertices] = goal if pace == 1.0 else x[vertices] + pace * (goal - x[vertices])

    def next_pace(self, pace: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """(groups,) after a step in which each group went so much of its way."""
        return np.where(shares < 1.0, np.maximum(0.5 * pace, 2.0**-20), np.minimum(2.0 * pace, 1.0))

    def lag(self, x: np.ndarray, time: float) -> float:
        """How far the furthest driven vertex is from where it should be."""
        most = 0.0
        for vertices, path in self.groups:
            if path is not None and len(vertices):
                away = np.asarray(path(time), np.float64) - x[vertices]
                most = max(most, float(np.sqrt(np.einsum("ij,ij->i", away, away).max())))
        return most


def pins_of(given: Any, x: np.ndarray, what: str = "cloth") -> list[Pin]:
    """Pins from what users have: None, vertex ids, a Pin, or several of them; what : that they hold"""
    if given is None:
        return []
    if np.ndim(given) == 0 and not isinstance(given, Pin | Iterable):
        raise OptionError(f"pins={given!r} must be vertex ids, (k,), or Pins")
    given = list(given) if isinstance(given, Iterator) else given
    listed = [given] if isinstance(given, Pin) else list(given)
    pins: list[Pin] = listed if listed and all(isinstance(one, Pin) for one in listed) else [Pin(given)]
    seen = np.zeros(len(x), bool)
    for pin in pins:
        if pin.vertices.max(initial=-1) >= len(x):
            raise OptionError(f"pins name vertex {pin.vertices.max()}, but the {what} has {len(x)}")
        ids, counts = np.unique(pin.vertices, return_counts=True)
        twice = ids[(counts > 1) | seen[ids]]
        if len(twice):
            raise OptionError(f"pins name vertex {twice[0]} twice")
        seen[ids] = True
    if seen.all() and len(x):
        raise MeshError(f"all vertices are pinned: nothing of the {what} can move")
    return pins
