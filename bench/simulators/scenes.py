"""What every simulator is given: the same meshes, material and driven motion. Metres, kilograms, seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.scenes.shapes import grid_cells, icosphere, weave

RATE = 60  # frames in a second
THICKNESS = 3e-3  # the gap that is aimed at where cloth touches something
DENSITY = 0.2  # kg/m2
STIFFNESS = 1000.0  # N/m, of the membrane, the same in all directions
POISSON = 0.25
BENDING = 1e-5  # N m, flexural rigidity
FRICTION = 0.3
GRAVITY = 9.81
TURNS = 1.5  # of the two ends of the twisted cloth against each other, in a second
APPROACH = 0.1  # m, that these ends come nearer in a turn, as a rope gets shorter


class Solid(NamedTuple):
    """An obstacle, convex, that moves by a velocity until a time, if at all."""

    faces: np.ndarray  # (m, 3), counterclockwise from outside
    x: np.ndarray  # (n, 3), at time 0
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    until: float = 0.0

    def shift(self, time: float) -> np.ndarray:
        return min(time, self.until) * np.array(self.velocity)

    def at(self, time: float) -> np.ndarray:
        return self.x + self.shift(time)


class Scene(NamedTuple):
    """Cloth, as one mesh of one or several sheets, and what it meets."""

    name: str
    faces: np.ndarray  # (m, 3)
    x: np.ndarray  # (n, 3), at time 0
    rest: np.ndarray  # (n, 2), flat, without any stretch
    frames: int  # of 1/60 s, by default
    solids: tuple[Solid, ...] = ()
    driven: np.ndarray = np.zeros(0, np.int64)  # vertices of the cloth that are held or led
    path: Callable[[float], np.ndarray] | None = None  # where these are at a time, (k, 3); None: where they start
    gravity: float = GRAVITY

    def driven_at(self, time: float) -> np.ndarray:
        return self.x[self.driven] if self.path is None else self.path(time)

    def solids_at(self, time: float) -> np.ndarray:
        """(N - n, 3): the obstacles, one after the other."""
        return np.concatenate([np.zeros((0, 3)), *(solid.at(time) for solid in self.solids)])

    @property
    def all_faces(self) -> np.ndarray:
        """Of cloth and obstacles, as one mesh."""
        parts, first = [self.faces], len(self.x)
        for solid in self.solids:
            parts.append(solid.faces + first)
            first += len(solid.x)
        return np.concatenate(parts)

    @property
    def mass(self) -> np.ndarray:
        """(n,) kg: a third of each triangle at each of its corners."""
        a, b, c = (self.rest[self.faces[:, k]] for k in range(3))
        area = 0.5 * np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        return np.bincount(self.faces.reshape(-1), np.repeat(DENSITY * area / 3.0, 3), minlength=len(self.x))


def twist(triangles: int) -> Scene:
    """A sheet of 1 m by 0.5 m whose two short sides turn in opposite directions, without gravity."""
    faces, rest = _sheet(triangles, 1.0, 0.5)
    x = np.column_stack((rest[:, 0], rest[:, 1] - 0.25, np.zeros(len(rest))))
    driven = np.flatnonzero((rest[:, 0] < 1e-9) | (rest[:, 0] > 1.0 - 1e-9))
    turns = np.where(x[driven, 0] < 0.5, 0.5, -0.5) * TURNS

    def path(time: float) -> np.ndarray:
        angle, arm = 2.0 * np.pi * turns * time, x[driven, 1]
        return np.column_stack((x[driven, 0] + APPROACH * turns * time, np.cos(angle) * arm, np.sin(angle) * arm))

    return Scene("twist", faces, x, rest, 120, (), driven, path, 0.0)


def drape(triangles: int) -> Scene:
    """A square metre that falls onto a ball."""
    faces, rest = _sheet(triangles, 1.0, 1.0)
    return Scene("drape", faces, _level(rest, 0.0), rest, 60, (_ball(0.25, (0.5, 0.5, -0.27)),))


def layers(triangles: int) -> Scene:
    """Two square metres, the upper one turned by 30 degrees, that fall onto a ball."""
    faces, rest = _sheet(triangles // 2, 1.0, 1.0)
    lower, upper = _level(rest, 0.0), _level(rest, 0.02)
    middle, angle = np.array((0.5, 0.5)), np.radians(30.0)
    turn = np.array(((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))))
    upper[:, :2] = middle + (upper[:, :2] - middle) @ turn.T
    both = np.concatenate((faces, faces + len(rest)))
    ball = _ball(0.25, (0.5, 0.5, -0.27))
    return Scene("layers", both, np.concatenate((lower, upper)), np.concatenate((rest, rest)), 60, (ball,))


def heap(triangles: int) -> Scene:
    """An upright strip of 1.2 m by 0.2 m, a little wavy, that falls onto a floor and folds."""
    faces, rest = _sheet(triangles, 1.2, 0.2)
    wave = 0.01 * np.sin(2.0 * np.pi * rest[:, 0] / 0.3 + 2.0 * rest[:, 1])
    x = np.column_stack((wave, rest[:, 1], 0.02 + rest[:, 0]))
    return Scene("heap", faces, x, rest, 60, (_plate((-1.0, -1.0, -0.1), (1.0, 1.2, 0.0)),))


def pinch(triangles: int) -> Scene:
    """A sheet that hangs by one side, between two balls that close to a tenth of its thickness."""
    faces, rest = _sheet(triangles, 0.5, 0.5)
    x = np.column_stack((np.zeros(len(rest)), rest[:, 0], rest[:, 1]))
    driven = np.flatnonzero(rest[:, 1] > 0.5 - 1e-9)
    radius, start, speed = 0.1, 0.02, 0.1
    until = (start - 0.05 * THICKNESS) / speed
    balls = (
        _ball(radius, (-radius - start, 0.25, 0.2), (speed, 0.0, 0.0), until),
        _ball(radius, (radius + start, 0.25, 0.2), (-speed, 0.0, 0.0), until),
    )
    return Scene("pinch", faces, x, rest, 45, balls, driven)


SCENES: dict[str, Callable[[int], Scene]] = {
    "twist": twist, "drape": drape, "layers": layers, "heap": heap, "pinch": pinch,
}  # fmt: skip


def _sheet(triangles: int, length: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    nu, nv = grid_cells(triangles, length / width)
    faces, uv = weave(nu, nv)
    return faces, uv * (length / nu, width / nv)


def _level(rest: np.ndarray, height: float) -> np.ndarray:
    return np.column_stack((rest, np.full(len(rest), height)))


def _ball(
    radius: float, centre: tuple[float, float, float], velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    until: float = 0.0,
) -> Solid:  # fmt: skip
    faces, points = icosphere(8)
    return Solid(faces, radius * points + centre, velocity, until)


def _plate(lower: tuple[float, float, float], upper: tuple[float, float, float]) -> Solid:
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
    return Solid(faces, np.where(corners == 1, upper, lower).astype(np.float64))
